/** The cost of usage at one price, and the maximum cost of a call, in exact micro-quota. */

import { RATE_NAMES, RATES, type Rate, type Unit } from '../../core/contracts/formats/rates.ts';
import type { Usage } from '../../core/contracts/formats/usage.ts';
import { MICRO } from '../../core/contracts/ledger.ts';
import type { TokenBounds } from '../../core/contracts/prices.ts';
import { type Decimal, highest, inUnitsOf, wholeTokens } from '../../core/sdk.ts';
import type { PriceRow, Rates } from './price-row.ts';
import { SECONDS_PER_HOUR, type Units, unitPrice } from './units.ts';

/** An item of a receipt. */
export interface PricePart {
  readonly bucket: Rate | Unit;
  /** Of a use: the name of the tool. */
  readonly name?: string;
  readonly count: number;
  /** Currency units, as written in the price: for a million tokens or characters, an hour of audio, an image, a call. */
  readonly price: Decimal;
  /** The cost of all of it in quota units. An infinite fraction, which only a price per hour can give, is cut off after 20 further digits. */
  readonly quota: Decimal;
}

/** True if a price has no amount at all. */
export function pricesNothing({ rates, units = {}, perRequest }: PriceRow): boolean {
  return Object.keys(rates).length === 0 && Object.values(units).every((each) => !each) && !perRequest;
}

/**
 * The price of a row at `perUnit` quota per currency unit. A rate that the row does not name is that of its parent (`RATES`); if input or output
 * itself is missing, nothing is charged for it.
 */
export function exactPrice(row: PriceRow, perUnit: bigint) {
  // All amounts of the row become integers over one denominator, 10^scale times the seconds of an hour, so that a call adds up
  // without rounding. A rate per million tokens in micro-quota per token is P * perUnit: the two millions cancel out.
  const scale = Math.max(0, ...decimals(row).map((value) => value.scale));
  const amountOf = (value: Decimal): bigint => inUnitsOf(value, scale) * perUnit * SECONDS_PER_HOUR;
  const amount = (value: Decimal | undefined): bigint | undefined => value && amountOf(value);
  const denominator = 10n ** BigInt(scale) * SECONDS_PER_HOUR;
  const roundUp = (sum: bigint, factor: Decimal | undefined): bigint => {
    if (factor === undefined) return (sum + denominator - 1n) / denominator;
    const unit = denominator * 10n ** BigInt(factor.scale);
    return (sum * factor.digits + unit - 1n) / unit;
  };

  const perRequest = (amount(row.perRequest) ?? 0n) * MICRO;
  const units = unitPrice(row.units ?? {}, amountOf);
  const levels: Level[] = [];
  let rates = row.rates;
  for (const tier of [{ above: -1, rates: {} }, ...row.tiers.toSorted((a, b) => a.above - b.above)]) {
    rates = { ...rates, ...tier.rates };
    levels.push(level(tier.above, rates, amount, levels.at(-1)));
  }
  /** The highest level that this input reaches; every input reaches the first. */
  const levelAt = (input: number): Level => {
    let reached = levels.length - 1;
    while (levels[reached]!.above >= input) reached--;
    return levels[reached]!;
  };

  return {
    /** Each token is charged once, at its own rate; the tier of the total input applies to the whole call. Units are added. */
    cost(usage: Usage, factor?: Decimal): bigint {
      const tokens = eachOnce(usage);
      const at = levelAt(wholeTokens(usage.input));
      let sum = perRequest + (units?.cost(usage) ?? 0n);
      for (let i = 0; i < tokens.length; i++) if (tokens[i] !== 0) sum += BigInt(tokens[i]!) * at.rates[i]!;
      return roundUp(sum, factor);
    },
    /** The items that `cost` adds up; only those with a count. */
    parts(usage: Usage): readonly PricePart[] {
      const tokens = eachOnce(usage);
      const at = levelAt(wholeTokens(usage.input));
      const parts = [
        ...RATE_NAMES.map((bucket, i) => {
          const [count, rate] = [tokens[i]!, at.rates[i]!];
          return { bucket, count, rate, amount: times(count, rate) };
        }),
        ...(units?.parts(usage) ?? []),
        { bucket: 'request', count: perRequest === 0n ? 0 : 1, rate: perRequest / MICRO, amount: perRequest } as const,
      ];
      return parts
        .filter(({ count }) => count > 0)
        .map(({ bucket, count, rate, amount, ...which }) => ({
          bucket,
          ...which,
          count,
          price: { digits: rate / (perUnit * SECONDS_PER_HOUR), scale },
          quota: inQuotaUnits(amount, scale),
        }));
    },
    /** No usage within these bounds costs more. */
    most({ input, output, media, plain, uses }: TokenBounds, bounds: Omit<Units, 'uses'>, factor?: Decimal): bigint {
      const at = levelAt(input);
      const perInput = plain ? at.rates[INPUT]! : media ? at.dearestMedia : at.dearestText;
      return roundUp(
        perRequest +
          times(input, perInput) +
          times(output, at.dearestOutput) +
          (units?.most({ ...bounds, uses }) ?? 0n),
        factor,
      );
    },
  };
}

