/** Reading the log: pages and sums, beside what a plain list of the same lines says. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Departments } from '../../../core/contracts/departments.ts';
import {
  type LogEntry,
  type LogFilter,
  Records,
  type UsageDimension,
  type UsageFilter,
  type UsageRecord,
  type UsageSum,
} from '../../../core/contracts/records.ts';
import type { Value } from '../../../core/plugin.ts';
import { timeOf } from '../../../plugins/log/ids.ts';
import log from '../../../plugins/log/index.ts';
import { newRolled, rollUp } from '../../../plugins/log/roll-up.ts';
import { Database } from '../../../plugins/stores/sqlite/binding.ts';
import fc from '../../kit/fast-check.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { type Driven, drive } from '../../kit/gateway/drive.ts';
import { fillRecords, idAt, usageRecord } from '../../kit/gateway/usage-records.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = Date.UTC(2026, 8, 15, 10, 30);

/** Account 7 is in department 70, and so on. */
const departments = { departmentOf: (id: number) => ({ id: id * 10 }) };

/** It runs, and knows what was rolled up before it did. */
async function logHost(more: { clock?: FakeClock; keep?: string } = {}): Promise<Driven> {
  const { clock = fakeClock(NOW_MS), keep = '90d' } = more;
  const services = () => [[Departments, departments]] as const;
  const host = await drive([log], { clock, sections: { log: { keep } }, services });
  await host.start();
  return host;
}

function record(facts: Partial<UsageRecord> & { readonly atMs: number }): UsageRecord {
  return usageRecord({ id: idAt(facts.atMs), ...facts });
}

const usage = {
  input: 10,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWriteLong: 0,
  inputAudio: 0,
  output: 5,
  reasoning: 0,
  outputAudio: 0,
  estimated: false,
};

async function write(host: Driven, ...records: readonly UsageRecord[]): Promise<void> {
  const { steps } = host.use(Records);
  await host.store.atomic(records.flatMap((each) => steps(each)));
}

/** A lone line of sums, without what is 0 or empty. */
function short(sum: UsageSum): Record<string, unknown> {
  return Object.fromEntries(Object.entries(sum).filter(([, value]) => value !== 0 && value !== '' && value !== 0n));
}

describe('a record that is written and read', () => {
  it('is the same', async () => {
    const host = await logHost();
    const images = { count: 2, size: '1024x1024', quality: 'hd' };
    const whole = record({
      atMs: NOW_MS - 5_000,
      accountId: 3,
      keyId: 9,
      style: 'messages',
      stream: true,
      usage: { ...usage, estimated: true, inputImage: 3, outputImage: 4, characters: 12, seconds: 1.5, images },
      charged: 2n ** 60n,
      durationMs: 700,
      firstByteMs: 90,
      other: { attempts: [{ channel: 'c', status: 200, ms: 5 }] },
    });
    const bare = record({ atMs: NOW_MS - 4_000, accountId: 3, outcome: 'refused', status: 429, channel: '' });
    await write(host, whole, bare);
    const { total, items, next } = await host.use(Records).page({ accounts: [3] }, { limit: 10 });
    assert.deepEqual(
      { total, next, calls: items.map(({ call }) => call) },
      { total: 2, next: undefined, calls: [bare, whole] },
    );
    assert.deepEqual(
      items.map(({ kind, amount }) => [kind, amount]),
      [
        ['error', 0n],
        ['use', 2n ** 60n],
      ],
    );
  });

  it('after its hour was rolled up is counted, once', async () => {
    const host = await logHost();
    const at = NOW_MS - 3 * DAY_MS;
    const old = record({ atMs: at, usage, charged: 7n });
    await write(host, record({ atMs: at + 1, usage, charged: 1n }));
    await rollUp(host.store, newRolled(), NOW_MS, () => true);
    await write(host, old);
    await assert.rejects(write(host, old), /UNIQUE/);
    const { sums, page } = host.use(Records);
    const both = { calls: 2, charged: 8n, input: 20, output: 10 };
    const day = Math.floor(at / DAY_MS) * DAY_MS;
    assert.deepEqual((await sums({}, ['day'])).map(short), [{ timeMs: day, ...both }]);
    assert.deepEqual((await sums({ fromMs: day + HOUR_MS }, [])).map(short), [both]);
    assert.equal((await page({ accounts: [1] }, { limit: 1 })).total, 2);
  });

  it('is use where it failed but cost something, and an error where it did not', async () => {
    const host = await logHost();
    await write(
      host,
      record({ atMs: NOW_MS - 3, outcome: 'failed', charged: 5n }),
      record({ atMs: NOW_MS - 2, outcome: 'failed' }),
      record({ atMs: NOW_MS - 1, outcome: 'aborted' }),
    );
    const { page, sums } = host.use(Records);
    assert.deepEqual(
      (await page({}, { limit: 9 })).items.map(({ kind }) => kind),
      ['use', 'error', 'use'],
    );
    assert.deepEqual((await sums({}, [])).map(short), [{ calls: 2, errors: 1, charged: 5n }]);
  });
});

