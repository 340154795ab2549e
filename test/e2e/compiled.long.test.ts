/** The server as it starts: compiled once for its sources, again when they change, and from the sources where it cannot be compiled. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
const checkout = mkdtempSync(join(tmpdir(), 'turnpike-build-'));
after(() => rmSync(checkout, { recursive: true }));
for (const name of ['core', 'plugins', 'scripts', 'package.json', 'package-lock.json', 'gateway.yaml'])
  cpSync(join(ROOT, name), join(checkout, name), { recursive: true, filter: (path) => !path.endsWith('core/dist') });
symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
const dist = join(checkout, 'core/dist');

/** What was compiled there. */
const builds = (): readonly string[] => readdirSync(dist).filter((name) => !name.startsWith('seen.json'));

/** What the command says in that folder. */
async function turnpike(...args: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return promisify(execFile)(process.execPath, ['scripts/turnpike.mjs', ...args], { cwd: checkout });
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
    const wrong = join(ROOT, 'test/e2e/bad-config/mistakes-of-every-kind');
    const { stderr } = await turnpike('check', '--config', join(wrong, 'gateway.yaml')).catch(
      (error: { stderr: string }) => error,
    );
    assert.equal(stderr.replace(/^.*(?=gateway\.yaml:)/gm, ''), readFileSync(join(wrong, 'expected.txt'), 'utf8'));
    const [name = ''] = builds();
    const load = (module: string) => import(join(dist, name, module));
    const { checkedPart, readyValidator } = await load('core.config.ready.js');
    const { coreSections } = await load('core.config.core-sections.js');
    const { default: quota } = await load('plugins.quota.index.js');
    for (const [section, schema] of Object.entries({ ...coreSections, ...quota.sections }))
      assert.equal(typeof readyValidator(checkedPart(schema)), 'function', section);
  });

  it('is compiled again once a source has changed, and a few older ones are kept for those that run on them', async () => {
    const seen = new Set(builds());
    for (const number of [1, 2, 3]) {
      appendFileSync(join(checkout, 'core/base62.ts'), `// ${number}\n`);
      await turnpike('version');
      for (const name of builds()) seen.add(name);
    }
    assert.equal(seen.size, 4);
    assert.equal(builds().length, 3);
  });

  it('runs a plugin of its user that is TypeScript, and one that is not', async () => {
    writeFileSync(
      join(checkout, 'hours.ts'),
      `import { definePlugin, refuse } from './core/plugin.ts';
       export default definePlugin({ name: 'hours', api: 1, create: (): object => ({ report: () => [String(typeof refuse)] }) });`,
    );
    writeFileSync(
      join(checkout, 'plain.mjs'),
      `export default { name: 'plain', api: 1, create: () => ({ report: () => ['here'] }) };`,
    );
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
