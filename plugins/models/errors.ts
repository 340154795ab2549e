/** The errors of channels, and of models that are to be added. */
import { defineErrors } from '../../core/sdk.ts';

/** By its code. */
export const errors = defineErrors(
  {
    channel_not_found: {
      status: 404,
      text: (name: string, hint: string) => `There is no channel '${name}'${hint}`,
      help: 'The channel does not exist.',
    },
    models_not_added: {
      status: 409,
      text: (why: string) => `Nothing was added to the configuration: ${why}.`,
      help: 'The models cannot be added to the configuration. The message has the reason.',
    },
  },
  'api',
);