describe('an event of an account', () => {
  it('stands in its log in its place, among the calls', async () => {
    const host = await logHost();
    const { eventSteps, page } = host.use(Records);
    await write(host, record({ atMs: NOW_MS - 1_000, accountId: 3 }));
    const event = { accountId: 3, kind: 'top-up', amount: 5n, text: 'Code redeemed.', ip: '192.0.2.9' } as const;
    await host.store.atomic(eventSteps(event));
    host.clock.advance(1_000);
    await write(host, record({ atMs: host.clock.now(), accountId: 3 }));
    await host.store.atomic(eventSteps({ ...event, accountId: 4 }));
    const { total, items } = await page({ accounts: [3] }, { limit: 10 });
    assert.deepEqual([total, items.map(({ kind }) => kind)], [3, ['use', 'top-up', 'use']]);
    const { id, ...rest } = items[1]!;
    assert.deepEqual(rest, { ...event, atMs: NOW_MS, call: undefined });
    assert.match(id, /^[0-9a-v]{26}$/);
  });

  it('may take money away, and a sentence is only so long', async () => {
    const host = await logHost();
    const { eventSteps, page } = host.use(Records);
    await host.store.atomic(eventSteps({ accountId: 3, kind: 'manage', amount: -8n, text: 'x'.repeat(5_000), ip: '' }));
    const { items } = await page({ kind: 'manage' }, { limit: 10 });
    assert.deepEqual([items[0]?.amount, items[0]?.text.length], [-8n, 1_000]);
  });

  it('is in no sum of usage', async () => {
    const host = await logHost();
    const { eventSteps, sums } = host.use(Records);
    await host.store.atomic(eventSteps({ accountId: 3, kind: 'refund', amount: 8n, text: '', ip: '' }));
    assert.deepEqual(await sums({}, ['account']), []);
    await rollUp(host.store, newRolled(), NOW_MS + 3 * DAY_MS, () => true);
    assert.deepEqual(await sums({}, ['account']), []);
  });
});

// ---- pages and sums of anything, beside a plain list

const MODELS = ['', 'alpha', 'beta', '%'];
const CHANNELS = ['', 'main', 'spare'];

interface Line {
  readonly agoMs: number;
  readonly accountId: number;
  readonly keyId: number;
  readonly model: string;
  readonly channel: string;
  readonly outcome: UsageRecord['outcome'];
  readonly charged: bigint;
  readonly repeats: number;
  /** Empty: it is a call. */
  readonly route: string;
  readonly event: 'top-up' | 'login' | undefined;
  /** Written after the days had been rolled up. */
  readonly late: boolean;
}
// Mostly within some hours, so that hours hold several; on the hour and at midnight, too.
const moment = fc.oneof(
  fc.integer({ min: 1, max: 6 * HOUR_MS }),
  fc.integer({ min: 1, max: 10 * DAY_MS }),
  fc.integer({ min: 0, max: 9 }).map((n) => n * HOUR_MS + HOUR_MS / 2),
  fc.integer({ min: 0, max: 9 }).map((n) => n * DAY_MS + 10.5 * HOUR_MS),
);
const line: fc.Arbitrary<Line> = fc.record({
  agoMs: moment,
  accountId: fc.integer({ min: 1, max: 4 }),
  keyId: fc.integer({ min: 1, max: 3 }),
  model: fc.constantFrom(...MODELS),
  channel: fc.constantFrom(...CHANNELS),
  outcome: fc.constantFrom('served', 'refused', 'failed', 'aborted', 'recovered'),
  charged: fc.constantFrom(0n, 1n, 1_000_000n, 2_999_999_999n, 2n ** 55n),
  repeats: fc.constantFrom(0, 0, 1, 1_999),
  route: fc.constantFrom('', '', '', 'GET /v1/responses/:id'),
  event: fc.oneof(
    { arbitrary: fc.constant(undefined), weight: 4 },
    fc.constantFrom('top-up' as const, 'login' as const),
  ),
  late: fc.boolean(),
});
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const who = maybe(fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 25 }));
const filterOf = <T extends object>(facts: T): T =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as T;
const usageFilter = fc
  .record({
    accounts: fc.oneof(
      who,
      fc.integer({ min: 1, max: 4 }).map((id) => [id]),
    ),
    fromMs: maybe(moment.map((ms) => NOW_MS - ms)),
    untilMs: maybe(moment.map((ms) => NOW_MS - ms + HOUR_MS)),
    keys: maybe(fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 })),
    model: maybe(fc.constantFrom(...MODELS)),
    channel: maybe(fc.constantFrom(...CHANNELS)),
  })
  .map((facts) => filterOf(facts) as UsageFilter);
