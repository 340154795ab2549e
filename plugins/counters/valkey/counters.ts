/**
 * Counters of several gateways, on a Valkey server. Without the server each process enforces its share of every limit in its own memory,
 * tries again every second, and goes back.
 */
import type { Admission, Counters, GateEntry, WindowState, WindowTake } from '../../../core/contracts/counters.ts';
import type { Host } from '../../../core/plugin.ts';
import type { MemoryCounters } from '../memory.ts';
import type { Server } from './address.ts';
import { type Connection, connect, WAIT_MS } from './connection.ts';
import { createScript, LATE, type Operation, type Script } from './script.ts';

/** Whoever is inside a gate is forgotten if the process does not say for so long that it still is. */
const LEASE_MS = 15_000;
/** How often it says so. */
const REFRESH_MS = 5_000;
/** How often it is tried to reach the server. */
const RETRY_MS = 1_000;
/** A server that comes and goes is not told of more often. */
const QUIET_MS = 60_000;
/** What clocks and timers round by. */
const ROUNDING_MS = 2;
/** A deadline that no clock reaches. */
const NEVER_MS = 1e14;
/** Who is inside gates is told in operations of so many, so that none keeps the server from others for long. */
const TOLD_AT_ONCE = 500;

/** Counters on a server. */
export interface SharedCounters extends Counters {
  readonly shared: boolean;
  /** Connects. Resolves when the server is reached, or is known not to be. */
  start(): Promise<void>;
  /** Ends the connection, behind everything that was sent. */
  stop(): Promise<void>;
}

/** What they are made of. */
export interface SharedOptions {
  readonly server: Server;
  readonly prefix: string;
  /** Has this process's own calls inside gates at any time, and all it counts while there is no server. */
  readonly memory: MemoryCounters;
  readonly host: Pick<Host, 'boot' | 'clock' | 'log' | 'peers'>;
  readonly script?: Script;
}

/** Makes them. */
export function createSharedCounters({
  server,
  prefix,
  memory,
  host: { boot, clock, log, peers },
  script = createScript(),
}: SharedOptions): SharedCounters {
  /** What is not in here counts on the server. */
  const countedHere = new WeakSet<Admission>();
  let connection: Connection | undefined;
  let isStopped = true;
  /** Whether the log says that there is no server, and when it was told last. */
  let isTold = false;
  let toldMs = -Infinity;
  let stopTimers: readonly (() => void)[] = [];
  /** How far the server's clock is ahead of this process's, or a little less: the way of an answer. */
  let aheadMs = 0;

  const windowKey = ({ name }: WindowTake): string => `${prefix}window:${name}`;
  const gateKeys = ({ gates }: GateEntry): string[] => gates.map(({ name }) => gateKey(name));
  const gateKey = (name: string): string => `${prefix}gate:${name}`;
  const memberOf = (id: string): string => `${boot} ${id}`;

  // ---- the connection

  /**
   * An operation whose first argument is its deadline, and whose answer begins with a code and the time. What comes to the server when nobody
   * waits for it any more does nothing there. What is told that it was late is still waited for: this process was held up before it was
   * written, or the server's clock has jumped, so it is sent once more.
   */
  async function runInTime(
    by: Connection,
    operation: Operation,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<readonly number[]> {
    const answer = await sendInTime(by, operation, keys, args);
    return answer[0] === LATE ? sendInTime(by, operation, keys, args) : answer;
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
    // An answer that lay here unread does not tell what time it is.
    if (readMs - sentMs <= WAIT_MS) aheadMs = answer[1]! - readMs;
    return answer;
  }

  function lost(reason: string): void {
    connection = undefined;
    if (isTold || clock.mono() - toldMs < QUIET_MS) return;
    isTold = true;
    toldMs = clock.mono();
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
      // Proves that the script can be run, and tells the time.
      const [, serverMs] = (await opened.run('stay', [], [NEVER_MS, LEASE_MS])) as number[];
      aheadMs = serverMs! - clock.mono();
    } catch (error) {
      // Of a connection that was open, `lost` has heard.
      if (opened === undefined) lost((error as Error).message);
      return;
    }
    if (isStopped) return opened.close();
    connection = opened;
    // Before any call is let in: the server may have forgotten who is inside, or have let go of them meanwhile.
    refresh();
    if (isTold) log.info('Valkey can be reached again: all gateways enforce the limits together');
    isTold = false;
  }

  let opening: Promise<void> | undefined;
  function tryOpen(): Promise<void> {
    opening ??= open().finally(() => {
      opening = undefined;
    });
    return opening;
  }

  /** Tells the server who is inside, and that this process lives. */
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
        const told = left.slice(0, TOLD_AT_ONCE - count);
        left = left.slice(told.length);
        keys.push(gateKey(gate));
        args.push(told.length, ...told.map(memberOf));
        count += told.length;
        if (count === TOLD_AT_ONCE) send();
      }
    }
    // One without anybody, too: it finds out that a connection is dead before a call does.
    send();
  }

  // ---- without a server

  const share = (limit: number): number => Math.min(limit, Math.max(1, Math.ceil(limit / peers.count)));

  /** What fits into the limit fits into the share, if nothing else does. */
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

  /** On the server if there is one; else, or if it fails, here. */
  async function ask<T>(there: (by: Connection) => Promise<T>, here: () => T): Promise<T> {
    if (connection === undefined) return here();
    try {
      return await there(connection);
    } catch {
      return here();
    }
  }

  // ---- with one

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
    // To be told again, whatever becomes of the server.
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
      // Without a server nobody waits.
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
      // Answered behind everything that was sent before.
      await connection?.run('stay', [], [NEVER_MS, LEASE_MS]).catch(() => {});
      connection?.close();
      connection = undefined;
    },
  };
}

const withoutLimit = ({ name }: { readonly name: string }) => ({ name, limit: Infinity });

/** What a script says of a window. */
function stateOf([ok, remaining, retryAfterMs, resetMs]: readonly number[]): WindowState {
  return {
    ok: ok === 1,
    remaining: remaining!,
    retryAfterMs: retryAfterMs! < 0 ? Infinity : retryAfterMs!,
    resetMs: resetMs!,
  };
}
