/**
 * The size of each account's stored responses: a sum that is updated with every response, and the deletion of the oldest
 * responses beyond the budget.
 */
import type { Host, Invariant, Step } from '../../../core/plugin.ts';
import type { Budget } from './keeping.ts';

/** Bytes of a row's texts. */
const SIZE = 'octet_length(input) + octet_length(response)';
/** The maximum responses that one list of steps deletes. */
const BITE = 64;

/** The account and the key that a response belongs to. */
export interface Owner {
  readonly accountId: number;
  readonly keyId: number;
}

/** Whether neither its account nor its key was deleted: a condition on columns of these names, or on parameters. */
export function isOwned(account: string, key: string): string {
  return `NOT EXISTS (
    SELECT 1 FROM response_ended WHERE kind = 'account' AND owner = ${account} OR kind = 'key' AND owner = ${key})`;
}

/** The step that counts a response which the next step writes; one that exists already is not counted again. */
export function countStep({ accountId, keyId }: Owner, id: string, { isFree }: Budget, bytes: number): Step {
  return {
    sql: `INSERT INTO response_bytes (account_id, free, bytes)
      SELECT CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT)
      WHERE NOT EXISTS (SELECT 1 FROM response_turn WHERE account_id = ? AND id = ?) AND ${isOwned('?', '?')}
      ON CONFLICT (account_id, free) DO UPDATE SET bytes = response_bytes.bytes + excluded.bytes`,
    params: [accountId, Number(isFree), bytes, accountId, id, accountId, keyId],
  };
}

/** The step that updates the count for a response that the next step replaces. */
export function recountStep(accountId: number, id: string, response: string): Step {
  return {
    sql: `UPDATE response_bytes SET bytes = bytes + (
        SELECT CAST(? AS BIGINT) - octet_length(response) FROM response_turn WHERE account_id = ? AND id = ?
      ) WHERE account_id = ? AND free = (SELECT free FROM response_turn WHERE account_id = ? AND id = ?)`,
    params: [Buffer.byteLength(response), accountId, id, accountId, accountId, id],
  };
}

/** The steps that delete a response. */
export function removeSteps(accountId: number, id: string): readonly Step[] {
  return [
    {
      sql: `UPDATE response_bytes SET bytes = bytes - (SELECT ${SIZE} FROM response_turn WHERE account_id = ? AND id = ?)
        WHERE account_id = ? AND free = (SELECT free FROM response_turn WHERE account_id = ? AND id = ?)`,
      params: [accountId, id, accountId, accountId, id],
    },
    { sql: 'DELETE FROM response_turn WHERE account_id = ? AND id = ?', params: [accountId, id] },
  ];
}

/** From then on no response of an account or of keys is found or written. Those that are stored are deleted; of many, the rest by the sweep. */
export function endSteps(kind: Kind, owners: readonly number[], atMs: number): readonly Step[] {
  return owners.flatMap((owner) => [
    {
      sql: 'INSERT INTO response_ended (kind, owner, at_ms) VALUES (?, ?, ?) ON CONFLICT (kind, owner) DO NOTHING',
      params: [kind, owner, atMs],
    },
    ...removeOwnedSteps(kind, owner),
  ]);
}

/** What a response belongs to. */
export type Kind = 'account' | 'key';

/** The steps that delete a bite of the responses of an account or of a key. */
function removeOwnedSteps(kind: Kind, owner: number): readonly Step[] {
  const bite = `${kind}_id = ? AND id IN (SELECT id FROM response_turn WHERE ${kind}_id = ? ORDER BY id LIMIT ${BITE})`;
  return [
    {
      sql: `UPDATE response_bytes SET bytes = bytes - (
          SELECT COALESCE(SUM(${SIZE}), 0) FROM response_turn AS turn
          WHERE turn.account_id = response_bytes.account_id AND turn.free = response_bytes.free AND ${bite}
        ) WHERE account_id IN (SELECT account_id FROM response_turn WHERE ${kind}_id = ?)`,
      params: [owner, owner, owner],
    },
    { sql: `DELETE FROM response_turn WHERE ${bite}`, params: [owner, owner] },
  ];
}

/** Longer than any call runs. */
const ENDED_MS = 86_400_000;

