/** Rounds: every variant is measured once in each, in turns, so that disturbances of the machine affect all alike. */
import type { Sample } from './load.ts';
import type { VariantName } from './variants.ts';

/** `direct` is the mock vendor without a proxy. */
export type Who = VariantName | 'direct';

/** The samples of every variant, one per round. */
export type Rounds<W = Who, S = Sample> = ReadonlyMap<W, readonly S[]>;

/** One value of a sample; undefined if it was not measured. */
export type Pick = (sample: Sample) => number | undefined;

/** Measures every variant once per round, in alternating order. */
export async function inTurns<W, S = Sample>(
  everybody: readonly W[],
  rounds: number,
  measure: (who: W) => Promise<S>,
): Promise<Rounds<W, S>> {
  const samples = new Map<W, S[]>(everybody.map((who) => [who, []]));
  for (let round = 0; round < rounds; round++) {
    for (const who of round % 2 === 0 ? everybody : everybody.toReversed()) {
      samples.get(who)!.push(await measure(who));
    }
  }
  return samples;
}

/** The median of one value over all rounds. */
export function typical<W, S = Sample>(
  rounds: Rounds<W, S>,
  who: W,
  pick: (sample: S) => number | undefined,
): number | undefined {
  return median((rounds.get(who) ?? []).map(pick));
}

/** The median difference between two variants, round by round. */
export function added(rounds: Rounds, who: Who, pick: Pick, base: Who = 'direct'): number | undefined {
  return paired(rounds, who, base, (first, second) => minus(pick(first), pick(second)));
}

/** The median ratio of two variants, round by round. */
export function ratio<W, S = Sample>(
  rounds: Rounds<W, S>,
  who: W,
  other: W,
  pick: (sample: S) => number | undefined,
): number | undefined {
  return paired(rounds, who, other, (first, second) => divided(pick(first), pick(second)));
}

/** The same for the difference to `direct`. */
export function addedRatio(rounds: Rounds, who: Who, other: Who, pick: Pick): number | undefined {
  return divided(added(rounds, who, pick), added(rounds, other, pick));
}

function paired<W, S = Sample>(
  rounds: Rounds<W, S>,
  who: W,
  other: W,
  compare: (first: S, second: S) => number | undefined,
): number | undefined {
  const second = rounds.get(other) ?? [];
  return median(
    (rounds.get(who) ?? []).map((first, i) => (second[i] === undefined ? undefined : compare(first, second[i]))),
  );
}

function minus(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a - b;
}

function divided(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined || b <= 0 ? undefined : a / b;
}

/** The median of the defined values; undefined if there are none. */
export function median(values: readonly (number | undefined)[]): number | undefined {
  const sorted = values.filter((value) => value !== undefined).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return undefined;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
