/** The arithmetic of one price: what a use costs, and the most a call can cost, in exact micro-quota. */
import type { Usage } from '../../core/contracts/call.ts';
import { MICRO } from '../../core/contracts/ledger.ts';
import { type Decimal, inUnitsOf } from './decimal.ts';
import type { TokenBounds } from './estimate.ts';
import { wholeTokens } from './usage-sanity.ts';

/** The kinds of tokens a price tells apart, in the order people read them. */
export const RATES = [
  'input',
  'cacheRead',
  'cacheWrite',
  'cacheWriteLong',
  'inputAudio',
  'output',
  'reasoning',
  'outputAudio',
] as const;
export type Rate = (typeof RATES)[number];

/** Currency units per million tokens. */
export type Rates = Readonly<Partial<Record<Rate, Decimal>>>;

/** A price as somebody wrote it down. */
export interface PriceRow {
  readonly rates: Rates;
  /** Currency units per call, beside the tokens. */
  readonly perRequest: Decimal | undefined;
  /** Rates of calls with more than `above` input tokens in all; what a tier does not name stays as it is below it. */
  readonly tiers: readonly Tier[];
}
export interface Tier {
  readonly above: number;
  readonly rates: Rates;
}

/** A price ready to be charged. Amounts are micro-quota, rounded up once, at the end. Neither throws or falls below 0n. */
export interface Price {
  /** Each token is charged once, at its own rate; the tier of the whole input applies to the whole call. */
  cost(usage: Usage): bigint;
  /** No use within these bounds costs more. */
  most(bounds: TokenBounds): bigint;
}

/**
 * The price of a row at `perUnit` quota per currency unit. A rate the row does not name follows its parent: cache read, cache
 * write and audio input follow input, the long cache write the short one, reasoning and audio output follow output. Where
 * input or output itself is missing, nothing is charged for it.
 */
export function exactPrice(row: PriceRow, perUnit: bigint): Price {
  // All amounts of the row become integers over one denominator, 10^scale, so that a whole call adds up without rounding.
  // A rate per million tokens in micro-quota per token is P * perUnit: the two millions cancel out.
  const scale = Math.max(0, ...decimals(row).map((value) => value.scale));
  const amount = (value: Decimal | undefined): bigint | undefined => value && inUnitsOf(value, scale) * perUnit;
  const denominator = 10n ** BigInt(scale);
  const roundUp = (sum: bigint): bigint => (sum + denominator - 1n) / denominator;

  const perRequest = (amount(row.perRequest) ?? 0n) * MICRO;
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
    cost(usage) {
      const input = wholeTokens(usage.input);
      const output = wholeTokens(usage.output);
      const at = levelAt(input);
      // Each token once: parts that claim more than there is get what is left.
      const cacheRead = Math.min(wholeTokens(usage.cacheRead), input);
      const cacheWrite = Math.min(wholeTokens(usage.cacheWrite), input - cacheRead);
      const cacheWriteLong = Math.min(wholeTokens(usage.cacheWriteLong), input - cacheRead - cacheWrite);
      const text = input - cacheRead - cacheWrite - cacheWriteLong;
      const inputAudio = Math.min(wholeTokens(usage.inputAudio), text);
      const reasoning = Math.min(wholeTokens(usage.reasoning), output);
      const outputAudio = Math.min(wholeTokens(usage.outputAudio), output - reasoning);
      const sum =
        perRequest +
        times(cacheRead, at.cacheRead) +
        times(cacheWrite, at.cacheWrite) +
        times(cacheWriteLong, at.cacheWriteLong) +
        times(inputAudio, at.inputAudio) +
        times(text - inputAudio, at.input) +
        times(reasoning, at.reasoning) +
        times(outputAudio, at.outputAudio) +
        times(output - reasoning - outputAudio, at.output);
      return roundUp(sum);
    },
    most({ input, output, media }) {
      const at = levelAt(input);
      return roundUp(
        perRequest + times(input, media ? at.dearestMedia : at.dearestText) + times(output, at.dearestOutput),
      );
    },
  };
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
  const output = amount(rates.output) ?? 0n;
  const reasoning = amount(rates.reasoning) ?? output;
  const outputAudio = amount(rates.outputAudio) ?? output;
  const dearestText = highest([input, cacheRead, cacheWrite, cacheWriteLong, below?.dearestText ?? 0n]);
  return {
    above,
    input,
    cacheRead,
    cacheWrite,
    cacheWriteLong,
    inputAudio,
    output,
    reasoning,
    outputAudio,
    dearestText,
    dearestMedia: highest([dearestText, inputAudio, below?.dearestMedia ?? 0n]),
    dearestOutput: highest([output, reasoning, outputAudio, below?.dearestOutput ?? 0n]),
  };
}

function decimals(row: PriceRow): Decimal[] {
  const rates = [row.rates, ...row.tiers.map((tier) => tier.rates)].flatMap((each) => Object.values(each));
  return row.perRequest ? [...rates, row.perRequest] : rates;
}

function highest(amounts: readonly bigint[]): bigint {
  let most = 0n;
  for (const amount of amounts) if (amount > most) most = amount;
  return most;
}
