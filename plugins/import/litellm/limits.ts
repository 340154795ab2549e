/**
 * The limits of LiteLLM's keys: rates and budgets that reset, of all models or of single ones. Its budgets reset at the
 * ends of calendar days, weeks and months, as ours do. Facts: docs.litellm.ai/docs/proxy/users.
 */
import type { KeyLimit } from '../../../core/contracts/identity.ts';
import type { Period } from '../../../core/sdk.ts';
import { amountOf, asObject, grantable, jsonOf, microOf, objectOf, type Row, textOf } from '../values.ts';

/** Durations of budgets that are calendar periods. */
const PERIODS_OF: Readonly<Record<string, Period>> = {
  ...{ '1d': 'day', '24h': 'day', daily: 'day', '7d': 'week', '1w': 'week', weekly: 'week' },
  ...{ '30d': 'month', '31d': 'month', '1mo': 'month', monthly: 'month' },
};
/** The columns of rates. Those of single models have the same names, in the metadata: `model_rpm_limit`. */
const RATES = {
  rpm_limit: 'requestsPerMinute',
  tpm_limit: 'tokensPerMinute',
  max_parallel_requests: 'concurrent',
} as const;
/** The largest rate here: more is no limit. */
const LARGEST_RATE = 1_000_000_000;

/** The calendar period of a duration; undefined if there is none. */
export function periodOf(duration: string | undefined): Period | undefined {
  return duration !== undefined && Object.hasOwn(PERIODS_OF, duration) ? PERIODS_OF[duration] : undefined;
}

/** The limits of a key. */
export interface FoundLimits {
  readonly limits: readonly KeyLimit[];
  /** What cannot be a limit here, as written there. */
  readonly others: readonly string[];
}

/** Reads them. `shared`: the row of the budget that the key has in common with others; `perUnit`: quota units in a dollar. */
export function limitsOf(row: Row, shared: Row, perUnit: number): FoundLimits {
  type Found = { -readonly [K in keyof Omit<KeyLimit, 'budgets'>]: KeyLimit[K] } & {
    budgets?: Partial<Record<Period, bigint>>;
  };
  const found = new Map<string | undefined, Found>();
  const others: string[] = [];
  const at = (model: string | undefined): Found => {
    const limit = found.get(model) ?? (model === undefined ? {} : { model });
    found.set(model, limit);
    return limit;
  };
  const of = (model: string | undefined): string => (model === undefined ? '' : ` of ${model}`);

  function addRate(column: keyof typeof RATES, value: unknown, model?: string): void {
    if (value === undefined || value === null) return;
    const rate = Number(value);
    if (Number.isInteger(rate) && rate > 0) at(model)[RATES[column]] = Math.min(rate, LARGEST_RATE);
    else others.push(`${column} ${value}${of(model)}`);
  }

  function addBudget(budget: unknown, duration: string | undefined, model?: string): void {
    const amount = amountOf(budget);
    if (amount === undefined) return;
    const period = periodOf(duration);
    if (period === undefined) {
      others.push(`a budget${of(model)} ${duration === undefined ? 'that never resets' : `for every ${duration}`}`);
      return;
    }
    const limit = at(model);
    limit.budgets = { ...limit.budgets, [period]: grantable(microOf(amount, { digits: 0n, scale: 0 }, perUnit)) };
  }

  const metadata = objectOf(row, 'metadata');
  for (const column of Object.keys(RATES) as (keyof typeof RATES)[]) {
    addRate(column, textOf(row, column) ?? textOf(shared, column));
    for (const [model, value] of Object.entries(objectOf(metadata, `model_${column}`))) addRate(column, value, model);
  }
  const duration = textOf(row, 'budget_duration') ?? textOf(shared, 'budget_duration');
  // One that is no period here is the limit of the key.
  if (periodOf(duration) !== undefined) addBudget(row.max_budget ?? shared.max_budget, duration);
  const windows = jsonOf(row, 'budget_limits');
  for (const window of Array.isArray(windows) ? windows.map(asObject) : [])
    addBudget(window.max_budget, textOf(window, 'budget_duration'));
  const ofModels = { ...objectOf(shared, 'model_max_budget'), ...objectOf(row, 'model_max_budget') };
  for (const [model, value] of Object.entries(ofModels)) {
    const budget = typeof value === 'object' ? asObject(value) : { max_budget: value };
    const its = textOf(budget, 'budget_duration') ?? textOf(budget, 'time_period') ?? duration;
    addBudget(budget.max_budget ?? budget.budget_limit, its, model);
    for (const column of ['rpm_limit', 'tpm_limit'] as const) addRate(column, budget[column], model);
  }
  const daily = textOf(row, 'tpd_limit') ?? textOf(shared, 'tpd_limit');
  if (daily !== undefined) others.push(`tpd_limit ${daily}`);
  const soft = textOf(row, 'soft_budget') ?? textOf(shared, 'soft_budget');
  if (soft !== undefined) others.push(`a soft budget of ${soft}`);
  return { limits: [...found.values()], others };
}
