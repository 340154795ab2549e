/** A gateway: store, plugins and server put together, reloaded as a whole, and taken apart in reverse. */

import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import { hostname } from 'node:os';
import { createAddressList } from './address.ts';
import { createAsk } from './ask.ts';
import {
  type Assembly,
  assemble,
  CORE_PATHS,
  type Plan,
  planFrom,
  planOf,
  rehearse,
  type Surroundings,
} from './assembly.ts';
import { backupCommand } from './backup-command.ts';
import { endExchange } from './books.ts';
import { type Clock, systemClock } from './clock.ts';
import { digestOf } from './cluster/gateways.ts';
import { type ClusterPeers, joinPeers } from './cluster/peers.ts';
import { requireCompatiblePeers, tellKnownTables } from './cluster/tables.ts';
import { CORE_COMMANDS, CommandFailed, type CommandLine, type CommandResult, runCommand } from './commands.ts';
import { readListen, readUpstream } from './config/core-sections.ts';
import { readConfig, reasons } from './config/file.ts';
import { throwIfWrong } from './config/sections.ts';
import type { Loaded } from './configuration.ts';
import { Catalog } from './contracts/catalog.ts';
import { Counters } from './contracts/counters.ts';
import { coreErrors } from './contracts/errors.ts';
import { Explaining } from './contracts/explaining.ts';
import { FirstStart } from './contracts/first-start.ts';
import { Inspecting } from './contracts/inspecting.ts';
import { KeyPlaces } from './contracts/key-places.ts';
import type { Peers } from './contracts/peers.ts';
import { type Readiness, Running } from './contracts/running.ts';
import { controlPath, openControl } from './control.ts';
import { readOrigins } from './cors.ts';
import { createDeadlines } from './deadlines.ts';
import { type Door, stopListening, takeAddress } from './door.ts';
import type { LiveExchange } from './exchange.ts';
import { createExplaining } from './explain.ts';
import { runExplain } from './explain-command.ts';
import { boot } from './id.ts';
import { createInspecting } from './inspecting.ts';
import { createIntake } from './intake.ts';
import { LastingStates } from './lasting.ts';
import { type Log, silentLog } from './log.ts';
import { createOpaqueCarrier } from './opaque.ts';
import {
  attachStore,
  isOnServer,
  keySourceOf,
  openForCommand,
  openToServe,
  prepareStore,
  storeFileOf,
  vaultOf,
} from './opening.ts';
import { aloneOf } from './peers.ts';
import { createPipeline } from './pipeline.ts';
import { NOWHERE, type Place, placeAt } from './place.ts';
import { answer, type Command, type Guard, type OpenStore, type Plugin, type Route, type Sections } from './plugin.ts';
import { createProxyWatch, type ProxyWatch } from './proxies.ts';
import { describeFindings, type Finding, reconcile } from './reconcile.ts';
import { refuseRestart, watchFile } from './reloading.ts';
import { createRoll, type Tally } from './roll.ts';
import { createRouter } from './router.ts';
import { createRunning, gatewayName, version } from './running.ts';
import { createGatewayServer, type Generation } from './server.ts';
import {
  CORE_TABLES,
  copyBeforeUpgrade,
  exclusively,
  migrate,
  pendingMigrations,
  requireUpToDate,
  type TableOwner,
} from './store.ts';
import { openUpstream } from './upstream.ts';

/** What a gateway is opened with. */
export interface GatewayOptions {
  /** Path of gateway.yaml. */
  readonly configFile: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly clock?: Clock;
  /** Plugins beside those of the file, at the end of the pipeline. */
  readonly plugins?: readonly Plugin<Sections>[];
  /** Is filled with what the very first start makes, also where that start then fails. */
  readonly firstSecrets?: FirstSecrets;
}

/** What was made on the very first start and is shown once. */
export interface FirstSecrets {
  readonly rootPassword?: string;
  readonly key?: string;
  /** Where people sign in with the password; no secret. */
  readonly signIn?: string;
  /** The files that were made: the database, and the master key unless the environment has it. */
  readonly database?: string;
  readonly masterKey?: string;
}

