/** Finds lines by the hourly sums, so that only hours with matching lines are read. */
import type { LogFilter } from '../../core/contracts/records.ts';
import type { Host } from '../../core/plugin.ts';
import type { Condition } from '../../core/sdk.ts';
import { hourOf } from './additions.ts';
import type { Range } from './conditions.ts';
import { msOf, placeOf, runOf, timeOf } from './ids.ts';
import type { SumKinds } from './kinds.ts';
import { countLines } from './rows.ts';
import { HOURS, readSums, type Span } from './sum-tables.ts';
import { HOUR_MS } from './tables.ts';

/** The lines of one hour. */
export interface HourCount {
  readonly ms: number;
  readonly lines: number;
}

/** Consecutive hours with lines; extended towards the past. */
export interface Stretch extends Span {
  fromMs: number;
}

/** `keepMs`: retention of lines. */
export function createWhere(host: Host, keepMs: number) {
  const { store, clock } = host;

  async function count(filter: LogFilter, range: Range, kinds: SumKinds): Promise<number> {
    const counts = await readRows<{ n: number }>(host, countLines(filter, range, kinds));
    return counts.reduce((sum, { n }) => sum + n, 0);
  }

  /** The first or last place of a stored line, of one account or of all. */
  async function edge(which: 'MIN' | 'MAX', accounts: readonly number[] | undefined): Promise<string | undefined> {
    const [where, params] = accounts?.length === 1 ? ['WHERE account_id = ?', accounts] : ['', []];
    const from = (table: string, column: string) => `SELECT ${which}(${column}) AS place FROM ${table} ${where}`;
    const rows = await store.all<{ place: string | null }>(
      `${from('usage_row', 'place')} UNION ALL ${from('account_event', 'id')}`,
      ...params,
      ...params,
    );
    const places = rows.flatMap(({ place }) => (place === null ? [] : [place]));
    if (places.length === 0) return undefined;
    return which === 'MIN' ? smallest(...places) : largest(...places);
  }

  /** The range before the line with this id. */
  async function before(id: string): Promise<Pick<Range, 'high' | 'run'>> {
    const event = await store.one('SELECT 1 AS one FROM account_event WHERE id = ?', id);
    return event === undefined ? { high: placeOf(id), run: runOf(id) } : { high: id, run: '' };
  }

  return {
    /** The range of lines that the filter's times, the line before which they are, and retention allow; undefined if it is empty. */
    async rangeOf(
      { accounts, fromMs = 0, untilMs = Infinity }: LogFilter,
      beforeId?: string,
    ): Promise<Range | undefined> {
      const [first, last, end] = await Promise.all([
        edge('MIN', accounts),
        edge('MAX', accounts),
        beforeId === undefined ? undefined : before(beforeId),
      ]);
      if (first === undefined || last === undefined) return undefined;
      // Older lines are deleted, or about to be.
      const lowMs = Math.max(hourOf(msOf(first)), clock.now() - keepMs, fromMs);
      const highMs = Math.min(hourOf(msOf(last)) + HOUR_MS, untilMs);
      const range = endingAt({ low: timeOf(lowMs), high: timeOf(highMs), run: '' }, end);
      // At the place of its end there may be records of earlier runs.
      return range.low < range.high || (range.low === range.high && range.run !== '') ? range : undefined;
    },

    /** The number of lines of these kinds by hour, newest first, without empty hours. */
    async *hoursOf(filter: LogFilter, range: Range, kinds: SumKinds): AsyncGenerator<HourCount> {
      const span = { fromMs: hourOf(msOf(range.low)), untilMs: hourOf(msOf(range.high)) + HOUR_MS };
      const select = 'begin_ms AS ms, SUM(lines) AS lines';
      const groupBy = 'GROUP BY begin_ms ORDER BY begin_ms DESC';
      const query = { select, filter, kinds, groupBy, isByAccount: false };
      for await (const hour of readSums<HourCount>(host, HOURS, span, query)) {
        // For an hour that is only partly in the range, its lines are counted.
        const own = { fromMs: hour.ms, untilMs: hour.ms + HOUR_MS };
        const isWhole = timeOf(own.fromMs) >= range.low && timeOf(own.untilMs) <= range.high;
        yield isWhole ? hour : { ms: hour.ms, lines: await count(filter, cut(range, own), kinds) };
      }
    },
  };
}

/** The rows of a statement; none if there is no statement. */
export async function readRows<T>({ store }: Host, statement: Condition | undefined): Promise<readonly T[]> {
  return statement === undefined ? [] : store.all<T>(statement.sql, ...statement.params);
}

/**
 * Adds an hour to stretches, newest first. It joins the last stretch if no hour with lines is between them, or (`isEvery`) if all lines
 * between them match, too.
 */
export function addHour(stretches: Stretch[], ms: number, isEvery: boolean): void {
  const last = stretches.at(-1);
  if (last !== undefined && (isEvery || last.fromMs === ms + HOUR_MS)) last.fromMs = ms;
  else stretches.push({ fromMs: ms, untilMs: ms + HOUR_MS });
}

/** Whether a filter matches every line of its account, or of all accounts. */
export function takesEvery({ kind, outcomes, keys, accounts = [], ...names }: LogFilter): boolean {
  const { model, channel, models, channels } = names;
  return (kind ?? outcomes ?? keys ?? model ?? channel ?? models ?? channels) === undefined && accounts.length <= 1;
}

/** The part of a range within a period. */
export function cut({ low, ...end }: Range, { fromMs, untilMs }: Span): Range {
  return endingAt({ low: largest(low, timeOf(fromMs)), high: timeOf(untilMs), run: '' }, end);
}

/** The part of a range before an end. */
function endingAt(range: Range, end: Pick<Range, 'high' | 'run'> | undefined): Range {
  return end !== undefined && end.high < range.high ? { ...range, ...end } : range;
}

const smallest = (...places: readonly string[]): string => places.reduce((a, b) => (b < a ? b : a));
const largest = (...places: readonly string[]): string => places.reduce((a, b) => (b > a ? b : a));
