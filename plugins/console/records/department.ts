/** A department as `/api` shows it, and how its budgets stand. */
import { type Department, Departments } from '../../../core/contracts/departments.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import type { Balance } from '../../../core/contracts/ledger.ts';
import { refuse, type Schema } from '../../../core/plugin.ts';
import { idOf, type Tools } from '../route.ts';
import { integer, number, text, unixSeconds } from '../schemas.ts';
import { secondsOf, unitsOf } from '../units.ts';
import { PPM } from './department-form.ts';

/** What it shows: amounts in quota units, times in unix seconds; null: there is no limit. */
export interface ShownDepartment {
  readonly id: number;
  readonly name: string;
  readonly parent_id: number | null;
  readonly quota: number | null;
  readonly used_quota: number;
  readonly monthly_quota: number | null;
  readonly ratio: number;
  readonly status: 0 | 1;
  readonly created_at: number;
  readonly updated_at: number;
}

const limitOf = (micro: bigint | undefined): number | null => (micro === undefined ? null : unitsOf(micro));

/** `total`: its bucket in the ledger, once a call was taken from it. */
export function shownDepartment(department: Department, total: Balance | undefined): ShownDepartment {
  return {
    id: department.id,
    name: department.name,
    parent_id: department.parentId ?? null,
    quota: limitOf(department.budget),
    used_quota: unitsOf(total?.used ?? 0n),
    monthly_quota: limitOf(department.monthlyBudget),
    ratio: department.factorPpm / PPM,
    status: department.enabled ? 1 : 0,
    created_at: secondsOf(department.createdMs),
    updated_at: secondsOf(department.updatedMs),
  };
}

/** How a budget stands; what running calls hold is not left, but not used either. `balance`: its bucket, once a call was taken from it. */
export function budgetUse(limit: bigint, balance: Balance | undefined) {
  const { used, held } = balance ?? { used: 0n, held: 0n };
  const left = limit - used - held;
  return { limit: unitsOf(limit), used: unitsOf(used), remaining: left < 0n ? 0 : unitsOf(left) };
}

/** The calendar month (UTC) that a moment is in: when it begins, and when the next one does. */
export function monthOf(nowMs: number): { readonly startMs: number; readonly endMs: number } {
  const now = new Date(nowMs);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
}

/** Its schema. */
export const departmentProperties = {
  id: integer,
  name: text,
  parent_id: { type: ['integer', 'null'] },
  quota: { type: ['integer', 'null'], description: 'The budget in all, in quota units; null: no limit.' },
  used_quota: { ...integer, description: 'What its people and those below have used of it.' },
  monthly_quota: { type: ['integer', 'null'], description: 'The budget of a calendar month (UTC).' },
  ratio: { ...number, description: 'What calls of its people cost: 1 is the price.' },
  status: { enum: [0, 1], description: '1 enabled, 0 disabled.' },
  created_at: unixSeconds,
  updated_at: unixSeconds,
} as const;

/** The same as a schema of its own. */
export const departmentSchema = {
  title: 'Department',
  type: 'object',
  required: Object.keys(departmentProperties),
  properties: departmentProperties,
} as const;

/** A list as tools of this family know it: not a page object, with the total beside it. */
export function listed(items: object): Schema {
  return {
    type: 'object',
    required: ['success', 'message', 'data', 'total'],
    properties: {
      success: { const: true },
      message: text,
      data: { type: 'array', items },
      total: integer,
    },
  };
}

/** The department that a path names. Refuses (404) where there is none. */
export function departmentAt({ need }: Tools, id: string | undefined): Department {
  const department = need(Departments).get(idOf(id));
  return department ?? refuse(coreErrors.department_not_found().with({ param: 'id' }));
}
