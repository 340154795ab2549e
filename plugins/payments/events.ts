/** What providers have told, kept so that each of it is acted upon once, in whichever order it comes. */
import type { Clock, Step, Store } from '../../core/plugin.ts';

/** The table `payment_event`. */
export interface Events {
  /** Undoes its list (`seen`) where the same was acted upon before. */
  once(provider: string, event: string): Step;
  /** Marks something as acted upon that may yet come. */
  supersede(provider: string, event: string): Step;
  isSeen(provider: string, event: string): Promise<boolean>;
  /**
   * The step with which an order is settled by a payment. Undoes its list (`went_back`) where money of that payment went back when nobody
   * here had heard of it.
   */
  settle(provider: string, payment: string): Step;
  /** The other side: money went back of a payment that settles no order; undoes its list (`moved`) where it does by now. */
  goBack(provider: string, payment: string): Step;
  /** Forgets what no provider will repeat. */
  forget(): Promise<number>;
}

/** No provider repeats itself after so long; an order cannot be settled twice anyway. */
const KEPT_MS = 90 * 86_400_000;

const INSERT = 'INSERT INTO payment_event (provider, event, at_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
const INSERT_UNSETTLED = `INSERT INTO payment_event (provider, event, at_ms) SELECT ?, ?, ?
    WHERE NOT EXISTS (SELECT 1 FROM top_up WHERE provider = ? AND payment_ref = ?)
  ON CONFLICT (provider, event) DO UPDATE SET at_ms = excluded.at_ms`;

/** On the store. */
export function createEvents(store: Store, clock: Clock): Events {
  const insert = (provider: string, event: string): Step => ({ sql: INSERT, params: [provider, event, clock.now()] });

  return {
    once: (provider, event) => ({ ...insert(provider, event), must: 'seen' }),
    supersede: insert,

    async isSeen(provider, event) {
      const sql = 'SELECT at_ms FROM payment_event WHERE provider = ? AND event = ?';
      return (await store.one(sql, provider, event)) !== undefined;
    },

    settle: (provider, payment) => ({ ...insert(provider, eventOf(payment)), must: 'went_back' }),
    goBack: (provider, payment) => ({
      sql: INSERT_UNSETTLED,
      params: [provider, eventOf(payment), clock.now(), provider, payment],
      must: 'moved',
    }),

    forget: () => store.run('DELETE FROM payment_event WHERE at_ms < ?', clock.now() - KEPT_MS),
  };
}

/** What belongs to whoever tells of a payment first. */
function eventOf(payment: string): string {
  return `payment ${payment}`;
}