/** Deletes what is left of accounts and keys that were deleted, then what says so. */
export async function clearEnded({ store, clock }: Host, goesOn: () => boolean): Promise<void> {
  const nowMs = clock.now();
  for (const kind of ['account', 'key'] as const) {
    while (goesOn()) {
      const left = await store.one<{ owner: number }>(
        `SELECT owner FROM response_ended WHERE kind = ?
          AND EXISTS (SELECT 1 FROM response_turn WHERE ${kind}_id = owner) ORDER BY owner LIMIT 1`,
        kind,
      );
      if (left === undefined) break;
      await store.atomic(removeOwnedSteps(kind, left.owner));
    }
  }
  if (goesOn()) await store.run('DELETE FROM response_ended WHERE at_ms <= ?', nowMs - ENDED_MS);
}

/**
 * The steps that delete the oldest responses of an account, as many as are over the budget, up to the maximum. `newest`
 * is kept, because its client got no warning.
 */
export function evictSteps(accountId: number, { isFree, bytes }: Budget, newest = ''): readonly Step[] {
  const free = Number(isFree);
  return [
    {
      sql: `INSERT INTO response_evicted (id, bytes)
        SELECT id, bytes FROM (
          SELECT id, bytes, over, SUM(bytes) OVER (ORDER BY expires_ms, id) - bytes AS before FROM (
            SELECT id, expires_ms, ${SIZE} AS bytes, kept.bytes - ? AS over
            FROM response_bytes AS kept CROSS JOIN response_turn AS turn
            WHERE kept.account_id = ? AND kept.free = ? AND kept.bytes > ?
              AND turn.account_id = ? AND turn.free = ? AND id <> ?
            ORDER BY expires_ms, id LIMIT ${BITE}
          ) AS oldest
        ) AS counted
        WHERE before < over`,
      params: [bytes, accountId, free, bytes, accountId, free, newest],
    },
    {
      sql: `UPDATE response_bytes SET bytes = bytes - (SELECT COALESCE(SUM(bytes), 0) FROM response_evicted)
        WHERE account_id = ? AND free = ?`,
      params: [accountId, free],
    },
    {
      sql: 'DELETE FROM response_turn WHERE account_id = ? AND id IN (SELECT id FROM response_evicted)',
      params: [accountId],
    },
    { sql: 'DELETE FROM response_evicted' },
  ];
}

/** The invariant: the sums match the rows. */
export const bytesAreSummed: Invariant = {
  name: 'kept-responses-are-summed',
  async check(read) {
    const wrong = await read.all<{ id: number; free: number; bytes: number; sum: number }>(
      `SELECT account_id AS id, free, SUM(counted) AS bytes, SUM(kept) AS sum FROM (
          SELECT account_id, free, bytes AS counted, 0 AS kept FROM response_bytes
          UNION ALL SELECT account_id, free, 0, ${SIZE} FROM response_turn
        ) AS sums GROUP BY account_id, free HAVING SUM(counted) <> SUM(kept)`,
    );
    return wrong.map(
      ({ id, free, bytes, sum }) =>
        `account ${id} is counted ${bytes} bytes of stored responses${free === 1 ? ' of free models' : ''}, and has ${sum}`,
    );
  },
};

/** Brings every account within its budgets, which may have been lowered. */
export async function trim({ store }: Host, budgets: readonly Budget[], goesOn: () => boolean): Promise<void> {
  for (const budget of budgets) {
    const free = Number(budget.isFree);
    let after = 0;
    while (goesOn()) {
      const over = await store.one<{ id: number; bytes: number }>(
        `SELECT account_id AS id, bytes FROM response_bytes
          WHERE account_id > ? AND free = ? AND bytes > ? ORDER BY account_id LIMIT 1`,
        ...[after, free, budget.bytes],
      );
      if (over === undefined) break;
      await store.atomic(evictSteps(over.id, budget));
      const left = await store.one<{ bytes: number }>(
        'SELECT bytes FROM response_bytes WHERE account_id = ? AND free = ?',
        ...[over.id, free],
      );
      // The remaining response may be larger than the budget, because of its output.
      if (left === undefined || left.bytes <= budget.bytes || left.bytes === over.bytes) after = over.id;
    }
  }
}
