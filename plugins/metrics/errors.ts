/** The error of `/metrics`. */
import { defineErrors } from '../../core/sdk.ts';

/** By its code. */
export const errors = defineErrors(
  {
    metrics_not_allowed: {
      status: [401, 403],
      help: '`/metrics` requires its token (`metrics.token`); without one, it answers direct local requests only.',
    },
  },
  'request',
);
