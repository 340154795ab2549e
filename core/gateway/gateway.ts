/** A gateway: store, plugins and server combined, reloaded as a whole, and closed in reverse order. */

import { CORE_COMMANDS } from '../assembly/core-commands.ts';
import '../bytes/json-parse.ts';
import { existsSync, realpathSync } from 'node:fs';
import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import { hostname } from 'node:os';
import {
  type Assembly,
  assemble,
  earlyPlanOf,
  loggerOf,
  type Plan,
  planOf,
  rehearse,
  type Surroundings,
} from '../assembly/assemble.ts';
import { LastingStates } from '../assembly/lasting-state.ts';
import {
  attachStore,
  backupCommand,
  isOnServer,
  keepKey,
  keySourceOf,
  openForCommand,
  openToServe,
  prepareStore,
  storeFileOf,
  vaultOf,
} from '../assembly/open-store.ts';
import { changedPlugins } from '../assembly/plugin-loader.ts';
import type { LiveExchange } from '../call/live-exchange.ts';
import { createPipeline } from '../call/phases.ts';
import { endExchange, endedExchange } from '../call/settlement.ts';
import { digestOf } from '../cluster/gateways.ts';
import { type ClusterPeers, joinPeers } from '../cluster/peers.ts';
import { requireCompatiblePeers, tellKnownTables } from '../cluster/tables.ts';
import { readBackup } from '../config/backup-section.ts';
import { readListen } from '../config/core-sections.ts';
import { type ConfigFile, kindOf, needsStore, readConfig, reasons } from '../config/file.ts';
import { throwIfWrong } from '../config/sections.ts';
import { Audit } from '../contracts/audit.ts';
import { Catalog } from '../contracts/catalog.ts';
import { Configuring } from '../contracts/configuring.ts';
import { Counters } from '../contracts/counters.ts';
import { coreErrors } from '../contracts/errors.ts';
import { Explaining } from '../contracts/explaining.ts';
import { FirstStart } from '../contracts/first-start.ts';
import { Inspecting } from '../contracts/inspecting.ts';
import { KeyPlaces } from '../contracts/key-places.ts';
import { aloneOf, type Peers } from '../contracts/peers.ts';
import { type Readiness, Running } from '../contracts/running.ts';
import { createAddressList } from '../helpers/address-list.ts';
import { readOrigins } from '../http/cors.ts';
import { CORE_PATHS, createRouter } from '../http/router.ts';
import { createIntake } from '../incoming/body-budgets.ts';
import { removeLeftBehind } from '../operations/backups/left-behind.ts';
import { type Backups, createBackups } from '../operations/backups/schedule.ts';
import {
  CommandFailed,
  type CommandLine,
  type CommandResult,
  EXIT,
  runCommand,
} from '../operations/commands/command-line.ts';
import { createConfigCommands } from '../operations/commands/config.ts';
import { controlPath, openControl } from '../operations/commands/control-socket.ts';
import type { GatewayFacts } from '../operations/commands/doctor.ts';
import { storedCommand } from '../operations/commands/stored-config.ts';
import { CHANGED, createConfiguring } from '../operations/config-editing/change-config.ts';
import { type ConfigSource, sourceOf } from '../operations/config-editing/config-source.ts';
import { type ConfigurationTools, createJudge, type Loaded } from '../operations/config-editing/review.ts';
import { type KeptConfig, keepConfig } from '../operations/config-editing/versions.ts';
import { createExplaining } from '../operations/explain/explain.ts';
import { runExplain } from '../operations/explain/explain-command.ts';
import { createInspecting } from '../operations/explain/simulated-request.ts';
import { createRunning, gatewayName, version } from '../operations/monitor/running.ts';
import { createAsking } from '../outgoing/vendor-request.ts';
import { createOpaqueCarrier } from '../passthrough/byte-proxy.ts';
import { answer, type Command, type Guard, type OpenStore, type Plugin, type Route, type Sections } from '../plugin.ts';
import { type Clock, guardedClock, systemClock } from '../runtime/clock.ts';
import { createDeadlines } from '../runtime/deadlines.ts';
import { boot } from '../runtime/ids.ts';
import { type Log, type ProcessLog, silentLog } from '../runtime/logger.ts';
import { createRoll, type Tally } from '../runtime/registry.ts';
import { descriptorLimit } from '../server/descriptors.ts';
import type { Generation } from '../server/generation.ts';
import { type Door, stopListening, takeAddress } from '../server/listen-address.ts';
import { COMMAND_ROLE, type ProcessRole, roleAt } from '../server/process-role.ts';
import { createProxyWatch, type ProxyWatch } from '../server/proxy-watch.ts';
import { createGatewayServer } from '../server/server.ts';
import { describeFindings, type Finding, reconcile } from '../store/invariants.ts';
import {
  CORE_TABLES,
  copyBeforeUpgrade,
  exclusively,
  migrate,
  pendingMigrations,
  requireUpToDate,
  type TableOwner,
} from '../store/migrations.ts';
import { createRefusedFields } from '../translation/quirks/refused-fields.ts';
import { openUpstream } from '../upstream/client.ts';
import { memoryForBodies } from '../workers/memory.ts';
import { refuseRestart, watchSources } from './watch-sources.ts';

