/** `turnpike plugin new`: the folder that it makes works as its README says, outside the checkout. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { isWhole } from '../../kit/console/whole.ts';

const ROOT = join(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'turnpike-new-'));
after(() => rmSync(folder, { recursive: true }));

function turnpike(...words: readonly string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/turnpike.mjs'), ...words], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { code: status, out: stdout, err: stderr };
}

describe('turnpike plugin new', () => {
  // kit-package.long.test.ts makes styles and vendors.
  for (const kind of readdirSync(join(ROOT, 'scripts/scaffold')).filter(
    (name) => isWhole || !/style|vendor/.test(name),
  ))
    it(`makes a plugin of the kind ${kind} whose test passes, and that a gateway accepts`, () => {
      const name = `my-${kind}`;
      const made = turnpike('plugin', 'new', name, '--kind', kind);
      assert.equal(made.code, 0, made.err);
      const cwd = join(folder, name);
      const manifest = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'));
      assert.match(manifest.peerDependencies.turnpike, /^>=\d/);
      execFileSync('npm', ['install', '--no-audit', '--no-fund'], { cwd, stdio: 'pipe' });
      // A child of the test runner would report to it, and not to its own standard output.
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      const tested = spawnSync('npm', ['test'], { cwd, encoding: 'utf8', env });
      assert.equal(tested.status, 0, tested.stdout);
      assert.match(tested.stdout, /# pass [1-9]/);
      const config = join(folder, `${kind}.yaml`);
      writeFileSync(
        config,
        `store: { driver: sqlite, file: ./t.db }\npipeline: [accounts, auth, keys, models, styles, ./${name}]\n`,
      );
      const checked = turnpike('check', '--config', config);
      assert.equal(checked.code, 0, checked.err);
    });

  it('says what is wrong with its words, and makes nothing', () => {
    for (const [words, says] of [
      [['acme'], /--kind is missing\nusage: .*--kind vendor\|style\|guard\|route/],
      [['acme', '--kind', 'gard'], /did you mean guard\?/],
      [['Acme!', '--kind', 'guard'], /small letters, digits and hyphens/],
      [['quota', '--kind', 'guard'], /ships with the gateway/],
      [[], /NAME/],
    ] as const) {
      const { code, err } = turnpike('plugin', 'new', ...words);
      assert.equal(code, 2, words.join(' '));
      assert.match(err, says);
    }
    assert.ok(!readdirSync(folder).some((name) => /acme|quota/i.test(name)));
  });

  it('leaves a folder alone that exists', () => {
    assert.equal(turnpike('plugin', 'new', 'twice', '--kind', 'route').code, 0);
    const again = turnpike('plugin', 'new', 'twice', '--kind', 'guard');
    assert.deepEqual([again.code, /twice exists already/.test(again.err)], [2, true]);
  });
});
