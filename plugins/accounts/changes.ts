/** The statement that updates an account. */
import type { AccountChanges } from '../../core/contracts/accounts.ts';
import type { Json, JsonObject, Step, Value } from '../../core/plugin.ts';
import { fold, type PersonRow } from './people.ts';

/**
 * Writes only the changed columns, so that concurrent changes of others are kept. `must`: fails as `as it was` if the account or its
 * settings changed since they were read, or if the name or the address was taken.
 */
export function changeStep({ id, settings: before }: PersonRow, changes: AccountChanges): Step {
  const { name, email, displayName, group, remark, role, enabled, settings } = changes;
  const columns: readonly (readonly [column: string, value: Value | undefined])[] = [
    ['name', name],
    ['folded', name && fold(name)],
    ['email', email],
    ['email_folded', email && fold(email)],
    ['display_name', displayName],
    ['group_name', group],
    ['remark', remark],
    ['role', role],
    ['enabled', enabled === undefined ? undefined : enabled ? 1 : 0],
    ['settings', settings && JSON.stringify(merged(JSON.parse(before) as JsonObject, settings))],
  ];
  const written = columns.filter((pair): pair is [string, Value] => pair[1] !== undefined);
  const isFree = (column: string): string =>
    `NOT EXISTS (SELECT 1 FROM account AS other WHERE other.${column} = ? AND other.id <> account.id)`;
  return {
    sql: `UPDATE account SET ${['id = id', ...written.map(([column]) => `${column} = ?`)].join(', ')}
      WHERE id = ? AND deleted_ms IS NULL AND settings = ? AND ${isFree('folded')} AND ${isFree('email_folded')}`,
    params: [
      ...written.map(([, value]) => value),
      id,
      before,
      name === undefined ? null : fold(name),
      email ? fold(email) : null,
    ],
    must: 'as it was',
  };
}

/** Merges settings: null members are removed, others replace the stored ones. */
function merged(settings: JsonObject, changes: JsonObject): JsonObject {
  const entries: [string, Json][] = Object.entries({ ...settings, ...changes });
  return Object.fromEntries(entries.filter(([, value]) => value !== null));
}
