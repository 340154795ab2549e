/** `key create`, `key edit`, `key list`, `key show`, `key rotate`, `key enable`, `key disable` and `key revoke`. */

import { Accounts } from '../../core/contracts/accounts.ts';
import { Audit, COMMAND_LINE } from '../../core/contracts/audit.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { KeyRecord } from '../../core/contracts/identity.ts';
import { limitsText } from '../../core/contracts/key-limits.ts';
import type { KeyChanges, Keys } from '../../core/contracts/keys.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { shownKey } from '../../core/contracts/shown.ts';
import {
  type Command,
  type CommandRequest,
  type Host,
  type JsonObject,
  refuse,
  type Step,
  UsageError,
} from '../../core/plugin.ts';
import { readDuration, readExpiry, readUnits, table } from '../../core/sdk.ts';
import { readLimits } from './limits-text.ts';

/** The longest time for which a replaced secret stays valid, as in `/api`. */
const LONGEST_GRACE_MS = 86_400_000;

/** The commands, on the service of this plugin. */
export function createCommands(host: Host, keys: Keys): readonly Command[] {
  const accounts = host.use(Accounts);

  const noted = (id: number, action: string, facts: JsonObject = {}): readonly Step[] =>
    host.find(Audit)?.steps({ actor: COMMAND_LINE, action, object: `key ${id}`, facts }) ?? [];

  /** The key with the id that was given. */
  async function given(id: string): Promise<KeyRecord> {
    const owner = await keys.ownerOf(readId(id));
    const key = owner === undefined ? undefined : await keys.get(owner, Number(id));
    return key ?? refuse(coreErrors.key_not_found(id));
  }

  /** The records of `/api`. `secret`: of the only one. */
  async function shown(list: readonly KeyRecord[], secret?: string) {
    const balances = await host.find(Ledger)?.balances(
      'key',
      list.map(({ id }) => id),
    );
    return list.map((key) => shownKey(key, balances?.get(key.id), host.clock.now(), secret));
  }

  const switching = (command: 'enable' | 'disable', enabled: boolean, summary: string): Command => ({
    name: `key ${command}`,
    summary,
    positionals: ['ID'],
    async run({ positionals: [id = ''] }) {
      const { accountId, id: keyId } = await given(id);
      const facts = { status: enabled ? 1 : 2, user_id: accountId };
      const after = await keys.change(accountId, keyId, { enabled }, noted(keyId, 'key.change', facts));
      return { text: `${command}d ${id}`, json: (await shown([after]))[0] };
    },
  });

  return [
    {
      name: 'key create',
      summary: "creates a key and prints it once; without --quota it is limited only by its account's balance",
      options: {
        name: { type: 'string', required: true },
        user: { type: 'string' },
        quota: { type: 'string' },
        unlimited: { type: 'boolean' },
        models: { type: 'string' },
        ips: { type: 'string' },
        expires: { type: 'string' },
        strict: { type: 'boolean' },
        limits: { type: 'string' },
        group: { type: 'string' },
      },
      async run({ values }) {
        const expires = text(values, 'expires');
        const newKey = {
          name: values.name as string,
          allowance: readAllowance(text(values, 'quota'), values.unlimited === true),
          models: readIf(text(values, 'models'), listIn),
          addresses: readIf(text(values, 'ips'), listIn),
          expiresMs: expires === undefined ? undefined : readExpiry(expires, host.clock.now()),
          strict: values.strict === true,
          limits: readIf(text(values, 'limits'), readLimits),
          group: text(values, 'group'),
        };
        const user = text(values, 'user') ?? 'root';
        const account = await accounts.findByName(user);
        if (account === undefined) throw coreErrors.account_not_found(user);
        const { secret, key } = await keys.create({ ...newKey, accountId: account.id }, ({ id }) =>
          noted(id, 'key.create'),
        );
        return { text: secret, json: (await shown([key], secret))[0] };
      },
    },
    {
      name: 'key edit',
      summary:
        'changes a key; `all` removes a restriction of --models or --ips, `never` its expiry, `none` its limits, `account` its group',
      positionals: ['ID'],
      options: {
        name: { type: 'string' },
        quota: { type: 'string' },
        unlimited: { type: 'boolean' },
        models: { type: 'string' },
        ips: { type: 'string' },
        expires: { type: 'string' },
        limits: { type: 'string' },
        group: { type: 'string' },
      },
      async run({ values, positionals: [id = ''] }) {
        const key = await given(id);
        const [models, ips, expires] = [text(values, 'models'), text(values, 'ips'), text(values, 'expires')];
        const [name, limits, group] = [text(values, 'name'), text(values, 'limits'), text(values, 'group')];
        const changes: KeyChanges = {
          ...(name !== undefined && { name }),
          ...(models !== undefined && { models: models === 'all' ? null : listIn(models) }),
          ...(ips !== undefined && { addresses: ips === 'all' ? null : listIn(ips) }),
          ...(expires !== undefined && {
            expiresMs: expires === 'never' ? null : readExpiry(expires, host.clock.now()),
          }),
          ...(limits !== undefined && { limits: readLimits(limits) }),
          ...(group !== undefined && { group: group === 'account' ? null : group }),
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
        return { text: `changed ${id}; limits: ${limitsText(after.limits)}`, json: (await shown([after]))[0] };
      },
    },
    {
      name: 'key list',
      summary: 'lists keys without their secrets',
      options: { user: { type: 'string' } },
      async run({ values }) {
        const user = text(values, 'user');
        const owner = user === undefined ? undefined : await accounts.findByName(user);
        if (user !== undefined && owner === undefined) throw coreErrors.account_not_found(user);
        const list = (await keys.list()).filter(({ accountId }) => owner === undefined || accountId === owner.id);
        const names = new Map((await accounts.list()).map((account) => [account.id, account.name]));
        const lines = table([
          ['ID', 'NAME', 'USER', 'KEY', 'STATE', 'EXPIRES', 'MODELS', 'IPS', 'LIMITS', 'GROUP', 'STRICT'],
          ...list.map((key) => [
            `${key.id}`,
            key.name,
            names.get(key.accountId) ?? '-',
            `${key.prefix}…${key.suffix}`,
            stateOf(key, host.clock.now()),
            timeOf(key.expiresMs),
            key.models?.join(',') ?? 'all',
            key.addresses?.join(',') ?? 'all',
            limitsText(key.limits),
            key.group ?? '-',
            key.strict ? 'yes' : 'no',
          ]),
        ]);
        return { text: lines, json: await shown(list) };
      },
    },
    {
      name: 'key show',
      summary: 'shows a key without its secret: state, last use, limits, and what it has used',
      positionals: ['ID'],
      async run({ positionals: [id = ''] }) {
        const key = await given(id);
        const [json] = await shown([key]);
        const { name = '-' } = (await accounts.find(key.accountId)) ?? {};
        const { unlimited_quota: isUnlimited, remain_quota: left, used_quota: used, held_quota: held } = json!;
        const lines = table([
          ['ID', `${key.id}`],
          ['NAME', key.name],
          ['USER', name],
          ['KEY', `${key.prefix}…${key.suffix}`],
          ['STATE', stateOf(key, host.clock.now())],
          ['CREATED', timeOf(key.createdMs)],
          ['LAST USED', timeOf(key.usedMs)],
          ['EXPIRES', timeOf(key.expiresMs)],
          ['QUOTA LEFT', isUnlimited ? 'unlimited' : `${left}`],
          ['USED', `${used}`],
          ['HELD', `${held}`],
          ['MODELS', key.models?.join(',') ?? 'all'],
          ['IPS', key.addresses?.join(',') ?? 'all'],
          ['LIMITS', limitsText(key.limits)],
          ['GROUP', key.group ?? 'that of its user'],
          ['STRICT', key.strict ? 'yes' : 'no'],
        ]);
        return { text: lines, json };
      },
    },
    {
      name: 'key rotate',
      summary:
        'replaces the secret of a key and prints the new one once; with --grace the old one works that much longer',
      positionals: ['ID'],
      options: { grace: { type: 'string', value: '1h' } },
      async run({ values, positionals: [id = ''] }) {
        const grace = text(values, 'grace');
        const graceMs = grace === undefined ? 0 : readDuration(grace, '--grace', LONGEST_GRACE_MS);
        const { accountId, id: keyId } = await given(id);
        const facts = { grace_seconds: graceMs / 1_000, user_id: accountId };
        const { secret, key } = await keys.rotate(accountId, keyId, graceMs, noted(keyId, 'key.rotate', facts));
        return { text: secret, json: (await shown([key], secret))[0] };
      },
    },
    switching('enable', true, 'enables a key'),
    switching('disable', false, 'disables a key: its calls are refused until it is enabled again'),
    {
      name: 'key revoke',
      summary: 'deletes a key; it stops working immediately',
      positionals: ['ID'],
      async run({ positionals: [id = ''] }) {
        const keyId = readId(id);
        if (!(await keys.revoke(keyId, noted(keyId, 'key.delete')))) throw coreErrors.key_not_found(id);
        return { text: `revoked ${id}`, json: { id: keyId } };
      },
    },
  ];
}

function readId(id: string): number {
  if (/^[1-9]\d{0,14}$/.test(id)) return Number(id);
  throw new UsageError(`ID must be an ID that \`key list\` shows, not "${id}"`);
}

const timeOf = (ms: number | undefined): string => (ms === undefined ? 'never' : new Date(ms).toISOString());

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
  return readUnits(quota, '--quota');
}

/** `a,b` → two names; empty ones are refused where names are validated. */
function listIn(value: string): readonly string[] {
  return value.split(',').map((item) => item.trim());
}

function stateOf(key: KeyRecord, nowMs: number): string {
  if (!key.enabled) return 'disabled';
  return key.expiresMs !== undefined && key.expiresMs <= nowMs ? 'expired' : 'enabled';
}
