/** The plugin `plans`: what accounts can subscribe to, and who has subscribed until when. The windows of a plan are limits in the ledger. */
import { Ledger } from '../../core/contracts/ledger.ts';
import { Subscriptions } from '../../core/contracts/subscriptions.ts';
import { definePlugin, type Invariant, type Migration } from '../../core/plugin.ts';
import { createChore } from '../../core/sdk.ts';
import { createSubscriptionCache, plansInUse } from './cache.ts';
import { errors } from './errors.ts';
import { plansSection, readPlans } from './section.ts';
import { createSubscriptions } from './subscriptions.ts';
import { WINDOW_KINDS } from './windows.ts';

/**
 * `subscription_grant` has a row for each grant of a plan, and `subscription` is what the grants add up to. A subscription's `changed_ms` grows
 * with every change: other gateways find by it what to read again.
 *
 * Until plans became a plugin, a migration of `quota` made the same tables. In such a database they are kept as they are: this migration
 * changes nothing there, and gateways of both versions can run side by side.
 */
const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'subscriptions and grants',
    sql: [
      `CREATE TABLE IF NOT EXISTS subscription (
        id INTEGER NOT NULL PRIMARY KEY,
        account_id INTEGER NOT NULL,
        plan TEXT NOT NULL,
        starts_ms INTEGER NOT NULL,
        expires_ms INTEGER NOT NULL CHECK (expires_ms > starts_ms),
        cancelled_ms INTEGER,
        changed_ms INTEGER NOT NULL
      ) STRICT`,
      'CREATE INDEX IF NOT EXISTS subscription_by_account ON subscription (account_id, id)',
      'CREATE INDEX IF NOT EXISTS subscription_by_change ON subscription (changed_ms)',
      `CREATE TABLE IF NOT EXISTS subscription_grant (
        ref TEXT NOT NULL PRIMARY KEY CHECK (ref <> ''),
        account_id INTEGER NOT NULL,
        subscription_id INTEGER,
        plan TEXT NOT NULL,
        length_ms INTEGER NOT NULL CHECK (length_ms > 0),
        at_ms INTEGER NOT NULL,
        actor TEXT NOT NULL
      ) STRICT, WITHOUT ROWID`,
    ],
  },
];

const GRANTED = `SELECT 'subscription ' || s.id || ': begins at ' || s.starts_ms || ' and lasts ' || (s.expires_ms - s.starts_ms)
      || ' ms, should be begun with a grant, and lasting ' || COALESCE(SUM(g.length_ms), 0) || ' ms' AS fault
    FROM subscription s LEFT JOIN subscription_grant g
      ON g.subscription_id = s.id AND g.account_id = s.account_id AND g.plan = s.plan
    GROUP BY s.id, s.starts_ms, s.expires_ms
    HAVING s.expires_ms - s.starts_ms <> COALESCE(SUM(g.length_ms), 0)
      OR COUNT(CASE WHEN g.at_ms = s.starts_ms THEN 1 END) = 0
    UNION ALL
    SELECT 'grant ' || ref || ': of no subscription, should be of one' FROM subscription_grant WHERE subscription_id IS NULL`;

const ONE_AT_A_TIME = `SELECT 'account ' || a.account_id || ': subscriptions ' || a.id || ' and ' || b.id
      || ', should be one behind the other' AS fault
    FROM subscription a JOIN subscription b ON b.account_id = a.account_id AND b.id > a.id
    WHERE a.cancelled_ms IS NULL AND b.starts_ms < a.expires_ms`;

/** The invariants of the tables and of the ledger's windows of subscriptions. */
function invariants(ledger: Ledger): readonly Invariant[] {
  return [
    query('subscriptions-are-what-was-granted', GRANTED),
    query('one-subscription-at-a-time', ONE_AT_A_TIME),
    {
      name: 'every-window-is-of-a-subscription',
      async check(read) {
        const rows = await read.all<{ readonly id: number }>('SELECT id FROM subscription');
        const ids = new Set(rows.map(({ id }) => id));
        const owners = await ledger.ownersOf(WINDOW_KINDS, read);
        return owners.filter((id) => !ids.has(id)).map((id) => `subscription ${id}: has a window, should exist`);
      },
    },
  ];
}

function query(name: string, sql: string): Invariant {
  return {
    name,
    async check(read) {
      const rows = await read.all<{ readonly fault: string }>(sql);
      return rows.map(({ fault }) => fault).sort();
    },
  };
}

/** How often changes of other gateways are read; they apply to calls within five seconds. */
const REFRESH_MS = 4_000;

export default definePlugin({
  name: 'plans',
  api: 2,
  errors,
  sections: { plans: plansSection },
  migrations,
  needs: [Ledger],
  provides: [Subscriptions],
  create(host, { plans: section }) {
    const { store, clock, log } = host;
    const ledger = host.use(Ledger);
    const plans = readPlans(section, ledger.perUnit, (...at) => host.problem(...at));
    const cache = host.lasting({
      name: 'plans.subscriptions',
      version: 1,
      make: () => createSubscriptionCache(host),
    });
    host.provide(Subscriptions, createSubscriptions({ store, clock, ledger, plans, cache }));
    const refreshing = createChore(host, {
      everyMs: REFRESH_MS,
      everywhere: true,
      work: cache.refresh,
      failure: 'subscriptions were not read',
    });
    return {
      invariants: invariants(ledger),
      async start() {
        cache.listen();
        await cache.refresh();
        const removed = (await plansInUse(store, clock.now())).filter((plan) => !plans.has(plan));
        if (removed.length > 0)
          log.warn('subscriptions have plans that are not in gateway.yaml: they limit nothing', { plans: removed });
        refreshing.start();
      },
      stop: refreshing.stop,
    };
  },
});
