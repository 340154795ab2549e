/**
 * What users of one-api, new-api and one-hub hold besides balances: redemption codes, subscriptions, orders.
 *
 * Sources: QuantumNous/new-api `model/redemption.go`, `model/topup.go`, `model/subscription.go` (v0.6.3 to 2026-11);
 * songquanpeng/one-api `model/redemption.go` (v0.6.10); MartialBE/one-hub `model/redemption.go`, `model/order.go` (387f8bf1).
 */
import { MICRO } from '../../../core/contracts/ledger.ts';
import { type Decimal, decimalText } from '../../../core/sdk.ts';
import { cellsOf } from '../cells.ts';
import type { Database } from '../databases.ts';
import {
  type ForeignCode,
  type ForeignOrder,
  type ForeignSubscription,
  type Inventory,
  leftOut,
  type Note,
  type Setting,
} from '../inventory.ts';
import { readableName, uniqueName } from '../names.ts';
import { amountOf, isTrue, numberOf, type Row, textOf } from '../values.ts';
import { optionsOf } from './options.ts';
import { quotaPerUnitOf } from './prices.ts';

/** The programs with these tables. */
export type OneApiProgram = 'one-api' | 'new-api' | 'one-hub';

/** What is read. */
export type Holdings = Pick<Inventory, 'codes' | 'subscriptions' | 'orders' | 'sections' | 'notes'>;

/** An amount in a column, in micro-quota. `table` is for errors. */
type Micro = (row: Row, column: string, table: string) => bigint;

/** `redemptions.status`. */
const UNUSED = 1;
const USED = 3;

const DAY_S = 86_400;

/** Reads them. `perUnit`: quota units in one currency unit here. */
export async function readHoldings(
  program: OneApiProgram,
  database: Database,
  micro: Micro,
  perUnit: bigint,
): Promise<Holdings> {
  const notes: Note[] = [];
  const codes = await readCodes(database, micro, notes);
  const { plans, subscriptions, titles } = await readSubscriptions(database, micro, MICRO * perUnit, notes);
  const orders =
    program === 'one-hub' ? await readOrders(database, micro) : await readTopUps(database, micro, titles, notes);
  notes.push(...(await readInvitations(database)));
  return { codes, subscriptions, orders, sections: plans === undefined ? {} : { plans }, notes };
}

async function readCodes(database: Database, micro: Micro, notes: Note[]): Promise<readonly ForeignCode[]> {
  const rows = (await database.rows('redemptions')) ?? [];
  const codes: ForeignCode[] = [];
  const removed: Row[] = [];
  for (const row of rows) {
    const id = textOf(row, 'id') ?? '';
    const code = textOf(row, 'key');
    const cells = cellsOf('redemptions', row);
    const status = cells.number('status');
    const isRemoved = textOf(row, 'deleted_at') !== undefined;
    if (code === undefined) continue;
    if (isRemoved && status !== USED) removed.push(row);
    // Seconds; 0 and older versions: never.
    const expires = cells.number('expired_time') ?? 0;
    codes.push({
      id,
      code,
      name: readableName(textOf(row, 'name'), `code-${id}`),
      amount: micro(row, 'quota', 'redemptions'),
      ...(expires > 0 && { expiresMs: expires * 1_000 }),
      enabled: status === UNUSED && !isRemoved,
      ...((status === USED || isRemoved) && { used: true }),
    });
  }
  const used = codes.length - removed.length - codes.filter((code) => code.used === undefined).length;
  if (used > 0) notes.push({ ...leftOut('redemptions', 'used codes', 'they were redeemed there'), count: used });
  if (removed.length > 0)
    notes.push({ ...leftOut('redemptions', 'deleted codes', 'they were deleted there'), count: removed.length });
  return codes;
}

/** How a plan of `subscription_plans` renews its amount, and whether plans here can. */
interface Renewal {
  readonly period: ForeignSubscription['period'];
  /** Renewed in a way that plans here cannot: after so many seconds. */
  readonly seconds?: number;
}

