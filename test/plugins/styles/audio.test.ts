/** Speech and transcription by themselves: how long a sound is, what a call may use and did use, and how answers are passed on. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseBuffer } from 'music-metadata';
import { scanAnswer } from '../../../core/bytes/json-body.ts';
import type { Call, Upload } from '../../../core/contracts/formats/call.ts';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import type { StreamRelay, Style } from '../../../core/contracts/formats/style.ts';
import { GatewayError } from '../../../core/plugin.ts';
import { USUAL } from '../../../core/translation/quirks/quirks.ts';
import { collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { speech, transcription, translation } from '../../../plugins/styles/audio/index.ts';
import { measureSound } from '../../../plugins/styles/audio/sound/file.ts';
import { createSoundMeter } from '../../../plugins/styles/audio/sound/meter.ts';
import { FORMATS, tuneOf } from '../../../plugins/vendors/demo/sound/index.ts';
import fc from '../../kit/fast-check.ts';
import { arriving, bodyOf, callOf, destination, patchTo, uploadOf } from '../../kit/gateway/calls.ts';

const TUNE = tuneOf('Every word is a tune of its own, and each of them is played twice, at least.', 'alloy', 1);
/** The same few seconds in every format, as the demo vendor makes them. */
const SOUNDS = Object.fromEntries(
  Object.entries(FORMATS).map(([name, { write }]) => [name, Buffer.concat([...write(TUNE)])]),
);

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const box = (name: string, ...content: readonly Buffer[]): Buffer => {
  const bytes = Buffer.concat(content);
  return Buffer.concat([u32(bytes.length + 8), Buffer.from(name), bytes]);
};
const numbers = (...values: readonly number[]): Buffer => Buffer.concat(values.map(u32));

/** A track of MP4 with this id and so many units a second. */
const track = (id: number, perSecond: number, units: number): Buffer =>
  box(
    'trak',
    box('tkhd', numbers(0, 0, 0, id), Buffer.alloc(68)),
    box('mdia', box('mdhd', numbers(0, 0, 0, perSecond, units), Buffer.alloc(24))),
  );
const FILE_TYPE = box('ftyp', Buffer.from('M4A \0\0\0\0'));
const NOISE = Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * i * 31) % 256));

/** An element of WebM; without a length where `open`. */
const element = (id: string, content: Buffer, open = false): Buffer => {
  const size = open ? Buffer.from('01ffffffffffffff', 'hex') : u32(0x1000_0000 + content.length);
  return Buffer.concat([Buffer.from(id, 'hex'), size, content]);
};
const block = (time: number): Buffer => {
  const content = Buffer.concat([Buffer.from([0x81, 0, 0, 0x80]), NOISE.subarray(0, 60)]);
  content.writeInt16BE(time, 1);
  return element('a3', content);
};
const cluster = (time: number, times: readonly number[], open: boolean): Buffer =>
  element('1f43b675', Buffer.concat([element('e7', u32(time)), ...times.map(block)]), open);
/** As a browser records it: nobody knows how long it will be. */
const webm = (open: boolean): Buffer =>
  Buffer.concat([
    element('1a45dfa3', NOISE.subarray(0, 20)),
    element(
      '18538067',
      Buffer.concat([
        element('1549a966', element('2ad7b1', u32(1_000_000))),
        cluster(0, [0, 20, 40], open),
        cluster(1_000, [0, 20, 480], open),
      ]),
      open,
    ),
  ]);

const lengthOf = (sound: Buffer, sizes: readonly number[], withoutPrefix?: number): number | undefined => {
  const meter = createSoundMeter(withoutPrefix);
  for (let at = 0, i = 0; at < sound.length; i++) {
    const size = sizes[i % sizes.length]!;
    meter.see(sound.subarray(at, at + size));
    at += size;
  }
  return meter.seconds();
};
const near = (seconds: number | undefined, expected: number, within: number, what: string): void =>
  assert.ok(Math.abs((seconds ?? -1) - expected) <= within, `${what}: ${seconds} instead of ${expected}`);

