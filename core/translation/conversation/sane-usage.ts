/**
 * Corrects reported usage where it enters the gateway: a count of a vendor need not be a whole number, may be absurd, and its parts need not
 * add up. Everything that reads the usage of a call (prices, records, limits, telemetry, events) reads the corrected one.
 */

import { RATE_NAMES, RATES, type Rate } from '../../contracts/formats/rates.ts';
import type { Images, Usage } from '../../contracts/formats/usage.ts';
import type { Uses } from '../../contracts/formats/uses.ts';
import { NO_TOKENS } from './count-usage.ts';

/**
 * More tokens, or characters, than any call can have; a higher count is cut to this. It keeps every charge for tokens within 64
 * bits: 10^8 tokens at 10,000 currency units per million, in and out, are 10^18 micro-quota at 500,000 quota per currency unit.
 */
export const MOST_TOKENS = 100_000_000;
/** More images than any call makes. */
const MOST_IMAGES = 10_000;
/** More uses of a tool than any call makes. */
const MOST_USES = 10_000;
/** More audio than any call has: eleven days. */
const MOST_SECONDS = 1_000_000;
/** Characters of a size or a quality. */
const LONGEST_KIND = 64;

/** A count as whole tokens between 0 and `MOST_TOKENS`: fractions are rounded up, other values are 0. */
export function wholeTokens(count: number | undefined): number {
  return wholeUpTo(MOST_TOKENS, count);
}

/** Seconds between 0 and `MOST_SECONDS`, with fractions; other values are 0. */
export function saneSeconds(seconds: number | undefined): number {
  if (typeof seconds !== 'number' || !(seconds > 0)) return 0;
  return Math.min(seconds, MOST_SECONDS);
}

/** Images with a whole count between 0 and `MOST_IMAGES`, and short names of size and quality; undefined if there are none. */
export function saneImages(images: Images | undefined): Images | undefined {
  if (typeof images !== 'object' || images === null) return undefined;
  const count = wholeUpTo(MOST_IMAGES, images.count);
  return { count, size: shortName(images.size), quality: shortName(images.quality) };
}

/** Whether a call can have used this much. */
export function isPossible({ input, output, characters = 0, seconds = 0, images }: Usage): boolean {
  const isCredible = (count: number | undefined, most: number): boolean => !(Number(count) > most);
  return (
    [input, output, characters].every((count) => isCredible(count, MOST_TOKENS)) &&
    isCredible(seconds, MOST_SECONDS) &&
    isCredible(images?.count, MOST_IMAGES)
  );
}

function wholeUpTo(most: number, count: number | undefined): number {
  if (typeof count !== 'number' || !(count > 0)) return 0;
  return Math.min(Math.ceil(count), most);
}

function shortName(name: string): string {
  return typeof name === 'string' ? name.slice(0, LONGEST_KIND) : '';
}

/** Kinds of tokens that together are at most their total. A counter that every usage has must be a number; the others may be missing. */
const GROUPS = (['cache', 'media', 'answer'] as const).map((group) => {
  const rates = RATE_NAMES.filter((rate) => RATES[rate].group === group);
  const parts = rates.map((rate) => ({ rate, missing: rate in NO_TOKENS ? Number.NaN : 0 }));
  return { total: RATES[rates[0]!].total, parts };
});

/**
 * The corrected usage, and its mistakes for the log: counts are whole and within 0 … `MOST_TOKENS`, and no part is larger than its
 * total. If a part exceeds its total, the part is reduced and the total is never raised, so that contradictory counts are never charged. Audio and
 * images may overlap with cached input, because a vendor may read them from its cache.
 */
export function saneUsage(usage: Usage): { readonly usage: Usage; readonly anomalies: string[] } {
  const anomalies: string[] = [];
  if (addsUp(usage)) return { usage, anomalies };
  const tokensOf = (name: Rate | 'characters'): number => {
    const tokens = wholeTokens(usage[name]);
    if (tokens !== usage[name]) anomalies.push(`${name} is ${usage[name]}`);
    return tokens;
  };
  const counts: { -readonly [R in Rate]?: number } = {};
  for (const { total, parts } of GROUPS) {
    counts[total] ??= tokensOf(total);
    let left = counts[total];
    for (const { rate, missing } of parts) {
      if (usage[rate] === undefined && missing === 0) continue;
      const tokens = tokensOf(rate);
      if (tokens > left) anomalies.push(`${rate} is ${tokens}, more than the ${left} left of ${total}`);
      counts[rate] = Math.min(tokens, left);
      left -= counts[rate];
    }
  }
  return {
    usage: {
      ...(counts as Pick<Usage, Rate>),
      ...(usage.characters !== undefined && { characters: tokensOf('characters') }),
      ...saneUnits(usage, anomalies),
      estimated: usage.estimated === true,
    },
    anomalies,
  };
}

/** The members that are not counts of tokens or characters. */
function saneUnits(usage: Usage, anomalies: string[]): Pick<Usage, 'seconds' | 'images' | 'uses' | 'service'> {
  const seconds = usage.seconds === undefined ? undefined : saneSeconds(usage.seconds);
  const images = saneImages(usage.images);
  if (seconds !== usage.seconds) anomalies.push(`seconds is ${usage.seconds}`);
  if (!areImages(usage.images)) anomalies.push(`images is ${JSON.stringify(images)}, which is not an image count`);
  const uses = usage.uses && saneUses(usage.uses);
  if (!areUses(usage.uses)) anomalies.push(`uses is ${JSON.stringify(usage.uses)}`);
  return {
    ...(seconds !== undefined && { seconds }),
    ...(images !== undefined && { images }),
    ...(uses !== undefined && { uses }),
    ...(usage.service !== undefined && { service: usage.service }),
  };
}

/** Whole uses between 0 and `MOST_USES`. */
function saneUses(uses: Uses): Uses {
  return Object.fromEntries(Object.entries(uses).map(([name, count]) => [name, wholeUpTo(MOST_USES, count)]));
}

function areUses(uses: Uses | undefined): boolean {
  return uses === undefined || Object.values(uses).every((count) => count === wholeUpTo(MOST_USES, count));
}

/** Nearly every usage does. */
function addsUp(usage: Usage): boolean {
  for (let i = 0; i < GROUPS.length; i++) {
    const { total, parts } = GROUPS[i]!;
    let left = usage[total];
    if (!isCount(left)) return false;
    for (let j = 0; j < parts.length; j++) {
      const { rate, missing } = parts[j]!;
      const tokens = usage[rate] ?? missing;
      if (tokens === 0) continue;
      if (!isCount(tokens)) return false;
      left -= tokens;
    }
    if (left < 0) return false;
  }
  return (
    isCount(usage.characters ?? 0) &&
    (usage.seconds === undefined || usage.seconds === saneSeconds(usage.seconds)) &&
    areImages(usage.images) &&
    areUses(usage.uses) &&
    typeof usage.estimated === 'boolean'
  );
}

function isCount(count: number): boolean {
  return Number.isInteger(count) && count >= 0 && count <= MOST_TOKENS;
}

function areImages(images: Images | undefined): boolean {
  if (images === undefined) return true;
  const sane = saneImages(images);
  return sane !== undefined && (['count', 'size', 'quality'] as const).every((fact) => sane[fact] === images[fact]);
}
