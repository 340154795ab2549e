/** What the form of a department says, in the words of tools, and what that comes to in ours. */
import type { DepartmentChanges } from '../../../core/contracts/departments.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import { MOST_UNITS, microOf } from '../units.ts';

/** What a form may say; what is absent stays. */
export interface DepartmentForm {
  readonly name?: string;
  readonly parent_id?: number | null;
  readonly quota?: number | null;
  readonly monthly_quota?: number | null;
  readonly ratio?: number;
  readonly status?: 0 | 1;
}

/** What tools call fields of a department. */
export const DEPARTMENT_WORDS = {
  parentId: 'parent_id',
  budget: 'quota',
  monthlyBudget: 'monthly_quota',
  factorPpm: 'ratio',
  accountIds: 'user_ids',
} as const;

/** Ratios are kept in millionths. */
export const PPM = 1_000_000;

const amount = { type: ['integer', 'null'], minimum: 0, maximum: MOST_UNITS };

/** The members of a form. */
export const formProperties = {
  name: { type: 'string', minLength: 1, maxLength: 64 },
  parent_id: {
    description: 'The department above; null or 0: none.',
    type: ['integer', 'null'],
    minimum: 0,
  },
  quota: {
    description: 'The budget in all, in quota units, those below included; null: no limit.',
    ...amount,
  },
  monthly_quota: { description: 'The same for a calendar month (UTC).', ...amount },
  ratio: {
    description: 'What calls of its people cost: 1 is the price. Six decimals at most.',
    type: 'number',
    minimum: 0,
    maximum: 1_000,
  },
  status: { description: '1 enabled, 0 disabled.', enum: [0, 1] },
} as const;

/** What a form comes to. Refuses (400) a ratio that cannot be said in millionths. */
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

/** True of a form that says what somebody may spend, or at what price. */
export function isAboutMoney({ quota, monthly_quota: monthly, ratio }: DepartmentForm): boolean {
  return quota !== undefined || monthly !== undefined || ratio !== undefined;
}

const budgetOf = (units: number | null): bigint | null => (units === null ? null : microOf(units));

function ppmOf(ratio: number): number {
  const ppm = Math.round(ratio * PPM);
  // A decimal of six places is the double nearest to it, and so is the quotient: they are the same, or it had more places.
  if (ppm / PPM !== ratio) throw coreErrors.invalid_ratio('A ratio has six decimals at most.').with({ param: 'ratio' });
  return ppm;
}
