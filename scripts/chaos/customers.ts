/** The customers of the kill loop, with their balances and limits. */
import { PATIENT, type Visitor, verify, visitor } from '../../test/kit/console/console.ts';

/** A customer of the gateway. */
export interface Customer {
  readonly accountId: number;
  readonly name: string;
  /** API keys, used in turns. */
  readonly keys: readonly string[];
  /** The kinds of buckets its calls are charged to, sorted. */
  readonly layers: readonly string[];
  /** Acknowledged credits. */
  credited: number;
}

interface Terms {
  /** Quota. */
  readonly credit: number;
  /** Default: one. */
  readonly keys?: number;
  /** Of each key. */
  readonly allowance?: number;
  readonly plan?: keyof typeof PLANS;
  readonly department?: (typeof DEPARTMENTS)[number]['name'];
  readonly layers: readonly string[];
}

/** In currency units, of 500,000 quota each. The smallest is used up within a few kills. */
const PLANS = {
  roomy: { daily: 20, weekly: 40, monthly: 60 },
  prepaid: { monthly: 20, includes: 'balance' },
  small: { daily: 0.02 },
};
/** Each below the one before it. */
const DEPARTMENTS = [
  { name: 'company', quota: 1_000_000_000 },
  { name: 'team', quota: 100_000_000, monthly_quota: 50_000_000 },
] as const;
/** Three of them run out of quota, each of another kind; the last has a small balance. The first two never run out. */
const CUSTOMERS: readonly Terms[] = [
  { credit: 10_000_000, keys: 10, layers: ['account', 'key'] },
  {
    credit: 10_000_000,
    plan: 'roomy',
    department: 'team',
    layers: [
      ...['account', 'day', 'department', 'department', 'department-month', 'department-month', 'key', 'month', 'week'],
    ],
  },
  { credit: 1_000_000, allowance: 20_000, plan: 'prepaid', layers: ['key', 'month'] },
  { credit: 1_000_000, plan: 'small', layers: ['account', 'day', 'key'] },
  { credit: 600, department: 'company', layers: ['account', 'department', 'department-month', 'key'] },
];

/** Their sections of gateway.yaml. */
export const CUSTOMER_CONFIG = { plans: PLANS, console: PATIENT };
/** The password of root. */
export const ROOT_PASSWORD = 'the password of root';

/** Runs a command inside the gateway and returns its output. */
export type RunCommand = (line: string, stdin?: string) => Promise<string>;

/** The API key for the call with this number. */
export function keyOf({ keys }: Customer, number: number): string {
  return keys[number % keys.length]!;
}

/** Credits a customer. */
export async function credit(command: RunCommand, customer: Customer, units: number): Promise<void> {
  await command(`user credit ${customer.name} ${units}`);
  customer.credited += units;
}

/** Creates all of them in a new gateway. */
export async function openCustomers(url: string, command: RunCommand): Promise<readonly Customer[]> {
  const root = await verify(await visitor({ url }).signIn('root', ROOT_PASSWORD));
  const departments = await openDepartments(root);
  const customers: Customer[] = [];
  for (const [i, { credit: units, keys: count = 1, allowance, plan, department, layers }] of CUSTOMERS.entries()) {
    const name = `customer-${i}`;
    const id = Number(
      await command(`user create --name ${name} --role member --password-stdin`, 'a long enough password'),
    );
    const limit = allowance === undefined ? '--unlimited' : `--quota ${allowance}`;
    const keys: string[] = [];
    for (let key = 0; key < count; key++) {
      keys.push(await command(`key create --name ${name}-${key} --user ${name} ${limit}`));
    }
    const customer = { accountId: id, name, keys, layers, credited: 0 };
    await credit(command, customer, units);
    if (plan !== undefined) await root.data('POST', '/api/subscription/admin/bind', { user_id: id, plan });
    if (department !== undefined) {
      await root.data('POST', `/api/department/${departments.get(department)}/members`, { user_ids: [id] });
    }
    customers.push(customer);
  }
  return customers;
}

/** Their ids, by name. */
async function openDepartments(root: Visitor): Promise<ReadonlyMap<string, number>> {
  const ids = new Map<string, number>();
  let parent = 0;
  for (const department of DEPARTMENTS) {
    const { id } = await root.data('POST', '/api/department/', { ...department, parent_id: parent });
    ids.set(department.name, id);
    parent = id;
  }
  return ids;
}
