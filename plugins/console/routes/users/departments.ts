/** Departments, for administrators: `/api/department/`. */

import { type Department, Departments } from '../../../../core/contracts/departments.ts';
import { type Balance, Ledger } from '../../../../core/contracts/ledger.ts';
import { type JsonObject, schema } from '../../../../core/plugin.ts';
import { inTheirWords } from '../../format/envelope.ts';
import { pageOf, pageSearch } from '../../format/paging.ts';
import { bodyOf, idNumber, integer, list, nothing, object, text, unixSeconds } from '../../format/schemas.ts';
import { MOST_UNITS, microOf, secondsOf, unitsOf } from '../../format/units.ts';
import {
  budgetUse,
  departmentAt,
  departmentProperties,
  departmentSchema,
  listed,
  monthOf,
  type ShownDepartment,
  shownDepartment,
} from '../../records/people/department.ts';
import {
  changesOf,
  DEPARTMENT_WORDS,
  type DepartmentForm,
  formProperties,
  isAboutMoney,
} from '../../records/people/department-form.ts';
import { type ApiRoute, type ConsoleRequest, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';
import { departmentMemberRoutes } from './department-members.ts';

const route = tagged('Departments');

interface TreeNode extends ShownDepartment {
  readonly monthly_used_quota: number;
  readonly member_count: number;
  readonly children: readonly TreeNode[];
}

/** The refusals of a form. */
const FORM_ERRORS = [
  'department_not_found',
  'invalid_name',
  'invalid_amount',
  'invalid_ratio',
  'name_taken',
  'department_too_deep',
  'verification_required',
];

const form = (required: readonly string[]) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties: formProperties,
});

