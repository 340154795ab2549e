/** What is sold by other units than tokens: images by their kind, seconds of sound, characters that are spoken. */
import type { Images, Usage } from '../../core/contracts/call.ts';
import { MICRO } from '../../core/contracts/ledger.ts';
import type { Uses } from '../../core/contracts/uses.ts';
import type { Decimal } from './decimal.ts';
import { type ImagePrices, imagePrice } from './image-prices.ts';
import { saneImages, saneSeconds, wholeTokens } from './usage-sanity.ts';
import type { UsePrices } from './use-prices.ts';

/** Currency units for each of them. */
export interface UnitRates {
  readonly perImage?: ImagePrices | undefined;
  /** For an hour of sound that was heard: prices by the second, the minute and the hour can all be said in it exactly. */
  readonly perHour?: Decimal | undefined;
  /** For a million characters. */
  readonly characters?: Decimal | undefined;
  /** For a use of a tool that the vendor runs. */
  readonly perUse?: UsePrices | undefined;
}

/** How much of them there is, or may be at the most. */
export type Units = Pick<Usage, 'images' | 'seconds' | 'characters' | 'uses'>;

/** Amounts have to be multiples of this, so that a part of an hour is one, too. */
export const SECONDS_PER_HOUR = 3_600n;
const MICROSECONDS = 1_000_000;

/** One kind of them. */
export interface UnitPart {
  readonly bucket: 'images' | 'seconds' | 'characters' | 'use';
  /** Of a use. */
  readonly name?: string;
  readonly count: number;
  /** A millionth of its price, and what all of them come to, both in the unit of the sums. */
  readonly rate: bigint;
  readonly amount: bigint;
}

/** What units come to. */
export interface UnitPrice {
  /** Sound is charged by the microsecond. */
  cost(units: Units): bigint;
  /** No units within these bounds cost more: sound counts in whole seconds, as vendors round it, images as the dearest they may be. */
  most(bounds: Units): bigint;
  /** What `cost` adds up; without what there is none of, or what has no price. */
  parts(units: Units): readonly UnitPart[];
}

/**
 * Makes it of rates in currency units; undefined where there are none. `amount` says what a millionth of a currency unit is, in the
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

/** Whether a price is for units and a call can have none of them. */
export function missesUnits(rates: UnitRates | undefined, bounds: Omit<Units, 'uses'>): boolean {
  const { perImage, perHour, characters } = rates ?? {};
  if (!perImage && !perHour && !characters) return false;
  return (
    !(perImage && bounds.images) &&
    !(perHour && bounds.seconds !== undefined) &&
    !(characters && bounds.characters !== undefined)
  );
}
