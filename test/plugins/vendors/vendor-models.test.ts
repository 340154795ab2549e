/** The vendors' own lists of models: `turnpike models list`, and `models: list` of a channel, which fills the model lists of patterns. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor, type VendorRequest } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, jsonAnswer, type Script, wholeAnswer } from '../../kit/vendors/script.ts';

const HOUR_MS = 3_600_000;
const plain = (...names: readonly string[]): JsonObject => ({ object: 'list', data: names.map((id) => ({ id })) });

describe("a vendor's list of models", () => {
  const clock = fakeClock();
  let vendor: FakeVendor;
  let gateway: TestGateway;
  let list: Script = jsonAnswer(200, plain('gpt-4o-mini', 'gpt-4.1', 'unheard-of', 'a b', 'gpt-4o'));
  const answered = (request: VendorRequest): Script => {
    const { path, method } = request;
    if (method !== 'GET') return wholeAnswer();
    if (path === '/anthropic/models?limit=1000')
      return jsonAnswer(200, { data: [{ id: 'claude-a' }, { id: 'claude-b' }], has_more: true, last_id: 'claude-b' });
    if (path === '/anthropic/models?limit=1000&after_id=claude-b')
      return jsonAnswer(200, { data: [{ id: 'claude-c' }], has_more: false });
    if (path === '/gemini/models?pageSize=1000')
      return jsonAnswer(200, { models: [{ name: 'models/gemini-x' }], nextPageToken: 'two' });
    if (path === '/gemini/models?pageSize=1000&pageToken=two')
      return jsonAnswer(200, { models: [{ name: 'models/gemini-y' }] });
    return list;
  };
  before(async () => {
    vendor = await fakeVendor(answered);
    const base = `http://127.0.0.1:${vendor.port}`;
    const { pipeline } = defaultConfig([]) as { pipeline: string[] };
    const key = 'vendor-canary-5f0c9e7d1b';
    gateway = await startGateway({
      clock,
      config: {
        pipeline: [...pipeline, 'vendors/anthropic', 'vendors/gemini'],
        channels: [
          { name: 'openai', vendor: 'openai', url: vendor.url, key, speaks: ['chat'], models: 'list' },
          { name: 'quiet', vendor: 'openai', url: vendor.url, key, speaks: ['chat'] },
          { name: 'claude', vendor: 'anthropic', url: `${base}/anthropic`, key },
          { name: 'gemini', vendor: 'gemini', url: `${base}/gemini`, key },
        ],
        models: {
          'openai/*': { from: ['openai'], price: 'list' },
          'openai/gpt-4o': { from: ['openai'], free: true },
          'gpt-4*': { from: ['openai'] },
          'quiet/*': { from: ['quiet'] },
          mini: { from: [{ quiet: 'gpt-4o-mini' }], free: true },
        },
      },
    });
  });
  afterEach(() => vendor.forget());
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  const listed = async (key = gateway.key): Promise<readonly string[]> => {
    const answer = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    return ((await answer.json()) as { data: readonly { id: string }[] }).data.map(({ id }) => id);
  };
  /** The file with another section `models`, which is its last one. */
  const withModels = (section: string): string =>
    readFileSync(gateway.configFile, 'utf8').replace(/^models:.*/ms, () => section);
  /** Waits for what the gateway does by itself. */
  const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await holds())) await setImmediate();
  };

  it('is in the model lists if a pattern matches it and it has a price; names of other entries are there once', async () => {
    await until(async () => (await listed()).includes('openai/gpt-4.1'));
    assert.deepEqual(await listed(), [
      'openai/gpt-4o',
      'mini',
      'gpt-4.1',
      'gpt-4o',
      'gpt-4o-mini',
      'openai/gpt-4.1',
      'openai/gpt-4o-mini',
    ]);
    const key = (await gateway.command('key create --name few --unlimited --models gpt-4*')).trim();
    assert.deepEqual(await listed(key), ['gpt-4.1', 'gpt-4o', 'gpt-4o-mini']);
  });

  it('is read again every hour, and stays as it was if the vendor does not answer', async () => {
    const before = await listed();
    const requests = vendor.requests.length;
    list = errorAnswer(500);
    clock.advance(HOUR_MS);
    await until(() => gateway.log.some((line) => line.includes('the list of models of a channel could not be read')));
    assert.deepEqual(await listed(), before);
    assert.equal(vendor.requests.length, requests + 1);
    list = jsonAnswer(200, plain('gpt-4o-mini'));
    clock.advance(HOUR_MS);
    await until(async () => !(await listed()).includes('openai/gpt-4.1'));
    assert.deepEqual(await listed(), ['openai/gpt-4o', 'mini', 'gpt-4o-mini', 'openai/gpt-4o-mini']);
  });

  it('is not read again by a reload', async () => {
    const requests = vendor.requests.length;
    await gateway.gateway.reload();
    assert.ok((await listed()).includes('openai/gpt-4o-mini'));
    assert.equal(vendor.requests.length, requests);
  });

  it('is printed by a command, with the names that clients use', async () => {
    list = jsonAnswer(200, plain('gpt-4o-mini', 'other'));
    assert.equal(
      await gateway.command('models list openai'),
      'gpt-4o-mini\tgpt-4o-mini\topenai/gpt-4o-mini\nother\topenai/other',
    );
    assert.equal(
      await gateway.command('models list quiet'),
      'gpt-4o-mini\tmini\tquiet/gpt-4o-mini\nother\tquiet/other',
    );
  });

  it('is added to gateway.yaml by a command, which leaves everything else as it is', async () => {
    const text = withModels(`models:   # what clients call
    "openai/*":  { from: [openai], price: list }   # all of them

    mini:        { from: [{ quiet: gpt-4o-mini }],
                   free: true }   # the last one
    # a comment at the end

`);
    writeFileSync(gateway.configFile, text);
    await gateway.gateway.reload();
    list = jsonAnswer(200, plain('gpt-4o-mini', 'o3', 'true', 'a:b'));
    assert.equal(await gateway.command('models list quiet --add'), 'a:b\no3\ntrue');
    const added = '\n    "a:b": { from: [quiet] }\n    o3: { from: [quiet] }\n    "true": { from: [quiet] }';
    const last = '# the last one';
    assert.equal(
      readFileSync(gateway.configFile, 'utf8'),
      text.replace(last, () => last + added),
    );
    await gateway.gateway.reload();
    assert.equal(await gateway.command('models list quiet --add'), '');
    assert.equal((await gateway.chat({ model: 'o3' })).status, 200);
    assert.equal(vendor.requests.at(-1)!.json.model, 'o3');
  });

  it('is added to a section in braces, even if the editor of the console is off, and recorded as a version', async () => {
    const text = readFileSync(gateway.configFile, 'utf8');
    const braces = 'models: { mini: { from: [quiet], free: true } }\nconfiguration: { editor: false }\n';
    writeFileSync(gateway.configFile, withModels(braces));
    await gateway.gateway.reload();
    list = jsonAnswer(200, plain('o3', 'o4'));
    assert.equal(await gateway.command('models list quiet --add'), 'o3\no4');
    assert.equal(
      readFileSync(gateway.configFile, 'utf8'),
      withModels(braces.replace(' } }', ' }, o3: { from: [quiet] }, o4: { from: [quiet] } }')),
    );
    assert.deepEqual(gateway.rows('SELECT by_name, note FROM config_version ORDER BY id DESC')[0], {
      by_name: 'command line',
      note: 'models list quiet --add',
    });
    writeFileSync(gateway.configFile, text);
    await gateway.gateway.reload();
  });

  it('is added to a configuration in the database', async () => {
    const { pipeline } = defaultConfig([]) as { pipeline: string[] };
    const channels = [{ name: 'quiet', vendor: 'openai', url: vendor.url, key: 'vendor-canary-5f0c9e7d1b' }];
    const stored = await startGateway({ config: { config: 'store', pipeline, channels, models: {} } });
    list = jsonAnswer(200, plain('o3', 'o4'));
    const file = readFileSync(stored.configFile, 'utf8');
    assert.equal(await stored.command('models list quiet --add'), 'o3\no4');
    assert.match(await stored.command('config export'), /o3: \{ from: \[quiet\] \}/);
    assert.equal(readFileSync(stored.configFile, 'utf8'), file);
    assert.equal(await stored.command('models list quiet --add'), '');
    await stored.stop();
  });

  it('is not added to a text that is no YAML', async () => {
    const text = readFileSync(gateway.configFile, 'utf8');
    writeFileSync(gateway.configFile, withModels('models: [\n'));
    const { code, stderr } = await gateway.tryCommand('models list quiet --add');
    writeFileSync(gateway.configFile, text);
    assert.equal(code, 1);
    assert.match(stderr, /Nothing was added to the configuration: the text is not YAML/);
  });

  it('may have several pages', async () => {
    assert.equal(await gateway.command('models list claude'), 'claude-a\nclaude-b\nclaude-c');
    assert.equal(await gateway.command('models list gemini'), 'gemini-x\ngemini-y');
  });

  it('is refused with a reason if the vendor has none, or there is no such channel', async () => {
    list = errorAnswer(404);
    const none = await gateway.tryCommand('models list openai');
    assert.match(none.stderr, /the vendor has no list of models at this url \(status 404\)/);
    const unknown = await gateway.tryCommand('models list opena');
    assert.match(unknown.stderr, /There is no channel 'opena'; did you mean openai\?/);
  });
});
