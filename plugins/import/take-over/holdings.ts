/**
 * Plans what users of another gateway hold: redemption codes, subscriptions, orders; and their usage by day. What can be planned again because it
 * changed there is planned with the same identifier, and steps for the difference.
 */
import { inQuota, LARGEST_GRANT, Ledger, MICRO } from '../../../core/contracts/ledger.ts';
import { Payments } from '../../../core/contracts/payments.ts';
import { type ImportedUsage, Records } from '../../../core/contracts/records.ts';
import { type AdoptedSubscription, Subscriptions } from '../../../core/contracts/subscriptions.ts';
import type { Host, JsonObject } from '../../../core/plugin.ts';
import { LATEST_MS } from '../../../core/sdk.ts';
import {
  type ForeignCode,
  type ForeignDay,
  type ForeignOrder,
  type ForeignSubscription,
  type Inventory,
  leftOut,
  type Note,
  type Source,
} from '../inventory.ts';
import type { Planned } from '../planned.ts';
import type { ImportedKind } from '../tables.ts';
import { unhurried } from '../unhurried.ts';

/** Who a thing belongs to, and where it comes from. */
export interface HoldingsOptions {
  readonly family: Source['family'];
  /** The program, for texts. */
  readonly program: string;
  /** What an earlier import has kept of a thing (`seen` of its `Planned`); undefined: it was not imported. */
  readonly seenOf?: (kind: ImportedKind, foreignId: string) => JsonObject | undefined;
}

type AccountOf = (foreignUserId: string) => number | undefined;

interface Plan {
  readonly planned: readonly Planned[];
  /** What was imported before, and is as it was there. */
  readonly unchanged: readonly Pick<Planned, 'kind' | 'id' | 'from' | 'to'>[];
  readonly notes: readonly Note[];
}

/** A plan that is being made. */
interface Planning {
  readonly planned: Planned[];
  readonly unchanged: Pick<Planned, 'kind' | 'id' | 'from' | 'to'>[];
  readonly notes: Note[];
}

const begin = (): Planning => ({ planned: [], unchanged: [], notes: [] });

/** The actor of what an import credits. */
const IMPORT = 'import';

/** What buyers can type: printable, and no longer than the console accepts. */
const CODE = /^[^\p{C}\p{Z}](?:[^\p{C}\p{Zl}\p{Zp}]{0,98}[^\p{C}\p{Z}])?$/u;

/** Plans what users hold. `accountOf`: the account of a user of the other gateway. */
export async function planHoldings(
  host: Host,
  inventory: Pick<Inventory, 'codes' | 'subscriptions' | 'orders'>,
  accountOf: AccountOf,
  options: HoldingsOptions,
): Promise<Plan> {
  const parts = [
    await planCodes(host, inventory.codes, options),
    await planSubscriptions(host, inventory.subscriptions, accountOf, options),
    await planOrders(host, inventory.orders, accountOf, options),
  ];
  return {
    planned: parts.flatMap(({ planned }) => planned),
    unchanged: parts.flatMap(({ unchanged }) => unchanged),
    notes: parts.flatMap(({ notes }) => notes),
  };
}

async function planCodes(host: Host, codes: readonly ForeignCode[], { seenOf }: HoldingsOptions): Promise<Plan> {
  const payments = host.find(Payments);
  const plan = begin();
  const { planned, unchanged, notes } = plan;
  for await (const code of unhurried(codes)) {
    const what = `code ${code.id}`;
    const leave = (why: string): void => void notes.push(leftOut('redemptions', what, why));
    const isOpen = code.used === undefined;
    if (payments === undefined) {
      if (isOpen) leave('the plugin payments is not in the pipeline');
      continue;
    }
    if (isOpen && (code.amount <= 0n || code.amount > LARGEST_GRANT)) {
      leave('its amount cannot be credited here');
      continue;
    }
    if (!CODE.test(code.code)) {
      if (isOpen) leave('its text cannot be typed');
      continue;
    }
    const adopted = { ...code, quota: code.amount, expiresMs: dateOrNever(code.expiresMs) };
    const adopting = isOpen ? await payments.codes.adoptSteps(adopted) : undefined;
    const steps = adopting ?? (code.enabled ? undefined : await payments.codes.withdrawSteps(code.code));
    const facts = { kind: 'code', id: code.id, from: `code ${code.id} (${code.name})` } as const;
    if (steps === undefined) {
      if (isOpen && seenOf?.('code', code.id) === undefined) leave('there is, or was, the same code here');
      else if (isOpen) unchanged.push({ ...facts, to: `redemption code of ${inQuota(code.amount)} quota` });
      continue;
    }
    const state = isOpen ? (code.enabled ? '' : ', disabled') : ', disabled because it was redeemed there';
    planned.push({
      ...{ ...facts, name: code.name, ownId: 0, steps },
      to: `redemption code of ${inQuota(code.amount)} quota${state}`,
      seen: { enabled: code.enabled, used: !isOpen },
    });
  }
  return plan;
}

