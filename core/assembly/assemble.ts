/** Builds the gateway of a gateway.yaml: loads plugins, checks their sections, creates them, providers first. */

import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Player } from '../call/phases.ts';
import { readBackup, SHORTEST_MS } from '../config/backup-section.ts';
import type { Listen, PipelineEntry, StoreSection, UpstreamSection } from '../config/core-sections.ts';
import { coreSections, readListen } from '../config/core-sections.ts';
import { type ConfigFile, needsStore, type Problem, pathText, readConfig } from '../config/file.ts';
import { type CheckedSections, checkSections, throwIfWrong } from '../config/sections.ts';
import { Configuring } from '../contracts/configuring.ts';
import { coreErrors } from '../contracts/errors.ts';
import { FirstStart } from '../contracts/first-start.ts';
import type { Style } from '../contracts/formats/style.ts';
import type { Vendor } from '../contracts/formats/vendor.ts';
import type { KnownError, Vault } from '../contracts/host.ts';
import { aloneOf, type Peers } from '../contracts/peers.ts';
import { Running } from '../contracts/running.ts';
import { nearest } from '../helpers/nearest.ts';
import { CORE_PATHS } from '../http/router.ts';
import { createAgents, createFetch } from '../outgoing/fetch.ts';
import { postGuarded } from '../outgoing/guarded-fetch.ts';
import { type Asking, noAsking } from '../outgoing/vendor-request.ts';
import type { Guard, Host, Parts, Plugin, Route, Schema, Sections, Service, Store, StoreDriver } from '../plugin.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { boot } from '../runtime/ids.ts';
import { type LogSettings, type ProcessLog, silentLog } from '../runtime/logger.ts';
import { onBehalfOf } from '../runtime/unexpected.ts';
import { createVault } from '../store/vault.ts';
import { createOutgoingProxies, type OutgoingProxies } from '../upstream/proxy.ts';
import { CORE_COMMANDS } from './core-commands.ts';
import { LastingStates } from './lasting-state.ts';
import { readTls, spoolFolder, type TlsFiles } from './listen-files.ts';
import { problemOfParts } from './plugin-checks.ts';
import { LoadError, loadDriver, loadPlugin, shipsPlugin } from './plugin-loader.ts';

/** A configuration with everything created and nothing started. */
export interface Assembly {
  readonly file: ConfigFile;
  readonly listen: Listen;
  /** TLS files from `listen.tls`; undefined: plain HTTP. */
  readonly tls: TlsFiles | undefined;
  /** The folder for uploaded files of running requests. */
  readonly spoolDirectory: string;
  /** In pipeline order. */
  readonly players: readonly Player[];
  readonly vendors: ReadonlyMap<string, Vendor>;
  readonly styles: ReadonlyMap<string, Style>;
  readonly proxies: OutgoingProxies;
  /** A service, for core; undefined if no plugin provides it. */
  find<T>(service: Service<T>): T | undefined;
  /** Checks what needs all plugins. Throws what is wrong with the file. */
  link(): void;
  /** Calls `start` on every plugin, providers first. Call `link` before. */
  start(): Promise<void>;
  /** Calls `stop` on started plugins, last first; logs failures. Once `enough` resolves, it waits for no other. */
  stop(enough: Promise<void>): Promise<void>;
}