/** Options for opening a gateway. */
export interface GatewayOptions {
  /** Path of gateway.yaml. */
  readonly configFile: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: ProcessLog;
  readonly clock?: Clock;
  /** Plugins in addition to those of the file, at the end of the pipeline. */
  readonly plugins?: readonly Plugin<Sections>[];
  /** Receives what the first start creates, even if that start then fails. */
  readonly firstSecrets?: FirstSecrets;
}

/** Secrets that the first start creates and shows once. */
export interface FirstSecrets {
  readonly rootPassword?: string;
  readonly key?: string;
  /** The sign-in page; not secret. */
  readonly signIn?: string;
  /** The files that were created: the database, and the master key unless it is in the environment. */
  readonly database?: string;
  readonly masterKey?: string;
}

/** An open gateway: store, plugins and, after `listen`, the network. */
export interface Gateway {
  /** Starts to accept requests. Resolves with the address. */
  listen(): Promise<{ readonly url: string; readonly port: number }>;
  /** Builds a new generation from the file and swaps it in. Throws `ConfigError`; then nothing has changed. */
  reload(): Promise<void>;
  /** Runs a command of the command line. */
  run(line: CommandLine): Promise<CommandResult>;
  reconcile(): Promise<readonly Finding[]>;
  readonly firstSecrets: FirstSecrets;
  /** Resolves if it cannot continue and must be stopped: the other processes on its store have declared it dead. */
  readonly failed: Promise<Error>;
  /** A public model name for the example call of the greeting; undefined if there is none. */
  readonly exampleModel: string | undefined;
  /**
   * Stops accepting requests, waits for running ones up to `listen.drain`, cuts the rest off, and closes everything.
   * Always completes; rejects if something did not finish in time.
   */
  stop(): Promise<void>;
  /** Ends a running drain early. */
  hurry(): void;
}

/** Opens a gateway, and creates its store if there is none. Throws `ConfigError`, `StoreInUse`, `StoreUnavailable`. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const file = readConfig(options.configFile, options.env);
  await prepareStore(file);
  return openPlanned(await planToOpen(file, options), options, false);
}

/** The plan to open a gateway with: all checks run before the store is opened, unless the rest is in there. */
async function planToOpen(file: ConfigFile, { plugins = [] }: GatewayOptions): Promise<Plan> {
  if (needsStore(file)) {
    const plan = await earlyPlanOf(file);
    throwIfWrong(file);
    return plan;
  }
  const plan = await planOf(file, plugins);
  await rehearse(plan);
  return plan;
}

/** The same for a rehearsed plan. `alone`: for a command, without an address; `listen` is not called. */
export async function openPlanned(plan: Plan, options: GatewayOptions, alone: boolean): Promise<Gateway> {
  const { log } = options;
  // A command prints warnings only, whatever the gateway logs.
  if (alone) return assembleInRole(COMMAND_ROLE, plan, await openForCommand(plan, log), options);
  log.configure(loggerOf(plan));
  const { workers } = readListen(plan.values.listen);
  if (workers > 1) return openOwner(plan, options, workers);
  return openInRole(await openToServe(plan, log), plan, options, roleAt);
}

