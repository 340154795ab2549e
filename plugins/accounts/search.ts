/** The conditions of account searches. */
import type { AccountSearch } from '../../core/contracts/accounts.ts';
import { all, type Condition, condition, contains, either, mentions } from '../../core/sdk.ts';
import { fold } from './people.ts';

const ID = /^\d{1,15}$/;

/** The condition of a search. */
export function conditionOf({ text = '', role, enabled, group, among, deleted = false }: AccountSearch): Condition {
  const term = text.normalize('NFC').trim();
  return all(
    condition(deleted ? 'deleted_ms IS NOT NULL' : 'deleted_ms IS NULL'),
    named(term),
    condition('role = ?', role),
    condition('enabled = ?', enabled === undefined ? undefined : enabled ? 1 : 0),
    condition('group_name = ?', group),
    among && oneOf(among),
  );
}

function oneOf(ids: readonly number[]): Condition {
  return { sql: ids.length === 0 ? '1 = 0' : `id IN (${ids.map(() => '?').join(', ')})`, params: ids };
}

function named(term: string): Condition | undefined {
  const folded = fold(term);
  return either(
    contains('folded', folded),
    contains('email_folded', folded),
    mentions('display_name', term),
    condition('id = ?', ID.test(term) ? Number(term) : undefined),
  );
}