const logFilter = fc
  .tuple(
    usageFilter,
    maybe(fc.constantFrom('use', 'error', 'request', 'top-up', 'login', 'refund')),
    maybe(fc.subarray(['served', 'refused', 'failed', 'aborted', 'recovered'], { minLength: 1 })),
  )
  .map(([filter, kind, outcomes]) => filterOf({ ...filter, kind, outcomes }) as LogFilter);

/** Writes them as they come, and rolls days up in between. All of them, newest first. */
async function fill(host: Driven, lines: readonly Line[]): Promise<readonly LogEntry[]> {
  const { steps, eventSteps, page } = host.use(Records);
  const { clock } = host;
  const now = clock.now;
  for (const late of [false, true]) {
    if (late) await rollUp(host.store, newRolled(), NOW_MS, () => true);
    for (const { agoMs, event, repeats, route, ...facts } of lines.filter((each) => each.late === late)) {
      const atMs = NOW_MS - agoMs;
      const { accountId, charged: amount } = facts;
      // An event happens when it is written.
      Object.assign(clock, { now: event === undefined ? now : () => atMs });
      await host.store.atomic(
        event === undefined
          ? steps(record({ ...facts, atMs, usage, ...(repeats > 0 && { repeats }), ...(route !== '' && { route }) }))
          : eventSteps({ accountId, kind: event, amount, text: '', ip: '' }),
      );
      Object.assign(clock, { now });
    }
  }
  const all: LogEntry[] = [];
  for (let accountId = 1; accountId <= 4; accountId++) {
    all.push(...(await page({ accounts: [accountId] }, { limit: 1_000 })).items);
  }
  assert.equal(all.length, lines.length, 'every line is there');
  return all.sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** A `request` has a record, too. */
const isCall = ({ kind }: LogEntry): boolean => kind === 'use' || kind === 'error';

function passes(entry: LogEntry, filter: LogFilter): boolean {
  const { accounts, fromMs = 0, untilMs = Infinity, kind, outcomes, keys, model, channel } = filter;
  const { call } = entry;
  return (
    (accounts?.includes(entry.accountId) ?? true) &&
    entry.atMs >= fromMs &&
    entry.atMs < untilMs &&
    (kind === undefined || entry.kind === kind) &&
    (outcomes === undefined || (isCall(entry) && outcomes.includes(call!.outcome))) &&
    (keys === undefined || (call !== undefined && keys.includes(call.keyId))) &&
    (model === undefined || call?.model === model) &&
    (channel === undefined || call?.channel === channel)
  );
}

describe('a page of the log', () => {
  it('is what a plain list says, whatever the filter, and so are the pieces behind one another', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 60 }),
        fc.array(fc.tuple(logFilter, fc.nat(70), fc.integer({ min: 1, max: 20 })), { minLength: 6, maxLength: 6 }),
        async (lines, questions) => {
          const host = await logHost();
          const all = await fill(host, lines);
          const { page } = host.use(Records);
          for (const [filter, offset, limit] of questions) {
            const wanted = all.filter((entry) => passes(entry, filter)).map(({ id }) => id);
            const { total, items, next } = await page(filter, { offset, limit });
            const found = items.map(({ id }) => id);
            assert.deepEqual({ total, found }, { total: wanted.length, found: wanted.slice(offset, offset + limit) });
            assert.equal(next, found.length > 0 && offset + found.length < wanted.length ? found.at(-1) : undefined);

            const walked: string[] = [];
            for (let before: string | undefined, piece = 0; piece < 100; piece++) {
              const part = await page(filter, { limit, before });
              assert.equal(part.total, wanted.length - walked.length, 'what there is from here on');
              walked.push(...part.items.map(({ id }) => id));
              before = part.next;
              if (before === undefined) break;
            }
            assert.deepEqual(walked, wanted);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it('says of the newest calls how long they took, as a plain list does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 60 }),
        fc.array(fc.tuple(logFilter, fc.integer({ min: 1, max: 40 })), { minLength: 6, maxLength: 6 }),
        async (lines, questions) => {
          const host = await logHost();
          const all = await fill(host, lines);
          for (const [filter, most] of questions) {
            const calls = all.filter((entry) => isCall(entry) && passes(entry, filter)).slice(0, most);
            const wanted = calls.map(({ call }) => {
              const { atMs, outcome, charged, durationMs, firstByteMs, repeats = 0 } = call!;
              const isError = (outcome === 'refused' || outcome === 'failed') && charged === 0n;
              return { atMs, kind: isError ? 'error' : 'use', outcome, durationMs, firstByteMs, times: 1 + repeats };
            });
            assert.deepEqual(await host.use(Records).timings(filter, most), wanted, JSON.stringify(filter));
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it('reads how long calls took of 48 hours that have such, where a filter takes only some', async () => {
    const host = await logHost();
    const fromMs = NOW_MS - 300 * HOUR_MS;
    fillRecords(host.store.db, { rows: 600, fromMs, everyMs: HOUR_MS / 2, account: '1', keys: 2, models: 1 });
    const { timings } = host.use(Records);
    assert.equal((await timings({ accounts: [1] }, 5_000)).length, 600);
    assert.equal((await timings({ accounts: [1] }, 50)).length, 50);
    const some = await timings({ accounts: [1], keys: [10] }, 5_000);
    assert.deepEqual([some.length, some[0]?.atMs], [48, fromMs + 598 * (HOUR_MS / 2)]);
    assert.deepEqual(await timings({ accounts: [1], kind: 'login' }, 5_000), [], 'these are no calls');
    assert.deepEqual(await timings({ accounts: [2] }, 5_000), []);
  });

  it('may be the one line with an id, if the filter lets it through', async () => {
    const host = await logHost();
    const one = record({ atMs: NOW_MS - 5, accountId: 3 });
    await write(host, one, record({ atMs: NOW_MS - 4, accountId: 3 }));
    const { page } = host.use(Records);
    const find = async (filter: LogFilter) => (await page(filter, { limit: 10 })).items.map(({ id }) => id);
    assert.deepEqual(await find({ accounts: [3], id: one.id }), [one.id]);
    assert.deepEqual(await find({ id: one.id }), [one.id]);
    assert.deepEqual(await find({ accounts: [4], id: one.id }), [], 'somebody else');
    assert.deepEqual(await find({ id: one.id, model: 'another' }), []);
    assert.deepEqual(await find({ id: '%' }), []);
  });

  it('finds lines where they are in the order of ids, though the clock had stepped back', async () => {
    const host = await logHost();
    // Ids never go back: this one was made at the last moment that the clock had shown.
    const stepped = record({ id: idAt(NOW_MS - HOUR_MS), atMs: NOW_MS - 3 * HOUR_MS, accountId: 3, charged: 5n });
    await write(host, record({ atMs: NOW_MS - 2 * HOUR_MS, accountId: 3 }), stepped);
    const { page, sums } = host.use(Records);
    for (const filter of [{}, { accounts: [3] }, { model: 'm' }, { accounts: [3], fromMs: NOW_MS - 1.5 * HOUR_MS }]) {
      const { items } = await page(filter, { limit: 1 });
      assert.deepEqual([items[0]?.id, items[0]?.atMs], [stepped.id, stepped.atMs]);
    }
    const hour = Math.floor((NOW_MS - HOUR_MS) / HOUR_MS) * HOUR_MS;
    for (const fromMs of [0, NOW_MS - 1.5 * HOUR_MS, hour + 1]) {
      const [latest] = (await sums({ fromMs }, ['hour'])).filter(({ charged }) => charged > 0n);
      assert.deepEqual([latest?.timeMs, latest?.charged], [hour, 5n]);
    }
  });

  it('ends where lines are too old to be kept, however much of them is still there', async () => {
    const host = await logHost({ keep: '1d' });
    const { eventSteps, page } = host.use(Records);
    const { now } = host.clock;
    Object.assign(host.clock, { now: () => NOW_MS - 3 * DAY_MS });
    await host.store.atomic(eventSteps({ accountId: 1, kind: 'login', amount: 0n, text: '', ip: '' }));
    Object.assign(host.clock, { now });
    const edge = NOW_MS - DAY_MS;
    await write(host, ...[-2 * HOUR_MS, -1, 0, 1, 2 * HOUR_MS].map((ms) => record({ atMs: edge + ms })));
    // A sweep is under way.
    host.store.db.prepare('DELETE FROM usage_row WHERE place < ?').run(timeOf(edge - 1));
    for (const filter of [{}, { accounts: [1] }, { accounts: [1, 2] }, { model: 'm' }]) {
      const { total, items } = await page(filter, { limit: 10 });
      assert.deepEqual([total, items.map(({ atMs }) => atMs - edge)], [3, [2 * HOUR_MS, 1, 0]]);
    }
  });

  it('counts no further than 10,000 lines of everybody, and reaches what is behind them', async () => {
    const host = await logHost();
    const everyMs = 60_000;
    const fromMs = NOW_MS - 10_050 * everyMs;
    fillRecords(host.store.db, { rows: 10_050, fromMs, everyMs, account: '1', keys: 2, models: 2 });
    const { page } = host.use(Records);
    const { total, items } = await page({}, { limit: 10 });
    assert.deepEqual([total, items.length], [10_000, 10]);
    const far = await page({}, { limit: 10, offset: 10_040 });
    const oldest = Array.from({ length: 10 }, (_, i) => fromMs + (9 - i) * everyMs);
    assert.deepEqual([far.total, far.items.map(({ atMs }) => atMs)], [10_050, oldest]);
    assert.equal((await page({ accounts: [1] }, { limit: 10 })).total, 10_050);
  });

  it('of an empty log is empty', async () => {
    const { page, sums, rate } = (await logHost()).use(Records);
    assert.deepEqual(await page({}, { limit: 10 }), { total: 0, items: [], next: undefined });
    assert.deepEqual(await page({ accounts: [1] }, { limit: 10, offset: 5 }), { total: 0, items: [], next: undefined });
    assert.deepEqual(await sums({ accounts: [1] }, ['day']), []);
    assert.deepEqual(await rate({}), { calls: 0, tokens: 0 });
  });
});

describe('sums of usage', () => {
  const dimensions: readonly UsageDimension[] = ['hour', 'day', 'account', 'key', 'model', 'channel', 'department'];

  it('are what a plain list comes to, however it is told apart, exactly to the millisecond', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 60 }),
        fc.array(fc.tuple(usageFilter, fc.subarray([...dimensions]), fc.boolean()), { minLength: 6, maxLength: 6 }),
        async (lines, questions) => {
          const host = await logHost();
          const all = await fill(host, lines);
          const { sums } = host.use(Records);
          for (const [asked, by, ofDepartments] of questions) {
            // One time at most.
            const dims = by.filter((name) => name !== 'day' || !by.includes('hour'));
            const filter: UsageFilter = { ...asked, ...(ofDepartments && { departments: [10, 20, 30] }) };
            const wanted = plainSums(all, filter, dims);
            const found = await sums(filter, dims);
            assert.deepEqual(sorted(found), sorted(wanted), JSON.stringify({ filter, dims }));
            if (dims.length === 0) continue;
            // Few accounts: the store selects the dearest groups. All: they are selected here.
            for (const whose of [filter, { ...filter, accounts: filter.accounts ?? [1, 2, 3] }]) {
              const every = plainSums(all, whose, dims);
              const top = await sums(whose, dims, 2);
              assert.deepEqual(costs(top), costs(every).slice(0, 2), JSON.stringify({ whose, dims }));
              assert.ok(sorted(top).every((sum) => sorted(every).includes(sum)));
            }
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  function plainSums(all: readonly LogEntry[], filter: UsageFilter, by: readonly UsageDimension[]): UsageSum[] {
    const { departments: inside, model, ...rest } = filter;
    const sums = new Map<string, UsageSum>();
    for (const entry of all) {
      const { call, accountId, atMs, kind } = entry;
      if (call === undefined || !isCall(entry) || !passes(entry, rest)) continue;
      const known = kind === 'error' && call.channel === '' ? '' : call.model;
      if ((model !== undefined && known !== model) || inside?.includes(accountId * 10) === false) continue;
      const step = by.includes('hour') ? HOUR_MS : by.includes('day') ? DAY_MS : undefined;
      const group = {
        timeMs: step === undefined ? 0 : Math.floor(atMs / step) * step,
        accountId: by.includes('account') ? accountId : 0,
        keyId: by.includes('key') ? call.keyId : 0,
        model: by.includes('model') ? known : '',
        channel: by.includes('channel') ? call.channel : '',
        departmentId: by.includes('department') ? accountId * 10 : 0,
        tag: '',
      };
      const name = JSON.stringify(group);
      const sum = sums.get(name) ?? { ...group, calls: 0, errors: 0, charged: 0n, included: 0n, input: 0, output: 0 };
      sums.set(name, {
        ...sum,
        calls: sum.calls + (kind === 'use' ? 1 + (call.repeats ?? 0) : 0),
        errors: sum.errors + (kind === 'error' ? 1 + (call.repeats ?? 0) : 0),
        charged: sum.charged + call.charged,
        included: sum.included + (call.included === true ? call.charged : 0n),
        input: sum.input + 10,
        output: sum.output + 5,
      });
    }
    return [...sums.values()];
  }
  /** What the groups cost, and their calls: the highest first. */
  const costs = (sums: readonly UsageSum[]): readonly (readonly [bigint, number])[] =>
    sums
      .map(({ charged, calls }) => [charged, calls] as const)
      .sort((a, b) => (a[0] === b[0] ? b[1] - a[1] : a[0] < b[0] ? 1 : -1));
  const sorted = (sums: readonly UsageSum[]): string[] =>
    sums.map((sum) => JSON.stringify({ ...sum, charged: `${sum.charged}`, included: `${sum.included}` })).sort();

  it('are exact beyond 64 bits, whether the store selects the dearest groups or not', async () => {
    const host = await logHost();
    const most = 2n ** 62n - 1n;
    const charges = [
      { accountId: 1, charged: most },
      { accountId: 2, charged: most - 1n },
      { accountId: 3, charged: 1n },
    ];
    // Some in a day of its own, some in hours, some in the hour of which only a part is asked for.
    const times = [NOW_MS - 3 * DAY_MS, NOW_MS - 3 * HOUR_MS, NOW_MS - 2 * HOUR_MS, NOW_MS - 5];
    await write(host, ...times.flatMap((atMs) => charges.map((charge) => record({ atMs, ...charge }))));
    const { sums } = host.use(Records);
    for (const range of [{}, { untilMs: NOW_MS - 4 }])
      for (const whose of [{}, { accounts: [1, 2, 3] }]) {
        const found = await sums({ ...range, ...whose }, ['account'], 2);
        assert.deepEqual(
          found.map(({ accountId, charged, calls }) => [accountId, charged, calls]),
          [
            [1, 4n * most, 4],
            [2, 4n * most - 4n, 4],
          ],
        );
        const [all] = await sums({ ...range, ...whose }, []);
        assert.equal(all?.charged, 8n * most);
      }
  });

  it('know of calls whose records are deleted; then they know days, and no hours', async () => {
    const clock = fakeClock(NOW_MS);
    const host = await logHost({ clock, keep: '2d' });
    const { sums, page, eventSteps } = host.use(Records);
    await host.store.atomic(eventSteps({ accountId: 1, kind: 'login', amount: 0n, text: '', ip: '' }));
    await write(
      host,
      record({ atMs: NOW_MS - HOUR_MS, charged: 3n, usage }),
      record({ atMs: NOW_MS, charged: 4n, usage }),
    );
    clock.advance(5 * DAY_MS);
    await settled();
    clock.advance(HOUR_MS);
    await settled();
    await host.stop();
    const { total } = await page({}, { limit: 1 });
    assert.equal(total, 0, 'the lines are gone');
    const left = (table: string) => host.store.db.prepare(`SELECT COUNT(*) FROM ${table}`).pluck().get();
    assert.deepEqual(
      [left('usage_hour'), left('usage_record'), left('account_event'), left('usage_day')],
      [0, 0, 0, 1],
    );
    const day = Date.UTC(2026, 8, 15);
    const whole = { calls: 2, charged: 7n, input: 20, output: 10 };
    assert.deepEqual((await sums({}, ['day'])).map(short), [{ timeMs: day, ...whole }]);
    assert.deepEqual((await sums({ accounts: [1] }, ['hour'])).map(short), [{ timeMs: day, ...whole }]);
    const half = { fromMs: day + 10 * HOUR_MS, untilMs: day + 11 * HOUR_MS };
    assert.deepEqual((await sums(half, [])).map(short), [whole], 'no part of a day is known any more');
    assert.deepEqual(await sums({ fromMs: day + DAY_MS }, []), []);

    // A call of that day which is written only now: it was open when the gateway stopped.
    await write(host, record({ atMs: NOW_MS + 5, charged: 1n, outcome: 'recovered' }));
    assert.deepEqual((await sums({}, ['day'])).map(short), [{ timeMs: day, ...whole, calls: 3, charged: 8n }]);
  });

  it('know how much of it subscriptions included, from hours, days and single records', async () => {
    const host = await logHost();
    const included = { included: true } as const;
    const old = NOW_MS - 3 * DAY_MS;
    await write(
      host,
      record({ atMs: old, charged: 5n, ...included }),
      record({ atMs: old + 1, charged: 1n }),
      record({ atMs: NOW_MS - 2, charged: 7n, ...included }),
    );
    await rollUp(host.store, newRolled(), NOW_MS, () => true);
    await write(host, record({ atMs: old + 2, charged: 11n, ...included }));
    const { sums, page } = host.use(Records);
    const told = async (filter: UsageFilter) =>
      (await sums(filter, [])).map(({ charged, included: of }) => [charged, of]);
    assert.deepEqual(await told({}), [[24n, 23n]]);
    assert.deepEqual(await told({ untilMs: NOW_MS - DAY_MS }), [[17n, 16n]]);
    assert.deepEqual(await told({ fromMs: NOW_MS - 2 }), [[7n, 7n]], 'a part of an hour');
    const { items } = await page({}, { limit: 10 });
    assert.deepEqual(
      items.map(({ call }) => call?.included),
      [true, true, undefined, true],
    );
  });

  it('leave out names of models that no channel ever saw, which anybody can invent', async () => {
    const host = await logHost();
    const refused = { outcome: 'refused', status: 404, channel: '' } as const;
    const old = NOW_MS - 3 * DAY_MS;
    await write(host, ...Array.from({ length: 50 }, (_, i) => record({ atMs: old + i, model: `no-${i}`, ...refused })));
    await rollUp(host.store, newRolled(), NOW_MS, () => true);
    assert.equal(host.store.db.prepare('SELECT COUNT(*) FROM usage_day').pluck().get(), 1);
    const { sums, page } = host.use(Records);
    assert.deepEqual((await sums({}, ['model'])).map(short), [{ errors: 50 }]);
    assert.equal((await page({ accounts: [1], model: 'no-7' }, { limit: 5 })).total, 1, 'its line is there');
  });

  it('are whole where the clock was two days ahead for a while', async () => {
    const clock = fakeClock(NOW_MS);
    const host = await logHost({ clock });
    await write(host, record({ atMs: NOW_MS - 1, charged: 1n }));
    const { now } = clock;
    Object.assign(clock, { now: () => now() + 2 * DAY_MS });
    await write(host, record({ atMs: clock.now(), charged: 2n }));
    clock.advance(HOUR_MS);
    await settled();
    Object.assign(clock, { now });
    // Its day, and its hour, are rolled up already.
    await write(host, record({ atMs: NOW_MS, charged: 4n }), record({ atMs: clock.now(), charged: 8n }));
    await host.stop();
    const { sums } = host.use(Records);
    const days = await sums({}, ['day']);
    assert.deepEqual(
      days.map(({ timeMs, charged }) => [(timeMs - Math.floor(NOW_MS / DAY_MS) * DAY_MS) / DAY_MS, charged]),
      [
        [0, 13n],
        [2, 2n],
      ],
    );
    assert.deepEqual((await sums({}, ['hour'])).map(({ charged }) => charged).sort(), [2n, 5n, 8n]);
  });

  it('are made once by two gateways on one store', async () => {
    const host = await logHost();
    await write(
      host,
      record({ atMs: NOW_MS - 3 * DAY_MS, charged: 2n }),
      record({ atMs: NOW_MS - 2 * DAY_MS, charged: 3n }),
    );
    await Promise.all([
      rollUp(host.store, newRolled(), NOW_MS, () => true),
      rollUp(host.store, newRolled(), NOW_MS, () => true),
    ]);
    const { sums } = host.use(Records);
    assert.deepEqual((await sums({}, [])).map(short), [{ calls: 2, charged: 5n }]);
  });

  it('are made of the records of an older release', () => {
    const db = new Database(':memory:');
    const [first, second, ...later] = log.migrations!;
    for (const { sql } of [first!, second!]) for (const statement of sql) db.exec(statement);
    const insert = db.prepare(
      `INSERT INTO usage_record (account_id, id, at_ms, key_id, style, model, channel, stream, outcome, status, input, output,
        estimated, charged, duration_ms, ip, other) VALUES (3, ?, ?, 7, 'chat', 'm', 'c', 0, ?, 200, 10, 20, 0, ?, 4, '', '{}')`,
    );
    insert.run('01', 5, 'served', 99);
    insert.run('02', 7, 'failed', 0);
    insert.run('03', 9, 'failed', 1);
    insert.run('04', HOUR_MS, 'served', 1);
    for (const outcome of ['refused', 'aborted', 'recovered']) insert.run(`1${outcome}`, 2 * HOUR_MS, outcome, 0);
    insert.run('20', 2 * HOUR_MS, 'refused', 7);
    for (const { sql } of later) for (const statement of sql) db.exec(statement);
    assert.deepEqual(
      db.prepare('SELECT begin_ms, kind, lines, amount, input FROM usage_hour ORDER BY begin_ms, kind').raw().all(),
      [
        [0, 'failed', 1, 0, 10],
        [0, 'failed-paid', 1, 1, 10],
        [0, 'use', 1, 99, 10],
        [HOUR_MS, 'use', 1, 1, 10],
        [2 * HOUR_MS, 'aborted', 1, 0, 10],
        [2 * HOUR_MS, 'error', 1, 0, 10],
        [2 * HOUR_MS, 'recovered', 1, 0, 10],
        [2 * HOUR_MS, 'refused-paid', 1, 7, 10],
      ],
    );
    db.close();
  });

  it('of the last minute are a rate', async () => {
    const host = await logHost();
    await write(
      host,
      record({ atMs: NOW_MS - 61_000, usage }),
      record({ atMs: NOW_MS - 59_000, usage }),
      record({ atMs: NOW_MS - 1, usage, accountId: 2 }),
      record({ atMs: NOW_MS - 1, outcome: 'refused', repeats: 3 }),
      record({ atMs: NOW_MS - 1, route: 'GET /v1/responses/:id' }),
    );
    const { rate } = host.use(Records);
    assert.deepEqual(await rate({}), { calls: 2, tokens: 30 });
    assert.deepEqual(await rate({ accounts: [1] }), { calls: 1, tokens: 15 });
  });
});

describe('statements of the log', () => {
  const filters: readonly LogFilter[] = [
    {},
    { kind: 'error' },
    { kind: 'request' },
    { outcomes: ['failed'] },
    { model: 'm' },
    { keys: [1, 2], channel: 'c' },
    { fromMs: NOW_MS - 3 * DAY_MS - 5, untilMs: NOW_MS - 5 },
    { id: idAt(NOW_MS) },
  ];
  const everybody: readonly LogFilter[] = filters.flatMap((filter) => [
    filter,
    { ...filter, accounts: [1] },
    { ...filter, accounts: [1, 2, 3] },
    { ...filter, accounts: Array.from({ length: 30 }, (_, i) => i) },
  ]);

  it('never read a table from end to end [T-LOAD-06]', async () => {
    const host = await logHost();
    const times = Array.from({ length: 40 }, (_, i) => NOW_MS - i * 3 * HOUR_MS);
    await write(host, ...times.map((atMs) => record({ atMs })));
    await rollUp(host.store, newRolled(), NOW_MS, () => true);
    const asked = new Map<string, readonly Value[]>();
    const { one, all } = host.store;
    Object.assign(host.store, {
      one: (sql: string, ...params: Value[]) => one(sql, ...(asked.set(sql, params) && params)),
      all: (sql: string, ...params: Value[]) => all(sql, ...(asked.set(sql, params) && params)),
    });
    const { page, sums, rate, timings } = host.use(Records);
    for (const filter of everybody) {
      await timings(filter, 20);
      await page(filter, { limit: 10 });
      await page(filter, { limit: 10, offset: 20 });
      await page(filter, { limit: 10, before: idAt(NOW_MS - DAY_MS) });
      const { kind: _, id: __, ...use } = filter;
      for (const by of [['day', 'model'], ['hour', 'account', 'key'], ['department'], ['channel'], []] as const)
        await sums(use, by);
      await sums({ ...use, departments: [1, 2] }, ['day']);
      await rate(use);
    }
    assert.ok(asked.size > 60, `only ${asked.size} statements`);
    for (const [sql, params] of asked) {
      const plan = host.store.db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...params) as { readonly detail: string }[];
      for (const { detail } of plan) {
        // The first and the last of an index, which is one step.
        if (/MIN\(|MAX\(/.test(sql) && !/SCAN/.test(detail)) continue;
        assert.doesNotMatch(
          detail,
          /SCAN (?:usage_(?:row|label|run|detail|hour|day)|account_event)/,
          `${sql}\n${detail}`,
        );
        if (/^SEARCH (?:usage_row|account_event)/.test(detail)) {
          assert.match(
            detail,
            /(?:id|place)>\? AND (?:id|place|\(place,run_id\))<\(?\?|(?:id|place)=\?/,
            `${sql}\n${detail}`,
          );
        }
        if (/^SEARCH usage_(?:hour|day)/.test(detail)) assert.match(detail, /begin_ms[>=]\?/, `${sql}\n${detail}`);
      }
    }
  });
});

/** Lets everything that was begun come to its end: nothing here waits for anything but this process. */
async function settled(): Promise<void> {
  for (let i = 0; i < 100; i++) await new Promise((resolve) => setImmediate(resolve));
}
