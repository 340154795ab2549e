/** The owner of workers: forks their processes, tells them what to do, and replaces those that end. */

import type { ChildProcess } from 'node:child_process';
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { Plan } from '../assembly/assemble.ts';
import { storeFileOf, storeSocketOf } from '../assembly/open-store.ts';
import { listenPrivately, socketPath } from '../helpers/private-socket.ts';
import type { Json, StoreSharing } from '../plugin.ts';
import type { Clock } from '../runtime/clock.ts';
import { threadOf } from '../runtime/compiled.ts';
import { boot } from '../runtime/ids.ts';
import type { Log } from '../runtime/logger.ts';
import { type Door, refuseAddress } from '../server/listen-address.ts';
import type { ProcessRole } from '../server/process-role.ts';
import type { Message } from './link.ts';
import { createLink, type Link } from './link.ts';
import { type Beginning, type ListenOrder, type ListenReport, ORDER, REPORT, type StopOrder } from './orders.ts';
import { createOwnerPeers } from './peers.ts';

/** A worker that has served this long is replaced at once. */
const STEADY_MS = 10_000;
/** The delay otherwise: initial and maximum. */
const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** Returns a function that gives the delay, in milliseconds, for the worker of a number that served for `servedMs`. */
export function createPauses(): (number: number, servedMs: number) => number {
  /** The next delay of each. */
  const next = new Map<number, number>();
  return (number, servedMs) => {
    if (servedMs >= STEADY_MS) {
      next.delete(number);
      return 0;
    }
    const pauseMs = next.get(number) ?? FIRST_MS;
    next.set(number, Math.min(2 * pauseMs, LONGEST_MS));
    return pauseMs;
  };
}

/** Options of an owner. */
export interface OwnerOptions {
  readonly plan: Plan;
  readonly configFile: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly clock: Clock;
  /** The number of workers. */
  readonly workers: number;
}

/** An owner whose workers have not been started. */
export interface Owner {
  /** How its workers attach to the store. */
  readonly sharing: StoreSharing;
  /** Its role, if its workers listen at this address. */
  roleAt(door: Door): ProcessRole;
}

/** Additional time for a worker to end, in addition to its calls: longer than its own limits. Then it is killed. */
const ENDING_MS = 20_000;
/** Time for a worker to reload gateway.yaml. */
const RELOAD_MS = 30_000;

/** The process of a worker. */
interface Employed {
  readonly number: number;
  readonly link: Link;
  readonly process: Fork;
  /** Resolves when it is ready to serve; rejects if it fails. */
  readonly prepared: Promise<void>;
  isPrepared: boolean;
  /** Start of serving, on the monotonic clock. */
  servesSince: number | undefined;
  /** It was ordered to end. */
  isLeaving: boolean;
}

