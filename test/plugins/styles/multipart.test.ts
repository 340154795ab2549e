/** Forms with files: what a legal one becomes, in whatever chunks it comes, and what every broken one is told. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, describe, it } from 'node:test';
import type { Form, FormReader } from '../../../core/contracts/formats/style.ts';
import { GatewayError } from '../../../core/contracts/gateway-error.ts';
import { createSpool } from '../../../core/incoming/upload-spool.ts';
import { createFormReader, type FormOptions } from '../../../plugins/styles/multipart/index.ts';
import {
  type FormPart,
  leftIn,
  type ReadFile,
  readForm,
  type WrittenForm,
  writeForm,
} from '../../kit/clients/multipart.ts';
import fc from '../../kit/fast-check.ts';

const MIB = 1_048_576;
const home = mkdtempSync(join(tmpdir(), 'multipart-test-'));
after(() => rmSync(home, { recursive: true, force: true }));

const audio = createFormReader({
  only: true,
  files: { file: { max: 1, required: true } },
  repeats: ['timestamp_granularities'],
});
const images = createFormReader({
  only: false,
  files: { image: { max: 3, required: true, orText: true }, mask: { max: 1 } },
});
const song = {
  name: 'file',
  bytes: Buffer.from('RIFF\r\n\0\xff', 'latin1'),
  fileName: 'song.wav',
  mediaType: 'audio/wav',
};
const model = { name: 'model', text: 'whisper-1' };

/** What a form became, with the bytes of its files; nothing of it is left afterwards. */
interface Became {
  readonly fields: Form['fields'];
  readonly files: readonly ReadFile[];
}

async function read(
  reader: FormReader,
  form: WrittenForm,
  chunks: Iterable<Buffer> = [form.body],
  maxBytes = 32 * MIB,
): Promise<Became> {
  const spool = createSpool({ directory: home, maxBytes });
  try {
    const body = Readable.from(chunks, { objectMode: false });
    const { fields, files } = await reader.read({ body, contentType: form.contentType, spool });
    const became: ReadFile[] = [];
    for (const { field, fileName, mediaType, read } of files) {
      const pieces: Buffer[] = [];
      for await (const piece of read()) pieces.push(piece);
      became.push({ field, fileName, mediaType, bytes: Buffer.concat(pieces) });
    }
    return { fields, files: became };
  } finally {
    await spool.discard();
    assert.deepEqual(leftIn(home), []);
  }
}

interface Refusal {
  readonly status?: number;
  readonly param: string;
  readonly says: RegExp;
}

async function refused(
  form: WrittenForm | readonly FormPart[],
  { status = 400, param, says }: Refusal,
  reader: FormReader = audio,
): Promise<void> {
  const written = 'body' in form ? form : writeForm(form);
  for (const chunks of [[written.body], cut(written.body, 1_000)]) {
    await assert.rejects(read(reader, written, chunks), (error) => {
      assert.ok(error instanceof GatewayError, `it is told on purpose, not: ${error}`);
      assert.deepEqual({ status: error.status, param: error.param }, { status, param }, error.message);
      assert.match(error.message, says);
      assert.match(error.code, status === 413 ? /^request_too_large$/ : /^invalid_(request_error|form)$/);
      return true;
    });
  }
}

function cut(body: Buffer, size: number): readonly Buffer[] {
  return Array.from({ length: Math.ceil(body.length / size) }, (_, i) => body.subarray(i * size, (i + 1) * size));
}

/** The parts with these heads; each holds `x`. */
const heads = (...lines: readonly string[]): readonly FormPart[] => [
  song,
  ...lines.map((head) => ({ head, bytes: Buffer.from('x') })),
];

