/** The ledger of a release from before there were leases: carried over to the unit, its open holds recovered; refused where it does not add up. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { LARGEST_GRANT } from '../../../core/contracts/ledger.ts';
import type { OpenStore } from '../../../core/plugin.ts';
import { migrate } from '../../../core/store/migrations.ts';
import plans from '../../../plugins/plans/index.ts';
import quota from '../../../plugins/quota/index.ts';
import { ACCOUNT, callingNow, emptyStore, ended, SUBSCRIPTIONS_OF_QUOTA, worldOver } from './world.ts';

const DAY_MS = 86_400_000;
/** The day of the first calls. */
const DAY = Date.UTC(2025, 11, 30);
const DECEMBER = Date.UTC(2025, 11, 1);

const BEFORE_LEASES = { name: 'quota', migrations: quota.migrations!.slice(0, 3) };

/**
 * `[kind, owner, window, granted, used, held, unlimited]`. Account 1 has calls of two days, a refund, holds of two runs; 2 owes; 3 has paid
 * what it owed; 4 has no limit; 5 has all that can be granted.
 */
const BUCKETS: readonly (readonly [string, number, number, bigint, bigint, bigint, number])[] = [
  ['account', 1, 0, 1_000n, 45n, 100n, 0],
  ['account', 2, 0, 280n, 280n, 0n, 0],
  ['account', 3, 0, 0n, 0n, 0n, 0],
  ['account', 4, 0, 0n, 7n, 9n, 1],
  ['account', 5, 0, LARGEST_GRANT, LARGEST_GRANT - 1n, 0n, 0],
  ['day', 71, DAY, 100n, 10n, 50n, 0],
  ['debt', 2, 0, 80n, 0n, 0n, 0],
  ['debt', 3, 0, 0n, 0n, 0n, 0],
  ['department', 9, 0, 1_000n, 10n, 50n, 0],
  ['department-month', 9, DECEMBER, 500n, 10n, 0n, 0],
  ['key', 11, 0, 500n, 55n, 150n, 0],
  ['key', 12, 0, 0n, 280n, 0n, 1],
  ['key', 14, 0, 0n, 7n, 9n, 1],
  ['key', 15, 0, 0n, LARGEST_GRANT - 1n, 0n, 1],
];

/** What moved beside calls: `[ref, op, kind, owner, window, amount, at]`. It is there afterwards as it was. */
const ENTRIES: readonly (readonly [string, string, string, number, number, bigint, number])[] = [
  ['call-a', 'refund', 'account', 1, 0, 10n, DAY + 30],
  ['call-a', 'refund', 'key', 11, 0, 10n, DAY + 30],
  ['deducted:x', 'adjust', 'account', 1, 0, -200n, DAY + 2],
  ['open:account:1', 'credit', 'account', 1, 0, 700n, DAY],
  ['open:account:2', 'credit', 'account', 2, 0, 300n, DAY],
  ['open:account:3', 'credit', 'account', 3, 0, 50n, DAY],
  ['open:account:5', 'credit', 'account', 5, 0, LARGEST_GRANT, DAY],
  ['open:key:11', 'credit', 'key', 11, 0, 400n, DAY],
  ['order-1', 'credit', 'account', 1, 0, 500n, DAY + 1],
  ['set:11', 'adjust', 'key', 11, 0, 100n, DAY + 3],
  ['taken-back:order-2', 'adjust', 'account', 2, 0, -20n, DAY + 9],
  ['taken-back:order-2', 'adjust', 'debt', 2, 0, -20n, DAY + 9],
  ['taken-back:order-2', 'credit', 'debt', 2, 0, 100n, DAY + 9],
  ['taken-back:order-3', 'adjust', 'account', 3, 0, -50n, DAY + 9],
  ['taken-back:order-3', 'adjust', 'debt', 3, 0, -50n, DAY + 9],
  ['taken-back:order-3', 'credit', 'debt', 3, 0, 50n, DAY + 9],
];

