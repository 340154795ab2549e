/**
 * Debts: money is taken back (a refund, a dispute) that has been spent already, or a balance is set to less than running calls hold. A debt is
 * stored with its bucket; nothing can be charged to a bucket with a debt. Changes of a debt are entries of the kind `debt`, those of a key
 * `key-debt`. Amounts are micro-quota.
 */
import type { BalanceLayer } from '../../core/contracts/ledger.ts';
import type { Step } from '../../core/plugin.ts';
import { bucketParams, INSERT_ENTRY, removable, THIS_BUCKET } from './buckets.ts';

/** Why an amount moves, when, and who moves it. */
export interface Cause {
  /** No amount moves twice for the same one. */
  readonly ref: string;
  readonly atMs: number;
  readonly actor: string;
}

/** The kind of the entries that change the debt of a bucket. */
export const DEBT_OF = `CASE bucket.kind WHEN 'account' THEN 'debt' ELSE 'key-debt' END`;

const OWE = `UPDATE bucket SET debt = debt + ? WHERE ${THIS_BUCKET}`;

/** The smaller of the debt and the available amount. */
const AVAILABLE = removable('bucket');
const PAYABLE = `CASE WHEN debt < ${AVAILABLE} THEN debt ELSE ${AVAILABLE} END`;
const CAN_PAY = `${THIS_BUCKET} AND debt > 0 AND ${AVAILABLE} > 0`;
const ENTER_PAYMENT = `${INSERT_ENTRY}
  SELECT ?, 'adjust', CASE of_debt WHEN 1 THEN ${DEBT_OF} ELSE bucket.kind END, bucket.owner, 0, -(${PAYABLE}), ?, ?
  FROM bucket CROSS JOIN (SELECT 0 AS of_debt UNION ALL SELECT 1) AS side WHERE ${CAN_PAY}`;
const PAY = `UPDATE bucket SET granted = granted - (${PAYABLE}), debt = debt - (${PAYABLE}) WHERE ${CAN_PAY}`;

/**
 * Pays a debt, as far as the balance allows. `ref` must have no adjustments yet. Put the steps behind one that changes the bucket and so has
 * locked it: both of these read its balance.
 */
export function payDebtSteps(layer: BalanceLayer, { ref, atMs, actor }: Cause): readonly Step[] {
  const bucket = bucketParams(layer);
  return [
    { sql: ENTER_PAYMENT, params: [ref, atMs, actor, ...bucket] },
    { sql: PAY, params: bucket },
  ];
}

/** Adds `amount` to an account's debt, and pays at once what can be paid. `must`: `taken_back_before`. */
export function takeBackSteps(accountId: number, amount: bigint, { ref, atMs, actor }: Cause): readonly Step[] {
  const cause = { ref: `taken-back:${ref}`, atMs, actor };
  const account = { kind: 'account', owner: accountId } as const;
  return [
    {
      sql: `${INSERT_ENTRY} VALUES (?, 'credit', 'debt', ?, 0, ?, ?, ?) ON CONFLICT DO NOTHING`,
      params: [cause.ref, accountId, amount, atMs, actor],
      must: 'taken_back_before',
    },
    { sql: OWE, params: [amount, ...bucketParams(account)], must: 'no_account' },
    ...payDebtSteps(account, cause),
  ];
}