describe('a multipart body', () => {
  it('is decoded to its texts and files', async () => {
    const form = writeForm([{ name: 'temperature', text: '0.2' }, song, model, { name: 'prompt', text: '' }]);
    assert.deepEqual(await read(audio, form), {
      fields: { temperature: '0.2', model: 'whisper-1', prompt: '' },
      files: [{ field: 'file', fileName: 'song.wav', mediaType: 'audio/wav', bytes: song.bytes }],
    });
  });

  it('is decoded as another parser decodes it', async () => {
    const form = writeForm([song, model, { name: 'include[]', text: 'a' }, { name: 'include[]', text: 'ü' }]);
    assert.deepEqual(await read(audio, form), readForm(form.contentType, form.body));
  });

  it('is decoded the same in chunks of any size', async () => {
    // What looks like the beginning of a boundary is what a parser may lose.
    const lookalike = fc.constantFrom(
      '\r',
      '\n',
      '\r\n',
      '-',
      '\r\n-',
      '\r\n--',
      '\r\n--b',
      '\r\n--bb',
      '--bb\r\n',
      '\r\r\n',
      'x',
      '\0\xff',
    );
    const bytes = fc
      .array(lookalike, { minLength: 1, maxLength: 12 })
      .map((pieces) => Buffer.from(pieces.join(''), 'latin1'))
      .filter((each) => !each.includes('--bbb'));
    const text = fc
      .array(fc.constantFrom('\r', '\n', '\r\n--bb', 'ü', '🎈', ' '), { maxLength: 8 })
      .map((all) => all.join(''));
    const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(bytes, bytes, text, cuts, fc.boolean(), async (image, mask, prompt, places, tiny) => {
        const form = writeForm(
          [
            { name: 'image[]', bytes: image },
            { name: 'prompt', text: prompt },
            { name: 'image[]', bytes: mask, fileName: 'b.png', mediaType: 'image/png' },
            { name: 'mask', bytes: mask },
            { name: 'n', text: '2' },
          ],
          { boundary: 'bbb' },
        );
        const at = [0, ...new Set(places.filter((place) => place < form.body.length)), form.body.length].sort(
          (a, b) => a - b,
        );
        const chunks = tiny ? cut(form.body, 1) : at.slice(1).map((end, i) => form.body.subarray(at[i], end));
        const whole = await read(images, form);
        assert.deepEqual(whole, readForm(form.contentType, form.body));
        assert.deepEqual(await read(images, form, oneByOne(chunks)), whole);
      }),
      { seed: 20_261_120, numRuns: 200 },
    );
  });

  it('keeps every byte of a large file', async () => {
    const bytes = randomBytes(5 * MIB + 3);
    const form = writeForm([model, { ...song, bytes }, { name: 'language', text: 'de' }]);
    const { fields, files } = await read(audio, form, cut(form.body, 65_536));
    assert.deepEqual(fields, { model: 'whisper-1', language: 'de' });
    assert.ok(files[0]!.bytes.equals(bytes), 'the file is whole');
  });

  it('may have a preamble, an epilogue, and its boundary quoted or without required quotes', async () => {
    for (const boundary of ["a'()+_,-./:=?", '=_Part_1', 'with a space', 'x'.repeat(70)]) {
      const { body } = writeForm([song, model], { boundary });
      const around = Buffer.concat([Buffer.from('This is a form.\r\n'), body, Buffer.from('That was it.\r\n')]);
      for (const quote of boundary.includes(' ') ? ['"'] : ['"', '']) {
        const contentType = `Multipart/Form-Data; charset=utf-8; Boundary=${quote}${boundary}${quote}`;
        const { fields, files } = await read(audio, { contentType, body: around });
        assert.deepEqual(fields, { model: 'whisper-1' });
        assert.deepEqual(files[0]?.bytes, song.bytes);
      }
    }
  });

  it('may have the names of object methods as field names', async () => {
    const form = writeForm([song, { name: 'hasOwnProperty', text: 'a' }, { name: 'toString[]', text: 'b' }]);
    assert.deepEqual((await read(audio, form)).fields, { hasOwnProperty: 'a', 'toString[]': ['b'] });
  });
});

