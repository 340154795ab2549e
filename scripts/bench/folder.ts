/** The scratch folder of a bench, `.bench/`: installed packages, request bodies, databases. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './processes.ts';

export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url));
export const FOLDER: string = join(ROOT, '.bench');
/** The files of one run, including gigabytes of databases. */
const RUN = join(FOLDER, 'run');

/** A file of the scripts folder. */
export function script(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** Removes the files of this run and of an interrupted earlier one. */
export function removeRun(): void {
  rmSync(RUN, { recursive: true, force: true });
}

/** Writes a file for this run and returns its path. */
export function write(name: string, text: string): string {
  const path = join(RUN, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** Creates an empty folder for this run and returns its path. */
export function emptied(name: string): string {
  const path = join(RUN, name);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  return path;
}

/** Installs packages at exact versions into their own folder, if missing. Rejects if npm fails. */
export async function install(
  name: string,
  dependencies: Readonly<Record<string, string>>,
  overrides: Readonly<Record<string, string>> = {},
): Promise<string> {
  const path = join(FOLDER, name);
  if (Object.keys(dependencies).every((needed) => existsSync(join(path, 'node_modules', needed)))) return path;
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'package.json'), JSON.stringify({ private: true, dependencies, overrides }));
  await run(['npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=1'], { cwd: path });
  return path;
}
