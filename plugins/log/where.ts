/** Where lines are: the sums by the hour say it, and nothing but those hours needs to be read. */
import type { LogFilter } from '../../core/contracts/records.ts';
import type { Condition, Host } from '../../core/plugin.ts';
import { hourOf } from './additions.ts';
import type { IdRange } from './conditions.ts';
import { LAST_ID, msOf, timeOf } from './ids.ts';
import type { SumKinds } from './kinds.ts';
import { countLines } from './rows.ts';
import { HOURS, readSums, type Span } from './sum-tables.ts';
import { HOUR_MS } from './tables.ts';

/** Lines of one hour. */
export interface HourCount {
  readonly ms: number;
  readonly lines: number;
}

/** Hours in a row that have lines; it grows towards the past. */
export interface Stretch extends Span {
  fromMs: number;
}

/** Finds them. */
export interface Where {
  /** The ids that a filter's moments, the line `before` and retention leave; undefined where there are none. */
  rangeOf(filter: LogFilter, before?: string): Promise<IdRange | undefined>;
  /** How many lines of these kinds there are in each hour of the range that has some, newest first. */
  hoursOf(filter: LogFilter, range: IdRange, kinds: SumKinds): AsyncGenerator<HourCount>;
}

/** `keepMs`: how long lines are kept. */
export function createWhere(host: Host, keepMs: number): Where {
  const { store, clock } = host;

  async function count(filter: LogFilter, range: IdRange, kinds: SumKinds): Promise<number> {
    const counts = await readRows<{ n: number }>(host, countLines(filter, range, kinds));
    return counts.reduce((sum, { n }) => sum + n, 0);
  }

  /** The first or the last id that is kept, of one account or of all. */
  async function edge(which: 'MIN' | 'MAX', accounts: readonly number[] | undefined): Promise<string | undefined> {
    const [where, params] = accounts?.length === 1 ? ['WHERE account_id = ?', accounts] : ['', []];
    const from = (table: string) => `SELECT ${which}(id) AS id FROM ${table} ${where}`;
    const rows = await store.all<{ id: string | null }>(
      `${from('usage_record')} UNION ALL ${from('account_event')}`,
      ...params,
      ...params,
    );
    const ids = rows.flatMap(({ id }) => (id === null ? [] : [id]));
    if (ids.length === 0) return undefined;
    return which === 'MIN' ? smallest(...ids) : largest(...ids);
  }

  return {
    async rangeOf({ accounts, fromMs = 0, untilMs = Infinity }, before = LAST_ID) {
      const [first, last] = await Promise.all([edge('MIN', accounts), edge('MAX', accounts)]);
      if (first === undefined || last === undefined) return undefined;
      // What is older than that is gone, or about to be.
      const lowMs = Math.max(hourOf(msOf(first)), clock.now() - keepMs, fromMs);
      const highMs = Math.min(hourOf(msOf(last)) + HOUR_MS, untilMs);
      const range = { low: timeOf(lowMs), high: smallest(before, timeOf(highMs)) };
      return range.low < range.high ? range : undefined;
    },

    async *hoursOf(filter, range, kinds) {
      const span = { fromMs: hourOf(msOf(range.low)), untilMs: hourOf(msOf(range.high)) + HOUR_MS };
      const select = 'begin_ms AS ms, SUM(lines) AS lines';
      const groupBy = 'GROUP BY begin_ms ORDER BY begin_ms DESC';
      const query = { select, filter, kinds, groupBy, isByAccount: false };
      for await (const hour of readSums<HourCount>(host, HOURS, span, query)) {
        // Of an hour that is only partly in the range, its lines are counted.
        const own = { fromMs: hour.ms, untilMs: hour.ms + HOUR_MS };
        const isWhole = timeOf(own.fromMs) >= range.low && timeOf(own.untilMs) <= range.high;
        yield isWhole ? hour : { ms: hour.ms, lines: await count(filter, cut(range, own), kinds) };
      }
    },
  };
}

/** What a statement answers; nothing where there is none. */
export async function readRows<T>({ store }: Host, statement: Condition | undefined): Promise<readonly T[]> {
  return statement === undefined ? [] : store.all<T>(statement.sql, ...statement.params);
}

/**
 * Adds an hour to stretches, newest first, that are joined where nothing else is between them, or (`isEvery`) where all that is between
 * them is let through, too.
 */
export function addHour(stretches: Stretch[], ms: number, isEvery: boolean): void {
  const last = stretches.at(-1);
  if (last !== undefined && (isEvery || last.fromMs === ms + HOUR_MS)) last.fromMs = ms;
  else stretches.push({ fromMs: ms, untilMs: ms + HOUR_MS });
}

/** Whether a filter lets every line of its account, or of everybody, through. */
export function takesEvery({ kind, outcomes, keys, model, channel, accounts = [] }: LogFilter): boolean {
  return (kind ?? outcomes ?? keys ?? model ?? channel) === undefined && accounts.length <= 1;
}

/** The part of a range that is within a stretch of time. */
export function cut({ low, high }: IdRange, { fromMs, untilMs }: Span): IdRange {
  return { low: largest(low, timeOf(fromMs)), high: smallest(high, timeOf(untilMs)) };
}

const smallest = (...ids: readonly string[]): string => ids.reduce((a, b) => (b < a ? b : a));
const largest = (...ids: readonly string[]): string => ids.reduce((a, b) => (b > a ? b : a));
