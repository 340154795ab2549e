/** Reads the columns of another gateway's rows: databases and versions differ in their types, and older ones lack columns. */
import { LARGEST_GRANT, MICRO } from '../../core/contracts/ledger.ts';
import { type Decimal, decimal, decimalText, inUnitsOf, LATEST_MS, roundedUp } from '../../core/sdk.ts';

/** A row by column; the value of a column is what JSON has. */
export type Row = Readonly<Record<string, unknown>>;

/** The text of a column; undefined if the column is missing, null or empty. */
export function textOf(row: Row, column: string): string | undefined {
  const value = row[column];
  if (!['string', 'number', 'boolean', 'bigint'].includes(typeof value)) return undefined;
  return String(value).trim() || undefined;
}

/** A text that stands for itself in gateway.yaml, where `${` begins a variable. */
export function literal(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** The number in a column; undefined if there is none. */
export function numberOf(row: Row, column: string): number | undefined {
  const text = textOf(row, column);
  const value = text === undefined ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** Whether a column is true: databases without booleans have 1. */
export function isTrue(row: Row, column: string): boolean {
  const value = row[column];
  return value === true || value === 1 || value === '1' || value === 'true';
}

/** The JSON of a column, which is a value already or a text; undefined if it is neither. */
export function jsonOf(row: Row, column: string): unknown {
  const value = row[column];
  if (typeof value !== 'string') return value ?? undefined;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return undefined;
  }
}

/** A JSON object in a column; empty if there is none. */
export function objectOf(row: Row, column: string): Row {
  return asObject(jsonOf(row, column));
}

/** An object; empty if the value is none. */
export function asObject(value: unknown): Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : {};
}

/** The texts in a list. */
export function asTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string' && each !== '') : [];
}

/** The parts of a text between separators, without empty ones. */
export function partsOf(text: string | undefined, separator: string | RegExp): readonly string[] {
  return (text ?? '').split(separator).flatMap((part) => part.trim() || []);
}

/** The longest text of a number. */
const MOST_DIGITS = 400;

/** A decimal number; undefined if the value is none, or below zero. */
export function amountOf(value: unknown): Decimal | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const text = String(value).trim();
  // Exact numbers with a million digits would take hours.
  if (text.length > MOST_DIGITS || /e[+-]?0*\d{4,}$/i.test(text)) return undefined;
  try {
    return decimal(text);
  } catch {
    return undefined;
  }
}

/** Currency units in micro-quota, rounded down; below zero if more was spent than `of`. */
export function microOf(of: Decimal, spent: Decimal, perUnit: number): bigint {
  const scale = Math.max(of.scale, spent.scale);
  return floored((inUnitsOf(of, scale) - inUnitsOf(spent, scale)) * BigInt(perUnit) * MICRO, 10n ** BigInt(scale));
}

/** Rounded down, also below zero. */
export function floored(amount: bigint, divisor: bigint): bigint {
  const whole = amount / divisor;
  return amount % divisor < 0n ? whole - 1n : whole;
}

/** The expiry of a key; undefined: never, as a time that no date can have (`infinity`, after the year 9999) means. */
export function expiryAt(ms: number): number | undefined {
  return ms <= LATEST_MS ? ms : undefined;
}

/** What a bucket can have of an amount: from nothing to the most that one can be granted. */
export function grantable(amount: bigint): bigint {
  if (amount < 0n) return 0n;
  return amount > LARGEST_GRANT ? LARGEST_GRANT : amount;
}

/** The product of two decimal numbers. */
export function product(a: Decimal, b: Decimal): Decimal {
  return { digits: a.digits * b.digits, scale: a.scale + b.scale };
}

/** Decimal places that a quotient has; a price needs far fewer. */
const PLACES = 12;

/** `a` divided by a whole number, rounded down after 12 more places. */
export function quotient({ digits, scale }: Decimal, divisor: bigint): Decimal {
  return { digits: (digits * 10n ** BigInt(PLACES)) / divisor, scale: scale + PLACES };
}

/** Digits that a number keeps, in gateway.yaml, too. */
const DIGITS = 12;

/** A decimal text as a number with all of its digits; of more than 12 significant ones, rounded up. */
export function priceNumber(text: string): number {
  return Number(decimalText(roundedUp(decimal(text), DIGITS)));
}
