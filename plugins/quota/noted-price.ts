/** What a usage record tells of the price that it was charged by: enough to charge it again, for prices change. */

import type { JsonObject } from '../../core/plugin.ts';
import { isObject } from '../../core/translation/index.ts';
import { type Decimal, decimal, decimalText } from './decimal.ts';
import { type PriceRow, RATES, type Rates } from './price.ts';
import { amountsIn } from './price-list.ts';

/**
 * The notes of a call that was charged by a price. `price` has its amounts, as people read them; `priced` has the rest: how much quota
 * a currency unit was, what applies above so many input tokens, and what each kind of image costs.
 */
export function noteOfPrice(row: PriceRow, perUnit: number): JsonObject {
  const { tiers, units = {} } = row;
  const kinds = [...(units.perImage ?? [])].map(([kind, amount]) => [kind, decimalText(amount)] as const);
  const byKind = kinds.length > 1 || (kinds.length === 1 && kinds[0]![0] !== 'default');
  return {
    price: amountsIn(row),
    priced: {
      perUnit,
      ...(tiers.length > 0 && { tiers: tiers.map(({ above, rates }) => ({ above, ...ratesText(rates) })) }),
      ...(byKind && { perImage: Object.fromEntries(kinds) }),
      ...(units.perUse !== undefined && {
        perUse: Object.fromEntries([...units.perUse].map(([name, amount]) => [name, decimalText(amount)])),
      }),
    },
  };
}

/** The note of a request that has a price of its own, in quota units. */
export function noteOfFixed(fixed: string, perUnit: number): JsonObject {
  return { priced: { perUnit, fixed } };
}

/** What was noted. */
export interface NotedPrice {
  readonly perUnit: number;
  /** Undefined where the request had a price of its own. */
  readonly row: PriceRow | undefined;
  /** That price, in quota units. */
  readonly fixed: Decimal | undefined;
}

/** Reads it; undefined where there is none, or too little. */
export function readNotedPrice({ price, priced }: JsonObject): NotedPrice | undefined {
  if (!isObject(priced) || typeof priced.perUnit !== 'number') return undefined;
  const { perUnit, fixed, tiers, perImage, perUse } = priced;
  if (typeof fixed === 'string') return { perUnit, row: undefined, fixed: decimal(fixed) };
  if (!isObject(price)) return undefined;
  const kinds = isObject(perImage)
    ? Object.entries(perImage).map(([kind, amount]) => [kind, decimal(String(amount))] as const)
    : [['default', amountIn(price, 'perImage')] as const];
  const row = {
    rates: ratesIn(price),
    units: {
      perImage: new Map(kinds.flatMap(([kind, amount]) => (amount === undefined ? [] : [[kind, amount] as const]))),
      perHour: amountIn(price, 'perHour'),
      characters: amountIn(price, 'characters'),
      ...(isObject(perUse) && {
        perUse: new Map(Object.entries(perUse).map(([name, amount]) => [name, decimal(String(amount))])),
      }),
    },
    perRequest: amountIn(price, 'perRequest'),
    tiers: Array.isArray(tiers)
      ? tiers.filter(isObject).map((tier) => ({ above: Number(tier.above), rates: ratesIn(tier) }))
      : [],
  };
  const { perImage: images, ...others } = row.units;
  return { perUnit, row: images.size > 0 ? row : { ...row, units: others }, fixed: undefined };
}

function ratesText(rates: Rates): JsonObject {
  return Object.fromEntries(
    RATES.flatMap((rate) => (rates[rate] === undefined ? [] : [[rate, decimalText(rates[rate])]])),
  );
}

function ratesIn(amounts: JsonObject): Rates {
  return Object.fromEntries(
    RATES.flatMap((rate) => {
      const amount = amountIn(amounts, rate);
      return amount === undefined ? [] : [[rate, amount]];
    }),
  );
}

function amountIn(amounts: JsonObject, name: string): Decimal | undefined {
  const amount = amounts[name];
  return typeof amount === 'string' ? decimal(amount) : undefined;
}
