/** Plans: what `quota.plans` of gateway.yaml says that subscriptions allow, checked and in micro-quota. */
import { MICRO } from '../../core/contracts/ledger.ts';
import type { Plan } from '../../core/contracts/subscriptions.ts';
import type { Host } from '../../core/plugin.ts';
import { decimal } from '../../core/sdk.ts';
import { LARGEST_GRANT } from './tables.ts';

/** A plan as it is written; amounts are currency units. */
export interface PlanFields {
  readonly title?: string;
  readonly days: number;
  readonly daily?: number;
  readonly weekly?: number;
  readonly monthly?: number;
  readonly price?: number;
  readonly balance: number;
  readonly includes?: 'balance';
  readonly afterExpiry: 'refuse' | 'balance';
}
/** `quota.plans`, by name. */
export type PlansSection = Readonly<Record<string, PlanFields>>;

const amount = (description: string) => ({ description, type: 'number', minimum: 0, maximum: 1_000_000 }) as const;

/** How `quota.plans` must look. */
export const plansSchema = {
  description: 'What people can subscribe to, by name. Amounts are currency units.',
  type: 'object',
  propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$' },
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    properties: {
      title: { description: 'What people read; else its name.', type: 'string', minLength: 1, maxLength: 100 },
      days: { description: 'How long it lasts.', type: 'integer', minimum: 1, maximum: 3_660, default: 30 },
      daily: amount('The most that calls of a day (UTC) may cost.'),
      weekly: amount('The most that calls of a week from Monday (UTC) may cost.'),
      monthly: amount('The most that calls may cost within thirty days, counted from its start.'),
      price: amount('What it costs; without a price it is granted, not sold.'),
      balance: { ...amount('Balance that comes with it, each time it is bought.'), default: 0 },
      includes: {
        description:
          '`balance`: calls within the windows cost nothing more. Else the windows limit, and the balance pays.',
        const: 'balance',
      },
      afterExpiry: {
        description: 'Calls when it has expired: refused until it is renewed or cancelled, or paid by the balance.',
        enum: ['refuse', 'balance'],
        default: 'refuse',
      },
    },
  },
  default: {},
} as const;

/** Reads them, and reports what a schema cannot see. */
export function readPlans(section: PlansSection, perUnit: number, problem: Host['problem']): ReadonlyMap<string, Plan> {
  return new Map(
    Object.entries(section).map(([name, fields]) => [name, readPlan(name, fields, BigInt(perUnit) * MICRO, problem)]),
  );
}

function readPlan(name: string, fields: PlanFields, microPerUnit: bigint, problem: Host['problem']): Plan {
  const path = ['quota', 'plans', name];
  /** So many currency units in a smaller one, exactly. */
  const whole = (field: keyof PlanFields & string, value: number, size: bigint, unit: string): bigint => {
    const { digits, scale } = decimal(value);
    const [units, rest] = [(digits * size) / 10n ** BigInt(scale), (digits * size) % 10n ** BigInt(scale)];
    if (rest !== 0n) problem([...path, field], `has more digits than ${unit} can tell`);
    if (units > LARGEST_GRANT) problem([...path, field], 'is more than an account can have');
    return units;
  };
  const limit = (field: 'daily' | 'weekly' | 'monthly'): bigint | undefined => {
    const value = fields[field];
    return value === undefined ? undefined : whole(field, value, microPerUnit, 'the ledger');
  };
  const plan = {
    name,
    title: fields.title ?? name,
    days: fields.days,
    daily: limit('daily'),
    weekly: limit('weekly'),
    monthly: limit('monthly'),
    priceCents: fields.price === undefined ? undefined : Number(whole('price', fields.price, 100n, 'money')),
    balance: whole('balance', fields.balance, microPerUnit, 'the ledger'),
    includesBalance: fields.includes === 'balance',
    afterExpiry: fields.afterExpiry,
  };
  const limits = plan.daily ?? plan.weekly ?? plan.monthly;
  if (plan.includesBalance && limits === undefined) {
    problem(
      path,
      'includes the balance without a limit: calls would cost nothing. Give it `daily`, `weekly` or `monthly`',
    );
  }
  return plan;
}
