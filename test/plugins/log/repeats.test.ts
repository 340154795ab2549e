/** The plugin `log`: what one key meets again and again within a minute leaves a bounded number of records, and every one is counted. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ledger } from '../../../core/contracts/ledger.ts';
import { Records } from '../../../core/contracts/records.ts';
import type { Entrant, Known, Route } from '../../../core/plugin.ts';
import { StoreUnavailable } from '../../../core/plugin.ts';
import log from '../../../plugins/log/index.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { type Driven, drive, exchange } from '../../kit/gateway/drive.ts';
import { idAt } from '../../kit/gateway/usage-records.ts';

const MINUTE_MS = 60_000;
const NOW_MS = Date.UTC(2026, 8, 15, 10, 30);
const LIMIT = { outcome: 'refused', status: 429, notes: { code: 'rate_limit_exceeded' } } as const;

async function logHost(clock: FakeClock = fakeClock(NOW_MS)): Promise<Driven> {
  const services = () => [[Ledger, { charged: () => 0n, isIncluded: () => false }]] as const;
  const host = await drive([log], { clock, sections: { log: { keep: '90d' } }, services });
  await host.start();
  return host;
}

const holder = (keyId: number, accountId = 3) =>
  ({ key: { id: keyId }, account: { id: accountId } }) as Known['identity'];

/** A call of key 7 that ends now, as core ends it; answers its id. */
async function end(host: Driven, facts: Partial<Known>): Promise<string> {
  const startedMs = facts.startedMs ?? host.clock.now();
  const id = idAt(startedMs);
  const style = { name: 'chat' } as never;
  const x = exchange({ id, startedMs, identity: holder(7), style, ...facts });
  await host.store.atomic((await host.parts[0]!.settle!(x)) ?? []);
  return id;
}
const ofModel = (model: string) => ({ call: { model, stream: false } as never });

const left = (host: Driven): readonly unknown[] =>
  host.store.db.prepare('SELECT id, model, repeats FROM usage_record ORDER BY id').raw().all();

describe('refusals of one key within a minute', () => {
  it('leave one record that stands for all, and every one of them is in the sums', async () => {
    const host = await logHost();
    const first = await end(host, LIMIT);
    for (let i = 1; i < 2_000; i++) await end(host, LIMIT);
    const { page, sums, timings } = host.use(Records);
    assert.deepEqual(left(host), [[first, '', 0]], 'the first is there at once');
    const { total, items } = await page({ accounts: [3] }, { limit: 10 });
    assert.deepEqual([total, items.map(({ id, call }) => [id, call?.repeats])], [1, [[first, 1_999]]]);
    for (const by of [[], ['hour'], ['day'], ['key']] as const) {
      assert.deepEqual(
        (await sums({}, by)).map(({ calls, errors }) => [calls, errors]),
        [[0, 2_000]],
      );
    }
    const [partly] = await sums({ fromMs: NOW_MS, untilMs: NOW_MS + 1 }, []);
    assert.equal(partly?.errors, 2_000, 'and in a part of an hour');
    assert.deepEqual(
      (await timings({}, 100)).map(({ times }) => times),
      [2_000],
    );
  });

  it('cost no write each: what came together is written once in a second', async () => {
    const host = await logHost();
    let writes = 0;
    const { atomic } = host.store;
    Object.assign(host.store, {
      atomic: (...list: Parameters<typeof atomic>) => {
        if (list[0].length > 0) writes++;
        return atomic(...list);
      },
    });
    for (let i = 0; i < 500; i++) await end(host, LIMIT);
    assert.equal(writes, 1);
    host.clock.advance(1_000);
    await settled();
    assert.deepEqual([writes, left(host).length], [2, 1]);
    host.clock.advance(10_000);
    await settled();
    assert.equal(writes, 2, 'nothing came, so nothing is written');
  });

  it('are told apart by key, code, model, status and minute', async () => {
    const host = await logHost();
    const kinds: readonly Partial<Known>[] = [
      LIMIT,
      { ...LIMIT, identity: holder(8) },
      { ...LIMIT, notes: { code: 'concurrency_limit_exceeded' } },
      { ...LIMIT, ...ofModel('a') },
      { ...LIMIT, ...ofModel('b') },
      { ...LIMIT, status: 403 },
      { ...LIMIT, outcome: 'failed', status: 503 },
    ];
    for (const kind of kinds) for (let i = 0; i < 3; i++) await end(host, kind);
    host.clock.advance(MINUTE_MS);
    await end(host, LIMIT);
    await settled();
    assert.deepEqual(
      left(host).map((row) => (row as unknown[])[2]),
      [2, 2, 2, 2, 2, 2, 2, 0],
    );
  });

  it('leave few records, whatever models they name', async () => {
    const host = await logHost();
    for (let i = 0; i < 300; i++)
      await end(host, { ...LIMIT, status: 404, notes: { code: 'model_not_found' }, ...ofModel(`made-up-${i}`) });
    const { page, sums } = host.use(Records);
    const { items } = await page({ accounts: [3] }, { limit: 100 });
    assert.equal(items.length, 21);
    assert.deepEqual([items[0]?.call?.model, items[0]?.call?.repeats], ['', 279]);
    assert.equal((await sums({}, []))[0]?.errors, 300);
  });

  it('that a vendor saw, and calls that were served, are records of their own', async () => {
    const host = await logHost();
    const attempts = [{ offer: { channel: { name: 'a' }, model: 'm' }, startedMs: NOW_MS }] as never;
    for (let i = 0; i < 3; i++) await end(host, { ...LIMIT, attempts });
    for (let i = 0; i < 3; i++) await end(host, { outcome: 'served', status: 200 });
    assert.equal(left(host).length, 6);
  });

  it('are written before the gateway stops', async () => {
    const host = await logHost();
    for (let i = 0; i < 5; i++) await end(host, LIMIT);
    await host.stop();
    assert.deepEqual(
      left(host).map((row) => (row as unknown[])[2]),
      [4],
    );
  });

  it('are counted once where the store fails for a while, also where the first could not be written', async () => {
    const host = await logHost();
    const { atomic } = host.store;
    const failing = () => Promise.reject(new StoreUnavailable('the disk is full'));
    Object.assign(host.store, { atomic: failing });
    await assert.rejects(end(host, LIMIT), StoreUnavailable);
    const second = await end({ ...host, store: { ...host.store, atomic: async () => undefined } } as Driven, LIMIT);
    assert.ok(second);
    host.clock.advance(1_000);
    await settled();
    Object.assign(host.store, { atomic });
    const third = await end({ ...host, store: { ...host.store, atomic: async () => undefined } } as Driven, LIMIT);
    const { page, sums } = host.use(Records);
    const { items } = await page({}, { limit: 10 });
    assert.deepEqual(
      items.map(({ id, call }) => [id, call?.repeats]),
      [[third, 1]],
    );
    assert.equal((await sums({}, []))[0]?.errors, 2);
  });
});

