/** Subscriptions as they are in the store, and a cache of them, in which each call finds the one of its account. */
import type { Subscription } from '../../core/contracts/subscriptions.ts';
import type { Awaitable, Host, Store } from '../../core/plugin.ts';

/** A subscription without its state, which depends on the time. */
export type SubscriptionRow = Omit<Subscription, 'state'>;

interface StoredSubscription extends SubscriptionRow {
  readonly cancelledMs: number | null;
  /** Grows with every change. */
  readonly changedMs: number;
}

const ROWS = `SELECT id, account_id AS "accountId", plan, starts_ms AS "startsMs", expires_ms AS "expiresMs",
  cancelled_ms AS "cancelledMs", changed_ms AS "changedMs" FROM subscription`;

/** An account's latest subscription, cancelled or not; undefined if it never had one. */
export function readLatest(store: Store, accountId: number): Promise<StoredSubscription | undefined> {
  return store.one<StoredSubscription>(`${ROWS} WHERE account_id = ? ORDER BY id DESC LIMIT 1`, accountId);
}

/** Changed subscriptions since a moment, by id: the latest subscription of an account comes last. */
function readChanged(store: Store, sinceMs: number): Promise<readonly StoredSubscription[]> {
  return store.all<StoredSubscription>(`${ROWS} WHERE changed_ms >= ? ORDER BY id`, sinceMs);
}

/** The latest subscription applies, active or expired, unless it was cancelled; earlier ones never do. */
export function applicable(latest: StoredSubscription | undefined): SubscriptionRow | undefined {
  return latest === undefined || latest.cancelledMs !== null ? undefined : latest;
}

/** The plans of subscriptions that are active at a moment. */
export async function plansInUse(store: Store, atMs: number): Promise<readonly string[]> {
  const rows = await store.all<{ plan: string }>(
    'SELECT DISTINCT plan FROM subscription WHERE cancelled_ms IS NULL AND expires_ms > ? ORDER BY plan',
    atMs,
  );
  return rows.map(({ plan }) => plan);
}

/** The message between processes: the account whose subscription was changed. */
const CHANGED = 'plans.changed';

/** How far the clocks of gateways may differ, and how long a commit may take: `refresh` reads changes from this long before the last one. */
const OVERLAP_MS = 60_000;

/** Makes an empty cache. */
export function createSubscriptionCache({ store, clock, peers }: Pick<Host, 'store' | 'clock' | 'peers'>) {
  /** The latest subscription of each account that ever had one; a promise while it is being read, `unread` if that failed. */
  const latest = new Map<number, StoredSubscription | 'unread' | Promise<SubscriptionRow | undefined>>();
  let refreshedMs: number | undefined;

  function read(accountId: number): Promise<SubscriptionRow | undefined> {
    const reading = readLatest(store, accountId).then(
      (row) => {
        if (latest.get(accountId) === reading) {
          if (row === undefined) latest.delete(accountId);
          else latest.set(accountId, row);
        }
        return applicable(row);
      },
      (error: unknown) => {
        if (latest.get(accountId) === reading) latest.set(accountId, 'unread');
        throw error;
      },
    );
    latest.set(accountId, reading);
    // A rejection without a call that waits for it must not end the process.
    reading.catch(() => {});
    return reading;
  }

  return {
    /** The subscription that applies to an account, active or expired. A promise while it is being read; rejects if the store cannot be read. */
    find(accountId: number): Awaitable<SubscriptionRow | undefined> {
      const cached = latest.get(accountId);
      if (cached === undefined) return undefined;
      if (cached === 'unread') return read(accountId);
      return cached instanceof Promise ? cached : applicable(cached);
    },

    /** Reads an account's subscription again, here and in the other processes, because it was changed. */
    invalidate(accountId: number): void {
      read(accountId);
      peers.tell(CHANGED, accountId);
    },

    /** Receives changes from the other processes. */
    listen(): void {
      peers.on(CHANGED, (accountId) => void read(accountId as number));
    },

    /** Reads what was changed since the last `refresh`; the first time, everything. */
    async refresh(): Promise<void> {
      const nowMs = clock.now();
      const rows = await readChanged(store, refreshedMs === undefined ? 0 : refreshedMs - OVERLAP_MS);
      refreshedMs = nowMs;
      for (const row of rows) {
        const cached = latest.get(row.accountId);
        // The account's own read began later than this one, and its result is newer.
        if (cached === 'unread' || cached instanceof Promise) continue;
        if (cached === undefined || isNewer(row, cached)) latest.set(row.accountId, row);
      }
    },
  };
}

/** The cache. */
export type SubscriptionCache = ReturnType<typeof createSubscriptionCache>;

function isNewer(row: StoredSubscription, cached: StoredSubscription): boolean {
  return row.id > cached.id || (row.id === cached.id && row.changedMs > cached.changedMs);
}
