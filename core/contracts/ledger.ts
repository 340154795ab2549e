/** The ledger: balances and limits, in micro-quota (1 quota = 1,000,000). Provided by the plugin `quota`. */

import { service } from './definitions.ts';
import type { Exchange } from './exchange.ts';
import type { ChargedUnit, Rate, Unit } from './formats/rates.ts';
import type { ErrorMaker } from './gateway-error.ts';
import type { Period } from './periods.ts';
import type { UsageRecord } from './records.ts';
import type { Reader, Step } from './store.ts';

/** Micro-quota in one quota unit. */
export const MICRO = 1_000_000n;

/** The most that one balance or limit can be granted, in micro-quota; leaves room for sums below 2^63. */
export const LARGEST_GRANT = 4_000_000_000_000_000_000n;

/** The limit of a bucket that refuses nothing, and counts what is charged to it. */
export const COUNTED = LARGEST_GRANT;

/** A number below this is exact in quota units, and is written without an exponent. */
const EXACT_AS_NUMBER = 10n ** 15n;

/** Micro-quota in quota units, as an exact decimal number: `1500000n` is `1.5`. */
export function inQuota(micro: bigint): string {
  if (micro < EXACT_AS_NUMBER && micro > -EXACT_AS_NUMBER) return String(Number(micro) / 1_000_000);
  const size = micro < 0n ? -micro : micro;
  const fraction = (size % MICRO).toString().padStart(6, '0').replace(/0+$/, '');
  return `${micro < 0n ? '-' : ''}${size / MICRO}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The budget of a key in each period. */
export type KeyPeriod = `key-${Period}`;

/** A balance or a limit that calls are charged to. It has a bucket of its own in the ledger. */
export interface Layer {
  /**
   * Money: `account`. Limits in all: `key`, `department`. Limits within a window: `department-month`; `day`, `week`, `month` of a
   * subscription, whose owner is the subscription; `key-day` and the like, and `key-day gpt-*` for some models of a key.
   */
  readonly kind: 'account' | 'key' | 'department' | 'department-month' | Period | KeyPeriod | `${KeyPeriod} ${string}`;
  readonly owner: number;
  /** When its window began, unix milliseconds; absent if it has no window. */
  readonly windowStart?: number;
}

/** A limit whose amount is in the ledger, and changes only with an entry: an account's balance, a key's allowance. */
export interface BalanceLayer extends Layer {
  readonly kind: 'account' | 'key';
}

/**
 * A limit that is set in a plan or a department, and how the refusal of a call describes it. Its bucket is created with the
 * first call that is charged to it, and follows the limit.
 */
export interface CallLimit extends Layer {
  /** 0: it has no window. */
  readonly windowStart: number;
  /** Micro-quota; `COUNTED`: its bucket only counts. */
  readonly limit: bigint;
  /** Makes the refusal if too little is left. */
  readonly error: ErrorMaker<[message?: string]>;
  /** `the daily window of the plan "monthly"`. */
  readonly title: string;
  /** When its window ends, unix milliseconds; undefined if it has no window. */
  readonly resetsMs: number | undefined;
}

/** `granted` = available + `held` + `used`, at every commit. */
export interface Balance {
  readonly granted: bigint;
  readonly used: bigint;
  /** Reserved for running calls: what they do not cost comes back. */
  readonly held: bigint;
  readonly unlimited: boolean;
  /** What is owed, and paid from what comes back or is credited; absent: nothing. */
  readonly debt?: bigint;
}

/**
 * What a balance shows as left, everywhere the same: what can be spent now; nothing while what running calls hold covers a debt; below zero
 * what is owed beyond that.
 */
export function remaining({ granted, used, held, debt = 0n }: Balance): bigint {
  const free = granted - used - held - debt;
  if (free >= 0n) return free;
  return free + held < 0n ? free + held : 0n;
}

/** How a balance was set, in micro-quota. A balance is what is available and what running calls hold, less what is owed. */
export interface BalanceChange {
  readonly was: bigint;
  readonly is: bigint;
  /** Taken at once; below zero: credited. */
  readonly taken: bigint;
  /** What running calls hold. */
  readonly held: bigint;
  /** What is owed now: it is paid as soon as running calls return what they do not cost. */
  readonly owed: bigint;
}

/** One item of a call's usage and its cost. */
export interface ReceiptItem extends ChargedUnit {
  readonly bucket: Rate | Unit;
  /** The vendor-side tool; only for a `use`. */
  readonly name?: string;
  /** Each token is in one item: `input` are those that are in no other. Seconds may have fractions. */
  readonly count: number;
  /** Currency units per `per` of them (`ChargedUnit`), a decimal number: `2.5`. */
  readonly price: string;
  /** Quota units, as a decimal number; cut off far beyond any significant digit, as a price per hour may need. */
  readonly quota: string;
}

/**
 * How the charge of a call came about: its items add up, times `factor`, rounded up to a whole micro-quota, to `total`; of that no more
 * is charged than was reserved. Amounts are micro-quota.
 */
export interface Receipt {
  /** True if the items add up to the charge, to the micro-quota. Otherwise there are no items, and `reason` says why. */
  readonly exact: boolean;
  /** None if nothing was charged. */
  readonly items: readonly ReceiptItem[];
  /** The price factor of the call, a decimal number: `1`, `0.5`. */
  readonly factor: string;
  /** Quota units in one currency unit at that time; undefined if nothing was priced. */
  readonly perUnit: number | undefined;
  readonly total: bigint;
  readonly charged: bigint;
  /** The final reservation; undefined if nothing was reserved, or it was not recorded. */
  readonly held: bigint | undefined;
  /** `hold`: no more could be reserved. `delivery`: the answer broke off, and what was delivered was charged. */
  readonly cappedBy: 'hold' | 'delivery' | undefined;
  /**
   * Why nothing was charged, or why there are no items. `refused`, `failed`: nothing was delivered. `unused`: the call used nothing.
   * `free`: the model is. `unpriced`: it had no price. `recovered`: the gateway stopped during the call, and the amount in its last checkpoint was
   * charged. `not_noted`: an older release recorded too little.
   */
  readonly reason: 'refused' | 'failed' | 'unused' | 'free' | 'unpriced' | 'recovered' | 'not_noted' | undefined;
}

/** An amount that moved. */
export interface Entry {
  /** A call's id, or the name of a payment or another change: `top-up:…`. */
  readonly ref: string;
  readonly op: 'debit' | 'credit' | 'refund' | 'adjust';
  readonly kind: Layer['kind'] | 'debt' | 'key-debt';
  readonly owner: number;
  /** When its window began; undefined if it has no window. */
  readonly windowStart: number | undefined;
  /** Micro-quota, above zero; an `adjust` may be below. */
  readonly amount: bigint;
  readonly atMs: number;
  /** The origin: `call`, `recovery`, a payment provider, an administrator. */
  readonly actor: string;
}

/**
 * An entry of an account's balance that is not a call's. `refund`: taken back because a payment was refunded, at once or from later credits;
 * `debit`: deducted by an administrator, or paid for something; `credit`: everything else.
 */
export interface MoneyEntry extends Entry {
  readonly side: 'credit' | 'debit' | 'refund';
}

/** The entries of an account's balance on one day, calls excluded: micro-quota, never negative. */
export interface MoneyDay {
  /** Start of the day (UTC), unix milliseconds. */
  readonly timeMs: number;
  readonly credit: bigint;
  readonly debit: bigint;
  readonly refund: bigint;
}

/** The ledger has a bucket for each balance or limit. */
export interface Ledger {
  /** Quota units in one currency unit. */
  readonly perUnit: number;
  /** The initial credit of a new account, except for root: pass it to `open`. */
  readonly welcome: bigint;
  /** The steps that create a bucket, for the list that creates its owner. */
  open(layer: BalanceLayer, granted: bigint, unlimited: boolean): readonly Step[];
  balance(layer: Layer): Promise<Balance | undefined>;
  /** The balances of several buckets of one kind, by owner; if the kind has windows, of those that began at `windowStart`. */
  balances(kind: Layer['kind'], owners: readonly number[], windowStart?: number): Promise<ReadonlyMap<number, Balance>>;
  /** The step that locks an account's bucket until its list is written: lists that begin with it run one at a time, on every store. */
  lockStep(accountId: number): Step;
  /**
   * The steps that add what another gateway has charged to a window of a subscription, once per `ref`, for the list that adopts it; none for
   * 0n. `must`: `used_before`.
   */
  usedSteps(window: Layer, limit: bigint, used: bigint, ref: string, actor: string): readonly Step[];
  /** The owners of the buckets of some kinds, as the snapshot of an invariant has them. */
  ownersOf(kinds: readonly Layer['kind'][], read: Reader): Promise<readonly number[]>;
  /** The debt of an account: money that was refunded after the account had spent it. Until it is paid, calls of the account are refused. */
  debt(accountId: number): Promise<bigint>;
  /** Credits `amount` (above zero), once per `ref`. False if that `ref` was credited before. */
  credit(layer: BalanceLayer, amount: bigint, ref: string, actor: string, along?: readonly Step[]): Promise<boolean>;
  /**
   * The steps of a credit to an account, for a list that also writes something else. A debt is paid first. `must`: `credited_before`, `no_room`.
   */
  creditSteps(accountId: number, amount: bigint, ref: string, actor: string): readonly Step[];
  /**
   * The steps that debit an earlier credit (a refund, a dispute), once per `ref`: the available amount at once, and the rest as a debt. All
   * processes first return what they have leased, and lease nothing in advance for two seconds: write the steps soon. A process that does not answer
   * is given the same two seconds, and the amount it has leased is not available. `must`: `taken_back_before`.
   */
  takeBackSteps(accountId: number, amount: bigint, ref: string, actor: string): Promise<readonly Step[]>;
  /**
   * The steps that take exactly `amount` from an account for something that it buys, once per `ref`. Amounts reserved for running calls are not
   * available; an account with a debt has nothing available. Leases are returned first, as for `takeBackSteps`. `must`: `deducted_before`,
   * `insufficient`.
   */
  deductSteps(accountId: number, amount: bigint, ref: string, actor: string): Promise<readonly Step[]>;
  /**
   * Takes up to `amount` from an account, never more than is available, once per `ref`. Returns the amount taken; if that is nothing, `along`
   * is not written.
   */
  deduct(accountId: number, amount: bigint, ref: string, actor: string, along?: readonly Step[]): Promise<bigint>;
  /**
   * Sets the balance of an account: `to` gets the current one. If it becomes less than what running calls hold, the available amount is
   * taken and the difference owed. `along` gets what was done, for the same list.
   */
  setBalance(
    accountId: number,
    to: (balance: bigint) => bigint,
    ref: string,
    actor: string,
    along?: (change: BalanceChange) => readonly Step[],
  ): Promise<BalanceChange>;
  /**
   * Adds an amount, which may be below zero, to what a bucket with a limit has left, as `setBalance` does: what there is not is owed. For a
   * balance that goes on changing in another system; `along` must make sure that it happens once.
   */
  shift(layer: BalanceLayer, by: bigint, ref: string, actor: string, along?: readonly Step[]): Promise<BalanceChange>;
  /**
   * Sets the amount that can be spent, what running calls hold included (as `setBalance`), or (undefined) removes the limit. Refuses (409 `lease_not_returned`) to limit an unlimited bucket while a process that
   * has leased from it does not answer.
   */
  setAvailable(
    layer: BalanceLayer,
    available: bigint | undefined,
    actor: string,
    along?: readonly Step[],
  ): Promise<void>;
  /** The steps of `setAvailable`. Leases are returned first, as for `takeBackSteps`. `must`: `no_room`. */
  setAvailableSteps(layer: BalanceLayer, available: bigint | undefined, actor: string): Promise<readonly Step[]>;
  /** The charge of a request; 0n before `quota` has settled it. */
  charged(x: Exchange): bigint;
  /** Whether a subscription includes it: then the account's balance is not charged. */
  isIncluded(x: Exchange): boolean;
  /** How a recorded call was charged, at the prices that its record has. */
  receipt(call: UsageRecord): Receipt;
  /** The charge of a recorded call: one entry for each bucket, from its record. */
  debitsOf(call: UsageRecord): readonly Entry[];
  /** The entries of a payment: one for each bucket. */
  entriesOf(ref: string): Promise<readonly Entry[]>;
  /** The entries of an account's balance, calls excluded, newest first. `before`: the `next` of the page before. */
  money(
    accountId: number,
    of: { readonly limit: number; readonly fromMs: number; readonly before?: string | undefined },
  ): Promise<{ readonly items: readonly MoneyEntry[]; readonly next: string | undefined }>;
  /** The same, added up by day, oldest first; days without entries are left out. */
  moneyByDay(accountId: number, fromMs: number): Promise<readonly MoneyDay[]>;
}
/** The service `Ledger`. */
export const Ledger = service<Ledger>('ledger');