async function openOwner(plan: Plan, options: GatewayOptions, workers: number): Promise<Gateway> {
  const { createOwner } = await import('../workers/owner.ts');
  const owner = createOwner({
    ...options,
    clock: guardedClock(options.clock ?? systemClock, (error) => options.log.error('a timer failed', { error })),
    plan,
    workers,
  });
  return openInRole(await openToServe(plan, options.log, owner.sharing), plan, options, owner.roleAt);
}

/** Before anything is written: secrets that a first start shows once would be lost if it failed later. */
async function openInRole(
  store: OpenStore,
  plan: Plan,
  options: GatewayOptions,
  roleOf: (door: Door) => ProcessRole,
): Promise<Gateway> {
  let door: Door;
  try {
    door = await takeAddress(plan);
  } catch (error) {
    await store.close();
    throw error;
  }
  return assembleInRole(roleOf(door), plan, store, options);
}

/** Opens the gateway of a worker, on the store of the owner. `joined` is called before anything is written there. */
export async function openWorker(
  processRole: ProcessRole,
  options: GatewayOptions,
  joined: () => Promise<unknown>,
): Promise<Gateway> {
  const { configFile, env, plugins = [] } = options;
  const file = readConfig(configFile, env);
  const plan = needsStore(file) ? await earlyPlanOf(file) : await planOf(file, plugins);
  throwIfWrong(plan.file);
  options.log.configure(loggerOf(plan));
  const store = await attachStore(plan, options.log, boot);
  await joined();
  return assembleInRole(processRole, plan, store, options);
}

async function assembleInRole(
  processRole: ProcessRole,
  plan: Plan,
  store: OpenStore,
  options: GatewayOptions,
): Promise<Gateway> {
  const { log, firstSecrets = {} } = options;
  const clock = guardedClock(options.clock ?? systemClock, (error) => log.error('a timer failed', { error }));
  // A worker and a command never create tables.
  const mayMake = processRole.role === 'alone' || processRole.role === 'owner';
  const provided = new Map([[FirstStart.id, firstStart(firstSecrets, plan, mayMake)]]);
  let fail = (_: Error): void => {};
  const failed = new Promise<Error>((resolve) => {
    fail = resolve;
  });
  try {
    const cluster =
      processRole.peers === undefined
        ? await joinCluster(plan, store, processRole, { clock, log, ended: fail })
        : undefined;
    const peers = processRole.peers ?? cluster ?? aloneOf(boot);
    // Also while it waits for another one that migrates tables.
    tellKnownTables(peers, ownersOf(plan));
    return await exclusively(store, async () => {
      const vault = await vaultOf(plan, store, mayMake);
      const kept = keepConfig(store, vault, clock);
      const source = sourceOf(options.configFile, options.env, kept, kindOf(plan.file));
      // Before the configuration is complete: `turnpike config` can set what it lacks.
      if (mayMake && needsStore(plan.file)) await migrate(store, [CORE_TABLES], clock);
      const full = needsStore(plan.file) ? await fullPlan(source, options) : plan;
      if (processRole.role !== 'command') log.configure(loggerOf(full));
      const around = { store, log, clock, vault, peers, lasting: new LastingStates(), provided };
      const opened = { store, options, firstSecrets, processRole, cluster, mayMake, failed, kept, source };
      return assembleGateway(full, around, opened);
    });
  } catch (error) {
    processRole.close();
    await store.close();
    throw error;
  }
}

/** The plan of what is in the database. Throws `ConfigError`. */
async function fullPlan(source: ConfigSource, { plugins = [] }: GatewayOptions): Promise<Plan> {
  const plan = await planOf(await source.read(), plugins);
  await rehearse(plan);
  return plan;
}

const ownersOf = ({ plugins }: Plan): readonly TableOwner[] => [CORE_TABLES, ...plugins];

