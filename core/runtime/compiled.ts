/** Access to compiled modules and files by name, as `scripts/server-build.mjs` creates them. */
import { existsSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));

/** Whether this process runs compiled code and cannot load TypeScript. */
export const isCompiled = basename(import.meta.url) !== 'compiled.ts';

const ROOT = resolve(here, isCompiled ? '../../..' : '../..');

/** The modules that `scripts/server-build.mjs` compiled together with this code and `scripts/compiled-load.mjs` loads. */
export interface Compiled {
  /** Modules loaded by name: their path from the root. Empty if sources are run. */
  readonly modules: Map<string, () => Promise<unknown>>;
  /** Compiled section schemas. */
  schemas?: () => unknown;
  /** Imports an uncompiled file by its URL: code from V8's cache cannot do so on Node 20. */
  import(url: string): Promise<unknown>;
}

export const compiled: Compiled = { modules: new Map(), import: (url) => import(url) };

/** Loads the compiled module of a source file. Undefined if nothing is compiled, or the file is not the gateway's. */
export function compiledOf(file: string): (() => Promise<unknown>) | undefined {
  return compiled.modules.get(fromRoot(file).join('/'));
}

/** Path steps from the root to a file. */
function fromRoot(file: string): readonly string[] {
  return relative(ROOT, file).split(sep);
}

/**
 * The folder with the compiled files; undefined if there is none. Sources may load from it what needs no second copy of
 * core, a thread or a compiled schema: compiling it again would take most of the start, and tests start often.
 */
const made = isCompiled ? here : process.env.TURNPIKE_COMPILED;

/** A file that was created together with the compiled code; undefined if nothing is compiled. */
export function besideCompiled(name: string): string | undefined {
  return made && join(made, name);
}

/** The entry of a thread or child process: its compiled module, `plugins.a.b.js` for `plugins/a/b.ts`, or the file. */
export function threadOf(file: string): string {
  const built = besideCompiled(fromRoot(file).join('.').replace(/\.ts$/, '.js'));
  return built !== undefined && existsSync(built) ? built : file;
}

/** Imports a file that was not compiled. */
export function importOutside(file: string): Promise<unknown> {
  return compiled.import(pathToFileURL(file).href);
}

let learned: Promise<unknown> | undefined;

/** Enables loading TypeScript, which only external plugins need once the gateway is compiled. */
export async function readTypeScript(): Promise<void> {
  if (!isCompiled) return;
  learned ??= importOutside(join(ROOT, 'scripts/typescript.mjs'));
  await learned;
}
