/**
 * Counters of several gateways on a Valkey server. While the server is unreachable, each process enforces its share of every limit in its
 * own memory, and tries to reconnect every second.
 */
import type { Admission, Counters, GateEntry, WindowState, WindowTake } from '../../../core/contracts/counters.ts';
import type { Host } from '../../../core/plugin.ts';
import type { MemoryCounters } from '../memory.ts';
import type { Server } from './address.ts';
import { type Connection, connect, WAIT_MS } from './connection.ts';
import { createScript, LATE, type Operation, type Script } from './script.ts';

/** The lease of a gate's members: they are removed if their process does not renew it in time. */
const LEASE_MS = 15_000;
/** The renewal interval. */
const REFRESH_MS = 5_000;
/** The interval of attempts to connect. */
const RETRY_MS = 1_000;
/** The minimum interval between log lines about the server's availability. */
const QUIET_MS = 60_000;
/** Tolerance for clocks and timers. */
const ROUNDING_MS = 2;
/** A deadline that is never reached. */
const NEVER_MS = 1e14;
/** Members per operation when leases are renewed, so that no operation blocks the server for long. */
const TOLD_AT_ONCE = 500;

/** Counters on a server. */
export interface SharedCounters extends Counters {
  readonly shared: boolean;
  /** Connects. Resolves when the server is reached, or found unreachable. */
  start(): Promise<void>;
  /** Closes the connection after everything that was sent. */
  stop(): Promise<void>;
}

/** Their dependencies. */
export interface SharedOptions {
  readonly server: Server;
  readonly prefix: string;
  /** Has this process's own members of gates at all times, and all counts while the server is unreachable. */
  readonly memory: MemoryCounters;
  readonly host: Pick<Host, 'boot' | 'clock' | 'log' | 'peers'>;
  readonly script?: Script;
}

