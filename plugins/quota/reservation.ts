/** What may be set aside for a call: from the most that it can cost down to the least for which an answer is worth asking. */
import type { Bounds } from '../../core/contracts/call.ts';
import type { Care, EstimateOptions } from '../../core/contracts/prices.ts';

/** One of several amounts, each smaller than the one before. */
export interface Reservation {
  /** Micro-quota. */
  readonly amount: bigint;
  /** Every layer must have so much left: more than the amount where others shall get through beside it. */
  readonly room: bigint;
  /** How carefully the input is estimated. */
  readonly care: Care;
  /** The tokens of output that it covers in all; undefined: what the bounds of the call say. */
  readonly output: number | undefined;
  /** The tokens of output that it covers, for each answer, and that vendors are told; undefined: all that the call can make. */
  readonly limit: number | undefined;
}

/** What the amounts are computed from. */
export interface Costs {
  readonly bounds: Bounds;
  readonly options: EstimateOptions;
  /** The most tokens of one answer; undefined where that is not known of every model that may serve it. */
  longest(): number | undefined;
  /** The most that the call can cost with so many tokens of output in all; undefined: with what its bounds say. */
  most(care: Care, output?: number): bigint;
}

/** The longest answer of a model of which nothing is known, where there is enough for that. */
export const ASSUMED_MAXIMUM = 131_072;
/** What such a model is told at the most: nearly all of them take it. */
const TELLABLE = 8_192;
/** An answer of fewer tokens is hardly worth its input, and some vendors refuse to be told less than 16. */
const LEAST_OUTPUT = 256;
/** A call without a limit, or with one that cannot be covered, takes at most half of what is left, so that others get through. */
const OF_WHAT_IS_LEFT = 2n;

const CARES: Readonly<Record<EstimateOptions['reserve'], readonly [Care, ...Care[]]>> = {
  strict: ['strict', 'estimate', 'count'],
  estimate: ['estimate', 'count'],
};

/**
 * The reservations, to be tried in turn. First comes the whole answer, then half of it, and so on; of answers of one length the most
 * careful estimate of the input comes first.
 */
export function* reservations(costs: Costs): IterableIterator<Reservation> {
  const { bounds, options, most } = costs;
  const [strictest, ...others] = CARES[options.reserve];
  const asked = bounds.outputTokens;
  const choices = Math.max(1, bounds.choices);
  const whole = asked ?? (costs.longest() ?? ASSUMED_MAXIMUM) * choices;
  const isLimited = isLimitable(bounds) && (asked !== undefined || most(strictest, whole) > most(strictest, 0));
  const output = isLimited ? whole : undefined;
  // Nobody else has to get through beside a call that says what it wants.
  const share = isLimited && asked === undefined ? OF_WHAT_IS_LEFT : 1n;
  for (const care of [strictest, ...others]) {
    const amount = most(care, output);
    yield { amount, room: amount * share, care, output, limit: undefined };
  }
  if (!isLimited || most(strictest, whole) === most(strictest, 0)) return;
  const usual = Math.max(1, options.assumeOutput);
  const each = Math.ceil(whole / choices);
  // A vendor that is told more than its model can refuses the call.
  const longest =
    asked === undefined && costs.longest() === undefined ? Math.min(each, Math.max(usual, TELLABLE)) : each - 1;
  for (const limit of lengthsBelow(each, longest, usual)) {
    for (const care of [strictest, ...others]) {
      const amount = most(care, limit * choices);
      const room = limit > usual ? amount * OF_WHAT_IS_LEFT : amount;
      yield { amount, room, care, output: limit * choices, limit };
    }
  }
}

/** Each about half of the one before, what is usual and what is least among them. */
function lengthsBelow(whole: number, longest: number, usual: number): readonly number[] {
  const lengths = new Set([usual, LEAST_OUTPUT]);
  if (longest < whole - 1) lengths.add(longest);
  for (let length = Math.floor(whole / 2); length > LEAST_OUTPUT; length = Math.floor(length / 2)) lengths.add(length);
  return [...lengths].filter((length) => length <= longest && length >= LEAST_OUTPUT).sort((a, b) => b - a);
}

/** Whether a vendor can be told how long the answer may get: it is text, and there is one. */
function isLimitable({ images, characters, seconds, outputTokens }: Bounds): boolean {
  return images === undefined && characters === undefined && seconds === undefined && outputTokens !== 0;
}