/** A code whose expiry is beyond what dates can have never expires. */
function dateOrNever(ms: number | undefined): number | undefined {
  return ms === undefined || ms > LATEST_MS ? undefined : ms;
}

const LENGTHS = { daily: 86_400_000, weekly: 7 * 86_400_000, monthly: 30 * 86_400_000 } as const;

async function planSubscriptions(
  host: Host,
  subscriptions: readonly ForeignSubscription[],
  accountOf: AccountOf,
  options: HoldingsOptions,
): Promise<Plan> {
  const plan = begin();
  const { planned, unchanged, notes } = plan;
  const service = host.find(Subscriptions);
  const now = host.clock.now();
  /** Accounts have one plan at a time: the one that lasts longest. */
  const running = subscriptions
    .filter(({ endMs }) => endMs > now)
    .sort((a, b) => b.endMs - a.endMs || (a.id < b.id ? -1 : 1));
  const subscribed = new Set<number>();

  for await (const subscription of unhurried(running)) {
    const { id, title, user } = subscription;
    const what = `subscription ${id} to ${title}`;
    const accountId = accountOf(user);
    if (accountId === undefined) {
      notes.push(leftOut('user_subscriptions', what, 'its user was not imported'));
      continue;
    }
    const seen = options.seenOf?.('subscription', id);
    if (seen !== undefined) {
      if (seen.id !== undefined) subscribed.add(accountId);
      const { planned: more, note } = await planChange(host, subscription, accountId, seen, options);
      if (more !== undefined) planned.push(more);
      else
        unchanged.push({
          kind: 'subscription',
          id,
          from: what,
          to: `${inQuota(leftOf(subscription, now))} quota left`,
        });
      if (note !== undefined) notes.push({ kind: 'decide', where: 'user_subscriptions', what, why: note });
      continue;
    }
    const adopted = subscribed.has(accountId) ? undefined : adoptedOf(subscription, accountId, now);
    const adopting = adopted && (await service?.adopting(adopted, refOf(options, id), IMPORT));
    const facts = { kind: 'subscription', id, name: title, from: what } as const;
    const left = leftOf(subscription, now);
    if (adopted !== undefined && adopting !== undefined) {
      subscribed.add(accountId);
      const to = `plan ${adopted.plan} until ${dateOf(adopted.expiresMs)}, ${inQuota(left)} quota left of its ${adopted.window} window`;
      const remembered = { id: adopting.id, starts: adopted.startsMs, ...seenOf(subscription, now) };
      planned.push({ ...facts, ownId: adopting.id, steps: adopting.steps, to, seen: remembered });
      continue;
    }
    const why = creditedBecause(subscription, left);
    notes.push({ kind: 'decide', where: 'user_subscriptions', what, why });
    const amount = left > LARGEST_GRANT ? LARGEST_GRANT : left;
    const steps = amount === 0n ? [] : host.use(Ledger).creditSteps(accountId, amount, refOf(options, id), IMPORT);
    const to = `${inQuota(amount)} quota credited to the balance`;
    planned.push({
      ...facts,
      ownId: accountId,
      steps,
      to,
      seen: { credited: `${amount}`, ...seenOf(subscription, now) },
    });
  }
  return plan;
}

function creditedBecause({ plan, period, endMs, amount }: ForeignSubscription, left: bigint): string {
  const credited = `what was left of it, ${inQuota(left)} quota, is credited to the balance, which does not expire`;
  if (plan === undefined || period === undefined) return credited;
  const due = `${inQuota(amount)} quota ${period} until ${dateOf(endMs)}`;
  return `its account has another plan: ${credited}; grant what it renews there (${due}) by hand`;
}

/**
 * Here, windows of 30 days are counted from the start of a subscription: it starts so that the current one ends when its amount is new there. If
 * that is not recorded, as it started there.
 */
