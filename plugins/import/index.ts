/** `turnpike import`: takes over channels, models, prices, users, keys and balances of another gateway. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { Audit } from '../../core/contracts/audit.ts';
import { Configuring } from '../../core/contracts/configuring.ts';
import { Departments } from '../../core/contracts/departments.ts';
import { Importing } from '../../core/contracts/importing.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { OAuth } from '../../core/contracts/oauth.ts';
import { Payments } from '../../core/contracts/payments.ts';
import { Prices } from '../../core/contracts/prices.ts';
import { Records } from '../../core/contracts/records.ts';
import { SecondFactors } from '../../core/contracts/second-factors.ts';
import { Sessions, Tickets } from '../../core/contracts/sessions.ts';
import { Site } from '../../core/contracts/site.ts';
import { Subscriptions } from '../../core/contracts/subscriptions.ts';
import { definePlugin } from '../../core/plugin.ts';
import { createImporting } from './console-runs.ts';
import { errors } from './errors.ts';
import { migrations } from './tables.ts';

export default definePlugin({
  name: 'import',
  api: 2,
  migrations,
  errors,
  provides: [Importing],
  needs: [Accounts, Departments, Keys, Ledger],
  wants: [Audit, Configuring, OAuth, Payments, Prices, Records, SecondFactors, Sessions, Site, Subscriptions, Tickets],
  create(host) {
    const importing = createImporting(host);
    host.provide(Importing, importing);
    return {
      start: importing.start,
      surrender: importing.surrender,
      commands: [
        {
          name: 'import',
          summary:
            'takes over users, balances, keys, channels, models, prices and settings of KIND: litellm, new-api, one-api, one-hub, or auto to find out. --dry-run changes nothing, --prove computes recorded calls again, --apply changes gateway.yaml, too, --update takes over what has changed there since, --follow repeats that until Ctrl-C, --history adds usage by day, --links makes links for new passwords',
          options: {
            'dry-run': { type: 'boolean' },
            prove: { type: 'boolean' },
            apply: { type: 'boolean' },
            update: { type: 'boolean' },
            follow: { type: 'boolean' },
            every: { type: 'string', value: 'DURATION' },
            history: { type: 'boolean' },
            links: { type: 'boolean' },
            'litellm-config': { type: 'string', value: 'FILE' },
            'litellm-costs': { type: 'string', value: 'FILE' },
            out: { type: 'string', value: 'DIRECTORY' },
          },
          positionals: ['KIND', 'FILE|URL|-'],
          // Loaded with its first run: other commands and the gateway do not need it.
          run: async (request) => (await import('./run.ts')).run(host, request),
        },
      ],
    };
  },
});
