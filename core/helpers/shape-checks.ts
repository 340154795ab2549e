/** Checks of shapes: each says what is wrong at a path, or nothing. */
import { nearest } from './nearest.ts';

/** The problem with a value, as the end of a sentence that starts with its path; undefined: none. */
export type Check = (value: unknown, at: string) => string | undefined;

/** A check for each member of an interface. */
export type Members<T> = { readonly [K in keyof Required<T>]: Check };

const is =
  (type: 'string' | 'boolean' | 'number' | 'bigint' | 'function' | 'object', word: string): Check =>
  (value, at) =>
    typeof value === type && value !== null ? undefined : `\`${at}\` must be ${word}, and is ${describe(value)}`;

export const text = is('string', 'a text');

export const flag = is('boolean', 'true or false');

export const count = is('number', 'a number');

export const method = is('function', 'a function');

export const record = is('object', 'an object');

/** Any value. */
export const anything: Check = () => undefined;

export const name: Check = (value, at) => text(value, at) ?? (value === '' ? `\`${at}\` must not be empty` : undefined);

export const optional =
  (check: Check): Check =>
  (value, at) =>
    value === undefined ? undefined : check(value, at);

export const listOf =
  (check: Check): Check =>
  (value, at) => {
    if (!Array.isArray(value)) return `\`${at}\` must be a list, and is ${describe(value)}`;
    return first(value.map((entry, i) => () => check(entry, `${at}[${i}]`)));
  };

export const recordOf =
  (check: Check): Check =>
  (value, at) =>
    record(value, at) ??
    first(
      Object.entries(value as object).map(
        ([key, entry]) =>
          () =>
            check(entry, `${at}.${key}`),
      ),
    );

export const oneOf =
  (...words: readonly string[]): Check =>
  (value, at) =>
    words.includes(value as string)
      ? undefined
      : `\`${at}\` must be one of ${words.join(', ')}, and is ${describe(value)}`;

export const either =
  (...checks: readonly Check[]): Check =>
  (value, at) => {
    const found = checks.map((check) => check(value, at));
    return found.includes(undefined) ? undefined : found[0];
  };

/** The same check for several members. */
export const each = <K extends string>(check: Check, ...names: readonly K[]): Readonly<Record<K, Check>> =>
  Object.fromEntries(names.map((each) => [each, check])) as Record<K, Check>;

/** An object of one interface. An instance of a class may have further members for its own use; a literal may not. */
export const objectOf =
  <T>(members: Members<T>): Check =>
  (value, at) => {
    const wrong = record(value, at);
    if (wrong !== undefined) return wrong;
    const given = value as Record<string, unknown>;
    const prefix = at === '' ? '' : `${at}.`;
    const known = Object.keys(members);
    const isLiteral = [Object.prototype, null].includes(Object.getPrototypeOf(value));
    const stranger = isLiteral ? Object.keys(given).find((key) => !known.includes(key)) : undefined;
    if (stranger !== undefined) {
      const near = nearest(stranger, known);
      return `\`${prefix}${stranger}\` is unknown${near === undefined ? `; known are ${known.join(', ')}` : `; did you mean \`${near}\`?`}`;
    }
    return first(
      (Object.entries(members) as [string, Check][]).map(
        ([key, check]) =>
          () =>
            check(given[key], prefix + key),
      ),
    );
  };

function first(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const found = check();
    if (found !== undefined) return found;
  }
  return undefined;
}

export function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return `"${value}"`;
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' ? 'an object' : String(value);
}
