/** T-MP: forms over a socket, through a whole gateway: what is refused, and that nothing is left of it and the next call works. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, afterEach, before, describe, it } from 'node:test';
import { multipartStream } from '../../../core/bytes/body-stream.ts';
import { readForm as readDemoForm } from '../../../plugins/vendors/demo/form.ts';
import { countTokens } from '../../../plugins/vendors/demo/tokens.ts';
import { type FormPart, leftIn, readForm, type WrittenForm, writeForm } from '../../kit/clients/multipart.ts';
import { type RawResponse, rawConnection, requestText } from '../../kit/clients/raw-client.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { heldByCalls } from '../../kit/gateway/money.ts';
import { turns, until } from '../../kit/until.ts';
import { fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { atHead, hold, jsonAnswer, rst, stopReading } from '../../kit/vendors/script.ts';
import { type Bench, checkLog, openBench, recordsAfter } from '../operations/bench.ts';

const PATH = '/v1/audio/transcriptions';
const LIMIT = 4_000_000;
/** Larger than what is held in memory. */
const song = { name: 'file', bytes: Buffer.alloc(1_500_000, 'la la '), fileName: 'song.mp3', mediaType: 'audio/mpeg' };
const note = { name: 'file', bytes: Buffer.from('la'), fileName: 'note.mp3', mediaType: 'audio/mpeg' };
const model = { name: 'model', text: 'ears' };
const named = (more: string) => `Content-Disposition: form-data; ${more}`;

const MODELS = { ears: { from: ['main'], price: { perSecond: 0.0001 } } };

function config(url: string, spool: string) {
  return {
    listen: { port: 0, body: { spool, upload: `${LIMIT}b` } },
    channels: [{ name: 'main', vendor: 'compatible', url, key: VENDOR_KEY, speaks: ['transcription'] }],
    models: MODELS,
  };
}

function upload(
  { key }: Pick<TestGateway, 'key'>,
  form: WrittenForm,
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const own = { authorization: `Bearer ${key}`, 'content-type': form.contentType };
  return requestText('POST', PATH, { ...own, ...headers }, form.body);
}

/** Sends a request, and hears what comes; a gateway that has heard enough may not read all of it. */
async function ask({ port }: Pick<TestGateway, 'port'>, request: Buffer): Promise<RawResponse> {
  const client = await rawConnection(port);
  try {
    void client.write(request).catch(() => {});
    return await client.response();
  } finally {
    client.abort();
  }
}

/** What a form is refused with. */
interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly param?: string;
}

const UNREADABLE: Refusal = { status: 400, code: 'invalid_form' };
const TOO_LARGE: Refusal = { status: 413, code: 'request_too_large' };
const wrong = (param: string): Refusal => ({ status: 400, code: 'invalid_request_error', param });

