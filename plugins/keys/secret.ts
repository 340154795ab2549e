/** The secret of a key: `sk-`, 43 base62 characters of 256 random bits, 6 check characters that catch typing errors. */
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { BASE62, createRecent, randomBase62 } from '../../core/sdk.ts';

const PREFIX = 'sk-';
const BODY = 43;
const CHECK = 6;
const LENGTH = PREFIX.length + BODY + CHECK;

/** Creates a random secret. */
export function newSecret(): string {
  const body = randomBase62(BODY);
  return PREFIX + body + checkCharacters(body);
}

/** Whether a text has the form of a secret. */
export function isLikely(secret: string): boolean {
  return secret.length === LENGTH && secret.startsWith(PREFIX);
}

/**
 * Whether the check characters match, so that a mistyped key needs no lookup. A CRC-32 detects every wrong character and every swap of two adjacent
 * ones; it is not a security measure.
 */
export function isWellFormed(secret: string): boolean {
  return isLikely(secret) && checkCharacters(secret.slice(PREFIX.length, -CHECK)) === secret.slice(-CHECK);
}

/** Whether a text may be a secret of another gateway: those that can be imported begin with `sk-`. */
export function isForeign(secret: string): boolean {
  return FOREIGN.test(secret);
}
/** What a header can carry as a key: no space and no comma. */
const FOREIGN = /^sk-[\x21-\x2b\x2d-\x7e]{1,253}$/;

/**
 * The stored form: the SHA-256 of the whole secret, in hexadecimal. A client sends the same secret with each request, so the hashes of recent ones are
 * kept; the memory of the process has these secrets anyway, in the headers of the requests.
 */
export const hashOf: (secret: string) => string = createRecent(
  256,
  // The last characters are check characters, so they spread well.
  (secret) => secret.charCodeAt(secret.length - 1) * 31 + secret.charCodeAt(secret.length - 3) * 7 + secret.length,
  (one, other) => one === other,
  (secret) => hash('sha256', secret, 'hex'),
);

/** The part of a secret that is shown in lists: its first four characters and its last four. */
export function hintsOf(secret: string): { readonly prefix: string; readonly suffix: string } {
  return { prefix: secret.slice(0, PREFIX.length + 4), suffix: secret.slice(-4) };
}

function checkCharacters(body: string): string {
  let rest = crc32(body);
  let characters = '';
  for (let i = 0; i < CHECK; i++) {
    characters = BASE62[rest % 62] + characters;
    rest = Math.floor(rest / 62);
  }
  return characters;
}
