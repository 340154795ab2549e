/**
 * Debts: money is taken back (a refund, a dispute) that has been spent already. What an account owes stands with its bucket; nothing can be
 * taken from an account that owes something. Its changes are entries of the kind `debt`. Amounts are micro-quota.
 */
import type { Step } from '../../core/plugin.ts';
import { INSERT_ENTRY, removable } from './buckets.ts';

/** Who moves an amount, why, and when. */
export interface Cause {
  /** Nothing moves twice for the same one. */
  readonly ref: string;
  readonly atMs: number;
  readonly actor: string;
}

const OF_ACCOUNT = `bucket.kind = 'account' AND bucket.owner = ? AND bucket.window_start = 0`;
const OWE = `UPDATE bucket SET debt = debt + ? WHERE ${OF_ACCOUNT}`;

/** The smaller of what is owed and what is there. */
const AVAILABLE = removable('bucket');
const PAYABLE = `CASE WHEN debt < ${AVAILABLE} THEN debt ELSE ${AVAILABLE} END`;
const CAN_PAY = `${OF_ACCOUNT} AND debt > 0 AND ${AVAILABLE} > 0`;
const ENTER_PAYMENT = `${INSERT_ENTRY}
  SELECT ?, 'adjust', side.kind, bucket.owner, 0, -(${PAYABLE}), ?, ?
  FROM bucket CROSS JOIN (SELECT 'account' AS kind UNION ALL SELECT 'debt') AS side WHERE ${CAN_PAY}`;
const PAY = `UPDATE bucket SET granted = granted - (${PAYABLE}), debt = debt - (${PAYABLE}) WHERE ${CAN_PAY}`;

/**
 * Pays what an account owes, as far as it has it. `ref` must have no adjustments yet. Behind a step that changes the account's bucket, and so
 * has locked it: both read what is there.
 */
export function payDebtSteps(accountId: number, { ref, atMs, actor }: Cause): readonly Step[] {
  return [
    { sql: ENTER_PAYMENT, params: [ref, atMs, actor, accountId] },
    { sql: PAY, params: [accountId] },
  ];
}

/** Lets an account owe `amount` more and pay at once what it can. `must`: `taken_back_before`. */
export function takeBackSteps(accountId: number, amount: bigint, { ref, atMs, actor }: Cause): readonly Step[] {
  const cause = { ref: `taken-back:${ref}`, atMs, actor };
  return [
    {
      sql: `${INSERT_ENTRY} VALUES (?, 'credit', 'debt', ?, 0, ?, ?, ?) ON CONFLICT DO NOTHING`,
      params: [cause.ref, accountId, amount, atMs, actor],
      must: 'taken_back_before',
    },
    { sql: OWE, params: [amount, accountId], must: 'no_account' },
    ...payDebtSteps(accountId, cause),
  ];
}
