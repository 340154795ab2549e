/** Keys: plays `enter`, which refuses addresses that a key does not allow, and `admit`, which refuses models that it does not allow. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { Audit } from '../../core/contracts/audit.ts';
import { Catalog } from '../../core/contracts/catalog.ts';
import { FirstStart } from '../../core/contracts/first-start.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { Prompts } from '../../core/contracts/prompts.ts';
import { definePlugin, type Known } from '../../core/plugin.ts';
import { createChore } from '../../core/sdk.ts';
import { createCommands } from './commands.ts';
import { errors } from './errors.ts';
import { createKeys } from './keys.ts';
import { migrations } from './tables.ts';

const TIDY_MS = 60_000;

export default definePlugin({
  name: 'keys',
  api: 2,
  errors,
  migrations,
  needs: [Accounts],
  wants: [Ledger, Catalog, FirstStart, Audit, Prompts],
  provides: [Keys],
  create(host) {
    const keys = createKeys(host);
    host.provide(Keys, keys);
    const tidying = createChore(host, {
      everyMs: TIDY_MS,
      everywhere: true,
      work: keys.tidy,
      failure: 'could not write when keys were used',
    });

    function checkScope({ identity: { key }, passage, call }: Known): void {
      // Passthrough requests may reach any model, so a key that is limited to some models cannot make them.
      if (passage === undefined ? keys.allows(key, call.model) : key.models === undefined) return;
      const what =
        passage === undefined ? `the model "${call.model}"` : `${passage.prefix}: it is for some models only`;
      throw errors.model_not_allowed(key.name, what);
    }

    return {
      enter(x) {
        keys.checkAddress(x.identity.key, x.ip);
      },
      admit(x) {
        checkScope(x);
        keys.noteUse(x.identity.key);
      },
      *explain(x) {
        const { key } = x.identity;
        const { models, addresses } = key;
        yield models === undefined ? 'the key may use any model' : `the key may use ${models.join(', ')}`;
        if (addresses !== undefined) {
          yield `from ${addresses.join(', ')}${x.ip === '' ? '; whether the call comes from there is not checked' : ''}`;
          if (x.ip !== '') keys.checkAddress(key, x.ip);
        }
        checkScope(x);
      },
      commands: createCommands(host, keys),
      async start() {
        keys.listen();
        if (host.peers.leads()) await keys.openFirst();
        tidying.start();
      },
      async stop() {
        await tidying.stop();
        // The store may be closing: then a key's last use is at most a minute too early.
        await keys
          .tidy(() => true)
          .catch((error: unknown) => host.log.warn('could not write when keys were used', { error }));
      },
    };
  },
});