/** A configuration that was read and whose plugins are loaded; nothing is created yet. */
export interface Plan {
  readonly file: ConfigFile;
  readonly plugins: readonly Plugin<Sections>[];
  readonly sections: Readonly<Record<string, Schema>>;
  /** The errors of core and of all plugins, by their codes. */
  readonly errors: ReadonlyMap<string, KnownError>;
  readonly values: CheckedSections['values'];
  readonly doubtful: CheckedSections['doubtful'];
  /** The environment that `${NAME}` was read from. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The settings of the logger. */
export function loggerOf({ values }: Pick<Plan, 'values'>): LogSettings {
  return values.logger as LogSettings;
}

/** Shared by every assembly of a process. */
export interface Surroundings {
  readonly store: Store;
  readonly log: ProcessLog;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly peers: Peers;
  /** State that outlives a reload. */
  readonly lasting: LastingStates;
  /** Requests of plugins to vendors that are not calls. */
  ask(vendors: ReadonlyMap<string, Vendor>, proxies: OutgoingProxies): Asking;
  /** Core's own services. */
  readonly provided: ReadonlyMap<string, unknown>;
}

/** Reads the file and loads its plugins; problems are collected in `plan.file`, not thrown. */
export async function planFrom(
  path: string,
  env: Readonly<Record<string, string | undefined>>,
  extra: readonly Plugin<Sections>[] = [],
): Promise<Plan> {
  return planOf(readConfig(path, env), extra);
}

/**
 * The plan of what is read before the database is open: its section, the address and the log. The pipeline and the rest follow
 * when the database is open.
 */
export async function earlyPlanOf(file: ConfigFile): Promise<Plan> {
  const { listen, store, config, upstream, logger } = { ...coreSections, ...(await storeSectionOf(file)) };
  const sections = { listen, store, config, upstream, logger };
  const value = Object.fromEntries(Object.entries(file.value).filter(([name]) => name in sections));
  return {
    file,
    plugins: [],
    sections,
    errors: new Map(),
    ...checkSections({ ...file, value }, sections),
    env: file.env,
  };
}

/** What is needed to open the store: `earlyPlanOf` if the rest is in there, otherwise the whole plan. */
export async function planForStore(path: string, env: Plan['env']): Promise<Plan> {
  const file = readConfig(path, env);
  return needsStore(file) ? earlyPlanOf(file) : planOf(file, []);
}

/** The same for a file that was already read. */
export async function planOf(file: ConfigFile, extra: readonly Plugin<Sections>[]): Promise<Plan> {
  const plugins: Plugin<Sections>[] = [];
  const sections: Record<string, Schema> = { ...coreSections, ...(await storeSectionOf(file)) };
  const errors = new Map<string, KnownError>();
  const readErrors = ({ name, errors: own = {} }: Pick<Plugin, 'name' | 'errors'>, i: number): void => {
    for (const { about } of Object.values(own)) {
      const { owner } = errors.get(about.code) ?? {};
      if (owner === undefined) errors.set(about.code, { ...about, owner: name });
      else file.problem(['pipeline', i], `${name} defines the error ${about.code}, which ${owner} already defines`);
    }
  };
  readErrors({ name: 'core', errors: coreErrors }, 0);
  const readers = new Map<string, string>();
  const readSections = ({ name, sections: own = {} }: Plugin<Sections>, i: number): void => {
    for (const [section, schema] of Object.entries(own)) {
      if (sections[section] !== undefined && sections[section] !== schema)
        file.problem(['pipeline', i], `${name} and ${readers.get(section) ?? 'core'} both read the section ${section}`);
      sections[section] = schema;
      readers.set(section, name);
    }
  };
  const entries = Array.isArray(file.value.pipeline) ? (file.value.pipeline as PipelineEntry[]) : [];
  for (const [i, entry] of entries.entries()) {
    const use = typeof entry === 'string' ? entry : entry?.use;
    if (typeof use !== 'string' || entries.indexOf(entry) < i) continue; // the section's schema says so
    try {
      const plugin = await loadPlugin(use, file.dir);
      if (plugins.some(({ name }) => name === plugin.name))
        file.problem(['pipeline', i], `the plugin ${plugin.name} is listed twice`);
      else {
        plugins.push(plugin);
        readSections(plugin, i);
        readErrors(plugin, i);
      }
    } catch (error) {
      if (!(error instanceof LoadError)) throw error;
      file.problem(['pipeline', i], error.message);
    }
  }
  for (const plugin of extra) {
    readSections(plugin, entries.length);
    readErrors(plugin, entries.length);
    plugins.push(plugin);
  }
  const isMissing = (plugin: string): boolean => shipsPlugin(plugin) && !plugins.some(({ name }) => name === plugin);
  return { file, plugins, sections, errors, ...checkSections(file, sections, isMissing), env: file.env };
}

/** The section `store` as the selected driver expects it. If the driver does not exist, `driverOf` reports it. */
async function storeSectionOf({ value, dir }: ConfigFile): Promise<{ readonly store?: Schema }> {
  const name = (value.store as { readonly driver?: unknown } | null | undefined)?.driver;
  if (typeof name !== 'string') return {};
  try {
    const { section } = await loadDriver(name, dir);
    return section === undefined ? {} : { store: section };
  } catch (error) {
    if (error instanceof LoadError) return {};
    throw error;
  }
}

/** Loads the store's driver. Throws `ConfigError` if it does not exist. */
export async function driverOf({ file, values }: Plan): Promise<StoreDriver> {
  try {
    return await loadDriver((values.store as StoreSection).driver, file.dir);
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    file.problem(['store', 'driver'], error.message);
    throwIfWrong(file);
    throw error;
  }
}

/** The outgoing proxies. `wrong` as of `createOutgoingProxies`. */
export function proxiesOf({ values, env }: Plan, wrong: (message: string) => void): OutgoingProxies {
  const { proxy } = (values.upstream ?? {}) as Partial<UpstreamSection>;
  return createOutgoingProxies(proxy, env, wrong);
}

/** The methods that a route can have. */
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'any'] as const;

