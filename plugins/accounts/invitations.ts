/** Invitations: a ticket creates an account, and a row keeps what happened to it. */
import { notWritten } from '../../core/contracts/errors.ts';
import type { Invitation, InvitationPreset, Invitations } from '../../core/contracts/invitations.ts';
import type { Host, Step } from '../../core/plugin.ts';
import { all, LATEST_MS, readPage } from '../../core/sdk.ts';
import { fold, readEmail } from './people.ts';
import type { SteadyTime } from './steady-time.ts';
import type { TicketBook } from './tickets.ts';

/** How long ended invitations are kept. */
const TOLD_FOR_MS = 365 * 86_400_000;

interface InvitationRow {
  readonly id: number;
  readonly made_by: number;
  readonly created_ms: number;
  readonly expires_ms: number;
  readonly email: string | null;
  readonly preset: string;
  readonly sent_ms: number | null;
  readonly used_by: number | null;
  readonly used_ms: number | null;
  readonly revoked_ms: number | null;
}
const COLUMNS = 'id, made_by, created_ms, expires_ms, email, preset, sent_ms, used_by, used_ms, revoked_ms';
/** Neither used nor revoked; it may have expired. */
const UNUSED = 'used_ms IS NULL AND revoked_ms IS NULL';

const MEMBER: InvitationPreset = { role: 'member' };

/** The service, and its cleanup. */
export interface InvitationBook extends Invitations {
  /** Deletes old invitations. */
  sweep(): Promise<void>;
}

