/** A gateway: store, plugins and server put together, reloaded as a whole, and taken apart in reverse. */
import { readFileSync, watch } from 'node:fs';
import type { Server } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { basename, dirname, resolve } from 'node:path';
import { createAddressList } from './address.ts';
import { type Assembly, assemble, driverOf, type Plan, planFrom, rehearse, type Surroundings } from './assembly.ts';
import { endExchange } from './books.ts';
import { type Clock, systemClock } from './clock.ts';
import { CORE_COMMANDS, CommandFailed, type CommandResult, runCommand } from './commands.ts';
import type { StoreSection } from './config/core-sections.ts';
import { type ConfigFile, reasons } from './config/file.ts';
import { throwIfWrong } from './config/sections.ts';
import { Catalog } from './contracts/catalog.ts';
import { FirstStart } from './contracts/first-start.ts';
import { controlPath, openControl } from './control.ts';
import { createDeadlines } from './deadlines.ts';
import { GatewayError } from './errors.ts';
import type { LiveExchange } from './exchange.ts';
import type { Log } from './log.ts';
import { createOpaqueCarrier } from './opaque.ts';
import { createPipeline } from './pipeline.ts';
import { answer, type Command, type Guard, type OpenStore, type Plugin, type Route, type Sections } from './plugin.ts';
import { describeFindings, type Finding, reconcile } from './reconcile.ts';
import { createRoll, type Roll } from './roll.ts';
import { createRouter } from './router.ts';
import { createGatewayServer, type Generation } from './server.ts';
import { migrate, openStore } from './store.ts';
import { createUpstream } from './upstream.ts';

export interface GatewayOptions {
  /** Path of gateway.yaml. */
  readonly configFile: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly clock?: Clock;
  /** Plugins beside those of the file, at the end of the pipeline. */
  readonly plugins?: readonly Plugin<Sections>[];
}

/** What was made on the very first start and is shown once. */
export interface FirstSecrets {
  readonly rootPassword?: string;
  readonly key?: string;
}

export interface Gateway {
  /** Starts to take requests. Resolves with the address. */
  listen(): Promise<{ readonly url: string; readonly port: number }>;
  /** Builds a new generation from the file and swaps it in. Throws `ConfigError`, and then nothing has changed. */
  reload(): Promise<void>;
  /** Runs a command of the command line. */
  run(argv: readonly string[], stdin: string): Promise<CommandResult>;
  reconcile(): Promise<readonly Finding[]>;
  readonly firstSecrets: FirstSecrets;
  /** A public model name that the greeting can call; undefined where there is none. */
  readonly exampleModel: string | undefined;
  /** Stops taking requests, waits for running ones up to `listen.drain`, cuts the rest off, and closes everything. */
  stop(): Promise<void>;
  /** Cuts a running drain short. */
  hurry(): void;
}

