/** Speech and transcription as the official client asks for them, before a vendor that is watched, and the demo vendor. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import OpenAI, { type APIError, toFile } from 'openai';
import type {
  Transcription,
  TranscriptionDiarized,
  TranscriptionStreamEvent,
} from 'openai/resources/audio/transcriptions';
import { type FormPart, type ReadForm, readForm, writeForm } from '../kit/clients/multipart.ts';
import { defaultConfig, startGateway, type TestGateway, VENDOR_KEY } from '../kit/gateway/gateway.ts';
import { type UsageRow, usageRecords } from '../kit/gateway/usage-records.ts';
import { until } from '../kit/until.ts';
import { type FakeVendor, fakeVendor, type VendorRequest } from '../kit/vendors/fake-vendor.ts';
import {
  chunk,
  errorAnswer,
  eventStream,
  head,
  hold,
  jsonAnswer,
  lastChunk,
  rst,
  type Script,
  sized,
} from '../kit/vendors/script.ts';

/** Two and a half seconds of samples that no two files share. */
const RECORDING = wave(2.5);
const HELLO = 'Hello 👋, how are you?';
const CHARACTERS = 21;
/** What a character and a second cost, in micro-quota: 15 currency units a million, and a ten-thousandth. */
const CHARACTER = 7_500_000n;
const SECOND = 50_000_000n;

/** One channel for each way to fail: what is remembered against it does not reach the next. */
const FAILING = ['fails-a', 'fails-b', 'fails-c', 'fails-d', 'fails-e'];

function wave(seconds: number): Buffer {
  const samples = Buffer.alloc(seconds * 16_000);
  for (let i = 0; i < samples.length; i++) samples[i] = (i * i) % 251;
  const form = Buffer.alloc(44);
  form.write('RIFF\0\0\0\0WAVEfmt ', 0, 'latin1');
  for (const [at, value] of [
    [4, 36 + samples.length],
    [16, 16],
    [20, 0x1_0001],
    [24, 8_000],
    [28, 16_000],
    [32, 0x10_0002],
    [40, samples.length],
  ] as const) {
    form.writeUInt32LE(value, at);
  }
  form.write('data', 36, 'latin1');
  return Buffer.concat([form, samples]);
}

/** An answer in two pieces; between them the vendor waits until it is released. */
function soundInTwo(type: string, first: Buffer, second: Buffer): Script {
  const start = head(200, { 'content-type': type, 'transfer-encoding': 'chunked' });
  return [start, chunk(first), hold(), chunk(second), lastChunk()];
}

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

