/** The facts of an entry: short texts that every database stores, without secrets. */
import type { Json, JsonObject } from '../../core/plugin.ts';

/** The maximum length of a text, in characters. */
const LONGEST = 200;
/** The maximum number of members and items, and the maximum depth. */
const MOST_VALUES = 200;
const DEEPEST = 5;
const HIDDEN = '[secret]';

/** Members that contain secrets according to their name, in any spelling. A last line of defense: callers should not pass any. */
const SECRET_NAME =
  /pass(word|phrase)|secret|authorization|cookie|credential|private_?key|backup_?codes?|^(code|key|token)$/i;
/** Patterns of our keys, of vendors' keys, and of encrypted values. */
const SECRET_TEXT = /\bsk-[A-Za-z0-9_-]{16,}|\bv1\.[0-9a-f]{16}\.[A-Za-z0-9_-]{20,}/g;
/** Lone surrogates are replaced, as in UTF-8; invisible characters become spaces. */
const INVISIBLE = /\p{Cc}+/gu;

/** A text as it is stored. Masked before it is cut, so that no part of a secret remains. */
export function storedText(text: string): string {
  const masked = text.replace(SECRET_TEXT, HIDDEN).slice(0, LONGEST);
  return Buffer.from(masked).toString().replace(INVISIBLE, ' ');
}

/** The facts as they are stored: JSON. */
export function storedFacts(facts: JsonObject): string {
  let left = MOST_VALUES;

  function copy(value: Json, depth: number): Json {
    if (typeof value === 'string') return storedText(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > DEEPEST || left <= 0) return '…';
    if (Array.isArray(value)) {
      return value.slice(0, left).map((item) => {
        left--;
        return copy(item, depth + 1);
      });
    }
    const members = Object.entries(value).slice(0, left);
    return Object.fromEntries(
      members.map(([name, member]) => {
        left--;
        const isSecret = SECRET_NAME.test(name) && typeof member === 'string' && member !== '';
        return [storedText(name), isSecret ? HIDDEN : copy(member, depth + 1)];
      }),
    );
  }

  return JSON.stringify(copy(facts, 0));
}