describe('an upload', () => {
  let stand: Bench;
  let spool: string;
  before(async () => {
    const vendor = await fakeVendor(() => jsonAnswer(200, { text: 'la la' }));
    stand = await openBench({ vendors: [vendor], config: config(vendor.url, './spool') });
    spool = join(stand.gateway.dir, 'spool');
  });
  after(() => stand.stop());
  afterEach(async () => {
    const { gateway } = stand;
    assert.equal((await ask(gateway, upload(gateway, writeForm([song, model])))).status, 200, 'the next call works');
    await nothingLeft(spool);
    assert.deepEqual(await heldByCalls(gateway), {});
    checkLog(gateway);
  });

  async function refused(form: WrittenForm | readonly FormPart[], wanted: Refusal): Promise<void> {
    const { gateway, vendor } = stand;
    const asked = vendor.requests.length;
    const answer = await ask(gateway, upload(gateway, 'body' in form ? form : writeForm(form)));
    const { error } = JSON.parse(answer.text) as { error: Record<string, string> };
    const { code, param, message } = error;
    assert.deepEqual({ status: answer.status, code, param }, { param: '', ...wanted }, message);
    assert.equal(vendor.requests.length, asked, 'no vendor is asked');
  }
  /** What the vendor got. */
  async function carried(parts: readonly FormPart[]): Promise<ReturnType<typeof readForm>> {
    const { gateway, vendor } = stand;
    assert.equal((await ask(gateway, upload(gateway, writeForm(parts)))).status, 200);
    const { headers, body } = vendor.requests.at(-1)!;
    return readForm(headers['content-type']!, body);
  }

  it('T-MP-01: that has no last boundary, or a part without the end of its head, is refused', async () => {
    await refused(writeForm([model, song], { end: '' }), UNREADABLE);
    await refused([song, { raw: `${named('name="model"')}\r\nears\r\n` }], UNREADABLE);
    await refused(
      [song, { head: `${named('name="model"')}\r\nX: ${'x'.repeat(100_000)}`, bytes: note.bytes }],
      UNREADABLE,
    );
    await refused({ ...writeForm([song, model]), body: Buffer.from('\r\n') }, UNREADABLE);
    const lines = writeForm([note, model]).body.toString('latin1').replaceAll('\r\n', '\n');
    await refused({ ...writeForm([]), body: Buffer.from(lines) }, UNREADABLE);
  });

  it('T-MP-02: of ten thousand parts, or with a name of 10 KB, is refused as too large', async () => {
    const many = (part: (i: number) => FormPart) => [song, ...Array.from({ length: 10_000 }, (_, i) => part(i)), model];
    await refused(
      many((i) => ({ name: `x${i}`, text: '' })),
      TOO_LARGE,
    );
    await refused(
      many(() => ({ name: 'include[]', text: 'x' })),
      TOO_LARGE,
    );
    const name = 'n'.repeat(10_000);
    await refused([song, { name, text: 'x' }, model], { ...TOO_LARGE, param: name.slice(0, 100) });
  });

  it('T-MP-03: with two files, two models, or a file where none belongs is refused by the name', async () => {
    await refused([song, song, model], wrong('file'));
    await refused([song, model, model], wrong('model'));
    await refused([{ ...song, name: 'audio' }, model], wrong('audio'));
    await refused([song, { ...note, name: 'model' }], wrong('model'));
    await refused([{ name: 'file', text: 'song.mp3' }, model], wrong('file'));
    await refused(
      [{ head: named('name="file"; filename="a"\r\nContent-Transfer-Encoding: base64'), bytes: song.bytes }, model],
      wrong('file'),
    );
  });

  it('T-MP-04: is called in no way that could mean anything else to the vendor', async () => {
    for (const [sent, fileName] of [
      ['filename="../../etc/passwd"', 'passwd'],
      ["filename*=UTF-8''a%0D%0AX-Evil%3A%201%22%3B%20name%3D%22model.mp3", 'aX-Evil: 1%22; name=%22model.mp3'],
      ["filename*=UTF-8''Gr%C3%BC%C3%9Fe%00.mp3", 'Grüße.mp3'],
    ] as const) {
      const { fields, files } = await carried([{ head: named(`name="file"; ${sent}`), bytes: note.bytes }, model]);
      assert.deepEqual(fields, { model: 'ears' });
      assert.deepEqual(
        files.map((file) => [file.field, file.fileName]),
        [['file', fileName]],
      );
    }
    await refused([song, { head: named('name="file\0"; filename="a"'), bytes: note.bytes }, model], UNREADABLE);
    await refused([song, { name: '__proto__', text: 'x' }, model], wrong('__proto__'));
  });

  it('T-MP-05: may bring its fields in any order, some that nobody knows among them, in pieces of any size', async () => {
    const parts = [{ name: 'temperature', text: '0' }, model, note, { name: 'of_tomorrow', text: 'x' }];
    const { fields, files } = await carried(parts);
    assert.deepEqual(fields, { temperature: '0', model: 'ears', of_tomorrow: 'x' });
    assert.deepEqual(files[0]!.bytes, note.bytes);
    const { contentType, body } = writeForm(parts);
    const chunks = [...body].map((byte) => Buffer.concat([Buffer.from('1\r\n'), Buffer.of(byte), Buffer.from('\r\n')]));
    const chunked = { contentType, body: Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]) };
    const { gateway } = stand;
    assert.equal((await ask(gateway, upload(gateway, chunked, { 'transfer-encoding': 'chunked' }))).status, 200);
  });

  it('T-MP-06: beyond the limit is refused: before it is sent where its length is told, else in the middle', async () => {
    const { gateway, vendor } = stand;
    const asked = vendor.requests.length;
    const form = writeForm([model, { ...song, bytes: Buffer.alloc(LIMIT + 1) }]);
    const told = upload(
      gateway,
      { ...form, body: Buffer.alloc(0) },
      { 'content-length': `${form.body.length}`, expect: '100-continue' },
    );
    const { status, interim } = await ask(gateway, told);
    assert.deepEqual([status, interim], [413, []]);
    const body = Buffer.concat([
      Buffer.from(`${form.body.length.toString(16)}\r\n`),
      form.body,
      Buffer.from('\r\n0\r\n\r\n'),
    ]);
    assert.equal(
      (await ask(gateway, upload(gateway, { ...form, body }, { 'transfer-encoding': 'chunked' }))).status,
      413,
    );
    assert.equal(vendor.requests.length, asked);
  });

  it('T-MP-07: that is left in the middle leaves nothing, and neither do those behind it on the connection', async () => {
    const { gateway, vendor } = stand;
    const asked = vendor.requests.length;
    const request = upload(gateway, writeForm([song, model]));
    for (const share of [0.01, 0.5, 0.8, 0.999]) {
      const client = await rawConnection(gateway.port);
      await client.write(request.subarray(0, Math.floor(request.length * share)));
      client.abort();
    }
    await nothingLeft(spool);
    assert.equal(vendor.requests.length, asked);
    const client = await rawConnection(gateway.port);
    await client.write(Buffer.concat([request, upload(gateway, writeForm([{ ...song, name: 'x' }, model])), request]));
    assert.equal((await client.response()).status, 200);
    const { status, headers } = await client.response();
    assert.deepEqual([status, headers.connection], [400, 'close'], 'the rest of it is not taken for a request');
    assert.equal(vendor.requests.length, asked + 1);
    client.abort();
  });

  it('T-MP-08: without its one good boundary, or with an empty file, is refused; a type that lies changes nothing', async () => {
    const { body } = writeForm([song, model]);
    for (const boundary of ['', '; boundary=', '; boundary=a; boundary=b', `; boundary=${'b'.repeat(5_000)}`]) {
      await refused({ contentType: `multipart/form-data${boundary}`, body }, { ...UNREADABLE, param: 'content-type' });
    }
    await refused([{ ...song, bytes: Buffer.alloc(0) }, model], wrong('file'));
    const lie = await carried([{ ...note, mediaType: 'text/html' }, model]);
    assert.deepEqual(lie.files[0]!.bytes, note.bytes);
  });

  it('after one that was refused is read from the same connection', async () => {
    const { gateway } = stand;
    const client = await rawConnection(gateway.port);
    await client.write(upload(gateway, writeForm([note, model, model])));
    assert.equal((await client.response()).status, 400);
    await client.write(upload(gateway, writeForm([song, model])));
    assert.equal((await client.response()).status, 200);
    client.abort();
  });

  it('that was refused and whose client then stops is over at once', async () => {
    const { gateway } = stand;
    const client = await rawConnection(gateway.port);
    const request = upload({ key: 'sk-nobody' }, writeForm([song, model]));
    await client.write(request.subarray(0, 300_000));
    assert.equal((await client.response()).status, 401);
    client.finish();
    // The time stands still, so nobody lingers.
    assert.equal(await client.ended, 'fin');
  });

  it('of nobody, or compressed, is not read', async () => {
    const { gateway, vendor } = stand;
    const asked = vendor.requests.length;
    const form = writeForm([song, model]);
    assert.equal((await ask(gateway, upload({ key: 'sk-nobody' }, form))).status, 401);
    assert.equal((await ask(gateway, upload(gateway, form, { 'content-encoding': 'compress' }))).status, 415);
    assert.equal(vendor.requests.length, asked);
  });
});

