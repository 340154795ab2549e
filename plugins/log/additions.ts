/** Adds log lines to the sums. */
import { LRUCache } from 'lru-cache';
import type { Step, Sum } from '../../core/plugin.ts';
import { createRecent } from '../../core/sdk.ts';
import { msOf } from './ids.ts';
import { ERRORS, type SumKind } from './kinds.ts';
import { DAY_MS, HOUR_MS } from './tables.ts';
import { addTokens } from './tokens.ts';

/** The values that a line adds to the sums. */
export interface Addition {
  readonly id: string;
  readonly accountId: number;
  readonly kind: SumKind;
  readonly keyId: number;
  readonly model: string;
  readonly channel: string;
  readonly departmentId: number;
  /** 1, or 0 if an existing line counts further requests. */
  readonly lines: 0 | 1;
  /** The number of requests beyond the first. */
  readonly repeats: number;
  /** Micro-quota. */
  readonly amount: bigint;
  /** The part of it that a subscription included. */
  readonly included: bigint;
  /** Tokens. */
  readonly input: number;
  readonly output: number;
}

/** The dimensions of a sum: the first columns of both tables. */
export const SUM_KEY = 'begin_ms, account_id, kind, key_id, model, channel, department_id';

/** The columns that are added up. */
export const ADDED = ['lines', 'repeats', 'amount', 'included', 'input', 'output'] as const;

/** The upsert clause; `key`: the columns that identify a row. */
export const addTo = (table: 'usage_hour' | 'usage_day' | 'usage_tag', key = SUM_KEY): string => {
  const sum = (column: (typeof ADDED)[number]): string =>
    column === 'input' || column === 'output' ? addTokens(table, column) : `${table}.${column} + excluded.${column}`;
  return `ON CONFLICT (${key}) DO UPDATE SET ${ADDED.map((column) => `${column} = ${sum(column)}`).join(', ')}`;
};

// Amounts come first, as in `Sum`.
const COLUMNS = [...ADDED, SUM_KEY].join(', ');
const ROW = '?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?';
const ADD_TO_TAG = `INSERT INTO usage_tag (${COLUMNS}, tag) VALUES (${ROW}, ?) ${addTo('usage_tag', `${SUM_KEY}, tag`)}`;
const ADD_TO_HOUR = `INSERT INTO usage_hour (${COLUMNS}) VALUES (${ROW}) ${addTo('usage_hour')}`;
const ADD_TO_DAY = `INSERT INTO usage_day (${COLUMNS}) SELECT ${ROW} FROM usage_rolled WHERE until_ms > ? ${addTo('usage_day')}`;

/** Rows to be upserted, by key: additions to the same row within a commit are written once. */
const MOST_ROWS = 10_000;
/** Bounded by size, so that memory is used only as the cache fills. */
const rows = new LRUCache<string, Rows>({ maxSize: MOST_ROWS, sizeCalculation: () => 1 });

/** The rows of an hour and of its day. */
interface Rows {
  readonly hour: Sum;
  readonly day: Sum;
}

/** The rows of a line in an hour. */
const rowsOf = createRecent(
  256,
  ({ line }: HourOfLine) => line.keyId * 31 + line.accountId * 7 + line.model.length + line.channel.length * 3,
  (one, other) => one.hourMs === other.hourMs && isSameRow(one.line, other.line),
  namedRows,
);

interface HourOfLine {
  readonly line: Addition;
  readonly hourMs: number;
}

function isSameRow(a: Addition, b: Addition): boolean {
  return (
    a.keyId === b.keyId &&
    a.accountId === b.accountId &&
    a.departmentId === b.departmentId &&
    a.kind === b.kind &&
    a.model === b.model &&
    a.channel === b.channel
  );
}

function namedRows({ line, hourMs }: HourOfLine): Rows {
  const { accountId, kind, keyId, model, channel, departmentId } = line;
  // Names may contain any character, so the length marks the end of the channel's name.
  const name = `${hourMs} ${accountId} ${keyId} ${departmentId} ${kind} ${channel.length} ${channel} ${model}`;
  const cached = rows.get(name);
  if (cached !== undefined) return cached;
  const lasting = ERRORS.includes(kind) && channel === '' ? '' : model;
  const made = {
    hour: { sql: ADD_TO_HOUR, params: [hourMs, accountId, kind, keyId, model, channel, departmentId] },
    day: { sql: ADD_TO_DAY, params: [dayOf(hourMs), accountId, kind, keyId, lasting, channel, departmentId, hourMs] },
  };
  rows.set(name, made);
  return made;
}

/**
 * The steps that add a line to the sums, for the list that writes the line. Hours before `closedMs` may have been rolled up; those of
 * events never are.
 */
export function additionSteps(line: Addition, closedMs = 0): readonly Step[] {
  const { id, lines, repeats, amount, included, input, output } = line;
  const hourMs = hourOf(msOf(id));
  const { hour, day } = rowsOf({ line, hourMs });
  const adds = [lines, repeats, amount, included, input, output];
  return hourMs >= closedMs
    ? [{ to: hour, adds }]
    : [
        { to: hour, adds },
        { to: day, adds },
      ];
}

/** The steps that add a call to the daily sums of its tags. A call counts in full for each of them. */
export function tagSteps(line: Addition, tags: readonly string[]): readonly Step[] {
  const { id, accountId, kind, keyId, model, channel, departmentId } = line;
  const dayMs = dayOf(msOf(id));
  const adds = [line.lines, line.repeats, line.amount, line.included, line.input, line.output];
  return tags.map((tag) => {
    const name = `tag ${dayMs} ${accountId} ${keyId} ${departmentId} ${kind} ${channel.length} ${model.length} ${channel}${model}${tag}`;
    let to = tagRows.get(name);
    if (to === undefined) {
      to = { sql: ADD_TO_TAG, params: [dayMs, accountId, kind, keyId, model, channel, departmentId, tag] };
      tagRows.set(name, to);
    }
    return { to, adds };
  });
}
const tagRows = new LRUCache<string, Sum>({ maxSize: MOST_ROWS, sizeCalculation: () => 1 });

/** The start of an hour. */
export function hourOf(atMs: number): number {
  return Math.floor(atMs / HOUR_MS) * HOUR_MS;
}

/** The start of a day (UTC). */
export function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS) * DAY_MS;
}
