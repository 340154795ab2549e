/** The errors of keys: what one may not be used for, and what cannot be written into one. */
import { defineErrors } from '../../core/sdk.ts';

const headers = { 'x-should-retry': 'false' };

/** By their codes. */
export const errors = {
  ...defineErrors({
    ip_not_allowed: {
      status: 403,
      headers,
      text: (key: string, ip: string) => `The key "${key}" may not be used from ${ip}.`,
      help: 'The key may not be used from this IP address.',
    },
    model_not_allowed: {
      status: 403,
      param: 'model',
      headers,
      text: (key: string, what: string) => `The key "${key}" may not use ${what}.`,
      help: 'The key may not use this model.',
    },
  }),
  ...defineErrors(
    {
      invalid_models: {
        status: 400,
        param: 'models',
        help: 'The list of models is empty, or names a model that does not exist. Omit it to allow every model.',
      },
      invalid_addresses: {
        status: 400,
        param: 'addresses',
        help: 'The list is empty, or has an entry that is neither an IP address nor a network. Omit it to allow every address.',
      },
      too_many_keys: {
        status: 409,
        text: (most: number) => `An account can have ${most} keys. Delete one that is not used any more.`,
        help: 'An account can have a thousand keys. Delete one that is not used any more.',
      },
    },
    'api',
  ),
};
