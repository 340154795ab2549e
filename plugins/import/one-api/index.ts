/** Reads one-api and new-api, which grew out of it and kept its tables and identifiers: a SQLite file, or PostgreSQL. */
import { hash } from 'node:crypto';
import { MICRO } from '../../../core/contracts/ledger.ts';
import { inUnitsOf } from '../../../core/sdk.ts';
import { type Database, openDatabase } from '../databases.ts';
import type { ForeignDepartment, ForeignKey, ForeignUser, Inventory, Left } from '../inventory.ts';
import { readableName } from '../names.ts';
import { amountOf, asObject, floored, grantable, isTrue, numberOf, partsOf, type Row, textOf } from '../values.ts';
import { readChannels } from './channels.ts';
import { priceOf, type Ratios } from './prices.ts';

/** `users.role`. */
const ADMIN = 10;
const ROOT = 100;
/** `users.status`, `tokens.status`: 1 enabled, 2 disabled; tokens also 3 expired, 4 exhausted, which other columns say, too. */
const DISABLED = 2;
/** `redemptions.status` of a code that was not used. */
const UNUSED = 1;
const USUAL_QUOTA_PER_UNIT = 500_000n;
const MILLION = 1_000_000n;
/** The group of users of no other. */
const USUAL_GROUP = 'default';
/** What a header can carry. */
const SECRET = /^[\x21-\x2b\x2d-\x7e]{1,253}$/;

/** Everything in such a database. `perUnit`: quota units in one currency unit here. */
export async function readOneApi(kind: 'one-api' | 'new-api', address: string, perUnit: number): Promise<Inventory> {
  const database = await openDatabase(address);
  try {
    return await read(kind, database, BigInt(perUnit));
  } finally {
    await database.close();
  }
}

async function read(kind: 'one-api' | 'new-api', database: Database, perUnit: bigint): Promise<Inventory> {
  const [users, tokens, channels] = [
    await database.rows('users'),
    await database.rows('tokens'),
    await database.rows('channels'),
  ];
  if (users === undefined || tokens === undefined || channels === undefined) {
    throw new Error(`this is not a database of ${kind}: it does not have the tables users, tokens and channels`);
  }
  const options = optionsOf((await database.rows('options')) ?? []);
  const ratios = ratiosOf(options);
  const groupRatios = jsonOption(options, 'GroupRatio');
  const living = users.filter((row) => textOf(row, 'deleted_at') === undefined && numberOf(row, 'status') !== 3);
  const left: Left[] = [];
  const micro = (row: Row, column: string): bigint =>
    floored(BigInt(Math.trunc(numberOf(row, column) ?? 0)) * MICRO * perUnit, ratios.quotaPerUnit);

  if ((MICRO * perUnit) % ratios.quotaPerUnit !== 0n) {
    const why = `${ratios.quotaPerUnit} per dollar there, ${perUnit} here: amounts are rounded down to a millionth of a quota unit`;
    left.push({ what: 'balances', why });
  }
  const { departments, unknown } = departmentsOf(living, groupRatios);
  for (const group of unknown)
    left.push({ what: `group ${group}`, why: 'it has no ratio; its users pay the full price' });

  const placed = new Set(departments.map(({ id }) => id));
  const groupOfUser = new Map(living.map((row) => [textOf(row, 'id'), textOf(row, 'group') ?? USUAL_GROUP]));
  const keys: ForeignKey[] = [];
  for (const row of tokens.filter((token) => textOf(token, 'deleted_at') === undefined)) {
    if (groupOfUser.has(textOf(row, 'user_id'))) keys.push(keyOf(row, micro));
    else left.push({ what: `key ${textOf(row, 'name') ?? textOf(row, 'id')}`, why: 'its user was deleted' });
    const group = textOf(row, 'group');
    if (group !== undefined && group !== 'auto' && group !== groupOfUser.get(textOf(row, 'user_id'))) {
      const why = `the key has the group ${group}; the price factor is that of the department of its user`;
      left.push({ what: `group of the key ${textOf(row, 'name')}`, why });
    }
  }

  const upstreams = readChannels(kind, channels);
  const models = new Map(
    [...upstreams.models].map(([name, model]) => [name, { ...model, price: priceOf(name, ratios) }] as const),
  );
  for (const [name, { price }] of models) {
    if (price !== undefined) continue;
    const why = 'its ratios are not stored there: the list price applies, or the model needs a price here';
    left.push({ what: `price of ${name}`, why });
  }
  return {
    departments,
    users: living.map((row) => userOf(row, placed, micro)),
    keys,
    channels: upstreams.channels,
    models,
    aliases: new Map(),
    left: [...left, ...upstreams.left, ...(await othersOf(database, options, living))],
  };
}

/** The table `options` by key. */
function optionsOf(rows: readonly Row[]): Readonly<Record<string, string>> {
  return Object.fromEntries(rows.map((row) => [String(row.key), String(row.value ?? '')]));
}

function jsonOption(options: Readonly<Record<string, string>>, name: string): Row {
  try {
    return asObject(JSON.parse(options[name] ?? '{}'));
  } catch {
    return {};
  }
}

function ratiosOf(options: Readonly<Record<string, string>>): Ratios {
  const perUnit = amountOf(options.QuotaPerUnit);
  const whole = perUnit && perUnit.digits / 10n ** BigInt(perUnit.scale);
  return {
    quotaPerUnit: whole === undefined || whole === 0n ? USUAL_QUOTA_PER_UNIT : whole,
    model: jsonOption(options, 'ModelRatio'),
    completion: jsonOption(options, 'CompletionRatio'),
    price: jsonOption(options, 'ModelPrice'),
    cache: jsonOption(options, 'CacheRatio'),
    createCache: jsonOption(options, 'CreateCacheRatio'),
    audio: jsonOption(options, 'AudioRatio'),
    audioCompletion: jsonOption(options, 'AudioCompletionRatio'),
  };
}