it('an upload whose kept connection dies in the middle goes once more on a fresh one, however long that took', async (t) => {
  const vendor = await fakeVendor(() => jsonAnswer(200, { text: 'la la' }));
  const { listen, ...rest } = config(vendor.url, './spool');
  const listenToLarge = { ...listen, body: { ...listen.body, upload: '40mb' } };
  const stand = await openBench({ vendors: [vendor], config: { ...rest, listen: listenToLarge } });
  t.after(() => stand.stop());
  const { gateway, clock } = stand;
  assert.equal((await ask(gateway, upload(gateway, writeForm([note, model])))).status, 200);
  // More than the kernel keeps on the way: the vendor cannot have had all of it.
  vendor.next([atHead(), stopReading(), hold(), rst()]);
  const large = { ...song, bytes: Buffer.alloc(30_000_000, 'la la ') };
  const answer = ask(gateway, upload(gateway, writeForm([large, model])));
  await vendor.waitFor(() => vendor.requests[1]?.holding === 'hold');
  clock.advance(5_000);
  vendor.release();
  assert.equal((await answer).status, 200);
  assert.deepEqual(
    vendor.requests.map(({ connection }) => connection),
    [1, 1, 2],
  );
  const { headers, body } = vendor.requests[2]!;
  assert.equal(readForm(headers['content-type']!, body).files[0]!.bytes.length, large.bytes.length);
  await nothingLeft(join(gateway.dir, 'spool'));
});