describe('requests of a key that are no calls', () => {
  const route = { method: 'GET', path: '/v1/responses/:id' } as Route;
  const ask = (host: Driven, status: number, more: { code?: string; route?: Route } = {}): void => {
    const id = idAt(host.clock.now());
    const x = { id, method: 'GET', path: '/v1/responses/r', ip: '192.0.2.1', headers: {}, identity: holder(7) };
    host.parts[0]!.answered!(x as unknown as Entrant, { route, code: undefined, status, ...more });
  };

  it('leave a record for each minute and answer, which are no calls in any sum', async () => {
    const host = await logHost();
    for (let i = 0; i < 30; i++) ask(host, 200);
    for (let i = 0; i < 20; i++) ask(host, 429, { code: 'rate_limit_exceeded' });
    host.clock.advance(MINUTE_MS);
    ask(host, 404, { code: 'response_not_found' });
    const { page, sums, rate, timings } = host.use(Records);
    const { total, items } = await page({ accounts: [3], kind: 'request' }, { limit: 10 });
    assert.equal(total, 3);
    assert.deepEqual(
      items.map(({ kind, call }) => [kind, call?.route, call?.outcome, call?.status, call?.repeats, call?.other.code]),
      [
        ['request', 'GET /v1/responses/:id', 'refused', 404, undefined, 'response_not_found'],
        ['request', 'GET /v1/responses/:id', 'refused', 429, 19, 'rate_limit_exceeded'],
        ['request', 'GET /v1/responses/:id', 'served', 200, 29, undefined],
      ],
    );
    assert.equal((await page({ keys: [7] }, { limit: 10 })).total, 3);
    assert.equal((await page({ kind: 'error' }, { limit: 10 })).total, 0);
    assert.deepEqual(await sums({}, ['day']), []);
    assert.deepEqual(await sums({ fromMs: NOW_MS + 1 }, []), []);
    assert.deepEqual(await rate({}), { calls: 0, tokens: 0 });
    assert.deepEqual(await timings({}, 10), []);
  });

  it('that cost next to nothing leave none', async () => {
    const host = await logHost();
    ask(host, 200, { route: { ...route, uncounted: true } });
    assert.equal((await host.use(Records).page({}, { limit: 10 })).total, 0);
  });
});

/** Lets everything that is ready run. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}
