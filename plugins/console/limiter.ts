/** How often somebody may try: counted before anything expensive is done, and before anybody knows who it is. */
import { Counters } from '../../core/contracts/counters.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { Host } from '../../core/plugin.ts';

/** What is limited apart from the rest. `usage`: what pages about a key ask for, again and again. */
export type LimitName = 'sign-in' | 'mail' | 'codes' | 'usage';

/** Takes attempts. */
export interface Limiter {
  /** One attempt of whoever `subject` names: an address, an account, a name somebody typed. Refuses with 429. */
  take(name: LimitName | 'requests', subject: string): Promise<void>;
  /** An attempt of an address; those of one IPv6 network are one. */
  takeOf(name: LimitName | 'requests', ip: string): Promise<void>;
}

const MINUTE_MS = 60_000;

/** On the counters that all limits are made of. */
export function createLimiter(
  host: Host,
  limits: { readonly signIn: number; readonly mail: number; readonly requests: number },
): Limiter {
  const windows = {
    'sign-in': { limit: limits.signIn, windowMs: 20 * MINUTE_MS },
    mail: { limit: limits.mail, windowMs: 10 * MINUTE_MS },
    codes: { limit: 10, windowMs: 60 * MINUTE_MS },
    usage: { limit: limits.requests, windowMs: MINUTE_MS },
    requests: { limit: limits.requests, windowMs: MINUTE_MS },
  } as const;
  const counters = host.use(Counters);

  async function take(name: LimitName | 'requests', subject: string): Promise<void> {
    const { limit, windowMs } = windows[name];
    const { ok, windows: states } = await counters.take([
      { name: `console.${name}:${subject}`, limit, windowMs, cost: 1 },
    ]);
    if (!ok) refuseTooMany('attempts', states[0]!.retryAfterMs);
  }

  return { take, takeOf: (name, ip) => take(name, networkOf(ip)) };
}

/** Refuses (429) and says when to come back. */
export function refuseTooMany(what: string, retryAfterMs: number): never {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  throw coreErrors
    .rate_limit_exceeded(`Too many ${what}. Try again in ${seconds} s.`)
    .with({ headers: { 'retry-after': String(seconds) } });
}

/** An IPv6 network of 64 bits belongs to one household; an IPv4 address is itself. */
export function networkOf(ip: string): string {
  return ip.includes(':') ? `${groupsOf(ip).slice(0, 4).join(':')}::/64` : ip;
}

/** What one site or provider has at most: an IPv6 network of 48 bits, an IPv4 network of 24. */
export function siteNetworkOf(ip: string): string {
  if (ip.includes(':')) return `${groupsOf(ip).slice(0, 3).join(':')}::/48`;
  return `${ip.split('.').slice(0, 3).join('.')}.0/24`;
}

/** All eight groups of an IPv6 address. */
function groupsOf(ip: string): readonly string[] {
  const [head = '', tail] = ip.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  if (tail === undefined) return front;
  return [...front, ...Array(Math.max(0, 8 - front.length - back.length)).fill('0'), ...back];
}
