/** The kinds of lines as sums tell them apart: finer than those of the log, so that lines are found by how a call ended, too. */
import type { LogFilter, LogKind, UsageRecord } from '../../core/contracts/records.ts';
import { IS_CALL } from './tables.ts';

/** A kind of sums. `use` and `error` are what most calls of these kinds are: served, and refused. */
export type SumKind = LogKind | 'failed' | 'aborted' | 'recovered' | 'failed-paid' | 'refused-paid';
/** Some of them; undefined: all. */
export type SumKinds = readonly SumKind[] | undefined;

interface Kind {
  readonly name: SumKind;
  /** What the log calls it. */
  readonly kind: LogKind;
  /** How such calls ended; undefined: they are no calls. */
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
/** Those of calls. */
export const CALLS = namesOf(OF_CALLS);
/** Those of records. */
export const RECORDS = namesOf(OF_RECORDS);
/** Those of calls that were refused or failed, and cost nothing. */
export const ERRORS = namesOf(OF_CALLS.filter(({ kind }) => kind === 'error'));

/** They, as a statement lists them. */
export function sqlList(kinds: readonly SumKind[]): string {
  return kinds.map((kind) => `'${kind}'`).join(', ');
}

/** What a row of a record must say to be of one of these kinds, what most rows are told apart by first; undefined: nothing. */
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

/** The kinds that a filter lets through. */
export function kindsOf({ kind, outcomes, keys, model, channel }: LogFilter): SumKinds {
  const isOfRecords = keys !== undefined || model !== undefined || channel !== undefined;
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
