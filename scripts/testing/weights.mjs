// Which test files take how long, in seconds of processor time (test/weights.json, written by `scripts/test.mjs --weigh`): the heaviest start first, so
// that no core waits for a last long one, and the light ones share processes, because loading the kit takes longer than most of their tests.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'test/weights.json';
/** What a file takes that was not measured yet, by kind. */
const UNKNOWN = { long: 3, short: 1 };
/** At most so many files share a process, each so light that it has no gateway of its own. */
const [MOST_FILES, LIGHT_SECONDS] = [8, 0.7];
/** Hooks outside of a suite would run for other files; and what counts resources, replaces globals or changes the process needs one to itself. */
const NEEDS_PROCESS =
  /^(?:before|after|beforeEach|afterEach|it|test)\(|^(?:const .* = )?await |process\.(?:env\.\w+ = |env\[|chdir|on\(|once\(|emit\(|exit|getActive|memoryUsage|cpuUsage|stdout|stderr)|delete process\.env|mock\.|globalThis\.|processorTime|from 'node:(?:dns|v8|inspector|diagnostics_channel|perf_hooks)/m;

const weights = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
const weightOf = (file) => weights[file] ?? UNKNOWN[file.endsWith('.long.test.ts') ? 'long' : 'short'];

/** The files, heaviest first; among equals in the order of their names. */
export function heaviestFirst(files) {
  return files.toSorted((a, b) => weightOf(b) - weightOf(a) || (a < b ? -1 : 1));
}

/** The files by process, in the order of the files. */
export function groups(files) {
  const all = [];
  let open = [];
  for (const file of files) {
    if (weightOf(file) > LIGHT_SECONDS || NEEDS_PROCESS.test(readFileSync(file, 'utf8'))) {
      all.push([file]);
      continue;
    }
    if (open.length === MOST_FILES) open = [];
    if (open.length === 0) all.push(open);
    open.push(file);
  }
  return all;
}

/** Keeps what the processes of a run wrote into `folder`; `sources` has the source of each file that ran. */
export function keepWeights(folder, sources) {
  for (const name of readdirSync(folder)) {
    const [file, seconds] = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    weights[sources.get(file)] = Math.round(seconds * 10) / 10;
  }
  const known = Object.entries(weights).filter(([file]) => existsSync(file));
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(known.sort()), null, 2)}\n`);
}