/** What calls were charged: `[ref, amount, at, layers]`. The third has another actor, and the last a subscription. */
const CALLS: readonly (readonly [string, bigint, number, readonly (readonly [string, number, number])[]])[] = [
  ['call-a', 30n, DAY + 5, usual(1, 11)],
  ['call-b', 20n, DAY + DAY_MS - 1, usual(1, 11)],
  ['call-c', 5n, DAY + DAY_MS, usual(1, 11)],
  ['call-d', 280n, DAY + 8, usual(2, 12)],
  ['call-e', 7n, DAY + 3 * DAY_MS, usual(4, 14)],
  ['call-f', LARGEST_GRANT - 1n, DAY, usual(5, 15)],
  [
    'call-g',
    10n,
    DAY + 6,
    [
      ['key', 11, 0],
      ['day', 71, DAY],
      ['department', 9, 0],
      ['department-month', 9, DECEMBER],
    ],
  ],
];
function usual(account: number, key: number): readonly (readonly [string, number, number])[] {
  return [
    ['account', account, 0],
    ['key', key, 0],
  ];
}

/** What runs: `[id, run, account, key, amount, delivered, pays the account, further layers]`. */
const HOLDS: readonly (readonly [
  string,
  string,
  number,
  number,
  bigint,
  bigint,
  boolean,
  readonly (readonly [string, number, number])[],
])[] = [
  ['held-1', 'run-1', 1, 11, 40n, 15n, true, []],
  ['held-2', 'run-2', 1, 11, 60n, 0n, true, []],
  ['held-3', 'run-2', 4, 14, 9n, 9n, true, []],
  [
    'held-4',
    'run-2',
    1,
    11,
    50n,
    25n,
    false,
    [
      ['day', 71, DAY],
      ['department', 9, 0],
    ],
  ],
];

const stores: OpenStore[] = [];
after(async () => {
  for (const store of stores) await store.close();
});

/** A store as the release before left it. */
async function before(): Promise<{ file: string; store: OpenStore }> {
  const { file, store } = await emptyStore();
  await store.run(
    'CREATE TABLE migration (owner TEXT, id INTEGER, title TEXT, applied_ms INTEGER, PRIMARY KEY (owner, id)) STRICT',
  );
  await migrate(store, [BEFORE_LEASES]);
  for (const sql of SUBSCRIPTIONS_OF_QUOTA) await store.run(sql);
  const entry = (params: readonly (string | number | bigint)[]) => ({
    sql: 'INSERT INTO entry (ref, op, kind, owner, window_start, amount, at_ms, actor) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    params,
  });
  await store.atomic([
    ...BUCKETS.map((params) => ({
      sql: 'INSERT INTO bucket (kind, owner, window_start, granted, used, held, unlimited) VALUES (?, ?, ?, ?, ?, ?, ?)',
      params,
    })),
    ...ENTRIES.map((params) => entry([...params, 'a person'])),
    ...CALLS.flatMap(([ref, amount, at, layers]) =>
      layers.map((layer) => entry([ref, 'debit', ...layer, amount, at, ref === 'call-c' ? 'recovery' : 'call'])),
    ),
    ...HOLDS.flatMap(([id, boot, account, key, amount, delivered, paid, layers]) => [
      {
        sql: `INSERT INTO hold (id, boot, account_id, key_id, amount, delivered, style, model, stream, ip, created_ms, from_account)
          VALUES (?, ?, ?, ?, ?, ?, 'chat', 'metered', 1, '192.0.2.7', ?, ?)`,
        params: [id, boot, account, key, amount, delivered, DAY + 7, paid ? 1 : 0],
      },
      ...layers.map((layer) => ({
        sql: 'INSERT INTO hold_layer (hold_id, kind, owner, window_start) VALUES (?, ?, ?, ?)',
        params: [id, ...layer],
      })),
    ]),
    {
      sql: `INSERT INTO subscription (id, account_id, plan, starts_ms, expires_ms, changed_ms) VALUES (71, 1, 'card', ?, ?, 0)`,
      params: [DAY, DAY + DAY_MS],
    },
    {
      sql: `INSERT INTO subscription_grant (ref, account_id, subscription_id, plan, length_ms, at_ms, actor)
        VALUES ('grant', 1, 71, 'card', ?, ?, 'a person')`,
      params: [DAY_MS, DAY],
    },
  ]);
  return { file, store };
}

/** The rows of a table as lines; every column as text, since amounts may be beyond what a number can say. */
async function lines(store: OpenStore, table: string, ...columns: readonly string[]): Promise<readonly string[]> {
  const rows = await store.all<{ line: string }>(
    `SELECT ${columns.map((column) => `COALESCE(${column}, '')`).join(` || ' ' || `)} AS line FROM ${table} ORDER BY ${columns.join(', ')}`,
  );
  return rows.map(({ line }) => line);
}
const sorted = (all: readonly (readonly unknown[])[]): readonly string[] => all.map((each) => each.join(' ')).sort();
const ofBuckets = ['kind', 'owner', 'window_start', 'granted', 'used', 'held', 'unlimited'];

