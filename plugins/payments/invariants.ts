/** Invariants between the state of an order and its amounts, at every commit. */
import type { Invariant } from '../../core/plugin.ts';

const PAID = `('success', 'parked', 'refunded', 'disputed')`;

export const invariants: readonly Invariant[] = [
  invariant(
    'orders-that-are-paid-say-when',
    `SELECT trade_no, state AS says, 'a payment time exactly if it is paid' AS should FROM top_up
      WHERE (completed_ms IS NOT NULL) <> (state IN ${PAID})`,
  ),
  invariant(
    'orders-give-what-was-bought-once-it-is-paid',
    `SELECT trade_no, state || ', given ' || credited || ' of ' || quota AS says, 'everything or nothing' AS should FROM top_up
      WHERE (state = 'success' AND kind = 'quota' AND credited <> quota)
        OR (credited <> 0 AND state IN ('pending', 'failed', 'expired', 'parked'))`,
  ),
  // Division rounds down, as in the settlement; in floating point, because the product of two amounts may exceed an integer.
  invariant(
    'orders-took-back-the-share-that-was-returned',
    `SELECT trade_no, 'taken ' || taken AS says, 'the returned share of ' || credited AS should FROM top_up
      WHERE ABS(taken - 1.0 * credited * CASE WHEN refunded + disputed < money THEN refunded + disputed ELSE money END / money)
        > 1 + credited / 1000000000000.0`,
  ),
  invariant(
    'orders-that-went-back-say-so',
    `SELECT trade_no, state AS says, 'disputed, or refunded' AS should FROM top_up
      WHERE (state = 'disputed') <> (disputed > 0) OR (state = 'refunded') <> (disputed = 0 AND refunded = money)`,
  ),
  invariant(
    'orders-hold-what-disputes-hold',
    `SELECT trade_no, 'disputed ' || disputed AS says, 'the sum of its disputes, at most what was paid' AS should
      FROM top_up LEFT JOIN (SELECT order_id, SUM(amount) AS held FROM payment_dispute GROUP BY order_id) AS held_back
        ON order_id = id
      WHERE disputed <> CASE WHEN COALESCE(held, 0) < money THEN COALESCE(held, 0) ELSE money END`,
  ),
  invariant(
    'codes-are-used-by-somebody-at-some-time',
    `SELECT CAST(id AS TEXT) AS trade_no, 'used by ' || COALESCE(CAST(used_by AS TEXT), 'nobody') AS says,
        'a time exactly if it is used' AS should
      FROM redemption_code WHERE (used_by IS NULL) <> (used_ms IS NULL)`,
  ),
];

function invariant(name: string, sql: string): Invariant {
  return {
    name,
    async check(read) {
      const broken = await read.all<{ trade_no: string; says: string; should: string }>(sql);
      return broken.map(({ trade_no, says, should }) => `${trade_no}: ${says}, should be ${should}`);
    },
  };
}
