/** Filters as SQL conditions on log lines. */
import type { UsageFilter } from '../../core/contracts/records.ts';
import type { Value } from '../../core/plugin.ts';
import { type Condition, condition } from '../../core/sdk.ts';
import { placeOf, RUN_NAMED, runOf } from './ids.ts';
import { isOneOf, type SumKinds } from './kinds.ts';

/** A range of lines, by their place in the log: the place of a record (`ids.ts`), the id of an event, or a prefix of either. */
export interface Range {
  /** Inclusive lower bound. */
  readonly low: string;
  /** Exclusive upper bound. */
  readonly high: string;
  /** The run of the record at `high`, otherwise empty. Of the same place, records of earlier runs come first. */
  readonly run: string;
}

/** A condition on a column; undefined: any value. */
export function oneOf(column: string, values: readonly Value[] | undefined): Condition | undefined {
  if (values === undefined) return undefined;
  if (values.length === 1) return { sql: `${column} = ?`, params: values };
  return { sql: values.length === 0 ? '1 = 0' : `${column} IN (${values.map(() => '?').join(', ')})`, params: values };
}

/** The opposite: any value but these. */
export function noneOf(column: string, values: readonly Value[] | undefined): Condition | undefined {
  if (values === undefined || values.length === 0) return undefined;
  return { sql: `${column} NOT IN (${values.map(() => '?').join(', ')})`, params: values };
}

/** Records within a range. */
export function recordsWithin({ low, high, run }: Range): Condition {
  if (run === '') return { sql: 'place >= ? AND place < ?', params: [low, high] };
  return { sql: `place >= ? AND (place, run_id) < (?, ${RUN_NAMED})`, params: [low, high, run] };
}

/** Events within a range. */
export function eventsWithin({ low, high }: Range): Condition {
  return { sql: 'id >= ? AND id < ?', params: [low, high] };
}

/** The record with this id; undefined: any. */
export function recordWith(id: string | undefined): Condition | undefined {
  return id === undefined ? undefined : condition(`place = ? AND run_id = ${RUN_NAMED}`, placeOf(id), runOf(id));
}

/** The condition of a filter on records of these kinds, without times and ids. */
export function ofRecords({ accounts, keys, model, channel, models, channels }: UsageFilter, kinds: SumKinds) {
  const ofKinds = isOneOf(kinds);
  return [
    oneOf('account_id', accounts),
    oneOf('key_id', keys),
    condition('model = ?', model),
    condition('channel = ?', channel),
    oneOf('model', models),
    oneOf('channel', channels),
    ofKinds === undefined ? undefined : { sql: `(${ofKinds})`, params: [] },
  ] as const;
}

/** The same on events. */
export function ofEvents({ accounts }: UsageFilter, kinds: SumKinds) {
  return [oneOf('account_id', accounts), oneOf('kind', kinds)] as const;
}
