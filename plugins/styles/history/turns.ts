/** Responses as they are kept: one turn of a conversation each, found by its id and the account it belongs to. */
import type { Host, Step } from '../../../core/plugin.ts';
import type { Budget } from './keeping.ts';
import { countStep, evictSteps, recountStep, removeSteps } from './sizes.ts';

/** What is known of a turn without its texts. */
export interface Turn {
  readonly accountId: number;
  readonly id: string;
  readonly conversation: string;
  /** How many there are with it and all before it, and how many bytes they have. */
  readonly turns: number;
  readonly bytes: number;
  /** Whose vendor knows the id; null where only we do. */
  readonly channel: string | null;
}

/** What is said in one turn: JSON texts, an array of items and a response object. */
export interface Said {
  readonly id: string;
  readonly previousId: string | null;
  /** Whose vendor answered in its own words; null where we wrote the answer. */
  readonly channel: string | null;
  readonly input: string;
  readonly response: string;
}

export interface NewTurn {
  readonly accountId: number;
  readonly id: string;
  readonly channel: string | null;
  readonly input: string;
  readonly response: string;
  /** What it goes on from. */
  readonly before: Turn | undefined;
  readonly expiresMs: number;
  readonly budget: Budget;
}

/** All turns. What has expired is not found, though it may be kept a while for those that came after it. */
export interface Turns {
  /** The steps that write a turn, and let the oldest of its account go if there are too many; one that is there already stays as it is. */
  steps(turn: NewTurn): readonly Step[];
  find(accountId: number, id: string): Promise<Turn | undefined>;
  response(turn: Turn): Promise<string | undefined>;
  /** The turn and all before it, oldest first. Where one is missing, it begins behind the gap. */
  chain(turn: Turn): Promise<readonly Said[]>;
  /** Puts the end of a response in the place of its beginning. */
  replace(turn: Turn, response: string): Promise<void>;
  remove(turn: Turn): Promise<void>;
}

/** An id that may be looked up, and stand in a vendor's path: it is no path of its own, and not too long. */
export function isResponseId(id: unknown): id is string {
  return typeof id === 'string' && /^[A-Za-z0-9][\w.=~-]{0,255}$/.test(id);
}

export function createTurns({ store, clock }: Host): Turns {
  return {
    steps({ accountId, id, channel, input, response, before, expiresMs, budget }) {
      const bytes = Buffer.byteLength(input) + Buffer.byteLength(response);
      return [
        countStep(accountId, id, budget, bytes),
        {
          sql: `INSERT INTO response_turn
              (account_id, id, previous_id, conversation, turns, bytes, channel, expires_ms, input, response, free)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
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
          ],
        },
        ...evictSteps(accountId, budget, id),
      ];
    },

    async find(accountId, id) {
      if (!isResponseId(id)) return undefined;
      return store.one<Turn>(
        `SELECT account_id AS "accountId", id, conversation, turns, bytes, channel
        FROM response_turn WHERE account_id = ? AND id = ? AND expires_ms > ?`,
        accountId,
        id,
        clock.now(),
      );
    },

    async response({ accountId, id }) {
      const sql = 'SELECT response FROM response_turn WHERE account_id = ? AND id = ?';
      return (await store.one<{ response: string }>(sql, accountId, id))?.response;
    },

    chain: ({ accountId, id, turns }) =>
      store.all<Said>(
        `WITH RECURSIVE chain (id, previous_id, channel, input, response, back) AS (
          SELECT id, previous_id, channel, input, response, 0 FROM response_turn WHERE account_id = ? AND id = ?
          UNION ALL
          SELECT earlier.id, earlier.previous_id, earlier.channel, earlier.input, earlier.response, chain.back + 1
          FROM chain JOIN response_turn AS earlier ON earlier.account_id = ? AND earlier.id = chain.previous_id
          WHERE chain.back < ?
        )
        SELECT id, previous_id AS "previousId", channel, input, response FROM chain ORDER BY back DESC`,
        accountId,
        id,
        accountId,
        turns,
      ),

    async replace({ accountId, id }, response) {
      const sql = 'UPDATE response_turn SET response = ? WHERE account_id = ? AND id = ?';
      await store.atomic([recountStep(accountId, id, response), { sql, params: [response, accountId, id] }]);
    },

    async remove({ accountId, id }) {
      await store.atomic(removeSteps(accountId, id));
    },
  };
}
