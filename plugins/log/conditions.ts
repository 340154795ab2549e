/** Filters as conditions of statements about lines. */
import type { UsageFilter } from '../../core/contracts/records.ts';
import { type Condition, condition, type Value } from '../../core/plugin.ts';
import { isOneOf, type SumKinds } from './kinds.ts';

/** A range of ids: from `low` on, before `high`. */
export interface IdRange {
  readonly low: string;
  readonly high: string;
}

/** A column that is one of several values; undefined: any. */
export function oneOf(column: string, values: readonly Value[] | undefined): Condition | undefined {
  if (values === undefined) return undefined;
  if (values.length === 1) return { sql: `${column} = ?`, params: values };
  return { sql: values.length === 0 ? '1 = 0' : `${column} IN (${values.map(() => '?').join(', ')})`, params: values };
}

/** Ids within a range. */
export function within({ low, high }: IdRange): Condition {
  return { sql: 'id >= ? AND id < ?', params: [low, high] };
}

/** Of records: what a filter says, but for moments and ids; those of these kinds. */
export function ofRecords({ accounts, keys, model, channel }: UsageFilter, kinds: SumKinds) {
  const ofKinds = isOneOf(kinds);
  return [
    oneOf('account_id', accounts),
    oneOf('key_id', keys),
    condition('model = ?', model),
    condition('channel = ?', channel),
    ofKinds === undefined ? undefined : { sql: `(${ofKinds})`, params: [] },
  ] as const;
}

/** Of events. */
export function ofEvents({ accounts }: UsageFilter, kinds: SumKinds) {
  return [oneOf('account_id', accounts), oneOf('kind', kinds)] as const;
}
