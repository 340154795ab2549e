/** A department in the API, and the state of its budgets. */

import { type Department, Departments } from '../../../../core/contracts/departments.ts';
import { coreErrors } from '../../../../core/contracts/errors.ts';
import type { Balance } from '../../../../core/contracts/ledger.ts';
import { refuse, type Schema } from '../../../../core/plugin.ts';
import { integer, number, object, record, text, unixSeconds } from '../../format/schemas.ts';
import { secondsOf, unitsOf } from '../../format/units.ts';
import { idOf } from '../../route.ts';
import type { Tools } from '../../tools.ts';
import { PPM } from './department-form.ts';

const limitOf = (micro: bigint | undefined): number | null => (micro === undefined ? null : unitsOf(micro));

/** Amounts in quota units, times in Unix seconds; null: no limit. `total`: its bucket in the ledger; undefined until a call was charged to it. */
export function shownDepartment(department: Department, total: Balance | undefined) {
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

/** Such a department. */
export type ShownDepartment = ReturnType<typeof shownDepartment>;

/**
 * The state of a budget. Reservations of running calls reduce `remaining` but are not `used`. `balance`: its bucket; undefined until a call
 * was charged to it.
 */
export function budgetUse(limit: bigint, balance: Balance | undefined) {
  const { used, held } = balance ?? { used: 0n, held: 0n };
  const left = limit - used - held;
  return { limit: unitsOf(limit), used: unitsOf(used), remaining: left < 0n ? 0 : unitsOf(left) };
}

/** The start and end of the calendar month (UTC) of a time. */
export function monthOf(nowMs: number): { readonly startMs: number; readonly endMs: number } {
  const now = new Date(nowMs);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
}

export const departmentProperties = {
  id: integer,
  name: text,
  parent_id: { type: ['integer', 'null'] },
  quota: { type: ['integer', 'null'], description: 'The total budget in quota units; null: no limit.' },
  used_quota: {
    ...integer,
    description:
      'What calls of its members cost while they were members, departments below included; with or without a budget.',
  },
  monthly_quota: {
    type: ['integer', 'null'],
    description: 'The budget of a calendar month (UTC), in quota units; null: no limit.',
  },
  ratio: { ...number, description: 'Price factor of calls by its members: 1 is the full price.' },
  status: { enum: [0, 1], description: '1 enabled, 0 disabled.' },
  created_at: unixSeconds,
  updated_at: unixSeconds,
} as const;

/** The same as a named schema. */
export const departmentSchema = record('Department', departmentProperties);

/** A list in the format that API clients expect: not a page object, but with a separate total. */
export function listed(items: object): Schema {
  return object({
    success: { const: true },
    message: text,
    data: { type: 'array', items },
    total: integer,
  });
}

/** The department in the path. Refuses (404) if there is none. */
export function departmentAt({ need }: Tools, id: string | undefined): Department {
  const department = need(Departments).get(idOf(id));
  return department ?? refuse(coreErrors.department_not_found().with({ param: 'id' }));
}