/**
 * A price ready for calculation. Amounts are micro-quota, rounded up once, at the end; with `factor`, this part of the price. Nothing
 * here throws or returns less than 0n.
 */
export type Price = ReturnType<typeof exactPrice>;

const INPUT = RATE_NAMES.indexOf('input');

/** For each total, its place in the table, and those of its parts. */
const TOTALS = (['input', 'output'] as const).map((total) => ({
  total,
  at: RATE_NAMES.indexOf(total),
  parts: RATE_NAMES.flatMap((rate, at) => (rate !== total && RATES[rate].total === total ? [{ rate, at }] : [])),
}));

/** One array for all calls: nothing is allocated while a stream is charged. */
const counts: number[] = RATE_NAMES.map(() => 0);

/**
 * How many tokens are charged at each rate, in the order of the table, until the next use of this function. A part that is larger than what is left of
 * its total gets what is left.
 */
function eachOnce(usage: Usage): readonly number[] {
  for (let i = 0; i < TOTALS.length; i++) {
    const { total, at, parts } = TOTALS[i]!;
    let left = wholeTokens(usage[total]);
    for (let j = 0; j < parts.length; j++) {
      const part = parts[j]!;
      const reported = usage[part.rate];
      const count = reported === 0 || reported === undefined ? 0 : Math.min(wholeTokens(reported), left);
      counts[part.at] = count;
      left -= count;
    }
    counts[at] = left;
  }
  return counts;
}

/** Digits of an infinite fraction, beyond those that the price needs. */
const BEYOND = 20;

/** Micro-quota over `10^scale` and the seconds of an hour, as quota units. */
function inQuotaUnits(amount: bigint, scale: number): Decimal {
  // An hour has 9 times 400 seconds, and 1/400 is 0.0025; the remaining divisor is nine.
  const digits = amount * 25n;
  if (digits % 9n === 0n) return { digits: digits / 9n, scale: scale + 10 };
  return { digits: (digits * 10n ** BigInt(BEYOND)) / 9n, scale: scale + 10 + BEYOND };
}

/** Most counts are 0: no big integer is made for them. */
function times(tokens: number, rate: bigint): bigint {
  return tokens === 0 ? 0n : BigInt(tokens) * rate;
}

/**
 * The rates of calls with more than `above` input tokens, in the order of the table, in micro-quota per token times the denominator. The highest
 * are those of this level and of all below it, because a call that may reach this level may also end in a lower one.
 */
interface Level {
  readonly above: number;
  readonly rates: readonly bigint[];
  /** The highest rate of input that is neither audio nor image. */
  readonly dearestText: bigint;
  readonly dearestMedia: bigint;
  readonly dearestOutput: bigint;
}

function level(
  above: number,
  rates: Rates,
  amount: (value: Decimal | undefined) => bigint | undefined,
  below: Level | undefined,
): Level {
  const charged: Partial<Record<string, bigint>> = {};
  for (const rate of RATE_NAMES) {
    charged[rate] = amount(rates[rate]) ?? charged[RATES[rate].parent ?? ''] ?? 0n;
  }
  const dearest = (total: 'input' | 'output', lowest: bigint, except?: 'media') =>
    highest([
      lowest,
      ...RATE_NAMES.filter(
        (rate) => (RATES[rate].total === total && RATES[rate].group !== except) || rate === total,
      ).map((rate) => charged[rate]!),
    ]);
  const dearestText = dearest('input', below?.dearestText ?? 0n, 'media');
  return {
    above,
    rates: RATE_NAMES.map((rate) => charged[rate]!),
    dearestText,
    dearestMedia: dearest('input', below?.dearestMedia ?? 0n),
    dearestOutput: dearest('output', below?.dearestOutput ?? 0n),
  };
}

function decimals(row: PriceRow): Decimal[] {
  const { perImage, perHour, characters, perUse } = row.units ?? {};
  const rates = [row.rates, ...row.tiers.map((tier) => tier.rates)].flatMap((each) => Object.values(each));
  const others = [row.perRequest, perHour, characters, ...(perImage?.values() ?? []), ...(perUse?.values() ?? [])];
  return [...rates, ...others.filter((each) => each !== undefined)];
}
