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
  if (!isCompiled) return file;
  const name = relative(ROOT, file).split(sep).join('.').replace(/\.ts$/, '.js');
  const compiled = join(here, name);
  return existsSync(compiled) ? compiled : file;
}

/** A file that was made together with the compiled code; undefined where nothing is compiled. */
export function besideCompiled(name: string): string | undefined {
  return isCompiled ? join(here, name) : undefined;
}

let learned: Promise<unknown> | undefined;

/** Has this process read TypeScript, which only plugins from outside are written in once the gateway is compiled. */
export async function readTypeScript(): Promise<void> {
  if (!isCompiled) return;
  learned ??= import(join(ROOT, 'scripts/typescript.mjs'));
  await learned;
}
