/** How often the password of one name may be guessed: counted before it is looked at, whether or not there is such a name. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { Counters } from '../../core/contracts/counters.ts';
import { Sessions } from '../../core/contracts/sessions.ts';
import type { Host } from '../../core/plugin.ts';
import { networkOf, refuseTooMany } from './limiter.ts';

const WINDOW_MS = 60 * 60_000;
/** Wrong ones within it: from one network, and from all together. */
const FROM_ONE = 10;
const FROM_ALL = 100;

/** Counts guesses. */
export interface Guesses {
  /**
   * One guess; refuses (429) where there were too many. Whoever guesses from everywhere at once locks the name for others, too, but not
   * for where its owner is signed in, and for no longer than an hour behind the last guess. What it gives takes the guess back.
   */
  take(name: string, ip: string): Promise<() => Promise<void>>;
  /** One guess that counts only where `work` compared and found nobody (undefined): not where it failed because too many came at once. */
  compare<T>(name: string, ip: string, work: () => Promise<T | undefined>): Promise<T | undefined>;
}

/** On the counters that all limits are made of. */
export function createGuesses(host: Pick<Host, 'use'>): Guesses {
  const counters = host.use(Counters);
  const accounts = host.use(Accounts);
  const sessions = host.use(Sessions);
  let taken = 0;

  async function isKnownAt(name: string, network: string): Promise<boolean> {
    const account = (await accounts.findByEmail(name)) ?? (await accounts.findByName(name));
    const live = account === undefined ? [] : await sessions.list(account.id);
    return live.some((session) => networkOf(session.ip) === network);
  }

  const self: Guesses = {
    async compare(name, ip, work) {
      const giveBack = await self.take(name, ip);
      let isWrong = false;
      try {
        const found = await work();
        isWrong = found === undefined;
        return found;
      } finally {
        if (!isWrong) await giveBack();
      }
    },

    async take(name, ip) {
      const folded = name.trim().normalize('NFC').toLowerCase();
      const network = networkOf(ip);
      const id = `${++taken}`;
      const one = `console.guesses.from:${network} ${folded}`;
      const all = `console.guesses:${folded}`;
      const near = await counters.take(one, FROM_ONE, WINDOW_MS, 1, id);
      if (!near.ok) tooMany(near.retryAfterMs);
      const wide = await counters.take(all, FROM_ALL, WINDOW_MS, 1, id);
      if (!wide.ok && !(await isKnownAt(folded, network))) tooMany(wide.retryAfterMs);
      return async () => {
        await counters.correct(one, WINDOW_MS, id, 0);
        if (wide.ok) await counters.correct(all, WINDOW_MS, id, 0);
      };
    },
  };
  return self;
}

function tooMany(retryAfterMs: number): never {
  refuseTooMany('wrong passwords for this name', retryAfterMs);
}
