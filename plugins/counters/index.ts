/**
 * Provides `Counters`: in memory (of this process, or of the owner if this is a worker), or on a Valkey server that several gateways share,
 * to which each process has its own connection.
 */
import { Counters, type GateEntry, type WindowTake } from '../../core/contracts/counters.ts';
import { definePlugin, type Host, type Json, type Parts, type Peers, schema } from '../../core/plugin.ts';
import { settings } from '../../core/sdk.ts';
import { createMemoryCounters, type MemoryCounters } from './memory.ts';
import { readAddress } from './valkey/address.ts';
import { createSharedCounters } from './valkey/counters.ts';
import {
  CORRECT,
  type CorrectMessage,
  createWorkerCounters,
  INSIDE,
  LEAVE,
  LOOK,
  sentAdmission,
  sentState,
  TAKE,
  type TakeMessage,
  toJson,
} from './worker.ts';

interface CountersSection {
  readonly driver: 'memory' | 'valkey';
  /** The server's URL; empty in memory. */
  readonly url: string;
  /** The prefix of all keys on the server. */
  readonly prefix: string;
}

const section = schema<CountersSection>(
  settings('Rate-limit counters: requests, tokens, running calls, and sign-in attempts.', {
    driver: {
      description:
        'memory: in this gateway, lost on restart. valkey: on a Valkey or Redis server, so that several gateways enforce each limit together.',
      enum: ['memory', 'valkey'],
      default: 'memory',
    },
    url: {
      title: 'address such as valkeys://cache.example.com:6379/0',
      description:
        'The server: `valkey://` or `redis://`, with TLS `valkeys://` or `rediss://`; optionally `user:password@` before the host, and the database after it. Use an environment variable, because it contains a password.',
      type: 'string',
      pattern: '^$|^(valkeys?|rediss?)://[^\\s]+$',
      default: '',
    },
    prefix: {
      description: 'The prefix of its keys. Gateways that share limits need the same one.',
      type: 'string',
      pattern: '^[\\x21-\\x7e]{0,100}$',
      default: 'turnpike:',
    },
  }),
);

/** The interval at which unused windows are deleted. */
const SWEEP_MS = 60_000;

export default definePlugin({
  name: 'counters',
  api: 2,
  sections: { counters: section },
  provides: [Counters],
  create(host, { counters: { driver, url, prefix } }) {
    if (driver === 'valkey') return onServer(host, url, prefix);
    const { owner } = host.peers;
    if (owner !== undefined) {
      host.provide(Counters, createWorkerCounters(owner, host.clock));
      return {};
    }
    const counters = memoryOf(host);
    const guests = host.lasting<Guests>({ name: 'counters.guests', version: 1, make: () => new Map() });
    host.provide(Counters, counters);
    let stops: readonly (() => void)[] = [];
    return {
      start() {
        stops = [sweeping(host, counters), serveWorkers(host.peers, counters, guests)];
      },
      stop() {
        for (const stop of stops) stop();
      },
    };
  },
});

function onServer(host: Host, url: string, prefix: string): Parts {
  const memory = memoryOf(host);
  const server = readAddress(url);
  if (server === undefined) {
    host.problem(['counters', 'url'], 'must be the address of a server, such as valkeys://cache.example.com:6379/0');
    host.provide(Counters, memory);
    return {};
  }
  if (server.password !== undefined) host.log.hide(server.password);
  const counters = createSharedCounters({ server, prefix, memory, host });
  host.provide(Counters, counters);
  let stopSweeping = (): void => {};
  return {
    report: () => [`counted on the server ${server.name}, database ${server.database}, under ${prefix}`],
    start() {
      stopSweeping = sweeping(host, memory);
      return counters.start();
    },
    stop() {
      stopSweeping();
      return counters.stop();
    },
  };
}

/** Keeps the counts over reloads. */
function memoryOf(host: Host): MemoryCounters {
  return host.lasting({ name: 'counters.memory', version: 1, make: () => createMemoryCounters(host.clock) });
}

function sweeping(host: Host, counters: MemoryCounters): () => void {
  return host.clock.every(SWEEP_MS, () => counters.sweep());
}

/** Members of gates by the worker's epoch, then by id. */
type Guests = Map<string, Map<string, GateEntry>>;

/** Serves workers until the returned function is called. `guests` outlive a reload, as the counters do. */
function serveWorkers(peers: Peers, counters: MemoryCounters, guests: Guests): () => void {
  const on = <T>(topic: string, hear: (message: T, epoch: string) => Json | undefined): void =>
    peers.on(topic, (message, epoch) => hear(message as unknown as T, epoch));

  on<TakeMessage>(TAKE, ({ windows, entry }, epoch) => {
    const admission = counters.take(windows, entry);
    if (admission.ok && entry !== undefined) remember(epoch, entry);
    return toJson(sentAdmission(admission));
  });
  on<CorrectMessage>(CORRECT, ({ atMs, by }) => {
    for (const [window, difference] of by) counters.adjust(window, atMs, difference);
    return undefined;
  });
  on<GateEntry>(LEAVE, (entry, epoch) => {
    counters.leave(entry);
    guests.get(epoch)?.delete(entry.id);
    return undefined;
  });
  on<WindowTake>(LOOK, (window) => toJson(sentState(counters.look(window))));
  on<string>(INSIDE, (gate) => counters.inside(gate));

  function remember(epoch: string, entry: GateEntry): void {
    const ofWorker = guests.get(epoch);
    if (ofWorker === undefined) guests.set(epoch, new Map([[entry.id, entry]]));
    else ofWorker.set(entry.id, entry);
  }

  return peers.onLeft((epoch) => {
    for (const entry of guests.get(epoch)?.values() ?? []) counters.leave(entry);
    guests.delete(epoch);
  });
}
