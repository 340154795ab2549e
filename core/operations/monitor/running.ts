/** The service `Running`: the state of this gateway, its workers included, and of the other gateways on its store. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Plan } from '../../assembly/assemble.ts';
import type { LiveExchange } from '../../call/live-exchange.ts';
import { createOtherGateways, digestOf, NO_OTHERS } from '../../cluster/gateways.ts';
import type { ClusterPeers } from '../../cluster/peers.ts';
import { nameOfStore, readListen, type StoreSection } from '../../config/core-sections.ts';
import type { Counters } from '../../contracts/counters.ts';
import type { Diagnosis } from '../../contracts/diagnosis.ts';
import type { Peers } from '../../contracts/peers.ts';
import type {
  BackupRun,
  BackupSchedule,
  GatewayReport,
  GatewayState,
  InFlight,
  InFlightQuery,
  Readiness,
  Running,
  RunningExchange,
} from '../../contracts/running.ts';
import { createAddressList } from '../../helpers/address-list.ts';
import type { Json, OpenStore } from '../../plugin.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Log, silentLog } from '../../runtime/logger.ts';
import type { Roll } from '../../runtime/registry.ts';
import type { ProcessRole } from '../../server/process-role.ts';
import type { ProxyWatch } from '../../server/proxy-watch.ts';
import { lastBackup, schemaVersion } from '../../store/migrations.ts';
import {
  type ConfigurationTools,
  createConfiguration,
  createExamination,
  type Judge,
} from '../config-editing/review.ts';
import { createDiskWatch } from './disk.ts';
import { createWatch, type Look, type ProcessVitals, sumOfVitals } from './vitals.ts';

/** The dependencies of `Running`. */
export interface RunningTools extends ConfigurationTools {
  readonly judge: Judge;
  /** The findings about the current text and this gateway; they may contain secrets. */
  examine(): Promise<readonly Diagnosis[]>;
  readonly clock: Clock;
  readonly log: Log;
  readonly store: OpenStore;
  readonly peers: Peers;
  /** Set if several gateways may share the store. */
  readonly cluster: ClusterPeers | undefined;
  readonly role: ProcessRole['role'];
  readonly proxies: ProxyWatch;
  /** Of every generation that has not ended. */
  rolls(): readonly Roll<LiveExchange>[];
  /** Requests that began since the start of the process. */
  begun(): number;
  readiness(): Readiness;
  counters(): Counters | undefined;
  backups(): BackupSchedule | undefined;
  backUp(): Promise<BackupRun>;
}

/** The service, and its start and stop. */
export interface RunningWatch {
  readonly service: Running;
  start(): void;
  stop(): void;
}

