/** Exact arithmetic with ratios, and amounts as a price in gateway.yaml has them. */
import { type Decimal, decimal, decimalText, inUnitsOf, roundedUp } from '../../../core/sdk.ts';

/** Digits that a number in gateway.yaml keeps. */
const DIGITS = 12;
/** Digits that a ratio can mean: the programs compute some by dividing binary fractions, which leaves noise after them. */
const MEANT = 15;
/** The most that an amount in gateway.yaml can be. */
const MOST = 10_000n;

export const ONE: Decimal = { digits: 1n, scale: 0 };

/** A ratio: a number, or its text. Undefined unless it is a finite number, 0 or more. */
export function ratioOf(value: unknown): Decimal | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  try {
    return decimal(value);
  } catch {
    return undefined;
  }
}

export function times(...factors: readonly Decimal[]): Decimal {
  return factors.reduce((a, b) => ({ digits: a.digits * b.digits, scale: a.scale + b.scale }), ONE);
}

/** `a / b`, to 30 more digits; `b` must not be 0. */
export function divided(a: Decimal, b: Decimal): Decimal {
  const more = 30;
  return { digits: (a.digits * 10n ** BigInt(more + b.scale)) / b.digits, scale: a.scale + more };
}

/** Below 0, 0 or above. */
export function compared(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale);
  const difference = inUnitsOf(a, scale) - inUnitsOf(b, scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** An amount as gateway.yaml has it: at most 12 significant digits, rounded up. Undefined: it is more than a price can be. */
export function amountText(amount: Decimal): string | undefined {
  const written = roundedUp(meant(amount), DIGITS);
  return compared(written, { digits: MOST, scale: 0 }) > 0 ? undefined : decimalText(written);
}

/** Rounded to the digits that a ratio can mean. Digits before the point are never cut. */
function meant({ digits, scale }: Decimal): Decimal {
  const cut = Math.min(digits.toString().length - MEANT, scale);
  if (cut <= 0) return { digits, scale };
  const unit = 10n ** BigInt(cut);
  return { digits: (digits + unit / 2n) / unit, scale: scale - cut };
}
