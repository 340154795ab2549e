/** The budgets of a key: which buckets of the ledger they have at a moment, for the ledger and for plugins that show or watch them. */
import type { KeyLimit } from './identity.ts';
import type { Layer } from './ledger.ts';
import { PERIODS, type Period, periodAround } from './periods.ts';

/** A budget of a key in the period around a moment. */
export interface KeyBudget {
  readonly layer: Layer & { readonly windowStart: number };
  readonly period: Period;
  /** Undefined: of all calls of the key. */
  readonly model: string | undefined;
  /** Micro-quota. */
  readonly limit: bigint;
  /** When the period ends, unix milliseconds. */
  readonly resetsMs: number;
}

/** The budgets of a limit of a key, shortest period first. */
export function keyBudgets(keyId: number, { model, budgets }: KeyLimit, atMs: number): readonly KeyBudget[] {
  if (budgets === undefined) return [];
  return PERIODS.flatMap((period) => {
    const limit = budgets[period];
    if (limit === undefined) return [];
    const { startMs, endMs } = periodAround(period, atMs);
    const kind: Layer['kind'] = model === undefined ? `key-${period}` : `key-${period} ${model}`;
    const layer = { kind, owner: keyId, windowStart: startMs };
    return { layer, period, model, limit, resetsMs: endMs };
  });
}

/** The model in the kind of bucket of a key's budget; undefined for every other kind. */
export function modelInKind(kind: string): string | undefined {
  return /^key-(?:day|week|month) (.+)$/s.exec(kind)?.[1];
}
