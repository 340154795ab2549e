/** Receipts worked out with a pencil. */
import { MICRO, type Receipt } from '../../../core/contracts/ledger.ts';
import type { JsonObject } from '../../../core/plugin.ts';

/** What is left of notes once they have been written and read. */
export const kept = (notes: JsonObject): JsonObject => JSON.parse(JSON.stringify(notes)) as JsonObject;

/** A decimal number as `digits / 10^scale`. */
function exactly(text: string): { readonly digits: bigint; readonly scale: number } {
  const [whole = '', fraction = ''] = text.split('.');
  return { digits: BigInt(whole + fraction), scale: fraction.length };
}

/** Adds the items up as a person with a pencil would: times the factor, rounded up to a millionth of a quota unit. */
export function addedUp({ items, factor }: Receipt): bigint {
  const amounts = [...items.map(({ quota }) => exactly(quota)), { digits: 0n, scale: 0 }];
  const scale = Math.max(...amounts.map((amount) => amount.scale));
  const sum = amounts.reduce((all, { digits, scale: own }) => all + digits * 10n ** BigInt(scale - own), 0n);
  const part = exactly(factor);
  const over = 10n ** BigInt(scale + part.scale);
  return (sum * part.digits * MICRO + over - 1n) / over;
}
