/** What an operator is told in the first hours: of old Nodes, proxies that are not named, misspelt variables, and vendors that fail. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { describeAssembly } from '../../../core/cli/check.ts';
import { greeting } from '../../../core/cli/greeting.ts';
import { openGateway } from '../../../core/gateway/gateway.ts';
import { nearest } from '../../../core/helpers/nearest.ts';
import { inWords } from '../../../core/operations/commands/command-line.ts';
import { silentLog } from '../../../core/runtime/logger.ts';
import { defaultConfig, startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer } from '../../kit/vendors/script.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
let dir: string;
let folders = 0;
before(() => {
  dir = mkdtempSync(join(tmpdir(), 'turnpike-selfhost-'));
});
after(() => rmSync(dir, { recursive: true }));

/** A gateway.yaml of the kit with these sections instead. */
function configured(sections: Readonly<Record<string, unknown>>): string {
  const folder = join(dir, String(folders++));
  mkdirSync(folder);
  const file = join(folder, 'gateway.yaml');
  writeFileSync(file, stringify({ ...defaultConfig([]), ...sections }));
  return file;
}

describe('an operator', () => {
  it('is told in one line that a Node is too old', () => {
    for (const version of ['18.20.4', '20.18.3', '16.0.0']) {
      const old = `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '${version}' })`;
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ['--import', old, 'scripts/turnpike.mjs', 'help'],
        {
          cwd: ROOT,
          encoding: 'utf8',
        },
      );
      const line = `Turnpike needs Node 20.19 or newer; this is Node ${version}\n`;
      assert.deepEqual([status, stdout, stderr], [1, '', line]);
    }
  });

  it('finds the name that is nearest, not the first that begins alike', () => {
    assert.equal(nearest('gpt-5-mni', ['gpt-5', 'gpt-5-mini', 'gpt-5-nano']), 'gpt-5-mini');
    assert.equal(nearest('out', ['output', 'input']), 'output');
    assert.equal(nearest('form', ['from', 'format']), 'from');
  });

  it('reads of a path what is wrong with it, and not how the system spells that', () => {
    const denied = "EACCES: permission denied, mkdir '/opt/data'";
    assert.equal(inWords(new Error(denied)), '/opt/data: this user has no access to this path (EACCES)');
    const missing = "ENOENT: no such file or directory, open '/nope/x.db.incomplete-2150'";
    assert.equal(inWords(new Error(missing)), '/nope/x.db.incomplete-2150: there is no such file or folder (ENOENT)');
    assert.equal(inWords(new Error('anything else')), 'anything else');
  });

  it('is told which variable holds a password that is too short', async () => {
    const configFile = configured({});
    await assert.rejects(openGateway({ configFile, env: { TURNPIKE_ROOT_PASSWORD: 'abc' }, log: silentLog }), {
      message: /TURNPIKE_ROOT_PASSWORD: A password must have 8/,
    });
  });

  it('is warned of a variable in the spelling of a shell', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: that is what it is about
    const said = '$OPENAI_API_KEY is taken literally; a variable is written ${OPENAI_API_KEY}';
    const channels = [{ name: 'demo', vendor: 'demo', key: '$OPENAI_API_KEY' }];
    assert.ok((await describeAssembly(configured({ channels }), {})).includes(said));
  });

  it('is warned by check of a proxy that is not named', async () => {
    const pipeline = [...(defaultConfig([]).pipeline as string[]), 'console'];
    const report = (sections: object) => describeAssembly(configured({ pipeline, ...sections }), {});
    const said = /warning: .*console\.url is https and listen\.tls is not set, so there is a proxy/;
    const console = { url: 'https://gateway.example' };
    assert.match(await report({ console }), said);
    assert.doesNotMatch(await report({ console, listen: { trustProxy: ['127.0.0.1'] } }), said);
    assert.doesNotMatch(await report({}), said);
  });

  it('is greeted with the address that is listened on, in its scheme, and where the files are that were made', () => {
    const secrets = {
      key: 'sk-1',
      signIn: 'http://localhost:8080/console',
      database: '/data/t.db',
      masterKey: '/data/t.db.key',
    };
    const { text = '' } = greeting(secrets, { url: 'https://127.0.0.1:8443', model: 'demo' }) ?? {};
    assert.match(text, /console +https:\/\/localhost:8443\/console /);
    assert.match(text, /database +\/data\/t\.db \(new\)/);
    assert.match(text, /Keep a copy of the master key in another place/);
  });
});

describe('the log and the records', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  const ask = (headers: Readonly<Record<string, string>> = {}, path = '/v1/chat/completions') =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'free-model', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }),
    });
  before(async () => {
    vendor = await fakeVendor();
    gateway = await startGateway({
      vendor,
      config: { pipeline: [...(defaultConfig([]).pipeline as string[]), 'metrics'] },
    });
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });
  const logged = (text: string): readonly string[] => gateway.log.filter((line) => line.includes(text));

  it('quote what a vendor says of its own failure, and no secret in it', async () => {
    vendor.next(errorAnswer(500, 'The shard 7 of the cache is gone.'));
    await (await ask()).text();
    assert.ok(logged('"reason":"status 500: The shard 7 of the cache is gone."').length > 0, gateway.log.join('\n'));
    vendor.next(errorAnswer(500, `The key ${VENDOR_KEY} is not known here.`));
    await (await ask()).text();
    assert.ok(logged('"reason":"status 500: in words that are not to be repeated"').length > 0);
    assert.deepEqual(logged(VENDOR_KEY), []);
  });

  it('of a refusal name the channel in the answer, translated as well', async () => {
    vendor.next(errorAnswer(404, 'There is no such model.'), errorAnswer(404, 'There is no such model.'));
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      const response = await ask({ 'anthropic-version': '2023-06-01' }, path);
      assert.ok([400, 404].includes(response.status), `${path}: ${await response.clone().text()}`);
      assert.equal(response.headers.get('x-turnpike-channel'), 'main', await response.text());
    }
  });

  it('tell once of a proxy that nobody has named', async () => {
    const said = 'requests with X-Forwarded-For come from an address';
    assert.equal(logged(said).length, 0);
    for (let i = 0; i < 3; i++) await (await ask({ 'x-forwarded-for': '203.0.113.7' })).text();
    assert.equal(logged(said).length, 1);
    assert.ok(logged(said)[0]!.includes('"peer":"127.0.0.1"'));
  });

  it('have no metric that is named as what it is not', async () => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    const gauges = [...text.matchAll(/^# TYPE (\S+) gauge$/gm)].map(([, name]) => name!);
    assert.deepEqual(
      gauges.filter((name) => name.endsWith('_total')),
      [],
    );
    assert.ok(gauges.includes('turnpike_up'));
  });

  it('are not needed to learn that an unlimited account has no balance to credit', async () => {
    const { code, stderr } = await gateway.tryCommand('user credit root 5');
    assert.deepEqual([code, stderr], [1, '"root" is unlimited: there is no balance to credit.\n']);
  });
});