/** An open gateway: store, plugins and, after `listen`, the network. */
export interface Gateway {
  /** Starts to take requests. Resolves with the address. */
  listen(): Promise<{ readonly url: string; readonly port: number }>;
  /** Builds a new generation from the file and swaps it in. Throws `ConfigError`, and then nothing has changed. */
  reload(): Promise<void>;
  /** Runs a command of the command line. */
  run(line: CommandLine): Promise<CommandResult>;
  reconcile(): Promise<readonly Finding[]>;
  readonly firstSecrets: FirstSecrets;
  /** Resolves where it cannot go on, and is to be stopped: the processes that share its store have given it up for dead. */
  readonly failed: Promise<Error>;
  /** A public model name that the greeting can call; undefined where there is none. */
  readonly exampleModel: string | undefined;
  /**
   * Stops taking requests, waits for running ones up to `listen.drain`, cuts the rest off, and closes everything. Takes an end,
   * whatever hangs; rejects where something was not waited for any longer.
   */
  stop(): Promise<void>;
  /** Cuts a running drain short. */
  hurry(): void;
}

/** Opens a gateway: everything but taking requests. Makes the store if there is none. Throws `ConfigError`, `StoreInUse`, `StoreUnavailable`. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const file = readConfig(options.configFile, options.env);
  await prepareStore(file);
  const plan = await planOf(file, options.env, options.plugins ?? []);
  // Whatever can be found wrong is found before the store is touched.
  await rehearse(plan);
  return openPlanned(plan, options, false);
}

/** The same of a plan that was rehearsed. `alone`: it runs a command and serves nobody; it takes no address, and `listen` is not called. */
export async function openPlanned(plan: Plan, options: GatewayOptions, alone: boolean): Promise<Gateway> {
  const { log } = options;
  if (alone) return assembleIn(NOWHERE, plan, await openForCommand(plan, log), options);
  const { workers } = readListen(plan.values.listen);
  if (workers > 1) return openOwner(plan, options, workers);
  return takePlace(await openToServe(plan, log), plan, options, placeAt);
}

async function openOwner(plan: Plan, options: GatewayOptions, workers: number): Promise<Gateway> {
  const { createOwner } = await import('./workers/owner.ts');
  const owner = createOwner({ ...options, clock: options.clock ?? systemClock, plan, workers });
  return takePlace(await openToServe(plan, options.log, owner.sharing), plan, options, owner.placeAt);
}

/** Before anything is written: what a first start makes once would be lost with a start that fails. */
async function takePlace(
  store: OpenStore,
  plan: Plan,
  options: GatewayOptions,
  placeOf: (door: Door) => Place,
): Promise<Gateway> {
  let door: Door;
  try {
    door = await takeAddress(plan);
  } catch (error) {
    await store.close();
    throw error;
  }
  return assembleIn(placeOf(door), plan, store, options);
}

/** Opens the gateway of a worker, in its place and on the store of the owner. `joined` is called before anything is written there. */
export async function openWorker(
  place: Place,
  options: GatewayOptions,
  joined: () => Promise<unknown>,
): Promise<Gateway> {
  const plan = await planFrom(options.configFile, options.env, options.plugins);
  throwIfWrong(plan.file);
  const store = await attachStore(plan, options.log, boot);
  await joined();
  return assembleIn(place, plan, store, options);
}

async function assembleIn(place: Place, plan: Plan, store: OpenStore, options: GatewayOptions): Promise<Gateway> {
  const { log, clock = systemClock, firstSecrets = {} } = options;
  // A worker and a command only find what was made.
  const mayMake = place.role === 'alone' || place.role === 'owner';
  const provided = new Map([[FirstStart.id, firstStart(firstSecrets, plan, mayMake)]]);
  let fail = (_: Error): void => {};
  const failed = new Promise<Error>((resolve) => {
    fail = resolve;
  });
  try {
    const cluster =
      place.peers === undefined ? await joinCluster(plan, store, place, { clock, log, ended: fail }) : undefined;
    const peers = place.peers ?? cluster ?? aloneOf(boot);
    // Also while it waits for one that changes tables.
    tellKnownTables(peers, ownersOf(plan));
    return await exclusively(store, async () => {
      const vault = await vaultOf(plan, store, mayMake);
      const around = { store, log, clock, vault, peers, lasting: new LastingStates(), provided };
      return assembleGateway(plan, around, { store, options, firstSecrets, place, cluster, mayMake, failed });
    });
  } catch (error) {
    place.close();
    await store.close();
    throw error;
  }
}

