/** What is in a call is looked at only after its caller could pay for it: large contents, counted tokens, statistics and files. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it, mock } from 'node:test';
import { Records } from '../../../core/contracts/records.ts';
import { definePlugin } from '../../../core/plugin.ts';
import { CONSOLE_PIPELINE, member, PATIENT, ROOT_ENV, signedIn, visitor } from '../../kit/console/console.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { wholeAnswer } from '../../kit/vendors/script.ts';

let vendor: FakeVendor;
let gateway: TestGateway;
/** Called with each content that is inspected. */
let inspect: () => Promise<void> = async () => {};
let inspected = 0;

/** A plugin that works on contents. */
const worker = definePlugin({
  name: 'test-inspector',
  api: 2,
  create: () => ({
    async inspect(): Promise<undefined> {
      inspected++;
      await inspect();
      return undefined;
    },
  }),
});

before(async () => {
  vendor = await fakeVendor(() => wholeAnswer());
  const models = {
    'test-model': { from: ['main'], price: { input: 1, output: 2 } },
    'free-model': { from: ['main'], free: true },
    'free-*': { from: ['main'], free: true },
  };
  const config = { pipeline: CONSOLE_PIPELINE, console: PATIENT, models };
  gateway = await startGateway({ vendor, config, env: ROOT_ENV, plugins: [worker] });
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
});

const saying = (model: string, content: string) => ({ model, max_tokens: 16, messages: [{ role: 'user', content }] });

function count(key: string, body: object): Promise<Response> {
  return fetch(`${gateway.url}/v1/messages/count_tokens`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify(body),
  });
}

const codeOf = async (response: Response): Promise<string> => {
  const { error } = (await response.json()) as { readonly error: { readonly message: string } };
  return `${response.status} ${/needs a reservation/.test(error.message) ? 'cannot be paid' : error.message}`;
};

describe('a caller without a balance', () => {
  it('is refused before a call is inspected, whatever its size', async () => {
    const key = await gateway.customer(0);
    inspected = 0;
    for (const length of [1, 2_000_000]) {
      const refused = await gateway.chat(saying('test-model', 'x'.repeat(length)), { key });
      assert.equal(await codeOf(refused), '403 cannot be paid');
    }
    assert.equal(inspected, 0);
    assert.equal((await gateway.chat(saying('free-model', 'x'), { key })).status, 200, 'free models need no balance');
    assert.equal(inspected, 1);
  });

  it('has the tokens of small requests counted, and not those of large ones', async () => {
    const key = await gateway.customer(0);
    inspected = 0;
    assert.equal((await count(key, saying('test-model', 'Hello'))).status, 200);
    assert.equal(await codeOf(await count(key, saying('test-model', 'x'.repeat(100_000)))), '403 cannot be paid');
    assert.equal(inspected, 1);
    assert.equal((await count(gateway.key, saying('test-model', 'x'.repeat(100_000)))).status, 200);
  });
});

describe('a large content', () => {
  it('is inspected when no other one of its account is; small ones and other accounts do not wait', async () => {
    const [key, other] = [await gateway.customer(1_000_000), await gateway.customer(1_000_000)];
    const large = saying('test-model', 'x'.repeat(200_000));
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let [running, most, atOnce] = [0, 0, 0];
    let began = (): void => {};
    const first = new Promise<void>((resolve) => {
      began = resolve;
    });
    inspect = async () => {
      running++;
      most = Math.max(most, running);
      began();
      await held;
      running--;
    };
    const calls = [1, 2, 3].map(() => gateway.chat(large, { key }));
    await first;
    inspect = async () => {
      atOnce++;
    };
    const [small, ofOther] = await Promise.all([
      gateway.chat(saying('test-model', 'x'), { key }),
      gateway.chat(large, { key: other }),
    ]);
    assert.deepEqual([small.status, ofOther.status, atOnce, most], [200, 200, 2, 1]);
    release();
    assert.deepEqual(
      (await Promise.all(calls)).map(({ status }) => status),
      [200, 200, 200],
    );
    assert.deepEqual([most, atOnce], [1, 4], 'the others came one after the other');
    inspect = async () => {};
  });
});

