/** Tickets: started processes that wait for their second step. */
import type { Ticket, TicketPurpose, Tickets } from '../../core/contracts/sessions.ts';
import type { Host, JsonObject, Step } from '../../core/plugin.ts';
import { hashOf, newSecret } from './secrets.ts';
import type { SteadyTime } from './steady-time.ts';

/** The default number of attempts. */
const MOST_LOOKS = 5;

type NewTicket = Parameters<Tickets['issue']>[1];

interface TicketRow {
  readonly account_id: number | null;
  readonly data: string;
  readonly expires_ms: number;
}

/** The service, and its cleanup. */
export interface TicketBook extends Tickets {
  /** The step that issues a ticket, for a list with other changes; `hash`: the stored form of its secret. */
  issuing(
    purpose: TicketPurpose,
    ticket: NewTicket,
  ): { readonly secret: string; readonly hash: Buffer; readonly step: Step };
  /** The stored form of a ticket's secret. */
  hashOf(purpose: TicketPurpose, secret: string): Buffer;
  /** Deletes expired tickets. */
  sweep(): Promise<void>;
}

export function createTickets(host: Host, now: SteadyTime): TicketBook {
  const { store, vault } = host;

  // The purpose is part of the hash: a ticket is only valid for its purpose.
  const keyOf = (purpose: TicketPurpose, secret: string): Buffer => hashOf(`${purpose}|${secret}`);
  const placeOf = (key: Buffer): string => `ticket.data ${key.toString('hex')}`;

  const read = (key: Buffer): Promise<TicketRow | undefined> =>
    store.one<TicketRow>('SELECT account_id, data, expires_ms FROM ticket WHERE hash = ?', key);

  const toTicket = (key: Buffer, row: TicketRow): Ticket => ({
    accountId: row.account_id ?? undefined,
    data: JSON.parse(vault.open(placeOf(key), row.data)) as JsonObject,
    expiresMs: row.expires_ms,
  });

  const issuing: TicketBook['issuing'] = (purpose, { accountId, data = {}, forMs, secret = newSecret() }) => {
    const key = keyOf(purpose, secret);
    return {
      secret,
      hash: key,
      step: {
        sql: `INSERT INTO ticket (hash, account_id, data, attempts, expires_ms) VALUES (?, ?, ?, 0, ?)
          ON CONFLICT (hash) DO UPDATE SET account_id = excluded.account_id, data = excluded.data, expires_ms = excluded.expires_ms`,
        params: [key, accountId ?? null, vault.seal(placeOf(key), JSON.stringify(data)), now() + forMs],
      },
    };
  };

  return {
    issuing,
    hashOf: keyOf,

    async issue(purpose, ticket) {
      const { secret, step } = issuing(purpose, ticket);
      await store.atomic([step]);
      return secret;
    },

    async take(purpose, secret) {
      const key = keyOf(purpose, secret);
      const row = await read(key);
      if (row === undefined) return undefined;
      // Deletes exactly the ticket that was read: encrypting the same data twice gives different values.
      const sql = 'DELETE FROM ticket WHERE hash = ? AND data = ? AND expires_ms > ?';
      return (await store.run(sql, key, row.data, now())) > 0 ? toTicket(key, row) : undefined;
    },

    takeSteps: (purpose, secret) => [
      {
        sql: 'DELETE FROM ticket WHERE hash = ? AND expires_ms > ?',
        params: [keyOf(purpose, secret), now()],
        must: 'ticket_used',
      },
    ],

    async look(purpose, secret, most = MOST_LOOKS) {
      const key = keyOf(purpose, secret);
      const sql = 'UPDATE ticket SET attempts = attempts + 1 WHERE hash = ? AND attempts < ? AND expires_ms > ?';
      if ((await store.run(sql, key, most, now())) === 0) return undefined;
      const row = await read(key);
      return row && toTicket(key, row);
    },

    voidSteps: (accountId) => [{ sql: 'DELETE FROM ticket WHERE account_id = ?', params: [accountId] }],

    async sweep() {
      await store.run('DELETE FROM ticket WHERE expires_ms <= ?', now());
    },
  };
}