describe('a ledger from before there were leases', () => {
  it('is carried over to the unit: buckets, debts, leases, running calls, debits by the day, and what moved beside calls', async () => {
    const { store } = await before();
    stores.push(store);
    await migrate(store, [quota, plans]);
    const debts = new Map([
      ['account 2', 80],
      ['account 3', 0],
    ]);
    assert.deepEqual(
      (await lines(store, 'bucket', ...ofBuckets, 'debt')).toSorted(),
      sorted(
        BUCKETS.filter(([kind]) => kind !== 'debt').map((bucket) => [
          ...bucket,
          debts.get(`${bucket[0]} ${bucket[1]}`) ?? 0,
        ]),
      ),
    );
    assert.deepEqual(await lines(store, 'lease', 'epoch', 'kind', 'owner', 'window_start', 'amount'), [
      'run-1 account 1 0 40',
      'run-1 key 11 0 40',
      'run-2 account 1 0 60',
      'run-2 account 4 0 9',
      `run-2 day 71 ${DAY} 50`,
      'run-2 department 9 0 50',
      'run-2 key 11 0 110',
      'run-2 key 14 0 9',
    ]);
    assert.deepEqual(
      await lines(
        store,
        'running',
        'id',
        'epoch',
        'account_id',
        'key_id',
        'amount',
        'delivered',
        'from_account',
        'model',
      ),
      HOLDS.map(([id, run, account, key, amount, delivered, paid]) =>
        [id, run, account, key, amount, delivered, paid ? 1 : 0, 'metered'].join(' '),
      ),
    );
    assert.deepEqual(await lines(store, 'running_layer', 'id', 'kind', 'owner', 'window_start'), [
      `held-4 day 71 ${DAY}`,
      'held-4 department 9 0',
    ]);
    const [first, second, fourth] = [DAY, DAY + DAY_MS, DAY + 3 * DAY_MS];
    assert.deepEqual(await lines(store, 'debit', 'kind', 'owner', 'window_start', 'day_ms', 'amount'), [
      `account 1 0 ${first} 50`,
      `account 1 0 ${second} 5`,
      `account 2 0 ${first} 280`,
      `account 4 0 ${fourth} 7`,
      `account 5 0 ${first} ${LARGEST_GRANT - 1n}`,
      `day 71 ${DAY} ${first} 10`,
      `department 9 0 ${first} 10`,
      `department-month 9 ${DECEMBER} ${first} 10`,
      `key 11 0 ${first} 60`,
      `key 11 0 ${second} 5`,
      `key 12 0 ${first} 280`,
      `key 14 0 ${fourth} 7`,
      `key 15 0 ${first} ${LARGEST_GRANT - 1n}`,
    ]);
    assert.deepEqual(
      (
        await lines(store, 'entry', 'ref', 'op', 'kind', 'owner', 'window_start', 'amount', 'at_ms', 'actor')
      ).toSorted(),
      sorted(ENTRIES.map((entry) => [...entry, 'a person'])),
    );
    for (const change of [
      "UPDATE entry SET amount = 1 WHERE ref = 'order-1'",
      "DELETE FROM entry WHERE ref = 'order-1'",
    ]) {
      await assert.rejects(store.run(change), /append-only/);
    }
    const again = "INSERT INTO entry VALUES ('order-1', 'credit', 'account', 2, 0, 1, 0, 'a person')";
    await assert.rejects(store.run(again), /UNIQUE/, 'a payment is still credited once');
  });

  it('has nothing wrong before its holds are recovered; the next run charges what they had delivered, and frees the rest', async () => {
    const { file, store } = await before();
    await migrate(store, [quota, plans]);
    const world = worldOver(store, file);
    assert.deepEqual(await world.faults(await world.create('run-3')), {});
    const run = await world.run('run-3');
    assert.deepEqual(await world.faults(run), {});
    assert.deepEqual(
      world.records.map(({ id, outcome, charged, included, accountId, keyId }) => [
        id,
        outcome,
        charged,
        included,
        accountId,
        keyId,
      ]),
      [
        ['held-1', 'recovered', 15n, undefined, 1, 11],
        ['held-2', 'recovered', 0n, undefined, 1, 11],
        ['held-3', 'recovered', 9n, undefined, 4, 14],
        ['held-4', 'recovered', 25n, true, 1, 11],
      ],
    );
    const charged = new Map([
      ['account 1', 15n],
      ['account 4', 9n],
      ['day 71', 25n],
      ['department 9', 25n],
      ['key 11', 40n],
      ['key 14', 9n],
    ]);
    assert.deepEqual(
      (await lines(store, 'bucket', ...ofBuckets)).toSorted(),
      sorted(
        BUCKETS.filter(([kind]) => kind !== 'debt').map(([kind, owner, window, granted, used, , unlimited]) => {
          const more = kind === 'department-month' ? 0n : (charged.get(`${kind} ${owner}`) ?? 0n);
          return [kind, owner, window, granted, used + more, 0n, unlimited];
        }),
      ),
    );
    for (const table of ['lease', 'running', 'running_layer'])
      assert.deepEqual(await store.all(`SELECT * FROM ${table}`), []);
    const receipt = run.ledger
      .debitsOf(world.records[3]!)
      .map(({ kind, owner, windowStart }) => [kind, owner, windowStart]);
    assert.deepEqual(receipt, [
      ['day', 71, DAY],
      ['department', 9, undefined],
      ['key', 11, undefined],
    ]);
  });

  it('goes on where it stood: what is left can be spent, what is owed is owed, and paid by the next credit', async () => {
    const { file, store } = await before();
    await migrate(store, [quota, plans]);
    const world = worldOver(store, file);
    const run = await world.run('run-3');
    const x = callingNow(world, 'metered', 310);
    await run.admit(x);
    assert.equal(await run.settle(ended(x, 'served', 300)), undefined);
    assert.deepEqual(await world.balance(ACCOUNT), { granted: 1_000n, used: 360n, held: 0n, unlimited: false });
    assert.equal(await run.ledger.debt(2), 80n);
    await run.ledger.credit({ kind: 'account', owner: 2 }, 100n, 'order-9', 'a person');
    assert.equal(await run.ledger.debt(2), 0n);
    assert.deepEqual(await world.balance({ kind: 'account', owner: 2 }), {
      ...{ granted: 300n, used: 280n, held: 0n, unlimited: false },
    });
    assert.deepEqual(await world.faults(run), {});
    await run.parts.stop?.();
  });
});

