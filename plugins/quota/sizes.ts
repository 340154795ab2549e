/** The amounts that may be reserved for a call: from its maximum cost down to the least for which an answer is useful. */
import type { Bounds } from '../../core/contracts/formats/call.ts';
import type { Care, EstimateOptions } from '../../core/contracts/prices.ts';

/** One of several sizes that a reservation may have, each smaller than the one before. */
export interface ReservationSize {
  /** Micro-quota. */
  readonly amount: bigint;
  /** Every bucket must have this much left: more than the amount if other calls must be able to run at the same time. */
  readonly room: bigint;
  /** How carefully the input is estimated. */
  readonly care: Care;
  /** The total output tokens that it covers; undefined: those in the bounds of the call. */
  readonly output: number | undefined;
  /** The limit of output tokens that vendors get, for each answer; undefined: the client's, or none. */
  readonly limit: number | undefined;
}

/** The functions from which the amounts are computed. */
export interface Costs {
  readonly bounds: Bounds;
  readonly options: EstimateOptions;
  /** The maximum tokens of one answer; undefined if that is not known of every model that may serve the call. */
  longest(): number | undefined;
  /** The maximum cost of the call with this many output tokens in total; undefined: with those in its bounds. */
  most(care: Care, output?: number): bigint;
}

/** The longest answer of a model whose maximum is not known, if there is enough for that. */
export const ASSUMED_MAXIMUM = 131_072;
/** The largest limit that vendors get for such a model: nearly all accept it. */
const ACCEPTED_LIMIT = 8_192;
/** An answer of fewer tokens is hardly worth its input, and some vendors refuse limits below 16. */
const LEAST_OUTPUT = 256;
/** A call without a limit, or with one that cannot be covered, reserves at most half of what is left, so that concurrent calls can run. */
const OF_WHAT_IS_LEFT = 2n;

const CARES: Readonly<Record<EstimateOptions['reserve'], readonly [Care, ...Care[]]>> = {
  strict: ['strict', 'estimate', 'count'],
  estimate: ['estimate', 'count'],
};

/** The first of the sizes: that of nearly every call. */
export function firstSize(costs: Costs): ReservationSize {
  const { care, output, share } = fullAnswer(costs);
  const amount = costs.most(care, output);
  return { amount, room: amount * share, care, output, limit: undefined };
}

/** What is reserved for the full answer. */
function fullAnswer({ bounds, options, most, longest }: Costs) {
  const [care] = CARES[options.reserve];
  const requested = bounds.outputTokens;
  const full = requested ?? (longest() ?? ASSUMED_MAXIMUM) * Math.max(1, bounds.choices);
  const isLimited = isLimitable(bounds) && (requested !== undefined || most(care, full) > most(care, 0));
  // A call that sets its own limit may use all that is left.
  const share = isLimited && requested === undefined ? OF_WHAT_IS_LEFT : 1n;
  return { care, full, isLimited, output: isLimited ? full : undefined, share };
}

/**
 * The sizes, to be tried in turn. First the full answer, then half of it, and so on; for answers of one length, the most careful estimate of
 * the input comes first.
 */
export function* reservationSizes(costs: Costs): IterableIterator<ReservationSize> {
  const { bounds, options, most } = costs;
  const [strictest, ...others] = CARES[options.reserve];
  const requested = bounds.outputTokens;
  const choices = Math.max(1, bounds.choices);
  const { full, isLimited, output, share } = fullAnswer(costs);
  for (const care of [strictest, ...others]) {
    const amount = most(care, output);
    yield { amount, room: amount * share, care, output, limit: undefined };
  }
  if (!isLimited || most(strictest, full) === most(strictest, 0)) return;
  const usual = Math.max(1, options.assumeOutput);
  const each = Math.ceil(full / choices);
  // A vendor refuses a call whose limit is above the model's maximum.
  const longest =
    requested === undefined && costs.longest() === undefined
      ? Math.min(each, Math.max(usual, ACCEPTED_LIMIT))
      : each - 1;
  for (const limit of lengthsBelow(each, longest, usual)) {
    for (const care of [strictest, ...others]) {
      const amount = most(care, limit * choices);
      const room = limit > usual ? amount * OF_WHAT_IS_LEFT : amount;
      yield { amount, room, care, output: limit * choices, limit };
    }
  }
}

/** Each about half of the one before; `usual` and the least are among them. */
function lengthsBelow(full: number, longest: number, usual: number): readonly number[] {
  const lengths = new Set([usual, LEAST_OUTPUT]);
  if (longest < full - 1) lengths.add(longest);
  for (let length = Math.floor(full / 2); length > LEAST_OUTPUT; length = Math.floor(length / 2)) lengths.add(length);
  return [...lengths].filter((length) => length <= longest && length >= LEAST_OUTPUT).sort((a, b) => b - a);
}

/** Whether vendors accept a limit for the answer: it is text. */
function isLimitable({ images, characters, seconds, outputTokens }: Bounds): boolean {
  return images === undefined && characters === undefined && seconds === undefined && outputTokens !== 0;
}
