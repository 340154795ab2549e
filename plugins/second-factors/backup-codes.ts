/** Backup codes: 24 characters of base32 in six groups. At 120 random bits, a fast hash is as good as a slow one. */
import { createHash, randomInt } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const LENGTH = 24;
const HOW_MANY = 10;
const PLAIN = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);

/** Ten new ones, `ABCD-EFGH-IJKL-MNOP-QRST-UVWX`. */
export function newBackupCodes(): readonly string[] {
  return Array.from({ length: HOW_MANY }, () => {
    const characters = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
    return characters.replace(/.{4}(?=.)/g, '$&-');
  });
}

/** What is stored of one; undefined where a text cannot be one. `plain`: without its dashes, in capitals. */
export function hashOfBackupCode(plain: string): Uint8Array | undefined {
  return PLAIN.test(plain) ? createHash('sha256').update(plain).digest() : undefined;
}
