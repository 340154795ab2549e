/** Keys: plays `enter`, which refuses addresses that a key does not allow, and `admit`, which refuses models that it does not allow. */

import { Accounts } from '../../core/contracts/accounts.ts';
import { Audit } from '../../core/contracts/audit.ts';
import { Catalog } from '../../core/contracts/catalog.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { FirstStart } from '../../core/contracts/first-start.ts';
import { Groups } from '../../core/contracts/groups.ts';
import type { KeyRecord } from '../../core/contracts/identity.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { Prompts } from '../../core/contracts/prompts.ts';
import { RateLimits } from '../../core/contracts/rate-limits.ts';
import { StoredResponses } from '../../core/contracts/stored-responses.ts';
import { definePlugin, type Known, type Migration } from '../../core/plugin.ts';
import { createChore } from '../../core/sdk.ts';
import { createCommands } from './commands.ts';
import { errors } from './errors.ts';
import { createKeys } from './keys.ts';

/**
 * `hash` is the SHA-256 of the secret, whose 256 random bits need no slow hash. `models`, `addresses` and `limits` are JSON lists; NULL means
 * no restriction. `scope_name` is the name that the key was created with, NULL if that is `name`. `group_name` is an entry of the section `groups`; NULL: the account's group. A deleted key keeps its row, because usage records refer to it. `former_secret` has the hashes of rotated secrets that stay valid for
 * their grace period. The secrets of `adopted` keys were created by another gateway, so they have no check characters.
 */
const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'keys',
    sql: [
      `CREATE TABLE api_key (
        id INTEGER NOT NULL PRIMARY KEY,
        account_id INTEGER NOT NULL,
        name TEXT NOT NULL,
        hash BLOB NOT NULL UNIQUE,
        prefix TEXT NOT NULL,
        suffix TEXT NOT NULL,
        enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
        created_ms INTEGER NOT NULL,
        expires_ms INTEGER,
        models TEXT,
        addresses TEXT,
        revoked_ms INTEGER
      ) STRICT`,
      'CREATE INDEX api_key_account ON api_key (account_id)',
    ],
  },
  {
    id: 2,
    title: 'keys that want faithful translations',
    sql: ['ALTER TABLE api_key ADD COLUMN strict INTEGER NOT NULL DEFAULT 0 CHECK (strict IN (0, 1))'],
  },
  {
    id: 3,
    title: 'when a key was used, the one tools ask for, and secrets that were exchanged',
    sql: [
      'ALTER TABLE api_key ADD COLUMN used_ms INTEGER',
      'ALTER TABLE api_key ADD COLUMN is_default INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1))',
      'CREATE UNIQUE INDEX api_key_default ON api_key (account_id) WHERE is_default = 1 AND revoked_ms IS NULL',
      `CREATE TABLE former_secret (
        hash BLOB NOT NULL PRIMARY KEY,
        key_id INTEGER NOT NULL REFERENCES api_key (id),
        until_ms INTEGER NOT NULL
      ) STRICT`,
      'CREATE INDEX former_secret_key ON former_secret (key_id)',
      'CREATE INDEX former_secret_until ON former_secret (until_ms)',
    ],
  },
  {
    id: 4,
    title: 'keys of other gateways',
    sql: ['ALTER TABLE api_key ADD COLUMN adopted INTEGER NOT NULL DEFAULT 0 CHECK (adopted IN (0, 1))'],
    compatibleFrom: 3,
  },
  {
    id: 5,
    title: 'limits of keys',
    sql: ['ALTER TABLE api_key ADD COLUMN limits TEXT'],
    compatibleFrom: 3,
  },
  {
    id: 6,
    title: 'the names that scopes of gateway.yaml compare',
    sql: ['ALTER TABLE api_key ADD COLUMN scope_name TEXT'],
    compatibleFrom: 3,
  },
  {
    id: 7,
    title: 'the groups of channels that keys use',
    sql: ['ALTER TABLE api_key ADD COLUMN group_name TEXT'],
    compatibleFrom: 3,
  },
];

const TIDY_MS = 60_000;

/** Whether a key may not make passthrough requests: they may reach any model, and which one is not known. */
function isOfModels({ models, limits }: KeyRecord): boolean {
  return models !== undefined || limits?.some(({ model }) => model !== undefined) === true;
}

export default definePlugin({
  name: 'keys',
  api: 2,
  errors,
  migrations,
  needs: [Accounts],
  wants: [Ledger, RateLimits, Catalog, Groups, FirstStart, Audit, Prompts, StoredResponses],
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

    function checkScope({ identity: { key }, passthrough, call }: Known): void {
      if (passthrough === undefined ? keys.allows(key, call.model) : !isOfModels(key)) return;
      const what =
        passthrough === undefined
          ? `the model "${call.model}"`
          : `${passthrough.prefix}: it is limited to some models, or has limits for some`;
      throw coreErrors.model_not_allowed(key.name, what);
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
        await keys.lookForAdopted();
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
