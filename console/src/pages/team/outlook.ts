/** The outlook of a budget, and its remaining amount per day. */
import type * as api from '../../api/operations.ts';
import type { Tone } from '../../parts/values.tsx';

/** The forecast from `/api`. */
export type Forecast = api.Forecast;
/** A department of the forecast. */
export type DepartmentForecast = Forecast['departments'][number];
/** A budget of a department. */
export type Budget = DepartmentForecast['budgets'][number];

/** The outlooks. */
export type Outlook = 'within' | 'tight' | 'over' | 'used';
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
export interface Burn {
  readonly days: readonly number[];
  /** Null for future days. */
  readonly actual: readonly (number | null)[];
  /** Null for past days. */
  readonly ahead: readonly (number | null)[];
  /** Even spending of the budget; undefined without a monthly budget. */
  readonly even: readonly number[] | undefined;
}

/** The remaining budget per day, or the spending without a budget. `spent`: per day of the month up to today. */
export function burnOf(
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
