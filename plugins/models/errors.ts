/** The error of a channel that is not configured. */
import { defineErrors } from '../../core/sdk.ts';

/** By its code. */
export const errors = defineErrors(
  {
    channel_not_found: {
      status: 404,
      text: (name: string, hint: string) => `There is no channel '${name}'${hint}`,
      help: 'The channel does not exist.',
    },
  },
  'api',
);
