/**
 * Password hashes that other programs stored. Each is compared once: at the first sign-in with the right password, our own replaces it.
 * They are compared in a thread: bcrypt is computed in JavaScript, and the others would take threads of the pool from our own hashes.
 *
 * - `$2a$10$…`, `$2b$…`, `$2y$…`: bcrypt, as Go's golang.org/x/crypto/bcrypt writes it (one-api, new-api and one-hub: `common/crypto.go`,
 *   cost 10). As there, only the first 72 bytes of a password count, and a NUL is a byte like any other.
 * - `scrypt:…`: base64 of 16 bytes of salt and 32 of hash, N = 2^14, r = 8, p = 1 (LiteLLM 1.110.2, `litellm/proxy/utils.py`, `hash_password`).
 * - `pbkdf2:…`: the same of PBKDF2 with HMAC-SHA-256 and 600,000 rounds (the same, in FIPS mode).
 * - 64 hexadecimal digits: SHA-256 without salt (older versions of LiteLLM, which still accept it).
 *
 * Older versions of LiteLLM also stored passwords in plain text: these are not accepted, because a text in an unknown format is not evidence
 * of a password.
 */
import { startThread } from '../../core/sdk.ts';

/** The costs of bcrypt that are accepted: 10 is usual, and 14 takes about a second. A higher one could occupy a thread for hours. */
export const BCRYPT_COSTS = { lowest: 4, highest: 14 } as const;

const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
/** 48 bytes in base64. */
const SALTED = /^(?:scrypt|pbkdf2):[A-Za-z0-9+/]{64}$/;
const SHA_256 = /^[0-9a-f]{64}$/;

/** To the thread. */
export interface ToOldHashes {
  readonly password: string;
  readonly stored: string;
}

/** Why a text is not a hash of these formats that can be compared here; undefined: it is one. */
export function oldHashProblem(stored: string): string | undefined {
  if (SALTED.test(stored) || SHA_256.test(stored)) return undefined;
  const cost = BCRYPT.exec(stored)?.[1];
  if (cost === undefined) return 'its password hash has a format that is not supported';
  if (Number(cost) >= BCRYPT_COSTS.lowest && Number(cost) <= BCRYPT_COSTS.highest) return undefined;
  return `its password hash has bcrypt cost ${cost}; ${BCRYPT_COSTS.lowest} to ${BCRYPT_COSTS.highest} are supported`;
}

/** Throws if a hash cannot be compared here: ask `oldHashProblem` first. */
export function checkOldHash(stored: string | undefined): void {
  const problem = stored === undefined ? undefined : oldHashProblem(stored);
  if (problem !== undefined) throw new Error(problem);
}

/** Compares a password with such a hash. Throws if it is none. */
export function matchesOldHash(password: string, stored: string): Promise<boolean> {
  checkOldHash(stored);
  return new Promise((resolve, reject) => {
    const thread = startThread<ToOldHashes, boolean>(new URL('./old-hashes-thread.ts', import.meta.url), {
      message: resolve,
      // Without effect if there was a result.
      ended: (error) => reject(new Error(`the thread that compares old password hashes ended: ${error?.message}`)),
    });
    thread.post({ password, stored });
  });
}
