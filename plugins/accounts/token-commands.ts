/** `token create`, `token list` and `token revoke`. */

import type { Accounts } from '../../core/contracts/accounts.ts';
import { Audit, COMMAND_LINE } from '../../core/contracts/audit.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { ServiceScope, ServiceToken } from '../../core/contracts/identity.ts';
import { SERVICE_SCOPES, SERVICE_TOKEN_MOST, type ServiceTokens } from '../../core/contracts/service-tokens.ts';
import { shownToken } from '../../core/contracts/shown.ts';
import { type Command, type Host, type Step, UsageError } from '../../core/plugin.ts';
import { nearest, readExpiry, table } from '../../core/sdk.ts';

const LONGEST_MS = SERVICE_TOKEN_MOST.days * 86_400_000;

/** The commands, on the service of this plugin. */
export function createTokenCommands(host: Host, accounts: Accounts, tokens: ServiceTokens): readonly Command[] {
  const noted = (id: number, action: string, facts = {}): readonly Step[] =>
    host.find(Audit)?.steps({ actor: COMMAND_LINE, action, object: `service-token ${id}`, facts }) ?? [];

  return [
    {
      name: 'token create',
      summary:
        'creates a service token for /api and prints it once; it acts as the administrator USER, root by default',
      options: {
        name: { type: 'string', required: true },
        user: { type: 'string' },
        scopes: { type: 'string', value: 'keys:write,users:read,…', required: true },
        ips: { type: 'string' },
        expires: { type: 'string' },
      },
      async run({ values }) {
        const {
          name = '',
          user = 'root',
          scopes = '',
          ips,
          expires = '90d',
        } = values as Readonly<Record<string, string>>;
        const account = await accounts.findByName(user);
        if (account === undefined) throw coreErrors.account_not_found(user);
        if (account.role === 'member') throw new UsageError(`--user: ${user} is not an administrator`);
        const newToken = {
          name,
          accountId: account.id,
          scopes: readScopes(scopes),
          addresses: ips?.split(',').map((each) => each.trim()),
          expiresMs: readExpiry(expires, host.clock.now(), LONGEST_MS),
        };
        const { secret, token } = await tokens.create(newToken, (id) =>
          noted(id, 'service-token.create', { name, user: account.name, scopes: newToken.scopes }),
        );
        return { text: secret, json: { ...shownToken(token, account.name, host.clock.now()), secret } };
      },
    },
    {
      name: 'token list',
      summary: 'lists service tokens without their secrets',
      async run() {
        const list = await tokens.list();
        const names = new Map((await accounts.list()).map(({ id, name }) => [id, name]));
        const time = (ms: number | undefined): string => (ms === undefined ? 'never' : new Date(ms).toISOString());
        const lines = table([
          ['ID', 'NAME', 'USER', 'TOKEN', 'STATE', 'EXPIRES', 'LAST USED', 'SCOPES', 'IPS'],
          ...list.map((token) => [
            `${token.id}`,
            token.name,
            names.get(token.accountId) ?? '-',
            `…${token.suffix}`,
            stateOf(token, host.clock.now()),
            time(token.expiresMs),
            time(token.usedMs),
            token.scopes.join(','),
            token.addresses?.join(',') ?? 'all',
          ]),
        ]);
        return {
          text: lines,
          json: list.map((token) => shownToken(token, names.get(token.accountId), host.clock.now())),
        };
      },
    },
    {
      name: 'token revoke',
      summary: 'revokes a service token; it stops working immediately',
      positionals: ['ID'],
      async run({ positionals: [id] }) {
        if (id === undefined || !/^[1-9]\d{0,14}$/.test(id))
          throw new UsageError('token revoke ID: the ID that `token list` shows');
        if (!(await tokens.revoke(Number(id), noted(Number(id), 'service-token.revoke')))) {
          throw coreErrors.service_token_not_found();
        }
        return { text: `revoked ${id}`, json: { id: Number(id) } };
      },
    },
  ];
}

function readScopes(text: string): readonly ServiceScope[] {
  const scopes = text.split(',').map((given) => {
    const scope = SERVICE_SCOPES.find((each) => each === given.trim());
    if (scope === undefined) {
      const near = nearest(given.trim(), SERVICE_SCOPES);
      const hint = near === undefined ? `the scopes are ${SERVICE_SCOPES.join(', ')}` : `did you mean ${near}?`;
      throw new UsageError(`--scopes: there is no scope "${given}"; ${hint}`);
    }
    return scope;
  });
  return [...new Set(scopes)];
}

function stateOf({ revokedMs, expiresMs }: ServiceToken, nowMs: number): string {
  if (revokedMs !== undefined) return 'revoked';
  return expiresMs <= nowMs ? 'expired' : 'valid';
}
