/** What was compiled of the sources: modules by their names, and files. `scripts/server-build.mjs` makes it and leaves the place below as it is. */
import { existsSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));

/** Whether this process runs compiled code, and has not learned to read TypeScript. */
export const isCompiled = basename(import.meta.url) !== 'compiled.ts';

const ROOT = resolve(here, isCompiled ? '../../..' : '..');

/** What `scripts/server-build.mjs` compiled together with this code, and what `scripts/compiled-load.mjs` does for it. */
export interface Compiled {
  /** What is loaded by name, by its path from the root. Empty where sources run. */
  readonly modules: Map<string, () => Promise<unknown>>;
  /** What the schemas of sections compile to. */
  schemas?: () => unknown;
  /** Imports what was not compiled, by its URL: on Node 20 code that comes from V8's cache cannot. */
  import(url: string): Promise<unknown>;
}

export const compiled: Compiled = { modules: new Map(), import: (url) => import(url) };

/** Loads the compiled module of a source. Undefined where nothing is compiled, or where it does not ship with the gateway. */
export function compiledOf(file: string): (() => Promise<unknown>) | undefined {
  return compiled.modules.get(fromRoot(file).join('/'));
}

/** The steps from the root to a file. */
function fromRoot(file: string): readonly string[] {
  return relative(ROOT, file).split(sep);
}

/**
 * Where what was made of these sources lies; undefined where nothing was. Sources that are run may take of it what needs no second copy of
 * core, a thread or a compiled schema: to make it again takes most of their start, and tests start often.
 */
const made = isCompiled ? here : process.env.TURNPIKE_COMPILED;

/** A file that was made together with the compiled code; undefined where nothing is compiled. */
export function besideCompiled(name: string): string | undefined {
  return made && join(made, name);
}

/** What a thread, or a process of its own, runs for a source: its compiled module, the source itself where there is none. `plugins/a/b.ts` is `plugins.a.b.js`. */
export function threadOf(file: string): string {
  const found = besideCompiled(fromRoot(file).join('.').replace(/\.ts$/, '.js'));
  return found !== undefined && existsSync(found) ? found : file;
}

/** Imports a file that was not compiled. */
export function importOutside(file: string): Promise<unknown> {
  return compiled.import(pathToFileURL(file).href);
}

let learned: Promise<unknown> | undefined;

/** Has this process read TypeScript, which only plugins from outside are written in once the gateway is compiled. */
export async function readTypeScript(): Promise<void> {
  if (!isCompiled) return;
  learned ??= importOutside(join(ROOT, 'scripts/typescript.mjs'));
  await learned;
}
