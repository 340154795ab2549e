/** How many files and connections a process may have open, and how many of them may be connections of clients. */
import { readFileSync } from 'node:fs';

/** Connections at the same time, whatever the limit is. */
const MOST_CONNECTIONS = 20_000;
/** Kept for the store, the log, spooled uploads and the connections between processes; a quarter where there are few. */
const KEPT = 256;
/** A process that accepts fewer connections can hardly serve. */
const LEAST_CONNECTIONS = 16;

/** The limit of open files of this process; undefined if it is not known, as on systems without `/proc`. */
export function descriptorLimit(): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/** Connections of clients that a process with this limit accepts: each may need a second one, to a vendor. */
export function connectionsWithin(limit: number | undefined): number {
  if (limit === undefined) return MOST_CONNECTIONS;
  const free = limit - Math.min(KEPT, Math.floor(limit / 4));
  return Math.min(MOST_CONNECTIONS, Math.max(LEAST_CONNECTIONS, Math.floor(free / 2)));
}
