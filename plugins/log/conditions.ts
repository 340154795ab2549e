/** Filters as conditions of statements about lines. */
import type { LogFilter, LogKind, UsageFilter } from '../../core/contracts/records.ts';
import { type Condition, condition, type Value } from '../../core/plugin.ts';
import { IS_ERROR } from './tables.ts';

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

/** Of records: what a filter says, but for moments and ids. */
export function ofRecords({ accounts, keys, model, channel }: UsageFilter, kind: LogKind | undefined) {
  return [
    oneOf('account_id', accounts),
    oneOf('key_id', keys),
    condition('model = ?', model),
    condition('channel = ?', channel),
    kind === undefined ? undefined : { sql: kind === 'error' ? IS_ERROR : `NOT (${IS_ERROR})`, params: [] },
  ] as const;
}

/** Which of the two tables of lines are looked at. */
export interface Tables {
  readonly records: boolean;
  readonly events: boolean;
}

/** Whether records, and whether events, can be what a filter lets through. */
export function tablesOf({ kind, keys, model, channel }: LogFilter): Tables {
  const isCall = kind === 'use' || kind === 'error';
  return {
    records: kind === undefined || isCall,
    events: !isCall && keys === undefined && model === undefined && channel === undefined,
  };
}
