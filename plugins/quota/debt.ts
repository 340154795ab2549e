/**
 * Debts: money is taken back (a refund, a dispute) that has been spent already. What an account owes is a bucket of the kind `debt`,
 * whose `granted` is the amount; nothing can be taken from it. Amounts are micro-quota.
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

const OPEN_DEBT = `INSERT INTO bucket (kind, owner, window_start) VALUES ('debt', ?, 0) ON CONFLICT DO NOTHING`;
const OWE = `UPDATE bucket SET granted = granted + ? WHERE kind = 'debt' AND owner = ? AND window_start = 0`;

const AVAILABLE = removable('account');
/** Takes the smaller of what is owed and what is there from both, as two entries. */
const ENTER_PAYMENT = `${INSERT_ENTRY}
  SELECT ?, 'adjust', side.kind, side.owner, 0,
    CASE WHEN debt.granted < ${AVAILABLE} THEN -debt.granted ELSE -(${AVAILABLE}) END, ?, ?
  FROM bucket AS debt
    JOIN bucket AS account ON account.kind = 'account' AND account.owner = debt.owner AND account.window_start = 0
    JOIN bucket AS side ON side.kind IN ('account', 'debt') AND side.owner = debt.owner AND side.window_start = 0
  WHERE debt.kind = 'debt' AND debt.owner = ? AND debt.window_start = 0 AND debt.granted > 0 AND ${AVAILABLE} > 0`;

/** Where a bucket stands after an adjustment: as its entry says, if there is one. */
const ADJUSTMENT = `FROM entry WHERE entry.ref = ? AND entry.op = 'adjust'
  AND entry.kind = bucket.kind AND entry.owner = bucket.owner AND entry.window_start = bucket.window_start`;
const ADJUST = `UPDATE bucket SET granted = granted + (SELECT entry.amount ${ADJUSTMENT})
  WHERE kind IN ('account', 'debt') AND owner = ? AND window_start = 0 AND EXISTS (SELECT 1 ${ADJUSTMENT})`;

/** The step that lets an account and its debt follow the adjustments that were entered under a `ref` before it. */
export function adjustStep(accountId: number, ref: string): Step {
  return { sql: ADJUST, params: [ref, accountId, ref] };
}

/** Pays what an account owes, as far as it has it. `ref` must have no adjustments yet. */
export function payDebtSteps(accountId: number, { ref, atMs, actor }: Cause): readonly Step[] {
  return [{ sql: ENTER_PAYMENT, params: [ref, atMs, actor, accountId] }, adjustStep(accountId, ref)];
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
    { sql: OPEN_DEBT, params: [accountId] },
    { sql: OWE, params: [amount, accountId] },
    ...payDebtSteps(accountId, cause),
  ];
}