function renewalOf(plan: Row | undefined): Renewal {
  const kind = plan === undefined ? undefined : textOf(plan, 'quota_reset_period');
  if (kind === 'daily' || kind === 'weekly' || kind === 'monthly') return { period: kind };
  const seconds = (kind === 'custom' && plan && numberOf(plan, 'quota_reset_custom_seconds')) || 0;
  if (seconds <= 0) return { period: undefined };
  const period = ({ [DAY_S]: 'daily', [7 * DAY_S]: 'weekly', [30 * DAY_S]: 'monthly' } as const)[seconds];
  return period === undefined ? { period, seconds } : { period };
}

/** What a plan here may cost at most within a window: it stands for an amount without a limit. */
const UNLIMITED_UNITS = 1_000_000n;

/** `micro`: micro-quota in one currency unit. */
async function readSubscriptions(
  database: Database,
  micro: Micro,
  unit: bigint,
  notes: Note[],
): Promise<{
  readonly plans: Readonly<Record<string, Setting>> | undefined;
  readonly subscriptions: readonly ForeignSubscription[];
  /** The title of each plan there. */
  readonly titles: ReadonlyMap<string, string>;
}> {
  const rows = (await database.rows('subscription_plans')) ?? [];
  const byId = new Map(rows.map((row) => [textOf(row, 'id') ?? '', row]));
  const titles = new Map(
    rows.map((row) => {
      const id = textOf(row, 'id') ?? '';
      return [id, readableName(textOf(row, 'title'), `plan-${id}`)] as const;
    }),
  );
  const plans: Record<string, Setting> = {};
  const taken = new Set<string>();
  /** The names of plans by their identifier there and their amount. */
  const named = new Map<string, string>();

  /** The name of the entry for a plan with an amount; a plan may have had another one when it was bought. */
  function planFor(row: Row, amount: bigint, isSold: boolean): string {
    const id = textOf(row, 'id') ?? '';
    const key = `${id} ${amount}`;
    const before = named.get(key);
    if (before !== undefined) return before;
    const title = titles.get(id)!;
    const plain = /[A-Za-z0-9]/.test(title) ? title : `plan-${id}`;
    const name = uniqueName(plain, taken);
    named.set(key, name);
    plans[name] = planOf(row, title, amount, isSold, unit);
    return name;
  }

  for (const row of rows) {
    const title = titles.get(textOf(row, 'id') ?? '')!;
    const { seconds } = renewalOf(row);
    const isEnabled = !('enabled' in row) || isTrue(row, 'enabled');
    if (!isEnabled) {
      notes.push(
        leftOut('subscription_plans', `plan ${title}`, 'it is disabled there: it is here only for those who have it'),
      );
      continue;
    }
    if (seconds !== undefined) {
      const why = `its amount is renewed every ${seconds} seconds; windows of plans here are days, weeks and 30 days`;
      notes.push({ kind: 'decide', where: 'subscription_plans', what: `plan ${title}`, why });
      continue;
    }
    planFor(row, micro(row, 'total_amount', 'subscription_plans'), true);
    notes.push(...planNotes(row, title));
  }

  const items = (await database.rows('user_subscription_items')) ?? [];
  const subscriptions: ForeignSubscription[] = [];
  for (const row of (await database.rows('user_subscriptions')) ?? []) {
    const id = textOf(row, 'id') ?? '';
    if (textOf(row, 'status') !== 'active') continue;
    const planId = textOf(row, 'plan_id') ?? '';
    const plan = byId.get(planId);
    const title = titles.get(planId) ?? `plan-${planId}`;
    const renewal = renewalOf(plan);
    const own = items.filter((item) => textOf(item, 'user_subscription_id') === id);
    const counted = own.filter((item) => numberOf(item, 'quota_type') === 1);
    const ofModels = own.filter((item) => !counted.includes(item));
    const what = `subscription ${id} to ${title}`;
    const sum = (column: string): bigint =>
      ofModels.reduce((total, item) => total + micro(item, column, 'user_subscription_items'), 0n);
    const isOfItems = !('amount_total' in row);
    const total = isOfItems ? sum('amount_total') : micro(row, 'amount_total', 'user_subscriptions');
    const used = isOfItems ? sum('amount_used') : micro(row, 'amount_used', 'user_subscriptions');
    if (counted.length > 0) {
      const why = 'it includes a number of calls: plans and balances here are amounts';
      notes.push({ kind: 'decide', where: 'user_subscription_items', what, why, count: counted.length });
    }
    if (isOfItems && ofModels.length === 0) continue;
    const cells = cellsOf('user_subscriptions', row);
    const endMs = (cells.number('end_time') ?? 0) * 1_000;
    const resets = cells.number('next_reset_time') ?? 0;
    const isUnlimited = !isOfItems && total === 0n;
    // An amount without a limit is spent within the largest one that a plan can have.
    const period = renewal.period ?? (isUnlimited ? ('monthly' as const) : undefined);
    const amount = isUnlimited ? UNLIMITED_UNITS * unit : total;
    const isPlan = plan !== undefined && period !== undefined && renewal.seconds === undefined;
    const limit = isPlan ? inUnits(amount, unit).amount : amount;
    if (renewal.seconds !== undefined && !isUnlimited) {
      const due = `${amountWords(total, unit)} every ${renewal.seconds} seconds until ${dateOf(endMs)}`;
      const why = `its amount is renewed (${due}), which plans here cannot: what is left of the current period is credited`;
      notes.push({ kind: 'decide', where: 'user_subscriptions', what, why });
    }
    const group = textOf(row, 'upgrade_group');
    if (group !== undefined) {
      const after = textOf(row, 'downgrade_group') ?? textOf(row, 'prev_user_group') ?? 'default';
      const why = `its user is in the group ${group} until ${dateOf(endMs)}, and then in ${after}: groups do not change by themselves here`;
      notes.push({ kind: 'decide', where: 'user_subscriptions', what, why });
    }
    subscriptions.push({
      id,
      user: textOf(row, 'user_id') ?? '',
      plan: isPlan ? planFor(plan, isUnlimited ? 0n : total, false) : undefined,
      ...(isPlan && { period }),
      ...(resets > 0 && { resetsMs: resets * 1_000 }),
      amount: limit,
      // What is left is exact, also where the limit was rounded up.
      used: isUnlimited ? 0n : limit - (amount - used),
      title,
      startMs: (cells.number('start_time') ?? 0) * 1_000,
      endMs,
    });
  }
  return { plans: Object.keys(plans).length === 0 ? undefined : plans, subscriptions, titles };
}

