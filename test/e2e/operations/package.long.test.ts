/**
 * The package that `npm run release` makes: what is in it, its SBOM and checksums, and an installation of it in an empty folder. That it serves:
 * test/browser/first-hour.browser.test.ts.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { linksWithin } from '../../../scripts/check-links.mjs';
import { surprises } from '../../../scripts/release-content.mjs';
import { shellEnv as env, installEnv, releaseTurnpike, takeOverSqlite } from '../authors/packed.ts';

const run = promisify(execFile);
/** The size of an installation, in bytes, at most. */
const MOST = 120e6;
const NAME = '@turnpike-gateway/turnpike';

const place = mkdtempSync(join(tmpdir(), 'turnpike-release-'));
after(() => rmSync(place, { recursive: true, force: true }));

/** Makes an empty folder. */
function emptyFolder(name: string): string {
  const dir = join(place, name);
  mkdirSync(dir);
  return dir;
}

/** The bytes of all files below a folder. */
function sizeOf(dir: string): number {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => lstatSync(join(dir, name)))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0);
}

let release: string;
let tarball: string;
let listed: string;
before(async () => {
  ({ folder: release, tarball, listed } = await releaseTurnpike());
});

describe('a release', () => {
  it('has checksums of the package and of its SBOM', () => {
    const sums = readFileSync(join(release, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
    assert.deepEqual(
      sums.map((line) => line.split('  ')[1]),
      ['turnpike-gateway-turnpike-0.1.0.cdx.json', 'turnpike-gateway-turnpike-0.1.0.tgz'],
    );
    for (const line of sums) {
      const [sum, name = ''] = line.split('  ');
      assert.equal(
        createHash('sha256')
          .update(readFileSync(join(release, name)))
          .digest('hex'),
        sum,
        name,
      );
    }
  });

  it('lists what is in the package: the compiled server, the built console, and of the sources only what is to be read', () => {
    for (const file of ['dist/package/server/server.cjs', 'console/dist/index.html', 'dist/package/THIRD-PARTY.txt'])
      assert.match(listed, new RegExp(`^ *\\d+  ${file}$`, 'm'));
    assert.doesNotMatch(listed, /^ *\d+ {2}core\/\w+\/(?<!core\/contracts\/)[\w-]+\.ts$/m);
    assert.doesNotMatch(listed, /^ *\d+ {2}core\/(?!plugin\.ts)[\w-]+\.ts$/m);
  });

  it('has everything that its documentation links to', () => {
    const files = [...listed.matchAll(/^ *\d+ {2}(\S+)$/gm)].map(([, file = '']) => file);
    const { count, wrong } = linksWithin(files, (page) =>
      execFileSync('tar', ['-xzOf', tarball, `package/${page}`], { encoding: 'utf8' }),
    );
    assert.deepEqual(wrong, []);
    assert.ok(count > 100);
  });

  it('is refused if the package has a source map, a test, a database, a secret or the name of a folder', () => {
    for (const file of [
      'dist/package/js/kit.js.map',
      'test/kit.test.ts',
      'data/turnpike.db',
      '.env',
      'core/cli/main.ts',
    ])
      assert.deepEqual(surprises(file, '', '/x/checkout'), [`${file} is not expected`]);
    const file = 'dist/package/js/kit.js';
    assert.deepEqual(surprises(file, 'export const kit = 1;\n', '/x/checkout'), []);
    for (const text of [`"sk-${'a1'.repeat(24)}"`, '-----BEGIN PRIVATE KEY-----\nMIIE', 'at /x/checkout/core'])
      assert.equal(surprises(file, text, '/x/checkout').length, 1, text);
  });

  it('has an SBOM with what is installed with it and what is compiled into it, and not what only developers have', () => {
    const bill = JSON.parse(readFileSync(tarball.replace(/\.tgz$/, '.cdx.json'), 'utf8')) as {
      readonly bomFormat: string;
      readonly metadata: { readonly component: { readonly name: string } };
      readonly components: readonly { readonly name: string }[];
    };
    assert.deepEqual([bill.bomFormat, bill.metadata.component.name], ['CycloneDX', NAME]);
    const names = bill.components.map(({ name }) => name);
    for (const name of ['esbuild', 'tsx', 'stripe', 'pg', '@redis/client', 'react', '@mantine/core', 'ws'])
      assert.ok(names.includes(name), name);
    for (const name of ['typescript', 'vite', 'openai', 'playwright-core']) assert.ok(!names.includes(name), name);
  });

  it('keeps the licences of what is compiled in', () => {
    const text = execFileSync('tar', ['-xzOf', tarball, 'package/dist/package/THIRD-PARTY.txt'], { encoding: 'utf8' });
    for (const name of ['stripe', 'pg', 'yaml', 'ws', 'undici'])
      assert.match(text, new RegExp(`^${name} \\d[^\\n]*\\n\\n[^-]`, 'm'), name);
  });
});

describe('the package, installed in an empty folder', () => {
  let dir: string;
  /** `npx turnpike …` to its end. */
  const turnpike = (...words: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }> =>
    run('npx', ['--no-install', 'turnpike', ...words], { cwd: dir, env });

  before(async () => {
    dir = emptyFolder('installed');
    await run('npm', ['install', '--no-audit', '--no-fund', tarball], { cwd: dir, env: installEnv });
    takeOverSqlite(dir);
  });

  it('takes less than 120 MB, with everything that npm installs', (t) => {
    const size = sizeOf(dir);
    t.diagnostic(`${Math.round(size / 1e6)} MB`);
    assert.ok(size < MOST, `${Math.round(size / 1e6)} MB`);
  });

  it('loads a plugin in TypeScript that imports `turnpike/plugin`, although no package has that name', async () => {
    assert.ok(!existsSync(join(dir, 'node_modules/turnpike')));
    writeFileSync(
      join(dir, 'hours.ts'),
      `import { definePlugin, refuse } from 'turnpike/plugin';
       import { defineErrors } from 'turnpike/sdk';
       const said: string = [typeof refuse, typeof defineErrors].join(' ');
       export default definePlugin({ name: 'hours', api: 2, create: (): object => ({ report: () => [said] }) });\n`,
    );
    writeFileSync(join(dir, 'own.yaml'), 'pipeline: [counters, ./hours.ts]\n');
    const { stdout } = await turnpike('check', '--config', 'own.yaml');
    assert.match(stdout, /^hours +function function$/m);
  });

  it('has what its server loads on demand', async () => {
    const packages = readdirSync(join(dir, 'node_modules', NAME, 'dist/package/server/packages'));
    const server = readFileSync(join(dir, 'node_modules', NAME, 'dist/package/server/server.cjs'), 'utf8');
    const wanted = new Set([...server.matchAll(/\.\/packages\/([\w-]+\.js)/g)].map(([, name = '']) => name));
    assert.deepEqual(packages.sort(), [...wanted].sort());
    const script = `for (const name of ${JSON.stringify(packages)}) require('./' + name); process.stdout.write(
      typeof require('./stripe.js') + typeof require('./nodemailer.js').createTransport + typeof require('./redis-client.js').createClient);`;
    const cwd = join(dir, 'node_modules', NAME, 'dist/package/server/packages');
    assert.equal((await run(process.execPath, ['-e', script], { cwd, env })).stdout, 'functionfunctionfunction');
  });
});

it('is installed as `turnpike`, the name that plugins import, by an alias', async () => {
  const dir = emptyFolder('author');
  writeFileSync(join(dir, 'package.json'), '{ "private": true, "type": "module" }\n');
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', `turnpike@file:${tarball}`];
  await run('npm', args, { cwd: dir, env });
  const script = `import { definePlugin } from 'turnpike/plugin'; process.stdout.write(typeof definePlugin);`;
  assert.equal(
    (await run(process.execPath, ['--input-type=module', '-e', script], { cwd: dir, env })).stdout,
    'function',
  );
});