const ID3 = Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\x01\x00'), Buffer.alloc(128, 0xff)]);
/** A chunk of a RIFF file. */
const chunk = (name: string, content: Buffer): Buffer => {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(content.length);
  return Buffer.concat([Buffer.from(name), size, content]);
};
/** The samples and the format of the WAV. */
const SAMPLES = SOUNDS.wav!.subarray(44);
const FORMAT = SOUNDS.wav!.subarray(12, 36);
const waveOf = (...chunks: readonly Buffer[]): Buffer => chunk('RIFF', Buffer.concat([Buffer.from('WAVE'), ...chunks]));
/** The same opus stream with another serial number. */
const renumbered = (sound: Buffer): Buffer => {
  const copy = Buffer.from(sound);
  for (let at = copy.indexOf('OggS'); at !== -1; at = copy.indexOf('OggS', at + 1)) copy.writeUInt32LE(99, at + 14);
  return copy;
};
/** The offset of the second page. */
const secondPage = (sound: Buffer): number => sound.indexOf('OggS', 4);

const MADE: Readonly<Record<string, readonly [sound: Buffer, seconds: number]>> = {
  'mp3 behind a title': [Buffer.concat([ID3, SOUNDS.mp3!]), TUNE.seconds],
  'mp3 before a title': [Buffer.concat([SOUNDS.mp3!, Buffer.from('TAG'), Buffer.alloc(125, 0xff)]), TUNE.seconds],
  'mp3 with a hole': [Buffer.concat([SOUNDS.mp3!, Buffer.alloc(3_000), SOUNDS.mp3!]), 2 * TUNE.seconds],
  'mp3 with a title between two parts': [
    Buffer.concat([SOUNDS.mp3!, Buffer.from('TAG'), Buffer.alloc(125, 0xff), ID3, SOUNDS.mp3!]),
    2 * TUNE.seconds,
  ],
  'wav of two data chunks': [
    waveOf(FORMAT, chunk('data', SAMPLES.subarray(0, 24_000)), chunk('LIST', Buffer.alloc(8)), chunk('data', SAMPLES)),
    TUNE.seconds + 0.5,
  ],
  'wav with a list of data chunks': [
    waveOf(FORMAT, chunk('LIST', Buffer.concat([Buffer.from('wavl'), chunk('data', SAMPLES), chunk('data', SAMPLES)]))),
    2 * TUNE.seconds,
  ],
  'wav after wav': [Buffer.concat([SOUNDS.wav!, SOUNDS.wav!]), 2 * TUNE.seconds],
  'ogg of a short and a long stream that begin together': [
    Buffer.concat([
      SOUNDS.opus!.subarray(0, secondPage(SOUNDS.opus!)),
      renumbered(SOUNDS.opus!.subarray(0, secondPage(SOUNDS.opus!))),
      SOUNDS.opus!.subarray(secondPage(SOUNDS.opus!)),
    ]),
    TUNE.seconds,
  ],
  'mp4 with more samples than its head says': [
    Buffer.concat([
      FILE_TYPE,
      box(
        'moov',
        box(
          'trak',
          box('tkhd', numbers(0, 0, 0, 1), Buffer.alloc(68)),
          box(
            'mdia',
            box('mdhd', numbers(0, 0, 0, 1_000, 100), Buffer.alloc(24)),
            box('minf', box('stbl', box('stts', numbers(0, 2, 40, 100, 1, 500)))),
          ),
        ),
      ),
      box('mdat', NOISE),
    ]),
    4.5,
  ],
  'webm after webm': [Buffer.concat([webm(false), webm(false)]), 3.36],
  'ogg after ogg': [Buffer.concat([SOUNDS.opus!, SOUNDS.opus!]), 2 * TUNE.seconds],
  'mp4 with its head in front': [
    Buffer.concat([FILE_TYPE, box('moov', track(1, 1_000, 4_500)), box('mdat', NOISE)]),
    4.5,
  ],
  'mp4 with its head behind': [
    Buffer.concat([FILE_TYPE, box('mdat', NOISE), box('moov', track(1, 90_000, 90_000), track(2, 1_000, 4_500))]),
    4.5,
  ],
  'mp4 in fragments': [
    Buffer.concat([
      FILE_TYPE,
      box('moov', track(7, 1_000, 0), box('mvex', box('trex', numbers(0, 7, 1, 20, 0, 0)))),
      // Five samples as long as usual, then three of which each says how long it is.
      box('moof', box('traf', box('tfhd', numbers(0, 7), Buffer.alloc(24)), box('trun', numbers(0, 5, 0, 0)))),
      box('mdat', NOISE),
      box('moof', box('traf', box('tfhd', numbers(0, 7), Buffer.alloc(24)), box('trun', numbers(0x100, 3, 5, 10, 15)))),
      box('mdat', NOISE),
    ]),
    0.13,
  ],
  webm: [webm(false), 1.68],
  'webm from a recorder': [webm(true), 1.68],
};

