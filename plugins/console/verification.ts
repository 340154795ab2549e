/** The check by a second factor that sensitive routes want: marking a session, and asking for it where a factor guards another. */
import { SecondFactors } from '../../core/contracts/second-factors.ts';
import { Sessions } from '../../core/contracts/sessions.ts';
import type { Answer, Host } from '../../core/plugin.ts';
import { refuseUnverified, sessionOf } from './access.ts';
import type { Cookies } from './cookies.ts';
import { done } from './envelope.ts';
import type { ConsoleRequest } from './route.ts';
import { unixSeconds } from './schemas.ts';
import { secondsOf } from './units.ts';

/** What may be asked about the check of a session. */
export interface Verification {
  /** The answer to whoever has proven to be there: the session counts as checked, and its cookie is a new one. */
  mark(request: ConsoleRequest, method: VerifyMethod): Promise<Answer>;
  /**
   * Refuses (403) whoever has a second factor, any but that of the kind `but`, and has not shown it within five minutes. For what ends
   * an account, or is another way into it (one factor more, too): whoever has stolen a session must not make one of their own.
   */
  check(request: ConsoleRequest, but?: 'totp' | 'passkey'): Promise<void>;
}

/** What a check is made with. */
export type VerifyMethod = '2fa' | 'passkey';

/** What a check answers. */
export const verifiedAnswer = {
  type: 'object',
  required: ['verified', 'expires_at', 'method'],
  properties: {
    verified: { const: true },
    expires_at: unixSeconds,
    method: { enum: ['2fa', 'passkey'] },
  },
} as const;

/** Makes it. */
export function createVerification(host: Host, cookies: Cookies): Verification {
  return {
    async mark(request, method) {
      const session = sessionOf(request);
      const { secret, untilMs } = await host.use(Sessions).verify(session.id);
      return done(
        { verified: true, expires_at: secondsOf(untilMs), method },
        { cookies: [cookies.set('session', secret, session.expiresMs - host.clock.now()), cookies.clear('flow')] },
      );
    },

    async check({ account, session }, but) {
      const status = await host.find(SecondFactors)?.status(account.id);
      const hasOne = (status?.totp === true && but !== 'totp') || (status?.passkey !== undefined && but !== 'passkey');
      if (hasOne) refuseUnverified(session, host.clock.now());
    },
  };
}
