/** Passwords: scrypt, and a gate before it, because each hash takes 32 MiB and a thread that files and DNS need, too. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { refuse } from '../../core/plugin.ts';

/** What a new hash costs: 2^15 rounds of 8 blocks, three times (OWASP's set for 32 MiB). */
const COST = { ln: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Hashes computed at the same time, and how many may wait for that. */
const AT_ONCE = 2;
const WAITING = 16;

/** `$scrypt$ln=15,r=8,p=3$salt$hash`, salt and hash in base64 without padding. */
const STORED = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Makes and compares hashes of passwords. */
export interface Passwords {
  /** What is stored in place of the password, which nobody has checked. Refuses (429) where too many wait. */
  hash(password: string): Promise<string>;
  /**
   * Compares in constant time. `outdated`: it is right, but was hashed at another cost and should be hashed anew.
   * Refuses (429) where too many wait; throws where `stored` is not what `hash` makes.
   */
  verify(password: string, stored: string): Promise<'right' | 'outdated' | 'wrong'>;
}

/** Makes the gate; one for the whole process, however often its configuration is reloaded. */
export function createPasswords(): Passwords {
  const enter = createGate(AT_ONCE, WAITING);

  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES);
      const hash = await enter(() => derive(password, salt, COST, HASH_BYTES));
      return `$scrypt$ln=${COST.ln},r=${COST.r},p=${COST.p}$${base64(salt)}$${base64(hash)}`;
    },

    async verify(password, stored) {
      const [, ln, r, p, salt, hash] = STORED.exec(stored) ?? [];
      if (salt === undefined || hash === undefined) throw new Error('a stored password is not in the format of scrypt');
      const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
      const wanted = Buffer.from(hash, 'base64');
      const found = await enter(() => derive(password, Buffer.from(salt, 'base64'), cost, wanted.length));
      if (!timingSafeEqual(found, wanted)) return 'wrong';
      const current = cost.ln === COST.ln && cost.r === COST.r && cost.p === COST.p;
      return current ? 'right' : 'outdated';
    },
  };
}

const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

function derive(password: string, salt: Buffer, cost: typeof COST, bytes: number): Promise<Buffer> {
  const options = { N: 2 ** cost.ln, r: cost.r, p: cost.p, maxmem: 64 * 1024 * 1024 };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, bytes, options, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}

/** Lets `slots` works run at once and `waiting` more stand in line; refuses the rest with 429. */
function createGate(slots: number, waiting: number): <T>(work: () => Promise<T>) => Promise<T> {
  const line: (() => void)[] = [];
  let busy = 0;
  return async (work) => {
    if (busy < slots) {
      busy++;
    } else {
      if (line.length >= waiting) {
        refuse(429, 'rate_limit_exceeded', 'Too many sign-ins at the same time; try again in a moment.', {
          headers: { 'retry-after': '1' },
        });
      }
      await new Promise<void>((resolve) => line.push(resolve));
    }
    try {
      return await work();
    } finally {
      // Whoever is next takes over this slot.
      const next = line.shift();
      if (next === undefined) busy--;
      else next();
    }
  };
}
