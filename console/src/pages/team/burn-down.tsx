/** The outlook of a budget: its remaining amount per day, as a chart. */
import { NativeSelect, Select } from '@mantine/core';
import { useApi } from '../../api/hooks.ts';
import type * as api from '../../api/operations.ts';
import { Chart, type Series } from '../../parts/chart.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { Section } from '../../parts/page.tsx';
import type { Tone } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from './text.ts';
import type { Change, View } from './view.ts';

/** The section. */
export function BurnDown({
  forecast,
  view,
  change,
  nameOf,
}: {
  readonly forecast: Forecast;
  readonly view: View;
  change(change: Change): void;
  nameOf(id: number, name: string): string;
}) {
  const text = useText();
  const format = useFormat();
  const [id = '', period] = view.of.split(' ');
  const department = forecast.departments.find(({ department_id }) => `${department_id}` === id);
  const budgets = department?.budgets ?? [];
  const budget = budgets.find((each) => each.period === period) ?? budgets[0];
  const now = Date.now() / 1_000;
  const trend = useApi(
    'GET /api/usage/trend',
    {
      search: {
        start_timestamp: forecast.month_start,
        end_timestamp: forecast.month_end - 1,
        granularity: 'day',
        group_by: 'none',
        ...(department !== undefined && { department_id: department.department_id }),
      },
    },
    { refetchOnWindowFocus: false },
  );
  const name = nameOf(department?.department_id ?? 0, department?.name ?? '');
  const title = budget === undefined ? text.burn.spending(name) : text.burn.title(name);
  const choices = [
    { value: '', label: text.words.allUsers },
    ...forecast.departments
      .map((each) => ({ value: `${each.department_id}`, label: nameOf(each.department_id, each.name) }))
      .sort((a, b) => a.label.localeCompare(b.label)),
  ];
  return (
    <Section
      title={title}
      actions={
        <>
          {choices.length > 1 && (
            <Select
              size="xs"
              aria-label={text.words.department}
              data={choices}
              value={department === undefined ? '' : id}
              onChange={(chosen) => change({ of: chosen ?? '' })}
              searchable
              limit={50}
              allowDeselect={false}
            />
          )}
          {budgets.length > 1 && (
            <NativeSelect
              size="xs"
              aria-label={text.words.budget}
              data={budgets.map((each) => ({
                value: each.period,
                label: each.period === 'month' ? text.burn.monthBudget : text.words.totalBudget,
              }))}
              value={budget?.period ?? ''}
              onChange={(event) => change({ of: `${id} ${event.currentTarget.value}` })}
            />
          )}
        </>
      }
    >
      <Loaded query={trend} height={290}>
        {({ items }) => {
          const spent = new Map(items.map(({ timestamp, quota }) => [timestamp, quota]));
          const perDay = (department ?? forecast.total).daily_mean_7;
          const { days, actual, ahead, even } = burnOf(forecast, spent, perDay, budget, now);
          const series: Series[] = [
            { name: budget === undefined ? text.burn.spent : text.burn.left, values: actual },
            { name: text.burn.ahead, values: ahead, line: 'dashed' },
            ...(even === undefined ? [] : [{ name: text.burn.even, values: even, line: 'solid' as const, rest: true }]),
          ];
          return (
            <Chart
              label={title}
              times={days}
              series={series}
              bars
              stacked
              height={240}
              unit={text.burn.unit}
              show={format.money}
            />
          );
        }}
      </Loaded>
    </Section>
  );
}

/** The forecast from `/api`. */
export type Forecast = api.Forecast;
/** A department of the forecast. */
export type DepartmentForecast = Forecast['departments'][number];
/** A budget of a department. */
export type Budget = DepartmentForecast['budgets'][number];

/** The outlooks. */
type Outlook = 'within' | 'tight' | 'over' | 'used';
/** Their colours. */
export const MOODS: Readonly<Record<Outlook, Tone>> = { within: 'good', tight: 'warn', over: 'bad', used: 'bad' };

/** From this share on, a forecast counts as close to the budget. */
const TIGHT = 0.9;
const DAY_S = 86_400;

/** The outlook of a budget. A total budget is tight if it ends within the next month. */
export function outlookOf(
  { spent, projected }: Pick<DepartmentForecast, 'spent' | 'projected'>,
  budget: Budget,
  monthEnd: number,
): Outlook {
  if (budget.remaining <= 0) return 'used';
  if (budget.used_up_on !== null && Date.parse(budget.used_up_on) / 1_000 < monthEnd) return 'over';
  if (budget.period === 'month') return budget.used + projected - spent >= budget.budget * TIGHT ? 'tight' : 'within';
  const soon = budget.used_up_on !== null && Date.parse(budget.used_up_on) / 1_000 < monthEnd + 31 * DAY_S;
  return soon ? 'tight' : 'within';
}

/** The days of a month; values are at the end of each day, for today the current ones. */
interface Burn {
  readonly days: readonly number[];
  /** Null for future days. */
  readonly actual: readonly (number | null)[];
  /** Null for past days. */
  readonly ahead: readonly (number | null)[];
  /** Even spending of the budget; undefined without a monthly budget. */
  readonly even: readonly number[] | undefined;
}

/** The remaining budget per day, or the spending without a budget. `spent`: per day of the month up to today. */
function burnOf(
  { month_start, month_end }: Pick<Forecast, 'month_start' | 'month_end'>,
  spent: ReadonlyMap<number, number>,
  perDay: number,
  budget: Budget | undefined,
  now: number,
): Burn {
  const days: number[] = [];
  for (let day = month_start; day < month_end; day += DAY_S) days.push(day);
  const today = days.findLastIndex((day) => day <= now);
  const restOfToday = 1 - ((now - month_start) % DAY_S) / DAY_S;
  const total = days.reduce((sum, day) => sum + (spent.get(day) ?? 0), 0);
  let sum = 0;
  const actual = days.map((day, at) => {
    sum += spent.get(day) ?? 0;
    if (at > today) return null;
    // The current remainder is from the ledger; that of earlier days is derived from later spending.
    return budget === undefined ? sum : budget.remaining + total - sum;
  });
  const last = actual[today] ?? 0;
  const ahead = days.map((_, at) => {
    if (at < today) return null;
    if (at === today) return last;
    const more = perDay * (at - today + restOfToday);
    return Math.round(budget === undefined ? last + more : Math.max(0, last - more));
  });
  const even =
    budget?.period === 'month'
      ? days.map((_, at) => Math.round(budget.budget * (1 - (at + 1) / days.length)))
      : undefined;
  return { days, actual, ahead, even };
}