/** Creates the plugins of a plan. Throws `ConfigError` with all problems of the file. */
export async function assemble(plan: Plan, around: Surroundings): Promise<Assembly> {
  const { file, plugins } = plan;
  const services = new Map<string, unknown>(around.provided);
  const vendors = new Map<string, Vendor>();
  const styles = new Map<string, Style>();
  const guards = new Map<string, Guard>();
  const routes: Route[] = [];
  /** Finds duplicates: two things of one kind with the same name would be ambiguous. */
  const brought = new Map<string, string>([
    ...Object.values(CORE_PATHS).map((path) => [`path GET ${path}`, 'core'] as const),
    ...Object.values(CORE_COMMANDS).map(({ name }) => [`command ${name}`, 'core'] as const),
  ]);
  const proxies = proxiesOf(plan, (message) => around.log.warn(message));
  for (const secret of [...file.secrets, ...proxies.secrets]) around.log.hide(secret);
  if ((plan.values.upstream as Partial<UpstreamSection> | undefined)?.client !== undefined)
    file.problem(['upstream', 'client'], 'this option is gone, because there is only one HTTP client; remove it');
  const listen = readListen(plan.values.listen);
  const tls = readTls(listen.tls, file);
  const spoolDirectory = spoolFolder(listen.body, file);
  const order = inOrderOfNeeds(plugins, around.provided, file);
  throwIfWrong(file);
  for (const name of Object.keys(loggerOf(plan).plugins)) {
    if (plugins.some((plugin) => plugin.name === name)) continue;
    const near = nearest(
      name,
      plugins.map((plugin) => plugin.name),
    );
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    file.problem(['logger', 'plugins', name], `no plugin of the pipeline has this name${hint}`);
  }
  const placeOf = (name: string) => ['pipeline', plugins.findIndex((plugin) => plugin.name === name)];

  const created = new Map<string, Parts>();
  const asking = around.ask(vendors, proxies);
  for (const plugin of order) {
    const host: Host = {
      store: around.store,
      log: around.log.of(plugin.name),
      clock: around.clock,
      boot,
      peers: around.peers,
      env: plan.env,
      use<T>(service: Service<T>): T {
        if (!names(plugin.needs, service) && !(names(plugin.wants, service) && services.has(service.id)))
          throw new Error(`it uses ${service.id} without naming it in \`needs\``);
        return services.get(service.id) as T;
      },
      find<T>(service: Service<T>): T | undefined {
        if (!names(plugin.wants, service) && !names(plugin.needs, service))
          throw new Error(`it requests ${service.id} without naming it in \`wants\``);
        return services.get(service.id) as T | undefined;
      },
      provide<T>(service: Service<T>, implementation: T): void {
        if (!names(plugin.provides, service))
          throw new Error(`it provides ${service.id} without naming it in \`provides\``);
        services.set(service.id, implementation);
      },
      vendors: () => vendors,
      styles: () => styles,
      routes: () => routes,
      guards: () => guards,
      errors: () => plan.errors,
      vault: around.vault,
      lasting: (state) => around.lasting.get(state),
      ask: onBehalfOf(plugin.name, asking.ask),
      askStream: onBehalfOf(plugin.name, asking.askStream),
      fetch: onBehalfOf(plugin.name, createFetch(proxies)),
      agent: createAgents(proxies),
      post: onBehalfOf(plugin.name, (url, body, headers) => postGuarded(url, body, headers)),
      problem: (path, message) => file.problem(path, message),
      warn: (path, message) => file.warn(path, message),
    };
    const config = Object.fromEntries(Object.keys(plugin.sections ?? {}).map((name) => [name, plan.values[name]]));
    const parts = await blaming(plugin.name, 'create', async () => plugin.create(host, config as never));
    const problem = problemOfParts(parts);
    if (problem !== undefined) {
      file.problem(placeOf(plugin.name), `the plugin ${plugin.name}: ${problem}`);
      continue;
    }
    created.set(plugin.name, parts);
    const claim = (what: string, told = what): void => {
      const other = brought.get(what);
      if (other !== undefined) file.problem(placeOf(plugin.name), `${other} already provides the ${told}`);
      brought.set(what, plugin.name);
    };
    /** A path of a style, or of a route: what others serve is not taken over. */
    const claimPath = (method: string, path: string): void => {
      const shape = path.replace(/(?<=\/):\w+/g, ':');
      const others = method === 'any' ? METHODS : ['any'];
      const taken = others.find((other) => brought.has(`path ${other} ${shape}`));
      if (taken === undefined) claim(`path ${method} ${shape}`, `route ${method} ${path}`);
      else claim(`path ${taken} ${shape}`, `route ${taken} ${path}`);
    };
    for (const vendor of parts.vendors ?? []) {
      claim(`vendor ${vendor.name}`);
      vendors.set(vendor.name, vendor);
    }
    for (const style of parts.styles ?? []) {
      claim(`style ${style.name}`);
      if (style.ingress !== undefined) claimPath('POST', style.ingress.path);
      styles.set(style.name, style);
    }
    for (const [name, guard] of Object.entries(parts.guards ?? {})) {
      claim(`guard ${name}`);
      guards.set(name, guard);
    }
    for (const route of parts.routes ?? []) {
      claimPath(route.method, route.path);
      routes.push(route);
    }
    for (const { name } of parts.commands ?? []) claim(`command ${name}`);
  }
  throwIfWrong(file);

  const inOrder: readonly Player[] = order.map(({ name }) => ({ name, parts: created.get(name)! }));
  const started: Player[] = [];
  return {
    file,
    listen,
    tls,
    spoolDirectory,
    players: plugins.map(({ name }) => ({ name, parts: created.get(name)! })),
    vendors,
    styles,
    proxies,
    find: <T>(service: Service<T>) => services.get(service.id) as T | undefined,
    link() {
      for (const { name, parts } of inOrder) {
        try {
          parts.link?.();
        } catch (error) {
          throw blamed(name, 'link', error);
        }
        for (const vendor of parts.vendors ?? []) {
          for (const [spoken, dialect] of Object.entries(vendor.speaks)) {
            const style = styles.get(spoken);
            if (style?.vendor !== undefined && dialect?.answer !== undefined) {
              file.problem(
                placeOf(name),
                `the plugin ${name}: \`vendors.${vendor.name}.speaks.${spoken}.answer\`: the style is translated, and streamed, so it is never called; provide a separate style for the vendor instead`,
              );
            }
            if (style !== undefined) continue;
            const near = nearest(spoken, [...styles.keys()]);
            const hint = near === undefined ? '' : `; did you mean ${near}?`;
            file.problem(
              placeOf(name),
              `the plugin ${name}: \`vendors.${vendor.name}.speaks.${spoken}\`: no plugin provides this style${hint}`,
            );
          }
        }
        for (const { method, path, access } of parts.routes ?? []) {
          for (const guard of access === 'public' ? [] : access) {
            if (!guards.has(guard))
              file.problem(placeOf(name), `${method} ${path} requires the guard ${guard}, which no plugin provides`);
          }
        }
      }
      throwIfWrong(file);
    },
    async start() {
      for (const player of inOrder) {
        started.push(player);
        await blaming(player.name, 'start', async () => player.parts.start?.());
      }
    },
    async stop(enough) {
      for (const { name, parts } of started.reverse().splice(0)) {
        const stopped = blaming(name, 'stop', async () => parts.stop?.()).then(
          () => true,
          (error: unknown) => {
            around.log.error('a plugin failed to stop', { plugin: name, error });
            return true;
          },
        );
        // A plugin that stops synchronously is never late.
        const inTime = await Promise.race([stopped, enough.then(() => nextTurn(false))]);
        if (!inTime) around.log.error('a plugin took too long to stop', { plugin: name });
      }
    },
  };
}

