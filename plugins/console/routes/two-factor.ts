/** Two-factor sign-in: setting it up, taking it away, its backup codes. */
import { SecondFactors } from '../../../core/contracts/second-factors.ts';
import { schema } from '../../../core/plugin.ts';
import { sessionOf } from '../access.ts';
import { done } from '../envelope.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { boolean, nothing, text } from '../schemas.ts';

const codeBody = schema<{ readonly code: string }>({
  type: 'object',
  additionalProperties: false,
  required: ['code'],
  properties: { code: { description: 'Of the authenticator, or a backup code.', type: 'string', maxLength: 64 } },
});

const backupCodes = { description: 'Good once each.', type: 'array', items: text } as const;

/** The rows below `/api/user/2fa`. */
export function twoFactorRoutes({ need, audited }: Tools): readonly ApiRoute[] {
  const common = { who: 'member', sessionOnly: true, tag: 'Two-factor sign-in' } as const;

  return [
    route({
      ...common,
      method: 'GET',
      path: '/api/user/2fa/status',
      summary: 'Whether two-factor sign-in is enabled.',
      answer: {
        type: 'object',
        required: ['enabled', 'locked'],
        properties: {
          enabled: boolean,
          locked: { description: 'Too many codes were wrong: for now none is taken.', type: 'boolean' },
          backup_codes_remaining: { description: 'Where it is enabled.', type: 'integer' },
        },
      },
      async handle({ account }) {
        const { totp, lockedUntilMs, backupCodes } = await need(SecondFactors).status(account.id);
        return { enabled: totp, locked: lockedUntilMs > 0, ...(totp && { backup_codes_remaining: backupCodes }) };
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/api/user/2fa/setup',
      verified: 'or-recent',
      errors: ['two_factor_enabled'],
      summary: 'Makes a secret for an authenticator, and backup codes; a set-up before that is void.',
      answer: {
        type: 'object',
        required: ['secret', 'qr_code_data', 'otpauth', 'qr', 'backup_codes'],
        properties: {
          secret: { description: 'Base32.', type: 'string' },
          qr_code_data: { description: 'The same as otpauth.', type: 'string' },
          otpauth: { description: 'otpauth://totp/…', type: 'string' },
          qr: { description: 'The same as a picture: an address with the data of an SVG image.', type: 'string' },
          backup_codes: backupCodes,
        },
      },
      async handle(request) {
        const { secret, uri, qr, backupCodes } = await need(SecondFactors).setUp(request.account);
        return {
          secret,
          qr_code_data: uri,
          otpauth: uri,
          qr: `data:image/svg+xml;base64,${Buffer.from(qr).toString('base64')}`,
          backup_codes: backupCodes,
        };
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/api/user/2fa/enable',
      verified: 'or-recent',
      errors: ['two_factor_enabled', 'no_setup', 'wrong_code', 'session_wanted'],
      summary: 'Enables what was set up, with a code of it; ends all other sessions.',
      body: codeBody,
      answer: nothing,
      async handle(request) {
        const factors = need(SecondFactors);
        const { account, body } = request;
        const along = audited(request, 'two-factor.enable', `user ${account.id}`);
        await factors.enable(account, body.code, sessionOf(request).id, along);
        return done(null, { message: 'Two-factor sign-in is enabled.' });
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/api/user/2fa/disable',
      errors: ['no_second_factor', 'wrong_code', 'codes_locked', 'session_wanted'],
      summary: 'Disables it; ends all other sessions.',
      body: codeBody,
      answer: nothing,
      async handle(request) {
        const { account, body } = request;
        const along = audited(request, 'two-factor.disable', `user ${account.id}`);
        await need(SecondFactors).disable(account, body.code, sessionOf(request).id, along);
        return done(null, { message: 'Two-factor sign-in is disabled.' });
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/api/user/2fa/backup_codes',
      errors: ['no_second_factor', 'wrong_code', 'codes_locked', 'session_wanted'],
      summary:
        'Makes new backup codes, with a code of the authenticator; those before are void, and all other sessions end.',
      body: codeBody,
      answer: { type: 'object', required: ['backup_codes'], properties: { backup_codes: backupCodes } },
      async handle(request) {
        const { account, body } = request;
        const along = audited(request, 'two-factor.backup-codes', `user ${account.id}`);
        const codes = await need(SecondFactors).renewBackupCodes(account, body.code, sessionOf(request).id, along);
        return { backup_codes: codes };
      },
    }),
  ];
}
