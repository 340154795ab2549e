/** The errors of calls that nothing pays for, and of balances and plans. */
import { defineErrors } from '../../core/sdk.ts';

/** All of calls have these headers: retrying does not help. */
const headers = { 'x-should-retry': 'false' };

/** Of layers that have too little left for a call. */
const ofLayers = defineErrors({
  QUOTA_USER_INSUFFICIENT: {
    status: 403,
    headers,
    help: 'The balance of the account is too low for this call. Top up, or request fewer output tokens.',
  },
  QUOTA_TOKEN_INSUFFICIENT: {
    status: 403,
    headers,
    help: 'The quota of the key is too low for this call. Raise it, or request fewer output tokens.',
  },
  QUOTA_MONTHLY_DAILY_EXCEEDED: {
    status: 403,
    headers,
    help: 'The daily limit of the plan has too little left for this call; the message says when it resets.',
  },
  QUOTA_MONTHLY_WEEKLY_EXCEEDED: {
    status: 403,
    headers,
    help: 'The weekly limit of the plan has too little left for this call; the message says when it resets.',
  },
  QUOTA_MONTHLY_EXCEEDED: {
    status: 403,
    headers,
    help: 'The 30-day limit of the plan has too little left for this call; the message says when it resets.',
  },
  QUOTA_DEPARTMENT_EXCEEDED: {
    status: 403,
    headers,
    help: 'A budget of the department has too little left for this call. Ask an administrator to raise it.',
  },
});

/** The code of a layer. */
export type LayerCode = keyof typeof ofLayers;

/** By their codes. */
export const errors = {
  ...ofLayers,
  ...defineErrors({
    QUOTA_SUBSCRIPTION_EXPIRED: {
      status: 403,
      headers,
      help: 'The plan has expired. Renew it, or have it cancelled to pay from the balance.',
    },
    QUOTA_HOLD_EXCEEDED: {
      status: 403,
      headers,
      help: 'The answer was cut off because it costs more than could be reserved for it. Top up, or request fewer output tokens.',
    },
    department_disabled: {
      status: 403,
      headers,
      text: (name: string) => `Department "${name}" is disabled; its members cannot make calls.`,
      help: 'The department is disabled; its members cannot make calls.',
    },
  }),
  ...defineErrors(
    {
      plan_not_found: {
        status: 404,
        text: (name: string) => `There is no plan "${name}".`,
        help: 'The plan does not exist.',
      },
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
