/** Forgets conversations whose last turn has expired, in small bites, so that calls never wait long behind a deletion. */

import type { Host } from '../../../core/plugin.ts';
import { type Chore, createChore } from '../../../core/sdk.ts';
import type { Budget } from './keeping.ts';
import { removeSteps, trim } from './sizes.ts';

const EVERY_MS = 3_600_000;
/** Rows looked at per query and deleted per list: few, for one may hold megabytes. */
const BITE = 50;

interface Expired {
  readonly expiresMs: number;
  readonly accountId: number;
  readonly id: string;
  /** 1 where a later turn, or another branch, still needs it. */
  readonly needed: number;
}

/** Deletes what nobody can continue any more, and what is over the budgets, hourly. */
export function createSweep(host: Host, budgets: readonly Budget[]): Chore {
  const { store, clock } = host;

  async function sweep(goesOn: () => boolean): Promise<void> {
    const nowMs = clock.now();
    let after: Expired | undefined;
    do {
      const found: readonly Expired[] = await expired(nowMs, after);
      const gone = found.filter(({ needed }) => needed === 0);
      if (gone.length > 0) {
        await store.atomic(gone.flatMap(({ accountId, id }) => removeSteps(accountId, id)));
      }
      after = found.at(-1);
    } while (after !== undefined && goesOn());
    await trim(host, budgets, goesOn);
  }

  /** The next ones along the index, behind `after`. */
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
