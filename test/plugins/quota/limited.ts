/** A world in which one layer has room for a few calls and all others for any number; and a rush at it. */
import assert from 'node:assert/strict';
import { type Layer, MICRO } from '../../../core/contracts/ledger.ts';
import {
  ACCOUNT,
  admitted,
  callingNow,
  department,
  type Exchange,
  ended,
  holder,
  inCurrency,
  KEY,
  openWorld,
  type Run,
  refusedWith,
  settled,
  subscribe,
  type World,
} from './world.ts';

/** Every layer that can refuse, and how it does. */
export const LAYERS = [
  { name: 'account', code: 'QUOTA_USER_INSUFFICIENT' },
  { name: 'key', code: 'QUOTA_TOKEN_INSUFFICIENT' },
  { name: 'day', code: 'QUOTA_MONTHLY_DAILY_EXCEEDED' },
  { name: 'week', code: 'QUOTA_MONTHLY_WEEKLY_EXCEEDED' },
  { name: 'month', code: 'QUOTA_MONTHLY_EXCEEDED' },
  { name: 'department', code: 'QUOTA_DEPARTMENT_EXCEEDED' },
  { name: 'department-month', code: 'QUOTA_DEPARTMENT_EXCEEDED' },
  { name: 'key-day', code: 'QUOTA_TOKEN_PERIOD_EXCEEDED' },
  { name: 'key-week', code: 'QUOTA_TOKEN_PERIOD_EXCEEDED' },
  { name: 'key-month', code: 'QUOTA_TOKEN_PERIOD_EXCEEDED' },
  { name: 'key-day flat', code: 'QUOTA_TOKEN_PERIOD_EXCEEDED' },
] as const;
export type LayerName = (typeof LAYERS)[number]['name'];

export interface Limited {
  readonly world: World;
  readonly run: Run;
  /** Whose key has the limits. */
  readonly identity: Exchange['identity'];
  /** The one that has little. */
  readonly bucket: Layer;
}

/** `room`: calls of `flat` that the layer has room for. */
export async function openLimited(name: LayerName, room: number): Promise<Limited> {
  const little = BigInt(room) * MICRO;
  const world = await openWorld(name === 'account' ? little : 'unlimited', name === 'key' ? little : 'unlimited');
  const plenty = 1_000_000;
  const of = (window: LayerName) => inCurrency(name === window ? room : plenty);
  const plans = { monthly: { daily: of('day'), weekly: of('week'), monthly: of('month') } };
  const run = await world.run('boot-1', { plans });
  const { id, startsMs } = await subscribe(world, run, 'monthly');
  const budget = (kind: LayerName) => (name === kind ? little : BigInt(plenty) * MICRO);
  world.departments.set(ACCOUNT.owner, [
    department(5, { budget: BigInt(plenty) * MICRO }),
    department(4, { budget: budget('department'), monthlyBudget: budget('department-month') }),
  ]);
  const identity = holder(ACCOUNT.owner, KEY.owner, [
    { budgets: { day: budget('key-day'), week: budget('key-week'), month: budget('key-month') } },
    { model: 'flat', budgets: { day: budget('key-day flat') } },
  ]);
  const weekStart = Date.UTC(2025, 11, 29);
  const buckets: Readonly<Record<LayerName, Layer>> = {
    account: ACCOUNT,
    key: KEY,
    day: { kind: 'day', owner: id, windowStart: startsMs },
    week: { kind: 'week', owner: id, windowStart: weekStart },
    month: { kind: 'month', owner: id, windowStart: startsMs },
    department: { kind: 'department', owner: 4 },
    'department-month': { kind: 'department-month', owner: 4, windowStart: startsMs },
    'key-day': { kind: 'key-day', owner: KEY.owner, windowStart: startsMs },
    'key-week': { kind: 'key-week', owner: KEY.owner, windowStart: weekStart },
    'key-month': { kind: 'key-month', owner: KEY.owner, windowStart: startsMs },
    'key-day flat': { kind: 'key-day flat', owner: KEY.owner, windowStart: startsMs },
  };
  return { world, run, identity, bucket: buckets[name] };
}

/** So many calls at once: exactly `through` get through, all others are refused with the layer's code, and the books balance. */
export async function rushAt(
  { world, run, identity, bucket }: Limited,
  count: number,
  through: number,
  code: string,
): Promise<void> {
  const one = (): Promise<Exchange> => admitted(run, () => callingNow(world, 'flat', 1, { identity }));
  const results = await Promise.allSettled(Array.from({ length: count }, one));
  const calls = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  assert.equal(calls.length, through);
  for (const result of results) if (result.status === 'rejected') refusedWith(code)(result.reason);
  await settled(world.store);
  const { granted, used, held } = await world.balance(bucket);
  assert.equal(granted - used - held, 0n);
  assert.deepEqual(await world.faults(run), {});
  for (const x of calls) assert.equal(await run.settle(ended(x, 'failed')), undefined);
  assert.equal((await world.balance(bucket)).held, 0n);
  assert.deepEqual(await world.faults(run), {});
}