/** A department for each group that users are in; the usual group needs none unless it has a ratio of its own. */
function departmentsOf(
  users: readonly Row[],
  ratios: Row,
): { readonly departments: readonly ForeignDepartment[]; readonly unknown: readonly string[] } {
  const groups = [...new Set(users.map((row) => textOf(row, 'group') ?? USUAL_GROUP))].sort();
  const departments = groups.flatMap((group): readonly ForeignDepartment[] => {
    const ratio = amountOf(ratios[group]) ?? { digits: 1n, scale: 0 };
    // Rounded up to a millionth: rounded down, calls would cost less than before.
    const scale = Math.max(6, ratio.scale);
    const factorPpm = Number(-floored(-inUnitsOf(ratio, scale), 10n ** BigInt(scale - 6)));
    if (group === USUAL_GROUP && BigInt(factorPpm) === MILLION) return [];
    return [{ id: group, name: readableName(group, USUAL_GROUP), factorPpm, enabled: true }];
  });
  return {
    departments,
    unknown: groups.filter((group) => group !== USUAL_GROUP && amountOf(ratios[group]) === undefined),
  };
}

function userOf(row: Row, placed: ReadonlySet<string>, micro: (row: Row, column: string) => bigint): ForeignUser {
  const role = numberOf(row, 'role') ?? 1;
  const id = textOf(row, 'id') ?? '';
  const group = textOf(row, 'group') ?? USUAL_GROUP;
  return {
    id,
    name: readableName(textOf(row, 'username'), `user-${id}`),
    displayName: textOf(row, 'display_name') && readableName(textOf(row, 'display_name'), `user-${id}`),
    email: textOf(row, 'email'),
    role: role >= ROOT ? 'root' : role >= ADMIN ? 'admin' : 'member',
    enabled: numberOf(row, 'status') !== DISABLED,
    group,
    remark: textOf(row, 'remark'),
    balance: micro(row, 'quota'),
    department: placed.has(group) ? group : undefined,
    isPerson: true,
  };
}

function keyOf(row: Row, micro: (row: Row, column: string) => bigint): ForeignKey {
  const stored = textOf(row, 'key') ?? '';
  // Keys are stored without the `sk-` that users see.
  const secret = stored.startsWith('sk-') ? stored : `sk-${stored}`;
  const digest = hash('sha256', secret, 'hex');
  const expires = numberOf(row, 'expired_time') ?? -1;
  const id = textOf(row, 'id') ?? '';
  return {
    id: digest,
    user: textOf(row, 'user_id') ?? '',
    name: readableName(textOf(row, 'name'), `key-${id}`),
    secret: SECRET.test(secret.slice(3))
      ? { hash: digest, prefix: secret.slice(0, 7), suffix: secret.slice(-4) }
      : undefined,
    allowance: isTrue(row, 'unlimited_quota') ? undefined : grantable(micro(row, 'remain_quota')),
    models: modelsOf(row),
    addresses: addressesOf(row),
    expiresMs: expires > 0 ? expires * 1_000 : undefined,
    enabled: numberOf(row, 'status') !== DISABLED,
  };
}

/** one-api has `models`, new-api a switch and `model_limits`. */
function modelsOf(row: Row): readonly string[] | undefined {
  const text =
    'model_limits_enabled' in row
      ? isTrue(row, 'model_limits_enabled') && textOf(row, 'model_limits')
      : textOf(row, 'models');
  const names = [...new Set(partsOf(text || undefined, ','))];
  return names.length === 0 ? undefined : names;
}

/** one-api has `subnet`, new-api `allow_ips`. */
function addressesOf(row: Row): readonly string[] | undefined {
  const addresses = [...new Set(partsOf(textOf(row, 'allow_ips') ?? textOf(row, 'subnet'), /[\s,]+/))];
  return addresses.length === 0 ? undefined : addresses;
}

/** What is not imported. */
async function othersOf(
  database: Database,
  options: Readonly<Record<string, string>>,
  users: readonly Row[],
): Promise<readonly Left[]> {
  const codes = ((await database.rows('redemptions')) ?? []).filter(
    (row) => numberOf(row, 'status') === UNUSED && textOf(row, 'deleted_at') === undefined,
  );
  const count = (column: string): number => users.filter((row) => (numberOf(row, column) ?? 0) > 0).length;
  const sso = ['github_id', 'oidc_id', 'wechat_id', 'telegram_id', 'lark_id', 'linux_do_id', 'discord_id'];
  const linked = users.filter((row) => sso.some((column) => textOf(row, column) !== undefined)).length;
  const isRateLimited = options.ModelRequestRateLimitEnabled === 'true';
  const rows: readonly (readonly [number, string, string])[] = [
    [Number(isRateLimited), 'rate limit of users and groups', 'set `limits` in gateway.yaml, or limits of single keys'],
    [codes.length, 'redemption codes that were not used', 'create new ones in the console'],
    [
      count('aff_quota'),
      'users with invitation rewards that they have not transferred',
      'invitation rewards are not supported',
    ],
    [linked, 'users with linked accounts of other services', 'users link them again after signing in'],
    [users.length, 'passwords', 'every user sets a new one'],
    [count('used_quota'), 'users with earlier spending', 'usage records are not imported'],
    [
      Object.keys(jsonOption(options, 'GroupGroupRatio')).length,
      'ratios of groups for other groups',
      'a department has one factor',
    ],
  ];
  return rows.filter(([number]) => number > 0).map(([number, what, why]) => ({ what: `${what} (${number})`, why }));
}