/** An entry of the section `plans`. An amount that is never renewed is balance, which does not expire. */
function planOf(row: Row, title: string, amount: bigint, isSold: boolean, unit: bigint): Setting {
  const { period } = renewalOf(row);
  const isUnlimited = amount === 0n;
  const window = period ?? (isUnlimited ? 'monthly' : undefined);
  const units = isUnlimited ? Number(UNLIMITED_UNITS) : Number(inUnits(amount, unit).text);
  const price = priceOf(row);
  return {
    title,
    days: daysOf(row),
    ...(window === undefined
      ? { balance: units }
      : { [window]: units, includes: 'balance', afterLimits: overflowOf(row) }),
    ...(isSold && price !== undefined && { price }),
    afterExpiry: 'balance',
  };
}

/** Whether the balance pays beyond the amount: it does unless the plan says otherwise, and in versions that do not ask. */
function overflowOf(row: Row): 'refuse' | 'balance' {
  return textOf(row, 'allow_wallet_overflow') === undefined || isTrue(row, 'allow_wallet_overflow')
    ? 'balance'
    : 'refuse';
}

/** Micro-quota in currency units with six decimal places, rounded up, and the amount that they are. */
function inUnits(micro: bigint, unit: bigint): { readonly text: string; readonly amount: bigint } {
  const step = unit / 1_000_000n;
  const digits = (micro + step - 1n) / step;
  return { text: decimalText({ digits, scale: 6 }), amount: digits * step };
}

/** Seconds of a unit of `duration_unit`; a month and a year are of the days that plans here count. */
const DURATIONS: Readonly<Record<string, number>> = { year: 365 * DAY_S, month: 30 * DAY_S, day: DAY_S, hour: 3_600 };
const MOST_DAYS = 3_660;

function daysOf(row: Row): number {
  const unit = textOf(row, 'duration_unit') ?? 'month';
  const seconds =
    unit === 'custom'
      ? (numberOf(row, 'custom_seconds') ?? 0)
      : (DURATIONS[unit] ?? DAY_S) * (numberOf(row, 'duration_value') ?? 1);
  return Math.min(MOST_DAYS, Math.max(1, Math.ceil(seconds / DAY_S)));
}

