/** Responses as they are kept: one turn of a conversation each, found by its id and the account it belongs to. */
import type { Host, Step } from '../../../core/plugin.ts';
import type { Budget } from './keeping.ts';
import { countStep, evictSteps, recountStep, removeSteps } from './sizes.ts';
import type { TurnTexts } from './work.ts';

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

/** A turn in its place in a conversation. */
export interface Link {
  readonly id: string;
  readonly previousId: string | null;
}

/** What is said in one turn: JSON texts, an array of items and a response object. */
export interface Said extends Link, TurnTexts {}

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
  /** The same as bytes, if it has no more than so many; undefined also where it is too large. */
  responseBytes(turn: Turn, most: number): Promise<Uint8Array | undefined>;
  /** The turn and all before it, oldest first. Where one is missing, it begins behind the gap. */
  chain(turn: Turn): Promise<readonly Said[]>;
  /** The same without what was said. */
  links(turn: Turn): Promise<readonly Link[]>;
  /** What was said in one turn of an account. */
  texts(accountId: number, id: string): Promise<TurnTexts | undefined>;
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

    async responseBytes({ accountId, id }, most) {
      const sql = `SELECT utf8_bytes(response) AS response FROM response_turn
        WHERE account_id = ? AND id = ? AND octet_length(response) <= ?`;
      return (await store.one<{ response: Uint8Array }>(sql, accountId, id, most))?.response;
    },

    chain: (turn) =>
      store.all<Said>(...along(turn, 'channel, utf8_bytes(input) AS input, utf8_bytes(response) AS response')),
    links: (turn) => store.all<Link>(...along(turn)),

    texts: (accountId, id) =>
      store.one<TurnTexts>(
        `SELECT channel, utf8_bytes(input) AS input, utf8_bytes(response) AS response
        FROM response_turn WHERE account_id = ? AND id = ?`,
        accountId,
        id,
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

/** The statement that reads something of a turn and all before it, oldest first. */
function along({ accountId, id, turns }: Turn, what?: string): [sql: string, ...params: (string | number)[]] {
  return [
    `WITH RECURSIVE chain (id, previous_id, back) AS (
      SELECT id, previous_id, 0 FROM response_turn WHERE account_id = ? AND id = ?
      UNION ALL
      SELECT earlier.id, earlier.previous_id, chain.back + 1
      FROM chain JOIN response_turn AS earlier ON earlier.account_id = ? AND earlier.id = chain.previous_id
      WHERE chain.back < ?
    )
    SELECT chain.id, chain.previous_id AS "previousId"${what === undefined ? '' : `, ${what}`}
    FROM chain${what === undefined ? '' : ' JOIN response_turn AS turn ON turn.account_id = ? AND turn.id = chain.id'}
    ORDER BY back DESC`,
    ...[accountId, id, accountId, turns],
    ...(what === undefined ? [] : [accountId]),
  ];
}
