/** Where this code is compiled: a source file's module as JavaScript. `scripts/server-build.mjs` makes it and leaves the place below as it is. */
import { existsSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));

/** Whether this process runs compiled code, and has not learned to read TypeScript. */
export const isCompiled = basename(import.meta.url) !== 'compiled.ts';

const ROOT = resolve(here, isCompiled ? '../../..' : '..');

/** The compiled module of a source; the source itself where nothing is compiled, or where it does not ship with the gateway. */
export function compiledOf(file: string): string {
  return isCompiled ? threadOf(file) : file;
}

/** `plugins/log/index.ts` is `plugins.log.index.js`: all compiled modules lie in one folder. */
function nameOf(file: string): string {
  return relative(ROOT, file).split(sep).join('.').replace(/\.ts$/, '.js');
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

/** What a thread runs for a source: its compiled module, the source itself where there is none. */
export function threadOf(file: string): string {
  const compiled = besideCompiled(nameOf(file));
  return compiled !== undefined && existsSync(compiled) ? compiled : file;
}

let learned: Promise<unknown> | undefined;

/** Has this process read TypeScript, which only plugins from outside are written in once the gateway is compiled. */
export async function readTypeScript(): Promise<void> {
  if (!isCompiled) return;
  learned ??= import(join(ROOT, 'scripts/typescript.mjs'));
  await learned;
}
