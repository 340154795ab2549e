/** Base 62: secrets of digits and letters alone, which no shell, address or double click takes apart. */

/** The digits, in the order of their values. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
