/** The plugin `log`: what repeats from record to record is written once, and nothing of a record is lost by that. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Records, type UsageRecord } from '../../../core/contracts/records.ts';
import { statementOf } from '../../../core/plugin.ts';
import log from '../../../plugins/log/index.ts';
import fc from '../../kit/fast-check.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { type Driven, drive, type MemoryStore, memoryStore } from '../../kit/gateway/drive.ts';
import { idAt, usageRecord } from '../../kit/gateway/usage-records.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 8, 15, 10, 30);

const logHost = (more: { clock?: FakeClock; store?: MemoryStore; keep?: string } = {}): Promise<Driven> => {
  const { clock = fakeClock(NOW_MS), keep = '90d', ...rest } = more;
  return drive([log], { clock, sections: { log: { keep } }, ...rest });
};

/** Writes records one after the other, as calls end. */
async function write(host: Driven, ...records: readonly UsageRecord[]): Promise<void> {
  for (const record of records) {
    await host.store.atomic(host.use(Records).steps(record));
    await turn();
  }
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** All that can be read, oldest first. */
async function read(host: Driven): Promise<readonly (UsageRecord | undefined)[]> {
  const { items } = await host.use(Records).page({}, { limit: 1_000 });
  return items.map(({ call }) => call).reverse();
}

function record(facts: Partial<UsageRecord> = {}): UsageRecord {
  return usageRecord({ id: idAt(NOW_MS), atMs: NOW_MS, ...facts });
}

const count = (host: Driven, table: string): unknown =>
  host.store.db.prepare(`SELECT COUNT(*) FROM ${table}`).pluck().get();

const price = { input: '1.25', output: '10' };
const attempt = { channel: 'c', model: 'upstream', status: 200, ms: 812 };

describe('what repeats from record to record', () => {
  it('is written once, and every record is read as it was', async () => {
    const host = await logHost();
    const other = { price, attempts: [attempt] };
    const records = Array.from({ length: 20 }, (_, i) => record({ other: { ...other, held: `${i}.5` } }));
    await write(host, ...records);
    assert.deepEqual(await read(host), records);
    // The first has the price in its row: it may have been the only one.
    assert.deepEqual([count(host, 'usage_label'), count(host, 'usage_run'), count(host, 'usage_detail')], [2, 1, 0]);
    const notes = host.store.db.prepare('SELECT notes FROM usage_row ORDER BY place').pluck().all();
    assert.deepEqual(
      notes.slice(1),
      records.slice(1).map(({ other: { held } }) => `,"held":"${held}"`),
    );
  });

  it('is found again by another process on the same store', async () => {
    const store = memoryStore();
    const hosts = [await logHost({ store }), await logHost({ store })];
    for (const host of hosts) await write(host, record(), record(), record());
    assert.deepEqual([count(hosts[0]!, 'usage_label'), count(hosts[0]!, 'usage_run')], [1, 1]);
    assert.equal((await read(hosts[1]!)).length, 6);
  });

  it('is marked as used by the first calls of a day, and else referred to by number alone', async () => {
    const clock = fakeClock(NOW_MS);
    const host = await logHost({ clock });
    const marked: boolean[] = [];
    const days: unknown[] = [];
    for (const advance of [0, 0, 0, DAY_MS, 0, 0]) {
      clock.advance(advance);
      const list = host.use(Records).steps(record({ id: idAt(clock.now()), atMs: clock.now() }));
      marked.push(list.some((step) => statementOf(step).sql.includes('INTO usage_label')));
      await host.store.atomic(list);
      await turn();
      days.push(host.store.db.prepare('SELECT last_day_ms FROM usage_label').pluck().get());
    }
    // What the second finds was written by the first.
    assert.deepEqual(marked, [true, true, false, true, true, false]);
    const today = Math.floor(NOW_MS / DAY_MS) * DAY_MS;
    const tomorrow = today + DAY_MS;
    assert.deepEqual(days, [today, today, today, tomorrow, tomorrow, tomorrow]);
  });

  it('is not the model of a call that was not served: clients make up names', async () => {
    const host = await logHost();
    const names = Array.from({ length: 50 }, (_, i) => `made-up-${i}`);
    const endings = [
      { outcome: 'refused', status: 404, channel: '' },
      { outcome: 'failed', status: 502 },
      { outcome: 'aborted' },
    ] as const;
    const records = names.flatMap((model) => endings.map((ending) => record({ ...ending, model })));
    await write(host, ...records);
    assert.deepEqual(await read(host), records);
    assert.equal(count(host, 'usage_label'), endings.length);
    const { total } = await host.use(Records).page({ model: 'made-up-7' }, { limit: 10 });
    assert.equal(total, 3);
  });

  it('is told apart by all that it says', async () => {
    const host = await logHost();
    const usage = {
      ...{ input: 1, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0, inputAudio: 0 },
      ...{ output: 2, reasoning: 0, outputAudio: 0, estimated: false },
    };
    const kinds: readonly Partial<UsageRecord>[] = [
      {},
      { style: 'messages' },
      { style: 'chatm', model: '' },
      { style: 'chat', model: 'mc', channel: '' },
      { channel: '', model: 'm', style: 'chatc' },
      { stream: true },
      { status: 206 },
      { outcome: 'recovered' },
      { route: 'GET /v1/responses/:id' },
      { included: true },
      { usage },
      { usage: { ...usage, estimated: true } },
      { other: { attempts: [attempt] } },
      { other: { attempts: [{ ...attempt, model: '' }] } },
    ];
    for (let round = 0; round < 3; round++) {
      const records = kinds.map((facts) => record(facts));
      await write(host, ...records);
      assert.deepEqual((await read(host)).slice(-kinds.length), records);
    }
    assert.equal(count(host, 'usage_label'), kinds.length);
  });
});

const PLAIN = { noNullPrototype: true } as const;

describe('a record', () => {
  const text = fc.oneof(
    fc.constantFrom('', 'c', 'm', 'null', '"', '\\', ',', '}', 'ü 😀'),
    fc.string({ maxLength: 6 }),
  );
  const tokens = fc.nat({ max: 5 });
  const notes = fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3, noNullPrototype: true });
  const attempts = fc.array(
    fc.record(
      {
        channel: text,
        model: text,
        status: fc.constantFrom(200, 502),
        failure: text,
        reason: text,
        ms: fc.option(tokens),
      },
      { ...PLAIN, requiredKeys: ['channel', 'model', 'ms'] },
    ),
    { maxLength: 2 },
  );
  const facts = fc.record(
    {
      atMs: fc.constantFrom(NOW_MS, NOW_MS - 1_000),
      style: text,
      model: text,
      channel: text,
      stream: fc.boolean(),
      outcome: fc.constantFrom('served', 'refused', 'failed', 'aborted', 'recovered'),
      status: fc.constantFrom(200, 502),
      usage: fc.record(
        {
          ...{ input: tokens, cacheRead: tokens, cacheWrite: tokens, cacheWriteLong: tokens, inputAudio: tokens },
          ...{ output: tokens, reasoning: tokens, outputAudio: tokens, estimated: fc.boolean() },
          ...{
            inputImage: tokens,
            outputImage: tokens,
            characters: tokens,
            seconds: fc.double({ min: 0, noNaN: true }),
          },
          images: fc.record({ count: tokens, size: fc.option(text), quality: fc.option(text) }, PLAIN),
          uses: fc.constant({ web_search: 2 }),
        },
        {
          ...PLAIN,
          requiredKeys: [
            ...(['input', 'cacheRead', 'cacheWrite', 'cacheWriteLong', 'inputAudio'] as const),
            ...(['output', 'reasoning', 'outputAudio', 'estimated'] as const),
          ],
        },
      ),
      charged: fc.bigInt(0n, 2n ** 50n),
      included: fc.constant(true as const),
      durationMs: tokens,
      firstByteMs: tokens,
      ip: text,
      repeats: fc.integer({ min: 1, max: 9 }),
      route: fc.constantFrom('GET /v1/a', 'GET /v1/b'),
    },
    { ...PLAIN, requiredKeys: [] },
  );

  it('of whatever kind is read as it was written, whether its label was known or not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(facts, notes, attempts), { minLength: 1, maxLength: 8 }), async (kinds) => {
        const host = await logHost();
        const records: UsageRecord[] = [];
        for (let round = 0; round < 3; round++) {
          for (const [its, noted, tried] of kinds) {
            const other = { ...noted, ...(tried.length > 0 && { attempts: tried }) } as UsageRecord['other'];
            records.push(record({ ...(its as Partial<UsageRecord>), other }));
          }
        }
        await write(host, ...records);
        const found = await read(host);
        // JSON knows no -0.
        assert.deepEqual(
          found,
          records.map((each) => ({ ...each, other: JSON.parse(JSON.stringify(each.other)) })),
        );
      }),
      { numRuns: 150 },
    );
  });

  it('has an id of 26 characters, or none is written', async () => {
    const host = await logHost();
    assert.throws(() => host.use(Records).steps(record({ id: '01' })), /26 characters, not 2: 01/);
  });

  it('of one millisecond comes behind those before it, whatever run of the gateway made it', async () => {
    const host = await logHost();
    const time = idAt(NOW_MS).slice(0, 10);
    const ids = ['000000', '000001', '00000v', '000010', '0000vv', '000100', 'vvvvvv'].flatMap((n) => [
      `${time}${n}aaaaaaaaaa`,
      `${time}${n}bbbbbbbbbb`,
    ]);
    await write(host, ...ids.map((id) => record({ id })));
    const { page } = host.use(Records);
    const found: string[] = [];
    for (let before: string | undefined, last = 0; last < ids.length; last++) {
      const { items, next } = await page({}, { limit: 1, before });
      found.unshift(...items.map(({ id }) => id));
      before = next;
    }
    assert.deepEqual(found, ids);
    for (const id of ids)
      assert.deepEqual(
        (await page({ id }, { limit: 2 })).items.map((line) => line.id),
        [id],
      );
    await assert.rejects(write(host, record({ id: ids[4]! })), /UNIQUE/);
  });

  it('and an event of one millisecond are each read once, page by page', async () => {
    const host = await logHost();
    const { eventSteps, page } = host.use(Records);
    for (let i = 0; i < 40; i++) {
      await host.store.atomic(eventSteps({ accountId: 1, kind: 'login', amount: 0n, text: '', ip: '' }));
      await write(host, record());
    }
    for (const limit of [1, 3]) {
      const found: string[] = [];
      let before: string | undefined;
      do {
        const { items, next } = await page({ accounts: [1] }, { limit, before });
        found.push(...items.map(({ id }) => id));
        before = next;
      } while (before !== undefined);
      assert.deepEqual([found.length, new Set(found).size], [80, 80]);
    }
  });
});

