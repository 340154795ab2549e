/** The errors of a sign-in with an OAuth account that no other plugin returns. */
import { defineErrors } from '../../core/sdk.ts';

/** By their codes. */
export const errors = defineErrors(
  {
    oauth_code: {
      status: 400,
      text: (why: string) => `This sign-in cannot be completed: ${why}. Start again.`,
      help: 'The provider did not accept this sign-in. Start again.',
    },
    provider_not_found: {
      status: 404,
      text: (name: string) => `The sign-in provider "${name}" is not configured.`,
      help: 'This sign-in provider is not configured.',
    },
    provider_bound: {
      status: 409,
      text: (provider: string) => `Another ${provider} account is already linked. Unlink it first.`,
      help: 'Another account of this provider is already linked. Unlink it first.',
    },
    last_login_method: {
      status: 409,
      help: 'This is the only way to sign in to this account. Set a password or add a passkey first.',
    },
    oauth_provider_failed: {
      status: 502,
      text: (name: string) => `${name} could not be reached, or returned an error.`,
      help: 'The provider could not be reached, or returned an error. Try again later.',
    },
  },
  'api',
);
