/**
 * Limits password guesses. A guess is counted by name and address before anything is compared, even if the name does not exist. Beyond a
 * limit, one guess is allowed every few seconds, so that wrong guesses of others delay a sign-in but never prevent it.
 */

import { Accounts, type Comer } from '../../../core/contracts/accounts.ts';
import { type Admission, Counters } from '../../../core/contracts/counters.ts';
import type { Account } from '../../../core/contracts/identity.ts';
import { Sessions } from '../../../core/contracts/sessions.ts';
import type { Headers, Host } from '../../../core/plugin.ts';
import type { Browsers } from './cookies.ts';
import { networkOf, refuseTooMany, siteNetworkOf } from './limiter.ts';

const MINUTE_MS = 60_000;
/** Wrong guesses per name and hour: from one network or known browser, and from all networks together. */
const FROM_ONE = 10;
const FROM_ALL = 100;
/** The interval between guesses beyond a limit. */
const PAUSE_MS = 15_000;

/** A guess of an account's password. */
export interface Guess {
  /** As typed: a name or an email address. */
  readonly name: string;
  readonly ip: string;
  readonly headers: Headers;
}

interface Limit {
  readonly subject: string;
  readonly most: number;
  readonly windowMs: number;
}

/** Counts guesses, and refuses (429) those that come too soon. `perAddress`: wrong guesses per address, of any name, within 20 minutes. */
export function createGuesses(host: Pick<Host, 'use'>, browsers: Pick<Browsers, 'recognize'>, perAddress: number) {
  const counters = host.use(Counters);
  const accounts = host.use(Accounts);
  const sessions = host.use(Sessions);

  async function isSignedInAt(account: Account | undefined, network: string): Promise<boolean> {
    const live = account === undefined ? [] : await sessions.list(account.id);
    return live.some((session) => networkOf(session.ip) === network);
  }

  /** Takes a guess from a limit or, beyond it, from the interval. The caller takes it back if the guess was right. */
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
      const matched = await work();
      isWrong = matched === undefined;
      return matched;
    } finally {
      if (!isWrong) for (const admission of taken) counters.correct(admission, 0);
    }
  }

  return {
    /**
     * Counts the guess only if `work` compared the password and found no match (undefined), not if `work` was refused because too many run.
     */
    async compare<T>({ name, ip, headers }: Guess, work: (comer: Comer) => Promise<T | undefined>) {
      const typed = name.trim().normalize('NFKC').toLowerCase();
      const network = networkOf(ip);
      const account = (await accounts.findByEmail(typed)) ?? (await accounts.findByName(typed));
      // One account has one limit, whatever the spelling of its name or email address.
      const counterName = account === undefined ? `name ${typed}` : `account ${account.id}`;
      const browser = browsers.recognize(headers, account?.id);
      const isKnown = browser !== undefined || (await isSignedInAt(account, network));
      const hour = 60 * MINUTE_MS;
      const limits = [
        { subject: `console.guesses.from:${browser ?? network} ${counterName}`, most: FROM_ONE, windowMs: hour },
        ...(isKnown
          ? []
          : [
              { subject: `console.guesses.at:${network}`, most: perAddress, windowMs: 20 * MINUTE_MS },
              { subject: `console.guesses.of:${counterName}`, most: FROM_ALL, windowMs: hour },
            ]),
      ];
      return counted(limits, () => work({ network: siteNetworkOf(ip), isKnown }));
    },

    /** The same for a signed-in account's password; guesses of others do not count. */
    compareOwn: <T>(accountId: number, work: (comer: Comer) => Promise<T | undefined>) =>
      counted([{ subject: `console.guesses.own:${accountId}`, most: FROM_ONE, windowMs: 60 * MINUTE_MS }], () =>
        work({ network: `account ${accountId}`, isKnown: true }),
      ),
  };
}

export type Guesses = ReturnType<typeof createGuesses>;
