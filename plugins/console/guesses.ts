/**
 * How often passwords may be guessed: counted by name and address together before anything is compared, whether or not there is such a
 * name. Beyond a limit there is still one guess every few seconds, so that wrong guesses of others delay a sign-in, but never prevent it.
 */
import { type Account, Accounts, type Comer } from '../../core/contracts/accounts.ts';
import { type Admission, Counters } from '../../core/contracts/counters.ts';
import { Sessions } from '../../core/contracts/sessions.ts';
import type { Headers, Host } from '../../core/plugin.ts';
import type { Browsers } from './browsers.ts';
import { networkOf, refuseTooMany, siteNetworkOf } from './limiter.ts';

const MINUTE_MS = 60_000;
/** Wrong ones of one name within an hour: from one network or known browser, and from all networks together. */
const FROM_ONE = 10;
const FROM_ALL = 100;
/** Beyond a limit, the time from one guess to the next. */
const PAUSE_MS = 15_000;

/** A guess of the password of a name. */
export interface Guess {
  /** As it was typed: a name or an e-mail address. */
  readonly name: string;
  readonly ip: string;
  readonly headers: Headers;
}

/** Counts guesses. Refuses (429) one that comes too soon. */
export interface Guesses {
  /** Counts only if `work` compared and found nobody (undefined): not if it failed because too many came at once. */
  compare<T>(guess: Guess, work: (comer: Comer) => Promise<T | undefined>): Promise<T | undefined>;
  /** The same for the password of an account that is signed in: strangers cannot use these up. */
  compareOwn<T>(accountId: number, work: (comer: Comer) => Promise<T | undefined>): Promise<T | undefined>;
}

interface Limit {
  readonly subject: string;
  readonly most: number;
  readonly windowMs: number;
}

/** On the counters that all limits are made of. `perAddress`: wrong ones of any name within 20 minutes. */
export function createGuesses(
  host: Pick<Host, 'use'>,
  browsers: Pick<Browsers, 'recognize'>,
  perAddress: number,
): Guesses {
  const counters = host.use(Counters);
  const accounts = host.use(Accounts);
  const sessions = host.use(Sessions);

  async function isSignedInAt(account: Account | undefined, network: string): Promise<boolean> {
    const live = account === undefined ? [] : await sessions.list(account.id);
    return live.some((session) => networkOf(session.ip) === network);
  }

  /** Takes one guess of a limit, or of what there is beyond it. To be corrected to nothing if it was right. */
  async function take({ subject, most, windowMs }: Limit): Promise<Admission> {
    const quick = await counters.take([{ name: subject, limit: most, windowMs, cost: 1 }]);
    if (quick.ok) return quick;
    const slow = await counters.take([{ name: `${subject} beyond`, limit: 1, windowMs: PAUSE_MS, cost: 1 }]);
    if (slow.ok) return slow;
    return refuseTooMany('wrong passwords', Math.min(quick.windows[0]!.retryAfterMs, slow.windows[0]!.retryAfterMs));
  }

  async function counted<T>(limits: readonly Limit[], work: () => Promise<T | undefined>): Promise<T | undefined> {
    const taken: Admission[] = [];
    let isWrong = false;
    try {
      for (const limit of limits) taken.push(await take(limit));
      const found = await work();
      isWrong = found === undefined;
      return found;
    } finally {
      if (!isWrong) for (const admission of taken) counters.correct(admission, 0);
    }
  }

  return {
    async compare({ name, ip, headers }, work) {
      const typed = name.trim().normalize('NFKC').toLowerCase();
      const network = networkOf(ip);
      const account = (await accounts.findByEmail(typed)) ?? (await accounts.findByName(typed));
      // However its name or its address is spelled, an account is one.
      const whose = account === undefined ? `name ${typed}` : `account ${account.id}`;
      const browser = browsers.recognize(headers, account?.id);
      const isKnown = browser !== undefined || (await isSignedInAt(account, network));
      const hour = 60 * MINUTE_MS;
      const limits = [
        { subject: `console.guesses.from:${browser ?? network} ${whose}`, most: FROM_ONE, windowMs: hour },
        ...(isKnown
          ? []
          : [
              { subject: `console.guesses.at:${network}`, most: perAddress, windowMs: 20 * MINUTE_MS },
              { subject: `console.guesses.of:${whose}`, most: FROM_ALL, windowMs: hour },
            ]),
      ];
      return counted(limits, () => work({ network: siteNetworkOf(ip), isKnown }));
    },

    compareOwn: (accountId, work) =>
      counted([{ subject: `console.guesses.own:${accountId}`, most: FROM_ONE, windowMs: 60 * MINUTE_MS }], () =>
        work({ network: `account ${accountId}`, isKnown: true }),
      ),
  };
}
