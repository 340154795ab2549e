/** Encrypted data of accounts, and the consequences of losing the master key. */
import type { Host, JsonObject, Surrender } from '../../core/plugin.ts';
import type { SteadyTime } from './steady-time.ts';

/** Tickets, and encrypted settings of accounts. */
export async function surrenderSealed({ store, vault }: Host, now: SteadyTime): Promise<readonly Surrender[]> {
  const atMs = now();
  const tickets = await countOf('SELECT COUNT(*) AS n FROM ticket WHERE expires_ms > ?', atMs);
  const open = 'used_ms IS NULL AND revoked_ms IS NULL AND expires_ms > ?';
  const invitations = await countOf(`SELECT COUNT(*) AS n FROM invitation WHERE ${open}`, atMs);
  const rows = await store.all<{ id: number; settings: string }>('SELECT id, settings FROM account');
  const changed = rows.flatMap(({ id, settings: before }) => {
    const settings = JSON.parse(before) as JsonObject;
    const left = Object.entries(settings).filter(([, value]) => typeof value !== 'string' || !vault.isSealed(value));
    if (left.length === Object.keys(settings).length) return [];
    const sql = 'UPDATE account SET settings = ? WHERE id = ?';
    return [{ sql, params: [JSON.stringify(Object.fromEntries(left)), id] }];
  });

  async function countOf(sql: string, ...params: number[]): Promise<number> {
    return (await store.one<{ n: number }>(sql, ...params))?.n ?? 0;
  }

  return [
    {
      what: `${tickets} links and codes that were sent and not used yet (sign-in, email, new password), ${invitations} open invitations among them`,
      steps: [
        { sql: 'DELETE FROM ticket' },
        { sql: `UPDATE invitation SET revoked_ms = ? WHERE ${open}`, params: [atMs, atMs] },
      ],
    },
    {
      what: `webhook secrets of ${changed.length} accounts: their notifications are not signed until they set a new one`,
      steps: changed,
    },
  ];
}
