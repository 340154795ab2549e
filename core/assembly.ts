/** Builds what one gateway.yaml describes: plugins loaded, their sections checked, created in the order of their needs. */
import { type Clock, systemClock } from './clock.ts';
import type { Listen, PipelineEntry, StoreSection } from './config/core-sections.ts';
import { coreSections, readListen } from './config/core-sections.ts';
import { type ConfigFile, readConfig } from './config/file.ts';
import { checkSections, throwIfWrong } from './config/sections.ts';
import { FirstStart } from './contracts/first-start.ts';
import type { Style } from './contracts/style.ts';
import type { Vendor } from './contracts/vendor.ts';
import { boot } from './id.ts';
import { LoadError, loadDriver, loadPlugin } from './loader.ts';
import { type Log, silentLog } from './log.ts';
import type { Player } from './pipeline.ts';
import type { Host, Parts, Plugin, Schema, Sections, Service, Store, StoreDriver } from './plugin.ts';

/** A configuration brought to life: everything created, nothing started. */
export interface Assembly {
  readonly file: ConfigFile;
  readonly listen: Listen;
  readonly storeSection: StoreSection;
  /** In the order of the pipeline. */
  readonly players: readonly Player[];
  readonly vendors: ReadonlyMap<string, Vendor>;
  readonly styles: ReadonlyMap<string, Style>;
  /** A service, for core itself; undefined where nobody provides it. */
  find<T>(service: Service<T>): T | undefined;
  /** Checks what can only be seen when all plugins are there. Throws what is wrong with the file. */
  link(): void;
  /** Calls `start` on every plugin, providers first; to be called after `link`. */
  start(): Promise<void>;
  /** Calls `stop` on every plugin that was started, in reverse. */
  stop(): Promise<void>;
}

/** A configuration read and its plugins loaded, with nothing created yet. */
export interface Plan {
  readonly file: ConfigFile;
  readonly plugins: readonly Plugin<Sections>[];
  readonly sections: Readonly<Record<string, Schema>>;
  readonly values: Readonly<Record<string, unknown>>;
}

/** What every assembly of a process shares. */
export interface Surroundings {
  readonly store: Store;
  readonly log: Log;
  readonly clock: Clock;
  /** What outlives a reload. */
  readonly lasting: Map<string, unknown>;
  /** Services that core itself provides. */
  readonly provided: ReadonlyMap<string, unknown>;
}

/** Reads the file and loads its plugins; problems are collected in `plan.file`, not thrown. */
export async function planFrom(
  path: string,
  env: Readonly<Record<string, string | undefined>>,
  extra: readonly Plugin<Sections>[] = [],
): Promise<Plan> {
  const file = readConfig(path, env);
  const plugins: Plugin<Sections>[] = [];
  const sections: Record<string, Schema> = { ...coreSections };
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
      }
    } catch (error) {
      if (!(error instanceof LoadError)) throw error;
      file.problem(['pipeline', i], error.message);
    }
  }
  for (const plugin of extra) {
    readSections(plugin, entries.length);
    plugins.push(plugin);
  }
  return { file, plugins, sections, values: checkSections(file, sections) };
}

/** Loads the store's driver. Throws `ConfigError` where there is none by that name. */
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

