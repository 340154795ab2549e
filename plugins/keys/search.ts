/** The conditions of key searches. */
import type { KeySearch } from '../../core/contracts/keys.ts';
import { all, type Condition, condition, contains, mentions } from '../../core/sdk.ts';
import { hashOf, isWellFormed } from './secret.ts';

/** The number of stored characters of a secret's end. */
const END = 4;

/** The condition of a search. */
export function conditionOf({ accountId, text, secret }: KeySearch): Condition {
  return all(
    condition('account_id = ?', accountId),
    condition('revoked_ms IS NULL'),
    mentions('name', text),
    secret !== undefined && isWellFormed(secret)
      ? condition('hash = ?', Buffer.from(hashOf(secret), 'hex'))
      : contains('suffix', secret?.slice(-END)),
  );
}
