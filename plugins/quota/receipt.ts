/** Receipts: how the charge of a recorded call came about, worked out anew from what its record tells. */
import type { Receipt, ReceiptItem } from '../../core/contracts/ledger.ts';
import { MICRO } from '../../core/contracts/ledger.ts';
import type { UsageRecord } from '../../core/contracts/records.ts';
import { type Decimal, decimal, decimalText } from './decimal.ts';
import { type NotedPrice, readNotedPrice } from './noted-price.ts';
import { exactPrice, type PricePart, partOf } from './price.ts';
import { saneUsage } from './usage-sanity.ts';

/** What a count is of, and how many of them a price is for; of everything else a million tokens. */
const SOLD: Readonly<Partial<Record<PricePart['bucket'], Pick<ReceiptItem, 'per' | 'unit'>>>> = {
  images: { per: 1, unit: 'image' },
  seconds: { per: 3_600, unit: 'second' },
  characters: { per: 1_000_000, unit: 'character' },
  use: { per: 1, unit: 'use' },
  request: { per: 1, unit: 'request' },
};
const TOKENS = { per: 1_000_000, unit: 'token' } as const;

/** The receipt of a record. */
export function receiptOf(call: UsageRecord): Receipt {
  const { charged, other, outcome } = call;
  const factorPpm = typeof other.priceFactor === 'number' ? BigInt(Math.round(other.priceFactor * 1e6)) : undefined;
  const known = {
    factor: factorPpm === undefined ? '1' : decimalText({ digits: factorPpm, scale: 6 }),
    charged,
    held: typeof other.held === 'string' ? microOf(decimal(other.held)) : undefined,
  };
  const untold = { ...known, exact: false, items: [], perUnit: undefined, total: charged, cappedBy: undefined };
  if (outcome === 'recovered') return { ...untold, reason: 'recovered' };
  if (charged === 0n) return { ...untold, exact: true, reason: reasonOf(call) };
  const noted = readNotedPrice(other);
  const sum = noted && sumOf(call, noted, factorPpm);
  if (noted === undefined || sum === undefined) return { ...untold, reason: 'not_noted' };
  const isCut = known.held !== undefined && sum.total > known.held;
  if (charged !== (isCut ? known.held : sum.total)) return { ...untold, reason: 'not_noted' };
  const isWhole = outcome === 'served' || noted.fixed !== undefined;
  return {
    ...known,
    ...sum,
    exact: true,
    perUnit: noted.perUnit,
    cappedBy: isCut ? 'hold' : isWhole ? undefined : 'delivery',
    reason: undefined,
  };
}

/** What was used, priced; undefined where the record does not say what was used. */
function sumOf(
  { usage }: UsageRecord,
  { perUnit, row, fixed }: NotedPrice,
  factorPpm: bigint | undefined,
): Pick<Receipt, 'items' | 'total'> | undefined {
  if (fixed !== undefined) {
    const price = quotient(fixed, BigInt(perUnit));
    const item = { bucket: 'request', count: 1, price, per: 1, unit: 'request', quota: decimalText(fixed) } as const;
    return { items: [item], total: partOf(microOf(fixed), factorPpm) };
  }
  if (row === undefined || usage === undefined) return undefined;
  const price = exactPrice(row, BigInt(perUnit));
  const { usage: sane } = saneUsage(usage);
  const items = price.parts(sane).map((part) => ({
    bucket: part.bucket,
    ...(part.name !== undefined && { name: part.name }),
    count: part.count,
    price: decimalText(part.price),
    ...(SOLD[part.bucket] ?? TOKENS),
    quota: decimalText(part.quota),
  }));
  return { items, total: price.cost(sane, factorPpm) };
}

/** Why nothing was charged. */
function reasonOf({ outcome, usage, other }: UsageRecord): Receipt['reason'] {
  if (outcome === 'refused' || outcome === 'failed') return outcome;
  if (usage === undefined) return 'unused';
  return other.unpriced === true ? 'unpriced' : 'free';
}

/** Micro-quota of quota units that have no more places than that. */
function microOf({ digits, scale }: Decimal): bigint {
  return (digits * MICRO) / 10n ** BigInt(scale);
}

/** For people: cut off behind twelve further places. */
function quotient({ digits, scale }: Decimal, by: bigint): string {
  return decimalText({ digits: (digits * 10n ** 12n) / by, scale: scale + 12 });
}
