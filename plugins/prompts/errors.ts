/** The errors of prompts and answers that cannot be read. */
import { defineErrors } from '../../core/sdk.ts';

/** By their codes. */
export const errors = defineErrors(
  {
    content_not_allowed: {
      status: 403,
      text: 'You may not read this prompt and answer. Permissions are set by `prompts.readers` and `prompts.own` in gateway.yaml.',
      help: 'You may not read this prompt and answer.',
    },
    content_not_found: {
      status: 404,
      param: 'request_id',
      help: 'The prompt and the answer of this call are not stored, or are older than the retention period.',
    },
  },
  'api',
);
