/**
 * Fails if a test waits for a time: on a busy machine it is too short, and everywhere else too long. Tests wait for what they need with `until`, let
 * this process go on with `turns`, and move the time with `fakeClock` (test/README.md).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const WAITS = /\b(?:setTimeout|delay|sleep|waitForTimeout|pg_sleep)\(/;

/** Files in which a time is what is meant, with the reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  'test/kit/until.ts': 'it is what all others wait with',
  'test/kit/console/browser.ts': 'pages have a time of their own; it is `until` for them',
  'test/kit/gateway/process.ts': 'the limit of its patience',
  'test/kit/clients/raw-client.ts': 'the limit of its patience',
  'test/kit/vendors/fake-vendor.ts': 'the limit of its patience; and vendors pause as a script says',
  'test/kit/console/world.ts': 'the timers of a clock',
  'test/e2e/operations/bench.ts': 'the limit of its patience',
  'test/e2e/authors/packed.ts': 'another process makes the package; the limit of the hook ends it',
  'test/e2e/faults/plugin-exceptions.test.ts': 'a plugin fails in a timer',
  'test/plugins/counters/valkey.long.test.ts': 'which of two timers is first is what is tested',
  'test/plugins/stores/postgres.long.test.ts': 'a server holds a lock for longer than a statement may take',
};

const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => join('test', name))
  .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'));
const found = new Map(
  files.flatMap((file) => {
    const lines = readFileSync(file, 'utf8').split('\n');
    const places = lines.flatMap((line, i) => (WAITS.test(line) ? [i + 1] : []));
    return places.length > 0 ? [[file, places] as const] : [];
  }),
);
const problems = [
  ...[...found].flatMap(([file, places]) =>
    file in ALLOWED ? [] : places.map((line) => `${file}:${line} waits for a time; wait for what is needed`),
  ),
  ...Object.keys(ALLOWED).flatMap((file) =>
    found.has(file) ? [] : [`${file} waits for no time: take it off the list`],
  ),
];
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