function adoptedOf(subscription: ForeignSubscription, accountId: number, now: number): AdoptedSubscription | undefined {
  const { plan, period, amount, startMs, endMs } = subscription;
  if (plan === undefined || period === undefined) return undefined;
  const length = LENGTHS[period];
  const resetsMs = nextReset(subscription, now);
  const startsMs = resetsMs === undefined ? startMs : resetsMs - Math.ceil((resetsMs - now) / length) * length;
  const used = usedOf(subscription, now);
  const expiresMs = Math.min(endMs, LATEST_MS);
  return { accountId, plan, startsMs: Math.min(startsMs, now), expiresMs, window: period, limit: amount, used };
}

/** When its amount is new; the program may not have written that yet. */
function nextReset({ resetsMs, period }: ForeignSubscription, now: number): number | undefined {
  if (resetsMs === undefined || resetsMs > now || period === undefined) return resetsMs;
  const length = LENGTHS[period];
  return resetsMs + Math.ceil((now - resetsMs + 1) / length) * length;
}

/** What is used of its current period. */
function usedOf({ resetsMs = Number.POSITIVE_INFINITY, used }: ForeignSubscription, now: number): bigint {
  return resetsMs <= now || used < 0n ? 0n : used;
}

function leftOf(subscription: ForeignSubscription, now: number): bigint {
  const left = subscription.amount - usedOf(subscription, now);
  return left < 0n ? 0n : left;
}

function seenOf(subscription: ForeignSubscription, now: number): JsonObject {
  return {
    used: `${usedOf(subscription, now)}`,
    resets: nextReset(subscription, now) ?? null,
    ends: subscription.endMs,
  };
}

/** What was spent there since an earlier import is spent here, too. */
async function planChange(
  host: Host,
  subscription: ForeignSubscription,
  accountId: number,
  seen: JsonObject,
  options: HoldingsOptions,
): Promise<{ readonly planned?: Planned; readonly note?: string }> {
  const { id, title, amount } = subscription;
  const now = host.clock.now();
  const current = seenOf(subscription, now);
  if (current.used === seen.used && current.ends === seen.ends) return {};
  const used = usedOf(subscription, now);
  const isSamePeriod = current.resets === seen.resets;
  const more = isSamePeriod ? used - BigInt(String(seen.used)) : used;
  if (current.ends !== seen.ends || more < 0n) {
    return {
      note: 'it was renewed, changed or refunded there since it was imported: compare it, and change it by hand',
    };
  }
  const facts = { kind: 'subscription', id, name: title, from: `subscription ${id} to ${title}` } as const;
  const to = `${inQuota(more)} quota more used`;
  if (typeof seen.id === 'number') {
    const adopted = adoptedOf(subscription, accountId, now);
    const service = host.find(Subscriptions);
    if (adopted === undefined || service === undefined) return {};
    const startsMs = Number(seen.starts);
    const since = { ...adopted, startsMs, limit: amount, used: more };
    const steps = service.usedSteps(seen.id, since, `${refOf(options, id)}:${current.resets}:${used}`, IMPORT);
    const remembered = { id: seen.id, starts: startsMs, ...current };
    return { planned: { ...facts, ownId: seen.id, steps, to, seen: remembered } };
  }
  // Its amount was credited once; what it renews there is for an operator to decide.
  if (!isSamePeriod) return { note: 'its amount was renewed there since what was left of it was credited' };
  const ref = `${refOf(options, id)}:${current.resets}:${used}`;
  const steps = await host.use(Ledger).takeBackSteps(accountId, more, ref, IMPORT);
  return { planned: { ...facts, ownId: accountId, steps, to, seen: { credited: seen.credited ?? null, ...current } } };
}

function refOf({ family }: HoldingsOptions, id: string): string {
  return `import:${family}:subscription:${id}`;
}

