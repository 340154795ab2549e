/** The cookies of the console: who is signed in, and which browser began something. */
import type { Headers } from '../../core/plugin.ts';

/** `session`: signed in. `flow`: began a sign-in that has a second half. `browser`: an account has signed in with it before. */
export type CookieName = 'session' | 'flow' | 'browser';

/** Reads and writes them. */
export interface Cookies {
  /** As browsers know it. */
  nameOf(name: CookieName): string;
  /** Undefined where it was not sent; of several by one name, none is believed. */
  read(headers: Headers, name: CookieName): string | undefined;
  /** The header that sets it, for so long. */
  set(name: CookieName, value: string, forMs: number): string;
  /** The header that removes it. */
  clear(name: CookieName): string;
}

/** `secure`: only https brings them back, and no other host below the same domain can have made them. */
export function createCookies(secure: boolean): Cookies {
  const names = { session: 'turnpike_session', flow: 'turnpike_flow', browser: 'turnpike_browser' } as const;
  const nameOf = (name: CookieName): string => `${secure ? '__Host-' : ''}${names[name]}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return {
    nameOf,
    read(headers, name) {
      const wanted = nameOf(name);
      const values = (headers.cookie ?? '').split(';').flatMap((pair) => {
        const at = pair.indexOf('=');
        return at > 0 && pair.slice(0, at).trim() === wanted ? [pair.slice(at + 1).trim()] : [];
      });
      return values.length === 1 && values[0] !== '' ? values[0] : undefined;
    },
    set: (name, value, forMs) => `${nameOf(name)}=${value}; Max-Age=${Math.floor(forMs / 1_000)}; ${attributes}`,
    clear: (name) => `${nameOf(name)}=; Max-Age=0; ${attributes}`,
  };
}
