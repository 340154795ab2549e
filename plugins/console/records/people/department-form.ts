/** The form of a department, and its conversion to the service's fields. */
import type { DepartmentChanges } from '../../../../core/contracts/departments.ts';
import { coreErrors } from '../../../../core/contracts/errors.ts';
import type { Members } from '../../format/schemas.ts';
import { MOST_UNITS, microOf } from '../../format/units.ts';

/** The names of a department's fields in the API. */
export const DEPARTMENT_WORDS = {
  parentId: 'parent_id',
  budget: 'quota',
  monthlyBudget: 'monthly_quota',
  factorPpm: 'ratio',
  accountIds: 'user_ids',
} as const;

/** Ratios are stored in millionths. */
export const PPM = 1_000_000;

const amount = { type: ['integer', 'null'], minimum: 0, maximum: MOST_UNITS } as const;

/** The members of the schema. */
export const formProperties = {
  name: { type: 'string', minLength: 1, maxLength: 64 },
  parent_id: {
    description: 'The parent department; null or 0: none.',
    type: ['integer', 'null'],
    minimum: 0,
  },
  quota: {
    description: 'The total budget in quota units, departments below included; null: no limit.',
    ...amount,
  },
  monthly_quota: { description: 'The budget of a calendar month (UTC), in quota units.', ...amount },
  ratio: {
    description: 'Price factor of calls by its members: 1 is the full price. Six decimals at most.',
    type: 'number',
    minimum: 0,
    maximum: 1_000,
  },
  status: { description: '1 enabled, 0 disabled.', enum: [0, 1] },
} as const;

/** The fields of a form; absent fields stay unchanged. */
export type DepartmentForm = Members<typeof formProperties>;

/** Converts a form. Refuses (400) a ratio with more than six decimals. */
export function changesOf(form: DepartmentForm): DepartmentChanges {
  const { name, parent_id: parent, quota, monthly_quota: monthly, ratio, status } = form;
  return {
    ...(name !== undefined && { name }),
    ...(parent !== undefined && { parentId: parent === 0 ? null : parent }),
    ...(quota !== undefined && { budget: budgetOf(quota) }),
    ...(monthly !== undefined && { monthlyBudget: budgetOf(monthly) }),
    ...(ratio !== undefined && { factorPpm: ppmOf(ratio) }),
    ...(status !== undefined && { enabled: status === 1 }),
  };
}

/** Returns whether a form sets a budget or a price factor. */
export function isAboutMoney({ quota, monthly_quota: monthly, ratio }: DepartmentForm): boolean {
  return quota !== undefined || monthly !== undefined || ratio !== undefined;
}

const budgetOf = (units: number | null): bigint | null => (units === null ? null : microOf(units));

function ppmOf(ratio: number): number {
  const ppm = Math.round(ratio * PPM);
  // The double nearest to a decimal with six places survives this round trip; one with more places does not.
  if (ppm / PPM !== ratio)
    throw coreErrors.invalid_ratio('A ratio has at most six decimal places.').with({ param: 'ratio' });
  return ppm;
}