describe('a key with a limit for a model', () => {
  it('has no more tokens counted than it may make calls', async () => {
    const ann = await member(gateway, 'ann', { units: 1_000_000 });
    const { key } = await ann.data('POST', '/api/token/', {
      name: 'limited',
      limits: [{ model: 'test-model', requests_per_minute: 2 }],
    });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await count(key, saying('test-model', 'Hello'))).status);
    assert.deepEqual(statuses, [200, 200, 429]);
    assert.equal((await gateway.chat(saying('test-model', 'Hello'), { key })).status, 429);
    assert.equal((await count(key, saying('free-model', 'Hello'))).status, 200);
  });
});

describe('statistics and files', () => {
  /** Records whose sums and pages are read when `release` is called. */
  function holding(): { release(): void } {
    const records = gateway.host.use(Records);
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { sums, page } = records;
    const mocks = [
      mock.method(records, 'sums', (...of: Parameters<Records['sums']>) => held.then(() => sums(...of))),
      mock.method(records, 'page', (...of: Parameters<Records['page']>) => held.then(() => page(...of))),
    ];
    return {
      release() {
        for (const { mock: mocked } of mocks) mocked.restore();
        release();
      },
    };
  }

  it('of one account are read one at a time: 16 wait, and more are refused with the time to wait', async () => {
    const bob = await signedIn(gateway, 'bob');
    const paths = [
      '/api/usage/self/sums',
      '/api/usage/self/trend',
      '/api/log/self/stat',
      '/api/data/self',
      '/api/log/self',
      '/api/models/catalog',
    ];
    const records = holding();
    let refused = 0;
    let reached = (): void => {};
    const enough = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const asked = Array.from({ length: 30 }, async (_, i) => {
      const { status, body, headers } = await bob.get(paths[i % paths.length]!);
      if (status !== 429) return status;
      assert.deepEqual([body.code, headers.get('retry-after')], ['concurrency_limit_exceeded', '1']);
      if (++refused === 13) reached();
      return status;
    });
    await enough;
    const cat = await signedIn(gateway, 'cat');
    const ofOther = cat.get(paths[0]!);
    records.release();
    const statuses = await Promise.all(asked);
    assert.deepEqual([statuses.filter((status) => status === 200).length, refused], [17, 13]);
    assert.equal((await ofOther).status, 200);
  });

  it('export one file at a time, until it is complete or its client has left', async () => {
    const dan = await signedIn(gateway, 'dan');
    const path = '/api/log/self/export';
    const records = holding();
    const both = [dan.get(path), dan.get(path)];
    const { status: refused } = await Promise.race(both);
    assert.equal(refused, 429, 'one is running');
    records.release();
    assert.deepEqual((await Promise.all(both)).map(({ status }) => status).toSorted(), [200, 429]);
    await new Promise<void>((resolve) => {
      const cookie = [...dan.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const leaving = request(`${gateway.url}${path}`, { headers: { cookie } }, (answer) => {
        answer.destroy();
        resolve();
      });
      leaving.end();
    });
    let status = 429;
    while (status === 429) ({ status } = await dan.get(path));
    assert.equal(status, 200);
  });

  it('of the interface are made once, and are not sent again to who has them', async () => {
    const { headers, text } = await visitor(gateway).get('/api/openapi.json');
    const etag = headers.get('etag')!;
    assert.ok(text.length > 100_000);
    const known = await visitor(gateway).get('/api/openapi.json', { 'if-none-match': `"other", W/${etag}` });
    assert.deepEqual([known.status, known.text, known.headers.get('etag')], [304, '', etag]);
    assert.equal((await visitor(gateway).get('/api/openapi.json', { 'if-none-match': '"other"' })).status, 200);
  });
});
