/** A key that asks without end at its limit: few records, no write for each, and every refusal is counted. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Records } from '../../../core/contracts/records.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

const HELLO = [{ role: 'user', content: 'Hello?' }];
const REFUSED = 600;

describe('a key at its limit that goes on asking', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor();
    const standard = defaultConfig([]).pipeline as string[];
    const config = { limits: { requestsPerMinute: 2 }, pipeline: [...standard, 'metrics'] };
    gateway = await startGateway({ vendor, config });
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  const ask = (path: string, body?: object) =>
    fetch(`${gateway.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const chat = () => ask('/v1/chat/completions', { model: 'free-model', messages: HELLO });

  it('leaves a record for a minute, which counts every refusal', async () => {
    assert.equal((await chat()).status, 200);
    const { status } = await ask('/v1/messages/count_tokens', { model: 'free-model', messages: HELLO });
    assert.equal(status, 200);
    const statuses: number[] = [];
    for (let i = 0; i < REFUSED; i += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, chat));
      statuses.push(...answers.map((answer) => answer.status));
      await Promise.all(answers.map((answer) => answer.text()));
    }
    for (let i = 0; i < 10; i++) assert.equal((await ask('/v1/responses/resp_1')).status, 429);

    const { sums, page } = gateway.host.find(Records)!;
    const { items } = await page({}, { limit: 1_000 });
    const rows = usageRecords(gateway.storeFile);
    const refused = rows.filter((row) => row.status === 429 && row.route === '');
    const minutes = new Set(items.map(({ atMs }) => Math.floor(atMs / 60_000))).size;
    const counted = refused.reduce((sum, { repeats }) => sum + 1 + repeats, 0);
    assert.equal(counted, statuses.filter((each) => each === 429).length);
    assert.ok(refused.length <= minutes, `${refused.length} records in ${minutes} minutes`);
    const [sum] = await sums({}, []);
    assert.deepEqual([sum?.errors, sum?.calls], [counted, REFUSED + 1 - counted]);
  });

  it('is seen in what it asks for beside calls, too, in the log and in the metrics', async () => {
    const { items } = await gateway.host.find(Records)!.page({ kind: 'request' }, { limit: 1_000 });
    const seen = new Map<string, number>();
    for (const { call } of items) {
      const name = `${call?.route} ${call?.status}`;
      seen.set(name, (seen.get(name) ?? 0) + 1 + (call?.repeats ?? 0));
    }
    assert.deepEqual(Object.fromEntries(seen), {
      'POST /v1/messages/count_tokens 200': 1,
      'GET /v1/responses/:id 429': 10,
    });
    const metrics = await (await ask('/metrics')).text();
    assert.match(metrics, /^turnpike_requests_total\{route="POST \/v1\/messages\/count_tokens",status="200"\} 1$/m);
    assert.match(metrics, /^turnpike_requests_total\{route="GET \/v1\/responses\/:id",status="429"\} 10$/m);
  });
});
