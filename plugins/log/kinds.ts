/** The kinds of sums: finer than those of log lines, so that lines can be found by outcome. */
import type { LogFilter, LogKind, UsageRecord } from '../../core/contracts/records.ts';
import { IS_CALL } from './tables.ts';

/** A kind of sums. `use` and `error` are the usual ones: served, and refused. `imported`: calls of another gateway, without lines. */
export type SumKind = LogKind | 'failed' | 'aborted' | 'recovered' | 'failed-paid' | 'refused-paid' | 'imported';
/** A set of kinds; undefined: all. */
export type SumKinds = readonly SumKind[] | undefined;

interface Kind {
  readonly name: SumKind;
  /** The kind of the log line. */
  readonly kind: LogKind;
  /** The outcome of the calls; undefined for other lines. */
  readonly outcome?: UsageRecord['outcome'];
}

const OF_CALLS: readonly (Kind & Required<Pick<Kind, 'outcome'>>)[] = [
  { name: 'use', kind: 'use', outcome: 'served' },
  { name: 'aborted', kind: 'use', outcome: 'aborted' },
  { name: 'recovered', kind: 'use', outcome: 'recovered' },
  { name: 'failed-paid', kind: 'use', outcome: 'failed' },
  { name: 'refused-paid', kind: 'use', outcome: 'refused' },
  { name: 'error', kind: 'error', outcome: 'refused' },
  { name: 'failed', kind: 'error', outcome: 'failed' },
];
const OF_RECORDS: readonly Kind[] = [...OF_CALLS, { name: 'request', kind: 'request' }];
const OF_EVENTS: readonly Kind[] = (['top-up', 'manage', 'system', 'refund', 'login'] as const).map((kind) => ({
  name: kind,
  kind,
}));

const namesOf = (kinds: readonly Kind[]): readonly SumKind[] => kinds.map(({ name }) => name);
/** Kinds of calls. */
export const CALLS = namesOf(OF_CALLS);
/** Kinds of calls that statistics count. */
export const COUNTED: readonly SumKind[] = [...CALLS, 'imported'];
/** Kinds of records. */
export const RECORDS = namesOf(OF_RECORDS);
/** Kinds of calls that were refused or failed, and cost nothing. */
export const ERRORS = namesOf(OF_CALLS.filter(({ kind }) => kind === 'error'));

/** The same as an SQL list. */
export function sqlList(kinds: readonly SumKind[]): string {
  return kinds.map((kind) => `'${kind}'`).join(', ');
}

/** The condition on records of these kinds, most selective part first; undefined: no condition. */
export function isOneOf(kinds: SumKinds): string | undefined {
  if (kinds === undefined || RECORDS.every((kind) => kinds.includes(kind))) return undefined;
  if (CALLS.every((kind) => kinds.includes(kind))) return IS_CALL;
  const conditions = OF_CALLS.flatMap(({ name, kind, outcome }) => {
    if (!kinds.includes(name)) return [];
    const isError = outcome === 'refused' || outcome === 'failed';
    return [`outcome = '${outcome}'${isError ? ` AND charged ${kind === 'error' ? '=' : '<>'} 0` : ''} AND ${IS_CALL}`];
  });
  if (kinds.includes('request')) conditions.push(`NOT (${IS_CALL})`);
  return conditions.length === 0 ? '1 = 0' : conditions.map((each) => `(${each})`).join(' OR ');
}

/** The kind of a record. */
export function sumKindOf({ outcome, route }: UsageRecord, kind: LogKind): SumKind {
  if (route !== undefined) return 'request';
  return OF_CALLS.find((each) => each.kind === kind && each.outcome === outcome)!.name;
}

/** The kinds that match a filter. */
export function kindsOf({ kind, outcomes, keys, model, channel, models, channels }: LogFilter): SumKinds {
  const isOfRecords = (keys ?? model ?? channel ?? models ?? channels) !== undefined;
  if (kind === undefined && outcomes === undefined) return isOfRecords ? RECORDS : undefined;
  return namesOf(
    (isOfRecords ? OF_RECORDS : [...OF_RECORDS, ...OF_EVENTS]).filter(
      (each) =>
        (kind === undefined || each.kind === kind) &&
        (outcomes === undefined || (each.outcome !== undefined && outcomes.includes(each.outcome))),
    ),
  );
}

/** Which of the two tables have lines of these kinds. */
export function tablesOf(kinds: SumKinds): { readonly records: boolean; readonly events: boolean } {
  return {
    records: kinds?.some((kind) => RECORDS.includes(kind)) ?? true,
    events: kinds?.some((kind) => !RECORDS.includes(kind)) ?? true,
  };
}
