/** The tables of subscriptions in a database of before plans were a plugin: kept with their rows, for versions of both kinds. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { OpenStore } from '../../../core/plugin.ts';
import {
  CORE_TABLES,
  canWorkBeside,
  knownMigrations,
  migrate,
  pendingMigrations,
  riskyMigrations,
} from '../../../core/store/migrations.ts';
import plans from '../../../plugins/plans/index.ts';
import quota from '../../../plugins/quota/index.ts';
import {
  ACCOUNT,
  callingNow,
  ended,
  openStoreWith,
  refusedWith,
  SUBSCRIPTIONS_OF_QUOTA,
  type World,
  worldOver,
} from '../quota/world.ts';

const DAY_MS = 86_400_000;
const NEW_YEAR_MS = Date.UTC(2026, 0, 1);
const BEFORE = [CORE_TABLES, quota];
const NOW = [CORE_TABLES, quota, plans];

const worlds: World[] = [];
after(async () => {
  for (const world of worlds) await world.close();
});

/** A store as the release before left it: account 1 subscribes to a plan of one quota a day, and has cancelled another one. */
async function earlier(): Promise<{ readonly file: string; readonly store: OpenStore }> {
  const opened = await openStoreWith(BEFORE);
  const { store } = opened;
  for (const sql of SUBSCRIPTIONS_OF_QUOTA) await store.run(sql);
  const subscription =
    'INSERT INTO subscription (id, account_id, plan, starts_ms, expires_ms, cancelled_ms, changed_ms)';
  const grant = 'INSERT INTO subscription_grant (ref, account_id, subscription_id, plan, length_ms, at_ms, actor)';
  const [began, half] = [NEW_YEAR_MS - 2 * DAY_MS, NEW_YEAR_MS - DAY_MS];
  await store.atomic([
    { sql: `${subscription} VALUES (1, 1, 'old', ?, ?, ?, ?)`, params: [began, began + DAY_MS, half, half] },
    { sql: `${subscription} VALUES (2, 1, 'small', ?, ?, NULL, ?)`, params: [half, half + 30 * DAY_MS, half] },
    { sql: `${grant} VALUES ('order-1', 1, 1, 'old', ?, ?, 'stripe')`, params: [DAY_MS, began] },
    { sql: `${grant} VALUES ('order-2', 1, 2, 'small', ?, ?, 'stripe')`, params: [30 * DAY_MS, half] },
    { sql: "INSERT INTO bucket (kind, owner, granted, unlimited) VALUES ('account', 1, 0, 1), ('key', 11, 0, 1)" },
  ]);
  return opened;
}

const rowsOf = async (store: OpenStore): Promise<unknown> => [
  await store.all(
    'SELECT id, account_id, plan, starts_ms, expires_ms, cancelled_ms, changed_ms FROM subscription ORDER BY id',
  ),
  await store.all(
    'SELECT ref, account_id, subscription_id, plan, length_ms, at_ms, actor FROM subscription_grant ORDER BY ref',
  ),
];

describe('subscriptions of a database from before plans were a plugin', () => {
  it('are there after the upgrade, row by row, and limit calls as before', async () => {
    const { file, store } = await earlier();
    const before = await rowsOf(store);
    await migrate(store, NOW);
    assert.deepEqual(await rowsOf(store), before);
    const world = worldOver(store, file);
    worlds.push(world);
    const run = await world.run('boot-1', { plans: { small: { daily: 0.000002 } } });
    assert.deepEqual(await run.subscriptions.of(ACCOUNT.owner), {
      ...{ id: 2, accountId: 1, plan: 'small', state: 'active' },
      ...{ startsMs: NEW_YEAR_MS - DAY_MS, expiresMs: NEW_YEAR_MS + 29 * DAY_MS },
    });
    const x = callingNow(world, 'flat', 1);
    await run.admit(x);
    assert.equal(await run.settle(ended(x, 'served', 1)), undefined);
    await assert.rejects(run.admit(callingNow(world, 'flat', 1)), refusedWith('QUOTA_MONTHLY_DAILY_EXCEEDED'));
    assert.equal(await run.subscriptions.cancel(ACCOUNT.owner), true);
    assert.deepEqual(await world.faults(run), {});
  });

  it('are upgraded while a gateway of the version before runs, which can go on, and start again', async () => {
    const { store } = await earlier();
    const pending = await pendingMigrations(store, NOW);
    assert.deepEqual(
      pending.map(({ owner }) => owner),
      ['plans'],
    );
    assert.deepEqual(riskyMigrations(pending), []);
    assert.equal(canWorkBeside(knownMigrations(BEFORE), pending), true);
    await migrate(store, NOW);
    assert.deepEqual(await pendingMigrations(store, BEFORE), []);
    await store.close();
  });

  it('are not needed: a new database gets the tables from the plugin, and without it has none', async () => {
    const { store } = await openStoreWith(BEFORE);
    await assert.rejects(rowsOf(store), /subscription/);
    await migrate(store, NOW);
    assert.deepEqual(await rowsOf(store), [[], []]);
    await store.close();
  });

  it('limit nothing where the plugin is not in the pipeline', async () => {
    const { file, store } = await earlier();
    const world = worldOver(store, file);
    worlds.push(world);
    const run = await world.run('boot-1', { plans: false });
    const x = callingNow(world, 'flat', 1);
    await run.admit(x);
    assert.equal(await run.settle(ended(x, 'served', 1)), undefined);
    assert.equal((await world.balance(ACCOUNT)).used, 1_000_000n);
  });
});
