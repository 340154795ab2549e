/** Prices in other units than tokens: images by their kind, seconds of audio, characters of speech, uses of tools. */

import type { Unit } from '../../core/contracts/formats/rates.ts';
import type { Images, Usage } from '../../core/contracts/formats/usage.ts';
import type { Uses } from '../../core/contracts/formats/uses.ts';
import { MICRO } from '../../core/contracts/ledger.ts';
import type { Decimal } from '../../core/sdk.ts';
import { saneImages, saneSeconds, wholeTokens } from '../../core/sdk.ts';
import { imagePrice } from './images.ts';
import type { UnitRates } from './price-row.ts';

/** How many of them were used, or may be used at most. */
export type Units = Pick<Usage, 'images' | 'seconds' | 'characters' | 'uses'>;

/** Amounts are multiples of this, so that the price of a second is a whole number. */
export const SECONDS_PER_HOUR = 3_600n;
const MICROSECONDS = 1_000_000;

/** An item of a receipt. */
export interface UnitPart {
  readonly bucket: Exclude<Unit, 'request'>;
  /** Of a use: the name of the tool. */
  readonly name?: string;
  readonly count: number;
  /** A millionth of the price of one, and the cost of all of them, both in the unit of the sums. */
  readonly rate: bigint;
  readonly amount: bigint;
}

/** The cost of units. */
export interface UnitPrice {
  /** Audio is charged by the microsecond. */
  cost(units: Units): bigint;
  /** No units within these bounds cost more: audio counts in whole seconds, as vendors round it, and images at the highest price they may have. */
  most(bounds: Units): bigint;
  /** The items that `cost` adds up; only those with a count and a price. */
  parts(units: Units): readonly UnitPart[];
}

/**
 * Creates it from rates in currency units; undefined if there are none. `amount` converts a millionth of a currency unit to the
 * unit of the sums.
 */
export function unitPrice(rates: UnitRates, amount: (value: Decimal) => bigint): UnitPrice | undefined {
  const { perImage, perHour, characters, perUse } = rates;
  if (!perImage && !perHour && !characters && !perUse) return undefined;
  const image = perImage && imagePrice(new Map([...perImage].map(([kind, each]) => [kind, amount(each) * MICRO])));
  // A million microseconds are a second: the two millions cancel out.
  const perMicrosecond = perHour ? amount(perHour) / SECONDS_PER_HOUR : 0n;
  const perCharacter = characters ? amount(characters) : 0n;
  const eachUse = new Map([...(perUse ?? [])].map(([name, each]) => [name, amount(each) * MICRO]));
  const usesIn = (uses: Uses | undefined) =>
    Object.entries(uses ?? {}).flatMap(([name, times]) => {
      const each = eachUse.get(name);
      return each === undefined ? [] : [{ name, count: wholeTokens(times), each }];
    });
  const forUses = (uses: Uses | undefined): bigint =>
    uses === undefined ? 0n : usesIn(uses).reduce((all, { count, each }) => all + BigInt(count) * each, 0n);

  const sum = (made: Images | undefined, eachImage: bigint, seconds: number, spoken: number | undefined): bigint =>
    BigInt(made?.count ?? 0) * eachImage +
    BigInt(Math.round(seconds * MICROSECONDS)) * perMicrosecond +
    BigInt(wholeTokens(spoken)) * perCharacter;
  return {
    cost(units) {
      const made = saneImages(units.images);
      const eachImage = made && image ? image.cost(made) : 0n;
      return sum(made, eachImage, saneSeconds(units.seconds), units.characters) + forUses(units.uses);
    },
    most(bounds) {
      const made = saneImages(bounds.images);
      const eachImage = made && image ? image.most(made) : 0n;
      return sum(made, eachImage, Math.ceil(saneSeconds(bounds.seconds)), bounds.characters) + forUses(bounds.uses);
    },
    parts(units) {
      const made = saneImages(units.images);
      const eachImage = made && image ? image.cost(made) : 0n;
      const images = image ? (made?.count ?? 0) : 0;
      const microseconds = perHour ? Math.round(saneSeconds(units.seconds) * MICROSECONDS) : 0;
      const spoken = characters ? wholeTokens(units.characters) : 0;
      const parts: readonly UnitPart[] = [
        { bucket: 'images', count: images, rate: eachImage / MICRO, amount: BigInt(images) * eachImage },
        {
          bucket: 'seconds',
          count: microseconds / MICROSECONDS,
          rate: perMicrosecond * SECONDS_PER_HOUR,
          amount: BigInt(microseconds) * perMicrosecond,
        },
        { bucket: 'characters', count: spoken, rate: perCharacter, amount: BigInt(spoken) * perCharacter },
        ...usesIn(units.uses).map(({ name, count, each }): UnitPart => {
          return { bucket: 'use', name, count, rate: each / MICRO, amount: BigInt(count) * each };
        }),
      ];
      return parts.filter(({ count }) => count > 0);
    },
  };
}

/** True if a price is for units, and a call can use none of them. */
export function missesUnits(rates: UnitRates | undefined, bounds: Omit<Units, 'uses'>): boolean {
  const { perImage, perHour, characters } = rates ?? {};
  if (!perImage && !perHour && !characters) return false;
  return (
    !(perImage && bounds.images) &&
    !(perHour && bounds.seconds !== undefined) &&
    !(characters && bounds.characters !== undefined)
  );
}
