/** Names of accounts and keys. */
import { coreErrors } from '../contracts/errors.ts';

const LONGEST_NAME = 64;
/** Invisible characters: control, format and direction marks, half surrogates, line separators. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** The normalized name (NFC, trimmed). Refuses (400) an empty or long name, and invisible characters. */
export function readName(text: string): string {
  const name = text.normalize('NFC').trim();
  const length = [...name].length;
  if (length === 0 || length > LONGEST_NAME || INVISIBLE.test(name)) {
    throw coreErrors.invalid_name(LONGEST_NAME);
  }
  return name;
}
