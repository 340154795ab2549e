/**
 * The processes that lease from the ledger have a row each. A process that recovers another takes over its row. After that, no list that the
 * recovered process still sends can lease or record anything, however late it comes.
 */
import type { Statement, Sum } from '../../core/plugin.ts';

/** The `must` of lists of a process whose leases were taken over because it was presumed dead. */
export const LEASE_LOST = 'lease_lost';

/** Precedes the epoch of a process whose leases were taken over. */
const ENDED = 'ended ';

/** The step that adds a process. */
export function joinStep(epoch: string, atMs: number): Statement {
  return {
    sql: 'INSERT INTO ledger_process (epoch, since_ms) VALUES (?, ?) ON CONFLICT DO NOTHING',
    params: [epoch, atMs],
  };
}

/**
 * Part of every list that leases or records something under an epoch. It changes nothing, and locks the row until the list is written: a list
 * is written before the process is taken over, or not at all.
 */
export function aliveStep(epoch: string): Statement {
  return { sql: 'UPDATE ledger_process SET since_ms = since_ms WHERE epoch = ?', params: [epoch], must: LEASE_LOST };
}

/** The same for lists that calls write. */
export function fenceOf(epoch: string): Sum {
  if (lastFence?.params[0] !== epoch) {
    lastFence = {
      sql: 'UPDATE ledger_process SET since_ms = since_ms + ? WHERE epoch = ?',
      params: [epoch],
      must: LEASE_LOST,
      isFence: true,
    };
  }
  return lastFence;
}
/** One object for all lists, so that it is checked once per commit. */
let lastFence: Sum | undefined;

/** The epoch of a process after it was taken over. */
export function endedName(epoch: string): string {
  return epoch.startsWith(ENDED) ? epoch : `${ENDED}${epoch}`;
}

/**
 * Takes over the leases and running calls of a process; of several that recover it, only the first finds any. `must`: `by` was not itself taken
 * over, because then it knows nothing about the others.
 */
export function takeOverSteps(epoch: string, by: string): readonly Statement[] {
  const params = [endedName(epoch), epoch];
  const tables = ['ledger_process', 'lease', 'running'];
  return [aliveStep(by), ...tables.map((table) => ({ sql: `UPDATE ${table} SET epoch = ? WHERE epoch = ?`, params }))];
}

/** Removes a process that has no more leases and running calls. */
export function forgetStep(epoch: string): Statement {
  return { sql: 'DELETE FROM ledger_process WHERE epoch = ?', params: [epoch] };
}