/** Creates the plugins of a plan. Throws `ConfigError` with everything that is wrong with the file. */
export async function assemble(plan: Plan, around: Surroundings): Promise<Assembly> {
  const { file, plugins } = plan;
  const services = new Map<string, unknown>(around.provided);
  const vendors = new Map<string, Vendor>();
  const styles = new Map<string, Style>();
  const guards = new Map<string, string>();
  const routes = new Map<string, string>();
  for (const secret of file.secrets) around.log.hide(secret);
  const order = inOrderOfNeeds(plugins, around.provided, file);
  throwIfWrong(file);

  const created = new Map<string, Parts>();
  for (const plugin of order) {
    const host: Host = {
      store: around.store,
      log: around.log,
      clock: around.clock,
      boot,
      use<T>(service: Service<T>): T {
        if (!services.has(service.id))
          throw new Error(`${plugin.name} uses ${service.id} without naming it in \`needs\``);
        return services.get(service.id) as T;
      },
      find: <T>(service: Service<T>) => services.get(service.id) as T | undefined,
      provide<T>(service: Service<T>, implementation: T): void {
        services.set(service.id, implementation);
      },
      vendors: () => vendors,
      styles: () => styles,
      lasting<T>(name: string, make: () => T): T {
        if (!around.lasting.has(name)) around.lasting.set(name, make());
        return around.lasting.get(name) as T;
      },
      problem: (path, message) => file.problem(path, message),
    };
    const config = Object.fromEntries(Object.keys(plugin.sections ?? {}).map((name) => [name, plan.values[name]]));
    const parts = await plugin.create(host, config as never);
    created.set(plugin.name, parts);
    // Of two that go by one name, nobody could tell which one answers.
    const claim = <T>(kind: string, taken: Map<string, T>, name: string, it: T): void => {
      if (taken.has(name))
        file.problem(['pipeline', plugins.indexOf(plugin)], `another plugin brings the ${kind} ${name} already`);
      taken.set(name, it);
    };
    for (const vendor of parts.vendors ?? []) claim('vendor', vendors, vendor.name, vendor);
    for (const style of parts.styles ?? []) claim('style', styles, style.name, style);
    for (const name of Object.keys(parts.guards ?? {})) claim('guard', guards, name, plugin.name);
    for (const { method, path } of parts.routes ?? []) claim('route', routes, `${method} ${path}`, plugin.name);
  }
  throwIfWrong(file);

  const inOrder = order.map((plugin) => created.get(plugin.name)!);
  const started: Parts[] = [];
  return {
    file,
    listen: readListen(plan.values.listen),
    storeSection: plan.values.store as StoreSection,
    players: plugins.map((plugin) => ({ name: plugin.name, parts: created.get(plugin.name)! })),
    vendors,
    styles,
    find: <T>(service: Service<T>) => services.get(service.id) as T | undefined,
    link() {
      for (const parts of inOrder) parts.link?.();
      throwIfWrong(file);
    },
    async start() {
      for (const parts of inOrder) {
        started.push(parts);
        await parts.start?.();
      }
    },
    async stop() {
      for (const parts of started.reverse().splice(0)) await parts.stop?.();
    },
  };
}

/**
 * Creates and links everything a plan describes, with nothing behind it: no store is opened, nothing is started. Finds every
 * mistake that can be found without a start. Throws `ConfigError`.
 */
export async function rehearse(plan: Plan): Promise<Assembly> {
  throwIfWrong(plan.file);
  await driverOf(plan);
  const assembly = await assemble(plan, {
    store: noStore,
    log: silentLog,
    clock: systemClock,
    lasting: new Map(),
    provided: new Map([[FirstStart.id, { note: () => {} } satisfies FirstStart]]),
  });
  assembly.link();
  return assembly;
}

const closed = (): Promise<never> => Promise.reject(new Error('no store is open yet; it may be used from `start` on'));
const noStore: Store = { one: closed, all: closed, run: closed, atomic: closed };

/** Providers before those who need or want them; otherwise as listed. Reports what nobody provides. */
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
  /** Everybody a plugin cannot do without, however far away. */
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
      file.problem(['pipeline', i], `${[...path, plugin].map(({ name }) => name).join(' needs ')}: that is a circle`);
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
      // A wish gives way where it would close a circle: the service is there from `link` on all the same.
      const required = requirements(provider).add(provider);
      if (!here.some((other) => required.has(other))) visit(provider, i, here);
    }
    order.push(plugin);
  };
  for (const [i, plugin] of plugins.entries()) visit(plugin, i, []);
  return order;
}
