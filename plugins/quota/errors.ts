/** The errors of calls that no balance or budget pays, and of the ledger. */
import { defineErrors } from '../../core/sdk.ts';

/** The headers of all errors of calls: retrying does not help. */
const headers = { 'x-should-retry': 'false' };
const noneLeft = (help: string) => ({ status: 403, headers, help });

/** By their codes. */
export const errors = {
  ...defineErrors({
    QUOTA_USER_INSUFFICIENT: noneLeft(
      'The balance of the account is too low for this call. Top up, or request fewer output tokens.',
    ),
    QUOTA_TOKEN_INSUFFICIENT: noneLeft(
      'The quota of the key is too low for this call. Raise it, or request fewer output tokens.',
    ),
    QUOTA_TOKEN_PERIOD_EXCEEDED: noneLeft(
      'A daily, weekly or monthly budget of the key has too little left for this call; the message says when it resets.',
    ),
    QUOTA_DEPARTMENT_EXCEEDED: noneLeft(
      'A budget of the department has too little left for this call. Ask an administrator to raise it.',
    ),
    QUOTA_HOLD_EXCEEDED: noneLeft(
      'The answer was cut off because it costs more than could be reserved for it. Top up, or request fewer output tokens.',
    ),
    department_disabled: {
      status: 403,
      headers,
      text: (name: string) => `Department "${name}" is disabled; its members cannot make calls.`,
      help: 'The department is disabled; its members cannot make calls.',
    },
  }),
  ...defineErrors(
    {
      lease_not_returned: {
        status: 409,
        help: 'A process of the gateway does not answer. Try again in a few seconds.',
      },
    },
    'api',
  ),
  ...defineErrors(
    {
      layer_not_found: {
        status: 404,
        text: (kind: string, owner: number) => `There is no ${kind} ${owner} in the ledger.`,
        help: 'The ledger has no such account or key.',
      },
    },
    'command',
  ),
};
