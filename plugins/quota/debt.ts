/**
 * Debts: money is taken back (a refund, a dispute) that has been spent already. A debt is stored with the account's bucket; nothing can be
 * charged to an account with a debt. Changes of a debt are entries of the kind `debt`. Amounts are micro-quota.
 */
import type { Step } from '../../core/plugin.ts';
import { INSERT_ENTRY, removable } from './buckets.ts';

/** Why an amount moves, when, and who moves it. */
export interface Cause {
  /** No amount moves twice for the same one. */
  readonly ref: string;
  readonly atMs: number;
  readonly actor: string;
}

const OF_ACCOUNT = `bucket.kind = 'account' AND bucket.owner = ? AND bucket.window_start = 0`;
const OWE = `UPDATE bucket SET debt = debt + ? WHERE ${OF_ACCOUNT}`;

/** The smaller of the debt and the available amount. */
const AVAILABLE = removable('bucket');
const PAYABLE = `CASE WHEN debt < ${AVAILABLE} THEN debt ELSE ${AVAILABLE} END`;
const CAN_PAY = `${OF_ACCOUNT} AND debt > 0 AND ${AVAILABLE} > 0`;
const ENTER_PAYMENT = `${INSERT_ENTRY}
  SELECT ?, 'adjust', side.kind, bucket.owner, 0, -(${PAYABLE}), ?, ?
  FROM bucket CROSS JOIN (SELECT 'account' AS kind UNION ALL SELECT 'debt') AS side WHERE ${CAN_PAY}`;
const PAY = `UPDATE bucket SET granted = granted - (${PAYABLE}), debt = debt - (${PAYABLE}) WHERE ${CAN_PAY}`;

/**
 * Pays an account's debt, as far as its balance allows. `ref` must have no adjustments yet. Put the steps behind one that changes the
 * account's bucket and so has locked it: both of these read its balance.
 */
export function payDebtSteps(accountId: number, { ref, atMs, actor }: Cause): readonly Step[] {
  return [
    { sql: ENTER_PAYMENT, params: [ref, atMs, actor, accountId] },
    { sql: PAY, params: [accountId] },
  ];
}

/** Adds `amount` to an account's debt, and pays at once what can be paid. `must`: `taken_back_before`. */
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