/** Prices of plans have hundredths: rounded up. */
function priceOf(row: Row): number | undefined {
  const price = amountOf(row.price_amount);
  if (price === undefined || price.digits === 0n) return undefined;
  const cents = (price.digits * 100n + 10n ** BigInt(price.scale) - 1n) / 10n ** BigInt(price.scale);
  return Number(cents) / 100;
}

function planNotes(row: Row, title: string): readonly Note[] {
  const where = 'subscription_plans';
  const what = `plan ${title}`;
  const notes: Note[] = [];
  const changed = (why: string): void => void notes.push({ kind: 'changed', where, what, why });
  const { period } = renewalOf(row);
  if ((numberOf(row, 'total_amount') ?? 0) === 0)
    changed(`its amount has no limit: here it is ${UNLIMITED_UNITS} currency units in 30 days`);
  else if (period === undefined) changed('its amount is never renewed: here it is balance, which does not expire');
  else if (period === 'monthly') changed('its amount is renewed every 30 days, not on the first of a month');
  else changed('its amount is renewed at midnight UTC');
  const unit = textOf(row, 'duration_unit') ?? 'month';
  if (unit !== 'day') changed(`it lasts ${daysOf(row)} days here`);
  const currency = textOf(row, 'currency') ?? 'USD';
  if (currency !== 'USD') {
    const why = `its price is in ${currency} there; here it is in currency units, which payment providers convert`;
    notes.push({ kind: 'decide', where, what, why });
  }
  const group = textOf(row, 'upgrade_group');
  if (group !== undefined) {
    const why = `it moves its buyer to the group ${group}: plans here have no group`;
    notes.push({ kind: 'decide', where, what, why });
  }
  if ((numberOf(row, 'max_purchase_per_user') ?? 0) > 0)
    notes.push(
      leftOut(where, what, `it can be bought ${numberOf(row, 'max_purchase_per_user')} times by one user there`),
    );
  return notes;
}

/** `top_ups`, and `subscription_orders`, of which `top_ups` may have a copy with the same number. */
async function readTopUps(
  database: Database,
  micro: Micro,
  titles: ReadonlyMap<string, string>,
  notes: Note[],
): Promise<readonly ForeignOrder[]> {
  const perUnit = quotaPerUnitOf(optionsOf((await database.rows('options')) ?? []).texts);
  const ofPlans = (await database.rows('subscription_orders')) ?? [];
  const numbers = new Set(ofPlans.map((row) => textOf(row, 'trade_no')));
  const orders: ForeignOrder[] = [];
  for (const row of (await database.rows('top_ups')) ?? []) {
    const number = textOf(row, 'trade_no');
    if (numbers.has(number)) continue;
    const provider = textOf(row, 'payment_provider') ?? textOf(row, 'payment_method') ?? '';
    // Of Creem, `amount` is quota; of Stripe, `money` is what was credited; otherwise `amount` is currency units.
    const quota =
      provider === 'creem'
        ? textOf(row, 'amount')
        : timesText(textOf(row, provider === 'stripe' ? 'money' : 'amount'), perUnit);
    orders.push({
      ...orderOf(row, `top-up ${textOf(row, 'id')}`),
      amount: micro({ id: row.id, quota }, 'quota', 'top_ups'),
      currency: IN_DOLLARS.test(provider) ? 'USD' : 'CNY',
    });
  }
  for (const row of ofPlans) {
    const planId = textOf(row, 'plan_id') ?? '';
    const method = textOf(row, 'payment_method');
    orders.push({
      ...orderOf(row, `subscription ${textOf(row, 'id')}`),
      amount: 0n,
      plan: titles.get(planId) ?? `plan-${planId}`,
      currency: method === 'balance' ? '' : IN_DOLLARS.test(method ?? '') ? 'USD' : 'CNY',
    });
  }
  if (orders.some(({ currency }) => currency !== '')) {
    const why = 'the currency of a payment is not recorded: CNY of Epay, USD of Stripe, Creem and Waffo';
    notes.push({ kind: 'changed', where: 'top_ups', what: 'orders', why, count: orders.length });
  }
  return orders;
}

