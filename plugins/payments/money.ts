/** Money as providers count it: whole numbers of the currency's smallest unit, made from decimals without rounding on the way. */

/** `digits / 10^scale`, exactly. */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** Currencies without a smaller unit, as card providers count them. */
const WHOLE = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '));
/** Currencies with a thousandth, or counted by one provider like this and by the next like that. */
const AMBIGUOUS = new Set('BHD IQD JOD KWD LYD OMR TND HUF ISK TWD UGX'.split(' '));

/** False where providers do not agree on what the smallest unit of a currency is, or it is none. */
export function isCountable(currency: string): boolean {
  return /^[A-Z]{3}$/.test(currency) && !AMBIGUOUS.has(currency);
}

/** Digits behind the point. */
function places(currency: string): number {
  return WHOLE.has(currency) ? 0 : 2;
}

/** A decimal as it is written: `7.3`, `"0.125"`. Undefined for anything else, a negative number among it. */
export function readDecimal(written: string | number): Decimal | undefined {
  const [, whole, fraction = ''] = /^(\d{1,12})(?:\.(\d{1,9}))?$/.exec(String(written)) ?? [];
  return whole === undefined ? undefined : { digits: BigInt(whole + fraction), scale: fraction.length };
}

/** `a` times `b` in the smallest unit of a currency; half a unit is rounded up. */
export function timesInMinor(a: Decimal, b: Decimal, currency: string): bigint {
  const digits = a.digits * b.digits * 10n ** BigInt(places(currency));
  const divisor = 10n ** BigInt(a.scale + b.scale);
  return (2n * digits + divisor) / (2n * divisor);
}

/** An amount as people write it: `1234n` is `12.34`. */
export function moneyText(minor: bigint, currency: string): string {
  const count = places(currency);
  const text = minor.toString().padStart(count + 1, '0');
  return count === 0 ? text : `${text.slice(0, -count)}.${text.slice(-count)}`;
}

/** The reverse; undefined where that is no amount of this currency: `12.345`. */
export function readMoney(text: string, currency: string): bigint | undefined {
  const value = readDecimal(text);
  if (value === undefined) return undefined;
  const minor = value.digits * 10n ** BigInt(places(currency));
  const divisor = 10n ** BigInt(value.scale);
  return minor % divisor === 0n ? minor / divisor : undefined;
}

/** A decimal as people write it: `7.3`. */
export function decimalText({ digits, scale }: Decimal): string {
  const text = digits.toString().padStart(scale + 1, '0');
  return scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`.replace(/\.?0+$/, '');
}
