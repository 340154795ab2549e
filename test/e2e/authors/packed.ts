/** The package as `npm pack` makes it, installed in empty folders outside the checkout, and author's tests that run there. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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
  '.github',
  'test/README.md',
  'test/browser/first-hour.browser.test.ts',
  'test/e2e/authors',
  'test/e2e/documents/readme-kit.ts',
  'test/kit',
  'test/packages',
  'test/plugins/outside',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'gateway.yaml',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
];

/** What `npm run release` makes. */
export interface Release {
  /** The folder with the package, its SBOM and checksums. */
  readonly folder: string;
  readonly tarball: string;
  /** What it printed. */
  readonly listed: string;
}

/** Runs `npm run release`, once for all files of a test run. The first caller makes it; the others wait for it. */
export async function releaseTurnpike(): Promise<Release> {
  const shared = process.env.TURNPIKE_TEST_SHARED ?? mkdtempSync(join(tmpdir(), 'turnpike-tests-'));
  const place = join(shared, 'release');
  const [done, failed] = [join(place, 'listed.txt'), join(place, 'failed.txt')];
  if (mkdirSync(place, { recursive: true }) !== undefined) {
    try {
      const listed = await makeRelease(join(place, 'checkout'));
      renameSync(join(place, 'checkout/dist/release'), join(place, 'made'));
      rmSync(join(place, 'checkout'), { recursive: true });
      writeWhole(done, listed);
    } catch (error) {
      writeWhole(failed, String(error));
    }
  }
  while (!existsSync(done) && !existsSync(failed)) await sleep(100);
  assert.ok(!existsSync(failed), existsSync(failed) ? readFileSync(failed, 'utf8') : '');
  const folder = join(place, 'made');
  const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz'))!);
  return { folder, tarball, listed: readFileSync(done, 'utf8') };
}

/** Never seen in half. */
function writeWhole(file: string, content: string): void {
  writeFileSync(`${file}.making`, content);
  renameSync(`${file}.making`, file);
}

/** In a copy of the checkout. Returns what was printed. */
async function makeRelease(checkout: string): Promise<string> {
  for (const part of PARTS)
    cpSync(join(ROOT, part), join(checkout, part), {
      recursive: true,
      filter: (path) => !path.endsWith('core/dist'),
    });
  for (const modules of ['node_modules', 'test/node_modules'])
    symlinkSync(join(ROOT, modules), join(checkout, modules));
  const before = readFileSync(join(checkout, 'package.json'), 'utf8');
  const { stdout } = await run(process.execPath, ['scripts/release.mjs'], { cwd: checkout, env: shellEnv });
  assert.equal(readFileSync(join(checkout, 'package.json'), 'utf8'), before, 'the checkout is as it was');
  return stdout;
}

/** The environment of a person's shell: no variable of the test runner or of npm, which runs the tests. */
export const shellEnv: NodeJS.ProcessEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|TURNPIKE_|INIT_CWD)/.test(name)),
);

/**
 * For `env` of `npm install`, without the compilation of SQLite: that is taken over from the checkout afterwards, whose own installation
 * has compiled it.
 */
export const installEnv: NodeJS.ProcessEnv = { ...shellEnv, npm_config_ignore_scripts: 'true' };
export function takeOverSqlite(dir: string): void {
  const build = 'node_modules/better-sqlite3/build';
  cpSync(join(ROOT, build), join(dir, build), { recursive: true });
}

/** A package that is ready to be installed. */
export interface Packed {
  /** The paths in it. */
  readonly files: readonly string[];
  /** An empty folder in which it is installed, without what only developers of the gateway have. `more`: packages that an author adds. */
  install(more?: readonly string[]): string;
  remove(): void;
}

/** The package of `npm run release`. */
export async function packTurnpike(): Promise<Packed> {
  const { tarball } = await releaseTurnpike();
  const place = mkdtempSync(join(tmpdir(), 'turnpike-packed-'));
  await run('tar', ['-xzf', tarball], { cwd: place });
  const content = join(place, 'package');
  let folders = 0;
  return {
    files: readdirSync(content, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => relative(content, join(entry.parentPath, entry.name))),
    install(more = []) {
      const dir = join(place, `author-${++folders}`);
      const modules = join(dir, 'node_modules');
      mkdirSync(modules, { recursive: true });
      cpSync(content, join(modules, 'turnpike'), { recursive: true });
      for (const name of new Set([...needed(content), ...more])) {
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

/** What `node --test` says of a file. */
export interface Tested {
  /** The number of tests that passed. */
  readonly passed: number;
  readonly failures: readonly Failure[];
  readonly output: string;
}

/** Runs a test file in a process that knows neither this test nor TypeScript. */
export async function tested(dir: string, file: string, ...flags: readonly string[]): Promise<Tested> {
  const output = await tapOf(dir, file, flags);
  return { passed: Number(/^# pass (\d+)$/m.exec(output)?.[1] ?? 0), failures: failuresIn(output), output };
}

/** The same for several files in one process, which loads the kit once. They have different names; the order is theirs. */
export async function testedTogether(dir: string, names: readonly string[]): Promise<ReadonlyMap<string, Tested>> {
  const file = `${names[0]}.all.test.mjs`;
  const parts = names.map((name) => `it('begins: ${name}', () => {});\nawait import('./${name}.test.mjs');\n`);
  writeFileSync(join(dir, file), `import { it } from 'node:test';\n${parts.join('')}`);
  const [, ...found] = (await tapOf(dir, file, [])).split(/^ *# Subtest: begins: (.*)$/m);
  return new Map(
    names.map((name) => {
      const output = found[found.indexOf(name) + 1] ?? '';
      const passed = [...output.matchAll(/^ *ok \d+ - /gm)].length;
      return [name, { passed, failures: failuresIn(output), output }];
    }),
  );
}

/** The report of `node --test`, as TAP. */
async function tapOf(dir: string, file: string, flags: readonly string[]): Promise<string> {
  // A child of the test runner would report to it, and not to its own standard output.
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, TURNPIKE_COMPILED: ___, ...env } = process.env;
  const { stdout } = await run(process.execPath, [...flags, '--test', '--test-reporter=tap', file], {
    cwd: dir,
    env,
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: { readonly stdout: string }) => error);
  return stdout;
}

function failuresIn(output: string): readonly Failure[] {
  return [...output.matchAll(/^( *)not ok \d+ - (.*)\n\1 {2}---\n((?:\1 {2}.*\n)*?)\1 {2}\.\.\./gm)].flatMap(
    ([, , test = '', about = '']) =>
      /failureType: '(?:subtestsFailed|testCodeFailure)'/.test(about) && /subtestsFailed/.test(about)
        ? []
        : [{ test, says: about }],
  );
}
