/** Sums of usage: whole days and hours from the tables of sums, the rest of a range at both ends from the records. */
import type { Records, UsageDimension, UsageFilter, UsageSum } from '../../core/contracts/records.ts';
import type { Host, Reader } from '../../core/plugin.ts';
import {
  all,
  type Condition,
  condition,
  largestPartsSql,
  partsOfSum,
  readSum,
  sumOfPartsSql,
  sumPartsSql,
  sumSql,
} from '../../core/sdk.ts';
import { dayOf, hourOf } from './additions.ts';
import { ofRecords, oneOf, recordsWithin } from './conditions.ts';
import { timeOf } from './ids.ts';
import { CALLS, COUNTED, ERRORS, sqlList } from './kinds.ts';
import { rolledUntil } from './roll-up.ts';
import {
  areFewAccounts,
  DAYS,
  HOURS_OF_DAYS,
  readSums,
  type Span,
  type SumQuery,
  type Sums,
  TAGS,
  wholeSpan,
} from './sum-tables.ts';
import { DAY_MS, HOUR_MS, IS_ERROR } from './tables.ts';
import { tokensOfRecord, tokensOfSum } from './tokens.ts';

const MINUTE_MS = 60_000;

interface SumRow {
  readonly timeMs?: number;
  readonly accountId?: number;
  readonly keyId?: number;
  readonly model?: string;
  readonly channel?: string;
  readonly departmentId?: number;
  readonly tag?: string;
  /** Null: no rows. */
  readonly calls: number | null;
  readonly errors: number;
  readonly charged: string;
  readonly included: string;
  readonly input: number;
  readonly output: number;
}

/** The model of a record as in daily sums. */
const MODEL_OF_RECORD = `CASE WHEN ${IS_ERROR} AND channel = '' THEN '' ELSE model END`;

/** The dimensions to select and group by: name, expression for sums, expression for records. For records the time is that of their hour. */
const DIMENSIONS: Readonly<Record<UsageDimension, readonly [as: string, ofSums: string, ofRecords?: string]>> = {
  hour: ['timeMs', 'begin_ms'],
  day: ['timeMs', `begin_ms / ${DAY_MS} * ${DAY_MS}`],
  account: ['accountId', 'account_id', 'account_id'],
  key: ['keyId', 'key_id', 'key_id'],
  model: ['model', HOURS_OF_DAYS.model, MODEL_OF_RECORD],
  channel: ['channel', 'channel', 'channel'],
  department: ['departmentId', 'department_id', 'department_id'],
  tag: ['tag', 'tag'],
};

const AMOUNTS_OF_SUMS = { charged: 'amount', included: 'included' };
const AMOUNTS_OF_RECORDS = { charged: 'charged', included: 'CASE included WHEN 1 THEN charged ELSE 0 END' };
const COUNTS_OF_SUMS = `SUM(CASE WHEN kind IN (${sqlList(ERRORS)}) THEN 0 ELSE lines + repeats END) AS calls,
  SUM(CASE WHEN kind IN (${sqlList(ERRORS)}) THEN lines + repeats ELSE 0 END) AS errors,
  SUM(${tokensOfSum('input')}) AS input, SUM(${tokensOfSum('output')}) AS output`;
const COUNTS_OF_RECORDS = `SUM(CASE WHEN ${IS_ERROR} THEN 0 ELSE 1 + repeats END) AS calls,
  SUM(CASE WHEN ${IS_ERROR} THEN 1 + repeats ELSE 0 END) AS errors,
  SUM(${tokensOfRecord('input')}) AS input, SUM(${tokensOfRecord('output')}) AS output`;

/** The sums to select, as rows that `add` reads, or as parts of a statement that adds them up. */
interface SumColumns {
  readonly ofSums: string;
  readonly ofRecords: string;
}
const AS_ROWS = sumColumns((expression, name) => `${sumSql(expression)} AS ${name}`);
const AS_PARTS = sumColumns(sumPartsSql);