const ownersOf = ({ plugins }: Plan): readonly TableOwner[] => [CORE_TABLES, ...plugins];

/** The processes that serve on this store; a command is one of them, so that it takes nothing for left that another one uses. */
async function joinCluster(
  plan: Plan,
  store: OpenStore,
  { role }: Place,
  tools: { readonly clock: Clock; readonly log: Log; readonly ended: (error: Error) => void },
): Promise<ClusterPeers | undefined> {
  if (store.join === undefined) return undefined;
  const name = role === 'command' ? hostname() : gatewayName(plan);
  return joinPeers(store.join, { epoch: boot, name, version, config: digestOf(plan.file.text ?? '') }, tools);
}

function firstStart(secrets: FirstSecrets, plan: Plan, mayMake: boolean): FirstStart {
  const { file, given } = keySourceOf(plan);
  const made = {
    ...(!isOnServer(plan) && { database: storeFileOf(plan) }),
    ...(given === undefined && { masterKey: file }),
  };
  return {
    begin() {
      if (!mayMake) throw new Error('the first start has not finished: run `turnpike start`');
    },
    note: (lines) => Object.assign(secrets, lines, made),
    signIn: (url) => Object.assign(secrets, { signIn: url }),
  };
}

async function assembleGateway(
  plan: Plan,
  outside: Omit<Surroundings, 'ask'>,
  opened: {
    readonly store: OpenStore;
    readonly options: GatewayOptions;
    readonly firstSecrets: FirstSecrets;
    readonly place: Place;
    readonly cluster: ClusterPeers | undefined;
    /** Tables may be changed. */
    readonly mayMake: boolean;
    readonly failed: Promise<Error>;
  },
): Promise<Gateway> {
  const { log, clock, peers } = outside;
  const { store, options, firstSecrets, place, cluster, mayMake, failed } = opened;
  const upstream = await openUpstream(readUpstream(plan.values.upstream).client, clock);
  const explaining = createExplaining(() => ({
    generation: current.generation,
    players: current.assembly.players,
    clock,
  }));
  const proxies = watchProxies(peers, log, () => current.generation);
  const begun: Tally = { added: 0 };
  const running = createRunning({
    peers,
    cluster,
    role: place.role,
    proxies,
    configFile: options.configFile,
    env: options.env,
    plugins: options.plugins ?? [],
    clock,
    log,
    store,
    rolls: () => [current.generation, ...retiring.keys()].map(({ live }) => live),
    begun: () => begun.added,
    readiness: () => readinessOf(state, store),
    counters: () => current.assembly.find(Counters),
    loaded: () => current,
    refuseRestart: (next) => refuseRestart(plan, next),
    reload: () => reload(),
  });
  const around: Surroundings = {
    ...outside,
    provided: new Map<string, unknown>([
      ...outside.provided,
      [Explaining.id, explaining],
      [Inspecting.id, createInspecting(() => current.generation, clock)],
      [Running.id, running.service],
    ]),
    ask: (vendors) => createAsk(upstream, vendors, clock),
  };
  const deadlines = createDeadlines(clock);
  const opaque = createOpaqueCarrier();
  const intake = createIntake();
  /** What a reload has replaced, until its last exchange has ended. */
  const retiring = new Map<Generation, Promise<void>>();
  let state: State = 'starting';
  let server: Server | undefined;
  let control: { close(): Promise<void> } | undefined;
  let stopWatching = (): void => {};
  let reloading: Promise<void> = Promise.resolve();
  let stopped: Promise<void> | undefined;

  /** Resolves when nobody is waited for any longer, be it a client or a plugin. */
  let giveUp = (): void => {};
  const patience = new Promise<void>((done) => {
    giveUp = done;
  });
  const grace = (): Promise<void> => new Promise((done) => void clock.after(GRACE_MS, done));

  const bringUpToDate = async (from: Plan): Promise<void> => {
    const owners = ownersOf(from);
    if (!mayMake) return requireUpToDate(store, owners);
    const pending = await pendingMigrations(store, owners);
    await requireCompatiblePeers(peers, pending, { clock, log });
    await copyBeforeUpgrade(store, storeFileOf(from), pending, log);
    await migrate(store, owners, clock);
  };

  const build = async (from: Plan, number: number): Promise<Built> => {
    await bringUpToDate(from);
    const assembly = await assemble(from, around);
    assembly.link();
    const generation = generationOf(assembly);
    try {
      await assembly.start();
    } catch (error) {
      await assembly.stop(grace());
      throw error;
    }
    return { assembly, generation, plan: from, number, loadedMs: clock.now() };
  };

  const generationOf = (assembly: Assembly): Generation => {
    const { players, listen } = assembly;
    const pipeline = createPipeline(players, log, deadlines);
    const guards: Record<string, Guard> = Object.assign({}, ...players.map(({ parts }) => parts.guards ?? {}));
    const routes: Route[] = [...ownRoutes(() => state, store), ...players.flatMap(({ parts }) => parts.routes ?? [])];
    return {
      router: createRouter(
        [...assembly.styles.values()],
        routes,
        players.flatMap(({ parts }) => parts.passages ?? []),
      ),
      pipeline,
      guards,
      trusted: createAddressList(listen.trustProxy),
      origins: readOrigins(listen.cors),
      limits: listen.body,
      intake,
      spoolDirectory: assembly.spoolDirectory,
      live: createRoll<LiveExchange>(begun),
      deliver: {
        pipeline,
        vendors: assembly.vendors,
        styles: assembly.styles,
        upstream,
        deadlines,
        clock,
        log,
        maxAttempts: listen.attempts.max,
        onDisconnect: listen.onDisconnect,
        conclude: (x, outcome) => endExchange(x, outcome, pipeline, { store, clock, log }),
      },
    };
  };

  let current = await build(plan, 1);

  const commands = (): readonly Command[] => [
    ...ownCommands,
    ...current.assembly.players.flatMap(({ parts }) => parts.commands ?? []),
  ];
  const reconcileAll = (): Promise<readonly Finding[]> => reconcile(current.assembly.players, store);
  const ownCommands: readonly Command[] = [
    {
      ...CORE_COMMANDS.reconcile,
      async run() {
        const findings = await reconcileAll();
        const text = describeFindings(findings);
        if (findings.some(({ faults }) => faults.length > 0)) throw new CommandFailed(text);
        return text;
      },
    },
    backupCommand(plan, store, { log, clock }),
    {
      ...CORE_COMMANDS.explain,
      run(request) {
        const { generation, assembly } = current;
        const { players } = assembly;
        return runExplain(request, { generation, players, keyPlaces: assembly.find(KeyPlaces), clock });
      },
    },
  ];

  const reloadNow = async (): Promise<void> => {
    if (state === 'draining') return;
    const next = await planFrom(options.configFile, options.env, options.plugins);
    refuseRestart(plan, next);
    await rehearse(next);
    const before = current;
    current = await exclusively(store, () => build(next, before.number + 1));
    tellKnownTables(peers, ownersOf(next));
    const { tls } = current.assembly;
    if (tls !== undefined && server instanceof TlsServer) server.setSecureContext(tls);
    if (place.role !== 'worker') log.info('gateway.yaml was reloaded');
    const retired = before.generation.live
      .empty()
      .then(() => before.assembly.stop(patience))
      .finally(() => retiring.delete(before.generation));
    retiring.set(before.generation, retired);
    await place.reloaded(current.assembly.listen.drainMs);
  };
  /** One after the other: two at once would both take the place of the same generation, and one of them be lost. */
  const reload = (): Promise<void> => {
    const done = reloading.then(reloadNow);
    reloading = done.catch(() => {});
    return done;
  };

  /** Ends everything that runs, with an error where the client can still be told one. */
  const cutAll = (): void => {
    const error = coreErrors.shutting_down('The gateway is shutting down.');
    for (const { live } of [current.generation, ...retiring.keys()]) for (const x of live) x.cut(error);
    place.hurry();
    // Who does not take its last bytes, or does not send its first ones, is not waited for any longer.
    clock.after(FAREWELL_MS, () => server?.closeAllConnections());
    clock.after(GRACE_MS, giveUp);
  };

  /** Waits for everything that was asked for before the gateway was to stop. */
  const drain = async (): Promise<void> => {
    await Promise.all([control?.close(), reloading]);
    // Whoever comes meanwhile is told to go elsewhere, and `/readyz` says so to load balancers.
    await Promise.all([current.generation.live.empty(), ...retiring.values()]);
    const closed = server === undefined ? undefined : stopListening(server);
    server?.closeAllConnections();
    await closed;
  };
  const stop = async (): Promise<void> => {
    state = 'draining';
    const calls = [current.generation, ...retiring.keys()].reduce((sum, { live }) => sum + live.size, 0);
    if (calls > 0) log.info('waiting for calls that run', { calls, atMostMs: current.assembly.listen.drainMs });
    stopWatching();
    running.stop();
    const cancel = clock.after(current.assembly.listen.drainMs, cutAll);
    // Until its workers have ended, an owner answers the routes that they serve while they drain, and has the store.
    const othersEndedWell = await place.stopping(current.assembly.listen.drainMs);
    const drained = await within(drain(), patience);
    await current.assembly.stop(drained ? patience : grace());
    cancel();
    place.close();
    server?.closeAllConnections();
    server?.close();
    deadlines.stop();
    opaque.close();
    await upstream.close();
    const closed = await within(store.close(), grace());
    if (!drained || !othersEndedWell) throw new Error('not everything that ran came to its end in time');
    if (!closed) throw new Error('the store did not close in time');
  };

  return {
    firstSecrets,
    failed,
    get exampleModel() {
      return exampleModel(current.assembly);
    },
    run: (line) => runCommand(commands(), line),
    reconcile: reconcileAll,
    reload,
    hurry: cutAll,
    async listen() {
      const { listen, tls, file } = current.assembly;
      const isWorker = place.role === 'worker';
      if (!isWorker)
        control = await openControl(controlPath(storeFileOf(current.plan)), (line) => runCommand(commands(), line));
      server = createGatewayServer({
        ...place.server,
        // Between processes of one machine nothing is encrypted.
        tls: place.role === 'owner' ? undefined : tls,
        current: () => current.generation,
        state: () => state,
        opaque,
        clock,
        log,
        proxies,
      });
      const port = await place.listen(server);
      if (!isWorker)
        stopWatching = watchFile(file, clock, () => {
          reload().catch((error: unknown) => log.error('gateway.yaml was not reloaded', reasons(error)));
        });
      running.start();
      state = 'ready';
      place.ready();
      const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
      return { url: `${tls === undefined ? 'http' : 'https'}://${host}:${port}`, port };
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** How long clients may take to hear that they were cut off. */
const FAREWELL_MS = 1_000;
/** How long whatever still runs may take to end after that, be it a call, a plugin or the store. */
const GRACE_MS = 5_000;

/** True where the work came to its end before there was enough of waiting. */
function within(work: Promise<unknown>, enough: Promise<void>): Promise<boolean> {
  return Promise.race([work.then(() => true), enough.then(() => false)]);
}

/** Notices proxies that are not trusted. Workers tell the owner of them. */
function watchProxies(peers: Peers, log: Log, current: () => Generation): ProxyWatch {
  const { owner } = peers;
  if (owner !== undefined) return createProxyWatch(silentLog, (address) => owner.tell(UNTRUSTED_PROXY, address));
  const proxies = createProxyWatch(log);
  peers.on(UNTRUSTED_PROXY, (address) => {
    proxies.note(String(address), current().trusted);
    return undefined;
  });
  return proxies;
}

const UNTRUSTED_PROXY = 'core.untrusted proxy';

interface Built extends Loaded {
  readonly assembly: Assembly;
  readonly generation: Generation;
}

type State = Exclude<Readiness, 'busy'>;

function readinessOf(state: State, store: OpenStore): Readiness {
  return state === 'ready' && store.pressure().oldestMs >= 1_000 ? 'busy' : state;
}

/** Health, for load balancers and supervisors; public, and without facts about the inside. */
function ownRoutes(state: () => State, store: OpenStore): readonly Route[] {
  const json = { 'content-type': 'application/json' };
  return [
    { method: 'GET', path: CORE_PATHS.alive, access: 'public', handle: () => ({ status: 'ok' }) },
    {
      method: 'GET',
      path: CORE_PATHS.ready,
      access: 'public',
      handle() {
        const status = readinessOf(state(), store);
        return status === 'ready' ? { status } : answer(503, JSON.stringify({ status }), json);
      },
    },
  ];
}

/** A model that costs nothing before one that does. */
function exampleModel(assembly: Assembly): string | undefined {
  const catalog = assembly.find(Catalog);
  const names = catalog?.names() ?? [];
  return names.find((name) => catalog!.require(name).free) ?? names[0];
}
