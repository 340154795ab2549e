/** Passwords: scrypt, and a gate before it, because each hash takes 32 MiB and a thread that files and DNS need, too. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import type { Comer } from '../../core/contracts/accounts.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { GatewayError } from '../../core/plugin.ts';

/** What a new hash costs: 2^15 rounds of 8 blocks, three times (OWASP's set for 32 MiB). */
const COST = { ln: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Hashes computed at the same time, and how many may wait for that. */
const AT_ONCE = 2;
const WAITING = 16;
/** Work that comes from no network. */
const NOBODY_KNOWN: Comer = { network: '', isKnown: false };

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
  verify(password: string, stored: string, comer?: Comer): Promise<'right' | 'outdated' | 'wrong'>;
}

/** Makes the gate; one for the whole process, however often its configuration is reloaded. */
export function createPasswords(): Passwords {
  const enter = createGate(AT_ONCE, WAITING);

  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES);
      const hash = await enter(NOBODY_KNOWN, () => derive(password, salt, COST, HASH_BYTES));
      return `$scrypt$ln=${COST.ln},r=${COST.r},p=${COST.p}$${base64(salt)}$${base64(hash)}`;
    },

    async verify(password, stored, comer = NOBODY_KNOWN) {
      const [, ln, r, p, salt, hash] = STORED.exec(stored) ?? [];
      if (salt === undefined || hash === undefined) throw new Error('a stored password is not in the format of scrypt');
      const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
      const wanted = Buffer.from(hash, 'base64');
      const found = await enter(comer, () => derive(password, Buffer.from(salt, 'base64'), cost, wanted.length));
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

interface Waiting extends Comer {
  go(): void;
  turnAway(): void;
}

/**
 * Lets `slots` works run at once and `waiting` more stand in line. Those that are known come first, then those of the networks that have
 * the fewest in line; when the line is full, the network with the most loses its last. Whoever there is no place for is refused (429).
 */
function createGate(slots: number, waiting: number): <T>(comer: Comer, work: () => Promise<T>) => Promise<T> {
  const line: Waiting[] = [];
  let busy = 0;

  const inLine = ({ network }: Comer): number => line.filter((one) => one.network === network).length;

  function leaveFirst(): Waiting | undefined {
    const ranked = line.map((one, i) => ({ one, i, rank: one.isKnown ? 0 : inLine(one) }));
    const first = ranked.sort((a, b) => a.rank - b.rank || a.i - b.i)[0];
    return first && line.splice(first.i, 1)[0];
  }

  /** True if there is a place now. */
  function makeRoom(comer: Comer): boolean {
    if (line.length < waiting) return true;
    const strangers = line.filter(({ isKnown }) => !isKnown);
    const most = Math.max(0, ...strangers.map(inLine));
    if (most <= (comer.isKnown ? 0 : inLine(comer) + 1)) return false;
    const last = strangers.findLast((one) => inLine(one) === most);
    if (last === undefined) return false;
    line.splice(line.indexOf(last), 1);
    last.turnAway();
    return true;
  }

  return async (comer, work) => {
    if (busy < slots) {
      busy++;
    } else {
      if (!makeRoom(comer)) throw tooMany();
      await new Promise<void>((resolve, reject) =>
        line.push({ ...comer, go: resolve, turnAway: () => reject(tooMany()) }),
      );
    }
    try {
      return await work();
    } finally {
      // Who is next takes over this slot.
      const next = leaveFirst();
      if (next === undefined) busy--;
      else next.go();
    }
  };
}

const tooMany = (): GatewayError =>
  coreErrors
    .rate_limit_exceeded('Too many sign-ins at the same time; try again in a moment.')
    .with({ headers: { 'retry-after': '1' } });