describe('a text field', () => {
  it('becomes a list if its name ends in brackets, or if it may be repeated and is', async () => {
    const granularity = (text: string) => ({ name: 'timestamp_granularities', text });
    const one = writeForm([song, granularity('word'), { name: 'include[]', text: 'logprobs' }]);
    const two = writeForm([song, granularity('word'), granularity('segment'), granularity('')]);
    assert.deepEqual((await read(audio, one)).fields, { timestamp_granularities: 'word', 'include[]': ['logprobs'] });
    assert.deepEqual((await read(audio, two)).fields, { timestamp_granularities: ['word', 'segment', ''] });
  });

  it('may have a content type and a charset, as .NET and Java send it', async () => {
    const typed = (head: string) => ({ head, bytes: Buffer.from('grün') });
    const form = writeForm([
      song,
      typed('Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=prompt'),
      typed(
        'content-disposition: form-data; name="language"\r\ncontent-type: text/plain;charset=UTF-8\r\nContent-Length: 5',
      ),
    ]);
    assert.deepEqual((await read(audio, form)).fields, { prompt: 'grün', language: 'grün' });
  });

  it('may have 1 MiB if it is free text, and 64 KiB if it is a setting', async () => {
    for (const [name, most] of [
      ['prompt', MIB],
      ['input', MIB],
      ['instructions', MIB],
      ['user', 65_536],
    ] as const) {
      const { fields } = await read(audio, writeForm([song, { name, text: 'x'.repeat(most) }]));
      assert.equal((fields[name] as string).length, most);
      const says = new RegExp(`\`${name}\` is longer than ${most} bytes`);
      await refused([song, { name, text: 'x'.repeat(most + 1) }], { status: 413, param: name, says });
      await refused([song, { name, text: 'x'.repeat(2 * MIB) }], { status: 413, param: name, says });
    }
  });

  it('is refused by name if it is sent twice', () =>
    refused([song, model, model], { param: 'model', says: /`model` must be sent only once/ }));

  it('is refused if it is not UTF-8, or has an unknown charset', async () => {
    const says = /`prompt` must be a text in UTF-8/;
    const named = 'Content-Disposition: form-data; name="prompt"';
    await refused([song, { head: named, bytes: Buffer.from('caf\xe9', 'latin1') }], { param: 'prompt', says });
    for (const charset of ['utf-8', 'shift_jis']) {
      const head = `${named}\r\nContent-Type: text/plain; charset=${charset}`;
      await refused([song, { head, bytes: Buffer.from([0xe9, 0xff]) }], { param: 'prompt', says });
    }
  });

  it('may contain the replacement character, as transcripts do', async () => {
    const prompt = 'a \ufffd and another \ufffd';
    const form = writeForm([song, { name: 'prompt', text: prompt }]);
    for (const size of [1, 7, 1_000]) {
      assert.deepEqual((await read(audio, form, oneByOne(cut(form.body, size)))).fields, { prompt });
    }
    const broken = { head: 'Content-Disposition: form-data; name="language"', bytes: Buffer.from('\xff', 'latin1') };
    await refused([song, broken, { name: 'prompt', text: prompt }], {
      param: 'language',
      says: /must be a text in UTF-8/,
    });
  });

  it('is refused in place of a file', () =>
    refused([model, { name: 'file', text: 'song.wav' }], { param: 'file', says: /`file` must be a file/ }));

  it('is accepted in place of a file if the endpoint allows it', async () => {
    const form = writeForm([{ name: 'image', text: 'https://example.com/a.png' }]);
    assert.deepEqual(await read(images, form), { fields: { image: 'https://example.com/a.png' }, files: [] });
    await refused(
      [{ name: 'mask', text: 'https://example.com/a.png' }],
      { param: 'mask', says: /must be a file/ },
      images,
    );
  });
});

