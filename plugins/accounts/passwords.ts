/** Password hashing with scrypt, behind a gate: each hash takes 32 MiB and a thread of the pool that files and DNS share. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import type { Comer, PasswordCost } from '../../core/contracts/accounts.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { GatewayError } from '../../core/plugin.ts';
import { matchesOldHash, oldHashProblem } from './old-hashes.ts';

/** The cost of new hashes: 2^15 rounds of 8 blocks, three times (OWASP's parameters for 32 MiB). */
export const COST: PasswordCost = { ln: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** The number of concurrent hashes, and of those that wait. */
const AT_ONCE = 2;
const WAITING = 16;
/** Stands for work that no client requested. */
const NOBODY_KNOWN: Comer = { network: '', isKnown: false };

/** `$scrypt$ln=15,r=8,p=3$salt$hash`, salt and hash in base64 without padding. */
const STORED = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
/** The memory that one hash may take; twice what the usual cost needs. */
const MOST_BYTES = 64 * 1_024 * 1_024;
/** The most passes over that memory. */
const MOST_PASSES = 10;

/** Hashes and compares passwords; one per process, kept over reloads. `costNow`: of new hashes. */
export function createPasswords(costNow: () => PasswordCost = () => COST) {
  const enter = createGate(AT_ONCE, WAITING);

  async function newHash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const { ln, r, p } = costNow();
    const hash = await derive(password, salt, { ln, r, p }, HASH_BYTES);
    return `$scrypt$ln=${ln},r=${r},p=${p}$${base64(salt)}$${base64(hash)}`;
  }

  return {
    /** The stored hash of a password, which is not validated here. Refuses (429) if too many wait. */
    hash: (password: string) => enter(NOBODY_KNOWN, () => newHash(password)),

    /**
     * Compares in constant time. `outdated`: it is right, but its hash has another cost and should be replaced. `hash`: it is right, but its
     * hash is one of another program, which this one replaces. Refuses (429) if too many wait; throws if `stored` is neither a result of
     * `hash` nor a hash of `old-hashes.ts`, or would cost far more than either.
     *
     * `oldHash`: an old hash of any account. It is compared as well, without effect, if `stored` is none: otherwise the duration would tell
     * accounts with an old hash from others, and from none.
     */
    async verify(
      password: string,
      stored: string,
      comer = NOBODY_KNOWN,
      oldHash?: string,
    ): Promise<'right' | 'outdated' | 'wrong' | { readonly hash: string }> {
      if (oldHashProblem(stored) === undefined) {
        // The new hash is made even if the password is wrong, so that every check does the same work.
        const [isRight, hash] = await enter(comer, () => both(matchesOldHash(password, stored), newHash(password)));
        return isRight ? { hash } : 'wrong';
      }
      const [, ln, r, p, salt, hash] = STORED.exec(stored) ?? [];
      if (salt === undefined || hash === undefined) throw new Error('a stored password is not in the format of scrypt');
      const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
      if (cost.p > MOST_PASSES || 128 * cost.r * 2 ** cost.ln > MOST_BYTES)
        throw new Error('a stored password costs more than is supported');
      const expected = Buffer.from(hash, 'base64');
      const [, derived] = await enter(comer, () =>
        both(
          oldHash === undefined ? Promise.resolve(false) : matchesOldHash(password, oldHash),
          derive(password, Buffer.from(salt, 'base64'), cost, expected.length),
        ),
      );
      if (!timingSafeEqual(derived, expected)) return 'wrong';
      const current = costNow();
      const isCurrent = cost.ln === current.ln && cost.r === current.r && cost.p === current.p;
      return isCurrent ? 'right' : 'outdated';
    },
  };
}

export type Passwords = ReturnType<typeof createPasswords>;

/** Waits for both, even if one fails: the place at the gate is theirs until then. */
async function both<A, B>(a: Promise<A>, b: Promise<B>): Promise<readonly [A, B]> {
  await Promise.allSettled([a, b]);
  return Promise.all([a, b]);
}

const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

function derive(password: string, salt: Buffer, cost: PasswordCost, bytes: number): Promise<Buffer> {
  const options = { N: 2 ** cost.ln, r: cost.r, p: cost.p, maxmem: MOST_BYTES + 1_024 * 1_024 };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, bytes, options, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}

interface Waiting extends Comer {
  go(): void;
  turnAway(): void;
}

/**
 * Runs `slots` tasks at once, and lets `waiting` more wait. Tasks of known browsers come first, then those of the networks with the fewest
 * waiting; if the queue is full, the network with the most loses its last one. Refuses (429) tasks without a place.
 */
function createGate(slots: number, waiting: number): <T>(comer: Comer, work: () => Promise<T>) => Promise<T> {
  const line: Waiting[] = [];
  let busy = 0;

  const inLine = ({ network }: Comer): number => line.filter((waiter) => waiter.network === network).length;

  function leaveFirst(): Waiting | undefined {
    const ranked = line.map((waiter, i) => ({ waiter, i, rank: waiter.isKnown ? 0 : inLine(waiter) }));
    const first = ranked.sort((a, b) => a.rank - b.rank || a.i - b.i)[0];
    return first && line.splice(first.i, 1)[0];
  }

  /** Whether there is a place in the queue; a task of the network with the most waiting ones may be refused for it. */
  function makeRoom(comer: Comer): boolean {
    if (line.length < waiting) return true;
    const strangers = line.filter(({ isKnown }) => !isKnown);
    const most = Math.max(0, ...strangers.map(inLine));
    if (most <= (comer.isKnown ? 0 : inLine(comer) + 1)) return false;
    const last = strangers.findLast((waiter) => inLine(waiter) === most);
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
      // The next task takes over this slot.
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
