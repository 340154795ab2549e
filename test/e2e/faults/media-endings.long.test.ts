/** Images, sound and files, ended in the middle by either side: what is charged, and that no hold, no file and no handle is left. */
import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { Records } from '../../../core/contracts/records.ts';
import type { JsonObject } from '../../../core/plugin.ts';
import { type RawConnection, rawConnection, requestText } from '../../kit/clients/raw-client.ts';
import { VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { heldByCalls } from '../../kit/gateway/money.ts';
import { ledgerFaults } from '../../kit/gateway/reconcile.ts';
import { type UsageRow, usageRecords } from '../../kit/gateway/usage-records.ts';
import { until } from '../../kit/until.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import {
  chunk,
  cutAt,
  errorAnswer,
  eventStream,
  head,
  hold,
  jsonAnswer,
  lastChunk,
  rst,
  type Script,
  silence,
} from '../../kit/vendors/script.ts';
import { type Bench, checkLog, countRecords, openBench, recordsAfter } from '../operations/bench.ts';

/** Larger than what is held in memory, so that it lies on disk while it is sent on. */
const SOUND = Buffer.alloc(1_500_000, 'la la la ');
const SPOKEN = ['embeddings', 'images', 'edits', 'speech', 'transcription', 'translation'];
/** Per image, per second, per million characters: so that each is seen in the charge. */
const PRICE = { perImage: 0.04, perSecond: 0.0001, characters: 15 };
/** Micro-quota of an image, and of a character. */
const IMAGE = 20_000_000_000n;
const CHARACTER = 7_500_000n;

const TEXT = 'Mind the gate, please.';
const EVENTS = [
  'event: image_generation.partial_image\ndata: {"type":"image_generation.partial_image","partial_image_index":0,"b64_json":"iVBORw0KGgo="}\n\n',
  'event: image_generation.completed\ndata: {"type":"image_generation.completed","b64_json":"iVBORw0KGgo=","usage":{"input_tokens":5,"output_tokens":7,"total_tokens":12}}\n\n',
];

