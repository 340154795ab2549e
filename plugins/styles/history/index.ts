/** Keeps responses: they can be continued, read and deleted, whichever vendor made them. */

import type { Host, Ingress, Parts } from '../../../core/plugin.ts';
import { type Chore, createChore, durationMs } from '../../../core/sdk.ts';
import { createHistory } from './history.ts';
import { createIssuer } from './issuer.ts';
import { createJoiner } from './joiner.ts';
import { type Budget, createKeeping } from './keeping.ts';
import { historyRoutes } from './routes.ts';
import type { ResponsesSection } from './section.ts';
import { bytesAreSummed, removeSteps, trim } from './sizes.ts';
import { createTurns } from './turns.ts';

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

/** Deletes hourly what has expired, and what exceeds the budgets. */
function createSweep(host: Host, budgets: readonly Budget[]): Chore {
  const { store, clock } = host;

  async function sweep(goesOn: () => boolean): Promise<void> {
    const nowMs = clock.now();
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

export { responsesSection } from './section.ts';
export { migrations } from './tables.ts';

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