describe('a ledger from before there were leases that does not add up', () => {
  const damages: readonly (readonly [what: string, sql: string])[] = [
    ['less is used than was debited', "UPDATE bucket SET used = used - 1 WHERE kind = 'account' AND owner = 1"],
    ['more is held than calls hold', "UPDATE bucket SET held = held + 1 WHERE kind = 'key' AND owner = 11"],
    ['a hold was deleted', "DELETE FROM hold WHERE id = 'held-2'"],
    ['a layer of a hold was deleted', "DELETE FROM hold_layer WHERE kind = 'department'"],
    [
      'more is granted than was credited',
      "UPDATE bucket SET granted = granted + 1 WHERE kind = 'account' AND owner = 2",
    ],
    ['less is owed than was taken back', "UPDATE bucket SET granted = 79 WHERE kind = 'debt' AND owner = 2"],
    [
      'a call was debited twice',
      "INSERT INTO entry SELECT ref || '!', op, kind, owner, window_start, amount, at_ms, actor FROM entry WHERE ref = 'call-e'",
    ],
    ['a payment has no bucket', "INSERT INTO entry VALUES ('order-9', 'credit', 'account', 404, 0, 1, 0, 'a person')"],
    ['a debt has no account', "INSERT INTO bucket (kind, owner) VALUES ('debt', 404)"],
  ];
  for (const [what, sql] of damages) {
    it(`is refused, and left as it is, where ${what}`, async () => {
      const { store } = await before();
      stores.push(store);
      assert.ok((await store.run(sql)) > 0);
      const all = async (): Promise<unknown> => {
        const schema = await store.all<{ name: string; type: string; sql: string }>(
          'SELECT type, name, sql FROM sqlite_schema ORDER BY type, name',
        );
        const tables = schema.filter(({ type }) => type === 'table').map(({ name }) => name);
        const rows: unknown[] = [];
        for (const table of tables) {
          const columns = await store.all<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`);
          rows.push(table, await lines(store, table, ...columns.map(({ name }) => name)));
        }
        return [schema, rows];
      };
      const there = await all();
      await assert.rejects(
        migrate(store, [quota]),
        /migration 4 of "quota" .* failed: .*the ledger does not reconcile/,
      );
      assert.deepEqual(await all(), there);
    });
  }
});