describe('a call with files, images or sound', () => {
  let stand: Bench;
  let spare: FakeVendor;
  before(async () => {
    spare = await fakeVendor(errorAnswer(500));
    const vendors = [await fakeVendor(errorAnswer(500)), spare];
    stand = await openBench({
      vendors,
      config: {
        listen: { port: 0, body: { spool: './spool', upload: '2mb' } },
        channels: vendors.map(({ url }, priority) => ({
          name: ['main', 'spare'][priority],
          vendor: 'compatible',
          url,
          key: VENDOR_KEY,
          speaks: SPOKEN,
          priority,
        })),
        models: { media: { from: ['main', 'spare'], price: PRICE } },
      },
    });
  });
  after(() => stand.stop());
  afterEach(async () => {
    const { gateway } = stand;
    checkLog(gateway);
    assert.deepEqual(await heldByCalls(gateway), {});
    assert.deepEqual(filesIn(gateway.dir), [], 'no file is left');
    assert.deepEqual(openFiles(join(gateway.dir, 'spool')), [], 'no file is kept open');
    assert.deepEqual(ledgerFaults(gateway.storeFile), []);
  });

  const json = (path: string, body: JsonObject): Buffer => {
    const headers = { authorization: `Bearer ${stand.gateway.key}`, 'content-type': 'application/json' };
    return requestText('POST', path, headers, JSON.stringify({ model: 'media', ...body }));
  };
  const upload = (file = SOUND, fields: Readonly<Record<string, string>> = { model: 'media' }): Buffer => {
    const boundary = 'a-boundary';
    const part = (about: string, bytes: Buffer | string) =>
      Buffer.concat([
        Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${about}\r\n\r\n`),
        Buffer.from(bytes),
        Buffer.from('\r\n'),
      ]);
    const body = Buffer.concat([
      part('name="file"; filename="song.mp3"', file),
      ...Object.entries(fields).map(([name, value]) => part(`name="${name}"`, value)),
      Buffer.from(`--${boundary}--\r\n`),
    ]);
    const headers = {
      authorization: `Bearer ${stand.gateway.key}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
    };
    return requestText('POST', '/v1/audio/transcriptions', headers, body);
  };
  const speech = () => json('/v1/audio/speech', { input: TEXT, voice: 'alloy' });
  const picture = (more: JsonObject = {}) => json('/v1/images/generations', { prompt: 'A gate.', ...more });

  /** Sends a call, waits for `when`, leaves, and returns the one record of it. */
  async function leave(
    call: Buffer,
    script: Script,
    when: (client: RawConnection) => Promise<void>,
  ): Promise<UsageRow> {
    const { gateway, vendor } = stand;
    const known = countRecords(gateway);
    vendor.next(script);
    const client = await rawConnection(gateway.port);
    await client.write(call);
    await when(client);
    client.abort();
    const [record] = await recordsAfter(gateway, known);
    return record!;
  }
  /** Sends a call that the vendor does not end well, and returns its record. */
  async function broken(
    call: Buffer,
    script: Script,
  ): Promise<{ readonly record: UsageRow; readonly client: RawConnection }> {
    const { gateway, vendor } = stand;
    const known = countRecords(gateway);
    vendor.next(script);
    const client = await rawConnection(gateway.port);
    await client.write(call);
    await client.ended;
    const [record] = await recordsAfter(gateway, known);
    return { record: record!, client };
  }
  const vendorHolds = () => stand.vendor.waitFor(() => stand.vendor.requests.at(-1)?.holding !== undefined);
  const vendorAborted = () => stand.vendor.waitFor(() => stand.vendor.requests.at(-1)?.state === 'aborted');

  describe('whose client leaves', () => {
    for (const share of [0.001, 0.5, 0.999]) {
      it(`after ${share * 100} % of its upload is charged nothing, and no vendor hears of it`, async () => {
        const { gateway, vendor } = stand;
        const seen = vendor.requests.length;
        // Those of one minute have one record.
        const aborted = async () => {
          const { items } = await gateway.host.find(Records)!.page({ outcomes: ['aborted'] }, { limit: 1_000 });
          const times = items.reduce((sum, { call }) => sum + 1 + (call?.repeats ?? 0), 0);
          return { times, charged: items.reduce((sum, { amount }) => sum + amount, 0n) };
        };
        const before = await aborted();
        const client = await rawConnection(gateway.port);
        const call = upload();
        await client.write(call.subarray(0, Math.floor(call.length * share)));
        client.abort();
        await until('it is counted', async () => (await aborted()).times > before.times, gateway);
        assert.deepEqual(await aborted(), { ...before, times: before.times + 1 });
        assert.equal(vendor.requests.length, seen);
      });
    }

    it('while its file is being sent on is charged when the vendor has answered: it has worked', async () => {
      const heard = jsonAnswer(200, { text: 'la', usage: { type: 'duration', seconds: 90 } });
      const record = await leave(upload(), [hold('heard'), ...heard], async (client) => {
        await vendorHolds();
        client.abort();
        stand.vendor.release('heard');
      });
      assert.equal(record.outcome, 'aborted');
      assert.equal(record.seconds, 90);
      assert.equal(record.charged, 90n * 50_000_000n);
    });

    it('before an image is there is charged for it: whole answers are read to their end', async () => {
      const drawn = jsonAnswer(200, { created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }, { b64_json: 'iVBORw0KGgo=' }] });
      const record = await leave(picture({ n: 2 }), [hold('drawn'), ...drawn], async (client) => {
        await vendorHolds();
        client.abort();
        stand.vendor.release('drawn');
      });
      assert.equal(record.charged, 2n * IMAGE);
    });

    it('in the middle of speech is charged for all of its text, and the vendor is let go', async () => {
      const script = [
        head(200, { 'content-type': 'audio/mpeg', 'transfer-encoding': 'chunked' }),
        chunk('la la'),
        hold('never'),
        chunk('la'),
        lastChunk(),
      ];
      const record = await leave(speech(), script, (client) => client.until('la l'));
      await vendorAborted();
      assert.equal(record.outcome, 'aborted');
      assert.equal(record.characters, TEXT.length);
      assert.equal(record.charged, BigInt(TEXT.length) * CHARACTER);
    });

    it('before speech begins is charged for all of its text: the vendor has it', async () => {
      const record = await leave(speech(), [hold('never'), silence()], vendorHolds);
      await vendorAborted();
      assert.equal(record.charged, BigInt(TEXT.length) * CHARACTER);
    });

    it('after the sketch of an image is charged for the image', async () => {
      const script = eventStream([EVENTS[0]!, hold('never'), EVENTS[1]!]);
      const record = await leave(picture({ stream: true, partial_images: 1 }), script, (client) =>
        client.until('partial'),
      );
      await vendorAborted();
      assert.equal(record.outcome, 'aborted');
      assert.equal(record.charged, IMAGE);
    });
  });

  describe('whose vendor breaks off', () => {
    it('in the middle of speech ends without a good end, and nobody else is asked', async () => {
      const seen = spare.requests.length;
      const whole = [
        head(200, { 'content-type': 'audio/mpeg', 'transfer-encoding': 'chunked' }),
        chunk('la la'),
        rst(),
      ];
      const { record, client } = await broken(speech(), whole);
      assert.equal(record.outcome, 'failed');
      assert.ok(record.charged < BigInt(TEXT.length) * CHARACTER, `${record.charged}`);
      assert.match(client.received.toString('latin1'), /la l/);
      assert.doesNotMatch(client.received.toString('latin1'), /\r\n0\r\n\r\n$/);
      assert.equal(spare.requests.length, seen);
    });

    it('after the sketch of an image is charged nothing for the image', async () => {
      const { record, client } = await broken(
        picture({ stream: true, partial_images: 1 }),
        eventStream([EVENTS[0]!, rst()]),
      );
      assert.equal(record.outcome, 'failed');
      assert.equal(record.charged, 0n);
      assert.match(client.received.toString(), /upstream_broke_off/);
    });

    it('before anything came is answered by the next one, which gets the same file, byte for byte', async () => {
      const { gateway, vendor } = stand;
      vendor.next(cutAt(jsonAnswer(200, { text: 'half of it' }), -5));
      spare.next(jsonAnswer(200, { text: 'all of it', usage: { type: 'duration', seconds: 2 } }));
      const known = countRecords(gateway);
      const client = await rawConnection(gateway.port);
      await client.write(upload());
      const answer = await client.response();
      client.abort();
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(JSON.parse(answer.text).text, 'all of it');
      for (const each of [vendor, spare]) {
        const { body } = each.requests.at(-1)!;
        const start = body.indexOf(SOUND);
        assert.ok(start > 0, 'the file is there');
        assert.equal(body.subarray(start + SOUND.length, start + SOUND.length + 4).toString(), '\r\n--');
      }
      const [record] = await recordsAfter(gateway, known);
      assert.equal(record!.attempts.length, 2);
      assert.equal(record!.charged, 2n * 50_000_000n);
    });

    it('or answers before it has read the file, is believed, and asked anew on another connection', async () => {
      const { gateway, vendor } = stand;
      vendor.next([{ kind: 'atHead' }, ...errorAnswer(400, 'Not a song.')]);
      const client = await rawConnection(gateway.port);
      await client.write(upload());
      const answer = await client.response();
      assert.equal(answer.status, 400);
      assert.match(answer.text, /Not a song/);
      client.abort();
      vendor.next(jsonAnswer(200, { text: 'yes' }));
      const again = await rawConnection(gateway.port);
      await again.write(upload());
      assert.equal((await again.response()).status, 200);
      again.abort();
    });
  });

  describe('that is too large', () => {
    it('by what it says is refused before it is read', async () => {
      const client = await rawConnection(stand.gateway.port);
      await client.write(upload(Buffer.alloc(2_200_000)).subarray(0, 500));
      const answer = await client.response();
      assert.equal(answer.status, 413);
      client.abort();
    });

    it('and does not say so is refused as soon as it is, and nothing of it is kept', async () => {
      const { gateway, vendor } = stand;
      const seen = vendor.requests.length;
      const sized = upload(Buffer.alloc(2_200_000)).toString('latin1');
      const [first = '', ...body] = sized.split('\r\n\r\n');
      const text = Buffer.from(body.join('\r\n\r\n'), 'latin1');
      const client = await rawConnection(gateway.port);
      await client.write(
        Buffer.concat([
          Buffer.from(`${first.replace(/content-length: \d+/i, 'transfer-encoding: chunked')}\r\n\r\n`),
          Buffer.from(`${text.length.toString(16)}\r\n`),
          text,
          Buffer.from('\r\n0\r\n\r\n'),
        ]),
      );
      const answer = await client.response();
      assert.equal(answer.status, 413, answer.text);
      client.abort();
      assert.equal(vendor.requests.length, seen);
    });
  });

  it('is in the books by the same rules as any other', () => {
    assert.ok(usageRecords(stand.gateway.storeFile).length > 10);
  });
});

/** Files below a folder that are none of the gateway's own. */
function filesIn(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => name.startsWith('spool/'));
}

/** What this process holds open there; Linux alone can say. */
function openFiles(dir: string): readonly string[] {
  try {
    return readdirSync('/proc/self/fd')
      .flatMap((fd) => linkOf(fd))
      .filter((path) => path.startsWith(dir));
  } catch {
    return [];
  }
}

function linkOf(fd: string): readonly string[] {
  try {
    return [readlinkSync(join('/proc/self/fd', fd))];
  } catch {
    return [];
  }
}
