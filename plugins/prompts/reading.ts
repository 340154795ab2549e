/** Reading what is stored: who may, and that it is recorded. */

import { Audit } from '../../core/contracts/audit.ts';
import type { Account } from '../../core/contracts/identity.ts';
import type { ContentReader, Prompts, StoredContent } from '../../core/contracts/prompts.ts';
import type { Host } from '../../core/plugin.ts';
import { isListedWithId } from '../../core/sdk.ts';
import { errors } from './errors.ts';
import { deleteSteps, findRow, ownerOf } from './rows.ts';
import type { PromptsSection } from './section.ts';
import { placeOf, type Writer } from './writer.ts';

/** Makes the service. `keepMs`: 0 if nothing is stored. */
export function createReading(
  host: Host,
  { readers, own }: Pick<PromptsSection, 'readers' | 'own'>,
  keepMs: number,
  writer: Writer,
): Prompts {
  const { store, vault, clock } = host;
  const sinceMs = (): number => clock.now() - keepMs;

  function mayReadAll(account: Account): boolean {
    const { role } = account;
    return role === 'root' || (role === 'admin' && isListedWithId(readers, account));
  }

  function mayRead(account: Account, owner: number): boolean {
    return mayReadAll(account) || (own && owner === account.id);
  }

  return {
    async isReadable(callId, { account, ownOnly }) {
      if (keepMs === 0 || !(own || mayReadAll(account))) return false;
      await writer.written();
      const owner = await ownerOf(store, callId, sinceMs());
      return owner !== undefined && (!ownOnly || owner === account.id) && mayRead(account, owner);
    },

    async read(callId, { account, actor, ownOnly }: ContentReader) {
      // Without permission, a reader cannot find out whether the content of another user's call is stored.
      if (!ownOnly && !mayReadAll(account)) throw errors.content_not_allowed();
      await writer.written();
      const row = keepMs === 0 ? undefined : await findRow(store, callId, sinceMs());
      if (row === undefined || (ownOnly && row.accountId !== account.id)) throw errors.content_not_found();
      if (!mayRead(account, row.accountId)) throw errors.content_not_allowed();
      const content = JSON.parse(vault.open(placeOf(row.id), row.sealed)) as StoredContent;
      if (row.accountId !== account.id) {
        const facts = { user_id: row.accountId };
        await host.find(Audit)?.note({ actor, action: 'prompt.read', object: `call ${row.id}`, facts });
      }
      return content;
    },

    deleteSteps: (owner) =>
      'account' in owner
        ? deleteSteps('account', [owner.account], clock.now())
        : deleteSteps('key', owner.keys, clock.now()),
  };
}
