/** The error of content that a rule does not allow. */
import { defineErrors } from '../../core/sdk.ts';

/** By its code. */
export const errors = defineErrors({
  content_refused: {
    status: 403,
    headers: { 'x-should-retry': 'false' },
    text: (what: string, rule: string) => `${what} has content that the rule '${rule}' of this gateway does not allow.`,
    help: 'The request or the answer has content that a rule of this gateway does not allow; the message names the rule.',
  },
});
