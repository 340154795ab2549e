/** The arithmetic of one price: what a use costs, and the most a call can cost, in exact micro-quota. */
import type { Usage } from '../../core/contracts/call.ts';
import { MICRO } from '../../core/contracts/ledger.ts';
import { type Decimal, highest, inUnitsOf } from './decimal.ts';
import type { TokenBounds } from './estimate.ts';
import { SECONDS_PER_HOUR, type UnitPart, type UnitRates, type Units, unitPrice } from './unit-price.ts';
import { wholeTokens } from './usage-sanity.ts';
import type { ServicePrices } from './use-prices.ts';

/** The kinds of tokens a price tells apart, in the order people read them. */
export const RATES = [
  'input',
  'cacheRead',
  'cacheWrite',
  'cacheWriteLong',
  'inputAudio',
  'inputImage',
  'output',
  'reasoning',
  'outputAudio',
  'outputImage',
] as const;
/** One of them. */
export type Rate = (typeof RATES)[number];

/** Currency units per million tokens. */
export type Rates = Readonly<Partial<Record<Rate, Decimal>>>;

/** A price as somebody wrote it down. */
export interface PriceRow {
  readonly rates: Rates;
  /** Beside the tokens, whatever else is sold. */
  readonly units?: UnitRates;
  /** Currency units per call, beside the tokens. */
  readonly perRequest: Decimal | undefined;
  /** Rates of calls with more than `above` input tokens in all; what a tier does not name stays as it is below it. */
  readonly tiers: readonly Tier[];
  /** What tokens cost where a call is served otherwise than usual. */
  readonly service?: ServicePrices | undefined;
}
/** What costs otherwise from so much input on. */
export interface Tier {
  readonly above: number;
  readonly rates: Rates;
}

/** One kind of what was used. */
export interface PricePart {
  readonly bucket: Rate | UnitPart['bucket'] | 'request';
  /** Which use it was. */
  readonly name?: string;
  readonly count: number;
  /** Currency units, as they are written down: for a million tokens or characters, an hour of sound, an image, a call. */
  readonly price: Decimal;
  /** What all of it comes to, in quota units; of a price per hour cut off far behind the place where that could matter. */
  readonly quota: Decimal;
}

/**
 * A price ready to be charged, or what `factorPpm` millionths of it come to. Amounts are micro-quota, rounded up once, at the end.
 * Neither throws or falls below 0n.
 */
export interface Price {
  /** Each token is charged once, at its own rate; the tier of the whole input applies to the whole call. Units come on top. */
  cost(usage: Usage, factorPpm?: bigint): bigint;
  /** No use within these bounds costs more. */
  most(tokens: TokenBounds, units: Omit<Units, 'uses'>, factorPpm?: bigint): bigint;
  /** What `cost` adds up, without what there is none of. */
  parts(usage: Usage): readonly PricePart[];
}

/** So many millionths of an amount; rounded up. */
export function partOf(amount: bigint, factorPpm: bigint | undefined): bigint {
  return factorPpm === undefined ? amount : (amount * factorPpm + MILLION - 1n) / MILLION;
}
const MILLION = 1_000_000n;

/** Whether a price names anything at all. */
export function pricesNothing({ rates, units = {}, perRequest }: PriceRow): boolean {
  return Object.keys(rates).length === 0 && Object.values(units).every((each) => !each) && !perRequest;
}

/**
 * The price of a row at `perUnit` quota per currency unit. A rate the row does not name follows its parent: cache read, cache
 * write, audio and image input follow input, the long cache write the short one, reasoning, audio and image output follow output.
 * Where input or output itself is missing, nothing is charged for it.
 */
