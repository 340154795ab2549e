/** What core tells plugins of the gateway that they run in; where it has workers, the owner asks them. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { createAddressList } from './address.ts';
import type { Clock } from './clock.ts';
import { compareConfigurations, digestOf } from './cluster/configurations.ts';
import { nameOfStore, readListen, type StoreSection } from './config/core-sections.ts';
import { type ConfigurationTools, createConfiguration } from './configuration.ts';
import type { Peers } from './contracts/peers.ts';
import type { InFlight, InFlightQuery, Running, RunningExchange } from './contracts/running.ts';
import { createDiskWatch } from './disk.ts';
import type { LiveExchange } from './exchange.ts';
import { type Log, silentLog } from './log.ts';
import type { Place } from './place.ts';
import type { Json, OpenStore } from './plugin.ts';
import type { ProxyWatch } from './proxies.ts';
import type { Roll } from './roll.ts';
import { lastBackup } from './store.ts';
import { createWatch, type Look, type ProcessVitals, sumOfVitals } from './vitals.ts';

/** What it is made with. */
export interface RunningTools extends ConfigurationTools {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: OpenStore;
  readonly peers: Peers;
  readonly role: Place['role'];
  readonly proxies: ProxyWatch;
  /** Of every generation that has not ended. */
  rolls(): readonly Roll<LiveExchange>[];
}

/** The service, and what begins and ends with the gateway. */
export interface RunningWatch {
  readonly service: Running;
  start(): void;
  stop(): void;
}

/** Makes it. Nothing is looked at before `start`, and no call is touched: what runs is read when somebody asks. */
export function createRunning(tools: RunningTools): RunningWatch {
  const { clock, log, store, rolls, loaded, peers, role } = tools;
  const isWorker = role === 'worker';
  const inFlight = (): number => rolls().reduce((sum, { size }) => sum + size, 0);
  const waiting = (): number => store.pressure().waiting;
  const looks = (): Promise<readonly Look[]> => others<Look>(TOPIC.look);
  const watch = createWatch(clock, { inFlight, waiting }, isWorker ? undefined : looks);
  // Once is enough for the log.
  const disk = createDiskWatch(store, clock, isWorker ? silentLog : log);

  const others = async <T>(topic: string, message: Json = null): Promise<readonly T[]> =>
    role === 'owner' ? ((await peers.ask(topic, message)) as readonly T[]) : [];

  // Workers have the configuration of their owner, and a command serves no requests.
  const differing =
    role === 'alone'
      ? compareConfigurations(peers, () => {
          const { file, values } = loaded().plan;
          const gateway = `${hostname()}:${readListen(values.listen).port}`;
          return { gateway, digest: digestOf(file.text ?? '') };
        })
      : async () => [];

  function ownInFlight({ accountId, limit }: InFlightQuery): InFlight {
    const found: LiveExchange[] = [];
    for (const roll of rolls())
      for (const x of roll) if (accountId === undefined || x.identity?.account.id === accountId) found.push(x);
    found.sort(newestFirst);
    return { total: found.length, items: found.slice(0, limit).map((x) => seen(x, clock)) };
  }

  if (isWorker) {
    peers.on(TOPIC.look, () => watch.look() as unknown as Json);
    peers.on(TOPIC.inFlight, (query) => ownInFlight(query as unknown as InFlightQuery) as unknown as Json);
    peers.on(TOPIC.vitals, () => {
      const { memory, cpu } = watch.now();
      return { memory, cpu, inFlight: inFlight(), waiting: waiting() } satisfies WorkerVitals as unknown as Json;
    });
  }

  return {
    start() {
      watch.start();
      disk.start();
      // Compared as they run now, not as they were when the others started.
      void differing().then((gateways) => {
        if (gateways.length > 0)
          log.warn('other gateways on this database run with another gateway.yaml', { gateways });
      });
    },
    stop() {
      watch.stop();
      disk.stop();
    },
    service: {
      ...createConfiguration(tools),
      async inFlight(query) {
        const found = [ownInFlight(query), ...(await others<InFlight>(TOPIC.inFlight, { ...query }))];
        return {
          total: found.reduce((sum, { total }) => sum + total, 0),
          items: found
            .flatMap(({ items }) => items)
            .sort(newestFirst)
            .slice(0, query.limit),
        };
      },
      async vitals() {
        const { plan, number, loadedMs } = loaded();
        const { oldestMs } = store.pressure();
        const [room, backup, workers, differ] = await Promise.all([
          disk.look(),
          lastBackup(store),
          others<WorkerVitals>(TOPIC.vitals),
          differing(),
        ]);
        return {
          version,
          ...sumOfVitals(watch.now(), workers),
          inFlight: workers.reduce((sum, worker) => sum + worker.inFlight, inFlight()),
          configuration: { generation: number, loadedMs, differing: differ },
          keeps: keepsOf(plan.values),
          store: {
            name: nameOfStore(plan.values.store as StoreSection),
            waiting: workers.reduce((sum, worker) => sum + worker.waiting, waiting()),
            writable: Number.isFinite(oldestMs),
            scarce: !disk.hasRoom(0),
            room,
          },
          backup,
        };
      },
      hasRoom: disk.hasRoom,
      proxy() {
        const { trustProxy } = readListen(loaded().plan.values.listen);
        const { untrusted } = tools.proxies;
        const isTrusted = untrusted === undefined || createAddressList(trustProxy)(untrusted);
        return { trusted: trustProxy.length > 0, untrusted: isTrusted ? undefined : untrusted };
      },
      history: watch.history,
    },
  };
}

/** Which version of the gateway this is. */
export const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

/** What the process that leads asks the others. */
const TOPIC = { look: 'core.look', inFlight: 'core.in flight', vitals: 'core.vitals' } as const;

interface WorkerVitals extends Pick<ProcessVitals, 'memory' | 'cpu'> {
  readonly inFlight: number;
  readonly waiting: number;
}

/** Ids are in the order of time. */
function newestFirst(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? 1 : -1;
}

/** An exchange as it is at this moment. */
function seen(x: LiveExchange, clock: Clock): RunningExchange {
  const call = x.callSoFar;
  return {
    id: x.id,
    startedMs: x.startedMs,
    ms: Math.round(clock.mono() - x.startedMono),
    holder: x.identity,
    ip: x.ip,
    style: x.style?.name ?? '',
    model: call?.model ?? '',
    stream: call?.stream ?? false,
    channel: x.attempts.at(-1)?.offer.channel.name,
    attempts: x.attempts.length,
    phase: x.delivered ? 'answering' : x.attempts.length > 0 ? 'asking' : 'waiting',
    outputTokens: x.usage?.output ?? 0,
  };
}

/** The sections that say how long they keep what is theirs. */
function keepsOf(values: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const keeps: Record<string, string> = {};
  for (const [name, section] of Object.entries(values)) {
    const keep = (section as { readonly keep?: unknown } | null | undefined)?.keep;
    if (typeof keep === 'string' || typeof keep === 'number') keeps[name] = String(keep);
  }
  return keeps;
}
