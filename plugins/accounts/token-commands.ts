/** `token create`, `token list` and `token revoke`. */
import type { Accounts } from '../../core/contracts/accounts.ts';
import { Audit, COMMAND_LINE } from '../../core/contracts/audit.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import {
  SERVICE_SCOPES,
  type ServiceScope,
  type ServiceToken,
  type ServiceTokens,
} from '../../core/contracts/service-tokens.ts';
import { type Command, type Host, type Step, UsageError } from '../../core/plugin.ts';
import { durationMs, table } from '../../core/sdk.ts';

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
        name: { type: 'string' },
        user: { type: 'string' },
        scopes: { type: 'string', value: 'keys:write,users:read,…' },
        ips: { type: 'string' },
        expires: { type: 'string' },
      },
      async run({ values }) {
        const { name, user = 'root', scopes, ips, expires = '90d' } = values as Readonly<Record<string, string>>;
        if (name === undefined) throw new UsageError('--name is missing');
        const account = await accounts.findByName(user);
        if (account === undefined) throw coreErrors.account_not_found(user);
        if (account.role === 'member') throw new UsageError(`--user: ${user} is not an administrator`);
        const newToken = {
          name,
          accountId: account.id,
          scopes: readScopes(scopes),
          addresses: ips?.split(',').map((each) => each.trim()),
          expiresMs: host.clock.now() + readDuration(expires),
        };
        const { secret } = await tokens.create(newToken, (id) =>
          noted(id, 'service-token.create', { name, user: account.name, scopes: newToken.scopes }),
        );
        return secret;
      },
    },
    {
      name: 'token list',
      summary: 'lists service tokens without their secrets',
      options: { json: { type: 'boolean' } },
      async run({ values }) {
        const list = await tokens.list();
        if (values.json === true) return JSON.stringify(list);
        const names = new Map((await accounts.list()).map(({ id, name }) => [id, name]));
        const time = (ms: number | undefined): string => (ms === undefined ? 'never' : new Date(ms).toISOString());
        return table([
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
        return `revoked ${id}`;
      },
    },
  ];
}

function readScopes(text: string | undefined): readonly ServiceScope[] {
  if (text === undefined) throw new UsageError('--scopes is missing, for example --scopes keys:write,usage:read');
  return text.split(',').map((given) => {
    const scope = SERVICE_SCOPES.find((each) => each === given.trim());
    if (scope === undefined) {
      throw new UsageError(`--scopes: there is no scope "${given}"; the scopes are ${SERVICE_SCOPES.join(', ')}`);
    }
    return scope;
  });
}

function readDuration(value: string): number {
  try {
    return durationMs(value);
  } catch {
    throw new UsageError(`--expires must be a duration such as 12h or 30d, not "${value}"`);
  }
}

function stateOf({ revokedMs, expiresMs }: ServiceToken, nowMs: number): string {
  if (revokedMs !== undefined) return 'revoked';
  return expiresMs <= nowMs ? 'expired' : 'valid';
}
