/** Money as providers count it: whole numbers of the currency's smallest unit, computed from decimals without intermediate rounding. */

/** `digits / 10^scale`, exactly. */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** Currencies without a smaller unit, according to card providers. */
const WHOLE = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '));
/** Currencies with thousandths, or whose smallest unit differs between providers. */
const AMBIGUOUS = new Set('BHD IQD JOD KWD LYD OMR TND HUF ISK TWD UGX'.split(' '));

/** False if providers disagree about the smallest unit of a currency, or if it is not a currency code. */
export function isCountable(currency: string): boolean {
  return /^[A-Z]{3}$/.test(currency) && !AMBIGUOUS.has(currency);
}

/** Decimals of the currency. */
function places(currency: string): number {
  return WHOLE.has(currency) ? 0 : 2;
}

/** Parses a decimal: `7.3`, `"0.125"`. Undefined for anything else, such as negative numbers. */
export function readDecimal(written: string | number): Decimal | undefined {
  const [, whole, fraction = ''] = /^(\d{1,12})(?:\.(\d{1,9}))?$/.exec(String(written)) ?? [];
  return whole === undefined ? undefined : { digits: BigInt(whole + fraction), scale: fraction.length };
}

/** `a` times `b` in the currency's smallest unit, rounded half up. */
export function timesInMinor(a: Decimal, b: Decimal, currency: string): bigint {
  const digits = a.digits * b.digits * 10n ** BigInt(places(currency));
  const divisor = 10n ** BigInt(a.scale + b.scale);
  return (2n * digits + divisor) / (2n * divisor);
}

/** Formats an amount: `1234n` is `12.34`. */
export function moneyText(minor: bigint, currency: string): string {
  const count = places(currency);
  const text = minor.toString().padStart(count + 1, '0');
  return count === 0 ? text : `${text.slice(0, -count)}.${text.slice(-count)}`;
}

/** Parses an amount; undefined if it is not one in this currency: `12.345`. */
export function readMoney(text: string, currency: string): bigint | undefined {
  const value = readDecimal(text);
  if (value === undefined) return undefined;
  const minor = value.digits * 10n ** BigInt(places(currency));
  const divisor = 10n ** BigInt(value.scale);
  return minor % divisor === 0n ? minor / divisor : undefined;
}

/** Formats a decimal: `7.3`. */
export function decimalText({ digits, scale }: Decimal): string {
  const text = digits.toString().padStart(scale + 1, '0');
  return scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`.replace(/\.?0+$/, '');
}