/** Opens a gateway: everything but the network. Throws `ConfigError`, `StoreInUse`, `StoreUnavailable`. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { log } = options;
  const clock = options.clock ?? systemClock;
  const plan = await planFrom(options.configFile, options.env, options.plugins);
  // Whatever can be found wrong is found before the store is touched.
  await rehearse(plan);
  const store = await storeOf(plan, log);
  const firstSecrets: { rootPassword?: string; key?: string } = {};
  const around: Surroundings = {
    store,
    log,
    clock,
    lasting: new Map(),
    provided: new Map([
      [FirstStart.id, { note: (lines: FirstSecrets) => Object.assign(firstSecrets, lines) } satisfies FirstStart],
    ]),
  };
  try {
    return await assembleGateway(plan, around, store, options, firstSecrets);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function storeOf(plan: Plan, log: Log): Promise<OpenStore> {
  const driver = await driverOf(plan);
  return openStore({ driver, file: resolve(plan.file.dir, (plan.values.store as StoreSection).file), log });
}

async function assembleGateway(
  plan: Plan,
  around: Surroundings,
  store: OpenStore,
  options: GatewayOptions,
  firstSecrets: FirstSecrets,
): Promise<Gateway> {
  const { log, clock } = around;
  const upstream = createUpstream();
  const deadlines = createDeadlines(clock);
  const opaque = createOpaqueCarrier();
  /** What a reload has replaced, until its last exchange has ended. */
  const retiring = new Map<Generation, Promise<void>>();
  let state: 'starting' | 'ready' | 'draining' = 'starting';
  let server: Server | undefined;
  let control: { close(): Promise<void> } | undefined;
  let stopWatching = (): void => {};
  let reloading: Promise<void> = Promise.resolve();

  const build = async (from: Plan): Promise<Built> => {
    await migrate(store, from.plugins);
    const assembly = await assemble(from, around);
    assembly.link();
    const generation = generationOf(assembly);
    try {
      await assembly.start();
    } catch (error) {
      await assembly.stop();
      throw error;
    }
    return { assembly, generation };
  };

  const generationOf = (assembly: Assembly): Generation => {
    const { players, listen } = assembly;
    const pipeline = createPipeline(players, log);
    const guards: Record<string, Guard> = Object.assign({}, ...players.map(({ parts }) => parts.guards ?? {}));
    const routes: Route[] = [...ownRoutes(() => state, store), ...players.flatMap(({ parts }) => parts.routes ?? [])];
    checkGuards(routes, guards);
    const live = createRoll<LiveExchange>();
    return {
      router: createRouter(
        [...assembly.styles.values()],
        routes,
        players.flatMap(({ parts }) => parts.passages ?? []),
      ),
      pipeline,
      guards,
      trusted: createAddressList(listen.trustProxy),
      limits: { jsonBytes: listen.body.jsonBytes, uploadBytes: listen.body.uploadBytes },
      live,
      ended: () => idle.get(live)?.(),
      deliver: {
        pipeline,
        vendors: assembly.vendors,
        upstream,
        deadlines,
        clock,
        maxAttempts: listen.attempts.max,
        onDisconnect: listen.onDisconnect,
        conclude: (x, outcome) => endExchange(x, outcome, pipeline, { store, clock, log }),
      },
    };
  };

  let current = await build(plan);

  /** Resolves when the generation's last exchange has ended. */
  const whenIdle = (generation: Generation): Promise<void> =>
    new Promise((done) => {
      const check = (): void => {
        if (generation.live.size > 0) return;
        idle.delete(generation.live);
        done();
      };
      idle.set(generation.live, check);
      check();
    });

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
    {
      ...CORE_COMMANDS.backup,
      async run({ positionals }) {
        await store.backup(positionals[0]!);
        return '';
      },
    },
  ];

  const reloadNow = async (): Promise<void> => {
    if (state === 'draining') return;
    const next = await planFrom(options.configFile, options.env, options.plugins);
    refuseRestart(plan, next);
    await rehearse(next);
    const before = current;
    current = await build(next);
    log.info('gateway.yaml was reloaded');
    const retired = whenIdle(before.generation)
      .then(() => before.assembly.stop())
      .catch((error: unknown) => log.error('the old generation did not stop well', { error }))
      .finally(() => retiring.delete(before.generation));
    retiring.set(before.generation, retired);
  };
  /** One after the other: two at once would both take the place of the same generation, and one of them be lost. */
  const reload = (): Promise<void> => {
    const done = reloading.then(reloadNow);
    reloading = done.catch(() => {});
    return done;
  };

  /** Ends everything that runs, with an error where the client can still be told one. */
  const cutAll = (): void => {
    const error = new GatewayError(503, 'shutting_down', 'The gateway is shutting down.');
    for (const { live } of [current.generation, ...retiring.keys()]) for (const x of live) x.cut(error);
    // Who does not take its last bytes, or does not send its first ones, is not waited for any longer.
    clock.after(FAREWELL_MS, () => server?.closeAllConnections());
  };

  return {
    firstSecrets,
    get exampleModel() {
      return exampleModel(current.assembly);
    },
    run: (argv, stdin) => runCommand(commands(), argv, stdin),
    reconcile: reconcileAll,
    reload,
    hurry: cutAll,
    async listen() {
      const { listen, storeSection, file } = current.assembly;
      const tls = listen.tls === undefined ? undefined : readTls(listen.tls, file.dir);
      server = createGatewayServer({ tls, current: () => current.generation, state: () => state, opaque, clock, log });
      await listenOn(server, listen).catch((error: NodeJS.ErrnoException) => refuseAddress(error, file));
      control = await openControl(controlPath(resolve(file.dir, storeSection.file)), (argv, stdin) =>
        runCommand(commands(), argv, stdin),
      );
      stopWatching = watchFile(file.file, clock, () => {
        reload().catch((error: unknown) => log.error('gateway.yaml was not reloaded', reasons(error)));
      });
      state = 'ready';
      const { port } = server.address() as AddressInfo;
      const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
      return { url: `${tls === undefined ? 'http' : 'https'}://${host}:${port}`, port };
    },
    async stop() {
      state = 'draining';
      stopWatching();
      await control?.close();
      await reloading;
      const closed = server === undefined ? undefined : stopListening(server);
      const { generation, assembly } = current;
      const cancel = clock.after(assembly.listen.drainMs, cutAll);
      await Promise.all([whenIdle(generation), ...retiring.values()]);
      cancel();
      server?.closeAllConnections();
      server?.close();
      await closed;
      await assembly.stop();
      deadlines.stop();
      opaque.close();
      await upstream.close();
      await store.close();
    },
  };
}

