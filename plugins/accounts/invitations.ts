/** Invitations: a ticket creates an account, and a row keeps what happened to it. */
import type { Invitation, Invitations } from '../../core/contracts/invitations.ts';
import type { Host } from '../../core/plugin.ts';
import { all, readPage } from '../../core/sdk.ts';
import type { SteadyTime } from './steady-time.ts';
import type { TicketBook } from './tickets.ts';

/** How long ended invitations are kept. */
const TOLD_FOR_MS = 365 * 86_400_000;

interface InvitationRow {
  readonly id: number;
  readonly made_by: number;
  readonly created_ms: number;
  readonly expires_ms: number;
  readonly used_by: number | null;
  readonly used_ms: number | null;
  readonly revoked_ms: number | null;
}
const COLUMNS = 'id, made_by, created_ms, expires_ms, used_by, used_ms, revoked_ms';

/** The service, and its cleanup. */
export interface InvitationBook extends Invitations {
  /** Deletes old invitations. */
  sweep(): Promise<void>;
}

export function createInvitations({ store }: Host, tickets: TicketBook, now: SteadyTime): InvitationBook {
  return {
    async issue(madeBy, forMs, along = () => []) {
      const createdMs = now();
      const expiresMs = createdMs + forMs;
      const { secret: code, hash, step } = tickets.issuing('invitation', { data: { by: madeBy }, forMs });
      for (;;) {
        const last = await store.one<{ id: number | null }>('SELECT MAX(id) AS id FROM invitation');
        const id = (last?.id ?? 0) + 1;
        const failed = await store.atomic([
          {
            sql: `INSERT INTO invitation (${COLUMNS}, ticket) VALUES (?, ?, ?, ?, NULL, NULL, NULL, ?) ON CONFLICT DO NOTHING`,
            params: [id, madeBy, createdMs, expiresMs, hash],
            must: 'new',
          },
          step,
          ...along(id),
        ]);
        if (failed === undefined) {
          const open = { usedBy: undefined, usedMs: undefined, revokedMs: undefined };
          return { code, invitation: { id, madeBy, createdMs, expiresMs, ...open } };
        }
        // Another request took the number at the same moment: tries the next one.
        if (failed !== 'new') throw new Error(`an invitation could not be created: ${failed}`);
      }
    },

    async use(code) {
      // Invitations of older versions have a ticket but no row.
      const ticket = code === '' ? undefined : await tickets.look('invitation', code, Number.MAX_SAFE_INTEGER);
      if (ticket === undefined) return undefined;
      return (accountId) => [
        ...tickets.takeSteps('invitation', code),
        {
          sql: 'UPDATE invitation SET used_by = ?, used_ms = ? WHERE ticket = ?',
          params: [accountId, now(), tickets.hashOf('invitation', code)],
        },
      ];
    },

    async list(of) {
      const { total, rows } = await readPage<InvitationRow>(store, 'invitation', COLUMNS, all(), of);
      return { total, items: rows.map(toInvitation) };
    },

    async revoke(id, along = []) {
      const atMs = now();
      const failed = await store.atomic([
        {
          sql: 'UPDATE invitation SET revoked_ms = ? WHERE id = ? AND used_ms IS NULL AND revoked_ms IS NULL AND expires_ms > ?',
          params: [atMs, id, atMs],
          must: 'invitation',
        },
        { sql: 'DELETE FROM ticket WHERE hash = (SELECT ticket FROM invitation WHERE id = ?)', params: [id] },
        ...along,
      ]);
      if (failed !== undefined && failed !== 'invitation') throw new Error(`an invitation was not revoked: ${failed}`);
      return failed === undefined;
    },

    async sweep() {
      await store.run('DELETE FROM invitation WHERE expires_ms <= ?', now() - TOLD_FOR_MS);
    },
  };
}

function toInvitation(row: InvitationRow): Invitation {
  return {
    id: row.id,
    madeBy: row.made_by,
    createdMs: row.created_ms,
    expiresMs: row.expires_ms,
    usedBy: row.used_by ?? undefined,
    usedMs: row.used_ms ?? undefined,
    revokedMs: row.revoked_ms ?? undefined,
  };
}