describe('the duration of audio', () => {
  it('is measured for the formats of the demo vendor, like other readers do', async () => {
    for (const [name, { type }] of Object.entries(FORMATS)) {
      const sound = SOUNDS[name]!;
      near(lengthOf(sound, [1_000], name === 'pcm' ? 48_000 : undefined), TUNE.seconds, 0.05, name);
      if (name === 'pcm') continue;
      const { format } = await parseBuffer(sound, { mimeType: type, size: sound.length }, { duration: true });
      near(format.duration, TUNE.seconds, 0.05, name);
    }
  });

  it('is measured for every supported format, in chunks of any size', () => {
    for (const [name, [sound, seconds]] of Object.entries(MADE)) {
      for (const sizes of [[sound.length], [1], [7, 1, 300]]) {
        near(lengthOf(sound, sizes), seconds, 0.05, `${name} in pieces of ${sizes}`);
      }
    }
  });

  it('is that of the received data, not of the header', () => {
    near(lengthOf(SOUNDS.wav!.subarray(0, 44 + 48_000), [999]), 1, 0.001, 'wav');
    const endless = Buffer.from(SOUNDS.wav!);
    endless.writeUInt32LE(0xffff_ffff, 40);
    near(lengthOf(endless, [999]), TUNE.seconds, 0.001, 'wav without an end');
    const hasty = Buffer.from(SOUNDS.wav!);
    hasty.writeUInt32LE(0xffff_ffff, 28);
    near(lengthOf(hasty, [999]), TUNE.seconds, 0.001, 'wav that says a second of it is four gigabytes');
    const blank = Buffer.from(SOUNDS.flac!);
    blank.fill(0, 18, 26);
    for (const sizes of [[blank.length], [1], [7, 1, 300]]) {
      near(lengthOf(blank, sizes), TUNE.seconds, 0.2, `flac that says nothing, in pieces of ${sizes}`);
    }
  });

  it('is unknown for anything else, and nothing throws', async () => {
    const begins = [...Object.values(SOUNDS), ...Object.values(MADE).map(([sound]) => sound)];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...begins, Buffer.alloc(0)),
        fc.nat(400),
        fc.uint8Array({ maxLength: 600 }),
        async (sound, kept, rubbish) => {
          const bytes = Buffer.concat([sound.subarray(0, kept), rubbish]);
          const seconds = await measureSound(uploadOf('file', 'x', bytes));
          assert.ok(seconds === undefined || (seconds > 0 && Number.isFinite(seconds)), `${seconds}`);
          assert.equal(lengthOf(bytes, [13]), lengthOf(bytes, [bytes.length + 1]));
        },
      ),
      { numRuns: 300 },
    );
    const gone: Upload = {
      ...uploadOf('file', 'x', NOISE),
      // biome-ignore lint/correctness/useYield: it fails before there is anything
      async *read() {
        throw new Error('the exchange has ended');
      },
    };
    assert.equal(await measureSound(gone), undefined);
  });

  it('is unknown for formats that cannot be parsed', async () => {
    const tagged = Buffer.concat([ID3, SOUNDS.flac!]);
    assert.equal(await measureSound(uploadOf('file', 'x.flac', tagged)), undefined);
  });

  it('is ignored if it implies too few bytes per second', async () => {
    const file = (units: number) =>
      uploadOf('file', 'x.m4a', Buffer.concat([FILE_TYPE, box('moov', track(1, 1, units)), box('mdat', NOISE)]));
    assert.equal(await measureSound(file(100)), 100);
    assert.equal(await measureSound(file(4_000_000_000)), undefined);
  });

  it('is not searched without limit', () => {
    const began = process.cpuUsage();
    const meter = createSoundMeter();
    meter.see(ID3);
    for (let i = 0; i < 100 && !meter.isLost(); i++) meter.see(Buffer.alloc(65_536, 0xff));
    assert.deepEqual([meter.isLost(), meter.seconds()], [true, undefined]);
    assert.ok(process.cpuUsage(began).user < 2_000_000, 'it takes no time worth mentioning');
  });
});