/** How long clients may take to hear that they were cut off. */
const FAREWELL_MS = 1_000;

interface Built {
  readonly assembly: Assembly;
  readonly generation: Generation;
}

/** Who waits for a generation to become idle. */
const idle = new WeakMap<Roll<LiveExchange>, () => void>();

/** Health, for load balancers and supervisors; public, and without facts about the inside. */
function ownRoutes(state: () => string, store: OpenStore): readonly Route[] {
  const json = { 'content-type': 'application/json' };
  return [
    { method: 'GET', path: '/healthz', access: 'public', handle: () => ({ status: 'ok' }) },
    {
      method: 'GET',
      path: '/readyz',
      access: 'public',
      handle() {
        const ready = state() === 'ready' && store.pressure().oldestMs < 1_000;
        return ready
          ? { status: 'ready' }
          : answer(503, JSON.stringify({ status: state() === 'ready' ? 'busy' : state() }), json);
      },
    },
  ];
}

function checkGuards(routes: readonly Route[], guards: Readonly<Record<string, Guard>>): void {
  for (const { path, access } of routes) {
    if (access === 'public') continue;
    const missing = access.find((name) => guards[name] === undefined);
    if (missing !== undefined)
      throw new Error(`the route ${path} asks for the guard ${missing}, which no plugin provides`);
  }
}

function readTls(tls: { readonly cert: string; readonly key: string }, dir: string): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(resolve(dir, tls.cert)), key: readFileSync(resolve(dir, tls.key)) };
}

function listenOn(server: Server, { host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  return new Promise((done, failed) => {
    server.once('error', failed);
    server.listen(port, host, () => {
      server.off('error', failed);
      done();
    });
  });
}

/**
 * Takes no more connections; resolves when the last has ended. `server.close` of HTTP would also end those that count as idle,
 * among them those whose answer is complete but still on its way.
 */
function stopListening(server: Server): Promise<void> {
  return new Promise((done) => NetServer.prototype.close.call(server, () => done()));
}

/** An address that cannot be had is a mistake of the file. */
function refuseAddress(error: NodeJS.ErrnoException, file: ConfigFile): never {
  if (error.code === 'EADDRINUSE') file.problem(['listen', 'port'], 'another process listens there already');
  else if (error.code === 'EACCES')
    file.problem(['listen', 'port'], 'this user may not listen there; ports below 1024 are for root');
  else if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    file.problem(['listen', 'host'], 'this machine has no such address');
  throwIfWrong(file);
  throw error;
}

/** What a running gateway cannot change is an error of the new file, not a silence. */
function refuseRestart(running: Plan, next: Plan): void {
  const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
  const section = (plan: Plan, name: string) => (plan.values[name] ?? {}) as Record<string, unknown>;
  for (const [name, keys] of [
    ['store', ['driver', 'file']],
    ['listen', ['host', 'port', 'tls']],
  ] as const) {
    for (const key of keys) {
      if (!same(section(running, name)[key], section(next, name)[key])) {
        next.file.problem([name, key], 'changing this needs a restart of the gateway');
      }
    }
  }
}

/** Editors replace files and write them in pieces: the folder is watched, and the file read when it has come to rest. */
const REST_MS = 200;
function watchFile(file: string, clock: Clock, changed: () => void): () => void {
  let cancel = (): void => {};
  let last = readFileSync(file, 'utf8');
  const look = (): void => {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch {
      return; // between being removed and written anew
    }
    if (text === last) return;
    last = text;
    changed();
  };
  const watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
    if (name !== null && name !== basename(file)) return;
    cancel();
    cancel = clock.after(REST_MS, look);
  });
  watcher.on('error', () => {});
  return () => {
    cancel();
    watcher.close();
  };
}

/** A model that costs nothing before one that does. */
function exampleModel(assembly: Assembly): string | undefined {
  const catalog = assembly.find(Catalog);
  const names = catalog?.names() ?? [];
  return names.find((name) => catalog!.require(name).free) ?? names[0];
}
