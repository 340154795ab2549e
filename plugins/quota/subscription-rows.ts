/** Subscriptions as they stand in the store. */
import type { Subscription } from '../../core/contracts/subscriptions.ts';
import type { Store } from '../../core/plugin.ts';

/** A subscription without what the clock says of it. */
export type SubscriptionRow = Omit<Subscription, 'state'>;

/** The same, whatever became of it. */
export interface StoredSubscription extends SubscriptionRow {
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
export function readChanged(store: Store, sinceMs: number): Promise<readonly StoredSubscription[]> {
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
