/** Subscriptions as they are in the store, and in memory, where each call looks up which one applies to its account. */
import type { Subscription } from '../../core/contracts/subscriptions.ts';
import type { Host, Store } from '../../core/plugin.ts';

/** A subscription without what the clock says of it. */
export type SubscriptionRow = Omit<Subscription, 'state'>;

/** The same, whatever became of it. */
interface StoredSubscription extends SubscriptionRow {
  readonly cancelledMs: number | null;
  /** Grows with every change. */
  readonly changedMs: number;
}

const ROWS = `SELECT id, account_id AS "accountId", plan, starts_ms AS "startsMs", expires_ms AS "expiresMs",
  cancelled_ms AS "cancelledMs", changed_ms AS "changedMs" FROM subscription`;

/** An account's last one; undefined where it never had any. */
export function readLast(store: Store, accountId: number): Promise<StoredSubscription | undefined> {
  return store.one<StoredSubscription>(`${ROWS} WHERE account_id = ? ORDER BY id DESC LIMIT 1`, accountId);
}

/** What has changed since a moment, in order: of one account the last comes last. */
function readChanged(store: Store, sinceMs: number): Promise<readonly StoredSubscription[]> {
  return store.all<StoredSubscription>(`${ROWS} WHERE changed_ms >= ? ORDER BY id`, sinceMs);
}

/** The last one alone counts, running or expired; cancelled, it does not, nor does any before it. */
export function counting(last: StoredSubscription | undefined): SubscriptionRow | undefined {
  return last === undefined || last.cancelledMs !== null ? undefined : last;
}

/** The plans of subscriptions that run at a moment. */
export async function plansInUse(store: Store, atMs: number): Promise<readonly string[]> {
  const rows = await store.all<{ plan: string }>(
    'SELECT DISTINCT plan FROM subscription WHERE cancelled_ms IS NULL AND expires_ms > ? ORDER BY plan',
    atMs,
  );
  return rows.map(({ plan }) => plan);
}

/** What calls know of subscriptions. */
export interface SubscriptionMemory {
  /** The one that counts, running or expired; undefined where there is none, or it was cancelled. */
  find(accountId: number): SubscriptionRow | undefined | Promise<SubscriptionRow | undefined>;
  /** Its subscription has changed: the next `find` of this account asks the store, here and in the other processes. */
  forget(accountId: number): void;
  /** Takes in what has changed since it was asked last, or all there is. */
  refresh(): Promise<void>;
  /** Hears from other processes what has changed. */
  listen(): void;
}

/** What processes tell each other: the account whose subscription has changed. */
const CHANGED = 'quota.subscription';

/** How far clocks of gateways may differ, and how long a commit may take: changes are asked for as far back. */
const OVERLAP_MS = 60_000;

/** Makes it, knowing nothing yet. */
export function createSubscriptionMemory({
  store,
  clock,
  peers,
}: Pick<Host, 'store' | 'clock' | 'peers'>): SubscriptionMemory {
  /** The last one of each account that ever had one; a promise where it is being asked for, `unknown` where that failed. */
  const last = new Map<number, StoredSubscription | 'unknown' | Promise<SubscriptionRow | undefined>>();
  /** When it was asked last; undefined: never. */
  let askedMs: number | undefined;

  function ask(accountId: number): Promise<SubscriptionRow | undefined> {
    const answer = readLast(store, accountId).then(
      (row) => {
        if (last.get(accountId) === answer) {
          if (row === undefined) last.delete(accountId);
          else last.set(accountId, row);
        }
        return counting(row);
      },
      (error: unknown) => {
        if (last.get(accountId) === answer) last.set(accountId, 'unknown');
        throw error;
      },
    );
    last.set(accountId, answer);
    // Nobody may be waiting for it.
    answer.catch(() => {});
    return answer;
  }

  return {
    find(accountId) {
      const known = last.get(accountId);
      if (known === undefined) return undefined;
      if (known === 'unknown') return ask(accountId);
      return known instanceof Promise ? known : counting(known);
    },

    forget(accountId) {
      ask(accountId);
      peers.tell(CHANGED, accountId);
    },

    listen() {
      peers.on(CHANGED, (accountId) => void ask(accountId as number));
    },

    async refresh() {
      const nowMs = clock.now();
      const rows = await readChanged(store, askedMs === undefined ? 0 : askedMs - OVERLAP_MS);
      askedMs = nowMs;
      for (const row of rows) {
        const known = last.get(row.accountId);
        // Who asks about this account alone gets a younger answer than this one.
        if (known === 'unknown' || known instanceof Promise) continue;
        if (known === undefined || isYounger(row, known)) last.set(row.accountId, row);
      }
    },
  };
}

function isYounger(row: StoredSubscription, known: StoredSubscription): boolean {
  return row.id > known.id || (row.id === known.id && row.changedMs > known.changedMs);
}
