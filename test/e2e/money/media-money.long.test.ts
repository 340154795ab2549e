/** What images and sound cost where vendors say odd things about them: nothing is free by mistake, and nobody pays for a mistake. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Json, JsonObject } from '../../../core/plugin.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { heldByCalls } from '../../kit/gateway/money.ts';
import { ledgerFaults } from '../../kit/gateway/reconcile.ts';
import { type UsageRow, usageRecords } from '../../kit/gateway/usage-records.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, eventStream, jsonAnswer, type Script } from '../../kit/vendors/script.ts';

const IMAGE = { b64_json: 'iVBORw0KGgo=' };
/** Quota of one image, and of a second that is heard. */
const PER_IMAGE = 20_000n;
const SECOND = 50n;
const MICRO = 1_000_000n;

/** Ten seconds of silence, with a head that says whatever is wanted about its bytes in a second. */
function recording(bytesPerSecond = 32_000): Buffer {
  const head = Buffer.from('RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0', 'latin1');
  const rest = Buffer.alloc(20);
  rest.writeUInt32LE(16_000, 0);
  rest.writeUInt32LE(bytesPerSecond, 4);
  rest.writeUInt16LE(2, 8);
  rest.writeUInt16LE(16, 10);
  rest.write('data', 12);
  rest.writeUInt32LE(320_000, 16);
  return Buffer.concat([head, rest, Buffer.alloc(320_000)]);
}

describe('the price of a call with images or sound', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor(errorAnswer(500));
    const model = (price: JsonObject) => ({ from: ['main'], price });
    gateway = await startGateway({
      vendor,
      config: {
        channels: [
          {
            name: 'main',
            vendor: 'compatible',
            url: vendor.url,
            key: VENDOR_KEY,
            speaks: ['images', 'speech', 'transcription'],
          },
        ],
        models: {
          painter: model({ perImage: { default: 0.04, low: 0.01 } }),
          listener: model({ perSecond: 0.0001 }),
          tokens: model({ input: 2, inputAudio: 4, output: 20 }),
        },
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });
  afterEach(async () => {
    vendor.forget();
    assert.deepEqual(await heldByCalls(gateway), {});
    assert.deepEqual(ledgerFaults(gateway.storeFile), []);
  });

  /** Makes a call, and returns its status and its record. */
  async function made(path: string, body: FormData | JsonObject, answer: Script, key = gateway.key) {
    vendor.next(answer);
    const known = usageRecords(gateway.storeFile).length;
    const isForm = body instanceof FormData;
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...(!isForm && { 'content-type': 'application/json' }) },
      body: isForm ? body : JSON.stringify(body),
    });
    await response.text();
    const record: UsageRow | undefined = usageRecords(gateway.storeFile)[known];
    assert.ok(record, 'it is in the books');
    return { status: response.status, record };
  }
  const draw = (more: JsonObject, answer: Script, key?: string) =>
    made('/v1/images/generations', { model: 'painter', prompt: 'A gate.', ...more }, answer, key);
  const hear = (model: string, answer: JsonObject, file = recording()) => {
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(file)]), 'a.wav');
    form.set('model', model);
    return made('/v1/audio/transcriptions', form, jsonAnswer(200, { text: 'Mind the gate.', ...answer }));
  };
  const images = (count: number, more: JsonObject = {}): Script =>
    jsonAnswer(200, { created: 1, data: Array.from({ length: count }, () => IMAGE), ...more });

  it('is that of the images that came, not of those that were asked for', async () => {
    assert.equal((await draw({ n: 4 }, images(1))).record.charged, PER_IMAGE * MICRO);
    assert.equal((await draw({ n: 1 }, images(3))).record.charged, 3n * PER_IMAGE * MICRO);
    assert.equal((await draw({ quality: 'low' }, images(1, { quality: 'hd' }))).record.charged, PER_IMAGE * MICRO);
    for (const data of [[], [{}], [{ url: '' }]] as Json[]) {
      const { status, record } = await draw({}, jsonAnswer(200, { created: 1, data }));
      assert.deepEqual([status, record.outcome, record.charged], [502, 'failed', 0n], JSON.stringify(data));
    }
  });

  it('is never more than there is, and less than that refuses the call before anybody is asked', async () => {
    const kind = { quality: 'standard', size: '1024x1024' };
    const poor = await gateway.customer(Number(PER_IMAGE) - 1);
    const seen = vendor.requests.length;
    assert.equal((await draw(kind, images(1), poor)).status, 403);
    assert.equal(vendor.requests.length, seen);
    vendor.forget();
    const exact = await gateway.customer(Number(PER_IMAGE));
    assert.equal((await draw(kind, images(4), exact)).record.charged, PER_IMAGE * MICRO);
  });

  it('is not zero where the vendor counts nothing, or only a part', async () => {
    const kind = { model: 'tokens', size: '1024x1024', quality: 'low' };
    const last = { type: 'image_generation.completed', ...IMAGE, usage: { input_tokens: 3, output_tokens: 0 } };
    const stream = eventStream([`event: ${last.type}\ndata: ${JSON.stringify(last)}\n\n`]);
    for (const [more, answer] of [
      [kind, images(1)],
      [kind, images(1, { usage: { input_tokens: 3, output_tokens: 0 } })],
      [kind, images(1, { usage: { input_tokens: -3, output_tokens: -1 } })],
      [{ ...kind, stream: true }, stream],
    ] as const) {
      assert.equal((await draw(more, answer)).record.output, 272);
    }
  });

  it('is by the length of a recording, whichever length its vendor tells and the price wants', async () => {
    const tokens = { input_tokens: 40, output_tokens: 5 };
    for (const told of [{}, { duration: 0 }, { usage: { seconds: 0 } }, { duration: 1e12 }, { usage: tokens }]) {
      assert.equal((await hear('listener', told)).record.charged, 10n * SECOND * MICRO, JSON.stringify(told));
    }
    assert.equal((await hear('listener', { duration: 9 })).record.charged, 9n * SECOND * MICRO);
    // Ten tokens a second at 4 currency units per million, and four for the words at 20.
    const { charged, input } = (await hear('tokens', { usage: { type: 'duration', seconds: 10 } })).record;
    assert.equal(charged, 100n * 2n * MICRO + BigInt(input! - 100) * MICRO + 4n * 10n * MICRO);
    assert.equal((await hear('tokens', { usage: tokens })).record.charged, 40n * 2n * MICRO + 5n * 10n * MICRO);
  });

  it('is not what the head of a file makes of it', async () => {
    assert.equal((await hear('listener', {}, recording(0xffff_ffff))).record.charged, 10n * SECOND * MICRO);
  });
});
