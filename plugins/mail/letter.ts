/** What may stand in the head of a letter. */

/** No spaces, no brackets, no quotes, no second address; letters of ASCII only, so that no two addresses look the same. */
const ADDRESS = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/i;
const LONGEST = 254;

/** True for one e-mail address and nothing else. */
export function isAddress(text: string): boolean {
  return text.length <= LONGEST && ADDRESS.test(text);
}

/** One line: whatever would begin another is a space. */
export function plainLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