/** Creates it. */
export function createOwner({ plan, configFile, env, log, clock, workers: count }: OwnerOptions): Owner {
  const storeFile = storeFileOf(plan);
  const routes = socketPath(storeFile, '.routes');
  const { peers, joined, handle, exited, settled } = createOwnerPeers(boot, count, { clock, log });
  const all = new Set<Employed>();
  const byEpoch = new Map<string, Employed>();
  const pauseBefore = createPauses();
  const pausing = new Set<() => void>();
  let isStopping = false;

  function launch(number: number): Employed {
    let epoch: string | undefined;
    const process = fork((messages) => link.receive(messages));
    const link = createLink(process.send, (topic, message) => {
      if (topic === REPORT.here) begin();
      else if (topic !== REPORT.joined) return handle(topic, message);
      else {
        epoch = String(message);
        byEpoch.set(epoch, worker);
        joined(epoch, link);
      }
      return undefined;
    });
    let begin = (): void => {};
    const prepared = new Promise<void>((resolve, reject) => {
      begin = () => {
        const beginning: Beginning = { number, count, configFile, env, routes };
        link.ask(ORDER.begin, json(beginning)).then(() => {
          worker.isPrepared = true;
          resolve();
        }, reject);
      };
      process.ended.then(() => reject(new Error('its process ended')));
    });
    const worker: Employed = {
      number,
      link,
      process,
      prepared,
      isPrepared: false,
      servesSince: undefined,
      isLeaving: false,
    };
    all.add(worker);
    process.ended.then(() => {
      link.end();
      all.delete(worker);
      if (epoch === undefined) return;
      byEpoch.delete(epoch);
      exited(epoch);
    });
    return worker;
  }

  async function listen({ link }: Employed, { host, port }: Door): Promise<void> {
    const { failed } = (await link.ask(ORDER.listen, json<ListenOrder>({ host, port }))) as ListenReport;
    if (failed === undefined) return;
    refuseAddress(Object.assign(new Error(`a worker cannot listen: ${failed}`), { code: failed }), plan.file);
  }

  function serve(worker: Employed): void {
    worker.servesSince = clock.mono();
    worker.link.tell(ORDER.serve, null);
  }

  /** Replaces it when it ends. */
  async function keep(worker: Employed, door: Door): Promise<void> {
    const { number } = worker;
    const { code, signal } = await worker.process.ended;
    if (isStopping) return;
    const served = worker.servesSince === undefined ? 0 : clock.mono() - worker.servesSince;
    const pauseMs = pauseBefore(number, worker.isLeaving ? Infinity : served);
    log.error('a worker ended and is replaced', { worker: number, code, signal, pauseMs });
    const goOn = (): void => {
      cancel();
      pausing.delete(cancel);
      replace(number, door);
    };
    const cancel = clock.after(pauseMs, goOn);
    pausing.add(cancel);
  }

  function replace(number: number, door: Door): void {
    const worker = launch(number);
    void keep(worker, door);
    worker.prepared
      .then(() => listen(worker, door))
      .then(
        () => serve(worker),
        (error: unknown) => {
          if (!isStopping) log.error('a worker cannot serve', { worker: number, error });
          worker.process.kill();
        },
      );
  }

  /** Drains it, and starts a replacement. */
  function dismiss(worker: Employed, order: StopOrder): void {
    worker.isLeaving = true;
    worker.link.tell(ORDER.stop, json(order));
  }

  function killLater(ms: number, workers: Iterable<Employed>): void {
    for (const { process } of workers) {
      const cancel = clock.after(ms, process.kill);
      process.ended.then(cancel);
    }
  }

  async function reload(worker: Employed, drainMs: number): Promise<void> {
    let cancel = (): void => {};
    const late = new Promise<never>((_, reject) => {
      cancel = clock.after(RELOAD_MS, () => reject(new Error('it takes too long')));
    });
    try {
      await worker.prepared;
      await Promise.race([worker.link.ask(ORDER.reload, null), late]);
    } catch (error) {
      // An ended one is replaced anyway.
      if (isStopping || !all.has(worker)) return;
      log.error('a worker could not reload gateway.yaml and is replaced', {
        worker: worker.number,
        error,
      });
      dismiss(worker, { withAll: false });
      killLater(drainMs + ENDING_MS, [worker]);
    } finally {
      cancel();
    }
  }

  const roleAt = (door: Door): ProcessRole => ({
    role: 'owner',
    peers,
    server: { servesWorkers: true },
    async listen(server) {
      await listenPrivately(server, routes);
      const workers = Array.from({ length: count }, (_, i) => launch(i + 1));
      await Promise.all(workers.map((worker) => started(worker)));
      // As briefly as possible: no other process may bind it.
      door.close();
      await Promise.all(workers.map((worker) => listen(worker, door)));
      for (const worker of workers) void keep(worker, door);
      return door.port;
    },
    ready() {
      for (const worker of all) serve(worker);
    },
    async reloaded(drainMs) {
      await Promise.all([...all].map((worker) => reload(worker, drainMs)));
    },
    async stopping(drainMs) {
      isStopping = true;
      for (const cancel of pausing) cancel();
      const workers = [...all];
      for (const worker of workers) {
        // A worker that has not started has nothing to drain.
        if (worker.isPrepared) dismiss(worker, { withAll: true });
        else worker.process.kill();
      }
      killLater(drainMs + ENDING_MS, workers);
      const endings = await Promise.all(workers.map(({ process }) => process.ended));
      return endings.every(({ code }, i) => code === 0 || !workers[i]!.isPrepared);
    },
    hurry() {
      for (const { link } of all) link.tell(ORDER.hurry, null);
      killLater(ENDING_MS, all);
    },
    close: door.close,
  });

  return {
    sharing: {
      socket: storeSocketOf(storeFile),
      left(epoch) {
        settled(epoch);
        // A worker that cannot write any more would refuse all its requests.
        const worker = byEpoch.get(epoch);
        if (worker?.isLeaving === false) worker.process.kill();
      },
    },
    roleAt,
  };
}

