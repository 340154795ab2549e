/** Rate limits of the console, checked before authentication and before expensive work. */
import { Counters } from '../../../core/contracts/counters.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import type { Host } from '../../../core/plugin.ts';

/** Actions with separate limits. `usage`: requests of pages that show a key's usage. */
export type LimitName = 'sign-in' | 'mail' | 'codes' | 'usage';

const MINUTE_MS = 60_000;

/** Creates it on the counters that all limits use. */
export function createLimiter(
  host: Host,
  limits: { readonly signIn: number; readonly mail: number; readonly requests: number },
) {
  const windows = {
    'sign-in': { limit: limits.signIn, windowMs: 20 * MINUTE_MS },
    mail: { limit: limits.mail, windowMs: 10 * MINUTE_MS },
    codes: { limit: 10, windowMs: 60 * MINUTE_MS },
    usage: { limit: limits.requests, windowMs: MINUTE_MS },
    requests: { limit: limits.requests, windowMs: MINUTE_MS },
  } as const;
  const counters = host.use(Counters);

  /** Takes an attempt of a subject: an address, an account, a typed name. Refuses (429) beyond the limit. */
  async function take(name: LimitName | 'requests', subject: string): Promise<void> {
    const { limit, windowMs } = windows[name];
    const { ok, windows: states } = await counters.take([
      { name: `console.${name}:${subject}`, limit, windowMs, cost: 1 },
    ]);
    if (!ok) refuseTooMany('attempts', states[0]!.retryAfterMs);
  }

  return {
    take,
    /** Takes an attempt of an IP address; all addresses of an IPv6 network count as one. */
    takeOf: (name: LimitName | 'requests', ip: string) => take(name, networkOf(ip)),
  };
}

export type Limiter = ReturnType<typeof createLimiter>;

/** Refuses (429) with the time to wait. */
export function refuseTooMany(what: string, retryAfterMs: number): never {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  throw coreErrors
    .rate_limit_exceeded(`Too many ${what}. Try again in ${seconds} s.`)
    .with({ headers: { 'retry-after': String(seconds) } });
}

/** One household: a /64 network for IPv6, the address itself for IPv4. */
export function networkOf(ip: string): string {
  return ip.includes(':') ? `${groupsOf(ip).slice(0, 4).join(':')}::/64` : ip;
}

/** One site or provider: a /48 network for IPv6, a /24 network for IPv4. */
export function siteNetworkOf(ip: string): string {
  if (ip.includes(':')) return `${groupsOf(ip).slice(0, 3).join(':')}::/48`;
  return `${ip.split('.').slice(0, 3).join('.')}.0/24`;
}

/** The eight groups of an IPv6 address. */
function groupsOf(ip: string): readonly string[] {
  const [head = '', tail] = ip.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  if (tail === undefined) return front;
  return [...front, ...Array(Math.max(0, 8 - front.length - back.length)).fill('0'), ...back];
}
