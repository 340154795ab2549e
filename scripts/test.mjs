// Runs the tests: every *.test.ts below test/, or those whose path contains one of the given words. Long suites (*.long.test.ts) and tests in a real
// browser (*.browser.test.ts) run only with `--long` and `--browser`, which run nothing else, or if a word names them. With
// `TURNPIKE_TEST_STORE=postgres` and no words: all, long or not, whose gateways then are on PostgreSQL; `--no-scenarios` leaves out the matrices of
// styles, clients and vendors, and tests of documentation, connections and uploads, whose many calls all leave the same few rows. Node 20 knows no patterns.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { tsImport } from 'tsx/esm/api';
import { buildServer, isBuilt, serverFolder } from './server-build.mjs';
import './test-packages.mjs';
import { buildTests } from './tests-build.mjs';

const KINDS = ['long', 'browser'];
/** Parts of the names of files whose calls leave the same rows as those of others. */
const SAME_ROWS = ['core/upstream/', 'e2e/readme', 'e2e/upstream-faults', 'plugins/telemetry', 'uploads'];
/** Test files run in parallel: one more than cores, because most tests wait for the processes they start. Browser tests use all CPU. */
const AT_ONCE = availableParallelism() + (process.argv.includes('--browser') ? 0 : 1);
const wanted = KINDS.find((kind) => process.argv.includes(`--${kind}`));
const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const onPostgres = process.env.TURNPIKE_TEST_STORE === 'postgres';
const kindOf = (name) => KINDS.find((kind) => name.endsWith(`.${kind}.test.ts`));
const files = readdirSync('test', { recursive: true })
  .map((name) => join('test', name))
  .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules') && isWanted(name))
  .sort();

function isWanted(name) {
  if (words.length > 0) return words.some((word) => name.includes(word));
  if (!onPostgres) return kindOf(name) === wanted;
  if (kindOf(name) === 'browser' || !reaches(name, (text) => text.includes('testDatabase('))) return false;
  if (!process.argv.includes('--no-scenarios')) return true;
  return !SAME_ROWS.some((part) => name.includes(part)) && !reaches(name, (text) => text.includes('/kit/scenarios.ts'));
}

/** Whether a file, or one of the test or script files that it imports, matches; the kit's own server is not one of them. */
function reaches(name, fits, seen = new Set(['test/kit/postgres.ts'])) {
  if (seen.has(name) || !/^(test|scripts)\//.test(name) || !existsSync(name)) return false;
  seen.add(name);
  const text = readFileSync(name, 'utf8');
  const imports = [...text.matchAll(/ from '(\.[^']+)'/g)].map(([, path]) => join(dirname(name), path));
  return fits(text) || imports.some((path) => reaches(path, fits, seen));
}

// Tests run the sources; threads and schemas are compiled, because that is faster.
const folder = serverFolder();
if (!isBuilt(folder)) await buildServer(folder);
// One server for all files; each gateway has its own database on it.
if (onPostgres) {
  const { startPostgresForRun } = await tsImport('../test/kit/postgres.ts', import.meta.url);
  await startPostgresForRun();
}
// For what is made once and used by several files.
const shared = mkdtempSync(join(tmpdir(), 'turnpike-tests-'));
/** For a few files it is faster to load the sources. */
const MANY = 20;
const run =
  files.length < MANY
    ? ['--import', 'tsx', '--test', ...files]
    : ['--enable-source-maps', '--test', ...(await buildTests(files, join(shared, 'tests'), folder))];
const child = spawn(process.execPath, ['--test-reporter=spec', `--test-concurrency=${AT_ONCE}`, ...run], {
  stdio: 'inherit',
  env: { ...process.env, TURNPIKE_COMPILED: folder, TURNPIKE_TEST_SHARED: shared },
});
// The tests get signals from here or from the terminal; the servers that they use are stopped after them.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
const [status] = await once(child, 'exit');
rmSync(shared, { recursive: true, force: true });
process.exit(status ?? 1);