/** Payment providers whose amounts are dollars; those of Epay are yuan. */
const IN_DOLLARS = /^(?:stripe|creem|waffo)/;

function orderOf(row: Row, id: string): Omit<ForeignOrder, 'amount' | 'currency'> {
  const status = textOf(row, 'status');
  const completed = numberOf(row, 'complete_time') ?? 0;
  return {
    id,
    user: textOf(row, 'user_id') ?? '',
    money: textOf(row, 'money') ?? '0',
    tradeNumber: textOf(row, 'trade_no') ?? id,
    method: textOf(row, 'payment_method'),
    state: status === 'success' ? 'paid' : status === 'pending' ? 'open' : 'failed',
    atMs: (numberOf(row, 'create_time') ?? 0) * 1_000,
    ...(completed > 0 && { paidMs: completed * 1_000 }),
  };
}

/** `orders` of one-hub. */
async function readOrders(database: Database, micro: Micro): Promise<readonly ForeignOrder[]> {
  const gateways = (await database.rows('payments')) ?? [];
  const methods = new Map(gateways.map((row) => [textOf(row, 'id'), textOf(row, 'type') ?? textOf(row, 'name')]));
  const rows = ((await database.rows('orders')) ?? []).filter((row) => textOf(row, 'deleted_at') === undefined);
  return rows.map((row) => {
    const status = textOf(row, 'status');
    const id = `order ${textOf(row, 'id')}`;
    const paid = numberOf(row, 'updated_at') ?? 0;
    return {
      id,
      user: textOf(row, 'user_id') ?? '',
      amount: micro(row, 'quota', 'orders'),
      money: textOf(row, 'order_amount') ?? '0',
      currency: textOf(row, 'order_currency') ?? 'CNY',
      method: methods.get(textOf(row, 'gateway_id')),
      tradeNumber: textOf(row, 'trade_no') ?? id,
      state: status === 'success' ? 'paid' : status === 'pending' ? 'open' : 'failed',
      atMs: (numberOf(row, 'created_at') ?? 0) * 1_000,
      ...(paid > 0 && { paidMs: paid * 1_000 }),
    };
  });
}

/**
 * `aff_code` is on links by which anybody registers, as often as they like, and only tells who invited them. An invitation here is of one
 * account, ends, and is made by an administrator: the codes are no such invitations.
 */
async function readInvitations(database: Database): Promise<readonly Note[]> {
  let [codes, invited, rewards] = [0, 0, 0];
  for await (const row of database.each('users')) {
    if (textOf(row, 'deleted_at') !== undefined) continue;
    if (textOf(row, 'aff_code') !== undefined) codes++;
    if ((numberOf(row, 'inviter_id') ?? 0) > 0) invited++;
    if ((numberOf(row, 'aff_quota') ?? 0) > 0) rewards++;
  }
  const notes: Note[] = [];
  const add = (kind: Note['kind'], count: number, what: string, why: string): void => {
    if (count > 0) notes.push({ kind, where: 'users', what, why, count });
  };
  const why =
    'a link with such a code registers any number of users there; an invitation here is for one user, and expires';
  add('left', codes, 'invitation codes (aff_code)', why);
  add('left', invited, 'users who were invited by another one (inviter_id)', 'who invited whom is not recorded here');
  const how = 'they are not part of the balance; credit them, if users may keep them';
  add('decide', rewards, 'users with invitation rewards that they have not transferred (aff_quota)', how);
  return notes;
}

/** A decimal text times a number, rounded down to a whole one; a text that is no decimal number stays, and is refused as an amount. */
function timesText(text: string | undefined, factor: Decimal): string {
  const value = amountOf(text);
  if (value === undefined) return text ?? '0';
  return `${(value.digits * factor.digits) / 10n ** BigInt(value.scale + factor.scale)}`;
}

const dateOf = (ms: number): string =>
  Number.isFinite(ms) && ms < 8.64e15 ? new Date(ms).toISOString().slice(0, 10) : 'no date';
const amountWords = (micro: bigint, unit: bigint): string => `${inUnits(micro, unit).text} currency units`;
