/** The server as it starts: compiled once for its sources, again when they change, and from the sources where it cannot be compiled. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../../..');
const checkout = mkdtempSync(join(tmpdir(), 'turnpike-build-'));
after(() => rmSync(checkout, { recursive: true }));
for (const name of ['core', 'plugins', 'scripts', 'package.json', 'package-lock.json', 'gateway.yaml'])
  cpSync(join(ROOT, name), join(checkout, name), { recursive: true, filter: (path) => !path.endsWith('core/dist') });
symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
const dist = join(checkout, 'core/dist');

// Plugins of its user.
writeFileSync(
  join(checkout, 'hours.ts'),
  `import { definePlugin, refuse } from './core/plugin.ts';
   export default definePlugin({ name: 'hours', api: 2, create: (): object => ({ report: () => [String(typeof refuse)] }) });`,
);
writeFileSync(
  join(checkout, 'plain.mjs'),
  `export default { name: 'plain', api: 2, create: () => ({ report: () => ['here'] }) };`,
);

/** What was compiled there. */
const builds = (): readonly string[] => readdirSync(dist).filter((name) => !name.startsWith('seen.json'));

/** What the command says in that folder. */
async function turnpike(...args: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return promisify(execFile)(process.execPath, ['scripts/turnpike.mjs', ...args], { cwd: checkout });
}

/** Has a gateway serve in that folder, and stops it. */
async function served(config: string, flags: readonly string[] = []): Promise<void> {
  const command = [...flags, 'scripts/turnpike.mjs', 'start', '--config', config];
  const server = spawn(process.execPath, command, { cwd: checkout, env: { PATH: process.env.PATH } });
  for await (const line of server.stdout) if (String(line).includes('ready ')) server.kill();
  assert.equal(server.exitCode ?? (await once(server, 'exit'))[0], 0);
}

describe('the server', () => {
  it('is compiled once, also where several commands come at the same time', async () => {
    const answers = await Promise.all([turnpike('check'), turnpike('check'), turnpike('check')]);
    assert.deepEqual(
      answers.map(({ stderr }) => stderr),
      ['', '', ''],
    );
    assert.equal(new Set(answers.map(({ stdout }) => stdout)).size, 1);
    assert.match(answers[0]!.stdout, /^authenticate {2}auth$/m);
    assert.equal(builds().length, 1);
  });

  it('says the same of a wrong file as its sources do: its schemas were compiled with it', async () => {
    const wrong = join(ROOT, 'test/e2e/documents/bad-config/mistakes-of-every-kind');
    const { stderr } = await turnpike('check', '--config', join(wrong, 'gateway.yaml')).catch(
      (error: { stderr: string }) => error,
    );
    assert.equal(stderr.replace(/^.*(?=gateway\.yaml:)/gm, ''), readFileSync(join(wrong, 'expected.txt'), 'utf8'));
    const [name = ''] = builds();
    const { loadCompiled } = await import(join(checkout, 'scripts/compiled-load.mjs'));
    const { modules } = loadCompiled(join(dist, name)).compiled;
    const load = (file: string) => modules.get(file)();
    const { checkedPart, readyValidator } = await load('core/config/compiled-schemas.ts');
    const { coreSections } = await load('core/config/core-sections.ts');
    const { default: quota } = await load('plugins/quota/index.ts');
    for (const [section, schema] of Object.entries({ ...coreSections, ...quota.sections }))
      assert.equal(typeof readyValidator(checkedPart(schema)), 'function', section);
  });

  it('keeps what the engine has made of it when it serves, and starts with that', async () => {
    writeFileSync(
      join(checkout, 'serve.yaml'),
      'listen: { host: 127.0.0.1, port: 0 }\npipeline: [counters, ./hours.ts, ./plain.mjs]\n',
    );
    const [name = ''] = builds();
    const caches = () =>
      readdirSync(join(dist, name))
        .filter((file) => file.endsWith('.cache'))
        .map((file) => `${file} ${statSync(join(dist, name, file)).ino}`);
    assert.deepEqual(caches(), []);
    await served('serve.yaml');
    const [kept] = caches();
    assert.notEqual(kept, undefined);
    await served('serve.yaml');
    assert.deepEqual(caches(), [kept]);
  });

  it('loads no package but its database driver with the shipped configuration', async () => {
    const shipped = readFileSync(join(checkout, 'gateway.yaml'), 'utf8');
    writeFileSync(join(checkout, 'shipped.yaml'), shipped.replace('port: 8080', 'port: 0'));
    writeFileSync(
      join(checkout, 'loaded.cjs'),
      `if (require('node:worker_threads').isMainThread)
         process.on('exit', () => require('node:fs').writeFileSync('loaded.json', JSON.stringify(Object.keys(require.cache))));`,
    );
    await served('shipped.yaml', ['--require', './loaded.cjs']);
    const files = JSON.parse(readFileSync(join(checkout, 'loaded.json'), 'utf8')) as readonly string[];
    const packages = files.flatMap((file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
    const names = new Set(packages.map((name) => name.replace(/^better-sqlite3-13$/, 'better-sqlite3')));
    assert.deepEqual([...names], ['better-sqlite3']);
  });

  it('is compiled again once a source has changed, and a few older ones are kept for those that run on them', async () => {
    const seen = new Set(builds());
    for (const number of [1, 2, 3]) {
      appendFileSync(join(checkout, 'core/helpers/base62.ts'), `// ${number}\n`);
      await turnpike('version');
      for (const name of builds()) seen.add(name);
    }
    assert.equal(seen.size, 4);
    assert.equal(builds().length, 3);
  });

  it('runs a plugin of its user that is TypeScript, and one that is not', async () => {
    writeFileSync(join(checkout, 'own.yaml'), 'pipeline: [./hours.ts, ./plain.mjs]\n');
    const { stdout } = await turnpike('check', '--config', 'own.yaml');
    assert.match(stdout, /^hours +function$/m);
    assert.match(stdout, /^plain +here$/m);
  });

  it('starts from its sources where nothing can be written', async () => {
    rmSync(dist, { recursive: true });
    writeFileSync(dist, 'no folder');
    const { stdout, stderr } = await turnpike('check');
    assert.match(stdout, /^authenticate {2}auth$/m);
    assert.equal(stderr, '');
  });
});
