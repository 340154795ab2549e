/** `turnpike init` writes a configuration of the operator's own; `.env` next to it; and what `check` says of an older one. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { newConfiguration } from '../../../core/cli/init.ts';
import { turnpike } from '../../kit/gateway/process.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const place = mkdtempSync(join(tmpdir(), 'turnpike-init-'));
after(() => rmSync(place, { recursive: true }));
const read = (...path: readonly string[]): string => readFileSync(join(place, ...path), 'utf8');

describe('turnpike init', () => {
  it('writes the annotated configuration and a file for its secrets, which only its owner can read', async () => {
    const { code, stdout, stderr } = await turnpike(['init', 'own'], { cwd: place });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^wrote own\/gateway\.yaml and own\/\.env$/m);
    assert.match(stdout, /^start it: {2}npx turnpike start --config own\/gateway\.yaml$/m);
    const shipped = readFileSync(join(ROOT, 'gateway.yaml'), 'utf8');
    assert.equal(read('own/gateway.yaml').replace(/^.*\n/, ''), shipped.replace(/^.*\n/, ''));
    const [, schema = ''] = /\$schema=(.*)/.exec(read('own/gateway.yaml')) ?? [];
    assert.ok(statSync(resolve(place, 'own', schema)).isFile(), schema);
    assert.equal(statSync(join(place, 'own/.env')).mode & 0o777, 0o600);
    for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY'])
      assert.match(read('own/.env'), new RegExp(`^# ${name}=$`, 'm'));
    const checked = await turnpike(['check', '--config', 'own/gateway.yaml'], { cwd: place });
    assert.deepEqual([checked.code, checked.stderr], [0, '']);
  });

  it('overwrites nothing: neither a configuration, nor the secrets next to one that is missing', async () => {
    newConfiguration('kept', place, {});
    writeFileSync(join(place, 'kept/gateway.yaml'), 'mine\n');
    const again = await turnpike(['init', 'kept'], { cwd: place });
    assert.equal(again.code, 1);
    assert.match(again.stderr, /kept\/gateway\.yaml exists already, and init overwrites nothing/);
    assert.equal(read('kept/gateway.yaml'), 'mine\n');
    rmSync(join(place, 'kept/gateway.yaml'));
    writeFileSync(join(place, 'kept/.env'), 'MINE=1\n');
    assert.match(newConfiguration('kept', place, {}), /^wrote kept\/gateway\.yaml; kept\/\.env exists and was kept$/m);
    assert.equal(read('kept/.env'), 'MINE=1\n');
  });

  it('names the channels whose keys the environment has, and writes no key', () => {
    const said = newConfiguration('keys', place, { OPENAI_API_KEY: 'sk-very-secret', GEMINI_API_KEY: '' });
    assert.match(said, /^these channels are on, because the environment has their keys: OPENAI_API_KEY$/m);
    for (const file of ['keys/.env', 'keys/gateway.yaml']) assert.doesNotMatch(read(file), /sk-very-secret/);
  });

  it('takes the https address of a proxy on this machine, which it trusts', () => {
    newConfiguration('site', place, {}, 'https://gateway.example.com');
    assert.match(read('site/gateway.yaml'), /^ {2}url: https:\/\/gateway\.example\.com /m);
    assert.match(read('site/gateway.yaml'), /^ {2}trustProxy: \[127\.0\.0\.1\] /m);
    for (const url of ['gateway.example.com', 'http://gateway.example.com', 'https://gateway.example.com/path'])
      assert.throws(() => newConfiguration('no-site', place, {}, url), /--url: .* is not an https address/);
  });

  it('takes one folder at most', async () => {
    const { code, stderr } = await turnpike(['init', 'one', 'two'], { cwd: place });
    assert.deepEqual(
      [code, /usage: turnpike init \[FOLDER\] \[--url https:\/\/HOST\]/.test(stderr)],
      [2, true],
      stderr,
    );
  });
});

describe('the file .env next to gateway.yaml', () => {
  it('has variables for the gateway; those of the environment take precedence', async () => {
    newConfiguration('env', place, {});
    const file = join(place, 'env/gateway.yaml');
    const off = async (env: Readonly<Record<string, string>> = {}): Promise<readonly string[]> => {
      const { stdout, stderr } = await turnpike(['check', '--config', file], { env });
      assert.equal(stderr, '');
      return [...stdout.matchAll(/channel (\w+) is off/g)].map(([, name = '']) => name);
    };
    assert.deepEqual(await off(), ['openai', 'anthropic', 'gemini']);
    writeFileSync(join(place, 'env/.env'), 'OPENAI_API_KEY=sk-1\n# GEMINI_API_KEY=sk-2\nANTHROPIC_API_KEY="sk-3"\n');
    assert.deepEqual(await off(), ['gemini']);
    assert.deepEqual(await off({ OPENAI_API_KEY: '' }), ['openai', 'gemini']);
  });
});

describe('check of a configuration that is older than the gateway', () => {
  const noteOf = async (text: string): Promise<string | undefined> => {
    const file = join(place, 'older.yaml');
    writeFileSync(file, text);
    const { code, stdout, stderr } = await turnpike(['check', '--config', file]);
    assert.equal(code, 0, stderr);
    return /^note: .*$/m.exec(stdout)?.[0];
  };
  const shipped = readFileSync(join(ROOT, 'gateway.yaml'), 'utf8');

  it('names the plugins that it lacks', async () => {
    assert.equal(await noteOf(shipped), undefined);
    const older = shipped.replace(/^ {2}- (cache|notices) .*\n/gm, '');
    assert.match((await noteOf(older)) ?? '', /lacks plugins that ship with this version: cache, notices\./);
  });

  it('does not name those that it has as comments', async () => {
    assert.equal(await noteOf(shipped.replace(/^ {2}- (cache|guard|notices) /gm, '  # - $1 ')), undefined);
  });
});