function sumColumns(amount: (expression: string, name: string) => string): SumColumns {
  const amounts = (of: typeof AMOUNTS_OF_SUMS): string =>
    `${amount(of.charged, 'charged')}, ${amount(of.included, 'included')}`;
  return {
    ofSums: `${COUNTS_OF_SUMS}, ${amounts(AMOUNTS_OF_SUMS)}`,
    ofRecords: `${COUNTS_OF_RECORDS}, ${amounts(AMOUNTS_OF_RECORDS)}`,
  };
}

/** `keepMs`: retention of records. */
export function createSums(host: Host, keepMs: number): Pick<Records, 'sums' | 'rate'> {
  const { store, clock } = host;
  return {
    async sums(filter, by, most) {
      const kept = await keptSums(store, clock.now(), keepMs);
      const { fromMs = 0, untilMs = Infinity } = filter;
      if (kept === undefined || fromMs >= untilMs) return [];
      const plan = planOf(filter, by, kept, hourOf(clock.now() - keepMs) + HOUR_MS);
      const sums = new Map<string, UsageSum>();
      if (most !== undefined && by.length > 0 && areFewAccounts(filter)) {
        const statement = topOf(plan, filter, by, most);
        if (statement === undefined) return [];
        for (const row of await store.all<SumRow>(statement.sql, ...statement.params)) add(sums, row);
        return [...sums.values()];
      }
      const query = queryOf(plan, filter, by, AS_ROWS);
      for (const [table, span] of plan.spans)
        for await (const row of readSums<SumRow>(host, table, span, query)) add(sums, row);
      for (const span of plan.rest) {
        const { sql, params } = fromRecords(filter, by, span, AS_ROWS);
        const timeMs = timeIn(span, by);
        for (const row of await store.all<SumRow>(sql, ...params)) add(sums, { ...row, timeMs });
      }
      return most === undefined ? [...sums.values()] : dearest([...sums.values()], most);
    },

    async rate(filter) {
      const span = { fromMs: clock.now() - MINUTE_MS, untilMs: clock.now() + MINUTE_MS };
      const { sql, params } = recordsIn(filter, span);
      const row = await store.one<{ calls: number | null; tokens: number | null }>(
        `SELECT SUM(1 + repeats) AS calls, SUM(${tokensOfRecord('input')} + ${tokensOfRecord('output')}) AS tokens
          FROM usage_brief WHERE ${sql} AND NOT (${IS_ERROR})`,
        ...params,
      );
      return { calls: row?.calls ?? 0, tokens: row?.tokens ?? 0 };
    },
  };
}

/** Where the sums of a query are: in tables of sums, and at both ends of the range in the records. */
interface Plan {
  readonly spans: readonly (readonly [Sums, Span])[];
  readonly rest: readonly Span[];
  readonly isOfTags: boolean;
}

function planOf(filter: UsageFilter, by: readonly UsageDimension[], kept: Kept, recordsMs: number): Plan {
  const { fromMs = 0, untilMs = Infinity, tag, tags, otherTags } = filter;
  if ((tag ?? tags ?? otherTags) !== undefined || by.includes('tag')) {
    const days = {
      fromMs: dayOf(Math.max(kept.fromMs, fromMs)),
      untilMs: dayOf(Math.min(kept.untilMs, untilMs) + DAY_MS - 1),
    };
    return { spans: [[TAGS, days]], rest: [], isOfTags: true };
  }
  const { whole, rest } = splitAtHours(filter, kept, recordsMs);
  const { days, hours } = splitAtDays(whole, kept, by.includes('hour'));
  return { spans: [[DAYS, days], ...hours.map((span) => [HOURS_OF_DAYS, span] as const)], rest, isOfTags: false };
}

function queryOf(
  { isOfTags }: Plan,
  filter: UsageFilter,
  by: readonly UsageDimension[],
  { ofSums }: SumColumns,
): SumQuery {
  const isByAccount = !isOfTags && (by.includes('account') || by.includes('key'));
  return { select: select(by, 1, ofSums), filter, kinds: COUNTED, groupBy: groupBy(by), isByAccount };
}

