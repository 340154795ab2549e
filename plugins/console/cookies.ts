/** The cookies of the console: session, pending flow, known browser. */
import type { Headers } from '../../core/plugin.ts';

/** `session`: signed in. `flow`: a sign-in that waits for its second step. `browser`: an account has signed in with this browser before. */
export type CookieName = 'session' | 'flow' | 'browser';

export interface Cookies {
  /** The cookie's name in browsers. */
  nameOf(name: CookieName): string;
  /** Undefined if the cookie was not sent, or was sent more than once. */
  read(headers: Headers, name: CookieName): string | undefined;
  /** Returns the header that sets the cookie for a duration. */
  set(name: CookieName, value: string, forMs: number): string;
  /** Returns the header that removes the cookie. */
  clear(name: CookieName): string;
}

/** `secure`: with the `__Host-` prefix, so cookies are sent over https only and other hosts of the domain cannot set them. */
export function createCookies(secure: boolean): Cookies {
  const names = { session: 'turnpike_session', flow: 'turnpike_flow', browser: 'turnpike_browser' } as const;
  const nameOf = (name: CookieName): string => `${secure ? '__Host-' : ''}${names[name]}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return {
    nameOf,
    read(headers, name) {
      const cookieName = nameOf(name);
      const values = (headers.cookie ?? '').split(';').flatMap((pair) => {
        const at = pair.indexOf('=');
        return at > 0 && pair.slice(0, at).trim() === cookieName ? [pair.slice(at + 1).trim()] : [];
      });
      return values.length === 1 && values[0] !== '' ? values[0] : undefined;
    },
    set: (name, value, forMs) => `${nameOf(name)}=${value}; Max-Age=${Math.floor(forMs / 1_000)}; ${attributes}`,
    clear: (name) => `${nameOf(name)}=; Max-Age=0; ${attributes}`,
  };
}
