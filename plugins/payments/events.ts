/** Processed provider notifications, stored so that each is processed once, in any order. */
import type { Clock, Step, Store } from '../../core/plugin.ts';

/** Providers do not repeat notifications after this time; an order cannot be settled twice anyway. */
const KEPT_MS = 90 * 86_400_000;

const INSERT = 'INSERT INTO payment_event (provider, event, at_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
const INSERT_UNSETTLED = `INSERT INTO payment_event (provider, event, at_ms) SELECT ?, ?, ?
    WHERE NOT EXISTS (SELECT 1 FROM top_up WHERE provider = ? AND payment_ref = ?)
  ON CONFLICT (provider, event) DO UPDATE SET at_ms = excluded.at_ms`;

export function createEvents(store: Store, clock: Clock) {
  const insert = (provider: string, event: string): Step => ({ sql: INSERT, params: [provider, event, clock.now()] });

  return {
    /** Rolls its list back (`seen`) if the notification was already processed. */
    once: (provider: string, event: string): Step => ({ ...insert(provider, event), must: 'seen' }),
    /** Marks a notification as processed that may still arrive. */
    supersede: insert,

    async isSeen(provider: string, event: string): Promise<boolean> {
      const sql = 'SELECT at_ms FROM payment_event WHERE provider = ? AND event = ?';
      return (await store.one(sql, provider, event)) !== undefined;
    },

    /**
     * The step for a list in which a payment settles an order. Rolls it back (`went_back`) if the payment was refunded before its order was
     * known.
     */
    settle: (provider: string, payment: string): Step => ({ ...insert(provider, eventOf(payment)), must: 'went_back' }),
    /** The opposite: a payment without an order was refunded. Rolls its list back (`moved`) if the payment has settled an order in the meantime. */
    goBack: (provider: string, payment: string): Step => ({
      sql: INSERT_UNSETTLED,
      params: [provider, eventOf(payment), clock.now(), provider, payment],
      must: 'moved',
    }),

    /** Deletes notifications that no provider will repeat. */
    forget: (): Promise<number> => store.run('DELETE FROM payment_event WHERE at_ms < ?', clock.now() - KEPT_MS),
  };
}

/** The table `payment_event`. */
export type Events = ReturnType<typeof createEvents>;

/** The event that the list of a payment and the list of its refund both insert: only the first one succeeds. */
function eventOf(payment: string): string {
  return `payment ${payment}`;
}
