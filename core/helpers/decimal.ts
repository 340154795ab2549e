/** Decimal numbers as written: a price as text, never as a binary fraction. */

/** `digits / 10^scale`, exactly; never negative. */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** The decimal of a number or its shortest text (`0.1`, `2.5e-7`). Throws a RangeError unless finite, 0 or more. */
export function decimal(value: number | string): Decimal {
  const match = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value));
  if (!match) throw new RangeError(`${value} is not an amount`);
  const [, whole, fraction = '', exponent = '0'] = match;
  const digits = BigInt(whole + fraction);
  const scale = fraction.length - Number(exponent);
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale };
}

/** `value` in units of `10^-scale`. `scale` must not be below the decimal's own. */
export function inUnitsOf(value: Decimal, scale: number): bigint {
  return value.digits * 10n ** BigInt(scale - value.scale);
}

/** At most so many significant digits, rounded up; digits before the point are never cut. */
export function roundedUp(value: Decimal, significant: number): Decimal {
  const cut = Math.min(value.digits.toString().length - significant, value.scale);
  if (cut <= 0) return value;
  const unit = 10n ** BigInt(cut);
  return { digits: (value.digits + unit - 1n) / unit, scale: value.scale - cut };
}

/** For display: `2.5`, `0.00000025`. */
export function decimalText({ digits, scale }: Decimal): string {
  const text = digits.toString().padStart(scale + 1, '0');
  const whole = text.slice(0, text.length - scale);
  const fraction = text.slice(text.length - scale).replace(/0+$/, '');
  return fraction ? `${whole}.${fraction}` : whole;
}

/** The highest of some amounts, at least 0n. */
export function highest(amounts: readonly bigint[]): bigint {
  let most = 0n;
  for (const amount of amounts) if (amount > most) most = amount;
  return most;
}
