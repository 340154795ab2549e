/** Stored responses: each is one turn of a conversation, found by its id and its account. */
import type { Host, Step } from '../../../core/plugin.ts';
import type { Budget } from './keeping.ts';
import { countStep, evictSteps, isOwned, type Owner, recountStep, removeSteps } from './sizes.ts';
import type { TurnTexts } from './work.ts';

/** A turn without its texts. */
export interface Turn {
  readonly accountId: number;
  readonly id: string;
  readonly conversation: string;
  /** The number and the bytes of it and all earlier turns. */
  readonly turns: number;
  readonly bytes: number;
  /** The channel whose vendor knows the id; null if only the gateway does. */
  readonly channel: string | null;
}

/** A turn and its position in a conversation. */
export interface Link {
  readonly id: string;
  readonly previousId: string | null;
}

/** The content of a turn: JSON texts, an array of items and a response object. */
export interface StoredTurn extends Link, TurnTexts {}

export interface NewTurn extends Owner {
  readonly id: string;
  readonly channel: string | null;
  readonly input: string;
  readonly response: string;
  /** The response that it continues. */
  readonly before: Turn | undefined;
  readonly expiresMs: number;
  readonly budget: Budget;
}

/** Whether an id may be looked up, and be part of a vendor's path: short, without path characters. */
export function isResponseId(id: unknown): id is string {
  return typeof id === 'string' && /^[A-Za-z0-9][\w.=~-]{0,255}$/.test(id);
}

export function createTurns({ store, clock }: Host) {
  return {
    /** The steps that write a turn, and delete the account's oldest beyond the budget; a turn that exists already is not changed, and none is written of a deleted account or key. */
    steps({ accountId, keyId, id, channel, input, response, before, expiresMs, budget }: NewTurn): readonly Step[] {
      const bytes = Buffer.byteLength(input) + Buffer.byteLength(response);
      return [
        countStep({ accountId, keyId }, id, budget, bytes),
        {
          sql: `INSERT INTO response_turn
              (account_id, id, previous_id, conversation, turns, bytes, channel, expires_ms, input, response, free, key_id)
            SELECT CAST(? AS BIGINT), ?, ?, ?, CAST(? AS BIGINT), CAST(? AS BIGINT), ?, CAST(? AS BIGINT), ?, ?,
              CAST(? AS BIGINT), CAST(? AS BIGINT)
            WHERE ${isOwned('?', '?')}
            ON CONFLICT DO NOTHING`,
          params: [
            accountId,
            id,
            before?.id ?? null,
            before?.conversation ?? id,
            (before?.turns ?? 0) + 1,
            (before?.bytes ?? 0) + bytes,
            channel,
            expiresMs,
            input,
            response,
            Number(budget.isFree),
            keyId,
            accountId,
            keyId,
          ],
        },
        ...evictSteps(accountId, budget, id),
      ];
    },

    async find(accountId: number, id: string): Promise<Turn | undefined> {
      if (!isResponseId(id)) return undefined;
      return store.one<Turn>(
        `SELECT account_id AS "accountId", id, conversation, turns, bytes, channel
        FROM response_turn WHERE account_id = ? AND id = ? AND expires_ms > ? AND ${isOwned('account_id', 'key_id')}`,
        accountId,
        id,
        clock.now(),
      );
    },

    async response({ accountId, id }: Turn): Promise<string | undefined> {
      const sql = 'SELECT response FROM response_turn WHERE account_id = ? AND id = ?';
      return (await store.one<{ response: string }>(sql, accountId, id))?.response;
    },

    /** The same as bytes; undefined also if it exceeds this size. */
    async responseBytes({ accountId, id }: Turn, most: number): Promise<Uint8Array | undefined> {
      const sql = `SELECT utf8_bytes(response) AS response FROM response_turn
        WHERE account_id = ? AND id = ? AND octet_length(response) <= ?`;
      return (await store.one<{ response: Uint8Array }>(sql, accountId, id, most))?.response;
    },

    /** The turn and all earlier ones, oldest first. If one is missing, the list begins after the gap. */
    chain: (turn: Turn): Promise<readonly StoredTurn[]> =>
      store.all<StoredTurn>(...along(turn, 'channel, utf8_bytes(input) AS input, utf8_bytes(response) AS response')),
    /** The same without the texts. */
    links: (turn: Turn): Promise<readonly Link[]> => store.all<Link>(...along(turn)),

    /** The content of a turn of an account. */
    texts: (accountId: number, id: string): Promise<TurnTexts | undefined> =>
      store.one<TurnTexts>(
        `SELECT channel, utf8_bytes(input) AS input, utf8_bytes(response) AS response
        FROM response_turn WHERE account_id = ? AND id = ?`,
        accountId,
        id,
      ),

    /** Replaces a response in progress by its final state. */
    async replace({ accountId, id }: Turn, response: string): Promise<void> {
      const sql = 'UPDATE response_turn SET response = ? WHERE account_id = ? AND id = ?';
      await store.atomic([recountStep(accountId, id, response), { sql, params: [response, accountId, id] }]);
    },

    async remove({ accountId, id }: Turn): Promise<void> {
      await store.atomic(removeSteps(accountId, id));
    },
  };
}

/** All turns. Expired ones are not found, although they may still be stored for later turns that need them. */
export type Turns = ReturnType<typeof createTurns>;

/** The statement that reads columns of a turn and all earlier ones, oldest first. */
function along({ accountId, id, turns }: Turn, what?: string): [sql: string, ...params: (string | number)[]] {
  return [
    `WITH RECURSIVE chain (id, previous_id, back) AS (
      SELECT id, previous_id, 0 FROM response_turn WHERE account_id = ? AND id = ?
      UNION ALL
      SELECT earlier.id, earlier.previous_id, chain.back + 1
      FROM chain JOIN response_turn AS earlier ON earlier.account_id = ? AND earlier.id = chain.previous_id
      WHERE chain.back < ? AND ${isOwned('earlier.account_id', 'earlier.key_id')}
    )
    SELECT chain.id, chain.previous_id AS "previousId"${what === undefined ? '' : `, ${what}`}
    FROM chain${what === undefined ? '' : ' JOIN response_turn AS turn ON turn.account_id = ? AND turn.id = chain.id'}
    ORDER BY back DESC`,
    ...[accountId, id, accountId, turns],
    ...(what === undefined ? [] : [accountId]),
  ];
}
