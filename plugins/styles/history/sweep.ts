/** Deletes conversations whose last turn has expired, in small batches, so that calls do not wait long for a deletion. */

import type { Host } from '../../../core/plugin.ts';
import { type Chore, createChore } from '../../../core/sdk.ts';
import type { Budget } from './keeping.ts';
import { removeSteps, trim } from './sizes.ts';

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
export function createSweep(host: Host, budgets: readonly Budget[]): Chore {
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
