/** The section `plans` of gateway.yaml: its schema, and the plans it describes, in micro-quota. */
import { LARGEST_GRANT, MICRO } from '../../core/contracts/ledger.ts';
import type { Plan } from '../../core/contracts/subscriptions.ts';
import { type Accepted, type Host, typed } from '../../core/plugin.ts';
import { decimal } from '../../core/sdk.ts';

const amount = (description: string) => ({ description, type: 'number', minimum: 0, maximum: 1_000_000 }) as const;

/** Its schema. */
export const plansSection = typed({
  description: 'Plans that accounts can subscribe to, by name. Amounts are currency units.',
  type: 'object',
  propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$' },
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    properties: {
      title: {
        description: 'Its name in the console; default: its key.',
        type: 'string',
        minLength: 1,
        maxLength: 100,
      },
      days: { description: 'How long it lasts.', type: 'integer', minimum: 1, maximum: 3_660, default: 30 },
      daily: amount('The maximum cost of calls per day (UTC).'),
      weekly: amount('The maximum cost of calls per week, from Monday (UTC).'),
      monthly: amount('The maximum cost of calls within thirty days from its start.'),
      price: amount('Its price; a plan without a price is granted, not sold.'),
      balance: { ...amount('Balance that is credited each time it is bought or granted.'), default: 0 },
      includes: {
        description:
          '`balance`: calls within the windows are included, and the balance is not charged. Otherwise the windows limit, and the balance pays.',
        const: 'balance',
      },
      afterLimits: {
        description:
          'With `includes`: calls for which a window has too little left are refused, or paid by the balance as a whole.',
        enum: ['refuse', 'balance'],
        default: 'refuse',
      },
      afterExpiry: {
        description: 'Calls after it has expired: refused until it is renewed or cancelled, or paid by the balance.',
        enum: ['refuse', 'balance'],
        default: 'refuse',
      },
    },
  },
});

/** The plans, by name. */
export type PlansSection = Accepted<typeof plansSection>;
/** A plan as it is written; amounts are currency units. */
type PlanFields = PlansSection[string];

/** Reads the plans, and reports what a schema cannot check. */
export function readPlans(section: PlansSection, perUnit: number, problem: Host['problem']): ReadonlyMap<string, Plan> {
  const microPerUnit = BigInt(perUnit) * MICRO;
  return new Map(
    Object.entries(section).map(([name, fields]) => [name, readPlan(name, fields, microPerUnit, problem)]),
  );
}

function readPlan(name: string, fields: PlanFields, microPerUnit: bigint, problem: Host['problem']): Plan {
  const path = ['plans', name];
  /** An amount of currency units in a smaller unit, `size` of which are one currency unit. */
  const exact = (field: keyof PlanFields & string, value: number, size: bigint, unit: string): bigint => {
    const { digits, scale } = decimal(value);
    const [units, rest] = [(digits * size) / 10n ** BigInt(scale), (digits * size) % 10n ** BigInt(scale)];
    if (rest !== 0n) problem([...path, field], `has more decimal places than ${unit} can represent`);
    if (units > LARGEST_GRANT) problem([...path, field], 'is more than an account can have');
    return units;
  };
  const limit = (field: 'daily' | 'weekly' | 'monthly'): bigint | undefined => {
    const value = fields[field];
    return value === undefined ? undefined : exact(field, value, microPerUnit, 'the ledger');
  };
  const plan = {
    name,
    title: fields.title ?? name,
    days: fields.days,
    daily: limit('daily'),
    weekly: limit('weekly'),
    monthly: limit('monthly'),
    priceCents: fields.price === undefined ? undefined : Number(exact('price', fields.price, 100n, 'money')),
    balance: exact('balance', fields.balance, microPerUnit, 'the ledger'),
    includesBalance: fields.includes === 'balance',
    afterLimits: fields.afterLimits,
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