function names(services: readonly Service<unknown>[] | undefined, { id }: Service<unknown>): boolean {
  return services?.some((service) => service.id === id) ?? false;
}

/** Runs one step of a plugin; an error names the plugin and the step. */
async function blaming<T>(plugin: string, step: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw blamed(plugin, step, error);
  }
}

function blamed(plugin: string, step: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message : String(error);
  return new Error(`the plugin ${plugin} failed in its \`${step}\`: ${reason}`, { cause: error });
}

/**
 * Creates and links everything a plan describes and starts nothing, to find every mistake that can be found without a
 * start. Without `real`, services of a running gateway, including an open store, are replaced by stubs. Throws
 * `ConfigError`.
 */
export async function rehearse(plan: Plan, real: Partial<Surroundings> = {}): Promise<Assembly> {
  if (plan.file.problems.length > 0) {
    await lookFurther(plan);
    throwIfWrong(plan.file);
  }
  const driver = await driverOf(plan);
  if (driver.attach === undefined && readListen(plan.values.listen).workers > 1) {
    const { driver: name } = plan.values.store as StoreSection;
    const cure = driver.server === undefined ? 'remove this line' : 'start several gateways on it instead';
    plan.file.problem(['listen', 'workers'], `a store of the driver "${name}" cannot be used by workers: ${cure}`);
  }
  await checkBackup(plan, driver);
  const assembly = await assemble(plan, {
    store: noStore,
    log: silentLog,
    clock: systemClock,
    vault: createVault(randomBytes(32)),
    peers: aloneOf(boot),
    lasting: new LastingStates(),
    ask: noAsking('no vendor can be called before `start`'),
    provided: new Map<string, unknown>([
      [FirstStart.id, { begin: () => {}, note: () => {}, signIn: () => {} } satisfies FirstStart],
      [Running.id, nothingRuns],
      [Configuring.id, nothingChanges],
    ]),
    ...real,
  });
  assembly.link();
  return assembly;
}

