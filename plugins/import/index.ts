/** `turnpike import`: takes over channels, models, prices, users, keys and balances of another gateway. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { Audit } from '../../core/contracts/audit.ts';
import { Departments } from '../../core/contracts/departments.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { Prices } from '../../core/contracts/prices.ts';
import { Tickets } from '../../core/contracts/sessions.ts';
import { Site } from '../../core/contracts/site.ts';
import { definePlugin } from '../../core/plugin.ts';
import { migrations } from './tables.ts';

export default definePlugin({
  name: 'import',
  api: 2,
  migrations,
  needs: [Accounts, Departments, Keys, Ledger],
  wants: [Audit, Prices, Site, Tickets],
  create: (host) => ({
    commands: [
      {
        name: 'import',
        summary: 'takes over channels, models, prices, users, keys and balances of litellm, new-api or one-api',
        options: { 'dry-run': { type: 'boolean' }, out: { type: 'string', value: 'DIRECTORY' } },
        positionals: ['KIND', 'FILE|URL|-'],
        // Loaded with its first run: other commands and the gateway do not need it.
        run: async (request) => (await import('./run.ts')).run(host, request),
      },
    ],
  }),
});