export function createSharedCounters({
  server,
  prefix,
  memory,
  host: { boot, clock, log, peers },
  script = createScript(),
}: SharedOptions): SharedCounters {
  /** Members that are not in here are counted on the server. */
  const countedHere = new WeakSet<Admission>();
  let connection: Connection | undefined;
  let isStopped = true;
  /** Whether the unavailability was logged, and when. */
  let isReported = false;
  let reportedMs = -Infinity;
  let stopTimers: readonly (() => void)[] = [];
  /** How far the server's clock is ahead of this process's, at least: an answer's travel time is not added. */
  let aheadMs = 0;

  const windowKey = ({ name }: WindowTake): string => `${prefix}window:${name}`;
  const gateKeys = ({ gates }: GateEntry): string[] => gates.map(({ name }) => gateKey(name));
  const gateKey = (name: string): string => `${prefix}gate:${name}`;
  const memberOf = (id: string): string => `${boot} ${id}`;

  // ---- connection

  /**
   * Runs an operation whose first argument is its deadline, and whose answer begins with a code and the server's time. The server ignores
   * operations that arrive after their deadline, because nothing waits for them any more. If a call still waits for one that was late (this
   * process was blocked, or the server's clock jumped), it is sent once more.
   */
  async function runInTime(...sent: Parameters<typeof sendInTime>): Promise<readonly number[]> {
    const answer = await sendInTime(...sent);
    return answer[0] === LATE ? sendInTime(...sent) : answer;
  }

  async function sendInTime(
    by: Connection,
    operation: Operation,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<readonly number[]> {
    const sentMs = clock.mono();
    const answer = (await by.run(operation, keys, [sentMs + aheadMs + WAIT_MS - ROUNDING_MS, ...args])) as number[];
    const readMs = clock.mono();
    // An answer that was read late does not have the current time.
    if (readMs - sentMs <= WAIT_MS) aheadMs = answer[1]! - readMs;
    return answer;
  }

  function lost(reason: string): void {
    connection = undefined;
    if (isReported || clock.mono() - reportedMs < QUIET_MS) return;
    isReported = true;
    reportedMs = clock.mono();
    log.error('Valkey cannot be reached: each process enforces its share of every limit by itself', {
      server: server.name,
      reason,
      processes: peers.count,
    });
  }

  async function open(): Promise<void> {
    let opened: Connection | undefined;
    try {
      opened = await connect(server, script, clock, lost);
      // Checks that the script can run, and reads the time.
      const [, serverMs] = (await opened.run('stay', [], [NEVER_MS, LEASE_MS])) as number[];
      aheadMs = serverMs! - clock.mono();
    } catch (error) {
      // For an open connection, `lost` was called.
      if (opened === undefined) lost((error as Error).message);
      return;
    }
    if (isStopped) return opened.close();
    connection = opened;
    // Before any call is admitted: the server may have lost or removed the members.
    refresh();
    if (isReported) log.info('Valkey can be reached again: all gateways enforce the limits together');
    isReported = false;
  }

  let opening: Promise<void> | undefined;
  function tryOpen(): Promise<void> {
    opening ??= open().finally(() => {
      opening = undefined;
    });
    return opening;
  }

  /** Renews the leases of this process's members. */
  function refresh(): void {
    let keys: string[] = [];
    let args: (string | number)[] = [];
    let count = 0;
    const send = (): void => {
      if (connection !== undefined) runInTime(connection, 'stay', keys, [LEASE_MS, ...args]).catch(() => {});
      keys = [];
      args = [];
      count = 0;
    };
    for (const [gate, ids] of memory.gates()) {
      let left = [...ids];
      while (left.length > 0) {
        const batch = left.slice(0, TOLD_AT_ONCE - count);
        left = left.slice(batch.length);
        keys.push(gateKey(gate));
        args.push(batch.length, ...batch.map(memberOf));
        count += batch.length;
        if (count === TOLD_AT_ONCE) send();
      }
    }
    // Also without members, to detect a dead connection before a call does.
    send();
  }

  // ---- without the server

  const share = (limit: number): number => Math.min(limit, Math.max(1, Math.ceil(limit / peers.count)));

  /** A cost that fits into the limit fits into an otherwise empty share. */
  function shareOf(window: WindowTake): WindowTake {
    const { limit, cost } = window;
    return { ...window, limit: share(limit), cost: cost > limit ? cost : Math.min(cost, share(limit)) };
  }

  function takeHere(windows: readonly WindowTake[], entry: GateEntry | undefined): Admission {
    const shared = entry && { ...entry, gates: entry.gates.map(({ name, limit }) => ({ name, limit: share(limit) })) };
    const admission = memory.take(windows.map(shareOf), shared);
    countedHere.add(admission);
    return admission;
  }

  /** Runs on the server or, if it is unreachable or fails, in memory. */
  async function ask<T>(there: (by: Connection) => Promise<T>, here: () => T): Promise<T> {
    if (connection === undefined) return here();
    try {
      return await there(connection);
    } catch {
      return here();
    }
  }

  // ---- with the server

  async function takeThere(
    by: Connection,
    windows: readonly WindowTake[],
    entry: GateEntry | undefined,
  ): Promise<Admission> {
    const answer = await runInTime(
      by,
      'take',
      [...windows.map(windowKey), ...(entry === undefined ? [] : gateKeys(entry))],
      [
        windows.length,
        memberOf(entry?.id ?? ''),
        LEASE_MS,
        ...windows.flatMap(({ limit, windowMs, cost }) => [limit, windowMs, cost]),
        ...(entry?.gates ?? []).map(({ limit }) => limit),
      ],
    );
    const [refusedBy, atMs] = answer as readonly [number, number];
    if (refusedBy === LATE) throw new Error('late');
    const ok = refusedBy < 0;
    // To be renewed, whatever happens to the server.
    if (ok && entry !== undefined) memory.take([], { ...entry, gates: entry.gates.map(withoutLimit) });
    return {
      ok,
      refusedBy,
      windows: windows.map((_, i) => stateOf(answer.slice(2 + 4 * i))),
      takes: windows,
      atMs,
      corrected: undefined,
    };
  }

  return {
    get shared() {
      return connection !== undefined;
    },

    take(windows, entry) {
      // Without the server, results are available at once.
      if (connection === undefined) return takeHere(windows, entry);
      return ask(
        (by) => takeThere(by, windows, entry),
        () => takeHere(windows, entry),
      );
    },

    correct(admission, cost) {
      if (countedHere.has(admission)) return memory.correct(admission, cost);
      if (!admission.ok) return;
      const differences = admission.takes.map((window) => cost - (admission.corrected ?? window.cost));
      admission.corrected = cost;
      if (differences.every((difference) => difference === 0)) return;
      connection?.run('correct', admission.takes.map(windowKey), [admission.atMs, ...differences]).catch(() => {});
    },

    leave(entry) {
      memory.leave(entry);
      connection?.run('leave', gateKeys(entry), [memberOf(entry.id)]).catch(() => {});
    },

    look: (window) =>
      ask(
        async (by) => {
          const { limit, windowMs, cost } = window;
          return stateOf((await by.run('look', [windowKey(window)], [limit, windowMs, cost])) as number[]);
        },
        () => memory.look(shareOf(window)),
      ),

    inside: (gate) =>
      ask(
        async (by) => (await by.run('inside', [gateKey(gate)], [])) as number,
        () => memory.inside(gate),
      ),

    async start() {
      isStopped = false;
      stopTimers = [
        clock.every(REFRESH_MS, refresh),
        clock.every(RETRY_MS, () => void (connection === undefined && tryOpen())),
      ];
      await tryOpen();
    },

    async stop() {
      isStopped = true;
      for (const stop of stopTimers) stop();
      await opening;
      // Answered after all earlier operations.
      await connection?.run('stay', [], [NEVER_MS, LEASE_MS]).catch(() => {});
      connection?.close();
      connection = undefined;
    },
  };
}

const withoutLimit = ({ name }: { readonly name: string }) => ({ name, limit: Infinity });

/** Decodes a window's state. */
function stateOf([ok, remaining, retryAfterMs, resetMs]: readonly number[]): WindowState {
  return {
    ok: ok === 1,
    remaining: remaining!,
    retryAfterMs: retryAfterMs! < 0 ? Infinity : retryAfterMs!,
    resetMs: resetMs!,
  };
}
