/**
 * Verification before sensitive operations: by a second factor or, if the account has none, by its password. It is valid for five minutes,
 * for the session or the access token it was made with. A service token needs none.
 */

import { Accounts } from '../../../core/contracts/accounts.ts';
import type { Account } from '../../../core/contracts/identity.ts';
import { SecondFactors } from '../../../core/contracts/second-factors.ts';
import { Sessions } from '../../../core/contracts/sessions.ts';
import type { Answer, Found, Host } from '../../../core/plugin.ts';
import { errors } from '../errors.ts';
import { done } from '../format/envelope.ts';
import { record, unixSeconds } from '../format/schemas.ts';
import { secondsOf } from '../format/units.ts';
import type { ConsoleRequest } from '../route.ts';
import type { Cookies } from './cookies.ts';
import type { Guesses } from './sign-in-attempts.ts';

/** Verification methods. */
export type VerifyMethod = '2fa' | 'passkey' | 'password';

/** The authenticated caller. */
type Asker = { readonly [K in 'account' | 'session' | 'accessToken' | 'serviceToken']?: Found[K] | undefined };

/** The schema of that response. */
export const verifiedAnswer = record('Verified', {
  verified: { const: true },
  expires_at: unixSeconds,
  method: { enum: ['2fa', 'passkey', 'password'] },
});

export function createVerification(host: Host, cookies: Cookies, guesses: Guesses) {
  const accounts = host.use(Accounts);
  const sessions = host.use(Sessions);

  async function methods(accountId: number): Promise<readonly VerifyMethod[]> {
    const status = await host.find(SecondFactors)?.status(accountId);
    const factors: readonly VerifyMethod[] = [
      ...(status?.totp === true ? (['2fa'] as const) : []),
      ...(status?.passkey !== undefined ? (['passkey'] as const) : []),
    ];
    if (factors.length > 0) return factors;
    return (await accounts.person(accountId))?.hasPassword === true ? ['password'] : [];
  }

  function isVerified({ session, accessToken, serviceToken }: Asker): boolean {
    // Creating the token required a second factor.
    if (serviceToken !== undefined) return true;
    return ((session ?? accessToken)?.verifiedUntilMs ?? 0) >= host.clock.now();
  }

  function demand(asker: Asker): void {
    if (isVerified(asker)) return;
    throw errors.verification_required();
  }

  return {
    /** The methods available to an account: its second factors or, if it has none, its password. Empty: it has neither. */
    methods,
    /** Returns whether there was a verification within the last five minutes. */
    isVerified,
    /** Refuses (403) if there was none. */
    demand,

    /**
     * The same, but an account without a second factor may have signed in within the last five minutes instead. Required to delete an account
     * or change how it signs in, so that a stolen session cannot take over the account.
     */
    async demandOrRecent(asker: Asker): Promise<void> {
      const { account, session } = asker;
      const isRecent = (session?.recentUntilMs ?? 0) >= host.clock.now();
      if (isVerified(asker) || account === undefined || !isRecent) return demand(asker);
      const hasFactor = (await methods(account.id)).some((method) => method !== 'password');
      if (hasFactor) demand(asker);
    },

    /** Refuses (403) a wrong password; `param` is the field it came in. */
    async checkPassword({ id, name }: Account, password: string, param: string): Promise<void> {
      const match = await guesses.compareOwn(id, async (comer) => {
        const owner = await accounts.checkPassword(name, password, comer);
        return owner?.id === id ? owner : undefined;
      });
      if (match === undefined) throw errors.wrong_password().with({ param });
    },

    /** The response after a verification: the session gets a new secret, which is in the cookie. */
    async mark({ account, session }: ConsoleRequest, method: VerifyMethod): Promise<Answer> {
      if (session === undefined) {
        const untilMs = await sessions.verifyAccessToken(account.id);
        return done({ verified: true, expires_at: secondsOf(untilMs), method });
      }
      const { secret, untilMs } = await sessions.verify(session.id);
      return done(
        { verified: true, expires_at: secondsOf(untilMs), method },
        { cookies: [cookies.set('session', secret, session.expiresMs - host.clock.now()), cookies.clear('flow')] },
      );
    },
  };
}

export type Verification = ReturnType<typeof createVerification>;