/** Reports why scheduled backups cannot be made as configured. */
async function checkBackup({ file, values }: Plan, driver: StoreDriver): Promise<void> {
  const backup = readBackup(values.backup);
  if (backup === undefined) return;
  if (backup.everyMs < SHORTEST_MS) file.problem(['backup', 'every'], 'must be at least 1m');
  if (driver.restore !== undefined) return;
  const tools = driver.server?.backup ?? 'it has no backups';
  const missing = driver.dumps === undefined ? `this database is backed up with its own tools: ${tools}` : undefined;
  const problem = missing ?? (await driver.dumps?.missing());
  if (problem !== undefined) file.problem(['backup'], problem);
}

/** Finds further mistakes of a file that has some, with valid values for wrong ones, and adds them to its problems. */
async function lookFurther(plan: Plan): Promise<void> {
  const { file, doubtful } = plan;
  if (doubtful === undefined) return;
  const reported = [...doubtful.map(pathText), ...file.problems.map(({ path }) => path)];
  const isEcho = (path: string): boolean =>
    reported.some((place) => path === place || /^[.[]/.test(below(place, path)));
  const problems: Problem[] = [];
  const problem: ConfigFile['problem'] = (path, message) => {
    if (isEcho(pathText(path))) return;
    const before = file.problems.length;
    file.problem(path, message);
    problems.push(...file.problems.slice(before));
  };
  try {
    await rehearse({ ...plan, file: { ...file, problems, problem } });
  } catch {
    // A plugin that fails now may fail because of a stand-in value; the original mistake is already reported.
  }
}

/** The part of a path below another one; empty if it is not below it. */
function below(place: string, path: string): string {
  return path.startsWith(place) ? path.slice(place.length) : '';
}

const nobodyRuns = (): never => {
  throw new Error('the gateway is not ready yet');
};
const nothingRuns: Running = {
  inFlight: nobodyRuns,
  vitals: nobodyRuns,
  hasRoom: nobodyRuns,
  history: nobodyRuns,
  proxy: nobodyRuns,
  backups: nobodyRuns,
  backUp: nobodyRuns,
  examine: nobodyRuns,
  configuration: nobodyRuns,
  check: nobodyRuns,
  schema: nobodyRuns,
  reload: nobodyRuns,
};

const nothingChanges: Configuring = {
  current: nobodyRuns,
  written: nobodyRuns,
  check: nobodyRuns,
  edited: nobodyRuns,
  edit: nobodyRuns,
  save: nobodyRuns,
  versions: nobodyRuns,
  version: nobodyRuns,
  restore: nobodyRuns,
  secrets: nobodyRuns,
  setSecret: nobodyRuns,
  deleteSecret: nobodyRuns,
  candidate: nobodyRuns,
};

const closed = (): Promise<never> => Promise.reject(new Error('no store is open yet; it may be used from `start` on'));
const noStore: Store = {
  one: closed,
  all: closed,
  run: closed,
  atomic: closed,
  pressure: () => ({ waiting: 0, oldestMs: Infinity }),
};

/** Sorts plugins: providers before those that need or want them, otherwise as listed. Reports missing providers. */
function inOrderOfNeeds(
  plugins: readonly Plugin<Sections>[],
  provided: ReadonlyMap<string, unknown>,
  file: ConfigFile,
): Plugin<Sections>[] {
  const providers = new Map<string, Plugin<Sections>>();
  for (const [i, plugin] of plugins.entries()) {
    for (const { id } of plugin.provides ?? []) {
      const other = providers.get(id);
      if (other !== undefined)
        file.problem(['pipeline', i], `${plugin.name} and ${other.name} both provide ${id}: keep one of them`);
      providers.set(id, plugin);
    }
  }
  /** All plugins that a plugin needs, directly or indirectly. */
  const requirements = (plugin: Plugin<Sections>, seen = new Set<Plugin<Sections>>()): Set<Plugin<Sections>> => {
    for (const { id } of plugin.needs ?? []) {
      const provider = providers.get(id);
      if (provider === undefined || seen.has(provider)) continue;
      seen.add(provider);
      requirements(provider, seen);
    }
    return seen;
  };
  const order: Plugin<Sections>[] = [];
  const visit = (plugin: Plugin<Sections>, i: number, path: readonly Plugin<Sections>[]): void => {
    if (order.includes(plugin)) return;
    if (path.includes(plugin)) {
      file.problem(
        ['pipeline', i],
        `${[...path, plugin].map(({ name }) => name).join(' needs ')}: circular dependency`,
      );
      return;
    }
    const here = [...path, plugin];
    for (const { id } of plugin.needs ?? []) {
      const provider = providers.get(id);
      if (provider !== undefined) visit(provider, i, here);
      else if (!provided.has(id)) {
        file.problem(
          ['pipeline', i],
          `${plugin.name} needs ${id}: add the plugin that provides it (usually called ${id}) to the pipeline`,
        );
      }
    }
    for (const { id } of plugin.wants ?? []) {
      const provider = providers.get(id);
      if (provider === undefined) continue;
      // A `wants` that would close a circle is ignored for the order: the service is still available from `link` on.
      const required = requirements(provider).add(provider);
      if (!here.some((other) => required.has(other))) visit(provider, i, here);
    }
    order.push(plugin);
  };
  for (const [i, plugin] of plugins.entries()) visit(plugin, i, []);
  return order;
}
