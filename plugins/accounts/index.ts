/** Accounts: who pays. Makes `root` on the first start. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { FirstStart } from '../../core/contracts/first-start.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { definePlugin } from '../../core/plugin.ts';
import { createAccounts } from './accounts.ts';
import { createCommands } from './commands.ts';
import { createPasswords } from './passwords.ts';
import { migrations } from './tables.ts';

export default definePlugin({
  name: 'accounts',
  api: 1,
  migrations,
  wants: [Ledger, FirstStart],
  provides: [Accounts],
  create(host) {
    const passwords = host.lasting('passwords', createPasswords);
    const accounts = createAccounts(host, passwords);
    host.provide(Accounts, accounts);
    return {
      commands: createCommands(host, accounts),
      // An empty variable is what a deployment leaves where nobody filled it in.
      start: () => accounts.openRoot(host.env.TURNPIKE_ROOT_PASSWORD || undefined),
    };
  },
});
