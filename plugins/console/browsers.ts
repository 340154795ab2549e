/**
 * Browsers that an account has signed in with: a cookie says so, for a year. Guesses of passwords are counted apart for them, so that
 * strangers who guess at the same name, or from the same address, delay nobody who has been here before. It signs nobody in.
 */
import { randomUUID } from 'node:crypto';
import type { Headers, Host } from '../../core/plugin.ts';
import type { Cookies } from './cookies.ts';

const PLACE = 'console.browser';
const YEAR_MS = 365 * 86_400_000;

/** Remembers and recognizes them. */
export interface Browsers {
  /** The cookie for one that an account has signed in with. */
  remember(accountId: number): string;
  /** Its name, if this account was the last to sign in with it. */
  recognize(headers: Headers, accountId: number | undefined): string | undefined;
}

/** On a cookie that is sealed with the master key. */
export function createBrowsers({ vault }: Pick<Host, 'vault'>, cookies: Cookies): Browsers {
  return {
    remember: (accountId) => cookies.set('browser', vault.seal(PLACE, `${accountId} ${randomUUID()}`), YEAR_MS),

    recognize(headers, accountId) {
      const sealed = cookies.read(headers, 'browser');
      if (sealed === undefined || accountId === undefined) return undefined;
      try {
        const text = vault.open(PLACE, sealed);
        return text.startsWith(`${accountId} `) ? text : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
