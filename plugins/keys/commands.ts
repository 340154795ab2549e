/** `key create`, `key edit`, `key list` and `key revoke`. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { Audit, COMMAND_LINE } from '../../core/contracts/audit.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { limitsText } from '../../core/contracts/key-limits.ts';
import type { KeyChanges, KeyRecord, Keys } from '../../core/contracts/keys.ts';
import { Ledger, MICRO } from '../../core/contracts/ledger.ts';
import { type Command, type CommandRequest, type Host, type Step, UsageError } from '../../core/plugin.ts';
import { durationMs, table } from '../../core/sdk.ts';
import { readLimits } from './limits-text.ts';

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
        limits: { type: 'string' },
      },
      async run({ values }) {
        const name = text(values, 'name');
        if (name === undefined) throw new UsageError('--name is missing');
        const expires = text(values, 'expires');
        const newKey = {
          name,
          allowance: readAllowance(text(values, 'quota'), values.unlimited === true),
          models: readIf(text(values, 'models'), listIn),
          addresses: readIf(text(values, 'ips'), listIn),
          expiresMs: expires === undefined ? undefined : host.clock.now() + readDuration(expires),
          strict: values.strict === true,
          limits: readIf(text(values, 'limits'), readLimits),
        };
        const user = text(values, 'user') ?? 'root';
        const account = await accounts.findByName(user);
        if (account === undefined) throw coreErrors.account_not_found(user);
        const { secret } = await keys.create({ ...newKey, accountId: account.id }, ({ id }) => noted(id, 'key.create'));
        return secret;
      },
    },
    {
      name: 'key edit',
      summary: 'changes a key; `all` removes a restriction of --models or --ips, `never` its expiry, `none` its limits',
      positionals: ['ID'],
      options: {
        name: { type: 'string' },
        quota: { type: 'string' },
        unlimited: { type: 'boolean' },
        models: { type: 'string' },
        ips: { type: 'string' },
        expires: { type: 'string' },
        limits: { type: 'string' },
      },
      async run({ values, positionals: [id] }) {
        const key = (await keys.list()).find((each) => `${each.id}` === id);
        if (key === undefined)
          throw id === undefined ? new UsageError(`key edit ${ID_MISSING}`) : coreErrors.key_not_found(id);
        const [models, ips, expires] = [text(values, 'models'), text(values, 'ips'), text(values, 'expires')];
        const [name, limits] = [text(values, 'name'), text(values, 'limits')];
        const changes: KeyChanges = {
          ...(name !== undefined && { name }),
          ...(models !== undefined && { models: models === 'all' ? null : listIn(models) }),
          ...(ips !== undefined && { addresses: ips === 'all' ? null : listIn(ips) }),
          ...(expires !== undefined && {
            expiresMs: expires === 'never' ? null : host.clock.now() + readDuration(expires),
          }),
          ...(limits !== undefined && { limits: readLimits(limits) }),
        };
        const quota = text(values, 'quota');
        const allowance = readAllowance(quota, values.unlimited === true);
        const isPaid = quota !== undefined || values.unlimited === true;
        if (!isPaid && Object.keys(changes).length === 0) throw new UsageError('key edit ID, and what to change');
        const layer = { kind: 'key', owner: key.id } as const;
        const paid = isPaid ? await host.find(Ledger)?.setAvailableSteps(layer, allowance, COMMAND_LINE.name) : [];
        const after = await keys.change(key.accountId, key.id, changes, [
          ...(paid ?? []),
          ...noted(key.id, 'key.change'),
        ]);
        return `changed ${id}; limits: ${limitsText(after.limits)}`;
      },
    },
    {
      name: 'key list',
      summary: 'lists keys without their secrets',
      options: { json: { type: 'boolean' } },
      async run({ values }) {
        const list = await keys.list();
        if (values.json === true) {
          return JSON.stringify(list.map((key) => ({ ...key, limits: key.limits && limitsText(key.limits) })));
        }
        const names = new Map((await accounts.list()).map((account) => [account.id, account.name]));
        return table([
          ['ID', 'NAME', 'USER', 'KEY', 'STATE', 'EXPIRES', 'MODELS', 'IPS', 'LIMITS', 'STRICT'],
          ...list.map((key) => [
            `${key.id}`,
            key.name,
            names.get(key.accountId) ?? '-',
            `${key.prefix}…${key.suffix}`,
            stateOf(key, host.clock.now()),
            key.expiresMs === undefined ? 'never' : new Date(key.expiresMs).toISOString(),
            key.models?.join(',') ?? 'all',
            key.addresses?.join(',') ?? 'all',
            limitsText(key.limits),
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
        if (id === undefined || !/^[1-9]\d{0,14}$/.test(id)) throw new UsageError(`key revoke ${ID_MISSING}`);
        if (!(await keys.revoke(Number(id), noted(Number(id), 'key.delete')))) throw coreErrors.key_not_found(id);
        return `revoked ${id}`;
      },
    },
  ];
}

const ID_MISSING = 'ID: the ID that `key list` shows';

function readIf<T>(value: string | undefined, read: (value: string) => T): T | undefined {
  return value === undefined ? undefined : read(value);
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
function listIn(value: string): readonly string[] {
  return value.split(',').map((item) => item.trim());
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