/** The processes on this store. A command joins, too, so that it does not clean up what a running process uses. */
async function joinCluster(
  plan: Plan,
  store: OpenStore,
  { role }: ProcessRole,
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
    readonly processRole: ProcessRole;
    readonly cluster: ClusterPeers | undefined;
    /** Migrations may run. */
    readonly mayMake: boolean;
    readonly failed: Promise<Error>;
    readonly kept: KeptConfig;
    readonly source: ConfigSource;
  },
): Promise<Gateway> {
  const { log, clock, peers } = outside;
  const { store, options, firstSecrets, processRole, cluster, mayMake, failed, kept, source } = opened;
  const isWorker = processRole.role === 'worker';
  const startedMs = clock.now();
  const upstream = openUpstream(clock);
  const explaining = createExplaining(() => ({
    generation: current.generation,
    players: current.assembly.players,
    clock,
  }));
  const proxies = watchProxies(peers, log, () => current.generation);
  const begun: Tally = { added: 0 };
  const texts: ConfigurationTools = {
    source,
    plugins: options.plugins ?? [],
    loaded: () => current,
    refuseRestart: (next) => refuseRestart(plan, next),
    reload: () => reload(),
  };
  const judge = createJudge(texts, outside.vault);
  const running = createRunning({
    ...texts,
    judge,
    peers,
    cluster,
    role: processRole.role,
    proxies,
    clock,
    log,
    store,
    rolls: () => [current.generation, ...retiring.keys()].map(({ live }) => live),
    begun: () => begun.added,
    readiness: () => readinessOf(state, store),
    backups: () => backups.schedule(),
    backUp: () => backups.run(),
    async examine() {
      const { examine } = await import('../operations/commands/doctor.ts');
      return examine(await planOf(await source.read(), options.plugins ?? []), factsForDoctor());
    },
    counters: () => current.assembly.find(Counters),
  });
  const ask: Surroundings['ask'] = (...of) => createAsking(upstream, clock, ...of);
  const configuring = createConfiguring({
    ...texts,
    judge,
    kept,
    running: running.service,
    ask,
    peers,
    clock,
    log,
  });
  const around: Surroundings = {
    ...outside,
    provided: new Map<string, unknown>([
      ...outside.provided,
      [Explaining.id, explaining],
      [Inspecting.id, createInspecting(() => current.generation, clock)],
      [Running.id, running.service],
      [Configuring.id, configuring.service],
    ]),
    ask,
  };
  const backups = createBackups({
    source,
    store,
    peers,
    clock,
    log,
    plan: () => current.plan,
  });
  const factsForDoctor = (): GatewayFacts => ({
    version,
    startedMs,
    proxy: running.service.proxy(),
    backups: backups.schedule() ?? null,
    descriptors: descriptorLimit() ?? null,
  });
  const deadlines = createDeadlines(clock);
  const opaque = createOpaqueCarrier();
  const intake = createIntake();
  /** The generations that a reload replaced, until their last request has ended. */
  const retiring = new Map<Generation, Promise<void>>();
  let state: State = 'starting';
  let server: Server | undefined;
  let control: { close(): Promise<void> } | undefined;
  let stopWatching = (): void => {};
  let stopSweeping = (): void => {};
  let reloading: Promise<void> = Promise.resolve();
  let stopped: Promise<void> | undefined;

  /** Resolves when all clients and plugins have finished, or their time is over. */
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
    const books = { store, pipeline, clock, log };
    const guards: Record<string, Guard> = Object.assign({}, ...players.map(({ parts }) => parts.guards ?? {}));
    const routes: Route[] = [...ownRoutes(() => state, store), ...players.flatMap(({ parts }) => parts.routes ?? [])];
    return {
      router: createRouter(
        [...assembly.styles.values()],
        routes,
        players.flatMap(({ parts }) => parts.passthroughRoutes ?? []),
        Object.assign({}, ...players.map(({ parts }) => parts.pathAliases ?? {})),
      ),
      pipeline,
      guards,
      trusted: createAddressList(listen.trustProxy),
      origins: readOrigins(listen.cors),
      limits: { ...listen.body, inFlight: { ...listen.body.inFlight, memory: memoryForBodies(listen) } },
      intake,
      spoolDirectory: assembly.spoolDirectory,
      live: createRoll<LiveExchange>(begun),
      deliver: {
        pipeline,
        vendors: assembly.vendors,
        proxies: assembly.proxies,
        styles: assembly.styles,
        upstream,
        deadlines,
        clock,
        log,
        refusedFields: createRefusedFields(),
        maxAttempts: listen.attempts.max,
        onDisconnect: listen.onDisconnect,
        end: (x, outcome, listener) => endExchange(x, outcome, books, listener),
        conclude: (x, outcome) => endedExchange(x, outcome, books),
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
        const answer = { text: describeFindings(findings), json: findings };
        if (findings.some(({ faults }) => faults.length > 0)) throw new CommandFailed(answer);
        return answer;
      },
    },
    {
      ...CORE_COMMANDS.doctor,
      // The command line examines everything else itself.
      run: () => JSON.stringify(factsForDoctor()),
    },
    backupNowCommand(backups, () => current.plan),
    backupCommand(plan, store, { log, clock }),
    ...createConfigCommands({ source, configuring, audit: () => current.assembly.find(Audit) }),
    storedCommand(source, outside.vault),
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
    const next = await planOf(await source.read(), options.plugins ?? []);
    refuseRestart(plan, next);
    await rehearse(next);
    const before = current;
    current = await exclusively(store, () => build(next, before.number + 1));
    log.configure(loggerOf(next));
    tellKnownTables(peers, ownersOf(next));
    const { tls } = current.assembly;
    if (tls !== undefined && server instanceof TlsServer) server.setSecureContext(tls);
    if (!isWorker) {
      await configuring.loaded(next.file.text);
      log.info('gateway.yaml was reloaded');
      const files = changedPlugins();
      if (files.length > 0) log.warn('the code of plugins has changed; only a restart loads it', { files });
    }
    const retired = before.generation.live
      .empty()
      .then(() => before.assembly.stop(patience))
      .finally(() => retiring.delete(before.generation));
    retiring.set(before.generation, retired);
    await processRole.reloaded(current.assembly.listen.drainMs);
  };
  /** Sequentially: two reloads at once would both replace the same generation, and one would be lost. */
  const reload = (): Promise<void> => {
    const done = reloading.then(reloadNow);
    reloading = done.catch(() => {});
    return done;
  };

  const sweepDrafts = async (): Promise<void> => {
    await source
      .sweep?.(clock.now())
      .catch((error: unknown) =>
        log.warn('drafts of the configuration that a crash has left could not be removed', { error }),
      );
  };

  const reloadOrLog = (): void => {
    reload().catch((error: unknown) => log.error('gateway.yaml was not reloaded', reasons(error)));
  };

  /** Ends all running requests, with an error if the client can still receive one. */
  const cutAll = (): void => {
    const error = coreErrors.shutting_down('The gateway is shutting down.');
    for (const { live } of [current.generation, ...retiring.keys()]) for (const x of live) x.cut(error);
    processRole.hurry();
    // Does not wait for a client that does not read its last bytes, or does not send its first ones.
    clock.after(FAREWELL_MS, () => server?.closeAllConnections());
    clock.after(GRACE_MS, giveUp);
  };

  /** Waits for all requests that arrived before the stop. */
  const drain = async (): Promise<void> => {
    await Promise.all([control?.close(), reloading]);
    // Until then, new requests are refused, and `/readyz` fails for load balancers.
    await Promise.all([current.generation.live.empty(), ...retiring.values()]);
    const closed = server === undefined ? undefined : stopListening(server);
    server?.closeAllConnections();
    await closed;
  };
  const stop = async (): Promise<void> => {
    state = 'draining';
    const calls = [current.generation, ...retiring.keys()].reduce((sum, { live }) => sum + live.size, 0);
    if (calls > 0) log.info('waiting for running calls', { calls, atMostMs: current.assembly.listen.drainMs });
    stopWatching();
    stopSweeping();
    running.stop();
    const backedUp = backups.stop();
    const cancel = clock.after(current.assembly.listen.drainMs, cutAll);
    // Until its workers have ended, the owner answers their routes and keeps the store open.
    const othersEndedWell = await processRole.stopping(current.assembly.listen.drainMs);
    const drained = await within(drain(), patience);
    await current.assembly.stop(drained ? patience : grace());
    cancel();
    processRole.close();
    server?.closeAllConnections();
    server?.close();
    deadlines.stop();
    opaque.close();
    await upstream.close();
    await within(backedUp, grace());
    const closed = await within(store.close(), grace());
    if (!drained || !othersEndedWell) throw new Error('shutdown timed out with work still running');
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
      if (!isWorker)
        control = await openControl(
          controlPath(storeFileOf(current.plan)),
          (line) => explainsOther(line, options.configFile) ?? runCommand(commands(), line),
        );
      server = createGatewayServer({
        ...processRole.server,
        // Connections between processes of one machine are not encrypted.
        tls: processRole.role === 'owner' ? undefined : tls,
        current: () => current.generation,
        state: () => state,
        opaque,
        clock,
        log,
        proxies,
      });
      const port = await processRole.listen(server);
      if (!isWorker) {
        await configuring.loaded(file.text);
        await sweepDrafts();
        // What a crash left just before the start may have been that of a running save until now.
        stopSweeping = clock.after(SWEEP_AGAIN_MS, () => void sweepDrafts());
        if (!isOnServer(current.plan))
          await removeLeftBehind(storeFileOf(current.plan), clock.now()).catch((error: unknown) =>
            log.warn('copies of the database that a crash has left could not be removed', { error }),
          );
        stopWatching = watchSources(() => current.assembly.file, source, clock, reloadOrLog);
        peers.on(CHANGED, () => void reloadOrLog());
      }
      running.start();
      if (!isWorker) backups.start();
      state = 'ready';
      processRole.ready();
      const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
      return { url: `${tls === undefined ? 'http' : 'https'}://${host}:${port}`, port };
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** Makes a scheduled backup now. */
function backupNowCommand(backups: Backups, plan: () => Plan): Command {
  return {
    ...CORE_COMMANDS.backupNow,
    async run({ remark }) {
      const { name, tookMs } = await backups.run();
      if (readBackup(plan().values.backup)?.encrypt !== 'master-key') remark(keepKey(plan()));
      const to = backups.schedule()?.to;
      return {
        text: `${name} was stored in ${to} and proven in ${(tookMs / 1_000).toFixed(1)} s`,
        json: { name, to, took_ms: tookMs },
      };
    },
  };
}

/** Refuses to explain a call with another configuration than the one that runs: the answer would be about this one. */
function explainsOther({ argv, configFile }: CommandLine, own: string): Promise<CommandResult> | undefined {
  if (argv[0] !== CORE_COMMANDS.explain.name || configFile === undefined) return undefined;
  if (!existsSync(configFile) || realpathSync(configFile) === realpathSync(own)) return undefined;
  const stderr = `a gateway with the configuration ${own} runs on this store, so calls are explained by that: \`turnpike check\` judges ${configFile}\n`;
  return Promise.resolve({ code: EXIT.failed, stdout: '', stderr });
}

/** Time for clients to receive the error when they are cut off. */
const FAREWELL_MS = 1_000;
/** Time for remaining work to end after that: a call, a plugin or the store. */
const GRACE_MS = 5_000;
/** When drafts of gateway.yaml are looked for again after the start. */
const SWEEP_AGAIN_MS = 120_000;

/** True if the work ended before the time limit. */
function within(work: Promise<unknown>, enough: Promise<void>): Promise<boolean> {
  return Promise.race([work.then(() => true), enough.then(() => false)]);
}

/** Detects untrusted proxies. Workers report them to the owner. */
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

/** Health endpoints for load balancers and supervisors; public, without internal details. */
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

/** A free model is preferred. */
function exampleModel(assembly: Assembly): string | undefined {
  const catalog = assembly.find(Catalog);
  const names = catalog?.names() ?? [];
  return names.find((name) => catalog!.require(name).free) ?? names[0];
}
