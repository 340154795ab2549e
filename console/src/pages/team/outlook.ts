/** How a budget is likely to end, in one word; and what is left of it day by day. */
import type * as api from '../../api/operations.ts';
import type { Mood } from '../../parts/values.tsx';

/** What `/api` tells. */
export type Forecast = api.Forecast;
/** A department of it. */
export type DepartmentForecast = Forecast['departments'][number];
/** A budget of that. */
export type Budget = DepartmentForecast['budgets'][number];

/** The words. */
export type Outlook = 'within' | 'tight' | 'over' | 'used';
/** Their moods. */
export const MOODS: Readonly<Record<Outlook, Mood>> = { within: 'good', tight: 'warn', over: 'bad', used: 'bad' };

/** From this share of a budget on, what is expected is close to all of it. */
const TIGHT = 0.9;
const DAY_S = 86_400;

/** The word for a budget. One without an end of its month is tight when it ends within the month after this one. */
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

/** A month by its days; values are those of each day's end, today's those of now. */
export interface Burn {
  readonly days: readonly number[];
  /** Null ahead of today. */
  readonly known: readonly (number | null)[];
  /** Null before today. */
  readonly ahead: readonly (number | null)[];
  /** The budget spent evenly; undefined where there is none, or it is not one of a month. */
  readonly even: readonly number[] | undefined;
}

/** What is left of a budget, or without one what was spent, on every day of the month. `spent`: per day of the month, up to today. */
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
  const known = days.map((day, at) => {
    sum += spent.get(day) ?? 0;
    if (at > today) return null;
    // What the ledger says is left now is true; days before are told from what was spent since.
    return budget === undefined ? sum : budget.remaining + total - sum;
  });
  const last = known[today] ?? 0;
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
  return { days, known, ahead, even };
}
