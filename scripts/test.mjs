// Runs the tests: every *.test.ts below test/, or those whose path holds one of the words given. Whole matrices (*.long.test.ts) and
// tests in a real browser (*.browser.test.ts) run with `--long` and `--browser`, which run nothing else, and where a word names them.
// Node 20 knows no patterns.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { tsImport } from 'tsx/esm/api';
import { buildServer, isBuilt, serverFolder } from './server-build.mjs';

const KINDS = ['long', 'browser'];
const wanted = KINDS.find((kind) => process.argv.includes(`--${kind}`));
const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const kindOf = (name) => KINDS.find((kind) => name.endsWith(`.${kind}.test.ts`));
const files = readdirSync('test', { recursive: true })
  .map((name) => join('test', name))
  .filter((name) => name.endsWith('.test.ts'))
  .filter((name) => (words.length === 0 ? kindOf(name) === wanted : words.some((word) => name.includes(word))))
  .sort();
// Tests run the sources; their threads, and their schemas, take less time compiled.
const folder = serverFolder();
if (!isBuilt(folder)) await buildServer(folder);
// One server for all files: each gateway has a database of its own on it.
if (process.env.TURNPIKE_TEST_STORE === 'postgres') {
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
