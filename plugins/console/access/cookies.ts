/**
 * The cookies of the console: session, pending flow, known browser. The last one is valid for a year and marks a browser that an account
 * has signed in with. Password guesses are counted separately for known browsers, so that attackers who guess the same name, or from the
 * same address, do not delay their users. It does not sign in.
 */
import { randomUUID } from 'node:crypto';
import type { Headers, Host } from '../../../core/plugin.ts';

const PLACE = 'console.browser';
const YEAR_MS = 365 * 86_400_000;

/** Creates it; the cookies are encrypted with the master key. */
export function createBrowsers({ vault }: Pick<Host, 'vault'>, cookies: Cookies) {
  return {
    /** Creates the cookie for a browser that an account has signed in with. */
    remember: (accountId: number): string =>
      cookies.set('browser', vault.seal(PLACE, `${accountId} ${randomUUID()}`), YEAR_MS),

    /** Returns the cookie's name if this account was the last to sign in with the browser. */
    recognize(headers: Headers, accountId: number | undefined): string | undefined {
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

/** Marks and recognizes known browsers. */
export type Browsers = ReturnType<typeof createBrowsers>;

/** `session`: signed in. `flow`: a sign-in that waits for its second step. `browser`: an account has signed in with this browser before. */
type CookieName = 'session' | 'flow' | 'browser';

/** `secure`: with the `__Host-` prefix, so cookies are sent over https only and other hosts of the domain cannot set them. */
export function createCookies(secure: boolean) {
  const names = { session: 'turnpike_session', flow: 'turnpike_flow', browser: 'turnpike_browser' } as const;
  const nameOf = (name: CookieName): string => `${secure ? '__Host-' : ''}${names[name]}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return {
    /** The cookie's name in browsers. */
    nameOf,
    /** Undefined if the cookie was not sent, or was sent more than once. */
    read(headers: Headers, name: CookieName): string | undefined {
      const cookieName = nameOf(name);
      const values = (headers.cookie ?? '').split(';').flatMap((pair) => {
        const at = pair.indexOf('=');
        return at > 0 && pair.slice(0, at).trim() === cookieName ? [pair.slice(at + 1).trim()] : [];
      });
      return values.length === 1 && values[0] !== '' ? values[0] : undefined;
    },
    /** Returns the header that sets the cookie for a duration. */
    set: (name: CookieName, value: string, forMs: number): string =>
      `${nameOf(name)}=${value}; Max-Age=${Math.floor(forMs / 1_000)}; ${attributes}`,
    /** Returns the header that removes the cookie. */
    clear: (name: CookieName): string => `${nameOf(name)}=; Max-Age=0; ${attributes}`,
  };
}

export type Cookies = ReturnType<typeof createCookies>;