const refusal = (run: () => unknown): GatewayError => {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    return error;
  }
  return assert.fail('it is not refused');
};
const relayOf = (style: Style, call: Call): StreamRelay =>
  style.relay.stream!({ hideUsage: false, call, warnings: collectWarnings({}) });
/** What comes out for each piece, and of what kind it is. */
const seen = (relay: StreamRelay, piece: Buffer | string): readonly [kind: string, out: string] => {
  const out: (Buffer | string)[] = [];
  const kind = relay.see(Buffer.from(piece), out);
  return [kind, out.map(String).join('')];
};
const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

describe('a speech request', () => {
  const SAY = { model: 'public-name', input: 'Hello.', voice: 'alloy' };
  const call = (more: JsonObject = {}): Call => callOf(speech, { ...SAY, ...more });

  it('is answered in bytes or events, and its bound is its characters', () => {
    const { answers, stream, bounds } = call();
    assert.deepEqual([answers, stream], ['bytes', false]);
    const { inputBytes, open, ...rest } = bounds;
    assert.equal(open?.(), true);
    assert.deepEqual(rest, { media: 0, outputTokens: 100, choices: 1, characters: 6 });
    assert.ok(inputBytes >= 6, `${inputBytes} bytes of text`);
    assert.deepEqual(
      [call({ stream_format: 'sse' }).answers, call({ stream_format: 'sse' }).stream],
      [undefined, true],
    );
    assert.equal(call({ input: '👋👋' }).bounds.characters, 2);
  });

  it('is forwarded unchanged, with voices that the model has', () => {
    const body = bodyOf({ ...SAY, some_field: { deep: [1] } });
    assert.equal(body.patched(speech.relay.patch!(body, patchTo({ model: 'public-name' }))), body.bytes);
    assert.deepEqual(speech.relay.patch!(body, patchTo()), { model: '"vendor-name"' });
    const voices = (list: 'any' | readonly string[]) => patchTo({ quirks: { ...USUAL, speech: { voices: list } } });
    for (const voice of ['mine', { id: 'mine' }]) {
      const own = bodyOf({ ...SAY, voice });
      speech.relay.patch!(own, voices('any'));
      speech.relay.patch!(own, voices(['mine']));
      if (typeof voice === 'object') {
        // The operator has made it at the vendor.
        speech.relay.patch!(own, voices(['a', 'b']));
        continue;
      }
      const { status, param, message } = refusal(() => speech.relay.patch!(own, voices(['a', 'b'])));
      assert.deepEqual([status, param], [400, 'voice']);
      assert.match(message, /a, b/);
    }
  });

  it('accepts audio replies only', () => {
    const type = (vendors: string, format?: string) =>
      speech.relay.bytesType?.(vendors, call(format === undefined ? {} : { response_format: format }));
    assert.equal(type('audio/mpeg'), 'audio/mpeg');
    assert.equal(type('Audio/L16; rate=24000', 'pcm'), 'Audio/L16; rate=24000');
    assert.equal(type('application/ogg', 'opus'), 'application/ogg');
    assert.equal(type(''), 'audio/mpeg');
    assert.equal(type('application/octet-stream', 'flac'), 'audio/flac');
    for (const other of ['application/json', 'text/plain; charset=utf-8', 'text/event-stream', 'video/mp4']) {
      assert.equal(type(other), undefined, other);
    }
  });

  it('forwards every byte except the last, which waits for the end', () => {
    const relay = relayOf(speech, call());
    assert.deepEqual(seen(relay, ''), ['hold', '']);
    assert.deepEqual(seen(relay, 'a'), ['pass', '']);
    assert.deepEqual(seen(relay, 'bcd'), ['pass', 'abc']);
    assert.deepEqual(seen(relay, 'e'), ['pass', 'd']);
    const out: (Buffer | string)[] = [];
    assert.equal(relay.close(out), 'whole');
    assert.equal(out.join(''), 'e');
    assert.equal(relayOf(speech, call()).close([]), 'broken', 'nothing is no sound');
    assert.equal(relay.fail(new GatewayError(502, 'x', 'x'), 'x'), '');
  });

  it('is counted by the duration of the audio, otherwise by its characters', () => {
    for (const [format, sound] of Object.entries(SOUNDS)) {
      const said = call({ response_format: format, input: 'x'.repeat(150), speed: 2 });
      const relay = relayOf(speech, said);
      seen(relay, sound);
      const { characters, output, outputAudio, estimated } = relay.usage()!;
      assert.deepEqual([characters, outputAudio, estimated], [150, output, true]);
      near(output / 21, TUNE.seconds, 0.1, format);
    }
    const unknown = relayOf(speech, call({ input: 'x'.repeat(150), speed: 2 }));
    seen(unknown, NOISE);
    near(unknown.usage()!.output / 21, 5, 0.1, '150 characters at twice the speed');
  });

  it('counts in full if the client disconnects, and as far as delivered if the vendor breaks off', () => {
    const said = call({ response_format: 'wav', input: 'x'.repeat(150) });
    const relay = relayOf(speech, said);
    assert.equal(relay.unfinished?.('broken')?.characters, 0);
    seen(relay, SOUNDS.wav!.subarray(0, 44 + 96_000));
    const left = relay.unfinished?.('left');
    const broken = relay.unfinished?.('broken');
    assert.deepEqual([left?.characters, left?.output], [150, 210]);
    assert.deepEqual([broken?.characters, broken?.output], [30, 42]);
    seen(relay, Buffer.alloc(10_000_000));
    assert.equal(relay.unfinished?.('broken')?.characters, 150, 'never more than all');
  });

  it('streams events, the last of which has the usage', () => {
    const said = call({ stream_format: 'sse', response_format: 'pcm' });
    const delta = event({ type: 'speech.audio.delta', audio: Buffer.alloc(48_000).toString('base64') });
    const relay = relayOf(speech, said);
    assert.deepEqual(seen(relay, ': wait\n\n'), ['hold', ': wait\n\n']);
    assert.deepEqual(seen(relay, delta), ['pass', delta]);
    assert.equal(relay.usage()?.output, 21);
    const done = event({ type: 'speech.audio.done', usage: { input_tokens: 3, output_tokens: 25 } });
    assert.deepEqual(seen(relay, done), ['last', done]);
    const { input, output, outputAudio, characters, estimated } = relay.usage()!;
    assert.deepEqual([input, output, outputAudio, characters, estimated], [3, 25, 25, 6, false]);
    for (const usage of [undefined, { input_tokens: 3 }, { input_tokens: 3, output_tokens: 0 }]) {
      const silent = relayOf(speech, said);
      seen(silent, delta);
      seen(silent, event({ type: 'speech.audio.done', usage }));
      assert.deepEqual(
        [silent.usage()?.outputAudio, silent.usage()?.estimated],
        [21, true],
        'sound is not for nothing',
      );
    }

    assert.deepEqual(seen(relayOf(speech, said), done), ['hold', '']);
    const cut = relayOf(speech, said);
    seen(cut, delta);
    assert.equal(cut.close([]), 'broken');
    const failing = event({ error: { message: 'It burns.', code: 'fire' } });
    assert.deepEqual(seen(cut, failing), ['error', failing]);
    assert.deepEqual(cut.error(), { message: 'It burns.', code: 'fire' });
  });
});