describe('labels and runs', () => {
  it('stay as long as a record refers to them, and are deleted when they have not been used since', async () => {
    const clock = fakeClock(NOW_MS);
    const host = await logHost({ clock, keep: '10d' });
    await host.start();
    const left = () => [count(host, 'usage_label'), count(host, 'usage_run'), count(host, 'usage_row')];
    await write(host, record({ model: 'old' }));
    clock.advance(8 * DAY_MS);
    const again = () =>
      record({ id: idAt(clock.now()).replace('testtestte', 'laterrunne'), atMs: clock.now(), model: 'new' });
    await write(host, again());
    for (let i = 0; i < 50; i++) await turn();
    assert.deepEqual(left(), [2, 2, 2]);
    clock.advance(4 * DAY_MS);
    await write(host, again());
    for (let i = 0; i < 50; i++) await turn();
    assert.deepEqual(left(), [1, 1, 2], 'one day of which nothing is left');
    assert.deepEqual(
      (await read(host)).map((each) => each?.model),
      ['new', 'new'],
    );
    clock.advance(30 * DAY_MS);
    for (let i = 0; i < 50; i++) await turn();
    assert.deepEqual(left(), [0, 0, 0]);
    await write(host, again(), again());
    assert.deepEqual(left(), [1, 1, 2]);
    await host.stop();
  });
});