describe('a file', () => {
  it('is refused by the name of its field if it is required and missing', async () => {
    await refused([model], { param: 'file', says: /`file` is missing/ });
    await refused([], { param: 'file', says: /`file` is missing/ });
    await refused([], { param: 'image', says: /`image` is missing/ }, images);
  });

  it('is refused by the name of its field if it is sent twice, or too often', async () => {
    await refused([song, song], { param: 'file', says: /`file` must be one file/ });
    const image = { name: 'image[]', bytes: Buffer.from('x') };
    assert.equal((await read(images, writeForm([image, { ...image, name: 'image' }, image]))).files.length, 3);
    await refused(
      [image, { ...image, name: 'image' }, image, image],
      { param: 'image[]', says: /3 files at most/ },
      images,
    );
  });

  it('in a field that is no file field is refused, with the names of the file fields', async () => {
    const stray = { name: 'model', bytes: Buffer.from('x') };
    await refused([song, stray], {
      param: 'model',
      says: /`model` must not be a file: files are accepted only in `file`/,
    });
    await refused([{ ...stray, name: 'audio' }], { param: 'audio', says: /only in `image` and `mask`/ }, images);
    await refused([{ ...stray, name: 'toString' }], { param: 'toString', says: /must not be a file/ });
    const none = createFormReader({ only: false, files: {} });
    await refused([stray], { param: 'model', says: /this endpoint accepts no files/ }, none);
  });

  it('is refused if it is empty', async () => {
    await refused([model, { ...song, bytes: Buffer.alloc(0) }], { param: 'file', says: /`file` is empty/ });
    await refused([{ ...song, bytes: Buffer.alloc(0) }, model], { param: 'file', says: /`file` is empty/ });
  });

  it('is refused with 413 beyond the limit', async () => {
    const form = writeForm([{ ...song, bytes: randomBytes(3 * MIB) }, model]);
    const tooLarge = { status: 413, code: 'request_too_large' };
    await assert.rejects(read(audio, form, cut(form.body, 65_536), 2 * MIB), tooLarge);
  });

  it('is refused with a transfer encoding that needs decoding', () =>
    refused(
      [
        {
          head: 'Content-Disposition: form-data; name="file"; filename="a"\r\nContent-Transfer-Encoding: BASE64',
          bytes: Buffer.from('eA=='),
        },
      ],
      { param: 'file', says: /must be sent as it is/ },
    ));

  it('keeps its name, without folders and invisible characters', async () => {
    const long = `${'ü'.repeat(300)}.wav`;
    const names: readonly (readonly [sent: string, kept: string])[] = [
      ['filename="song.wav"', 'song.wav'],
      ['filename=song.wav', 'song.wav'],
      ['filename="Grüße 🎈.wav"', 'Grüße 🎈.wav'],
      ['filename="../../etc/passwd"', 'passwd'],
      ['filename="C:\\Music\\song.wav"', 'song.wav'],
      ['filename="/"', 'file'],
      ['filename=".."', 'file'],
      ['filename=""\r\nContent-Type: application/octet-stream', 'file'],
      ['filename="a \\"quoted\\" name"', 'a "quoted" name'],
      ["filename*=UTF-8''Gr%C3%BC%C3%9Fe.wav", 'Grüße.wav'],
      ['filename="plain.wav"; filename*=UTF-8\'\'%E2%82%AC.wav', '€.wav'],
      ["filename*=UTF-8''..%2F..%2Fsong%00%0D%0A.wav", 'song.wav'],
      ["filename*=UTF-8''.%00.", 'file'],
      [`filename="${long}"`, long.slice(-255)],
    ];
    for (const [sent, kept] of names) {
      const form = writeForm([
        { head: `Content-Disposition: form-data; name="file"; ${sent}`, bytes: Buffer.from('x') },
      ]);
      const { files } = await read(audio, form);
      assert.deepEqual(
        files.map(({ fileName }) => fileName),
        [kept],
        sent,
      );
    }
  });

  it('has the type that the client sent, in lower case without parameters, otherwise an unknown one', async () => {
    const types: readonly (readonly [sent: string, kept: string])[] = [
      ['\r\nContent-Type: Audio/MPEG', 'audio/mpeg'],
      ['\r\nContent-Type: audio/ogg; codecs="opus"', 'audio/ogg'],
      ['\r\nContent-Type: image/png', 'image/png'],
      ['\r\nContent-Type: audio', 'application/octet-stream'],
      ['\r\nContent-Type: ', 'application/octet-stream'],
      [`\r\nContent-Type: audio/${'x'.repeat(500)}`, 'application/octet-stream'],
      ['', 'application/octet-stream'],
    ];
    for (const [sent, kept] of types) {
      const head = `Content-Disposition: form-data; name="file"; filename="a"${sent}`;
      const { files } = await read(audio, writeForm([{ head, bytes: Buffer.from('x') }]));
      assert.equal(files[0]?.mediaType, kept, sent);
    }
  });

  it('needs no file name if its type is application/octet-stream', async () => {
    const head = 'Content-Disposition: form-data; name="file"\r\nContent-Type: application/octet-stream';
    const { files } = await read(audio, writeForm([{ head, bytes: Buffer.from('x') }]));
    assert.deepEqual(files[0], {
      field: 'file',
      fileName: 'file',
      mediaType: 'application/octet-stream',
      bytes: Buffer.from('x'),
    });
  });
});

