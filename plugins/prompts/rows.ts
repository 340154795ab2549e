/** The rows of stored contents: written, found and deleted. */
import type { Host, Step, Store } from '../../core/plugin.ts';
import { type Chore, createChore } from '../../core/sdk.ts';

/** A row. */
export interface ContentRow {
  readonly id: string;
  readonly accountId: number;
  readonly keyId: number;
  /** When the call ended, unix milliseconds. */
  readonly atMs: number;
  readonly sealed: string;
}

/** Rows per statement, so that calls never wait long behind a deletion. */
const BITE = 200;

/** Neither the account nor the key was deleted. */
const IS_OWNED = `NOT EXISTS (
  SELECT 1 FROM prompt_log_ended WHERE kind = 'account' AND owner = account_id OR kind = 'key' AND owner = key_id)`;

/** Writes one, unless its account or its key was deleted. */
export function insertStep({ id, accountId, keyId, atMs, sealed }: ContentRow): Step {
  return {
    sql: `INSERT INTO prompt_log (id, account_id, key_id, at_ms, sealed) SELECT ?, ?, ?, ?, ?
      WHERE NOT EXISTS (SELECT 1 FROM prompt_log_ended WHERE kind = 'account' AND owner = ? OR kind = 'key' AND owner = ?)
      ON CONFLICT (id) DO NOTHING`,
    params: [id, accountId, keyId, atMs, sealed, accountId, keyId],
  };
}

/** One that is not older than `sinceMs`; undefined if there is none. */
export function findRow(store: Store, id: string, sinceMs: number): Promise<ContentRow | undefined> {
  return store.one<ContentRow>(
    `SELECT id, account_id AS "accountId", key_id AS "keyId", at_ms AS "atMs", sealed FROM prompt_log
      WHERE id = ? AND at_ms > ? AND ${IS_OWNED}`,
    id,
    sinceMs,
  );
}

/** Whose call that is; undefined if nothing is stored of it since `sinceMs`. */
export async function ownerOf(store: Store, id: string, sinceMs: number): Promise<number | undefined> {
  const sql = `SELECT account_id AS "accountId" FROM prompt_log WHERE id = ? AND at_ms > ? AND ${IS_OWNED}`;
  return (await store.one<{ accountId: number }>(sql, id, sinceMs))?.accountId;
}

/** From then on nothing can be read or written of an account or of keys; what is stored is deleted, of many calls by the sweep. */
export function deleteSteps(kind: 'account' | 'key', owners: readonly number[], atMs: number): readonly Step[] {
  return owners.flatMap((owner) => [
    {
      sql: 'INSERT INTO prompt_log_ended (kind, owner, at_ms) VALUES (?, ?, ?) ON CONFLICT (kind, owner) DO NOTHING',
      params: [kind, owner, atMs],
    },
    { sql: removal(`${kind}_id = ?`), params: [owner] },
  ]);
}

function removal(condition: string): string {
  return `DELETE FROM prompt_log WHERE id IN (SELECT id FROM prompt_log WHERE ${condition} LIMIT ${BITE})`;
}

const EVERY_MS = 3_600_000;
/** Longer than any call runs. */
const ENDED_MS = 86_400_000;

/** Deletes what is older than `keepMs`, hourly; all of it if that is 0. */
export function createSweep(host: Host, keepMs: number): Chore {
  const { store, clock } = host;

  async function sweep(goesOn: () => boolean): Promise<void> {
    const now = clock.now();
    async function remove(condition: string, ...params: readonly number[]): Promise<void> {
      const sql = removal(condition);
      for (let deleted = BITE; deleted >= BITE && goesOn(); ) deleted = await store.run(sql, ...params);
    }
    await remove('at_ms <= ?', now - keepMs);
    await remove("account_id IN (SELECT owner FROM prompt_log_ended WHERE kind = 'account')");
    await remove("key_id IN (SELECT owner FROM prompt_log_ended WHERE kind = 'key')");
    if (goesOn()) await store.run('DELETE FROM prompt_log_ended WHERE at_ms <= ?', now - ENDED_MS);
  }

  return createChore(host, {
    everyMs: EVERY_MS,
    work: sweep,
    failure: 'old prompts and answers could not be deleted',
  });
}
