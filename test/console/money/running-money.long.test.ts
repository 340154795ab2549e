/** Money that administrators take while calls run, and requests that must change nothing. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Ledger, MICRO } from '../../../core/contracts/ledger.ts';
import {
  CONSOLE_PIPELINE,
  member,
  PATIENT,
  ROOT_ENV,
  root,
  said,
  type Visitor,
  verify,
} from '../../kit/console/console.ts';
import { chatEvents } from '../../kit/gateway/fixtures.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { eventStream, hold } from '../../kit/vendors/script.ts';

let vendor: FakeVendor;
let gateway: TestGateway;
let boss: Visitor;

before(async () => {
  vendor = await fakeVendor();
  gateway = await startGateway({ vendor, config: { pipeline: CONSOLE_PIPELINE, console: PATIENT }, env: ROOT_ENV });
  boss = await verify(await root(gateway));
});
after(async () => {
  vendor?.release();
  await gateway?.stop();
  await vendor?.close();
});

/** Somebody with 100,000 quota whose stream runs and holds a part of it. */
async function streaming(name: string) {
  const person = await member(gateway, name, { units: 100_000 });
  const { key } = await person.data('POST', '/api/token/', { name: 'k' });
  const { id } = (await boss.data('GET', `/api/user/search?keyword=${name}`)).items[0];
  const [first, ...rest] = chatEvents();
  vendor.next(eventStream([first!, hold(name), ...rest]));
  const response = await gateway.chat({ stream: true }, { key });
  assert.equal(response.status, 200);
  const shown = () => boss.data('GET', `/api/user/${id}`);
  return {
    id,
    shown,
    manage: (mode: string, value: number) =>
      boss.data('POST', '/api/user/manage', { id, action: 'add_quota', mode, value }),
    async end() {
      vendor.release(name);
      await response.text();
      return shown();
    },
    call: async () => (await gateway.chat({ max_tokens: 1 }, { key })).status,
  };
}

describe('a balance that an administrator changes while a call runs', () => {
  it('is set: what is free is taken, what is held is owed, and nothing can be spent afterwards', async () => {
    const ann = await streaming('ann');
    const before = await ann.shown();
    assert.ok(before.held_quota > 0);
    const answer = await ann.manage('override', 0);
    assert.equal(answer.held_quota, before.held_quota);
    // Both are shown in whole units.
    assert.ok([99_999, 100_000].includes(answer.taken_quota + answer.held_quota), JSON.stringify(answer));
    assert.ok([0, 1].includes(answer.debt - answer.held_quota), JSON.stringify(answer));
    assert.equal(answer.quota, 0);
    const list = JSON.parse(await gateway.command('user list --json')) as Record<string, unknown>[];
    const shown = list.find(({ username }) => username === 'ann')!;
    assert.deepEqual([shown.held_quota, shown.debt], [answer.held_quota, answer.debt]);
    const after = await ann.end();
    assert.ok(after.quota <= 0 && after.used_quota > 0, JSON.stringify(after));
    assert.equal(await ann.call(), 403);
  });

  it('is reduced: all of it goes, at once or when the call ends', async () => {
    const bob = await streaming('bob');
    const answer = await bob.manage('subtract', 90_000);
    assert.equal(answer.taken_quota + answer.debt, 90_000);
    const after = await bob.end();
    assert.equal(after.debt, 0);
    assert.ok(Math.abs(after.quota + after.used_quota - 10_000) <= 1, JSON.stringify(after));
    const { items } = await boss.data('GET', '/api/audit/?action=user.quota');
    assert.equal(items[0].facts.taken + items[0].facts.owed, 90_000);
  });

  it('is taken back by a refund: the rest is owed, and paid when the call ends', async () => {
    const cat = await streaming('cat');
    const ledger = gateway.host.use(Ledger);
    const steps = await ledger.takeBackSteps(cat.id, 90_000n * MICRO, 'a refund', 'a test');
    assert.equal(await gateway.host.store.atomic(steps), undefined);
    const after = await cat.end();
    assert.equal(await cat.call(), 200);
    assert.equal((await cat.shown()).debt, 0);
    assert.ok(after.quota + after.debt <= 10_000);
  });

  it('stays what it is if a record of its key is written back', async () => {
    const dan = await member(gateway, 'dan', { units: 100_000 });
    const made = await dan.data('POST', '/api/token/', { name: 'k', remain_quota: 1_000 });
    const { key: _, ...read } = await dan.data('GET', `/api/token/${made.id}`);
    await (await gateway.chat({ max_tokens: 10 }, { key: made.key })).text();
    const spent = (await dan.data('GET', `/api/token/${made.id}`)).used_quota;
    assert.ok(spent > 0);
    for (let i = 0; i < 3; i++) {
      await dan.data('PUT', '/api/token/', { ...read, name: `k${i}` });
      const balance = await gateway.host.use(Ledger).balance({ kind: 'key', owner: made.id });
      assert.equal(balance?.granted, 1_000n * MICRO);
    }
  });
});

describe('HEAD', () => {
  it('changes nothing: a GET that does is refused', async () => {
    const eve = await member(gateway, 'eve');
    const ask = (path: string) =>
      fetch(`${gateway.url}${path}`, {
        method: 'HEAD',
        headers: {
          'x-requested-with': 'a test',
          cookie: [...eve.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        },
      });
    const token = await eve.data('GET', '/api/user/token');
    for (const path of ['/api/user/token', '/api/user/logout', '/api/token/default']) {
      const { status, headers } = await ask(path);
      assert.deepEqual([path, status, headers.get('allow')?.includes('HEAD')], [path, 405, false]);
    }
    assert.equal(said(await eve.get('/api/user/self')), '200 ok');
    const own = await fetch(`${gateway.url}/api/user/self`, { headers: { authorization: token } });
    assert.equal(own.status, 200);
    assert.equal((await eve.data('GET', '/api/token/')).total, 0);
    assert.equal((await ask('/api/user/self')).status, 200);
  });
});
