/** Spending forecast for this month, for administrators: in total, and by department with its budgets. */

import { type Department, Departments } from '../../../../core/contracts/departments.ts';
import { type Balance, Ledger } from '../../../../core/contracts/ledger.ts';
import { Records, type UsageSum } from '../../../../core/contracts/records.ts';
import { integer, list, listOf, record, text, unixSeconds } from '../../format/schemas.ts';
import { DAY_MS, dateOf, secondsOf, unitsOf } from '../../format/units.ts';
import { budgetUse, monthOf } from '../../records/people/department.ts';
import { branchOf } from '../../records/usage/usage-range.ts';
import { type ApiRoute, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Team');
/** Whole days that averages are computed over. */
const SHORT = 7;
const LONG = 28;
/** A budget that lasts longer than that, in days, has no end date. */
const FARTHEST_DAYS = 3_660;

/** Past spending of some departments, or of all, in micro-quota. */
interface Spending {
  readonly month: bigint;
  /** Per whole day before today, newest first. */
  readonly days: readonly bigint[];
}

const method =
  'Spending since the month began (UTC), plus the mean of the last seven whole days for the rest of the month.';
const mean = (days: number) => ({
  ...integer,
  description: `Quota units per day: the mean of the last ${days} whole days, or of all since the first call if they are fewer.`,
});
const spendingProperties = {
  spent: { ...integer, description: 'Spent in this calendar month (UTC), in quota units.' },
  daily_mean_7: mean(SHORT),
  daily_mean_28: mean(LONG),
  projected: { ...integer, description: 'Forecast for the whole month, in quota units.' },
  confidence: {
    enum: ['usual', 'low'],
    description: `low: there were calls on fewer than ${SHORT} of the last ${LONG} whole days.`,
  },
} as const;
const budgetProperties = {
  period: { enum: ['total', 'month'] },
  budget: { ...integer, description: 'Quota units.' },
  used: integer,
  remaining: integer,
  used_up_on: {
    type: ['string', 'null'],
    description:
      'The day (UTC) on which the budget is used up at the mean of seven days; null: it lasts (a monthly budget: until the end of the month).',
  },
} as const;

export function forecastRoutes(tools: Tools): readonly ApiRoute[] {
  const { host, need } = tools;
  return [
    route('admin', 'GET', '/api/team/forecast', {
      summary: 'Forecasts spending for this month: in total, and for each department with those below it.',
      answer: record('Forecast', {
        month_start: unixSeconds,
        month_end: unixSeconds,
        method: { ...text, description: 'How the forecast is computed.' },
        total: record('Spending', spendingProperties),
        departments: list({
          department_id: integer,
          name: text,
          parent_id: { type: ['integer', 'null'] },
          ...spendingProperties,
          budgets: listOf('BudgetForecast', budgetProperties),
        }),
      }),
      async handle() {
        const nowMs = host.clock.now();
        const { startMs, endMs } = monthOf(nowMs);
        const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
        const fromMs = Math.min(startMs, today - LONG * DAY_MS);
        const sums = await need(Records).sums({ fromMs }, ['day', 'department']);
        const leftDays = (endMs - nowMs) / DAY_MS;

        const departments = host.find(Departments)?.all() ?? [];
        const ids = departments.map(({ id }) => id);
        const ledger = host.find(Ledger);
        const totals = await ledger?.balances('department', ids);
        const months = await ledger?.balances('department-month', ids, startMs);

        const spending = (of: readonly UsageSum[]): Spending => spendingOf(of, startMs, today);
        const budgetsOf = ({ id, budget, monthlyBudget }: Department, perDay: bigint) => [
          ...budgetLine('total', budget, totals?.get(id), perDay, nowMs, FARTHEST_DAYS),
          ...budgetLine('month', monthlyBudget, months?.get(id), perDay, nowMs, leftDays),
        ];
        return {
          month_start: secondsOf(startMs),
          month_end: secondsOf(endMs),
          method,
          total: shownSpending(spending(sums), leftDays),
          departments: departments.map((department) => {
            const below = new Set(branchOf(tools, department.id).map(({ id }) => id));
            const own = spending(sums.filter(({ departmentId }) => below.has(departmentId)));
            return {
              department_id: department.id,
              name: department.name,
              parent_id: department.parentId ?? null,
              ...shownSpending(own, leftDays),
              budgets: budgetsOf(department, meanOf(own, SHORT)),
            };
          }),
        };
      },
    }),
  ];
}

function spendingOf(sums: readonly UsageSum[], monthMs: number, today: number): Spending {
  const days = Array.from({ length: LONG }, () => 0n);
  let month = 0n;
  let knownDays = 0;
  for (const { timeMs, charged, calls } of sums) {
    if (timeMs >= monthMs) month += charged;
    const ago = (today - timeMs) / DAY_MS;
    if (ago < 1 || ago > LONG) continue;
    days[ago - 1]! += charged;
    if (calls > 0) knownDays = Math.max(knownDays, ago);
  }
  return { month, days: days.slice(0, knownDays) };
}

/** The mean of the last days, or of as many as there are. */
function meanOf({ days }: Spending, most: number): bigint {
  const recent = days.slice(0, most);
  return recent.length === 0 ? 0n : recent.reduce((sum, day) => sum + day, 0n) / BigInt(recent.length);
}

function shownSpending(spending: Spending, leftDays: number) {
  const perDay = meanOf(spending, SHORT);
  return {
    spent: unitsOf(spending.month),
    daily_mean_7: unitsOf(perDay),
    daily_mean_28: unitsOf(meanOf(spending, LONG)),
    projected: unitsOf(spending.month + times(perDay, leftDays)),
    confidence: spending.days.length < SHORT ? 'low' : 'usual',
  };
}

/** The state of a budget and how long it lasts; undefined without a limit. `mostDays`: no end date beyond that. */
function budgetLine(
  period: 'total' | 'month',
  limit: bigint | undefined,
  of: Balance | undefined,
  perDay: bigint,
  nowMs: number,
  mostDays: number,
) {
  if (limit === undefined) return [];
  const { limit: budget, used, remaining } = budgetUse(limit, of);
  const left = limit - (of?.used ?? 0n);
  const lastsDays = left <= 0n ? 0 : perDay === 0n ? Infinity : Number(left) / Number(perDay);
  const day = lastsDays < mostDays ? dateOf(nowMs + lastsDays * DAY_MS) : null;
  return [{ period, budget, used, remaining, used_up_on: day }];
}

/** Multiplies an amount by a number, accurate to a millionth. */
function times(amount: bigint, factor: number): bigint {
  return (amount * BigInt(Math.round(factor * 1e6))) / 1_000_000n;
}
