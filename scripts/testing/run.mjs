// Runs test files in their order (`node --test` sorts them) and reports as it does. Arguments: how many at once, and the files.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

const [atOnce, ...files] = process.argv.slice(2);
/** A file that gets a line for each failed test, with the beginning of its error; several runs write to the same one. */
const failures = process.env.TURNPIKE_TEST_FAILURES;
/** For a process that does not end, although its tests did: one of them left something open. */
const FILE_LIMIT_MS = 1_200_000;
const REASON_CHARACTERS = 600;
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    process.exitCode = 1;
    stopping.abort();
  });

run({ files, concurrency: Number(atOnce), timeout: FILE_LIMIT_MS, signal: stopping.signal })
  .compose(noted)
  .compose(new spec())
  .compose(withSources)
  .pipe(process.stdout);

/** Failures are noted with the places in their sources, and make the run fail. */
async function* noted(events) {
  /** The names of the suites around the current test, by nesting. */
  const names = [];
  /** Failed tests of a suite, with their errors; its own event follows and knows the file. */
  let failed = [];
  for await (const event of events) {
    const { type, data } = event;
    if (type === 'test:start') names.splice(data.nesting, Number.POSITIVE_INFINITY, data.name);
    if (type === 'test:fail') {
      const error = data.details.error;
      Object.assign(data, placeOf(data));
      names.splice(data.nesting, Number.POSITIVE_INFINITY, data.name);
      // A suite with failed tests fails, too.
      if (error.failureType !== 'subtestsFailed' && data.todo === undefined)
        failed.push({ path: [...names], reason: reasonOf(error) });
      process.exitCode = 1;
    }
    if (data?.nesting === 0 && failed.length > 0 && (type === 'test:fail' || type === 'test:pass')) {
      const lines = failed.map(({ path, reason }) => `${[data.file, ...path].join(' › ')}: ${reason}\n`);
      if (failures !== undefined) appendFileSync(failures, lines.join(''));
      failed = [];
    }
    yield event;
  }
}

/** In one line: where only this list can be read, it has to say why. */
function reasonOf(error) {
  const text = error.cause instanceof Error ? (error.cause.stack ?? error.cause.message) : error.message;
  const own = String(text).replaceAll(/^ +at .*\bnode:internal.*$/gm, '');
  return own.replaceAll(/\s+/g, ' ').trim().slice(0, REASON_CHARACTERS);
}

/**
 * The report with the places of the sources in its stack traces. If Node did so, every test process would have to read its source maps; and the
 * errors of later versions of Node cannot be changed.
 */
async function* withSources(report) {
  for await (const text of report)
    yield String(text).replaceAll(/(?:file:\/\/)?(\/[^\s()]+\.mjs):(\d+):(\d+)/g, (place, file, line, column) => {
      const source = sourceAt(file, Number(line), Number(column));
      return source === undefined ? place : `${source.path}:${source.line}:${source.column}`;
    });
}

/** Source maps by compiled file. */
const maps = new Map();

/** The place in a source of a place in a compiled file; undefined if it is not compiled. */
function sourceAt(file, line, column) {
  if (!maps.has(file)) {
    const map = `${file}.map`;
    maps.set(file, existsSync(map) ? new SourceMap(JSON.parse(readFileSync(map, 'utf8'))) : undefined);
  }
  const found = maps.get(file)?.findEntry(line - 1, column - 1);
  if (found?.originalSource === undefined) return undefined;
  const path = relative('.', resolve(dirname(file), found.originalSource));
  return { path, line: found.originalLine + 1, column: found.originalColumn + 1 };
}

/** The place of a failed test in its source; of a single test, Node 20 only knows where `limit.mjs` called it, but the error knows more. */
function placeOf({ file, line, column, details }) {
  if (!file?.endsWith('/limit.mjs')) {
    const source = file && sourceAt(file, line, column);
    return { file: source?.path ?? (file && relative('.', file)), line: source?.line ?? line };
  }
  const [, path, ...at] = /(\/[\w./-]+\.(?:ts|mjs)):(\d+):(\d+)/.exec(details.error.cause?.stack ?? '') ?? [];
  return path === undefined ? {} : placeOf({ file: path, line: Number(at[0]), column: Number(at[1]) });
}
