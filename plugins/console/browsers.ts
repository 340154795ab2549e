/**
 * Known browsers: a cookie, valid for a year, marks a browser that an account has signed in with. Password guesses are counted separately
 * for known browsers, so that attackers who guess the same name, or from the same address, do not delay their users. The cookie does not
 * sign in.
 */
import { randomUUID } from 'node:crypto';
import type { Headers, Host } from '../../core/plugin.ts';
import type { Cookies } from './cookies.ts';

const PLACE = 'console.browser';
const YEAR_MS = 365 * 86_400_000;

/** Marks and recognizes known browsers. */
export interface Browsers {
  /** Creates the cookie for a browser that an account has signed in with. */
  remember(accountId: number): string;
  /** Returns the cookie's name if this account was the last to sign in with the browser. */
  recognize(headers: Headers, accountId: number | undefined): string | undefined;
}

/** Creates it; the cookies are encrypted with the master key. */
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