/** The statement that reads the groups with the highest cost, of few accounts; undefined if there can be none. */
function topOf(plan: Plan, filter: UsageFilter, by: readonly UsageDimension[], most: number): Condition | undefined {
  const query = queryOf(plan, filter, by, AS_PARTS);
  const names = by.map((name) => `"${DIMENSIONS[name][0]}"`).join(', ');
  const columns = `${names}, calls, errors, input, output, ${partsOfSum('charged')}, ${partsOfSum('included')}`;
  const parts = [
    ...plan.spans
      .filter(([, { fromMs, untilMs }]) => fromMs < untilMs)
      .map(([table, span]) => wholeSpan(table, span, query)),
    ...plan.rest.map((span) => fromRecords(filter, by, span, AS_PARTS, timeIn(span, by))),
  ];
  if (parts.length === 0) return undefined;
  const union = parts.map(({ sql }, i) => `SELECT ${columns} FROM (${sql}) AS part${i}`).join(' UNION ALL ');
  return {
    sql: `SELECT ${names}, SUM(calls) AS calls, SUM(errors) AS errors, SUM(input) AS input, SUM(output) AS output,
      ${sumOfPartsSql('charged')} AS charged, ${sumOfPartsSql('included')} AS included
      FROM (${union}) AS parts GROUP BY ${names} ORDER BY ${largestPartsSql('charged')}, SUM(calls) DESC LIMIT ?`,
    params: [...parts.flatMap(({ params }) => params), most],
  };
}

/** The groups with the highest cost; among free ones, those with the most calls. */
function dearest(sums: readonly UsageSum[], most: number): readonly UsageSum[] {
  const order = (a: UsageSum, b: UsageSum): number =>
    a.charged === b.charged ? b.calls - a.calls : a.charged < b.charged ? 1 : -1;
  return [...sums].sort(order).slice(0, most);
}

/** The available sums. */
interface Kept extends Span {
  /** From this day on there are hourly sums. */
  readonly hoursMs: number;
  /** Before this day there are daily sums. */
  readonly rolledMs: number;
}

/** Undefined if there are none. */
async function keptSums(reader: Reader, nowMs: number, keepMs: number): Promise<Kept | undefined> {
  const edge = async (sql: string) => (await reader.one<{ ms: number | null }>(sql))?.ms ?? undefined;
  const [firstDay, firstHour, lastHour, untilHour] = await Promise.all([
    edge('SELECT MIN(begin_ms) AS ms FROM usage_day'),
    edge('SELECT MIN(begin_ms) AS ms FROM usage_hour'),
    edge('SELECT MAX(begin_ms) AS ms FROM usage_hour'),
    rolledUntil(reader),
  ]);
  const rolledMs = dayOf(untilHour);
  // Days that retention has reached may be partly deleted.
  const reachedMs = Math.min(dayOf(nowMs - keepMs), rolledMs);
  const hoursMs = firstHour === undefined ? rolledMs : Math.max(dayOf(firstHour), reachedMs);
  const fromMs = Math.min(firstDay ?? Infinity, hoursMs);
  const untilMs = Math.max(rolledMs, (lastHour ?? -HOUR_MS) + HOUR_MS);
  return fromMs < untilMs ? { fromMs, untilMs, hoursMs, rolledMs } : undefined;
}

/**
 * Splits a range into whole hours and the rest at both ends. The rest is read from the records if all of them exist (from `recordsMs` on);
 * otherwise the whole hour counts.
 */
function splitAtHours(filter: UsageFilter, kept: Kept, recordsMs: number) {
  const fromMs = Math.max(kept.fromMs, filter.fromMs ?? 0);
  const untilMs = Math.max(fromMs, Math.min(kept.untilMs, filter.untilMs ?? Infinity));
  const canSplit = (atMs: number): boolean => atMs % HOUR_MS !== 0 && hourOf(atMs) >= recordsMs;
  const rest: Span[] = [];
  const whole = { fromMs: hourOf(fromMs), untilMs: hourOf(untilMs + HOUR_MS - 1) };
  if (canSplit(fromMs)) {
    whole.fromMs += HOUR_MS;
    rest.push({ fromMs, untilMs: Math.min(whole.fromMs, untilMs) });
  }
  if (canSplit(untilMs) && whole.untilMs > whole.fromMs) {
    whole.untilMs -= HOUR_MS;
    rest.push({ fromMs: whole.untilMs, untilMs });
  }
  return { whole, rest };
}