describe('a malformed multipart body is refused if it', () => {
  const unread = { param: '', says: /^The multipart body is malformed: / };

  it('has a header without exactly one valid boundary', async () => {
    const { body } = writeForm([song, model], { boundary: 'b' });
    const rest = [
      '',
      '; boundary=',
      '; boundary=""',
      '; boundary="b',
      '; boundary="b "',
      '; boundary=b; boundary=c',
      '; boundary=bä',
    ];
    for (const each of [
      ...rest,
      `; boundary=${'b'.repeat(71)}`,
      `; boundary=${'b'.repeat(5_000)}`,
      '; boundary="a\\"b"',
    ]) {
      const contentType = `multipart/form-data${each}`;
      await refused({ contentType, body }, { param: 'content-type', says: /must have its boundary/ });
    }
  });

  it('has no last boundary, or is truncated anywhere', async () => {
    const { contentType, body } = writeForm([song, model]);
    const closing = body.length - '--\r\n'.length;
    for (const end of [0, 1, 10, 60, 140, closing - 40, closing - 1, closing, closing + 1]) {
      await refused({ contentType, body: body.subarray(0, end) }, unread);
    }
    await refused(writeForm([song, model], { end: '' }), { param: '', says: /ends before its last boundary/ });
    const large = writeForm([{ ...song, bytes: randomBytes(3 * MIB) }]);
    await refused({ ...large, body: large.body.subarray(0, 2 * MIB) }, { param: '', says: /ends before its last/ });
  });

  it('has another boundary than its header', () =>
    refused({ ...writeForm([song]), contentType: 'multipart/form-data; boundary=other' }, unread));

  it('has a part whose head has no blank line, no colon, a NUL, or 100 KB', async () => {
    const named = 'Content-Disposition: form-data; name="model"';
    const says = /the head of a part/;
    for (const raw of [
      `${named}\r\nwhisper-1\r\n`,
      `no colon\r\n\r\nx\r\n`,
      `${named}\r\nX-More: ${'x'.repeat(100_000)}\r\n\r\nx\r\n`,
      `${named}\r\n${'X-More: x\r\n'.repeat(10_000)}\r\nx\r\n`,
      `Content-Disposition: form-data; name="file"; filename="a\0.wav"\r\n\r\nx\r\n`,
    ]) {
      await refused([song, { raw }], { param: '', says });
    }
  });

  it('has a boundary in the head of a part, which would assign a text to the wrong name', async () => {
    const head = { raw: 'Content-Disposition: form-data; name="model"\r\n' };
    await refused([song, head], unread);
    await refused([song, head, { name: 'prompt', text: 'x' }], unread);
  });

  it('has a part that cannot be parsed, which is never skipped', async () => {
    const says = /each part must begin with/;
    for (const head of [
      'Content-Type: text/plain',
      'Content-Disposition: attachment; name="language"',
      'Content-Disposition: form-data; name="mask"; filename="a "good" one.png"',
      'Content-Disposition: form-data; name="language',
    ]) {
      await refused(heads(head), { param: '', says });
    }
    const padded = writeForm([song, { name: 'language', text: 'x' }]);
    const body = Buffer.from(
      padded.body.toString('latin1').replace('\r\n--a-boundary-of-a-test\r\n', '\r\n--a-boundary-of-a-test!\r\n'),
      'latin1',
    );
    await refused({ ...padded, body }, { param: '', says });
  });

  it('has data after its last boundary that looks like more parts', async () => {
    const { contentType, body } = writeForm([song]);
    for (const end of [undefined, '']) {
      // The second one begins a file that never ends; nobody may wait for it.
      const more = writeForm([model, song, { name: 'language', text: 'x' }, song], end === undefined ? {} : { end });
      await refused({ contentType, body: Buffer.concat([body, Buffer.from('\r\n'), more.body]) }, unread);
    }
  });

  it('has a field without a name, or with an invalid one', async () => {
    for (const head of [
      'form-data',
      'form-data; name=""',
      "form-data; name*=UTF-8''model",
      'form-data; filename="a.wav"',
    ]) {
      await refused(heads(`Content-Disposition: ${head}`), { param: '', says: /each part needs a name/ });
    }
    const latin = Buffer.from('Content-Disposition: form-data; name="\xe9"\r\n\r\nx\r\n', 'latin1');
    await refused([song, { raw: latin }], { param: '', says: /the name of a field must be text in UTF-8/ });
    for (const name of ['__proto__', 'constructor', 'prototype', '__proto__[]']) {
      await refused([song, { name, text: 'x' }], { param: name, says: /is not a known field/ });
      await refused([song, { name, bytes: Buffer.from('x') }], { param: name, says: /is not a known field/ });
    }
  });

  it('has a field whose name is longer than 100 bytes', async () => {
    assert.equal(
      Object.keys((await read(audio, writeForm([song, { name: 'n'.repeat(100), text: 'x' }]))).fields).length,
      1,
    );
    const name = 'n'.repeat(101);
    await refused([song, { name, text: 'x' }], {
      status: 413,
      param: name.slice(1),
      says: /longer than the 100 bytes/,
    });
  });

  it('has more than 64 texts, or ten thousand parts', async () => {
    const texts = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `f${i}`, text: 'x' }));
    assert.equal(Object.keys((await read(audio, writeForm([song, ...texts(64)]))).fields).length, 64);
    await refused([song, ...texts(65)], { status: 413, param: '', says: /more than 64 texts/ });
    const empty = Array.from({ length: 10_000 }, () => ({ head: 'X-Nothing: here', bytes: Buffer.alloc(0) }));
    await refused([song, ...empty], { status: 413, param: '', says: /more than 100 parts/ });
  });
});