export function departmentRoutes(tools: Tools): readonly ApiRoute[] {
  const { host, verification, need, audited } = tools;
  const demand = ({ params }: ConsoleRequest): Department => departmentAt(tools, params.id);

  const revised = (request: ConsoleRequest) => {
    const { updatedMs: _, ...content } = demand(request);
    return { object: `department ${content.id}`, content };
  };

  async function totals(departments: readonly Department[]): Promise<ReadonlyMap<number, Balance>> {
    const ids = departments.map(({ id }) => id);
    return (await host.find(Ledger)?.balances('department', ids)) ?? new Map();
  }

  async function shown(department: Department) {
    return shownDepartment(department, (await totals([department])).get(department.id));
  }

  /** The state of this month's budget; undefined if there is none. */
  async function month(department: Department) {
    if (department.monthlyBudget === undefined) return undefined;
    const { startMs: windowStart, endMs } = monthOf(host.clock.now());
    const balance = await host.find(Ledger)?.balance({ kind: 'department-month', owner: department.id, windowStart });
    return { ...budgetUse(department.monthlyBudget, balance), resets_at: secondsOf(endMs) };
  }

  /** The old and new values, for the audit log. */
  function factsOf(before: ShownDepartment | undefined, form: DepartmentForm): JsonObject {
    const was: Readonly<Record<string, unknown>> = { ...before };
    return Object.fromEntries(
      Object.entries(form).map(([name, to]) => [name, before === undefined ? to : { from: was[name] ?? null, to }]),
    ) as JsonObject;
  }

  return [
    route('admin', 'GET', '/api/department/', {
      spelling: 'bare',
      summary: 'Lists departments by id.',
      search: pageSearch({
        keyword: { description: 'Part of the name.', type: 'string', maxLength: 64 },
        parent_id: {
          description: 'Only the direct children of this department; 0: the top level.',
          type: 'integer',
          minimum: 0,
        },
      }),
      answer: listed(departmentSchema),
      async handle({ query }) {
        const page = pageOf(query);
        const nameFilter = query.keyword?.toLowerCase() ?? '';
        const matches = need(Departments)
          .all()
          .filter(({ name }) => name.toLowerCase().includes(nameFilter))
          .filter(({ parentId }) => query.parent_id === undefined || (parentId ?? 0) === query.parent_id);
        const items = matches.slice(page.offset, page.offset + page.pageSize);
        const used = await totals(items);
        const data = items.map((department) => shownDepartment(department, used.get(department.id)));
        return { success: true, message: '', data, total: matches.length };
      },
    }),
    route('admin', 'GET', '/api/department/names', {
      summary: 'Lists the names of all departments.',
      answer: list({ id: integer, name: text, parent_id: { type: ['integer', 'null'] } }),
      handle: () =>
        need(Departments)
          .all()
          .map(({ id, name, parentId }) => ({ id, name, parent_id: parentId ?? null })),
    }),
    route('admin', 'GET', '/api/department/tree', {
      summary: 'Lists all departments as trees.',
      answer: {
        type: 'array',
        items: {
          title: 'DepartmentNode',
          type: 'object',
          required: [...departmentSchema.required, 'monthly_used_quota', 'member_count', 'children'],
          properties: {
            ...departmentProperties,
            monthly_used_quota: {
              ...integer,
              description:
                'What calls of its members cost in this calendar month (UTC), departments below included; with or without a budget.',
            },
            member_count: { ...integer, description: 'Direct members.' },
            children: {
              description: 'Its children, of the same shape.',
              type: 'array',
              items: { type: 'object' },
            },
          },
        },
      },
      async handle() {
        const departments = need(Departments);
        const all = departments.all();
        const used = await totals(all);
        const { startMs } = monthOf(host.clock.now());
        const ids = all.map(({ id }) => id);
        const months = await host.find(Ledger)?.balances('department-month', ids, startMs);
        const nodesBelow = (id: number | undefined): readonly TreeNode[] =>
          all
            .filter(({ parentId }) => parentId === id)
            .map((department) => ({
              ...shownDepartment(department, used.get(department.id)),
              monthly_used_quota: unitsOf(months?.get(department.id)?.used ?? 0n),
              member_count: departments.members(department.id).length,
              children: nodesBelow(department.id),
            }));
        return nodesBelow(undefined);
      },
    }),
    route('admin', 'GET', '/api/department/:id', {
      errors: ['department_not_found'],
      summary: 'Returns a department.',
      answer: departmentSchema,
      revised,
      handle: (request) => shown(demand(request)),
    }),
    route('admin', 'GET', '/api/department/:id/usage', {
      errors: ['department_not_found', 'invalid_range', 'range_too_long'],
      summary: "Returns how much of a department's budgets is used.",
      answer: object({
        department: departmentSchema,
        tree_quota: { type: ['integer', 'null'], description: 'The total budget; null: no limit.' },
        tree_used_quota: { ...integer, description: 'The same as used_quota of the department.' },
        remaining_quota: {
          type: ['integer', 'null'],
          description: 'Less the reservations of running calls; null: no limit.',
        },
        descendant_count: integer,
        monthly: {
          description: 'This calendar month (UTC); null without a budget.',
          type: ['object', 'null'],
          properties: {
            limit: integer,
            used: integer,
            remaining: integer,
            resets_at: unixSeconds,
          },
        },
      }),
      async handle(request) {
        const department = demand(request);
        const balance = (await totals([department])).get(department.id);
        const use = department.budget === undefined ? undefined : budgetUse(department.budget, balance);
        return {
          department: shownDepartment(department, balance),
          tree_quota: use?.limit ?? null,
          tree_used_quota: unitsOf(balance?.used ?? 0n),
          remaining_quota: use?.remaining ?? null,
          descendant_count: need(Departments).below(department.id).length,
          monthly: (await month(department)) ?? null,
        };
      },
    }),
    route('admin', 'POST', '/api/department/', {
      errors: FORM_ERRORS,
      summary: 'Creates a department. Budgets and ratio require a verification (POST /api/verify).',
      body: schema<DepartmentForm & { readonly name: string }>(form(['name'])),
      answer: departmentSchema,
      async handle(request) {
        const { body } = request;
        if (isAboutMoney(body)) verification.demand(request);
        const made = need(Departments).create({ ...changesOf(body), name: body.name }, (id) =>
          audited(request, 'department.create', `department ${id}`, factsOf(undefined, body)),
        );
        return shown(await inTheirWords(DEPARTMENT_WORDS, made));
      },
    }),
    route('admin', 'PUT', '/api/department/:id', {
      errors: [...FORM_ERRORS, 'department_circle'],
      summary:
        'Updates a department; absent members stay unchanged. Budgets, ratio and parent require a verification (POST /api/verify).',
      body: schema<DepartmentForm>(form([])),
      answer: departmentSchema,
      revised,
      async handle(request) {
        const before = demand(request);
        const { body } = request;
        // Below another parent, other budgets and factors apply.
        const moves = body.parent_id !== undefined && body.parent_id !== (before.parentId ?? 0);
        if (moves || isAboutMoney(body)) verification.demand(request);
        const facts = factsOf(shownDepartment(before, undefined), body);
        const along = audited(request, 'department.change', `department ${before.id}`, facts);
        return shown(await inTheirWords(DEPARTMENT_WORDS, need(Departments).change(before.id, changesOf(body), along)));
      },
    }),
    route('admin', 'DELETE', '/api/department/:id', {
      errors: ['department_not_found', 'department_not_empty'],
      summary: 'Deletes a department that has no members and no departments below it.',
      answer: nothing,
      revised,
      async handle(request) {
        const { id, name } = demand(request);
        await need(Departments).remove(id, audited(request, 'department.delete', `department ${id}`, { name }));
      },
    }),
    route('admin', 'POST', '/api/department/batch', {
      errors: ['department_not_found', 'department_not_empty', 'verification_required'],
      summary:
        'Enables, disables or deletes several departments; returns their number. To disable or delete them needs a verification (POST /api/verify). If one does not exist, none is changed.',
      body: bodyOf(['ids', 'action'], {
        ids: { type: 'array', minItems: 1, maxItems: 100, items: idNumber },
        action: { enum: ['enable', 'disable', 'delete'] },
      }),
      answer: integer,
      async handle(request) {
        const departments = need(Departments);
        const { ids, action } = request.body;
        if (action !== 'enable') verification.demand(request);
        const each = [...new Set(ids)].map((id) => departmentAt(tools, `${id}`));
        // Those below first: a department with others below it cannot be deleted.
        each.sort((a, b) => departments.below(a.id).length - departments.below(b.id).length);
        for (const before of each) {
          const { id, name } = before;
          if (action === 'delete') {
            await departments.remove(id, audited(request, 'department.delete', `department ${id}`, { name }));
            continue;
          }
          const enabled = action === 'enable';
          const facts = factsOf(shownDepartment(before, undefined), { status: enabled ? 1 : 0 });
          await departments.change(id, { enabled }, audited(request, 'department.change', `department ${id}`, facts));
        }
        return each.length;
      },
    }),
    route('admin', 'POST', '/api/department/:id/recharge', {
      verified: true,
      errors: ['department_not_found', 'invalid_amount', 'no_budget'],
      summary: 'Increases the total budget.',
      body: bodyOf(['amount'], {
        amount: { description: 'Quota units.', type: 'integer', minimum: 1, maximum: MOST_UNITS },
      }),
      answer: departmentSchema,
      async handle(request) {
        const { id } = demand(request);
        const { amount } = request.body;
        const along = audited(request, 'department.recharge', `department ${id}`, { amount });
        return shown(
          await inTheirWords({ budget: 'amount' }, need(Departments).addToBudget(id, microOf(amount), along)),
        );
      },
    }),
    ...departmentMemberRoutes(tools),
  ];
}