export function exactPrice(row: PriceRow, perUnit: bigint): Price {
  // All amounts of the row become integers over one denominator, 10^scale and the seconds of an hour, so that a whole call adds up
  // without rounding. A rate per million tokens in micro-quota per token is P * perUnit: the two millions cancel out.
  const scale = Math.max(0, ...decimals(row).map((value) => value.scale));
  const amountOf = (value: Decimal): bigint => inUnitsOf(value, scale) * perUnit * SECONDS_PER_HOUR;
  const amount = (value: Decimal | undefined): bigint | undefined => value && amountOf(value);
  const denominator = 10n ** BigInt(scale) * SECONDS_PER_HOUR;
  const roundUp = (sum: bigint, factorPpm: bigint | undefined): bigint =>
    factorPpm === undefined
      ? (sum + denominator - 1n) / denominator
      : (sum * factorPpm + denominator * MILLION - 1n) / (denominator * MILLION);

  const perRequest = (amount(row.perRequest) ?? 0n) * MICRO;
  const units = unitPrice(row.units ?? {}, amountOf);
  const levels: Level[] = [];
  let rates = row.rates;
  for (const tier of [{ above: -1, rates: {} }, ...row.tiers.toSorted((a, b) => a.above - b.above)]) {
    rates = { ...rates, ...tier.rates };
    levels.push(level(tier.above, rates, amount, levels.at(-1)));
  }
  /** The last level that so much input reaches; the first one is reached by everything. */
  const levelAt = (input: number): Level => {
    let reached = levels.length - 1;
    while (levels[reached]!.above >= input) reached--;
    return levels[reached]!;
  };

  return {
    cost(usage, factorPpm) {
      const tokens = eachOnce(usage);
      const at = levelAt(wholeTokens(usage.input));
      let sum = perRequest + (units?.cost(usage) ?? 0n);
      for (const rate of RATES) if (tokens[rate] !== 0) sum += BigInt(tokens[rate]) * at[rate];
      return roundUp(sum, factorPpm);
    },
    parts(usage) {
      const tokens = eachOnce(usage);
      const at = levelAt(wholeTokens(usage.input));
      const parts = [
        ...RATES.map((rate) => ({
          bucket: rate,
          count: tokens[rate],
          rate: at[rate],
          amount: times(tokens[rate], at[rate]),
        })),
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
    most({ input, output, media, plain, uses }, bounds, factorPpm) {
      const at = levelAt(input);
      const perInput = plain ? at.input : media ? at.dearestMedia : at.dearestText;
      return roundUp(
        perRequest +
          times(input, perInput) +
          times(output, at.dearestOutput) +
          (units?.most({ ...bounds, uses }) ?? 0n),
        factorPpm,
      );
    },
  };
}

/** How many tokens are charged at each rate: parts that claim more than there is get what is left. */
function eachOnce(usage: Usage): Readonly<Record<Rate, number>> {
  const input = wholeTokens(usage.input);
  const output = wholeTokens(usage.output);
  const cacheRead = Math.min(wholeTokens(usage.cacheRead), input);
  const cacheWrite = Math.min(wholeTokens(usage.cacheWrite), input - cacheRead);
  const cacheWriteLong = Math.min(wholeTokens(usage.cacheWriteLong), input - cacheRead - cacheWrite);
  const text = input - cacheRead - cacheWrite - cacheWriteLong;
  const inputAudio = Math.min(wholeTokens(usage.inputAudio), text);
  const inputImage = Math.min(wholeTokens(usage.inputImage), text - inputAudio);
  const reasoning = Math.min(wholeTokens(usage.reasoning), output);
  const outputAudio = Math.min(wholeTokens(usage.outputAudio), output - reasoning);
  const outputImage = Math.min(wholeTokens(usage.outputImage), output - reasoning - outputAudio);
  return {
    input: text - inputAudio - inputImage,
    cacheRead,
    cacheWrite,
    cacheWriteLong,
    inputAudio,
    inputImage,
    output: output - reasoning - outputAudio - outputImage,
    reasoning,
    outputAudio,
    outputImage,
  };
}

/** Places behind those that a decimal number needs, where a part of an hour makes one without an end. */
const BEYOND = 20;

/** Micro-quota over `10^scale` and the seconds of an hour, as quota units. */
function inQuotaUnits(amount: bigint, scale: number): Decimal {
  // An hour has 9 times 400 seconds, and 1/400 is 0.0025: what is left is to divide by nine.
  const digits = amount * 25n;
  if (digits % 9n === 0n) return { digits: digits / 9n, scale: scale + 10 };
  return { digits: (digits * 10n ** BigInt(BEYOND)) / 9n, scale: scale + 10 + BEYOND };
}

/** Most kinds of tokens do not occur in a use: no big integer is made for them. */
function times(tokens: number, rate: bigint): bigint {
  return tokens === 0 ? 0n : BigInt(tokens) * rate;
}

/**
 * The rates of calls with more than `above` input tokens, in micro-quota per token times the denominator. The dearest are those
 * of this level and of all below it: a call that may reach this one may end in any of them.
 */
type Level = Readonly<Record<Rate | 'dearestText' | 'dearestMedia' | 'dearestOutput', bigint>> & {
  readonly above: number;
};

function level(
  above: number,
  rates: Rates,
  amount: (value: Decimal | undefined) => bigint | undefined,
  below: Level | undefined,
): Level {
  const input = amount(rates.input) ?? 0n;
  const cacheRead = amount(rates.cacheRead) ?? input;
  const cacheWrite = amount(rates.cacheWrite) ?? input;
  const cacheWriteLong = amount(rates.cacheWriteLong) ?? cacheWrite;
  const inputAudio = amount(rates.inputAudio) ?? input;
  const inputImage = amount(rates.inputImage) ?? input;
  const output = amount(rates.output) ?? 0n;
  const reasoning = amount(rates.reasoning) ?? output;
  const outputAudio = amount(rates.outputAudio) ?? output;
  const outputImage = amount(rates.outputImage) ?? output;
  const dearestText = highest([input, cacheRead, cacheWrite, cacheWriteLong, below?.dearestText ?? 0n]);
  return {
    above,
    input,
    cacheRead,
    cacheWrite,
    cacheWriteLong,
    inputAudio,
    inputImage,
    output,
    reasoning,
    outputAudio,
    outputImage,
    dearestText,
    dearestMedia: highest([dearestText, inputAudio, inputImage, below?.dearestMedia ?? 0n]),
    dearestOutput: highest([output, reasoning, outputAudio, outputImage, below?.dearestOutput ?? 0n]),
  };
}

function decimals(row: PriceRow): Decimal[] {
  const { perImage, perHour, characters, perUse } = row.units ?? {};
  const rates = [row.rates, ...row.tiers.map((tier) => tier.rates)].flatMap((each) => Object.values(each));
  const others = [row.perRequest, perHour, characters, ...(perImage?.values() ?? []), ...(perUse?.values() ?? [])];
  return [...rates, ...others.filter((each) => each !== undefined)];
}
