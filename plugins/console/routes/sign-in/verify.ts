/** Verification before sensitive operations: by a second factor or, if the account has none, by its password. */

import { invalidField } from '../../../../core/contracts/errors.ts';
import { SecondFactors } from '../../../../core/contracts/second-factors.ts';
import { sessionOf } from '../../access/guards.ts';
import { verifiedAnswer } from '../../access/verification.ts';
import { errors } from '../../errors.ts';
import { bodyOf, boolean, partly, unixSeconds } from '../../format/schemas.ts';
import { secondsOf } from '../../format/units.ts';
import { type ApiRoute, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';
import { ceremony, ceremonyAnswer } from './passkey.ts';

const route = tagged('Verification');

/**
 * Clients that complete a passkey verification on another path then call POST /api/verify: for this long, it succeeds without another ceremony.
 */
const JUST_NOW_MS = 60_000;
const VERIFIED_FOR_MS = 5 * 60_000;

const verifyBody = bodyOf(['method'], {
  method: { enum: ['2fa', 'passkey', 'password'] },
  code: {
    description: 'Required with `2fa`: a code of the authenticator, or a backup code.',
    type: 'string',
    maxLength: 64,
  },
  password: {
    description: 'Required with `password`, for accounts without a second factor.',
    type: 'string',
    maxLength: 1_024,
  },
  scope: { description: 'Ignored: a verification is valid for all operations.' },
});

export function verifyRoutes({ host, cookies, verification, need }: Tools): readonly ApiRoute[] {
  /** Refuses if the password is not sufficient, or if there is none. */
  async function refuseFactors(accountId: number): Promise<void> {
    const [method] = await verification.methods(accountId);
    if (method === 'password') return;
    if (method !== undefined) throw errors.second_factor_wanted();
    throw errors.no_password();
  }

  return [
    route('member', 'POST', '/api/verify', {
      errors: [
        'second_factor_wanted',
        'no_second_factor',
        'no_password',
        'wrong_password',
        'wrong_code',
        'codes_locked',
        'session_wanted',
        'no_passkey',
      ],
      summary:
        'Verifies the user: sensitive operations are allowed for five minutes, for this session or access token. With a passkey the verification begins here and is completed at /api/user/passkey/verify/finish.',
      body: verifyBody,
      answer: {
        anyOf: [
          verifiedAnswer,
          {
            ...ceremonyAnswer,
            title: 'VerificationCeremony',
            properties: { verified: { const: false }, ...ceremonyAnswer.properties },
          },
        ],
      },
      async handle(request) {
        const { account, body } = request;
        if (body.method === 'password') {
          const { password = missing('password', 'that of the account') } = body;
          await refuseFactors(account.id);
          await verification.checkPassword(account, password, 'password');
          return verification.mark(request, 'password');
        }
        const factors = need(SecondFactors);
        if (body.method === '2fa') {
          const { code = missing('code', 'that of the authenticator, or a backup code') } = body;
          await factors.check(account.id, code);
          return verification.mark(request, '2fa');
        }
        const session = sessionOf(request);
        const now = host.clock.now();
        if (session.verifiedUntilMs - VERIFIED_FOR_MS > now - JUST_NOW_MS) {
          return { verified: true, expires_at: secondsOf(session.verifiedUntilMs), method: 'passkey' };
        }
        return ceremony(cookies, await factors.beginPasskeyCheck(account, session.id), now, { verified: false });
      },
    }),
    route('member', 'GET', '/api/verify/status', {
      summary: 'Returns whether a verification is still valid, and the methods for the next one.',
      answer: partly(['verified', 'methods'], {
        verified: boolean,
        expires_at: unixSeconds,
        methods: {
          description: 'Second factors or, if the account has none, its password. Empty: it has neither.',
          type: 'array',
          items: { enum: ['2fa', 'passkey', 'password'] },
        },
      }),
      async handle(request) {
        const { account, session, accessToken } = request;
        const methods = await verification.methods(account.id);
        if (!verification.isVerified(request)) return { verified: false, methods };
        const untilMs = (session ?? accessToken)?.verifiedUntilMs;
        return { verified: true, expires_at: secondsOf(untilMs), methods };
      },
    }),
  ];
}

function missing(param: string, what: string): never {
  throw invalidField(param, `is missing: ${what}`);
}
