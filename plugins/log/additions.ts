/** How a line of the log is added to the sums. */
import { LRUCache } from 'lru-cache';
import type { Step, Sum } from '../../core/plugin.ts';
import { msOf } from './ids.ts';
import { ERRORS, type SumKind } from './kinds.ts';
import { DAY_MS, HOUR_MS } from './tables.ts';

/** What a line adds. */
export interface Addition {
  readonly id: string;
  readonly accountId: number;
  readonly kind: SumKind;
  readonly keyId: number;
  readonly model: string;
  readonly channel: string;
  readonly departmentId: number;
  /** 1, or 0 where a line that is there comes to stand for more. */
  readonly lines: 0 | 1;
  /** What it stands for beyond itself. */
  readonly repeats: number;
  /** Micro-quota. */
  readonly amount: bigint;
  /** That of it which a subscription included. */
  readonly included: bigint;
  /** Tokens. */
  readonly input: number;
  readonly output: number;
}

/** What a sum is of: what all rows of the tables begin with. */
export const SUM_KEY = 'begin_ms, account_id, kind, key_id, model, channel, department_id';

/** What is added up in them. */
export const ADDED = ['lines', 'repeats', 'amount', 'included', 'input', 'output'] as const;

/** What becomes of rows that are there already. */
export const addTo = (table: 'usage_hour' | 'usage_day'): string =>
  `ON CONFLICT (${SUM_KEY}) DO UPDATE SET ${ADDED.map((c) => `${c} = ${table}.${c} + excluded.${c}`).join(', ')}`;

// Amounts come first, as those of a `Sum` do.
const COLUMNS = [...ADDED, SUM_KEY].join(', ');
const ROW = '?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?';
const ADD_TO_HOUR = `INSERT INTO usage_hour (${COLUMNS}) VALUES (${ROW}) ${addTo('usage_hour')}`;
const ADD_TO_DAY = `INSERT INTO usage_day (${COLUMNS}) SELECT ${ROW} FROM usage_rolled WHERE until_ms > ? ${addTo('usage_day')}`;

/** Rows that lines are being added to, by what they are of: what is added to one within a commit is written once. */
const MOST_ROWS = 10_000;
/** Counted by size, it takes memory as it fills. */
const rows = new LRUCache<string, Rows>({ maxSize: MOST_ROWS, sizeCalculation: () => 1 });

/** The row of an hour, and that of its day. */
interface Rows {
  readonly hour: Sum;
  readonly day: Sum;
}

function rowsOf({ accountId, kind, keyId, model, channel, departmentId }: Addition, hourMs: number): Rows {
  // Names may have any character: the length tells where the channel's ends.
  const name = `${hourMs} ${accountId} ${keyId} ${departmentId} ${kind} ${channel.length} ${channel} ${model}`;
  const known = rows.get(name);
  if (known !== undefined) return known;
  const lasting = ERRORS.includes(kind) && channel === '' ? '' : model;
  const made = {
    hour: { sql: ADD_TO_HOUR, params: [hourMs, accountId, kind, keyId, model, channel, departmentId] },
    day: { sql: ADD_TO_DAY, params: [dayOf(hourMs), accountId, kind, keyId, lasting, channel, departmentId, hourMs] },
  };
  rows.set(name, made);
  return made;
}

/** The steps that add a line, for the list that writes it. Hours before `closedMs` may have been rolled up; of events they never are. */
export function additionSteps(line: Addition, closedMs = 0): readonly Step[] {
  const { id, lines, repeats, amount, included, input, output } = line;
  const hourMs = hourOf(msOf(id));
  const { hour, day } = rowsOf(line, hourMs);
  const adds = [lines, repeats, amount, included, input, output];
  return hourMs >= closedMs
    ? [{ to: hour, adds }]
    : [
        { to: hour, adds },
        { to: day, adds },
      ];
}

/** When the hour of a moment began. */
export function hourOf(atMs: number): number {
  return Math.floor(atMs / HOUR_MS) * HOUR_MS;
}

/** When its day began. */
export function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS) * DAY_MS;
}
