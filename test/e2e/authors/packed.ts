/** The package as `npm pack` makes it, installed in empty folders outside the checkout, and author's tests that run there. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

/** What packing needs of the checkout; it happens in a copy, because it changes package.json for a moment. */
const PARTS = [
  'console',
  'core',
  'plugins',
  'scripts',
  'test/kit',
  'test/packages',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'gateway.yaml',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
];

/** Copies what packing needs into a folder. */
export function copyCheckout(to: string): void {
  for (const part of PARTS)
    cpSync(join(ROOT, part), join(to, part), {
      recursive: true,
      filter: (path) => !path.endsWith('core/dist'),
    });
  for (const modules of ['node_modules', 'test/node_modules']) symlinkSync(join(ROOT, modules), join(to, modules));
}

/** A package that is ready to be installed. */
export interface Packed {
  /** The paths in it. */
  readonly files: readonly string[];
  /** An empty folder in which it is installed, without what only developers of the gateway have. `more`: packages that an author adds. */
  install(more?: readonly string[]): string;
  remove(): void;
}

/** Runs `npm pack`. */
export async function packTurnpike(): Promise<Packed> {
  const place = mkdtempSync(join(tmpdir(), 'turnpike-packed-'));
  const checkout = join(place, 'checkout');
  copyCheckout(checkout);
  const before = readFileSync(join(checkout, 'package.json'), 'utf8');
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', place], { cwd: checkout });
  assert.equal(readFileSync(join(checkout, 'package.json'), 'utf8'), before, 'the checkout is as it was');
  const [{ filename = '', files = [] } = {}] = JSON.parse(stdout.slice(stdout.indexOf('['))) as {
    filename?: string;
    files?: { path: string }[];
  }[];
  await run('tar', ['-xzf', filename], { cwd: place });
  rmSync(checkout, { recursive: true });
  let folders = 0;
  return {
    files: files.map(({ path }) => path),
    install(more = []) {
      const dir = join(place, `author-${++folders}`);
      const modules = join(dir, 'node_modules');
      mkdirSync(modules, { recursive: true });
      cpSync(join(place, 'package'), join(modules, 'turnpike'), { recursive: true });
      for (const name of new Set([...needed(join(place, 'package')), ...more])) {
        mkdirSync(dirname(join(modules, name)), { recursive: true });
        symlinkSync(join(ROOT, 'node_modules', name), join(modules, name), 'dir');
      }
      writeFileSync(join(dir, 'package.json'), '{ "private": true, "type": "module" }\n');
      return dir;
    },
    remove: () => rmSync(place, { recursive: true, force: true }),
  };
}

/** The packages that npm installs with it; theirs are found from where they are. */
function needed(content: string): readonly string[] {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(content, 'package.json'), 'utf8'),
  ) as Record<string, Readonly<Record<string, string>>>;
  return Object.keys({ ...dependencies, ...optionalDependencies });
}

/** A failed test, and what it says. */
export interface Failure {
  readonly test: string;
  readonly says: string;
}

/** What `node --test` says of a file, in a process that knows neither this test nor TypeScript. */
export async function tested(
  dir: string,
  file: string,
  ...flags: readonly string[]
): Promise<{ readonly passed: number; readonly failures: readonly Failure[]; readonly output: string }> {
  // A child of the test runner would report to it, and not to its own standard output.
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, TURNPIKE_COMPILED: ___, ...env } = process.env;
  const { stdout } = await run(process.execPath, [...flags, '--test', '--test-reporter=tap', file], {
    cwd: dir,
    env,
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: { readonly stdout: string }) => error);
  const failures = [...stdout.matchAll(/^( *)not ok \d+ - (.*)\n\1 {2}---\n((?:\1 {2}.*\n)*?)\1 {2}\.\.\./gm)].flatMap(
    ([, , test = '', about = '']) =>
      /failureType: '(?:subtestsFailed|testCodeFailure)'/.test(about) && /subtestsFailed/.test(about)
        ? []
        : [{ test, says: about }],
  );
  return { passed: Number(/^# pass (\d+)$/m.exec(stdout)?.[1] ?? 0), failures, output: stdout };
}
