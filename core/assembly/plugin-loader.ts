/** Finds a plugin by its name in gateway.yaml: a folder of `plugins/`, a path, a package. A failure stops the start. */
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { resolve as resolvePackage } from 'import-meta-resolve';
import { nearest } from '../helpers/nearest.ts';
import type { Plugin, Sections, StoreDriver } from '../plugin.ts';
import { compiled, compiledOf, importOutside, readTypeScript } from '../runtime/compiled.ts';
import { placePlugin } from '../runtime/unexpected.ts';
import { problemOfPlugin } from './plugin-checks.ts';

const SHIPPED = fileURLToPath(new URL('../../plugins/', import.meta.url));

/** A plugin could not be loaded; the message is for the author of gateway.yaml. */
export class LoadError extends Error {}

/** Loads the plugin `use`; a path is relative to `dir`. Throws `LoadError`. */
export async function loadPlugin(use: string, dir: string): Promise<Plugin<Sections>> {
  const plugin = await loadDefault(use, dir);
  const problem = problemOfPlugin(plugin);
  if (problem !== undefined) throw new LoadError(`${use} is not a plugin: ${problem}`);
  const source = locate(use, dir);
  if (compiledOf(source) === undefined) placePlugin((plugin as Plugin<Sections>).name, realpathSync(source));
  return plugin as Plugin<Sections>;
}

/** Loads the store driver `store.driver`. Throws `LoadError`. */
export async function loadDriver(use: string, dir: string): Promise<StoreDriver> {
  const driver = await loadDefault(shippedAt(`stores/${use}`) === undefined ? use : `stores/${use}`, dir);
  if (typeof (driver as Partial<StoreDriver> | undefined)?.open !== 'function') {
    throw new LoadError(`${use} is not a store driver: its default export has no function \`open\``);
  }
  return driver as StoreDriver;
}

async function loadDefault(use: string, dir: string): Promise<unknown> {
  const source = locate(use, dir);
  const load = compiledOf(source);
  try {
    return defaultOf((await (load === undefined ? importSource(source) : load())) as Exports);
  } catch (error) {
    throw new LoadError(`${use} could not be loaded: ${(error as Error).message}`, { cause: error });
  }
}

async function importSource(file: string): Promise<unknown> {
  await readTypeScript();
  const { mtimeMs } = statSync(file);
  if (!loadedAt.has(file)) loadedAt.set(file, mtimeMs);
  return importOutside(file);
}

/** The modification times of plugins outside the gateway when they were loaded: Node loads a module once. */
const loadedAt = new Map<string, number>();

/** The files of loaded plugins that have changed since: only a restart loads them. */
export function changedPlugins(): readonly string[] {
  return [...loadedAt].flatMap(([file, then]) =>
    statSync(file, { throwIfNoEntry: false })?.mtimeMs === then ? [] : [file],
  );
}

interface Exports {
  readonly default?: unknown;
  readonly __esModule?: unknown;
}

/** Compilers nest the default export of a CommonJS module one level deeper. */
function defaultOf(exports: Exports): unknown {
  const inner = exports.default as Exports | undefined;
  return inner?.__esModule === true ? inner.default : inner;
}

function locate(use: string, dir: string): string {
  if (use.startsWith('.') || use.startsWith('/')) {
    const path = resolve(dir, use);
    const found = [path, `${path}.ts`, `${path}/index.ts`].find(
      (candidate) => /\.[cm]?[jt]s$/.test(candidate) && existsSync(candidate),
    );
    if (found === undefined)
      throw new LoadError(`${use} does not exist; a path is relative to the file that contains it`);
    return found;
  }
  const shipped = shippedAt(use);
  if (shipped !== undefined) return shipped;
  try {
    return fileURLToPath(resolvePackage(use, pathToFileURL(`${dir}/`).href));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED') {
      throw new LoadError(`${use} is installed, but the \`exports\` of its package.json have nothing under that name`);
    }
    const near = nearest(use, shippedPlugins());
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    throw new LoadError(`${use} is neither shipped with the gateway nor an installed package${hint}`);
  }
}

/** The source of a built-in plugin, which an installed package has only compiled; undefined if none has this name. */
function shippedAt(use: string): string | undefined {
  const source = `${SHIPPED}${use}/index.ts`;
  return /^[\w/-]+$/.test(use) && (compiledOf(source) !== undefined || existsSync(source)) ? source : undefined;
}

/** The built-in names: folders of `plugins/`, and subfolders of those with several plugins. */
function shippedPlugins(): readonly string[] {
  const files =
    compiled.modules.size > 0
      ? [...compiled.modules.keys()]
          .filter((file) => file.startsWith('plugins/'))
          .map((file) => file.slice('plugins/'.length))
      : readdirSync(SHIPPED, { recursive: true, encoding: 'utf8' });
  return files.filter((name) => basename(name) === 'index.ts').map((name) => dirname(name).split(sep).join('/'));
}

/** Whether a name refers to a built-in plugin. */
export function shipsPlugin(use: string): boolean {
  return shippedPlugins().includes(use);
}
