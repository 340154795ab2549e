/**
 * Linked accounts: OAuth identities and the accounts they sign in to. They are linked only on a user's request, never because of an email
 * address.
 */
import { Accounts } from '../../core/contracts/accounts.ts';
import { coreErrors, notWritten } from '../../core/contracts/errors.ts';
import type { Identity, OAuth } from '../../core/contracts/oauth.ts';
import type { OAuthSettings } from '../../core/contracts/site.ts';
import type { Host } from '../../core/plugin.ts';
import { errors } from './errors.ts';
import { PUBLIC } from './github.ts';

/** The part of the service about linked accounts. */
export type Links = Pick<OAuth, 'accountOf' | 'adoptSteps' | 'bind' | 'bindSteps' | 'unbind' | 'bindings'>;

/** Creates it. `configured`: the currently configured providers, by name. */
export function createLinks(host: Host, configured: () => ReadonlyMap<string, OAuthSettings>): Links {
  const { store, clock } = host;
  const accounts = host.use(Accounts);

  async function accountOf({ provider, subject }: Identity): Promise<number | undefined> {
    const sql = 'SELECT account_id AS id, issuer FROM oauth_link WHERE provider = ? AND subject = ?';
    const row = await store.one<{ id: number; issuer: string | null }>(sql, provider, subject);
    if (row === undefined) return undefined;
    const { id, issuer } = row;
    const isOfProvider = issuer === null || issuer === issuerOf(configured().get(provider));
    if (isOfProvider && (await accounts.person(id))?.deletedMs === undefined) return id;
    // A user whose account was deleted may create another one; and an identity of another issuer is another user.
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

    async adoptSteps(accountId, { type, issuer: given, name, subject }) {
      const issuer = plainUrl(given);
      const providers = [...configured()];
      const [known] = providers.find(([, each]) => each.type === type && issuerOf(each) === issuer) ?? [];
      if (known === undefined && providers.some(([other]) => other === name))
        return `the provider ${name} of console.oauth is not ${issuer}`;
      const provider = known ?? name;
      const sql = 'SELECT account_id AS id FROM oauth_link WHERE provider = ? AND subject = ?';
      if ((await store.one(sql, provider, subject)) !== undefined) return 'an account here is linked to it';
      return {
        provider,
        isConfigured: known !== undefined,
        steps: [
          {
            sql: `INSERT INTO oauth_link (provider, subject, account_id, created_ms, issuer) VALUES (?, ?, ?, ?, ?)
              ON CONFLICT DO NOTHING`,
            params: [provider, subject, accountId, clock.now(), issuer],
          },
        ],
      };
    },

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
      const others = keepOne ? [...configured().keys()].filter((name) => name !== provider) : [];
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
      if (failed !== 'there') throw notWritten(failed);
      const sql = 'SELECT 1 AS here FROM oauth_link WHERE account_id = ? AND provider = ?';
      if ((await store.one(sql, accountId, provider)) === undefined) return false;
      throw errors.last_login_method();
    },

    bindings: (accountId) =>
      store.all('SELECT provider, subject FROM oauth_link WHERE account_id = ? ORDER BY provider', accountId),
  };
}

/** The issuer of a provider, to be compared; undefined if it is not configured. */
function issuerOf(settings: OAuthSettings | undefined): string | undefined {
  if (settings === undefined) return undefined;
  return plainUrl(settings.issuer ?? (settings.type === 'github' ? PUBLIC : ''));
}

/** A URL with its host in lower case and without slashes at its end. */
function plainUrl(url: string): string {
  return (URL.canParse(url) ? new URL(url).href : url).replace(/\/+$/, '');
}
