/** Keeps responses: they can be continued, read and deleted, whichever vendor made them. */

import type { StoredResponses } from '../../../core/contracts/stored-responses.ts';
import type { Host, Ingress, Migration, Parts } from '../../../core/plugin.ts';
import { type Chore, createChore, durationMs } from '../../../core/sdk.ts';
import { createHistory } from './history.ts';
import { createIssuer } from './issuer.ts';
import { createJoiner } from './joiner.ts';
import { type Budget, createKeeping, type ResponsesSection } from './keeping.ts';
import { historyRoutes } from './routes.ts';
import { bytesAreSummed, clearEnded, endSteps, removeSteps, trim } from './sizes.ts';
import { createTurns } from './turns.ts';

/**
 * One row per response: the new input of its request, and the response. `previous_id` is the response that it continues;
 * all that have the same first one share `conversation`. `turns` and `bytes` include all earlier turns. `channel` is the
 * channel whose vendor knows `id`, NULL if only the gateway does. `input` is a JSON array of items, `response` a JSON
 * object. `free`: it counts towards the account's budget for free models. `response_bytes`: the bytes of an account's
 * texts, written in the same list of steps as the texts. `response_evicted`: what the running list is about to delete
 * because the budget is exceeded; empty between two lists. `key_id`: of the call; 0: it was stored by a version that did not know it. `response_ended`:
 * accounts and keys that were deleted, so that calls that were running then are not stored; for a day.
 */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'responses that can be continued',
    sql: [
      `CREATE TABLE response_turn (
        account_id INTEGER NOT NULL,
        id TEXT NOT NULL,
        previous_id TEXT,
        conversation TEXT NOT NULL,
        turns INTEGER NOT NULL CHECK (turns > 0),
        bytes INTEGER NOT NULL,
        channel TEXT,
        expires_ms INTEGER NOT NULL,
        input TEXT NOT NULL,
        response TEXT NOT NULL,
        PRIMARY KEY (account_id, id)
      ) STRICT`,
      'CREATE INDEX response_turn_by_expiry ON response_turn (expires_ms, account_id, id)',
      'CREATE INDEX response_turn_by_conversation ON response_turn (account_id, conversation, expires_ms)',
    ],
  },
  {
    id: 2,
    title: 'how much is kept of each account',
    sql: [
      'ALTER TABLE response_turn ADD COLUMN free INTEGER NOT NULL DEFAULT 0 CHECK (free IN (0, 1))',
      'CREATE INDEX response_turn_by_age ON response_turn (account_id, free, expires_ms, id)',
      `CREATE TABLE response_bytes (
        account_id INTEGER NOT NULL,
        free INTEGER NOT NULL CHECK (free IN (0, 1)),
        bytes INTEGER NOT NULL,
        PRIMARY KEY (account_id, free)
      ) STRICT, WITHOUT ROWID`,
      'CREATE TABLE response_evicted (id TEXT NOT NULL PRIMARY KEY, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID',
      `INSERT INTO response_bytes (account_id, free, bytes)
        SELECT account_id, 0, SUM(octet_length(input) + octet_length(response)) FROM response_turn GROUP BY account_id`,
    ],
  },
  {
    id: 3,
    title: 'whose responses are deleted with a key or an account',
    compatibleFrom: 2,
    sql: [
      'ALTER TABLE response_turn ADD COLUMN key_id INTEGER NOT NULL DEFAULT 0',
      'CREATE INDEX response_turn_by_key ON response_turn (key_id, id)',
      `CREATE TABLE response_ended (
        kind TEXT NOT NULL CHECK (kind IN ('account', 'key')),
        owner INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (kind, owner)
      ) STRICT, WITHOUT ROWID`,
    ],
  },
];

const EVERY_MS = 3_600_000;
/** Rows per query and per list of deletions: few, because one may have megabytes. */
const BITE = 50;

interface Expired {
  readonly expiresMs: number;
  readonly accountId: number;
  readonly id: string;
  /** 1 if a later turn, or another branch, still needs it. */
  readonly needed: number;
}

/** Deletes hourly what has expired, what exceeds the budgets, and what is left of deleted accounts and keys. */
function createSweep(host: Host, budgets: readonly Budget[]): Chore {
  const { store, clock } = host;

  async function sweep(goesOn: () => boolean): Promise<void> {
    const nowMs = clock.now();
    await clearEnded(host, goesOn);
    let after: Expired | undefined;
    do {
      const rows: readonly Expired[] = await expired(nowMs, after);
      const gone = rows.filter(({ needed }) => needed === 0);
      if (gone.length > 0) {
        await store.atomic(gone.flatMap(({ accountId, id }) => removeSteps(accountId, id)));
      }
      after = rows.at(-1);
    } while (after !== undefined && goesOn());
    await trim(host, budgets, goesOn);
  }

  /** The next rows along the index, after `after`. */
  function expired(nowMs: number, after: Expired | undefined): Promise<Expired[]> {
    return store.all<Expired>(
      `SELECT expires_ms AS "expiresMs", account_id AS "accountId", id,
        CASE WHEN EXISTS (
          SELECT 1 FROM response_turn AS later
          WHERE later.account_id = old.account_id AND later.conversation = old.conversation AND later.expires_ms > ?
        ) THEN 1 ELSE 0 END AS needed
      FROM response_turn AS old
      WHERE expires_ms <= ? AND (expires_ms, account_id, id) > (?, ?, ?)
      ORDER BY expires_ms, account_id, id LIMIT ${BITE}`,
      nowMs,
      nowMs,
      after?.expiresMs ?? 0,
      after?.accountId ?? 0,
      after?.id ?? '',
    );
  }

  return createChore(host, { everyMs: EVERY_MS, work: sweep, failure: 'expired responses could not be deleted' });
}

export { responsesSection } from './keeping.ts';

/** The deletion of what is stored of accounts and keys. */
export const createStoredResponses = ({ clock }: Host): StoredResponses => ({
  deleteSteps: (owner) =>
    'account' in owner ? endSteps('account', [owner.account], clock.now()) : endSteps('key', owner.keys, clock.now()),
});

/** The routes and tasks, and `Ingress.recall` for the style whose responses are stored. */
export interface ResponseHistory extends Required<Pick<Parts, 'settle' | 'routes' | 'invariants' | 'start' | 'stop'>> {
  readonly recall: NonNullable<Ingress['recall']>;
}

export function createResponseHistory(host: Host, section: ResponsesSection): ResponseHistory {
  const keepMs = section.keep === 0 ? 0 : durationMs(section.keep);
  const turns = createTurns(host);
  const issuer = createIssuer(host, turns);
  const joiner = createJoiner();
  const keeping = createKeeping(host, section, keepMs > 0);
  const history = createHistory(host, { turns, issuer, keeping, joiner, keepMs });
  const sweep = createSweep(host, keeping.budgets);
  return {
    recall: history.recall,
    settle: history.keep,
    routes: historyRoutes(turns, issuer, joiner),
    invariants: [bytesAreSummed],
    start: sweep.start,
    async stop() {
      await Promise.all([sweep.stop(), joiner.close()]);
    },
  };
}
