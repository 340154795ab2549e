/** Recipes of the page Connect: each says what it must, has no place that nothing fills, and makes what its client can read. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import {
  fill,
  fillLink,
  fillStep,
  LINK_SCHEMES,
  type Recipe,
  type Values,
} from '../../../console/src/pages/connect/recipe.ts';
import { warningOf } from '../../../console/src/pages/connect/warning.ts';
import { causeOf, type Refused, voiceOf } from '../../../console/src/parts/call-failure.ts';

const ROOM = resolve(import.meta.dirname, '../../../console/recipes');
const FILES = readdirSync(ROOM).filter((name) => name.endsWith('.yaml'));
const recipeOf = (file: string): Recipe => parse(readFileSync(join(ROOM, file), 'utf8'));

const USUAL: Values = {
  root: 'https://gateway.example.com/llm',
  base: 'https://gateway.example.com/llm/v1',
  key: 'sk-0123456789abcdefghijABCDEFGHIJ',
  model: 'gpt-5',
  name: 'Turnpike',
};
/** What stands in the way of whoever only pastes texts together. */
const ODD: Values = {
  ...USUAL,
  model: `it's "a" \\ model/$(touch owned)\`x\`: #1`,
  name: `Bob's "gate" & 网关 {{key}}`,
};

describe('recipes', () => {
  const lint = new Ajv({ strict: true }).compile(JSON.parse(readFileSync(join(ROOM, 'schema.json'), 'utf8')));
  let dir: string;
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'turnpike-recipes-'));
  });
  after(() => rmSync(dir, { recursive: true }));

  it('are there for the clients that people use', () => {
    for (const file of ['claude-code', 'codex', 'cursor', 'cherry-studio', 'open-webui', 'opencode', 'curl-chat']) {
      assert.ok(FILES.includes(`${file}.yaml`), file);
    }
    const names = FILES.map((file) => recipeOf(file).name);
    assert.equal(new Set(names).size, names.length, 'two have one name');
    const places = FILES.map((file) => `${recipeOf(file).kind} ${recipeOf(file).order}`);
    assert.equal(new Set(places).size, places.length, 'two stand at one place');
  });

  for (const file of FILES) {
    const recipe = recipeOf(file);

    it(`${file} is well-formed`, () => {
      assert.ok(lint(recipe), JSON.stringify(lint.errors, null, 1));
      assert.match(file, /^[a-z0-9-]+\.yaml$/);
      assert.match(readFileSync(join(ROOM, file), 'utf8'), /^# yaml-language-server: \$schema=\.\/schema\.json\n/);
      // Whoever copies it has to get the key and the address somewhere.
      const all = recipe.steps.map(({ template }) => template).join('\n');
      assert.match(all, /\{\{key[|}]/);
      assert.match(all, /\{\{(root|base)[|}]/);
    });

    it(`${file} fills without leftovers`, () => {
      for (const step of recipe.steps) {
        for (const shell of ['sh', 'powershell'] as const) {
          assert.doesNotMatch(fillStep(step, USUAL, shell), /\{\{ *[a-z]+[^{}\n]*\}\}/, step.title.en);
        }
      }
      for (const link of recipe.links ?? []) {
        for (const values of [USUAL, ODD]) {
          const url = fillLink(link, values);
          assert.ok(url !== undefined, `${link.url} leads where nothing may`);
          assert.ok(LINK_SCHEMES.includes(new URL(url).protocol));
          assert.doesNotMatch(url, /[\s{}"<>]/);
        }
      }
    });

    it(`${file} makes what can be read`, () => {
      for (const values of [USUAL, ODD]) {
        for (const step of recipe.steps) {
          const code = fillStep(step, values, 'sh');
          readAs(step.language, code, dir);
        }
      }
    });

    it(`${file} quotes for PowerShell`, () => {
      for (const { language, powershell } of recipe.steps) {
        if (language === 'sh' && powershell !== undefined) assert.doesNotMatch(powershell, /\|(sh|quoted)\}\}/);
        // Outside of quotes a value would be read as code.
        assert.doesNotMatch(powershell ?? '', /= \{\{\w+\}\}/);
      }
    });
  }

  it('hand an application what it reads', () => {
    const cherry = new URL(fillLink(recipeOf('cherry-studio.yaml').links![0]!, ODD)!);
    assert.equal(cherry.searchParams.get('v'), '1');
    const data = JSON.parse(Buffer.from(cherry.searchParams.get('data')!, 'base64').toString());
    assert.deepEqual([data.baseUrl, data.apiKey, data.name], [ODD.root, ODD.key, ODD.name]);
    for (const link of recipeOf('cc-switch.yaml').links!) {
      const { searchParams } = new URL(fillLink(link, ODD)!);
      assert.equal(searchParams.get('endpoint'), searchParams.get('app') === 'codex' ? ODD.base : ODD.root);
      assert.deepEqual([searchParams.get('apiKey'), searchParams.get('model')], [ODD.key, ODD.model]);
    }
  });

  it('refuse places and filters that there are not, and links that nobody should follow', () => {
    const values = { ...USUAL };
    // What a value looks like is no place.
    assert.equal(fill('{{name}} {{model}}', { ...values, name: '{{key}}' }), '{{key}} gpt-5');
    assert.throws(() => fill('{{secret}}', values), /nothing called/);
    assert.throws(() => fill('{{key|rot13}}', values), /no filter/);
    const title = { en: 'x', zh: 'x' };
    assert.equal(fillLink({ title, url: 'javascript:alert({{key|json}})' }, USUAL), undefined);
    assert.equal(fillLink({ title, url: 'https://elsewhere.example/?key={{key}}' }, USUAL), undefined);
  });

  it('keep a shell from running what a name says', () => {
    const shells = FILES.flatMap((file) => recipeOf(file).steps).filter(({ language }) => language === 'sh');
    for (const step of shells) {
      // Only the words are looked at: nothing of it is called.
      const words = fillStep(step, ODD, 'sh').replace(
        /^(export|curl|claude|codex|opencode|aider|zed|ccr|docker)\b/gm,
        ': ',
      );
      const ran = spawnSync('sh', ['-c', words], { cwd: dir, encoding: 'utf8' });
      assert.equal(ran.stderr, '', step.template);
      assert.deepEqual(
        readdirSync(dir).filter((name) => name === 'owned'),
        [],
      );
    }
  });
});

describe('why a test call failed', () => {
  const refused = (status: number, code: string, more: Partial<Refused> = {}): Refused => ({
    ...{ status, code, message: 'Because.', channel: '', requestId: '', retryAfter: undefined },
    ...more,
  });

  it('has one cause', () => {
    const causes = [
      [refused(0, ''), 'network'],
      [refused(401, 'not_signed_in'), 'session'],
      [refused(401, 'invalid_api_key'), 'key'],
      [refused(401, 'key_expired'), 'expired'],
      [refused(403, 'model_not_allowed'), 'scope'],
      [refused(403, 'ip_not_allowed'), 'address'],
      [refused(403, 'QUOTA_USER_INSUFFICIENT'), 'balance'],
      [refused(403, 'QUOTA_TOKEN_INSUFFICIENT'), 'allowance'],
      [refused(403, 'QUOTA_MONTHLY_DAILY_EXCEEDED'), 'window'],
      [refused(402, 'model_not_priced'), 'price'],
      [refused(404, 'model_not_found'), 'model'],
      [refused(429, 'rate_limit_exceeded'), 'limit'],
      [refused(429, 'rate_limit_exceeded', { message: 'The vendor is at its limit. Try again later.' }), 'busy'],
      [refused(429, 'rate_limit_exceeded', { channel: 'main' }), 'busy'],
      [refused(502, 'upstream_error'), 'vendor'],
      [refused(503, 'no_channel'), 'vendor'],
      [refused(400, 'bad', { channel: 'main' }), 'request'],
      [refused(503, 'storage_unavailable'), 'gateway'],
    ] as const;
    for (const [answer, cause] of causes) assert.equal(causeOf(answer), cause, answer.code);
  });

  it('says whose words they are', () => {
    assert.equal(voiceOf(refused(401, 'invalid_api_key')), 'gateway');
    assert.equal(voiceOf(refused(400, 'unsupported', { channel: 'main' })), 'vendor');
    assert.equal(voiceOf(refused(400, 'invalid_request_error')), 'either');
  });

  it('is sometimes the address, which can be seen before', () => {
    assert.equal(warningOf('cloud', 'http://localhost:8080'), 'cloud');
    assert.equal(warningOf('cloud', 'https://10.0.0.7'), 'cloud');
    assert.equal(warningOf('cloud', 'https://gateway.example.com'), undefined);
    assert.equal(warningOf('container', 'http://127.0.0.1:8080'), 'container');
    assert.equal(warningOf('machine', 'http://127.0.0.1:8080'), undefined);
    assert.equal(warningOf('machine', 'http://gateway.example.com'), 'insecure');
  });
});

/** Fails where it cannot be read as what it is. */
function readAs(language: string, code: string, dir: string): void {
  if (language === 'json') JSON.parse(code);
  if (language === 'yaml') parse(code);
  if (language === 'toml') {
    // Of TOML recipes use tables and members whose values are JSON, too.
    for (const line of code.split('\n')) {
      if (line === '' || /^\[[\w.-]+\]$/.test(line)) continue;
      const [, value] = /^[\w-]+ = (.+)$/.exec(line) ?? [];
      assert.ok(value !== undefined, line);
      JSON.parse(value);
    }
  }
  if (language === 'sh') {
    const { status, stderr } = spawnSync('sh', ['-n', '-c', code], { encoding: 'utf8' });
    assert.equal(status, 0, `${stderr}\n${code}`);
  }
  if (language === 'js') {
    const file = join(dir, 'snippet.mjs');
    writeFileSync(file, code);
    const { status, stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' });
    assert.equal(status, 0, `${stderr}\n${code}`);
  }
}
