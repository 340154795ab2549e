// Runs the tests: every *.test.ts below test/, or those whose path holds one of the words given. Whole matrices (*.long.test.ts) and
// tests in a real browser (*.browser.test.ts) run with `--long` and `--browser`, which run nothing else, and where a word names them.
// With `TURNPIKE_TEST_STORE=postgres` and no words: those of both kinds, long or not, whose gateways then are on PostgreSQL.
// Node 20 knows no patterns.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { tsImport } from 'tsx/esm/api';
import { buildServer, isBuilt, serverFolder } from './server-build.mjs';

const KINDS = ['long', 'browser'];
const wanted = KINDS.find((kind) => process.argv.includes(`--${kind}`));
const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const onPostgres = process.env.TURNPIKE_TEST_STORE === 'postgres';
const kindOf = (name) => KINDS.find((kind) => name.endsWith(`.${kind}.test.ts`));
const files = readdirSync('test', { recursive: true })
  .map((name) => join('test', name))
  .filter((name) => name.endsWith('.test.ts') && isWanted(name))
  .sort();

function isWanted(name) {
  if (words.length > 0) return words.some((word) => name.includes(word));
  if (!onPostgres) return kindOf(name) === wanted;
  return kindOf(name) !== 'browser' && opensStore(name, new Set());
}

/** Whether what a file imports, or what that imports, asks the kit for the store that a run is about. */
function opensStore(name, seen) {
  if (seen.has(name) || name === 'test/kit/postgres.ts' || !existsSync(name)) return false;
  seen.add(name);
  const text = readFileSync(name, 'utf8');
  if (text.includes('testDatabase(')) return true;
  const imports = [...text.matchAll(/ from '(\.[^']+)'/g)].map(([, path]) => join(dirname(name), path));
  return imports.some((path) => /^(test|scripts)\//.test(path) && opensStore(path, seen));
}

// Tests run the sources; their threads, and their schemas, take less time compiled.
const folder = serverFolder();
if (!isBuilt(folder)) await buildServer(folder);
// One server for all files: each gateway has a database of its own on it.
if (onPostgres) {
  const { startPostgresForRun } = await tsImport('../test/kit/postgres.ts', import.meta.url);
  await startPostgresForRun();
}
const child = spawn(
  process.execPath,
  ['--import', 'tsx', '--test', '--test-reporter=spec', `--test-concurrency=${availableParallelism()}`, ...files],
  { stdio: 'inherit', env: { ...process.env, TURNPIKE_COMPILED: folder } },
);
// The tests hear a signal from here or from the terminal; what they stand on ends after them.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
const [status] = await once(child, 'exit');
process.exit(status ?? 1);