/** Rejects with the worker's number if a worker cannot serve. */
async function started({ number, prepared }: Employed): Promise<void> {
  try {
    await prepared;
  } catch (error) {
    throw new Error(`worker ${number} did not start: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function json<T extends object>(message: T): Json {
  return message as unknown as Json;
}

/** A forked process. */
interface Fork {
  send(messages: readonly Message[]): void;
  kill(): void;
  /** Resolves when it has ended, and everything that it had sent was received. */
  readonly ended: Promise<Ending>;
}

/** How a process ended; neither field: it could not be started. */
interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Starts the process of a worker, the same code, compiled or not; `receive` gets its messages. */
function fork(receive: (messages: readonly Message[]) => void): Fork {
  const source = fileURLToPath(new URL('../gateway/worker-process.ts', import.meta.url));
  const module = threadOf(source);
  const reading = module === source ? ['--import', new URL('../../scripts/typescript.mjs', import.meta.url).href] : [];
  // Round robin: the system's own distribution sends most connections to a few of them.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({
    exec: module,
    args: [],
    execArgv: [...process.execArgv, ...reading],
    serialization: 'advanced',
  });
  const worker = cluster.fork();
  worker.on('message', receive);
  const { process: child } = worker;
  const dropped = followConnections(child);

  const ended = new Promise<Ending>((resolve) => {
    let ending: Ending | undefined;
    let isDeaf = false;
    const end = (): void => {
      if (ending !== undefined && isDeaf) resolve(ending);
    };
    worker.on('exit', (code: number | null, signal: string | null) => {
      ending = { code, signal };
      end();
    });
    worker.on('disconnect', () => {
      isDeaf = true;
      end();
    });
    worker.on('error', () => {
      // A failed send is reported by the end of the process, unless it never started.
      if (child.pid === undefined) resolve({ code: null, signal: null });
    });
    // Node.js reports no `disconnect` if the process ended before it acknowledged a connection that it was given. `cluster` and the listener above
    // still need it: without it, the worker keeps its place in the distribution.
    child.on('close', () => {
      dropped();
      if (!isDeaf) child.emit('disconnect');
    });
  });

  return {
    send(messages) {
      if (worker.isConnected()) worker.send(messages as Message[], () => {});
    },
    kill: () => void child.kill('SIGKILL'),
    ended,
  };
}

/** A connection as `cluster` gives it to a worker. */
interface Connection {
  /** -1: closed in this process. */
  readonly fd: number;
  close(): void;
}
/** The process that a connection was given to last: a worker that is stopping returns it, and it is given to another. */
const holders = new WeakMap<Connection, ChildProcess>();

/**
 * Follows the connections that are given to a process. Returns a function that closes those that the process did not acknowledge before it ended: this
 * process still has them open, and their clients would wait for ever.
 */
function followConnections(child: ChildProcess): () => void {
  let given: readonly Connection[] = [];
  const isOpen = (connection: Connection): boolean => connection.fd >= 0 && holders.get(connection) === child;
  const send = child.send.bind(child) as (...args: unknown[]) => boolean;
  child.send = (...args: unknown[]) => {
    const [, connection] = args as [unknown, Connection | null | undefined];
    if (typeof connection?.fd === 'number') {
      holders.set(connection, child);
      // An acknowledged one is closed here: few are open at a time.
      given = [...given.filter(isOpen), connection];
    }
    return send(...args);
  };
  return () => {
    for (const connection of given.filter(isOpen)) connection.close();
    given = [];
  };
}
