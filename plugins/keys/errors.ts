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
      invalid_limits: {
        status: 400,
        param: 'limits',
        help: 'A limit of the key limits nothing, has an amount out of range, or is for the same models as another one.',
      },
      limits_off: {
        status: 400,
        param: 'limits',
        text: (plugin: string) => `The plugin \`${plugin}\`, which would enforce this limit, is not in the pipeline.`,
        help: 'The plugin that would enforce this limit is not in the pipeline.',
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
