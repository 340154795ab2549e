/** The thread that compares one password with a hash of another program, and ends. */
import { hash, pbkdf2Sync, scryptSync, timingSafeEqual } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';
import type { ToOldHashes } from './old-hashes.ts';

const SALT_BYTES = 16;
const HASH_BYTES = 32;
const PBKDF2_ROUNDS = 600_000;
const SCRYPT = { N: 2 ** 14, r: 8, p: 1 };

function isRight({ password, stored }: ToOldHashes): boolean {
  if (stored.startsWith('$')) return compareSync(password, stored);
  const [, kind, salted] = /^(scrypt|pbkdf2):(.+)$/.exec(stored) ?? [];
  if (kind === undefined || salted === undefined)
    return timingSafeEqual(hash('sha256', password, 'buffer'), Buffer.from(stored, 'hex'));
  const bytes = Buffer.from(salted, 'base64');
  const [salt, expected] = [bytes.subarray(0, SALT_BYTES), bytes.subarray(SALT_BYTES)];
  const derived =
    kind === 'scrypt'
      ? scryptSync(password, salt, HASH_BYTES, SCRYPT)
      : pbkdf2Sync(password, salt, PBKDF2_ROUNDS, HASH_BYTES, 'sha256');
  return timingSafeEqual(derived, expected);
}

const port = parentPort!;
port.once('message', (message: ToOldHashes) => {
  port.postMessage(isRight(message));
  port.close();
});
