/**
 * Linked accounts: OAuth identities and the accounts they sign in to. They are linked only on a user's request, never because of an email
 * address.
 */
import { Accounts } from '../../core/contracts/accounts.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { Identity, OAuth } from '../../core/contracts/oauth.ts';
import type { Host } from '../../core/plugin.ts';
import { errors } from './errors.ts';

/** The part of the service about linked accounts. */
export type Links = Pick<OAuth, 'accountOf' | 'bind' | 'bindSteps' | 'unbind' | 'bindings'>;

/** Creates it. `configured`: the currently configured providers. */
export function createLinks(host: Host, configured: () => readonly string[]): Links {
  const { store, clock } = host;
  const accounts = host.use(Accounts);

  async function accountOf({ provider, subject }: Identity): Promise<number | undefined> {
    const sql = 'SELECT account_id AS id FROM oauth_link WHERE provider = ? AND subject = ?';
    const id = (await store.one<{ id: number }>(sql, provider, subject))?.id;
    if (id === undefined) return undefined;
    if ((await accounts.person(id))?.deletedMs === undefined) return id;
    // A user whose account was deleted may create another one.
    await store.run(
      'DELETE FROM oauth_link WHERE provider = ? AND subject = ? AND account_id = ?',
      provider,
      subject,
      id,
    );
    return undefined;
  }

  const bindSteps: Links['bindSteps'] = (accountId, { provider, subject }) => [
    {
      sql: 'INSERT INTO oauth_link (provider, subject, account_id, created_ms) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
      params: [provider, subject, accountId, clock.now()],
      must: 'identity_taken',
    },
  ];

  return {
    accountOf,
    bindSteps,

    async bind(accountId, identity, along = []) {
      const { provider } = identity;
      let owner = await accountOf(identity);
      if (owner === undefined) {
        const failed = await store.atomic([...bindSteps(accountId, identity), ...along]);
        if (failed === undefined) return;
        // Another request was faster, or the account is linked to another identity of the provider.
        owner = await accountOf(identity);
      }
      if (owner === undefined) throw errors.provider_bound(provider);
      if (owner !== accountId)
        throw coreErrors.identity_taken(`This ${provider} account is already linked to another user.`);
    },

    async unbind(accountId, provider, { keepOne = false, along = [] } = {}) {
      const others = keepOne ? configured().filter((name) => name !== provider) : [];
      const list = ["''", ...others.map(() => '?')].join(', ');
      const isOneLeft = `AND EXISTS (SELECT 1 FROM oauth_link WHERE account_id = ? AND provider IN (${list}))`;
      const failed = await store.atomic([
        {
          sql: `DELETE FROM oauth_link WHERE account_id = ? AND provider = ? ${keepOne ? isOneLeft : ''}`,
          params: [accountId, provider, ...(keepOne ? [accountId, ...others] : [])],
          must: 'there',
        },
        ...along,
      ]);
      if (failed === undefined) return true;
      const sql = 'SELECT 1 AS here FROM oauth_link WHERE account_id = ? AND provider = ?';
      if ((await store.one(sql, accountId, provider)) === undefined) return false;
      throw errors.last_login_method();
    },

    bindings: (accountId) =>
      store.all('SELECT provider, subject FROM oauth_link WHERE account_id = ? ORDER BY provider', accountId),
  };
}
