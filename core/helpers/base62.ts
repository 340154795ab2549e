/** Base 62: secrets of digits and letters only: no escaping in shells or URLs, and one double click selects them. */
import { randomInt } from 'node:crypto';

/** The digits in order of value. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A random secret of this many digits; 43 digits have 256 bits. */
export function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62[randomInt(BASE62.length)]).join('');
}