const hear = (style: Style, fields: JsonObject = {}, bytes: Buffer = SOUNDS.wav!): Call =>
  callOf(style, { model: 'public-name', ...fields }, [uploadOf('file', 'a.wav', bytes, 'audio/wav')]);
const measured = async (style: Style, fields?: JsonObject, bytes?: Buffer): Promise<Call> => {
  const call = hear(style, fields, bytes);
  return { ...call, bounds: await style.ingress!.measure!(call) };
};
const answerOf = (value: JsonObject) => scanAnswer(Buffer.from(JSON.stringify(value)))!;

describe('a transcription request', () => {
  it('has the maximum duration of its file as its bound, then the measured one', async () => {
    const bytes = Buffer.concat([Buffer.from('nobody knows this'), Buffer.alloc(9_983, 1)]);
    assert.deepEqual(
      [hear(transcription, {}, bytes).bounds.seconds, hear(transcription, {}, bytes).bounds.media],
      [10, 0],
    );
    assert.equal((await measured(transcription, {}, bytes)).bounds.seconds, 10);
    const { seconds, outputTokens } = (await measured(transcription)).bounds;
    near(seconds, TUNE.seconds, 0.001, 'measured');
    assert.equal(outputTokens, Math.ceil(seconds! * 8) + 64);
  });

  it('counts voice samples as audio, and everything else as text', () => {
    const plain = hear(transcription).bounds;
    const clip = `data:audio/wav;base64,${'A'.repeat(10_000)}`;
    const named = hear(transcription, { 'known_speaker_references[]': [clip, clip], prompt: 'x'.repeat(500) }).bounds;
    assert.equal(named.media, 2);
    const more = named.inputBytes - plain.inputBytes;
    assert.ok(more >= 500 && more < 700, `${more} bytes more`);
  });

  it('distinguishes text, JSON and events', () => {
    const kind = (fields: JsonObject) => {
      const { answers, stream } = hear(transcription, fields);
      return [answers, stream];
    };
    for (const response_format of ['json', 'verbose_json', 'diarized_json']) {
      assert.deepEqual(kind({ response_format }), [undefined, false]);
    }
    for (const response_format of ['text', 'srt', 'vtt']) assert.deepEqual(kind({ response_format }), ['text', false]);
    for (const stream of ['true', 'True', '1']) assert.deepEqual(kind({ stream }), [undefined, true]);
    for (const stream of ['false', '0', '']) assert.deepEqual(kind({ stream }), [undefined, false]);
    assert.deepEqual(kind({ stream: 'true', response_format: 'text' }), [undefined, true]);
    assert.deepEqual(kind({ stream: 'true', response_format: 'srt' }), ['text', false]);
    assert.equal(hear(translation, { stream: 'true' }).stream, false);
  });

  it('is refused with the name of an invalid field', () => {
    const wrong = (fields: JsonObject, style = transcription): string => refusal(() => hear(style, fields)).param;
    assert.equal(wrong({ model: '' }), 'model');
    for (const temperature of ['1.1', '-0.1', '', ' ', 'hot', 'NaN', 'Infinity']) {
      assert.equal(wrong({ temperature }), 'temperature', temperature);
    }
    for (const temperature of ['0', '1', '0.5', '.5', '1.0', '1e-1']) hear(transcription, { temperature });
    assert.equal(wrong({ language: ['en', 'de'] }), 'language');
    for (const name of ['url', 'file_url', 'file_id'])
      assert.equal(wrong({ [name]: 'https://a.example/long.mp3' }), name);
    assert.equal(wrong({ response_format: 'diarized_json' }, translation), 'response_format');
    assert.equal(refusal(() => transcription.ingress!.read(bodyOf({ model: 'm' }), arriving())).param, 'file');
  });

  it('is forwarded unchanged, except for what the vendor does not support', async () => {
    const sent = async (fields: JsonObject) => {
      const call = hear(transcription, fields);
      const warnings = collectWarnings({});
      const outgoing = await transcription.relay.outgoing!(call, destination({ warnings }));
      assert.deepEqual([outgoing.as, outgoing.files], ['form', call.files]);
      return [outgoing.fields, warnings.all];
    };
    const all = {
      language: 'en',
      temperature: '0.20',
      'include[]': ['logprobs'],
      response_format: 'json',
      stream: '1',
    };
    assert.deepEqual(await sent(all), [{ model: 'vendor-name', ...all }, []]);
    assert.deepEqual(await sent({}), [{ model: 'vendor-name' }, []]);
    // Events are the same in both formats, and a vendor that makes none should answer in one that they can be made of.
    assert.deepEqual(await sent({ response_format: 'text', stream: 'true' }), [
      { model: 'vendor-name', response_format: 'json', stream: 'true' },
      [],
    ]);
    assert.deepEqual(await sent({ response_format: 'vtt', stream: 'true' }), [
      { model: 'vendor-name', response_format: 'vtt' },
      ['stream:dropped'],
    ]);
    const plain = { response_format: 'vtt', stream: 'false' };
    assert.deepEqual(await sent(plain), [{ model: 'vendor-name', ...plain }, []]);
  });

  it('is charged as the vendor reports, with seconds beside tokens', async () => {
    const call = await measured(transcription);
    const used = (answer: JsonObject) => transcription.relay.answer(answerOf({ text: 'Hi.', ...answer }), call)?.usage;
    assert.deepEqual(
      [used({ usage: { type: 'duration', seconds: 9 } })?.seconds, used({ duration: 8.5 })?.seconds],
      [9, 8.5],
    );
    assert.equal(used({ duration: '8.5' })?.seconds, 8.5);
    assert.equal(used({ usage: { type: 'duration', seconds: 9 } })?.estimated, false);
    const details = { text_tokens: 4, audio_tokens: 26 };
    const tokens = used({
      usage: { type: 'tokens', input_tokens: 30, output_tokens: 5, input_token_details: details },
    });
    assert.deepEqual([tokens?.input, tokens?.inputAudio, tokens?.output, tokens?.estimated], [30, 26, 5, false]);
    near(tokens?.seconds, TUNE.seconds, 0.001, 'beside the tokens');
    for (const usage of [null, {}, { type: 'duration' }, { seconds: -1 }, { seconds: 'x' }, 7, { seconds: 0 }]) {
      const counted = used({ usage });
      near(counted?.seconds, TUNE.seconds, 0.001, JSON.stringify(usage));
      assert.equal(counted?.estimated, true);
    }
  });

  it('is also charged for counts that its vendor omits', async () => {
    const call = await measured(transcription);
    const used = (answer: JsonObject, by = call) =>
      transcription.relay.answer(answerOf({ text: 'Hi there.', ...answer }), by)!.usage!;
    const seconds = used({ duration: 8.5 });
    assert.deepEqual([seconds.inputAudio, seconds.output], [85, 3], 'tokens, where seconds are told');
    assert.equal(used({ usage: { input_tokens: 30, output_tokens: 5 } }).inputAudio, 30, 'what goes in is sound');
    assert.equal(used({ usage: { input_tokens: 30, output_tokens: 0 } }).output, 3, 'words are not for nothing');
    const unknown = await measured(transcription, {}, NOISE);
    near(used({ usage: { input_tokens: 9, output_tokens: 2 } }, unknown).seconds, 9 / 12, 0.001, 'by its text');
    for (const duration of [0, 1e12, 'Infinity']) {
      near(used({ duration }).seconds, TUNE.seconds, 0.001, `${duration} is no length`);
    }
  });

  it('has the measured duration, but at least its last timestamp and what its text needs, if nothing is reported', async () => {
    const call = await measured(transcription, { response_format: 'srt' });
    const seconds = (text: string, by = call) => transcription.relay.text!(text, by)?.usage?.seconds;
    near(seconds('Hello.'), TUNE.seconds, 0.001, 'measured');
    near(seconds('1\n00:00:00,000 --> 01:02:03,500\nHello.\n\n'), 3_723.5, 0.001, 'srt');
    near(seconds('WEBVTT\n\n00:00.000 --> 00:59.250\nHello.\n'), 59.25, 0.001, 'vtt');
    near(seconds('WEBVTT\n\n00:00.000 --> then\nHello.\n'), TUNE.seconds, 0.001, 'no time');
    near(seconds('00:00:00,000 --> 9999:02:03,500\nHello.'), TUNE.seconds, 0.001, 'no time of that file');
    const text = await measured(transcription, { response_format: 'text' });
    near(seconds('It said 00:00:00,000 --> 00:59:59,000.', text), TUNE.seconds, 0.001, 'what was said is no time');
    // A file that says it is short cannot have had so much in it.
    near(seconds('x'.repeat(4_000)), 100, 0.001, 'hasty');
    // A file that says nothing is as long as its text usually takes, and no longer than it can be.
    const unknown = await measured(transcription, { response_format: 'text' }, NOISE);
    near(seconds('x'.repeat(36), unknown), 3, 0.001, 'by its text');
  });

  it('distinguishes an error and an HTML page from a text, and silence from no reply', async () => {
    const call = await measured(transcription, { response_format: 'text' });
    assert.equal(transcription.relay.text!('', call)?.textLength(), 0);
    assert.equal(transcription.relay.text!('<!doctype html><h1>It works</h1>', call), undefined);
    assert.equal(transcription.relay.text!('{"error":{"message":"No."}}', call)?.error?.message, 'No.');
    assert.equal(transcription.relay.answer(answerOf({ text: '' }), call)?.textLength(), 0);
    assert.equal(transcription.relay.answer(answerOf({ hello: 'world' }), call), undefined);
    assert.equal(transcription.relay.answer(answerOf({ error: { message: 'No.' } }), call)?.error?.message, 'No.');
  });

  it('streams, and ends with the last event only', async () => {
    const call = await measured(transcription, { stream: 'true' });
    const delta = event({ type: 'transcript.text.delta', delta: 'Hello' });
    const done = event({ type: 'transcript.text.done', text: 'Hello.', usage: { input_tokens: 9, output_tokens: 2 } });
    const relay = relayOf(transcription, call);
    assert.deepEqual(
      [seen(relay, ': x\n\n')[0], ...seen(relay, delta), ...seen(relay, done)],
      ['hold', 'pass', delta, 'last', done],
    );
    assert.deepEqual([relay.usage()?.input, relay.usage()?.output, relay.textLength()], [9, 2, 6]);
    // Silence has no words.
    assert.equal(seen(relayOf(transcription, call), done)[0], 'last');
    const other = relayOf(transcription, call);
    assert.deepEqual(seen(other, 'data: [DONE]\n\n'), ['hold', '']);
    seen(other, delta);
    assert.equal(other.close([]), 'broken');
    near(other.unfinished?.('left')?.seconds, TUNE.seconds, 0.001, 'left');
    near(other.unfinished?.('broken')?.seconds, 5 / 12, 0.001, 'broken');
    assert.equal(seen(other, event({ type: 'error', error: { message: 'It burns.' } }))[0], 'error');
    assert.equal(other.error()?.message, 'It burns.');
    for (const odd of ['data: {\n\n', 'data: null\n\n', 'data: []\n\n', 'x\n\n']) {
      assert.equal(seen(relayOf(transcription, call), odd)[1], odd);
    }
  });

  it('becomes a stream if the reply is whole', () => {
    const call = hear(transcription, { stream: 'true' });
    const events = (answer: JsonObject) => transcription.relay.streamed!(answerOf(answer), call);
    const usage = { type: 'duration', seconds: 3 };
    assert.equal(
      events({ text: 'Hello.', usage }),
      event({ type: 'transcript.text.delta', delta: 'Hello.' }) +
        event({ type: 'transcript.text.done', text: 'Hello.', usage }),
    );
    assert.equal(events({ text: '' }), event({ type: 'transcript.text.done', text: '' }));
    const segment = { type: 'transcript.text.segment', id: 's', speaker: 'A', start: 0, end: 1, text: 'Hello.' };
    assert.ok(events({ text: 'Hello.', segments: [segment] })?.startsWith(event(segment)), 'speakers come first');
    assert.equal(events({ segments: [] }), undefined);
  });
});
