/** Reads the tables of sums in pieces, so that no statement blocks others for long. */
import type { UsageFilter } from '../../core/contracts/records.ts';
import type { Clock, Host } from '../../core/plugin.ts';
import { all, type Condition, condition } from '../../core/sdk.ts';
import { noneOf, oneOf } from './conditions.ts';
import { ERRORS, type SumKinds, sqlList } from './kinds.ts';
import { DAY_MS, HOUR_MS } from './tables.ts';

/** The model of a row as daily sums have it; see `usage_day`. */
export const LASTING_MODEL = `CASE WHEN kind IN (${sqlList(ERRORS)}) AND channel = '' THEN '' ELSE model END`;

/** A table of sums. */
export interface Sums {
  readonly table: 'usage_hour' | 'usage_day' | 'usage_tag';
  /** The length of a row's period, in milliseconds. */
  readonly stepMs: number;
  /** The SQL expression of a row's model. */
  readonly model: string;
}
/** Hourly sums. */
export const HOURS: Sums = { table: 'usage_hour', stepMs: HOUR_MS, model: 'model' };
/** Daily sums. */
export const DAYS: Sums = { table: 'usage_day', stepMs: DAY_MS, model: 'model' };
/** Daily sums of tags. A call with several tags counts for each. */
export const TAGS: Sums = { table: 'usage_tag', stepMs: DAY_MS, model: 'model' };
/** Hourly sums, grouped as daily sums are. */
export const HOURS_OF_DAYS: Sums = { ...HOURS, model: LASTING_MODEL };

/** A period: from a time (inclusive) to a time (exclusive). */
export interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The query of each piece. */
export interface SumQuery {
  readonly select: string;
  readonly filter: UsageFilter;
  /** Undefined: all. */
  readonly kinds: SumKinds;
  /** The clause after the conditions. */
  readonly groupBy: string;
  /** The query groups by account, or by what belongs to one account: then pieces are sets of accounts, and every group is read once. */
  readonly isByAccount: boolean;
}

/** Up to this many accounts are looked up individually in every hour or day; for more, all rows are read. */
const FEW = 20;
/** Hours or days, and accounts, per statement. */
const MOST_STEPS = 31 * 24;
const MOST_ACCOUNTS = 10_000;
/** The target duration of a statement, predicted from the previous one. */
const LONGEST_MS = 50;
/** The maximum growth from one piece to the next. */
const GROWTH = 4;

/** Whether a filter names few enough accounts that all their rows of a year can be read by one statement. */
export function areFewAccounts({ accounts }: UsageFilter): boolean {
  return accounts !== undefined && accounts.length <= FEW;
}

/** One statement for a whole span; of few accounts. */
export function wholeSpan(sums: Sums, span: Span, query: SumQuery): Condition {
  return stepwise(sums, span, query);
}

/** Yields the rows of all pieces; if the pieces are periods, newest first. */
export function readSums<Row>(host: Host, sums: Sums, span: Span, query: SumQuery): AsyncGenerator<Row> {
  const areFew = areFewAccounts(query.filter);
  return query.isByAccount && !areFew
    ? readByAccounts(host, sums, span, query)
    : readByTime(host, sums, span, query, areFew);
}

async function* readByTime<Row>(
  { store, clock }: Host,
  sums: Sums,
  { fromMs, untilMs }: Span,
  query: SumQuery,
  areFew: boolean,
): AsyncGenerator<Row> {
  const length = createLength(clock, areFew ? MOST_STEPS : 1, MOST_STEPS);
  for (let endMs = untilMs; endMs > fromMs; ) {
    const beginMs = Math.max(fromMs, endMs - length.now() * sums.stepMs);
    const { sql, params } = areFew
      ? stepwise(sums, { fromMs: beginMs, untilMs: endMs }, query)
      : statement(sums, query, sums.table, condition('begin_ms >= ? AND begin_ms < ?', beginMs, endMs));
    yield* await length.timed(() => store.all<Row>(sql, ...params));
    endMs = beginMs;
  }
}

async function* readByAccounts<Row>(
  { store, clock }: Host,
  sums: Sums,
  span: Span,
  query: SumQuery,
): AsyncGenerator<Row> {
  const length = createLength(clock, 100, MOST_ACCOUNTS);
  const steps = stepsOf(sums, span);
  for (let from = 0; span.fromMs < span.untilMs; ) {
    const next = await store.one<{ id: number | null }>(
      `${steps.sql} SELECT MIN(first) AS id FROM (
        SELECT (SELECT MIN(account_id) FROM ${sums.table} WHERE begin_ms = step.ms AND account_id >= ?) AS first FROM step
      ) AS firsts`,
      ...steps.params,
      from,
    );
    if (next === undefined || next.id === null) return;
    from = next.id + length.now();
    const { sql, params } = stepwise(sums, span, query, condition('account_id >= ? AND account_id < ?', next.id, from));
    yield* await length.timed(() => store.all<Row>(sql, ...params));
  }
}

/** The length of the next piece. */
function createLength(clock: Clock, first: number, most: number) {
  let length = first;
  return {
    now: () => length,
    async timed<T>(read: () => Promise<T>): Promise<T> {
      const askedMs = clock.mono();
      const answer = await read();
      const fitting = Math.floor((length * LONGEST_MS) / Math.max(1, clock.mono() - askedMs));
      length = Math.max(1, Math.min(fitting, length * GROWTH, most));
      return answer;
    },
  };
}

/** Seeks from period to period in the index, without reading the rows of other accounts. */
function stepwise(sums: Sums, span: Span, query: SumQuery, whose?: Condition): Condition {
  const steps = stepsOf(sums, span);
  const from = `step CROSS JOIN ${sums.table}`;
  const { sql, params } = statement(sums, query, from, condition('begin_ms = step.ms'), whose);
  return { sql: `${steps.sql} ${sql}`, params: [...steps.params, ...params] };
}

/** The periods of a span, as `step`. */
function stepsOf({ stepMs }: Sums, { fromMs, untilMs }: Span): Condition {
  return {
    sql: `WITH RECURSIVE step(ms) AS (
      SELECT CAST(? AS BIGINT) UNION ALL SELECT ms + ${stepMs} FROM step WHERE ms + ${stepMs} < ?)`,
    params: [fromMs, untilMs],
  };
}

function statement(
  { model }: Sums,
  { select, filter, kinds, groupBy }: SumQuery,
  from: string,
  ...which: readonly (Condition | undefined)[]
): Condition {
  const { sql, params } = all(
    ...which,
    oneOf('account_id', filter.accounts),
    oneOf('kind', kinds),
    oneOf('key_id', filter.keys),
    condition(`${model} = ?`, filter.model),
    condition('channel = ?', filter.channel),
    oneOf(model, filter.models),
    oneOf('channel', filter.channels),
    oneOf('department_id', filter.departments),
    condition('tag = ?', filter.tag),
    oneOf('tag', filter.tags),
    noneOf('tag', filter.otherTags),
  );
  return { sql: `SELECT ${select} FROM ${from} WHERE ${sql} ${groupBy}`, params };
}
