/** The errors of groups that no other plugin returns. */
import { defineErrors } from '../../core/sdk.ts';

/** By its code. */
export const errors = defineErrors({
  group_not_found: {
    status: 403,
    headers: { 'x-should-retry': 'false' },
    text: (group: string) => `The group "${group}" of this key does not exist. Ask an administrator.`,
    help: 'The group of the key, or of its account, is not in the configuration. Ask an administrator.',
  },
});
