/**
 * Provides `Counters`: in memory (of this process, or of the owner if this is a worker), or on a Valkey server that several gateways share,
 * to which each process has its own connection.
 */
import { Counters, type GateEntry, type WindowTake } from '../../core/contracts/counters.ts';
import {
  type Awaitable,
  definePlugin,
  type Host,
  type Json,
  type Parts,
  type PeerOwner,
  type Peers,
  typed,
} from '../../core/plugin.ts';
import { settings } from '../../core/sdk.ts';
import { createLeases, type Holders, type Leases } from './leases.ts';
import { createMemoryCounters, type MemoryCounters } from './memory.ts';
import {
  COUNT,
  INSIDE,
  LEAVE,
  LOOK,
  RECALL,
  REFRESH,
  REPORT,
  type Report,
  sentAdmission,
  sentState,
  TAKE,
  type TakeMessage,
  toJson,
} from './messages.ts';
import { readAddress } from './valkey/address.ts';
import { createSharedCounters } from './valkey/counters.ts';
import { createWorkerCounters } from './worker.ts';

const section = typed(
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
    if (owner !== undefined) return ofWorker(host, owner);
    const counters = memoryOf(host);
    const holders = host.lasting<Holders>({ name: 'counters.holders', version: 1, make: () => new Map() });
    const leases = createLeases({ counters, holders, peers: host.peers, clock: host.clock });
    host.provide(Counters, leases.counters);
    let stops: readonly (() => void)[] = [];
    return {
      start() {
        stops = [sweeping(host, counters), serveWorkers(host.peers, leases)];
      },
      stop() {
        for (const stop of stops) stop();
      },
    };
  },
});

function ofWorker(host: Host, owner: PeerOwner): Parts {
  // Calls of the configuration before a reload hold amounts and places, too.
  const counters = host.lasting({
    name: 'counters.worker',
    version: 1,
    make: () => createWorkerCounters(owner, host.clock),
  });
  host.provide(Counters, counters);
  return {
    start() {
      host.peers.on(RECALL, async (names) => {
        // What was leased by an answer that came with this message is there only after it.
        await new Promise<void>((resolve) => setImmediate(resolve));
        counters.giveBack(names as string[]);
        return null;
      });
      host.peers.on(REFRESH, (name) => {
        counters.refresh(name as string);
        return null;
      });
      host.peers.on(COUNT, (gate) => counters.count(gate as string));
    },
    stop: () => counters.giveAllBack(),
  };
}

function onServer(host: Host, url: string, prefix: string): Parts {
  const memory = memoryOf(host);
  const server = readAddress(url);
  if (server === undefined) {
    host.problem(['counters', 'url'], 'must be the address of a server, such as valkeys://cache.example.com:6379/0');
    host.provide(Counters, memory);
    return {};
  }
  if (server.password !== '') host.log.hide(server.password);
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

/** Serves workers until the returned function is called. */
function serveWorkers(peers: Peers, leases: Leases): () => void {
  const { counters } = leases;
  const on = <T>(topic: string, hear: (message: T, epoch: string) => Awaitable<Json | undefined>): void =>
    peers.on(topic, (message, epoch) => hear(message as unknown as T, epoch));

  on<TakeMessage>(TAKE, async ({ windows, entry }, epoch) =>
    toJson(sentAdmission(await leases.take(epoch, windows, entry))),
  );
  on<Report>(REPORT, (report, epoch) => toJson(leases.report(epoch, report)));
  on<GateEntry>(LEAVE, (entry, epoch) => {
    leases.leave(epoch, entry);
    return undefined;
  });
  on<WindowTake>(LOOK, async (window) => toJson(sentState(await counters.look(window))));
  on<string>(INSIDE, (gate) => counters.inside(gate));

  return peers.onLeft((epoch) => leases.left(epoch));
}
