/** OAuth: sign-in with GitHub or any OpenID Connect provider; configured in `console.oauth`. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { OAuth } from '../../core/contracts/oauth.ts';
import { Tickets } from '../../core/contracts/sessions.ts';
import { type OAuthSettings, Site } from '../../core/contracts/site.ts';
import { definePlugin, type Migration, refuse } from '../../core/plugin.ts';
import { errors } from './errors.ts';
import { createFlows } from './flows.ts';
import { createGithub } from './github.ts';
import { createLinks } from './links.ts';
import { createOidc } from './oidc.ts';
import type { Provider } from './provider.ts';

/**
 * An identity is a provider and its subject: the same subject at another provider is another user. `issuer`: the link is valid only while the
 * provider of this name is that one; NULL: it was made by a sign-in here.
 */
const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'identities elsewhere',
    sql: [
      `CREATE TABLE oauth_link (
        provider TEXT NOT NULL,
        subject TEXT NOT NULL,
        account_id INTEGER NOT NULL,
        created_ms INTEGER NOT NULL,
        PRIMARY KEY (provider, subject),
        UNIQUE (account_id, provider)
      ) STRICT`,
    ],
  },
  {
    id: 2,
    title: 'the issuer of identities that another program recorded',
    compatibleFrom: 1,
    sql: ['ALTER TABLE oauth_link ADD COLUMN issuer TEXT'],
  },
];

/** Reserved provider names: they have another meaning in paths, or as sign-in methods. */
const TAKEN = ['state', 'email', 'password', 'passkey'];

export default definePlugin({
  name: 'oauth',
  api: 2,
  errors,
  migrations,
  needs: [Accounts, Tickets],
  wants: [Site],
  provides: [OAuth],
  create(host) {
    const made = new Map<string, Provider>();
    const settings = (): readonly (readonly [string, OAuthSettings])[] =>
      Object.entries(host.find(Site)?.oauth ?? {}).filter(([, { id }]) => id !== '');

    function providerOf(name: string): Provider {
      const [, providerSettings] =
        settings().find(([configured]) => configured === name) ?? refuse(errors.provider_not_found(name.slice(0, 50)));
      const provider = made.get(name) ?? create(providerSettings);
      made.set(name, provider);
      return provider;
    }

    function create(providerSettings: OAuthSettings): Provider {
      return providerSettings.type === 'github'
        ? createGithub(providerSettings, host)
        : createOidc({ ...providerSettings, issuer: providerSettings.issuer ?? '' }, host);
    }

    host.provide(OAuth, {
      // Looked up late: the console, which provides the configuration, may be created after this plugin.
      get providers() {
        return settings().map(([name]) => ({ name, label: providerOf(name).label }));
      },
      ...createFlows(host, () => host.find(Site)!, providerOf),
      ...createLinks(host, () => new Map(settings())),
    });
    return {
      report: () => settings().map(([name, { type }]) => `sign-in with ${name} (${type})`),
      link() {
        for (const [name, { type, issuer, secret }] of settings()) {
          const problem = (key: string, message: string): void =>
            host.problem(['console', 'oauth', name, key], message);
          if (TAKEN.includes(name)) host.problem(['console', 'oauth', name], 'is a reserved name: choose another');
          if (type === 'oidc' && (issuer === undefined || !URL.canParse(issuer)))
            problem('issuer', 'must be the URL of the provider, such as `https://id.example.com`');
          if (type === 'github' && secret === '')
            problem('secret', 'is empty; to disable the provider, leave `id` empty, too');
        }
      },
    };
  },
});