async function planOrders(
  host: Host,
  orders: readonly ForeignOrder[],
  accountOf: AccountOf,
  { program, seenOf: wasSeen }: HoldingsOptions,
): Promise<Plan> {
  const plan = begin();
  const { planned, unchanged, notes } = plan;
  const payments = host.find(Payments);
  const unit = BigInt(host.use(Ledger).perUnit) * MICRO;
  const left = (why: string, of: ForeignOrder): void =>
    void notes.push(leftOut('orders', `order ${of.tradeNumber}`, why));
  for await (const order of unhurried(orders)) {
    const { id, tradeNumber, amount, atMs, paidMs = atMs } = order;
    const accountId = accountOf(order.user);
    if (order.state === 'failed') left('it was not paid', order);
    else if (accountId === undefined) left('its user was not imported', order);
    else if (order.state === 'open') {
      const why = 'it is open: if it is paid there after the switch, credit it by hand';
      notes.push({ kind: 'decide', where: 'orders', what: `order ${tradeNumber}`, why });
    } else if (payments === undefined) left('the plugin payments is not in the pipeline', order);
    else if (!/[1-9]/.test(order.money)) left('nothing was paid for it', order);
    else {
      const steps = await payments.adoptOrderSteps({
        accountId,
        from: program,
        method: order.method ?? program,
        tradeNo: tradeNumber,
        plan: order.plan,
        amount: Number(amount / unit),
        quota: amount,
        money: order.money,
        currency: order.currency,
        createdMs: atMs,
        completedMs: paidMs,
      });
      const facts = {
        ...({ kind: 'order', id, from: `order ${tradeNumber}` } as const),
        to: `order of ${order.plan === undefined ? `${inQuota(amount)} quota` : `the plan ${order.plan}`}, ${order.money} ${order.currency}`,
      };
      if (steps !== undefined)
        planned.push({ ...facts, name: tradeNumber, ownId: accountId, steps, seen: { state: order.state } });
      else if (wasSeen?.('order', id) !== undefined) unchanged.push(facts);
      else left('there is an order with its number here, or it was paid with too little to count', order);
    }
  }
  return plan;
}

/**
 * Plans the usage of each day that is not here yet, or was other when it was imported: its steps replace it, and can be written again. `keyOf`: the
 * key here of a key there; `seenOf`: what an earlier import has kept of a day.
 */
export async function* planDays(
  host: Host,
  source: Pick<Source, 'history' | 'family'>,
  accountOf: AccountOf,
  keyOf: (foreignKeyId: string) => number | undefined,
  seenOf: (date: string) => JsonObject | undefined = () => undefined,
): AsyncGenerator<Planned, void> {
  const records = host.find(Records);
  if (records === undefined) return;
  const unitOf = (dayMs: number): string | undefined => {
    const unit = seenOf(dateOf(dayMs))?.unit;
    return typeof unit === 'string' ? unit : undefined;
  };
  for await (const { dayMs, usage, others, unit, unitNow } of days(source.history(unitOf), accountOf, keyOf)) {
    const steps = await records.importedDaySteps(dayMs, source.family, usage);
    if (steps === undefined) continue;
    const date = dateOf(dayMs);
    const charged = usage.reduce((sum, each) => sum + each.charged, 0n);
    const calls = usage.reduce((sum, each) => sum + each.calls, 0);
    const what = `calls on ${date}`;
    const stranger = { ...leftOut('logs', what, 'their users were not imported'), count: others };
    const old: Note = {
      ...{ kind: 'changed', where: 'logs', what },
      why: `QuotaPerUnit is ${unitNow} there now, and was ${unit} when the day was imported: all of its calls are counted at ${unit}`,
    };
    yield {
      ...{ kind: 'day', id: date, name: date, ownId: 0, steps, from: date },
      to: `${calls} calls, ${inQuota(charged)} quota`,
      seen: unit === undefined ? undefined : { unit },
      notes: [...(others > 0 ? [stranger] : []), ...(unitNow === undefined ? [] : [old])],
    };
  }
}

interface Day extends Pick<ForeignDay, 'dayMs' | 'unit' | 'unitNow'> {
  readonly usage: ImportedUsage[];
  /** Calls of users who are not here. */
  others: number;
}

async function* days(
  history: AsyncIterable<ForeignDay>,
  accountOf: AccountOf,
  keyOf: (foreignKeyId: string) => number | undefined,
): AsyncGenerator<Day> {
  let day: Day | undefined;
  for await (const { dayMs, user, key, model, calls, input, output, charged, unit, unitNow } of history) {
    if (day !== undefined && dayMs !== day.dayMs) {
      yield day;
      day = undefined;
    }
    day ??= { dayMs, unit, unitNow, usage: [], others: 0 };
    const accountId = accountOf(user);
    const keyId = (key === undefined ? undefined : keyOf(key)) ?? 0;
    if (accountId === undefined) day.others += calls;
    else day.usage.push({ accountId, keyId, model, calls, input, output, charged });
  }
  if (day !== undefined) yield day;
}

const dateOf = (ms: number): string => new Date(Math.min(ms, LATEST_MS)).toISOString().slice(0, 10);
