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
    levels.push(level(tier.above, rates, amount));
  }

  return {
    cost(usage) {
      const input = share(usage.input);
      const output = share(usage.output);
      const at = levels.findLast(({ above }) => above < input.whole)!;
      const sum =
        perRequest +
        input.take(usage.cacheRead) * at.cacheRead +
        input.take(usage.cacheWrite) * at.cacheWrite +
        input.take(usage.cacheWriteLong) * at.cacheWriteLong +
        input.take(usage.inputAudio) * at.inputAudio +
        input.rest() * at.input +
        output.take(usage.reasoning) * at.reasoning +
        output.take(usage.outputAudio) * at.outputAudio +
        output.rest() * at.output;
      return roundUp(sum);
    },
    most({ input, output, media }) {
      const reached = levels.filter(({ above }) => above < input);
      const dearestInput = highest(reached.map((at) => (media ? highest([at.anyText, at.inputAudio]) : at.anyText)));
      const dearestOutput = highest(reached.map((at) => at.anyOutput));
      return roundUp(perRequest + BigInt(input) * dearestInput + BigInt(output) * dearestOutput);
    },
  };
}

/** The rates of calls with more than `above` input tokens, in micro-quota per token times the denominator. */
type Level = Readonly<Record<Rate | 'anyText' | 'anyOutput', bigint>> & { readonly above: number };

function level(above: number, rates: Rates, amount: (value: Decimal | undefined) => bigint | undefined): Level {
  const input = amount(rates.input) ?? 0n;
  const cacheRead = amount(rates.cacheRead) ?? input;
  const cacheWrite = amount(rates.cacheWrite) ?? input;
  const cacheWriteLong = amount(rates.cacheWriteLong) ?? cacheWrite;
  const inputAudio = amount(rates.inputAudio) ?? input;
  const output = amount(rates.output) ?? 0n;
  const reasoning = amount(rates.reasoning) ?? output;
  const outputAudio = amount(rates.outputAudio) ?? output;
  const anyText = highest([input, cacheRead, cacheWrite, cacheWriteLong]);
  const anyOutput = highest([output, reasoning, outputAudio]);
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
    anyText,
    anyOutput,
  };
}

/** Hands out the tokens of a whole, each once: parts that claim more than there is get what is left. */
function share(count: number): { readonly whole: number; take(part: number): bigint; rest(): bigint } {
  const whole = wholeTokens(count);
  let left = whole;
  return {
    whole,
    take(part) {
      const taken = Math.min(wholeTokens(part), left);
      left -= taken;
      return BigInt(taken);
    },
    rest: () => BigInt(left),
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