/** Splits hours into whole days and the hours before and after. A day without hourly sums counts as a whole. */
function splitAtDays(whole: Span, { hoursMs, rolledMs }: Kept, byHour: boolean) {
  const hasHours = (atMs: number): boolean => dayOf(atMs) >= hoursMs;
  const fromMs = hasHours(whole.fromMs) ? whole.fromMs : dayOf(whole.fromMs);
  const untilMs = hasHours(whole.untilMs) ? whole.untilMs : dayOf(whole.untilMs + DAY_MS - 1);
  const firstMs = dayOf(fromMs + DAY_MS - 1);
  const endMs = Math.min(dayOf(untilMs), byHour ? hoursMs : rolledMs);
  if (firstMs >= endMs) return { days: { fromMs: 0, untilMs: 0 }, hours: [{ fromMs, untilMs }] };
  return {
    days: { fromMs: firstMs, untilMs: endMs },
    hours: [
      { fromMs, untilMs: firstMs },
      { fromMs: endMs, untilMs },
    ],
  };
}

/** `span`: within one hour. `timeMs`: a column with this time. */
function fromRecords(
  filter: UsageFilter,
  by: readonly UsageDimension[],
  span: Span,
  { ofRecords: sums }: SumColumns,
  timeMs?: number,
): Condition {
  const { sql, params } = recordsIn(filter, span);
  const others = by.filter((name) => DIMENSIONS[name][2] !== undefined);
  const time = timeMs === undefined || others.length === by.length ? '' : `, CAST(${timeMs} AS BIGINT) AS "timeMs"`;
  const grouped = groupBy(others);
  // Without groups there is one row of nulls even if nothing matches.
  const matching = time === '' || grouped !== '' ? '' : ' HAVING COUNT(*) > 0';
  return {
    sql: `SELECT ${select(others, 2, sums)}${time} FROM usage_brief WHERE ${sql} ${grouped}${matching}`,
    params,
  };
}

function recordsIn({ model, models, departments, ...filter }: UsageFilter, { fromMs, untilMs }: Span): Condition {
  return all(
    recordsWithin({ low: timeOf(fromMs), high: timeOf(untilMs), run: '' }),
    ...ofRecords(filter, CALLS),
    condition(`${MODEL_OF_RECORD} = ?`, model),
    oneOf(MODEL_OF_RECORD, models),
    oneOf('department_id', departments),
  );
}

/** The hour or day of a time within an hour; 0 if the query does not group by time. */
function timeIn({ fromMs }: Span, by: readonly UsageDimension[]): number {
  if (by.includes('hour')) return hourOf(fromMs);
  return by.includes('day') ? dayOf(fromMs) : 0;
}

function select(by: readonly UsageDimension[], place: 1 | 2, sums: string): string {
  return [...by.map((name) => `${DIMENSIONS[name][place]} AS "${DIMENSIONS[name][0]}"`), sums].join(', ');
}

function groupBy(by: readonly UsageDimension[]): string {
  return by.length === 0 ? '' : `GROUP BY ${by.map((_, i) => i + 1).join(', ')}`;
}

function add(sums: Map<string, UsageSum>, row: SumRow): void {
  // Without `GROUP BY` there is one row even without matches.
  if (row.calls === null) return;
  const { timeMs = 0, accountId = 0, keyId = 0, model = '', channel = '', departmentId = 0, tag = '' } = row;
  const name = JSON.stringify([timeMs, accountId, keyId, departmentId, channel, model, tag]);
  const before = sums.get(name);
  sums.set(name, {
    ...{ timeMs, accountId, keyId, model, channel, departmentId, tag },
    calls: row.calls + (before?.calls ?? 0),
    errors: row.errors + (before?.errors ?? 0),
    charged: readSum(row.charged) + (before?.charged ?? 0n),
    included: readSum(row.included) + (before?.included ?? 0n),
    input: row.input + (before?.input ?? 0),
    output: row.output + (before?.output ?? 0),
  });
}
