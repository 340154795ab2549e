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
    last_root: { status: 409, help: 'The last root account cannot be deleted, disabled or demoted.' },
  },
  'api',
);