it('an upload whose client leaves before its kept connection dies goes to nobody once more, and costs nothing', async (t) => {
  const vendor = await fakeVendor(() => jsonAnswer(200, { text: 'la la' }));
  const { listen, ...rest } = config(vendor.url, './spool');
  const listenToLarge = { ...listen, body: { ...listen.body, upload: '40mb' } };
  const stand = await openBench({ vendors: [vendor], config: { ...rest, listen: listenToLarge } });
  t.after(() => stand.stop());
  const { gateway } = stand;
  assert.equal((await ask(gateway, upload(gateway, writeForm([note, model])))).status, 200);
  vendor.next([atHead(), stopReading(), hold(), rst()]);
  const client = await rawConnection(gateway.port);
  void client.write(upload(gateway, writeForm([{ ...song, bytes: Buffer.alloc(30_000_000, 'la la ') }, model])));
  await vendor.waitFor(() => vendor.requests[1]?.holding === 'hold');
  client.abort();
  // Until the gateway has heard of it.
  await turns();
  vendor.release();
  await nothingLeft(join(gateway.dir, 'spool'));
  assert.equal(vendor.requests.length, 2);
  const [left] = await recordsAfter(gateway, 1);
  assert.deepEqual([left!.outcome, left!.charged], ['aborted', 0n]);
  assert.deepEqual(await heldByCalls(gateway), {});
});

it('an upload that the disk does not take is refused with 503, and the log says so; small ones go on', async () => {
  const vendor = await fakeVendor(() => jsonAnswer(200, { text: 'la la' }));
  const gateway = await startGateway({ vendor, config: config(vendor.url, './spool') });
  // Something else has taken the folder's place since it was looked at.
  writeFileSync(join(gateway.dir, 'spool'), '');
  const answer = await ask(gateway, upload(gateway, writeForm([song, model])));
  const { error } = JSON.parse(answer.text) as { error: Record<string, string> };
  assert.deepEqual([answer.status, error.code, answer.headers['retry-after']], [503, 'spool_unavailable', '2']);
  assert.ok(!answer.text.includes(gateway.dir), 'no path is told');
  const lines = gateway.log.filter((line) => line.includes('an upload could not be stored'));
  assert.equal(lines.length, 1);
  assert.match(lines[0]!, /"level":"error".*ENOTDIR/);
  assert.equal((await ask(gateway, upload(gateway, writeForm([note, model])))).status, 200);
  await gateway.stop();
  await vendor.close();
});

it('a form for a vendor is written in large pieces, however many fields it has', async () => {
  const fields = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`x${i}`, 1]));
  const file = (field: string) => ({
    field,
    fileName: `${field}.png`,
    mediaType: 'image/png',
    size: 2,
    async *read() {
      yield Buffer.from('\r\n');
    },
  });
  const bodyStream = multipartStream({ ...fields, list: ['a', 'ü'] }, [file('image'), file('mask')]);
  const pieces: Buffer[] = [];
  for await (const piece of bodyStream.read()) pieces.push(piece);
  const body = Buffer.concat(pieces);
  const large = pieces.filter(({ length }) => length === 128 * 1_024);
  // What is left of the fields, two files, and what stands between and behind them.
  assert.deepEqual([pieces.length - large.length, body.length], [5, bodyStream.length]);
  const read = readForm(bodyStream.contentType, body);
  assert.deepEqual([read.fields.x49999, read.fields.list], ['1', ['a', 'ü']]);
  assert.deepEqual(
    read.files.map(({ field, bytes }) => [field, `${bytes}`]),
    [
      ['image', '\r\n'],
      ['mask', '\r\n'],
    ],
  );
});

describe('the demo model', () => {
  const MIB = 1_048_576;

  it('holds the beginning of a file only, in whatever pieces it comes', async () => {
    const bytes = Buffer.alloc(3 * MIB, '\r\n--a-bound');
    const form = writeForm([model, { ...song, bytes }, { name: 'prompt', text: 'ü' }, { ...note, name: 'mask' }]);
    for (const size of [1_000, 65_536, form.body.length]) {
      const { body, files } = await readDemoForm(Readable.from(cut(form.body, size)), form.contentType);
      assert.deepEqual(body, { model: 'ears', prompt: 'ü' });
      const digest = (of: Buffer) => createHash('sha256').update(of).digest('hex');
      assert.deepEqual(files, [
        {
          field: 'file',
          fileName: 'song.mp3',
          size: bytes.length,
          start: bytes.subarray(0, 1_024),
          digest: digest(bytes),
        },
        { field: 'mask', fileName: 'note.mp3', size: 2, start: note.bytes, digest: digest(note.bytes) },
      ]);
    }
    for (const end of [10, 1_000, form.body.length - 5]) {
      const body = Readable.from(cut(form.body.subarray(0, end), 100));
      await assert.rejects(readDemoForm(body, form.contentType), /Unexpected end of form/);
    }
  });

  it('counts the tokens of a long text without reading all of it', () => {
    assert.ok(Math.abs(countTokens('gate '.repeat(1_000_000)) / 1_000_000 - 1) < 0.01);
  });
});

async function* cut(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** What was given up goes at once, but not within the same moment. */
async function nothingLeft(spool: string): Promise<void> {
  await until('nothing is left in the spool', () => leftIn(spool).length === 0);
}
