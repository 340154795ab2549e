/** Converts rows of keys, and searches to their conditions. */
import type { KeyLimit, KeyRecord } from '../../core/contracts/identity.ts';
import type { KeyChanges, KeyOrder, KeySearch } from '../../core/contracts/keys.ts';
import type { Value } from '../../core/plugin.ts';
import { all, type Condition, condition, contains, LATEST_MS, mentions } from '../../core/sdk.ts';
import { hashOf, isWellFormed } from './secret.ts';

/** The number of stored characters of a secret's end. */
const END = 4;

/** The condition of a search. */
export function conditionOf({ accountId, text, secret, before }: KeySearch): Condition {
  return all(
    condition('account_id = ?', accountId),
    condition('revoked_ms IS NULL'),
    mentions('name', text),
    condition('id < ?', before),
    secret !== undefined && isWellFormed(secret)
      ? condition('hash = ?', Buffer.from(hashOf(secret), 'hex'))
      : contains('suffix', secret?.slice(-END)),
  );
}

/** The orders of a list. */
export const ORDERS: Readonly<Record<KeyOrder, string>> = {
  id: 'id',
  name: 'LOWER(name)',
  used: 'COALESCE(used_ms, 0)',
  expires: 'COALESCE(expires_ms, 0)',
};

/** One row of `api_key`, as `COLUMNS` select it. */
export interface KeyRow {
  readonly id: number;
  readonly account_id: number;
  readonly name: string;
  readonly prefix: string;
  readonly suffix: string;
  readonly enabled: number;
  readonly created_ms: number;
  readonly used_ms: number | null;
  readonly expires_ms: number | null;
  readonly models: string | null;
  readonly addresses: string | null;
  readonly strict: number;
  readonly limits: string | null;
  readonly scope_name: string | null;
  readonly group_name: string | null;
}

/** All columns, in the order of `valuesOf`. */
export const COLUMNS =
  'id, account_id, name, prefix, suffix, enabled, created_ms, used_ms, expires_ms, models, addresses, strict, limits, scope_name, group_name';

/** The values of a record. */
export function valuesOf(key: KeyRecord): readonly Value[] {
  return [
    key.id,
    key.accountId,
    key.name,
    key.prefix,
    key.suffix,
    key.enabled ? 1 : 0,
    key.createdMs,
    key.usedMs ?? null,
    key.expiresMs ?? null,
    listText(key.models),
    listText(key.addresses),
    key.strict ? 1 : 0,
    limitsText(key.limits),
    key.scopeName ?? null,
    key.group ?? null,
  ];
}

/** The columns that changes set, with their values. */
export function assignmentsOf(changes: KeyChanges): readonly (readonly [column: string, value: Value])[] {
  const { name, enabled, models, addresses, expiresMs, strict, limits, group } = changes;
  const set: (readonly [string, Value])[] = [];
  if (name !== undefined) set.push(['name', name]);
  if (enabled !== undefined) set.push(['enabled', enabled ? 1 : 0]);
  if (models !== undefined) set.push(['models', listText(models)]);
  if (addresses !== undefined) set.push(['addresses', listText(addresses)]);
  if (expiresMs !== undefined) set.push(['expires_ms', expiresMs]);
  if (strict !== undefined) set.push(['strict', strict ? 1 : 0]);
  if (limits !== undefined) set.push(['limits', limitsText(limits)]);
  if (group !== undefined) set.push(['group_name', group]);
  return set;
}

export function toKey(row: KeyRow): KeyRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    ...(row.scope_name !== null && row.scope_name !== row.name && { scopeName: row.scope_name }),
    prefix: row.prefix,
    suffix: row.suffix,
    enabled: row.enabled === 1,
    createdMs: row.created_ms,
    usedMs: row.used_ms ?? undefined,
    // Earlier versions accepted later ones from the command line.
    expiresMs: row.expires_ms === null ? undefined : Math.min(row.expires_ms, LATEST_MS),
    models: row.models === null ? undefined : (JSON.parse(row.models) as string[]),
    addresses: row.addresses === null ? undefined : (JSON.parse(row.addresses) as string[]),
    strict: row.strict === 1,
    limits: row.limits === null ? undefined : limitsIn(row.limits),
    ...(row.group_name !== null && { group: row.group_name }),
  };
}

function listText(list: readonly string[] | null | undefined): string | null {
  return list === undefined || list === null ? null : JSON.stringify(list);
}

/** Amounts are stored as text, because JSON has no bigint. No limits are NULL: calls of such a key test for that alone. */
function limitsText(limits: readonly KeyLimit[] | null | undefined): string | null {
  if (limits === undefined || limits === null || limits.length === 0) return null;
  return JSON.stringify(limits, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
}

function limitsIn(text: string): readonly KeyLimit[] {
  const limits = JSON.parse(text) as readonly (Omit<KeyLimit, 'budgets'> & {
    readonly budgets?: Readonly<Record<string, string>>;
  })[];
  return limits.map(({ budgets, ...rest }) => ({
    ...rest,
    ...(budgets && {
      budgets: Object.fromEntries(Object.entries(budgets).map(([period, amount]) => [period, BigInt(amount)])),
    }),
  }));
}
