/**
 * Base 62: secrets of digits and letters only, which need no escaping in shells or URLs and are selected by a double
 * click.
 */
import { randomInt } from 'node:crypto';

/** The digits in order of value. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A random secret of this many digits; 43 digits have 256 bits. */
export function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62[randomInt(BASE62.length)]).join('');
}
