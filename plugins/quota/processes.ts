/**
 * The processes that lease from the ledger: a row each. Whoever takes over what a process has left open takes its row, and nothing that this
 * process still sends can lease or be written down any more, however late it comes.
 */
import type { Statement } from '../../core/plugin.ts';

/** What a list says that comes from a process whose leases are another's by now: it was given up for dead. */
export const LEASE_LOST = 'lease_lost';

/** In front of the epoch of a process whose leases were taken over. */
const ENDED = 'ended ';

/** The step by which a process begins. */
export function joinStep(epoch: string, atMs: number): Statement {
  return {
    sql: 'INSERT INTO ledger_process (epoch, since_ms) VALUES (?, ?) ON CONFLICT DO NOTHING',
    params: [epoch, atMs],
  };
}

/**
 * Part of every list that leases or notes something under an epoch. It changes nothing, and locks the row till the list is written: a list
 * comes before the process is given up, or not at all.
 */
export function aliveStep(epoch: string): Statement {
  return { sql: 'UPDATE ledger_process SET since_ms = since_ms WHERE epoch = ?', params: [epoch], must: LEASE_LOST };
}

/** What the process is called once it is taken over. */
export function endedName(epoch: string): string {
  return epoch.startsWith(ENDED) ? epoch : `${ENDED}${epoch}`;
}

/**
 * Takes over all that a process has left open: none of its lists finds a lease any more. Done once, by whoever comes first; `must`: not by one
 * that was itself taken over, which knows nothing of the others.
 */
export function takeOverSteps(epoch: string, by: string): readonly Statement[] {
  const params = [endedName(epoch), epoch];
  const tables = ['ledger_process', 'lease', 'running'];
  return [aliveStep(by), ...tables.map((table) => ({ sql: `UPDATE ${table} SET epoch = ? WHERE epoch = ?`, params }))];
}

/** Forgets it, when nothing of it is left. */
export function forgetStep(epoch: string): Statement {
  return { sql: 'DELETE FROM ledger_process WHERE epoch = ?', params: [epoch] };
}
