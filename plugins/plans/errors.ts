/** The errors of plans: of calls that a subscription does not include, and of plans that do not exist. */
import { defineErrors } from '../../core/sdk.ts';

/** All of calls have these headers: retrying does not help. */
const headers = { 'x-should-retry': 'false' };
const noneLeft = (help: string) => ({ status: 403, headers, help });

/** By their codes. */
export const errors = {
  ...defineErrors({
    QUOTA_MONTHLY_DAILY_EXCEEDED: noneLeft(
      'The daily limit of the plan has too little left for this call; the message says when it resets.',
    ),
    QUOTA_MONTHLY_WEEKLY_EXCEEDED: noneLeft(
      'The weekly limit of the plan has too little left for this call; the message says when it resets.',
    ),
    QUOTA_MONTHLY_EXCEEDED: noneLeft(
      'The 30-day limit of the plan has too little left for this call; the message says when it resets.',
    ),
    QUOTA_SUBSCRIPTION_EXPIRED: noneLeft(
      'The plan has expired. Renew it, or have it cancelled to pay from the balance.',
    ),
  }),
  ...defineErrors(
    {
      plan_not_found: {
        status: 404,
        text: (name: string) => `There is no plan "${name}".`,
        help: 'The plan does not exist.',
      },
    },
    'api',
  ),
};
