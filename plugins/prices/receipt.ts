/** How a recorded call was charged: what its usage record keeps of the price, and the receipt that is computed from it. */

import { RATE_NAMES, type Rate, TOKENS, UNITS, type Unit } from '../../core/contracts/formats/rates.ts';
import { MICRO, type Receipt } from '../../core/contracts/ledger.ts';
import { partOf } from '../../core/contracts/prices.ts';
import type { UsageRecord } from '../../core/contracts/records.ts';
import type { JsonObject } from '../../core/plugin.ts';
import { type Decimal, decimal, decimalText, saneUsage } from '../../core/sdk.ts';
import { isObject } from '../../core/translation/index.ts';
import { exactPrice } from './price.ts';
import type { PriceRow, Rates } from './price-row.ts';
import { amountsIn } from './text.ts';

/** The receipt of a record. */
export function receiptOf(call: UsageRecord): Receipt {
  const { charged, other, outcome } = call;
  const factor = typeof other.priceFactor === 'number' ? decimal(other.priceFactor) : undefined;
  const facts = {
    factor: factor === undefined ? '1' : decimalText(factor),
    charged,
    held: typeof other.held === 'string' ? microOf(decimal(other.held)) : undefined,
  };
  const unexplained = { ...facts, exact: false, items: [], perUnit: undefined, total: charged, cappedBy: undefined };
  if (outcome === 'recovered') return { ...unexplained, reason: 'recovered' };
  if (charged === 0n) return { ...unexplained, exact: true, reason: reasonOf(call) };
  const noted = readNotedPrice(other);
  const sum = noted && sumOf(call, noted, factor);
  if (noted === undefined || sum === undefined) return { ...unexplained, reason: 'not_noted' };
  const isCut = facts.held !== undefined && sum.total > facts.held;
  if (charged !== (isCut ? facts.held : sum.total)) return { ...unexplained, reason: 'not_noted' };
  const isComplete = outcome === 'served' || noted.fixed !== undefined;
  return {
    ...facts,
    ...sum,
    exact: true,
    perUnit: noted.perUnit,
    cappedBy: isCut ? 'hold' : isComplete ? undefined : 'delivery',
    reason: undefined,
  };
}

/** Its items and their sum; undefined if the record has no usage. */
function sumOf(
  { usage }: UsageRecord,
  { perUnit, row, fixed }: NotedPrice,
  factor: Decimal | undefined,
): Pick<Receipt, 'items' | 'total'> | undefined {
  if (fixed !== undefined) {
    const price = quotient(fixed, BigInt(perUnit));
    const item = { bucket: 'request', count: 1, price, per: 1, unit: 'request', quota: decimalText(fixed) } as const;
    return { items: [item], total: partOf(microOf(fixed), factor) };
  }
  if (row === undefined || usage === undefined) return undefined;
  const price = exactPrice(row, BigInt(perUnit));
  const { usage: sane } = saneUsage(usage);
  const items = price.parts(sane).map((part) => ({
    bucket: part.bucket,
    ...(part.name !== undefined && { name: part.name }),
    count: part.count,
    price: decimalText(part.price),
    ...unitOf(part.bucket),
    quota: decimalText(part.quota),
  }));
  return { items, total: price.cost(sane, factor) };
}

function unitOf(bucket: Rate | Unit) {
  return bucket in UNITS ? UNITS[bucket as Unit] : TOKENS;
}

/** Why nothing was charged. */
function reasonOf({ outcome, usage, other }: UsageRecord): Receipt['reason'] {
  if (outcome === 'refused' || outcome === 'failed') return outcome;
  if (usage === undefined) return 'unused';
  return other.unpriced === true ? 'unpriced' : 'free';
}

/** Quota units with at most six decimal places as micro-quota. */
function microOf({ digits, scale }: Decimal): bigint {
  return (digits * MICRO) / 10n ** BigInt(scale);
}

/** With at most twelve further decimal places. */
function quotient({ digits, scale }: Decimal, by: bigint): string {
  return decimalText({ digits: (digits * 10n ** 12n) / by, scale: scale + 12 });
}

/**
 * The part of the price that is stored in the usage record of a call, because prices change. `price` has its amounts; `priced` has the rest: the
 * quota units in one currency unit, the tiers, and the prices of images and uses by kind.
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

/** The price notes of a passthrough request with its own price, in micro-quota. */
export function noteOfFixed(fixed: bigint, perUnit: number): JsonObject {
  return { priced: { perUnit, fixed: decimalText({ digits: fixed, scale: 6 }) } };
}

/** The price in a usage record. */
interface NotedPrice {
  readonly perUnit: number;
  /** Undefined if the request had a price of its own. */
  readonly row: PriceRow | undefined;
  /** The price of a passthrough request, in quota units. */
  readonly fixed: Decimal | undefined;
}

/** Reads it; undefined if the record has none, or an incomplete one. */
function readNotedPrice({ price, priced }: JsonObject): NotedPrice | undefined {
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
    RATE_NAMES.flatMap((rate) => (rates[rate] === undefined ? [] : [[rate, decimalText(rates[rate])]])),
  );
}

function ratesIn(amounts: JsonObject): Rates {
  return Object.fromEntries(
    RATE_NAMES.flatMap((rate) => {
      const amount = amountIn(amounts, rate);
      return amount === undefined ? [] : [[rate, amount]];
    }),
  );
}

function amountIn(amounts: JsonObject, name: string): Decimal | undefined {
  const amount = amounts[name];
  return typeof amount === 'string' ? decimal(amount) : undefined;
}
