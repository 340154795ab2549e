/** The ledger: who has how much. Provided by the plugin `quota`. All amounts are micro-quota: 1 quota = 1,000,000. */

import { service } from '../definitions.ts';
import type { Exchange } from './exchange.ts';
import type { ChargedUnit, Rate, Unit } from './rates.ts';
import type { UsageRecord } from './records.ts';
import type { Step } from './store.ts';

/** Micro-quota in one quota unit. */
export const MICRO = 1_000_000n;

/** A number below this is exact in quota units, and is written without an exponent. */
const EXACT_AS_NUMBER = 10n ** 15n;

/** Micro-quota in quota units, as an exact decimal number: `1500000n` is `1.5`. */
export function inQuota(micro: bigint): string {
  if (micro < EXACT_AS_NUMBER && micro > -EXACT_AS_NUMBER) return String(Number(micro) / 1_000_000);
  const size = micro < 0n ? -micro : micro;
  const fraction = (size % MICRO).toString().padStart(6, '0').replace(/0+$/, '');
  return `${micro < 0n ? '-' : ''}${size / MICRO}${fraction === '' ? '' : `.${fraction}`}`;
}

/** A limit that calls are taken from. */
export interface Layer {
  /**
   * Money: `account`. Limits that somebody sets: `key`, `department` (in all). Limits of a window, which begin anew:
   * `department-month`, and `day`, `week`, `month` of a subscription, whose owner is the subscription.
   */
  readonly kind: 'account' | 'key' | 'department' | 'department-month' | 'day' | 'week' | 'month';
  readonly owner: number;
  /** When its window began, unix milliseconds; absent where it has none. */
  readonly windowStart?: number;
}

/**
 * A layer with what somebody put into it, each time as an entry: an account's money, a key's allowance. The others are limits that are
 * written down elsewhere, in a plan or with a department: their buckets open with the first call that is taken from them, and follow.
 */
export interface Purse extends Layer {
  readonly kind: 'account' | 'key';
}

/** `granted` = available + `held` + `used`, at every commit. */
export interface Balance {
  readonly granted: bigint;
  readonly used: bigint;
  readonly held: bigint;
  readonly unlimited: boolean;
}

/** Something that a call used, and what it comes to at its own price. */
export interface ReceiptItem extends ChargedUnit {
  readonly bucket: Rate | Unit;
  /** Which tool of the vendor's was used; only there for a `use`. */
  readonly name?: string;
  /** Each token is in one bucket: `input` are those that are in no other. Seconds may have fractions. */
  readonly count: number;
  /** Currency units for `per` of them (`ChargedUnit`), a decimal number: `2.5`. */
  readonly price: string;
  /**
   * Quota units, a decimal number, not rounded. A price per hour can make one without an end: it is cut off far behind the place where
   * that could matter.
   */
  readonly quota: string;
}

/**
 * How the charge of a call came about: its items add up, times `factor`, rounded up to a whole micro-quota, to `total`; of that no more
 * is charged than was held. Amounts are micro-quota.
 */
export interface Receipt {
  /** True where all of it is told, to the micro-quota. Else there are no items, and `reason` says why. */
  readonly exact: boolean;
  /** None where nothing was charged. */
  readonly items: readonly ReceiptItem[];
  /** What part of the price the call paid, a decimal number: `1`, `0.5`. */
  readonly factor: string;
  /** Quota units in one currency unit at that time; undefined where nothing was priced. */
  readonly perUnit: number | undefined;
  readonly total: bigint;
  readonly charged: bigint;
  /** What was set aside in the end; undefined where that was nothing, or was not written down. */
  readonly held: bigint | undefined;
  /** `hold`: no more was held, nor could be. `delivery`: the answer did not come to its end, and what had gone out was charged. */
  readonly cappedBy: 'hold' | 'delivery' | undefined;
  /**
   * Why nothing was charged, or why it cannot be retold. `refused`, `failed`: nothing was delivered. `unused`: nobody used anything.
   * `free`: the model is. `unpriced`: it had no price. `recovered`: the gateway stopped during the call, and what was written down of it
   * until then was charged. `not_noted`: an older release wrote down too little.
   */
  readonly reason: 'refused' | 'failed' | 'unused' | 'free' | 'unpriced' | 'recovered' | 'not_noted' | undefined;
}

/** An amount that moved, as it stands in the books. */
export interface Entry {
  /** A call's id; of what is no call, whatever names it: `top-up:…`. */
  readonly ref: string;
  readonly op: 'debit' | 'credit' | 'refund' | 'adjust';
  readonly kind: Layer['kind'] | 'debt';
  readonly owner: number;
  /** When its window began; undefined where it has none. */
  readonly windowStart: number | undefined;
  /** Micro-quota, above zero; of an `adjust` it may be below. */
  readonly amount: bigint;
  readonly atMs: number;
  /** Who moved it: `call`, `recovery`, a payment provider, a person. */
  readonly actor: string;
}

