/** `key create`, `key list` and `key revoke`. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { Audit, COMMAND_LINE } from '../../core/contracts/audit.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { KeyRecord, Keys } from '../../core/contracts/keys.ts';
import { MICRO } from '../../core/contracts/ledger.ts';
import { type Command, type CommandRequest, type Host, type Step, UsageError } from '../../core/plugin.ts';
import { durationMs, table } from '../../core/sdk.ts';

/** The commands, on the service of this plugin. */
export function createCommands(host: Host, keys: Keys): readonly Command[] {
  const accounts = host.use(Accounts);

  const noted = (id: number, action: string): readonly Step[] =>
    host.find(Audit)?.steps({ actor: COMMAND_LINE, action, object: `key ${id}` }) ?? [];

  return [
    {
      name: 'key create',
      summary: "creates a key and prints it once; without --quota it is limited only by its account's balance",
      options: {
        name: { type: 'string' },
        user: { type: 'string' },
        quota: { type: 'string' },
        unlimited: { type: 'boolean' },
        models: { type: 'string' },
        ips: { type: 'string' },
        expires: { type: 'string' },
        strict: { type: 'boolean' },
      },
      async run({ values }) {
        const name = text(values, 'name');
        if (name === undefined) throw new UsageError('--name is missing');
        const expires = text(values, 'expires');
        const newKey = {
          name,
          allowance: readAllowance(text(values, 'quota'), values.unlimited === true),
          models: readList(text(values, 'models')),
          addresses: readList(text(values, 'ips')),
          expiresMs: expires === undefined ? undefined : host.clock.now() + readDuration(expires),
          strict: values.strict === true,
        };
        const user = text(values, 'user') ?? 'root';
        const account = await accounts.findByName(user);
        if (account === undefined) throw coreErrors.account_not_found(user);
        const { secret } = await keys.create({ ...newKey, accountId: account.id }, ({ id }) => noted(id, 'key.create'));
        return secret;
      },
    },
    {
      name: 'key list',
      summary: 'lists keys without their secrets',
      options: { json: { type: 'boolean' } },
      async run({ values }) {
        const list = await keys.list();
        if (values.json === true) return JSON.stringify(list);
        const names = new Map((await accounts.list()).map((account) => [account.id, account.name]));
        return table([
          ['ID', 'NAME', 'USER', 'KEY', 'STATE', 'EXPIRES', 'MODELS', 'IPS', 'STRICT'],
          ...list.map((key) => [
            `${key.id}`,
            key.name,
            names.get(key.accountId) ?? '-',
            `${key.prefix}…${key.suffix}`,
            stateOf(key, host.clock.now()),
            key.expiresMs === undefined ? 'never' : new Date(key.expiresMs).toISOString(),
            key.models?.join(',') ?? 'all',
            key.addresses?.join(',') ?? 'all',
            key.strict ? 'yes' : 'no',
          ]),
        ]);
      },
    },
    {
      name: 'key revoke',
      summary: 'deletes a key; it stops working immediately',
      positionals: ['ID'],
      async run({ positionals: [id] }) {
        if (id === undefined || !/^[1-9]\d{0,14}$/.test(id))
          throw new UsageError('key revoke ID: the ID that `key list` shows');
        if (!(await keys.revoke(Number(id), noted(Number(id), 'key.delete')))) throw coreErrors.key_not_found(id);
        return `revoked ${id}`;
      },
    },
  ];
}

function text(values: CommandRequest['values'], name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

function readAllowance(quota: string | undefined, unlimited: boolean): bigint | undefined {
  if (quota === undefined) return undefined;
  if (unlimited) throw new UsageError('--quota and --unlimited contradict each other');
  if (!/^\d{1,12}$/.test(quota)) throw new UsageError(`--quota must be a whole number of quota units, not "${quota}"`);
  return BigInt(quota) * MICRO;
}

/** `a,b` → two names; empty ones are refused where names are validated. */
function readList(value: string | undefined): readonly string[] | undefined {
  return value?.split(',').map((item) => item.trim());
}

function readDuration(value: string): number {
  try {
    return durationMs(value);
  } catch {
    throw new UsageError(`--expires must be a duration such as 12h or 30d, not "${value}"`);
  }
}

function stateOf(key: KeyRecord, nowMs: number): string {
  if (!key.enabled) return 'disabled';
  return key.expiresMs !== undefined && key.expiresMs <= nowMs ? 'expired' : 'enabled';
}
