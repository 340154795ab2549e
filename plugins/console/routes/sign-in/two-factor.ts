/** Two-factor authentication: setup, removal, backup codes. */

import { SecondFactors } from '../../../../core/contracts/second-factors.ts';
import { sessionOf } from '../../access/guards.ts';
import { done } from '../../format/envelope.ts';
import { bodyOf, boolean, nothing, object, partly, text } from '../../format/schemas.ts';
import { type ApiRoute, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Two-factor sign-in');

const codeBody = bodyOf(['code'], {
  code: { description: 'A code of the authenticator, or a backup code.', type: 'string', maxLength: 64 },
});

const backupCodes = { description: 'Each can be used once.', type: 'array', items: text } as const;

export function twoFactorRoutes({ need, audited }: Tools): readonly ApiRoute[] {
  return [
    route('member', 'GET', '/api/user/2fa/status', {
      sessionOnly: true,
      summary: 'Returns whether two-factor authentication is enabled.',
      answer: partly(['enabled', 'locked'], {
        enabled: boolean,
        locked: { description: 'Too many wrong codes: codes are refused for some time.', type: 'boolean' },
        backup_codes_remaining: { description: 'Only if it is enabled.', type: 'integer' },
      }),
      async handle({ account }) {
        const { totp, lockedUntilMs, backupCodes } = await need(SecondFactors).status(account.id);
        return { enabled: totp, locked: lockedUntilMs > 0, ...(totp && { backup_codes_remaining: backupCodes }) };
      },
    }),
    route('member', 'POST', '/api/user/2fa/setup', {
      sessionOnly: true,
      verified: 'or-recent',
      errors: ['two_factor_enabled'],
      summary: 'Creates a secret for an authenticator and backup codes; discards an earlier setup.',
      answer: object({
        secret: { description: 'Base32.', type: 'string' },
        qr_code_data: { description: 'Same as otpauth.', type: 'string' },
        otpauth: { description: 'otpauth://totp/…', type: 'string' },
        qr: { description: 'The QR code as an SVG data URL.', type: 'string' },
        backup_codes: backupCodes,
      }),
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
    route('member', 'POST', '/api/user/2fa/enable', {
      sessionOnly: true,
      verified: 'or-recent',
      errors: ['two_factor_enabled', 'no_setup', 'wrong_code', 'session_wanted'],
      summary: 'Enables two-factor authentication with a code of the authenticator; ends all other sessions.',
      body: codeBody,
      answer: nothing,
      async handle(request) {
        const { account, body } = request;
        await need(SecondFactors).enable(
          account,
          body.code,
          sessionOf(request).id,
          audited(request, 'two-factor.enable'),
        );
        return done(null, { message: 'Two-factor sign-in is enabled.' });
      },
    }),
    route('member', 'POST', '/api/user/2fa/disable', {
      sessionOnly: true,
      errors: ['no_second_factor', 'wrong_code', 'codes_locked', 'session_wanted'],
      summary: 'Disables two-factor authentication; ends all other sessions.',
      body: codeBody,
      answer: nothing,
      async handle(request) {
        const { account, body } = request;
        const along = audited(request, 'two-factor.disable');
        await need(SecondFactors).disable(account, body.code, sessionOf(request).id, along);
        return done(null, { message: 'Two-factor sign-in is disabled.' });
      },
    }),
    route('member', 'POST', '/api/user/2fa/backup_codes', {
      sessionOnly: true,
      errors: ['no_second_factor', 'wrong_code', 'codes_locked', 'session_wanted'],
      summary:
        'Creates new backup codes, with a code of the authenticator; the old ones become invalid and all other sessions end.',
      body: codeBody,
      answer: object({ backup_codes: backupCodes }),
      async handle(request) {
        const { account, body } = request;
        const along = audited(request, 'two-factor.backup-codes');
        const codes = await need(SecondFactors).renewBackupCodes(account, body.code, sessionOf(request).id, along);
        return { backup_codes: codes };
      },
    }),
  ];
}