export function createInvitations({ store }: Host, tickets: TicketBook, now: SteadyTime): InvitationBook {
  const findRow = (where: string, value: number | Buffer): Promise<InvitationRow | undefined> =>
    store.one<InvitationRow>(`SELECT ${COLUMNS} FROM invitation WHERE ${where} = ?`, value);

  /** The steps that revoke the open invitations for an address. */
  const revokeOthers = (folded: string, atMs: number): readonly Step[] => {
    const others = `email_folded = ? AND ${UNUSED}`;
    return [
      { sql: `DELETE FROM ticket WHERE hash IN (SELECT ticket FROM invitation WHERE ${others})`, params: [folded] },
      { sql: `UPDATE invitation SET revoked_ms = ? WHERE ${others}`, params: [atMs, folded] },
    ];
  };

  return {
    async issue({ madeBy, forMs, email: given, preset = MEMBER }, along = () => []) {
      const createdMs = now();
      const expiresMs = createdMs + forMs;
      const email = given === undefined ? undefined : readEmail(given);
      const { secret: code, hash, step } = tickets.issuing('invitation', { data: { by: madeBy }, forMs });
      for (;;) {
        const last = await store.one<{ id: number | null }>('SELECT MAX(id) AS id FROM invitation');
        const id = (last?.id ?? 0) + 1;
        const failed = await store.atomic([
          ...(email === undefined ? [] : revokeOthers(fold(email), createdMs)),
          {
            sql: `INSERT INTO invitation (${COLUMNS}, email_folded, ticket)
              VALUES (?, ?, ?, ?, ?, ?, NULL, NULL, NULL, NULL, ?, ?) ON CONFLICT DO NOTHING`,
            params: [
              ...[id, madeBy, createdMs, expiresMs, email ?? null, presetText(preset)],
              ...[email === undefined ? null : fold(email), hash],
            ],
            must: 'new',
          },
          step,
          ...along(id),
        ]);
        if (failed === undefined) {
          const open = { sentMs: undefined, usedBy: undefined, usedMs: undefined, revokedMs: undefined };
          return { code, invitation: { id, madeBy, createdMs, expiresMs, email, preset, ...open } };
        }
        // Another request took the number at the same moment: tries the next one.
        if (failed !== 'new') throw notWritten(failed);
      }
    },

    async renew(id, { madeBy, forMs }, along = []) {
      const row = await findRow('id', id);
      if (row === undefined) return undefined;
      const { secret: code, hash, step } = tickets.issuing('invitation', { data: { by: madeBy }, forMs });
      const expiresMs = now() + forMs;
      const failed = await store.atomic([
        { sql: 'DELETE FROM ticket WHERE hash = (SELECT ticket FROM invitation WHERE id = ?)', params: [id] },
        {
          sql: `UPDATE invitation SET ticket = ?, made_by = ?, expires_ms = ?, sent_ms = NULL
            WHERE id = ? AND email IS NOT NULL AND ${UNUSED}`,
          params: [hash, madeBy, expiresMs, id],
          must: 'invitation',
        },
        step,
        ...along,
      ]);
      if (failed === 'invitation') return undefined;
      if (failed !== undefined) throw notWritten(failed);
      return { code, invitation: toInvitation({ ...row, made_by: madeBy, expires_ms: expiresMs, sent_ms: null }) };
    },

    async sent(code) {
      const ticket = tickets.hashOf('invitation', code);
      await store.run('UPDATE invitation SET sent_ms = ? WHERE ticket = ?', now(), ticket);
    },

    async find(code) {
      // Invitations of older versions have a ticket but no row.
      const ticket = code === '' ? undefined : await tickets.look('invitation', code, Number.MAX_SAFE_INTEGER);
      if (ticket === undefined) return undefined;
      const hash = tickets.hashOf('invitation', code);
      const row = await findRow('ticket', hash);
      return {
        invitation: row && toInvitation(row),
        steps: (accountId) => [
          ...tickets.takeSteps('invitation', code),
          { sql: 'UPDATE invitation SET used_by = ?, used_ms = ? WHERE ticket = ?', params: [accountId, now(), hash] },
        ],
      };
    },

    async get(id) {
      const row = await findRow('id', id);
      return row && toInvitation(row);
    },

    async list(of) {
      const { total, rows } = await readPage<InvitationRow>(store, 'invitation', COLUMNS, all(), of);
      return { total, items: rows.map(toInvitation) };
    },

    async revoke(id, along = []) {
      const atMs = now();
      const failed = await store.atomic([
        {
          sql: `UPDATE invitation SET revoked_ms = ? WHERE id = ? AND ${UNUSED} AND expires_ms > ?`,
          params: [atMs, id, atMs],
          must: 'invitation',
        },
        { sql: 'DELETE FROM ticket WHERE hash = (SELECT ticket FROM invitation WHERE id = ?)', params: [id] },
        ...along,
      ]);
      if (failed !== undefined && failed !== 'invitation') throw notWritten(failed);
      return failed === undefined;
    },

    async sweep() {
      await store.run('DELETE FROM invitation WHERE expires_ms <= ?', now() - TOLD_FOR_MS);
    },
  };
}

/** A preset as it is stored: JSON has no bigint. */
function presetText({ balance, ...rest }: InvitationPreset): string {
  return JSON.stringify({ ...rest, ...(balance !== undefined && { balance: `${balance}` }) });
}

function readPreset(text: string): InvitationPreset {
  const { balance, ...rest } = JSON.parse(text) as Omit<InvitationPreset, 'balance'> & { readonly balance?: string };
  return { ...MEMBER, ...rest, ...(balance !== undefined && { balance: BigInt(balance) }) };
}

function toInvitation(row: InvitationRow): Invitation {
  return {
    id: row.id,
    madeBy: row.made_by,
    createdMs: row.created_ms,
    // Earlier versions accepted later ones from the command line.
    expiresMs: Math.min(row.expires_ms, LATEST_MS),
    email: row.email ?? undefined,
    preset: readPreset(row.preset),
    sentMs: row.sent_ms ?? undefined,
    usedBy: row.used_by ?? undefined,
    usedMs: row.used_ms ?? undefined,
    revokedMs: row.revoked_ms ?? undefined,
  };
}
