/** Rounds: everybody is measured once in each, in turns, so that what disturbs the machine disturbs all of them alike. */
import type { Sample } from './load.ts';
import type { VariantName } from './variants.ts';

/** `direct` is the mock vendor without anything between. */
export type Who = VariantName | 'direct';

/** The samples of everybody, one per round. */
export type Rounds<W = Who, S = Sample> = ReadonlyMap<W, readonly S[]>;

/** One number of a sample; undefined where it was not measured. */
export type Pick = (sample: Sample) => number | undefined;

/** Measures everybody once per round, forwards in one and backwards in the next. */
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

/** The median of one number over all rounds. */
export function typical<W, S = Sample>(
  rounds: Rounds<W, S>,
  who: W,
  pick: (sample: S) => number | undefined,
): number | undefined {
  return median((rounds.get(who) ?? []).map(pick));
}

/** The median of one number less the same number of another, round by round. */
export function added(rounds: Rounds, who: Who, pick: Pick, base: Who = 'direct'): number | undefined {
  return paired(rounds, who, base, (mine, its) => minus(pick(mine), pick(its)));
}

/** The median of what one has divided by what another has, round by round. */
export function ratio<W, S = Sample>(
  rounds: Rounds<W, S>,
  who: W,
  other: W,
  pick: (sample: S) => number | undefined,
): number | undefined {
  return paired(rounds, who, other, (mine, its) => divided(pick(mine), pick(its)));
}

/** The same for what they add to `direct`. */
export function addedRatio(rounds: Rounds, who: Who, other: Who, pick: Pick): number | undefined {
  return divided(added(rounds, who, pick), added(rounds, other, pick));
}

function paired<W, S = Sample>(
  rounds: Rounds<W, S>,
  who: W,
  other: W,
  compare: (mine: S, its: S) => number | undefined,
): number | undefined {
  const its = rounds.get(other) ?? [];
  return median((rounds.get(who) ?? []).map((mine, i) => (its[i] === undefined ? undefined : compare(mine, its[i]))));
}

function minus(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a - b;
}

function divided(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined || b <= 0 ? undefined : a / b;
}

/** The middle of the values that there are; undefined where there are none. */
export function median(values: readonly (number | undefined)[]): number | undefined {
  const sorted = values.filter((value) => value !== undefined).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return undefined;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