/**
 * An entry of an account's money that is no call's. `refund`: taken back because a payment went back, at once or from what came later;
 * `debit`: taken by hand, or paid for something; everything else came to it.
 */
export interface MoneyEntry extends Entry {
  readonly side: 'credit' | 'debit' | 'refund';
}

/** What came to an account, and left it, on one day beside its calls: micro-quota, never negative. */
export interface MoneyDay {
  /** When the day begins (UTC), unix milliseconds. */
  readonly timeMs: number;
  readonly credit: bigint;
  readonly debit: bigint;
  readonly refund: bigint;
}

/** Buckets of quota, one for each layer. */
export interface Ledger {
  /** Quota units in one currency unit. */
  readonly perUnit: number;
  /** What a new account is given, unless it is root's: `open` its bucket with it. */
  readonly welcome: bigint;
  /** The steps that open a purse, for the list that creates its owner. */
  open(purse: Purse, granted: bigint, unlimited: boolean): readonly Step[];
  balance(layer: Layer): Promise<Balance | undefined>;
  /** Of several layers of one kind, by owner; of those that began at `windowStart`, where the kind has windows. */
  balances(kind: Layer['kind'], owners: readonly number[], windowStart?: number): Promise<ReadonlyMap<number, Balance>>;
  /** What an account owes since money was taken back that it had spent; while it does, its calls are refused. */
  debt(accountId: number): Promise<bigint>;
  /** Puts `amount` (above zero) into a purse, once per `ref`. False where that `ref` was credited before. */
  credit(purse: Purse, amount: bigint, ref: string, actor: string, along?: readonly Step[]): Promise<boolean>;
  /**
   * The steps of a credit to an account, for a list that must write it together with something else; what the account owes is paid
   * first. `must`: `credited_before`, `no_room`.
   */
  creditSteps(accountId: number, amount: bigint, ref: string, actor: string): readonly Step[];
  /**
   * The steps that take back what was credited (a refund, a dispute), once per `ref`: what is there, and the rest becomes a debt. What
   * all processes have leased comes back first, and stays back for two seconds: write them soon. One that does not answer is waited for as long,
   * and what it has is not there. `must`: `taken_back_before`.
   */
  takeBackSteps(accountId: number, amount: bigint, ref: string, actor: string): Promise<readonly Step[]>;
  /**
   * The steps that take exactly `amount` from an account for something that it buys, once per `ref`. What running calls hold is not
   * there to be taken, nor is anything while the account owes something. Leases come back first, as for `takeBackSteps`. `must`:
   * `deducted_before`, `insufficient`.
   */
  deductSteps(accountId: number, amount: bigint, ref: string, actor: string): Promise<readonly Step[]>;
  /**
   * Takes up to `amount` from an account by hand, never more than is available, once per `ref`; the amount taken. For administrators,
   * who see what it came to. Where that is nothing, `along` is not written either.
   */
  deduct(accountId: number, amount: bigint, ref: string, actor: string, along?: readonly Step[]): Promise<bigint>;
  /**
   * Sets what is available in a purse, or (undefined) that it has no limit. Refuses (409 `lease_not_returned`) to limit one without a limit
   * while a process that has leased from it does not answer.
   */
  setAvailable(purse: Purse, available: bigint | undefined, actor: string, along?: readonly Step[]): Promise<void>;
  /** The steps of that. Leases come back first, as for `takeBackSteps`. `must`: `no_room`. */
  setAvailableSteps(purse: Purse, available: bigint | undefined, actor: string): Promise<readonly Step[]>;
  /** What an exchange was charged; 0n before `quota` has settled it. */
  charged(x: Exchange): bigint;
  /** Whether a subscription includes it: then the account's balance pays nothing. */
  isIncluded(x: Exchange): boolean;
  /** How the charge of a recorded call came about, as its record tells: at the prices of that time. */
  receipt(call: UsageRecord): Receipt;
  /** What a recorded call was charged for: one entry for each layer that it was taken from, as its record tells. */
  debitsOf(call: UsageRecord): readonly Entry[];
  /** What a payment moved: one entry for each layer. */
  entriesOf(ref: string): Promise<readonly Entry[]>;
  /** What moved the money of an account, calls apart, newest first. `before`: the `next` of the piece before. */
  money(
    accountId: number,
    of: { readonly limit: number; readonly fromMs: number; readonly before?: string | undefined },
  ): Promise<{ readonly items: readonly MoneyEntry[]; readonly next: string | undefined }>;
  /** The same added up: days that have some, the oldest first. */
  moneyByDay(accountId: number, fromMs: number): Promise<readonly MoneyDay[]>;
}
/** The service of that name. */
export const Ledger = service<Ledger>('ledger');