describe('the client of a multipart body', () => {
  const options: FormOptions = { only: true, files: { file: { max: 1, required: true } } };
  const large = writeForm([{ ...song, bytes: randomBytes(6 * MIB) }, model]);

  /** Serves one request, and tells what became of its form. */
  async function serve(
    send: (port: number) => Promise<unknown>,
    answered?: (request: IncomingMessage) => Promise<void>,
  ): Promise<unknown> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const became = new Promise((resolve) => {
      server.on('request', async (request, response) => {
        const spool = createSpool({ directory: home, maxBytes: 32 * MIB });
        const contentType = request.headers['content-type'] ?? '';
        const outcome: unknown = await createFormReader(options)
          .read({ body: request, contentType, spool })
          .catch((error: unknown) => error);
        await answered?.(request);
        await spool.discard();
        response.end('done');
        resolve(outcome);
      });
    });
    try {
      await send((server.address() as AddressInfo).port);
      return await became;
    } finally {
      server.closeAllConnections();
      server.close();
      assert.deepEqual(leftIn(home), []);
    }
  }

  const head = (form: WrittenForm): string =>
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${form.contentType}\r\nContent-Length: ${form.body.length}\r\n\r\n`;

  it('leaves no files behind if it disconnects in the middle of one', async () => {
    for (const part of [10, 100_000, 3 * MIB]) {
      const outcome = await serve(async (port) => {
        const socket = connect(port, '127.0.0.1');
        socket.write(head(large));
        socket.write(large.body.subarray(0, part), () => socket.destroy());
        await once(socket, 'close');
      });
      assert.ok(outcome instanceof Error && !(outcome instanceof GatewayError), `it broke off: ${outcome}`);
    }
  });

  it('is noticed if it disconnected before the body is read', async () => {
    const body = Readable.from([large.body], { objectMode: false });
    body.destroy();
    const spool = createSpool({ directory: home, maxBytes: 32 * MIB });
    await assert.rejects(audio.read({ body, contentType: large.contentType, spool }), /truncated/);
    await spool.discard();
  });

  it('is refused at once, and the rest of the body is discarded during the response', async () => {
    const wrong = writeForm([model, model, { ...song, bytes: randomBytes(6 * MIB) }]);
    let drained = 0;
    const outcome = await serve(
      async (port) => {
        const answer = await fetch(`http://127.0.0.1:${port}/`, {
          method: 'POST',
          headers: { 'content-type': wrong.contentType },
          body: wrong.body as Uint8Array<ArrayBuffer>,
        });
        assert.equal(await answer.text(), 'done');
      },
      async (request) => {
        assert.equal(request.destroyed, false);
        request.on('data', (chunk: Buffer) => {
          drained += chunk.length;
        });
        await once(request, 'end');
      },
    );
    assert.ok(outcome instanceof GatewayError && outcome.param === 'model', `it is refused: ${outcome}`);
    assert.ok(drained > 5 * MIB, 'most of it was still to come');
  });

  it('is not waited for after an invalid part', async () => {
    const empty = writeForm([{ ...song, bytes: Buffer.alloc(0) }, model]);
    const outcome = await serve(async (port) => {
      const socket = connect(port, '127.0.0.1');
      socket.write(head(empty));
      socket.write(empty.body.subarray(0, -20));
      await once(socket, 'data');
      socket.destroy();
    });
    assert.ok(outcome instanceof GatewayError && outcome.param === 'file', `it is refused: ${outcome}`);
  });

  it('is refused with 503 while it sends if the disk is full, without waiting for the rest', async () => {
    const body = new Readable({ read() {} });
    body.push(large.body.subarray(0, 3 * MIB));
    const spool = createSpool({ directory: '/dev/null/nowhere', maxBytes: 32 * MIB });
    await assert.rejects(audio.read({ body, contentType: large.contentType, spool }), {
      status: 503,
      code: 'spool_unavailable',
    });
    await spool.discard();
    body.destroy();
  });

  it('gets the same result with tiny chunks', async () => {
    const form = writeForm([model, { ...song, bytes: randomBytes(20_000) }]);
    const outcome = (await serve(async (port) => {
      const socket = connect(port, '127.0.0.1');
      socket.write(
        `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${form.contentType}\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      const chunks = cut(form.body, 1).map((byte) => Buffer.concat([Buffer.from('1\r\n'), byte, Buffer.from('\r\n')]));
      socket.write(Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]));
      await once(socket, 'data');
      socket.destroy();
    })) as Form;
    assert.deepEqual(outcome.fields, { model: 'whisper-1' });
    assert.equal(outcome.files[0]?.size, 20_000);
  });
});

/** Chunks that come one after the other, and not all at once. */
function* oneByOne(chunks: readonly Buffer[]): Generator<Buffer> {
  for (const chunk of chunks) if (chunk.length > 0) yield chunk;
}
