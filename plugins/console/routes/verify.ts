/** The check before sensitive operations, by whatever second factor there is. */
import { SecondFactors } from '../../../core/contracts/second-factors.ts';
import { refuse, schema } from '../../../core/plugin.ts';
import { sessionOf } from '../access.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { boolean, unixSeconds } from '../schemas.ts';
import { secondsOf } from '../units.ts';
import { type VerifyMethod, verifiedAnswer } from '../verification.ts';
import { ceremony, ceremonyAnswer } from './passkey.ts';

/** So long after a check by a passkey it counts for whoever asks for one, as tools do that finish it elsewhere. */
const JUST_NOW_MS = 60_000;
const VERIFIED_FOR_MS = 5 * 60_000;

const verifyBody = schema<{ readonly method: VerifyMethod; readonly code?: string }>({
  type: 'object',
  additionalProperties: false,
  required: ['method'],
  properties: {
    method: { enum: ['2fa', 'passkey'] },
    code: { description: 'With `2fa`: of the authenticator, or a backup code.', type: 'string', maxLength: 64 },
    scope: { description: 'Ignored: a check counts for everything.' },
  },
});

/** The rows below `/api/verify`. */
export function verifyRoutes({ host, cookies, verification, need }: Tools): readonly ApiRoute[] {
  const common = { who: 'member', sessionOnly: true, tag: 'Verification' } as const;

  return [
    route({
      ...common,
      method: 'POST',
      path: '/api/verify',
      summary:
        'A check by a second factor: for five minutes, this session may do what is sensitive. With a passkey it begins here and is finished at /api/user/passkey/verify/finish.',
      body: verifyBody,
      answer: {
        anyOf: [
          verifiedAnswer,
          { ...ceremonyAnswer, properties: { verified: { const: false }, ...ceremonyAnswer.properties } },
        ],
      },
      async handle(request) {
        const { account, body } = request;
        const factors = need(SecondFactors);
        const session = sessionOf(request);
        if (body.method === '2fa') {
          const { code = missingCode() } = body;
          await factors.check(account.id, code);
          return verification.mark(request, '2fa');
        }
        const now = host.clock.now();
        if (session.verifiedUntilMs - VERIFIED_FOR_MS > now - JUST_NOW_MS) {
          return { verified: true, expires_at: secondsOf(session.verifiedUntilMs), method: 'passkey' };
        }
        return ceremony(cookies, await factors.beginPasskeyCheck(account, session.id), now, { verified: false });
      },
    }),
    route({
      ...common,
      method: 'GET',
      path: '/api/verify/status',
      summary: 'Whether a check is still valid.',
      answer: {
        type: 'object',
        required: ['verified'],
        properties: { verified: boolean, expires_at: unixSeconds },
      },
      handle(request) {
        const { verifiedUntilMs } = sessionOf(request);
        const verified = verifiedUntilMs >= host.clock.now();
        return { verified, ...(verified && { expires_at: secondsOf(verifiedUntilMs) }) };
      },
    }),
  ];
}

function missingCode(): never {
  refuse(400, 'invalid_request_error', '`code` is missing: that of the authenticator, or a backup code.', {
    param: 'code',
  });
}
