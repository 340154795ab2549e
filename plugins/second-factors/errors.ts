/** The errors of second factors that no other plugin returns. */
import { defineErrors } from '../../core/sdk.ts';

/** By their codes. */
export const errors = defineErrors(
  {
    passkey_refused: { status: 403, help: 'The passkey was not accepted. Start again.' },
    no_setup: { status: 409, help: 'This setup has expired. Start it again.' },
    two_factor_enabled: { status: 409, help: 'Two-factor sign-in is already enabled. Disable it first.' },
    passkey_taken: { status: 409, help: 'This passkey belongs to another account.' },
    passkey_exists: { status: 409, help: 'The account already has a passkey. Remove it first.' },
    no_passkey: { status: 409, help: 'The account has no passkey.' },
    codes_locked: {
      status: 429,
      text: (seconds: number) => `Too many incorrect codes. Try again in ${seconds} s.`,
      help: 'Too many incorrect codes. Try again later; `retry-after` says when.',
    },
  },
  'api',
);
