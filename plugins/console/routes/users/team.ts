/** Usage of all users, for administrators: by user, department and model, and the state of budgets. */

import { Departments } from '../../../../core/contracts/departments.ts';
import { type Balance, Ledger } from '../../../../core/contracts/ledger.ts';
import { Records, type UsageDimension, type UsageFilter, type UsageSum } from '../../../../core/contracts/records.ts';
import type { Answer, Awaitable } from '../../../../core/plugin.ts';
import { integer, list, listOf, number, object, queryOf, record, text } from '../../format/schemas.ts';
import { DAY_MS, perUnitOf, quotaNumber, secondsOf } from '../../format/units.ts';
import { monthOf } from '../../records/people/department.ts';
import { createNames, type Names } from '../../records/people/names.ts';
import type { TimesQuery } from '../../records/usage/log-search.ts';
import {
  branchOf,
  granularityProperty,
  rangeOf,
  rangeProperties,
  type SummedRow,
  sumsFile,
  topProperty,
  USAGE_ERRORS,
  type UsageQuery,
  type UsageRow,
  usageFile,
  usageFilter,
  usageProperties,
} from '../../records/usage/usage-range.ts';
import { dearest, shownSums, sumCells, sumProperties, sumsSchema } from '../../records/usage/usage-sums.ts';
import { granularities, TREND_COLUMNS, teamGroupings, trendItem, usageTrend } from '../../records/usage/usage-trend.ts';
import { type ApiRoute, type ConsoleRequest, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Team');
/** Members and models per response. */
const MOST_ROWS = 10_000;

/** A response of rows with sums. */
interface SummedAnswer extends Required<TimesQuery> {
  readonly items: readonly SummedRow[];
  readonly granularity?: string;
  readonly group_by?: string;
}

const nullable = (description: string, type: 'integer' | 'number' = 'integer') => ({
  type: [type, 'null'],
  description,
});

const { token_id: _, channel: __, ...filters } = usageProperties;
const teamSearch = queryOf(filters);

export function teamRoutes(tools: Tools): readonly ApiRoute[] {
  const { host, verification, need } = tools;
  const sumsOf = (filter: UsageFilter, ...by: readonly UsageDimension[]): Promise<readonly UsageSum[]> =>
    need(Records).sums(filter, by);

  const toItems = (sums: readonly UsageSum[]) => shownSums(sums, perUnitOf(host));

  const departmentName = (id: number): string => host.find(Departments)?.get(id)?.name ?? '';

  /** The response, or its rows as a file. */
  function answered(
    request: ConsoleRequest<unknown, UsageQuery>,
    json: unknown,
    file: () => Answer | Promise<Answer>,
  ): unknown | Answer {
    if (request.query.format === 'json') return json;
    verification.demand(request);
    return file();
  }

  /** The same for rows with sums, with their total. */
  function summed(
    request: ConsoleRequest<unknown, UsageQuery>,
    json: SummedAnswer,
    name: string,
    columns: readonly string[],
  ): unknown | Answer {
    return answered(request, json, async () => {
      const { query } = request;
      const total = toItems(await sumsOf(await usageFilter(tools, query, json)));
      return sumsFile(tools, { name: `team-${name}`, times: json, query }, columns, json.items, total);
    });
  }

  const totalProperties = {
    ...sumProperties,
    active_members: { ...integer, description: 'Users with served calls.' },
    active_keys: integer,
    active_models: integer,
  };
  const budgetProperties = {
    department_id: integer,
    name: text,
    parent_id: nullable('The parent department.'),
    period: { enum: ['total', 'month'] },
    period_start: nullable('Unix seconds.'),
    period_end: nullable('Unix seconds.'),
    budget: nullable('Quota units, with a fraction if there is one; null: no limit.', 'number'),
    used: { ...number, description: 'Used of the budget, departments below included; quota units.' },
    remaining: nullable('Less the reservations of running calls; quota units.', 'number'),
    percentage: { type: ['number', 'null'], description: 'Used percentage of the budget.' },
    spent: { ...number, description: 'Spent in the requested period; quota units.' },
  };
  const memberSchema = record('MemberUsage', {
    user_id: integer,
    username: text,
    display_name: text,
    department_id: nullable('The current department.'),
    department: text,
    ...sumProperties,
  });
  const modelSchema = record('ModelUsage', {
    model: { ...text, description: 'Empty: calls that were refused before a channel was chosen.' },
    ...sumProperties,
  });

  /** A list of usage by a dimension; `ownOf`: the members of an item before its sums. */
  const sumsRoute = (
    name: string,
    dimension: UsageDimension,
    summary: string,
    items: ReturnType<typeof record>,
    ownOf: (sum: UsageSum, names: Names) => Awaitable<UsageRow>,
  ): ApiRoute =>
    route('admin', 'GET', `/api/team/${name}`, {
      errors: USAGE_ERRORS,
      summary,
      search: teamSearch,
      answer: object({ ...rangeProperties, items: { type: 'array', items } }),
      async handle(request) {
        const times = rangeOf(host.clock, request.query);
        const sums = dearest(await sumsOf(await usageFilter(tools, request.query, times), dimension), MOST_ROWS);
        const names = createNames(host);
        const rows = await Promise.all(sums.map(async (sum) => ({ ...(await ownOf(sum, names)), ...toItems([sum]) })));
        const columns = items.required.filter((column) => !(column in sumProperties));
        return summed(request, { ...times, items: rows }, name, columns);
      },
    });

  return [
    route('admin', 'GET', '/api/team/overview', {
      errors: USAGE_ERRORS,
      summary: 'Returns an overview of the usage of all users.',
      search: queryOf({
        ...filters,
        format: {
          ...filters.format,
          description: `${filters.format.description} This one has a row for each member: \`name\` is what it is called, and \`value\` is what it has.`,
        },
      }),
      answer: object({
        ...rangeProperties,
        ...totalProperties,
        today: sumsSchema,
        month: sumsSchema,
        departments: list({ department_id: integer, name: text, ...sumProperties }),
      }),
      async handle(request) {
        const times = rangeOf(host.clock, request.query);
        const filter = await usageFilter(tools, request.query, times);
        const nowMs = host.clock.now();
        const since = async (fromMs: number) => toItems(await sumsOf({ ...filter, fromMs, untilMs: nowMs + 1 }));
        const members = await sumsOf(filter, 'account');
        const active = (sums: readonly UsageSum[]): number => sums.filter(({ calls }) => calls > 0).length;
        const total = {
          ...toItems(members),
          active_members: active(members),
          active_keys: active(await sumsOf(filter, 'key')),
          active_models: active(await sumsOf(filter, 'model')),
        };
        const departments = dearest(await sumsOf(filter, 'department'), MOST_ROWS).map((sum) => ({
          department_id: sum.departmentId,
          name: departmentName(sum.departmentId),
          ...toItems([sum]),
        }));
        const today = await since(nowMs - (nowMs % DAY_MS));
        const thisMonth = await since(monthOf(nowMs).startMs);
        const json = { ...times, ...total, today, month: thisMonth, departments };
        return answered(request, json, () => {
          const { active_members, active_keys, active_models } = total;
          const facts = { ...sumCells(total), active_members, active_keys, active_models };
          const rows = Object.entries(facts).map(([name, value]) => ({ name, value }));
          return usageFile(tools, { name: 'team-overview', times, query: request.query }, ['name', 'value'], rows);
        });
      },
    }),
    route('admin', 'GET', '/api/team/cost-trend', {
      errors: USAGE_ERRORS,
      summary: 'Returns usage by day or hour, grouped by user, department or model.',
      search: queryOf({
        ...filters,
        granularity: granularityProperty,
        group_by: { enum: teamGroupings, default: 'department' },
        top: topProperty,
      }),
      answer: object({
        ...rangeProperties,
        granularity: { enum: granularities },
        group_by: { enum: teamGroupings },
        items: { type: 'array', items: trendItem },
      }),
      async handle(request) {
        const { granularity, group_by } = request.query;
        const times = rangeOf(host.clock, request.query, granularity);
        const items = await usageTrend(
          host,
          need(Records),
          await usageFilter(tools, request.query, times),
          request.query,
        );
        return summed(request, { ...times, granularity, group_by, items }, 'cost-trend', TREND_COLUMNS);
      },
    }),
    route('admin', 'GET', '/api/team/budgets', {
      errors: USAGE_ERRORS,
      summary: 'Lists the budgets of departments and their usage: total, and of this calendar month (UTC).',
      search: teamSearch,
      answer: object({ ...rangeProperties, items: listOf('DepartmentBudget', budgetProperties) }),
      async handle(request) {
        const { department_id: top, ...query } = request.query;
        const times = rangeOf(host.clock, query);
        const departments = top === undefined ? need(Departments).all() : branchOf(tools, top);
        const ids = departments.map(({ id }) => id);
        const { startMs, endMs } = monthOf(host.clock.now());
        const ledger = need(Ledger);
        const totals = await ledger.balances('department', ids);
        const months = await ledger.balances('department-month', ids, startMs);
        const sums = await sumsOf(await usageFilter(tools, query, times), 'department');
        const items = departments.flatMap(({ id, name, parentId, budget, monthlyBudget }): readonly UsageRow[] => {
          const below = new Set(branchOf(tools, id).map((department) => department.id));
          const spent = toItems(sums.filter(({ departmentId }) => below.has(departmentId))).quota;
          const row = (
            period: string,
            from: number | null,
            to: number | null,
            limit: bigint | undefined,
            of?: Balance,
          ) => ({
            department_id: id,
            name,
            parent_id: parentId ?? null,
            period,
            period_start: from,
            period_end: to,
            ...standing(limit, of),
            spent,
          });
          return [
            ...(budget !== undefined || monthlyBudget === undefined
              ? [row('total', null, null, budget, totals.get(id))]
              : []),
            ...(monthlyBudget !== undefined
              ? [row('month', secondsOf(startMs), secondsOf(endMs), monthlyBudget, months.get(id))]
              : []),
          ];
        });
        return answered(request, { ...times, items }, () =>
          usageFile(tools, { name: 'team-budgets', times, query: request.query }, Object.keys(budgetProperties), items),
        );
      },
    }),
    sumsRoute('members', 'account', 'Lists usage by user, highest cost first.', memberSchema, async (sum, names) => {
      const person = await names.person(sum.accountId);
      const department = host.find(Departments)?.departmentOf(sum.accountId);
      return {
        user_id: sum.accountId,
        username: person?.name ?? '',
        display_name: person?.displayName ?? '',
        department_id: department?.id ?? null,
        department: department?.name ?? '',
      };
    }),
    sumsRoute('models', 'model', 'Lists usage by model, highest cost first.', modelSchema, ({ model }) => ({ model })),
  ];
}

/** The state of a budget. `of`: its bucket; undefined until a call was charged to it. */
function standing(limit: bigint | undefined, of: Balance | undefined) {
  const used = of?.used ?? 0n;
  if (limit === undefined) return { budget: null, used: quotaNumber(used), remaining: null, percentage: null };
  const left = limit - used - (of?.held ?? 0n);
  return {
    budget: quotaNumber(limit),
    used: quotaNumber(used),
    remaining: quotaNumber(left < 0n ? 0n : left),
    percentage: limit === 0n ? 100 : Number((used * 1_000n) / limit) / 10,
  };
}
