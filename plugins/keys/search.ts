/** Which keys a search means, as the condition of a query. */
import type { KeySearch } from '../../core/contracts/keys.ts';
import { all, type Condition, condition, contains, mentions } from '../../core/sdk.ts';
import { hashOf, isWellFormed } from './secret.ts';

/** How much of a secret's end is stored. */
const END = 4;

/** What the rows must meet. */
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
