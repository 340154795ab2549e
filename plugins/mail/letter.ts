/** Validates and sanitizes header values of emails. */

/** No spaces, brackets, quotes or second address; ASCII only, so that no two addresses look the same. */
const ADDRESS = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/i;
const LONGEST = 254;

/** Whether a text is exactly one email address. */
export function isAddress(text: string): boolean {
  return text.length <= LONGEST && ADDRESS.test(text);
}

/** A single line: control characters become spaces. */
export function plainLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