/** Creates it. Nothing is sampled before `start`, and calls have no extra cost: running requests are read on demand. */
export function createRunning(tools: RunningTools): RunningWatch {
  const { clock, log, store, rolls, begun, loaded, peers, cluster, role } = tools;
  const isWorker = role === 'worker';
  const inFlight = (): number => rolls().reduce((sum, { size }) => sum + size, 0);
  const waiting = (): number => store.pressure().waiting;
  const isWritable = (): boolean => Number.isFinite(store.pressure().oldestMs);
  const looks = (): Promise<readonly Look[]> => others<Look>(TOPIC.look);
  const watch = createWatch(clock, { inFlight, begun, waiting }, isWorker ? undefined : looks);
  // Logged only once.
  const disk = createDiskWatch(store, clock, isWorker ? silentLog : log);

  const others = async <T>(topic: string, message: Json = null): Promise<readonly T[]> =>
    role === 'owner' ? ((await peers.ask(topic, message)) as readonly T[]) : [];

  const name = (): string => gatewayName(loaded().plan);

  function ownInFlight({ accountId, limit }: InFlightQuery, gateway?: string): InFlight {
    const found: LiveExchange[] = [];
    for (const roll of rolls())
      for (const x of roll) if (accountId === undefined || x.identity?.account.id === accountId) found.push(x);
    found.sort(newestFirst);
    return { total: found.length, items: found.slice(0, limit).map((x) => seen(x, clock, gateway)) };
  }

  function stateOf(
    { memory, lag, startedMs }: ProcessVitals,
    own: Pick<WorkerVitals, 'inFlight' | 'waiting'>,
  ): GatewayState {
    const { plan } = loaded();
    const { driver } = (plan.values.counters ?? {}) as { readonly driver?: string };
    const report: GatewayReport = {
      readiness: tools.readiness(),
      configuration: digestOf(plan.file.text ?? ''),
      memory: { rss: memory.rss, heapUsed: memory.heapUsed, heapLimit: memory.heapLimit, machine: memory.machine },
      lag,
      inFlight: own.inFlight,
      calls: watch.calls(),
      store: { waiting: own.waiting, writable: isWritable() },
      counters: driver === undefined ? undefined : { driver, shared: tools.counters()?.shared },
    };
    return { name: name(), version, startedMs, report };
  }

  const ownState = (): GatewayState => stateOf(watch.now(), { inFlight: inFlight(), waiting: waiting() });
  const gateways = cluster === undefined ? NO_OTHERS : createOtherGateways(cluster, clock);
  // A command is a member of the store's processes, but not a gateway.
  if (role === 'command') gateways.answer(undefined);

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
      gateways.answer({ look: ownState, inFlight: (query) => ownInFlight(query, name()) });
      // Compared with their current configuration, not that of their start.
      void gateways.look().then(
        (others) => {
          const differing = differingFrom(ownState(), others);
          if (differing.length > 0)
            log.warn('other gateways on this database run with a different gateway.yaml', { gateways: differing });
        },
        (error: unknown) => log.warn('could not query the other gateways on this database', { error }),
      );
    },
    stop() {
      watch.stop();
      disk.stop();
    },
    service: {
      ...createConfiguration(tools, tools.judge),
      examine: createExamination(tools, tools.judge, tools.examine),
      async inFlight(query) {
        const gateway = cluster !== undefined && cluster.count > 1 ? name() : undefined;
        const found = [
          ownInFlight(query, gateway),
          ...(await others<InFlight>(TOPIC.inFlight, { ...query })),
          ...(await gateways.inFlight(query)),
        ];
        return {
          total: found.reduce((sum, { total }) => sum + total, 0),
          items: found
            .flatMap(({ items }) => items)
            .sort(newestFirst)
            .slice(0, query.limit),
        };
      },
      async vitals(of = 'store') {
        const { plan, number, loadedMs } = loaded();
        const [room, backup, schema, workers, beside] = await Promise.all([
          disk.look(),
          lastBackup(store),
          schemaVersion(store),
          others<WorkerVitals>(TOPIC.vitals),
          of === 'store' ? gateways.look() : [],
        ]);
        const vitals = sumOfVitals(watch.now(), workers);
        const own = {
          inFlight: workers.reduce((sum, worker) => sum + worker.inFlight, inFlight()),
          waiting: workers.reduce((sum, worker) => sum + worker.waiting, waiting()),
        };
        const state = stateOf(vitals, own);
        return {
          version,
          ...vitals,
          inFlight: beside.reduce((sum, { report }) => sum + (report?.inFlight ?? 0), own.inFlight),
          configuration: { generation: number, loadedMs, differing: differingFrom(state, beside) },
          keeps: keepsOf(plan.values),
          store: {
            name: nameOfStore(plan.values.store as StoreSection),
            schema,
            waiting: own.waiting,
            writable: isWritable(),
            scarce: !disk.hasRoom(0),
            room,
          },
          backup,
          backups: tools.backups(),
          gateways: [state, ...beside],
        };
      },
      hasRoom: disk.hasRoom,
      proxy() {
        const { trustProxy } = readListen(loaded().plan.values.listen);
        const { untrusted } = tools.proxies;
        const isTrusted = untrusted === undefined || createAddressList(trustProxy)(untrusted);
        return { trusted: trustProxy.length > 0, untrusted: isTrusted ? undefined : untrusted };
      },
      backups: () => tools.backups(),
      backUp: () => tools.backUp(),
      history: watch.history,
    },
  };
}

/** The version of the gateway. */
export const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

/** The name of this gateway for the others on its store. */
export function gatewayName({ values }: Plan): string {
  return `${hostname()}:${readListen(values.listen).port}`;
}

/** The query of the leading process to the others. */
const TOPIC = { look: 'core.look', inFlight: 'core.in flight', vitals: 'core.vitals' } as const;

interface WorkerVitals extends Pick<ProcessVitals, 'memory' | 'cpu'> {
  readonly inFlight: number;
  readonly waiting: number;
}

/** Ids are ordered by time. */
function newestFirst(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? 1 : -1;
}

/** The names of gateways with a different gateway.yaml. */
function differingFrom({ report: own }: GatewayState, others: readonly GatewayState[]): readonly string[] {
  return others
    .filter(({ report }) => report !== undefined && report.configuration !== own?.configuration)
    .map(({ name }) => name);
}

/** A request in its current state. */
function seen(x: LiveExchange, clock: Clock, gateway: string | undefined): RunningExchange {
  const { callIfRead: call, identity } = x;
  return {
    id: x.id,
    startedMs: x.startedMs,
    ms: Math.round(clock.mono() - x.startedMono),
    holder: identity && {
      account: { id: identity.account.id, name: identity.account.name },
      key: { id: identity.key.id, name: identity.key.name },
    },
    ip: x.ip,
    style: x.style?.name ?? '',
    model: call?.model ?? '',
    stream: call?.stream ?? false,
    channel: x.attempts.at(-1)?.offer.channel.name,
    attempts: x.attempts.length,
    phase: x.delivered ? 'answering' : x.attempts.length > 0 ? 'asking' : 'waiting',
    outputTokens: x.usage?.output ?? 0,
    gateway,
  };
}

/** Sections with a retention setting. */
function keepsOf(values: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const keeps: Record<string, string> = {};
  for (const [name, section] of Object.entries(values)) {
    const keep = (section as { readonly keep?: unknown } | null | undefined)?.keep;
    if (typeof keep === 'string' || typeof keep === 'number') keeps[name] = String(keep);
  }
  return keeps;
}
