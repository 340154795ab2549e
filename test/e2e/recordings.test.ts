/** Every recorded exchange of the chat vendors, played back through the gateway: the client gets the recorded bytes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Database from 'better-sqlite3';
import type { Usage } from '../../core/contracts/call.ts';
import { type FakeVendor, fakeVendor } from '../kit/fake-vendor.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../kit/gateway.ts';
import {
  CHAT_RECORDINGS,
  type Recording,
  recorded,
  recordedBytes,
  recordedUsage,
  recordings,
  recordingsAvailable,
} from '../kit/recordings.ts';

const all = recordings(CHAT_RECORDINGS);
/** Sends an event with nothing but the usage to clients that did not ask for one: `stream: { usage: always }` says so. */
const TELLS_UNASKED = 'router.huggingface.co';
const modelOf = ({ request }: Recording): string => String(request.model);
const models = new Map(
  all.map((recording) => [modelOf(recording), recording.host === TELLS_UNASKED ? 'unasked' : 'main']),
);

/** The token counts of a usage record, in the shape of a `Usage`. */
function storedUsage(file: string, id: string): Partial<Usage> | undefined {
  const db = new Database(file, { readonly: true });
  try {
    const row = db.prepare('SELECT * FROM usage_record WHERE id = ?').get(id) as Record<string, unknown> | undefined;
    if (row === undefined) return undefined;
    return {
      input: Number(row.input),
      cacheRead: Number(row.cache_read),
      output: Number(row.output),
      reasoning: Number(row.reasoning),
    };
  } finally {
    db.close();
  }
}

describe('recorded exchanges in the same style', { skip: recordingsAvailable ? false : 'no recordings here' }, () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor();
    const price = { input: 1, output: 2 };
    gateway = await startGateway({
      vendor,
      config: {
        channels: [
          { name: 'main', vendor: 'compatible', url: vendor.url, key: VENDOR_KEY },
          { name: 'unasked', vendor: 'compatible', url: vendor.url, key: VENDOR_KEY, stream: { usage: 'always' } },
        ],
        models: Object.fromEntries([...models].map(([name, channel]) => [name, { from: [channel], price }])),
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  const ask = async (recording: Recording, pieces: number | undefined): Promise<void> => {
    vendor.next(recorded(recording, pieces === undefined ? {} : { pieces }));
    const response = await gateway.chat(recording.request);
    const body = Buffer.from(await response.arrayBuffer());
    assert.equal(response.status, recording.status);
    assert.deepEqual(body.toString(), recordedBytes(recording).toString());
    const told = recordedUsage(recording);
    if (told === undefined || recording.status !== 200) return;
    const { input, cacheRead, output, reasoning } = told;
    const stored = storedUsage(gateway.storeFile, response.headers.get('x-request-id')!);
    assert.deepEqual(stored, { input, cacheRead, output, reasoning });
  };

  for (const recording of all) {
    const what = recording.sse === undefined ? 'whole' : 'streamed';
    it(`${recording.host} ${recording.id} (${what}, ${recording.status}) arrives as it was recorded`, () =>
      ask(recording, undefined));
    if (recording.sse !== undefined) {
      it(`${recording.host} ${recording.id} arrives the same when it is cut at every byte`, () => ask(recording, 1));
    }
  }
});
