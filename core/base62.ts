/** Base 62: secrets of digits and letters alone, which no shell, address or double click takes apart. */
import { randomInt } from 'node:crypto';

/** The digits, in the order of their values. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** So many digits that nobody can guess; 43 have 256 bits. */
export function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62[randomInt(BASE62.length)]).join('');
}
