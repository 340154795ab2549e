/** Backup codes: 24 base32 characters in six groups. With 120 random bits, a fast hash is sufficient. */
import { createHash, randomInt } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const LENGTH = 24;
const HOW_MANY = 10;
const PLAIN = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);

/** Creates ten codes, `ABCD-EFGH-IJKL-MNOP-QRST-UVWX`. */
export function newBackupCodes(): readonly string[] {
  return Array.from({ length: HOW_MANY }, () => {
    const characters = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
    return characters.replace(/.{4}(?=.)/g, '$&-');
  });
}

/** The stored hash of a code; undefined for invalid texts. `plain`: without dashes, in upper case. */
export function hashOfBackupCode(plain: string): Uint8Array | undefined {
  return PLAIN.test(plain) ? createHash('sha256').update(plain).digest() : undefined;
}
