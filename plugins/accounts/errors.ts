/** The errors of accounts that no other plugin returns. */
import { defineErrors } from '../../core/sdk.ts';

/** By their codes. */
export const errors = defineErrors(
  {
    invalid_email: { status: 400, param: 'email', help: 'This is not an email address, for example ann@example.com.' },
    invalid_password: {
      status: 400,
      param: 'password',
      text: (shortest: number, longest: number) => `A password must have ${shortest} to ${longest} characters.`,
      help: 'The password is too short or too long.',
    },
    common_password: { status: 400, param: 'password', help: 'This password is too common. Choose another one.' },
    invalid_token_addresses: {
      status: 400,
      param: 'addresses',
      help: 'The list is empty, or has an entry that is neither an IP address nor a network. Omit it to accept the token from every address.',
    },
    address_not_allowed: {
      status: 403,
      text: (name: string, ip: string) => `The service token "${name}" is not accepted from ${ip}.`,
      help: 'The service token is not accepted from this IP address.',
    },
    too_many_service_tokens: {
      status: 409,
      text: (most: number) => `An account can have ${most} service tokens. Revoke one that is not used any more.`,
      help: 'The account has too many service tokens. Revoke one that is not used any more.',
    },
    last_root: { status: 409, help: 'The last root account cannot be deleted, disabled or demoted.' },
  },
  'api',
);
