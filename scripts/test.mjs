// Runs the tests: every *.test.ts below test/, or those whose path contains one of the given words. Long suites (*.long.test.ts) and tests in a real
// browser (*.browser.test.ts) run only with `--long` and `--browser`, which run nothing else, or if a word names them. Generated suites try a part of
// their cases; all of them with `--whole`. With `TURNPIKE_TEST_STORE=postgres` and no words: all files, long or not, whose gateways then are on
// PostgreSQL; with `--where-sql-differs` those of plugins/ and console/, which issue every statement, and others that open a store themselves, but not
// the matrices of styles, clients and vendors, whose many calls all leave the same few rows. `--long --one-store` leaves those of console/ to that run,
// because the browser asks the same routes on SQLite. Node 20 knows no patterns.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { tsImport } from 'tsx/esm/api';
import { makeErrors } from './console-sources.mjs';
import { buildServer, isBuilt, serverFolder } from './server-build.mjs';
import './test-packages.mjs';
import { groups, heaviestFirst, keepWeights } from './testing/weights.mjs';
import { buildTests } from './tests-build.mjs';

const KINDS = ['long', 'browser'];
/** Test files run in parallel: one more than cores, because most tests wait for the processes they start. Browser tests use all CPU. */
const AT_ONCE = availableParallelism() + (process.argv.includes('--browser') ? 0 : 1);
const wanted = KINDS.find((kind) => process.argv.includes(`--${kind}`));
const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const onPostgres = process.env.TURNPIKE_TEST_STORE === 'postgres';
const kindOf = (name) => KINDS.find((kind) => name.endsWith(`.${kind}.test.ts`));
const files = heaviestFirst(
  readdirSync('test', { recursive: true })
    .map((name) => join('test', name))
    .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules') && isWanted(name)),
);
if (files.length === 0) {
  process.stderr.write(`No test file has ${words.join(' or ')} in its path\n`);
  process.exit(1);
}

function isWanted(name) {
  if (words.length > 0) return words.some((word) => name.includes(word));
  if (!onPostgres) return kindOf(name) === wanted && !(process.argv.includes('--one-store') && isForPostgres(name));
  return process.argv.includes('--where-sql-differs') ? issuesSql(name) : opensStore(name);
}

function opensStore(name) {
  return kindOf(name) !== 'browser' && reaches(name, (text) => text.includes('testDatabase('));
}

function issuesSql(name) {
  if (!opensStore(name)) return false;
  // Documentation and uploads leave what others leave.
  if (/\btestStore\(/.test(readFileSync(name, 'utf8')) && !/e2e.(?:documents.readme|calls.uploads)/.test(name))
    return true;
  return (
    /^test.(?:console|plugins(?!.styles))./.test(name) &&
    !reaches(name, (text) => text.includes('/kit/vendors/scenarios.ts'))
  );
}

/** Whether all of its tests run on PostgreSQL, too, and the browser's ask for the same on SQLite. */
function isForPostgres(name) {
  return (
    /^test.console./.test(name) && issuesSql(name) && !/onlyOnSqlite|isOnPostgres/.test(readFileSync(name, 'utf8'))
  );
}

/** Whether a file, or one of the test or script files that it imports, matches; the kit's own server is not one of them. */
function reaches(name, fits, seen = new Set(['test/kit/stand-ins/postgres.ts'])) {
  if (seen.has(name) || !/^(test|scripts)\//.test(name) || !existsSync(name)) return false;
  seen.add(name);
  const text = readFileSync(name, 'utf8');
  const imports = [...text.matchAll(/ from '(\.[^']+)'/g)].map(([, path]) => join(dirname(name), path));
  return fits(text) || imports.some((path) => reaches(path, fits, seen));
}

// Tests run the sources; threads and schemas are compiled, because that is faster.
const folder = serverFolder();
if (!isBuilt(folder)) await buildServer(folder);
await makeErrors();
// One server for all files; each gateway has its own database on it.
if (onPostgres) {
  const { startPostgresForRun } = await tsImport('../test/kit/stand-ins/postgres.ts', import.meta.url);
  await startPostgresForRun();
}
// For what is made once and used by several files.
const shared = mkdtempSync(join(tmpdir(), 'turnpike-tests-'));
/** For a few files it is faster to load the sources. */
const MANY = 20;
const weighing = process.argv.includes('--weigh') ? join(shared, 'weights') : undefined;
if (weighing !== undefined) mkdirSync(weighing);
const preloaded = (name) => ['--import', pathToFileURL(join(import.meta.dirname, 'testing', name)).href];
const isCompiled = files.length >= MANY;
const byProcess = weighing === undefined ? groups(files) : files.map((file) => [file]);
const loaded = isCompiled ? await buildTests(byProcess, join(shared, 'tests'), folder) : files;
const options = [
  ...(isCompiled ? [] : ['--import', 'tsx']),
  ...preloaded('limit.mjs'),
  ...(weighing === undefined ? [] : preloaded('weigh.mjs')),
];
const runner = join(import.meta.dirname, 'testing/run.mjs');
const child = spawn(process.execPath, [...options, runner, String(AT_ONCE), ...loaded], {
  stdio: 'inherit',
  env: {
    ...process.env,
    TURNPIKE_COMPILED: folder,
    TURNPIKE_TEST_SHARED: shared,
    // Node 20 does not know it; later ones keep what they compiled for the next process.
    NODE_COMPILE_CACHE: join(shared, 'compiled'),
    ...(process.argv.includes('--whole') && { TURNPIKE_TEST_WHOLE: '1' }),
    ...(weighing !== undefined && { TURNPIKE_TEST_WEIGHTS: weighing }),
  },
});
// The tests get signals from here or from the terminal; the servers that they use are stopped after them.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
const [status] = await once(child, 'exit');
if (weighing !== undefined) keepWeights(weighing, new Map(loaded.map((file, i) => [resolve(file), files[i]])));
rmSync(shared, { recursive: true, force: true });
process.exit(status ?? 1);
