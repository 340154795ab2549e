/** Keys: plays `admit`, where a call outside the key's scope or from a strange address ends. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { Catalog } from '../../core/contracts/catalog.ts';
import { FirstStart } from '../../core/contracts/first-start.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { definePlugin, refuse } from '../../core/plugin.ts';
import { createCommands } from './commands.ts';
import { createKeys, NO_RETRY } from './keys.ts';
import { migrations } from './tables.ts';

export default definePlugin({
  name: 'keys',
  api: 1,
  migrations,
  needs: [Accounts],
  wants: [Ledger, Catalog, FirstStart],
  provides: [Keys],
  create(host) {
    const keys = createKeys(host);
    host.provide(Keys, keys);
    return {
      admit(x) {
        const { key } = x.identity;
        keys.checkAddress(key, x.ip);
        // What core only carries may reach any model, so a key for some models has no business there.
        const passage = x.passage?.prefix;
        if (passage === undefined ? keys.allows(key, x.call.model) : key.models === undefined) return;
        const what = passage === undefined ? `the model "${x.call.model}"` : `${passage}: it is for some models only`;
        refuse(403, 'model_not_allowed', `The key "${key.name}" may not use ${what}.`, { param: 'model', ...NO_RETRY });
      },
      commands: createCommands(host, keys),
      start: () => keys.openFirst(),
    };
  },
});