describe('sound', () => {
  let vendor: FakeVendor;
  let spare: FakeVendor;
  let gateway: TestGateway;
  let client: OpenAI;
  before(async () => {
    vendor = await fakeVendor();
    spare = await fakeVendor();
    const channel = { vendor: 'openai', url: vendor.url, key: VENDOR_KEY };
    gateway = await startGateway({
      config: {
        ...defaultConfig([]),
        channels: [
          { ...channel, name: 'main' },
          ...FAILING.map((name) => ({ ...channel, name })),
          { ...channel, name: 'spare', url: spare.url, priority: 1 },
          { name: 'demo', vendor: 'demo' },
        ],
        models: {
          'tts-1': { from: ['main'], price: { characters: 15 } },
          'tts-tokens': { from: [{ main: 'gpt-4o-mini-tts' }], price: { input: 1, output: 10 } },
          ...Object.fromEntries(
            FAILING.map((name) => [
              `tts-${name}`,
              { from: [{ [name]: 'tts-1' }, { spare: 'tts-1' }], price: { characters: 15 } },
            ]),
          ),
          'whisper-1': { from: ['main'], price: { perSecond: 0.0001 } },
          'whisper-spare': { from: [{ 'fails-e': 'whisper-1' }, { spare: 'whisper-1' }], price: { perSecond: 0.0001 } },
          'gpt-4o-transcribe': { from: ['main'], price: { input: 2, inputAudio: 6, output: 10 } },
          demo: { from: ['demo'], price: { characters: 15, perSecond: 0.0001 } },
        },
      },
    });
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([vendor.close(), spare.close()]);
  });
  beforeEach(() => {
    for (const each of [vendor, spare]) {
      each.forget();
      each.always(errorAnswer(500, 'nobody told me what to say'));
    }
  });

  const lastRecord = (): UsageRow => usageRecords(gateway.storeFile).at(-1)!;
  const lastRequest = (from = vendor): VendorRequest => from.requests.at(-1)!;
  const lastForm = (from = vendor): ReadForm => {
    const { headers, body } = lastRequest(from);
    assert.equal(headers['content-length'], String(body.length), 'the length of a form is told');
    return readForm(headers['content-type']!, body);
  };
  const rejects = async (run: () => PromiseLike<unknown>): Promise<APIError> => {
    try {
      await run();
    } catch (error) {
      assert.ok(error instanceof OpenAI.APIError, String(error));
      return error;
    }
    assert.fail('it is not refused');
  };
  const recorded = async (count: number): Promise<UsageRow> => {
    await until('there is a new record', () => countRecords() > count, gateway);
    return usageRecords(gateway.storeFile).at(-1)!;
  };
  const countRecords = (): number => usageRecords(gateway.storeFile).length;

  describe('that is spoken', () => {
    const ask = { model: 'tts-1', voice: 'alloy', input: HELLO };

    it('comes as the vendor made it, and is charged by the character', async () => {
      const sound = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7) % 256));
      vendor.next(sized(200, 'audio/mpeg', sound));
      const answer = await client.audio.speech.create({ ...ask, speed: 1.5, response_format: 'mp3' });
      assert.deepEqual(Buffer.from(await answer.arrayBuffer()), sound);
      assert.equal(answer.headers.get('content-type'), 'audio/mpeg');
      const { body, path } = lastRequest();
      assert.equal(path, '/v1/audio/speech');
      assert.equal(body.toString(), JSON.stringify({ ...ask, speed: 1.5, response_format: 'mp3' }));
      const { outcome, charged } = lastRecord();
      assert.deepEqual([outcome, charged], ['served', BigInt(CHARACTERS) * CHARACTER]);
    });

    it('reaches the client while the vendor still works; only the last byte waits for the books', async () => {
      const [first, second] = [Buffer.from('the first half'), Buffer.from('the second half')];
      vendor.next(soundInTwo('audio/ogg; codecs=opus', first, second));
      const count = countRecords();
      const answer = await client.audio.speech.create({ ...ask, response_format: 'opus' });
      assert.equal(answer.headers.get('content-type'), 'audio/ogg; codecs=opus');
      const reader = answer.body!.getReader();
      const { value } = await reader.read();
      assert.deepEqual(Buffer.from(value!), first.subarray(0, -1));
      assert.equal(lastRequest().holding, 'hold');
      assert.equal(countRecords(), count);
      vendor.release();
      const rest: Buffer[] = [];
      for (let piece = await reader.read(); !piece.done; piece = await reader.read())
        rest.push(Buffer.from(piece.value));
      assert.deepEqual(Buffer.concat([Buffer.from(value!), ...rest]), Buffer.concat([first, second]));
      assert.equal(countRecords(), count + 1);
    });

    it('is of the type that was asked for where the vendor does not say', async () => {
      for (const [format, type] of [
        ['mp3', 'audio/mpeg'],
        ['opus', 'audio/opus'],
        ['aac', 'audio/aac'],
        ['flac', 'audio/flac'],
        ['wav', 'audio/wav'],
        ['pcm', 'audio/pcm'],
      ] as const) {
        vendor.next(sized(200, 'application/octet-stream', 'sound'));
        const answer = await client.audio.speech.create({ ...ask, response_format: format });
        assert.equal(answer.headers.get('content-type'), type);
        assert.equal(await answer.text(), 'sound');
      }
    });

    it('comes from the next channel where the first has none, or something else', async () => {
      const failures = [
        errorAnswer(503),
        jsonAnswer(200, { error: { message: 'No.', code: 'no' } }),
        sized(200, 'text/html', '<html>'),
        sized(200, 'audio/mpeg', ''),
      ];
      for (const [i, failure] of failures.entries()) {
        vendor.next(failure);
        spare.next(sized(200, 'audio/mpeg', 'from the spare one'));
        const answer = await client.audio.speech.create({ ...ask, model: `tts-${FAILING[i]}` });
        assert.equal(await answer.text(), 'from the spare one');
        const { attempts, charged } = lastRecord();
        assert.deepEqual(
          attempts.map(({ channel }) => channel),
          [FAILING[i], 'spare'],
        );
        assert.equal(charged, BigInt(CHARACTERS) * CHARACTER);
      }
    });

    it('is charged whole where the client leaves in the middle, and the vendor is left alone', async () => {
      vendor.next(soundInTwo('audio/mpeg', Buffer.from('some'), Buffer.from('more')));
      const count = countRecords();
      const leaving = new AbortController();
      const answer = await client.audio.speech.create(ask, { signal: leaving.signal });
      const reader = answer.body!.getReader();
      await reader.read();
      leaving.abort();
      await reader.read().catch(() => {});
      const { outcome, charged } = await recorded(count);
      assert.deepEqual([outcome, charged], ['aborted', BigInt(CHARACTERS) * CHARACTER]);
    });

    it('is charged by what was delivered where the vendor breaks off', async () => {
      // Two tenths of a second are three characters.
      const sound = Buffer.alloc(9_600);
      const start = head(200, { 'content-type': 'audio/pcm', 'transfer-encoding': 'chunked' });
      vendor.next([start, chunk(sound), hold('cut'), rst()]);
      const count = countRecords();
      const answer = await client.audio.speech.create({ ...ask, response_format: 'pcm' });
      vendor.release('cut');
      await assert.rejects(() => answer.arrayBuffer());
      const { outcome, charged } = await recorded(count);
      assert.deepEqual([outcome, charged], ['failed', 3n * CHARACTER]);
    });

    it('comes in events where they are asked for, with the usage as the vendor tells it', async () => {
      const delta = { type: 'speech.audio.delta', audio: Buffer.alloc(4_800).toString('base64') };
      const usage = { input_tokens: 14, output_tokens: 101, total_tokens: 115 };
      const events = [event(delta), event(delta), event({ type: 'speech.audio.done', usage })];
      vendor.next(eventStream(events));
      const answer = await client.audio.speech.create({ ...ask, model: 'tts-tokens', stream_format: 'sse' });
      assert.match(answer.headers.get('content-type')!, /^text\/event-stream/);
      assert.equal(await answer.text(), events.join(''));
      const { input, output, estimated, charged } = lastRecord();
      assert.deepEqual([input, output, estimated, charged], [14, 101, false, 14n * 500_000n + 101n * 5_000_000n]);
    });

    it('is counted by its length where tokens are the price and the vendor does not tell them', async () => {
      vendor.next(sized(200, 'audio/wav', wave(2)));
      await (await client.audio.speech.create({ ...ask, model: 'tts-tokens', response_format: 'wav' })).arrayBuffer();
      const { output, estimated } = lastRecord();
      assert.deepEqual([output, estimated], [42, true]);
    });

    it('is bounded by the specification, and a refusal names the field', async () => {
      const asked = vendor.requests.length;
      for (const [more, param] of [
        [{ input: '' }, 'input'],
        [{ input: 'x'.repeat(4_097) }, 'input'],
        [{ input: '👋'.repeat(4_097) }, 'input'],
        [{ input: 7 }, 'input'],
        [{ voice: 'nobody' }, 'voice'],
        [{ voice: 7 }, 'voice'],
        [{ speed: 0.24 }, 'speed'],
        [{ speed: 4.01 }, 'speed'],
        [{ speed: '1' }, 'speed'],
        [{ response_format: 'midi' }, 'response_format'],
        [{ stream_format: 'both' }, 'stream_format'],
        [{ instructions: 1 }, 'instructions'],
        [{ model: '' }, 'model'],
      ] as const) {
        const error = await rejects(() => client.audio.speech.create({ ...ask, ...more } as typeof ask));
        assert.deepEqual([error.status, error.param], [400, param], JSON.stringify(more).slice(0, 60));
        assert.ok(error.message.includes(`\`${param}\``), error.message);
      }
      const error = await rejects(() => client.audio.speech.create({ ...ask, voice: 'nobody' }));
      assert.match(error.message, /alloy, ash, coral/);
      assert.equal(vendor.requests.length, asked);

      for (const more of [
        { input: 'x'.repeat(4_095) },
        { input: 'x'.repeat(4_096) },
        { input: '👋'.repeat(4_095) },
        { input: '👋'.repeat(4_096) },
        { speed: 0.25 },
        { speed: 4 },
        // One that was made at the vendor.
        { voice: { id: 'voice_1' } },
      ] as const) {
        vendor.next(sized(200, 'audio/mpeg', 'sound'));
        assert.equal(await (await client.audio.speech.create({ ...ask, ...more } as typeof ask)).text(), 'sound');
        const { input = HELLO }: { input?: string } = more;
        assert.equal(lastRecord().charged, BigInt([...input].length) * CHARACTER);
      }
    });

    it('can be had in every format from the demo vendor, and heard by it again', async () => {
      for (const response_format of ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const) {
        const request = { model: 'demo', voice: 'nova', input: 'Every word is a tune of its own.', response_format };
        const sound = Buffer.from(await (await client.audio.speech.create(request)).arrayBuffer());
        assert.ok(sound.length > 500, response_format);
        assert.equal(lastRecord().charged, 32n * CHARACTER);
        if (response_format === 'pcm') continue;
        const file = await toFile(sound, `speech.${response_format}`);
        const { text } = await client.audio.transcriptions.create({ model: 'demo', file });
        assert.match(text, new RegExp(`"speech.${response_format}", ${sound.length} bytes long`));
        assert.equal(lastRecord().charged, BigInt(Math.ceil(sound.length / 4_000)) * SECOND);
      }
    });
  });

  describe('that is heard', () => {
    const file = () => toFile(RECORDING, 'my words.wav', { type: 'audio/wav' });
    const told = { text: 'Hello there.', usage: { type: 'duration', seconds: 3 } };
    const large = { length: 3_000_000 };

    it('goes to the vendor byte by byte, with every field as it came', async () => {
      vendor.next(jsonAnswer(200, told));
      const answer = await client.audio.transcriptions.create({
        model: 'whisper-1',
        file: await file(),
        language: 'en',
        prompt: 'Zürich',
        temperature: 0.2,
        response_format: 'json',
        timestamp_granularities: ['word', 'segment'],
        include: ['logprobs'],
      });
      assert.deepEqual(answer, told);
      const { fields, files } = lastForm();
      assert.deepEqual(fields, {
        model: 'whisper-1',
        language: 'en',
        prompt: 'Zürich',
        temperature: '0.2',
        response_format: 'json',
        'timestamp_granularities[]': ['word', 'segment'],
        'include[]': 'logprobs',
      });
      assert.deepEqual(files, [{ field: 'file', fileName: 'my words.wav', mediaType: 'audio/wav', bytes: RECORDING }]);
      assert.equal(lastRequest().path, '/v1/audio/transcriptions');
      const { charged, estimated } = lastRecord();
      assert.deepEqual([charged, estimated], [3n * SECOND, false]);
    });

    it('is charged by its measured length where the vendor tells nothing, or only a text', async () => {
      const times = '00:00:00,000 --> 00:00:04,000';
      for (const [format, type, body, seconds] of [
        ['json', 'application/json', '{"text":"Hello."}', 2.5],
        ['text', 'text/plain', 'Hello.\n', 2.5],
        ['srt', 'text/plain', `1\n${times}\nHello.\n\n`, 4],
        ['vtt', 'text/vtt', 'WEBVTT\n\n00:00.000 --> 00:02.000\nHello.\n\n', 2.5],
        ['verbose_json', 'application/json', '{"text":"Hello.","duration":2.4}', 2.4],
      ] as const) {
        vendor.next(sized(200, type, body));
        const answer = await client.audio.transcriptions
          .create({ model: 'whisper-1', file: await file(), response_format: format })
          .asResponse();
        assert.equal(await answer.text(), body);
        assert.ok(answer.headers.get('content-type')!.startsWith(type), format);
        assert.equal(lastForm().fields.response_format, format);
        const { charged, estimated } = lastRecord();
        assert.equal(charged, BigInt(seconds * 10) * (SECOND / 10n), format);
        assert.equal(estimated, format !== 'verbose_json');
      }
    });

    it('is charged by tokens where the vendor tells them', async () => {
      const usage = {
        type: 'tokens',
        input_tokens: 40,
        input_token_details: { text_tokens: 10, audio_tokens: 30 },
        output_tokens: 5,
        total_tokens: 45,
      };
      vendor.next(jsonAnswer(200, { text: 'Hello.', usage }));
      await client.audio.transcriptions.create({ model: 'gpt-4o-transcribe', file: await file() });
      assert.equal(lastRecord().charged, 10n * 1_000_000n + 30n * 3_000_000n + 5n * 5_000_000n);
    });

    it('streams, and comes as a stream from a vendor that takes no notice', async () => {
      const usage = { type: 'tokens', input_tokens: 14, output_tokens: 3, total_tokens: 17 };
      const events: readonly TranscriptionStreamEvent[] = [
        { type: 'transcript.text.delta', delta: 'Hello ' },
        { type: 'transcript.text.delta', delta: 'there.' },
        { type: 'transcript.text.done', text: 'Hello there.', usage: usage as never },
      ];
      const hear = async (): Promise<readonly TranscriptionStreamEvent[]> => {
        const stream = await client.audio.transcriptions.create({
          model: 'gpt-4o-transcribe',
          file: await file(),
          response_format: 'text',
          stream: true,
        });
        const heard: TranscriptionStreamEvent[] = [];
        for await (const each of stream) heard.push(each);
        return heard;
      };
      vendor.next(eventStream(events.map(event)));
      assert.deepEqual(await hear(), events);
      assert.deepEqual([lastRecord().input, lastRecord().output], [14, 3]);
      assert.deepEqual([lastForm().fields.stream, lastForm().fields.response_format], ['true', 'json']);

      vendor.next(jsonAnswer(200, { text: 'Hello there.', usage }));
      assert.deepEqual(await hear(), [{ type: 'transcript.text.delta', delta: 'Hello there.' }, events.at(-1)]);
      assert.deepEqual([lastRecord().input, lastRecord().output], [14, 3]);
    });

    it('may name its model last, and goes whole to the next channel where the first fails', async () => {
      const bytes = Buffer.from(Array.from(large, (_, i) => (i * i) % 253));
      const parts: readonly FormPart[] = [
        { name: 'file', bytes, fileName: 'long.mp3', mediaType: 'audio/mpeg' },
        { name: 'a_field_of_a_vendor', text: 'yes' },
        { name: 'model', text: 'whisper-spare' },
      ];
      const { contentType, body } = writeForm(parts);
      vendor.next(errorAnswer(503));
      spare.next(jsonAnswer(200, told));
      const answer = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': contentType },
        body: new Uint8Array(body),
      });
      assert.deepEqual(await answer.json(), told);
      const digest = (of: Buffer): string => createHash('sha256').update(of).digest('hex');
      for (const each of [vendor, spare]) {
        const { fields, files } = lastForm(each);
        assert.deepEqual(fields, { a_field_of_a_vendor: 'yes', model: 'whisper-1' });
        assert.deepEqual([files.length, files[0]!.fileName, digest(files[0]!.bytes)], [1, 'long.mp3', digest(bytes)]);
      }
      assert.equal(lastRecord().charged, 3n * SECOND);
    });

    it('can be translated', async () => {
      vendor.next(jsonAnswer(200, told));
      const answer = await client.audio.translations.create({ model: 'whisper-1', file: await file(), prompt: 'x' });
      assert.deepEqual(answer, told);
      assert.equal(lastRequest().path, '/v1/audio/translations');
      assert.deepEqual(lastForm().fields, { model: 'whisper-1', prompt: 'x' });
      assert.deepEqual(lastForm().files[0]!.bytes, RECORDING);
      assert.equal(lastRecord().charged, 3n * SECOND);
    });

    it('is refused with the name of the field that is wrong', async () => {
      const asked = vendor.requests.length;
      const good = { model: 'whisper-1', file: await file() };
      for (const [more, param] of [
        [{ model: '' }, 'model'],
        [{ temperature: 1.01 }, 'temperature'],
        [{ temperature: -0.1 }, 'temperature'],
        [{ temperature: 'warm' }, 'temperature'],
        [{ response_format: 'poem' }, 'response_format'],
        [{ stream: 'perhaps' }, 'stream'],
        [{ file: 'no file' }, 'file'],
        [{ file: undefined }, 'file'],
      ] as const) {
        const error = await rejects(() =>
          client.audio.transcriptions.create({ ...good, ...more } as OpenAI.Audio.TranscriptionCreateParams),
        );
        assert.deepEqual([error.status, error.param], [400, param], JSON.stringify(more));
      }
      const error = await rejects(() =>
        client.audio.translations.create({ ...good, response_format: 'diarized_json' as 'json' }),
      );
      assert.deepEqual([error.status, error.param], [400, 'response_format']);
      assert.equal(vendor.requests.length, asked);
      const json = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: '{"model":"whisper-1"}',
      });
      assert.equal(json.status, 415);
    });

    it('is charged as the vendor tells it where the client leaves before the text is there', async () => {
      vendor.next([hold('later'), ...jsonAnswer(200, told)]);
      const [count, asked] = [countRecords(), vendor.requests.length];
      const leaving = new AbortController();
      const call = client.audio.transcriptions.create(
        { model: 'whisper-1', file: await file() },
        { signal: leaving.signal },
      );
      const left = assert.rejects(() => call);
      await vendor.waitFor(() => vendor.requests.length > asked && vendor.requests.at(-1)!.complete);
      leaving.abort();
      await left;
      vendor.release('later');
      const { outcome, charged } = await recorded(count);
      assert.deepEqual([outcome, charged], ['aborted', 3n * SECOND]);
    });

    it('is charged whole where the client leaves its stream, however little it has got', async () => {
      const delta = event({ type: 'transcript.text.delta', delta: 'Hello ' });
      vendor.next(eventStream([delta, hold('no more'), delta]));
      const count = countRecords();
      const stream = await client.audio.transcriptions.create({
        model: 'whisper-1',
        file: await file(),
        stream: true,
      });
      for await (const _ of stream) break;
      const { outcome, charged, estimated } = await recorded(count);
      assert.deepEqual([outcome, charged, estimated], ['aborted', 25n * (SECOND / 10n), true]);
    });

    it('costs nothing where the client leaves before it has sent it', async () => {
      const [count, asked] = [countRecords(), vendor.requests.length];
      const leaving = new AbortController();
      const { contentType, body } = writeForm([
        { name: 'model', text: 'whisper-1' },
        { name: 'file', bytes: RECORDING, fileName: 'my words.wav' },
      ]);
      let pulls = 0;
      const upload = new ReadableStream({
        pull(controller) {
          if (++pulls < 5) controller.enqueue(new Uint8Array(body.subarray(pulls * 4_000 - 4_000, pulls * 4_000)));
          else leaving.abort();
        },
      });
      const left = assert.rejects(
        fetch(`${gateway.url}/v1/audio/transcriptions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${gateway.key}`, 'content-type': contentType },
          body: upload,
          signal: leaving.signal,
          duplex: 'half',
        } as RequestInit),
      );
      await left;
      const { outcome, charged } = await recorded(count);
      assert.deepEqual([outcome, charged, vendor.requests.length], ['aborted', 0n, asked]);
    });

    it('is answered by the demo vendor in every format', async () => {
      const heard = /^This is the demo model\. It was given "my words\.wav", 40044 bytes long/;
      const ask = { model: 'demo', file: await file() };
      const { text } = await client.audio.transcriptions.create(ask);
      assert.match(text, heard);
      const verbose = await client.audio.transcriptions.create({ ...ask, response_format: 'verbose_json' });
      assert.deepEqual([verbose.duration, verbose.text, verbose.words!.length > 10], [10.011, text, true]);
      const diarized = (await client.audio.transcriptions.create({
        ...ask,
        response_format: 'diarized_json',
      })) as unknown as TranscriptionDiarized;
      assert.deepEqual([diarized.segments[0]!.speaker, diarized.segments[0]!.end], ['A', 10.011]);
      assert.equal(await client.audio.transcriptions.create({ ...ask, response_format: 'text' }), `${text}\n`);
      const srt = await client.audio.transcriptions.create({ ...ask, response_format: 'srt' });
      assert.equal(srt, `1\n00:00:00,000 --> 00:00:10,011\n${text}\n\n`);
      const vtt = await client.audio.transcriptions.create({ ...ask, response_format: 'vtt' });
      assert.equal(vtt, `WEBVTT\n\n00:00:00.000 --> 00:00:10.011\n${text}\n\n`);
      let streamed = '';
      for await (const each of await client.audio.transcriptions.create({ ...ask, stream: true })) {
        if (each.type === 'transcript.text.delta') streamed += each.delta;
      }
      assert.equal(streamed, text);
      const english: Transcription = await client.audio.translations.create(ask);
      assert.match(english.text, /translated into English/);
      assert.equal(lastRecord().charged, 11n * SECOND);
    });
  });
});
