/** What an entry may hold: short texts that any database takes, and nothing that is a secret. */
import type { Json, JsonObject } from '../../core/plugin.ts';

/** Characters of one text. */
const LONGEST = 200;
/** Members and items in all, and how deep they may lie. */
const MOST_VALUES = 200;
const DEEPEST = 5;
const HIDDEN = '[secret]';

/** Members that hold one by their name, however it is spelled. Last line of defence: nobody should hand one in. */
const SECRET_NAME =
  /pass(word|phrase)|secret|authorization|cookie|credential|private_?key|backup_?codes?|^(code|key|token)$/i;
/** Keys of ours and of vendors, and what is sealed in the store. */
const SECRET_TEXT = /\bsk-[A-Za-z0-9_-]{16,}|\bv1\.[0-9a-f]{16}\.[A-Za-z0-9_-]{20,}/g;
/** Half surrogates become what UTF-8 makes of them anyway; characters nobody can see become spaces. */
const INVISIBLE = /\p{Cc}+/gu;

/** A text as it is stored. Masked before it is cut, so that no cut can leave half a secret behind. */
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
