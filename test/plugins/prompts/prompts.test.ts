/** The plugin `prompts`: what is stored is what was asked and answered, encrypted, limited, for a while, and never at the expense of a call. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import { Prompts, type StoredBlock, type StoredContent } from '../../../core/contracts/prompts.ts';
import { type GatewayError, type Host, StoreUnavailable } from '../../../core/plugin.ts';
import type { Block } from '../../../core/translation/index.ts';
import { AnswerCollector } from '../../../core/translation/index.ts';
import { storedAnswer } from '../../../plugins/prompts/blocks.ts';
import { contentOf } from '../../../plugins/prompts/content.ts';
import { createWriter } from '../../../plugins/prompts/writer.ts';
import { KIND_NAMES, modelOf, openStand, type Stand } from '../../clients/stand.ts';
import { CLIENTS, type ClientName } from '../../e2e/faults/style-clients.ts';
import { conversationOf } from '../../kit/conversations/conversations.ts';
import fc from '../../kit/fast-check.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway, type TestGatewayOptions, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { turnpike } from '../../kit/gateway/process.ts';
import type { Scenario } from '../../kit/speech.ts';
import { until as eventually } from '../../kit/until.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { SCENARIOS, SPEECHES, says, speechAt } from '../../kit/vendors/scenarios.ts';
import { errorAnswer, eventStream, hold, inPieces, jsonAnswer } from '../../kit/vendors/script.ts';

const CLIENT_NAMES = Object.keys(CLIENTS) as readonly ClientName[];
const USAGE = { input: 10, cached: 0, output: 5, reasoning: 0 };

/** What root reads of a call. */
async function read({ host }: TestGateway, id: string): Promise<StoredContent> {
  const root = (await host.use(Accounts).findByName('root'))!;
  const actor = { accountId: root.id, name: root.name, ip: '' };
  return host.use(Prompts).read(id, { account: root, actor, ownOnly: false });
}

async function isStored(gateway: TestGateway, id: string): Promise<boolean> {
  return read(gateway, id).then(
    () => true,
    (error: unknown) => {
      assert.equal((error as GatewayError).code, 'content_not_found');
      return false;
    },
  );
}

/** The texts of one kind. */
function textsOf(blocks: readonly StoredBlock[], type: StoredBlock['type']): readonly string[] {
  return blocks.flatMap((block) => (block.type === type ? [block.text] : []));
}

describe('what is stored of a call', () => {
  let stand: Stand;
  before(async () => {
    stand = await openStand(0, {
      ship: ['pseudonyms', 'prompts', 'cache'],
      config: {
        prompts: { keep: '30d' },
        cache: { ttl: '1h' },
        pseudonyms: { lists: [{ kind: 'NAME', words: ['Ann'] }] },
      },
      price: { input: 1_000, output: 2_000 },
    });
  });
  after(() => stand?.stop());

  async function ask(client: ClientName, body: JsonObject): Promise<string> {
    const { path, headers } = CLIENTS[client];
    const response = await fetch(stand.root + path, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${stand.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return response.headers.get('x-request-id')!;
  }

  /** A vendor whose stream comes in pieces of so many bytes. */
  function next(scenario: Scenario, size: number): void {
    stand.vendor.next((request) => {
      const speech = SPEECHES[speechAt(request.path)];
      const isStream = request.path.includes(':stream') || request.json.stream === true;
      if (!isStream) return jsonAnswer(200, speech.whole(scenario, request.json));
      return inPieces(eventStream(speech.events(scenario, request.json)), size);
    });
  }

  const said = (client: ClientName, text: string): JsonObject =>
    client === 'responses' ? { input: text } : { messages: [{ role: 'user', content: text }] };

  it('is what was asked and answered, whichever APIs client and vendor use, whole or streamed, however that was cut', async () => {
    const words = fc.array(fc.constantFrom('Hello', ' ', 'Zü', '👋', '\n', '"', '\\'), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...CLIENT_NAMES),
        fc.boolean(),
        fc.constantFrom(...KIND_NAMES),
        words,
        words,
        fc.integer({ min: 1, max: 40 }),
        async (client, isStream, kind, question, answer, size) => {
          next({ text: ['It is ', ...answer], end: 'stop', usage: USAGE }, size);
          const asked = ['So ', ...question].join('');
          const style = CLIENTS[client];
          const id = await ask(client, {
            ...style.ask(modelOf(kind)),
            ...said(client, asked),
            ...(isStream && style.streamed),
          });
          const content = await read(stand.gateway, id);
          assert.deepEqual(content.messages, [{ role: 'user', blocks: [{ type: 'text', text: asked }] }]);
          assert.deepEqual(content.answer, {
            blocks: [{ type: 'text', text: ['It is ', ...answer].join('') }],
            finish: 'stop',
          });
          assert.deepEqual([content.earlierMessages, content.tools, content.omitted], [0, [], []]);
          assert.match(content.parameters!.text, /"maxTokens":16/);
        },
      ),
      { numRuns: 60, endOnFailure: true },
    );
  });

  for (const client of CLIENT_NAMES) {
    for (const isStream of [false, true]) {
      it(`has reasoning and tool calls, of a ${client} client, ${isStream ? 'streamed' : 'whole'}`, async () => {
        const { reasoning, calls } = SCENARIOS.calls;
        const style = CLIENTS[client];
        next(SCENARIOS.calls, 7);
        const body = { ...style.ask(modelOf('chat')), ...said(client, `Weather? ${isStream}`) };
        const { answer } = await read(stand.gateway, await ask(client, { ...body, ...(isStream && style.streamed) }));
        assert.equal(answer!.finish, 'tool_calls');
        assert.deepEqual(textsOf(answer!.blocks, 'reasoning'), [reasoning.join('')]);
        assert.deepEqual(
          answer!.blocks.flatMap(({ type, name, text }) => (type === 'tool_call' ? [[name, JSON.parse(text)]] : [])),
          calls.map(({ name, pieces }) => [name, JSON.parse(pieces.join(''))]),
        );
      });
    }
  }

  it('has instructions, tools and their results, in their order', async () => {
    next(SCENARIOS.summary, 9);
    const parameters = { type: 'object', properties: { city: { type: 'string' } } };
    const call = { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } };
    const id = await ask('chat', {
      model: modelOf('chat'),
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Weather in Oslo?' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: 'rain' },
      ],
      tools: [{ type: 'function', function: { name: 'get_weather', description: 'Looks it up.', parameters } }],
    });
    const { messages, tools } = await read(stand.gateway, id);
    assert.deepEqual(messages, [
      { role: 'system', blocks: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'user', blocks: [{ type: 'text', text: 'Weather in Oslo?' }] },
      {
        role: 'assistant',
        blocks: [{ type: 'tool_call', text: '{"city":"Oslo"}', name: 'get_weather', id: 'c1' }],
      },
      { role: 'user', blocks: [{ type: 'tool_result', text: 'rain', id: 'c1' }] },
    ]);
    assert.deepEqual(
      tools.map(({ name, text }) => [name, JSON.parse(text)]),
      [['get_weather', { type: 'function', description: 'Looks it up.', schema: parameters }]],
    );
  });

  it('is seen at its place in the pipeline: with placeholders behind `pseudonyms`, and answers from `cache` behind it', async () => {
    const body = { ...CLIENTS.chat.ask(modelOf('chat')), ...said('chat', 'I am Ann.'), temperature: 0 };
    next({ text: ['Hello [NA', 'ME_1]!'], end: 'stop', usage: USAGE }, 3);
    const ids = [await ask('chat', body), await ask('chat', { ...body, stream: true })];
    for (const id of ids) {
      const { messages, answer } = await read(stand.gateway, id);
      assert.deepEqual(textsOf(messages[0]!.blocks, 'text'), ['I am [NAME_1].']);
      assert.deepEqual(textsOf(answer!.blocks, 'text'), ['Hello [NAME_1]!']);
    }
    const other = stand.gateway.rows(`SELECT other FROM usage_record WHERE id = '${ids[1]}'`)[0]!.other;
    assert.equal((JSON.parse(String(other)) as JsonObject).answeredBy, 'cache');
  });
});

interface StartOptions extends Omit<TestGatewayOptions, 'vendor'> {
  readonly vendor?: Parameters<typeof fakeVendor>[0];
}

describe('the plugin prompts', () => {
  let gateway: TestGateway;
  let vendor: FakeVendor;
  let stops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    const running = stops;
    stops = [];
    for (const stop of running) await stop();
  });

  async function start(prompts: JsonObject | undefined, options: StartOptions = {}): Promise<void> {
    const { vendor: answer = says(SCENARIOS.text, { key: VENDOR_KEY }), ...more } = options;
    vendor = await fakeVendor(answer);
    stops = [() => vendor.close()];
    const pipeline =
      'accounts auth counters keys limits prompts prices quota models styles vendors/compatible vendors/demo metrics log';
    gateway = await startGateway({
      vendor,
      ...more,
      config: { pipeline: pipeline.split(' '), ...(prompts && { prompts }), ...more.config },
    });
    stops.unshift(() => gateway.stop());
  }

  async function post(path: string, body: JsonObject, key = gateway.key) {
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    // An answer that breaks off has no end.
    const text = await response.text().catch(() => '');
    return { status: response.status, text, id: response.headers.get('x-request-id')! };
  }
  const ask = (more: JsonObject = {}, key?: string) =>
    post(
      '/v1/chat/completions',
      { model: 'test-model', messages: [{ role: 'user', content: 'Hello?' }], ...more },
      key,
    );
  /** A sweep that is running has ended. */
  async function idle(): Promise<void> {
    for (let i = 0; i < 10; i++) await gateway.host.store.atomic([]);
  }
  const countOf = (table = 'prompt_log'): unknown => gateway.rows(`SELECT COUNT(*) AS n FROM ${table}`)[0]!.n;

  it('has no part in any call without its section', async () => {
    await start(undefined);
    const { id, status } = await ask();
    assert.equal(status, 200);
    assert.equal(await isStored(gateway, id), false);
    assert.equal(countOf(), 0);
  });

  it('stores only calls that it is configured for, and none that was refused before a vendor was asked', async () => {
    await start({ keep: '1d', models: ['test-*'] });
    assert.equal(await isStored(gateway, (await ask()).id), true);
    assert.equal(await isStored(gateway, (await ask({ model: 'free-model' })).id), false);
    const poor = await gateway.customer(0);
    const refused = await ask({}, poor);
    assert.equal(refused.status, 403);
    assert.equal(await isStored(gateway, refused.id), false);
  });

  it('leaves no plain text in the files of the database, in the log and in the metrics', async () => {
    const [question, answer] = ['the canary Kiwi-4711 asks', 'the canary Emu-0815 answers'];
    await start({ keep: '1d' }, { vendor: says({ text: [answer], end: 'stop', usage: USAGE }, { key: VENDOR_KEY }) });
    const ids = [];
    for (const stream of [false, true])
      ids.push((await ask({ messages: [{ role: 'user', content: question }], stream })).id);
    for (const id of ids) {
      const content = await read(gateway, id);
      assert.deepEqual(textsOf(content.messages[0]!.blocks, 'text'), [question]);
      assert.deepEqual(textsOf(content.answer!.blocks, 'text'), [answer]);
    }
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    const sealed = gateway.rows('SELECT * FROM prompt_log');
    assert.deepEqual([metrics.length > 100, sealed.length], [true, 2]);
    const files = readdirSync(gateway.dir).filter((name) => /^turnpike\.db(-\w+)?$/.test(name));
    const texts = files.map((name) => readFileSync(join(gateway.dir, name), 'latin1'));
    for (const id of ids) {
      const isOnPostgres = gateway.storeFile.startsWith('postgres');
      assert.ok(isOnPostgres || texts.some((text) => text.includes(id)), 'the row is in one of the files');
    }
    for (const text of [...texts, JSON.stringify(sealed), metrics, gateway.log.join('\n')]) {
      assert.doesNotMatch(text, /Kiwi-4711|Emu-0815/);
    }
  });

  it('deletes what is older than configured, and nothing that is not', async () => {
    const clock = fakeClock();
    await start({ keep: '2d' }, { clock });
    const { id: first } = await ask();
    clock.advance(86_400_000);
    const { id: second } = await ask();
    assert.deepEqual([await isStored(gateway, first), await isStored(gateway, second)], [true, true]);
    clock.advance(86_400_000 - 1);
    assert.equal(await isStored(gateway, first), true);
    clock.advance(1);
    assert.equal(await isStored(gateway, first), false, 'not even until it is deleted');
    await idle();
    clock.advance(3_600_000);
    await until(() => countOf() === 1);
    assert.equal(await isStored(gateway, second), true);
  });

  it('deletes everything if its section is removed', async () => {
    await start({ keep: '30d' });
    const { id } = await ask();
    assert.equal(await isStored(gateway, id), true);
    const { dir } = gateway;
    await gateway.gateway.stop();
    const clock = fakeClock(Date.now());
    const config = { pipeline: (await import('yaml')).parse(readFileSync(join(dir, 'gateway.yaml'), 'utf8')).pipeline };
    const later = await startGateway({ dir, vendor, clock, config });
    try {
      assert.equal(await isStored(later, id), false);
      clock.advance(3_600_000);
      await until(() => later.rows('SELECT * FROM prompt_log').length === 0);
    } finally {
      await later.stop();
    }
  });

  it('deletes what is stored of a key or an account that is deleted, also of a call that is running then', async () => {
    await start({ keep: '1d' });
    const accounts = gateway.host.use(Accounts);
    const keys = gateway.host.use(Keys);
    const ann = await accounts.create({ name: 'ann', role: 'member' });
    const [one, two] = [
      await keys.create({ accountId: ann.id, name: 'one', allowance: undefined }),
      await keys.create({ accountId: ann.id, name: 'two', allowance: undefined }),
    ];
    const ids: string[] = [];
    for (const { secret } of [one, two]) ids.push((await ask({ model: 'free-model' }, secret)).id);
    const { id: ofRoot } = await ask();
    const stored = (): Promise<readonly boolean[]> =>
      Promise.all([...ids, ofRoot].map((each) => isStored(gateway, each)));
    assert.deepEqual(await stored(), [true, true, true]);

    vendor.next((request) => [hold(), ...eventStream(SPEECHES.chat.events(SCENARIOS.text, request.json))]);
    const running = ask({ model: 'free-model', stream: true }, one.secret);
    await vendor.waitFor(() => vendor.requests.at(-1)?.holding !== undefined);
    assert.equal(await keys.revoke(one.key.id), true);
    vendor.release();
    const late = await running;
    assert.equal(late.status, 200);
    assert.deepEqual(await stored(), [false, true, true]);
    assert.equal(await isStored(gateway, late.id), false);

    await accounts.remove(ann.id, keys.revokeSteps(ann.id));
    assert.deepEqual(await stored(), [false, false, true]);
    assert.equal(countOf(), 1);
  });

  it('stores at most so many bytes of a call, and says what is missing', async () => {
    const long = 'ä'.repeat(5_000);
    await start(
      { keep: '1d', maxBytes: '4kb' },
      { vendor: says({ text: [long, long], end: 'stop', usage: USAGE }, { key: VENDOR_KEY }) },
    );
    const messages = Array.from({ length: 50 }, (_, i) => ({
      role: i % 2 ? 'assistant' : 'user',
      content: `${i}${long}`,
    }));
    for (const stream of [false, true]) {
      const content = await read(
        gateway,
        (await ask({ messages: [...messages, { role: 'user', content: 'And?' }], stream })).id,
      );
      assert.deepEqual(textsOf(content.messages.at(-1)!.blocks, 'text'), ['And?'], 'the newest is whole');
      assert.equal(content.earlierMessages + content.messages.length, 51);
      const { blocks } = content.answer!;
      assert.equal(blocks.length, 1);
      assert.ok(long.startsWith(blocks[0]!.text) && blocks[0]!.text.length > 500, blocks[0]!.text.slice(-5));
      assert.equal(Buffer.byteLength(blocks[0]!.text) + blocks[0]!.cutBytes!, 20_000);
      assert.ok(Buffer.byteLength(JSON.stringify(content)) < 6_000);
    }
  });

  it('leaves media out, and names type and size, however large it is', async () => {
    await start({ keep: '1d' });
    for (const size of [1_000, 3_000_001]) {
      const data = Buffer.alloc(size, 'media').toString('base64');
      const url = `data:image/png;base64,${data}`;
      const content = [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url } },
      ];
      const { status, id, text } = await ask({ messages: [{ role: 'user', content }] });
      assert.equal(status, 200, text);
      const { messages } = await read(gateway, id);
      const [, media] = messages[0]!.blocks;
      assert.deepEqual([media!.type, media!.text], ['media', 'image/png']);
      assert.ok(Math.abs(media!.bytes! - size) <= 2, `${media!.bytes} of ${size}`);
    }
  });

  it('stores several answers as JSON, texts of requests that are no conversation, and completions', async () => {
    await start(
      { keep: '1d' },
      {
        vendor: (request) => {
          if (request.path.endsWith('/embeddings')) {
            const data = [0, 1].map((index) => ({ object: 'embedding', index, embedding: [0.5, 0.25] }));
            const usage = { prompt_tokens: 3, total_tokens: 3 };
            return jsonAnswer(200, { object: 'list', model: 'test-model', data, usage });
          }
          if (/(^|v1)\/completions$/.test(request.path)) {
            const choice = { text: 'upon a time', index: 0, logprobs: null, finish_reason: 'stop' };
            const usage = { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 };
            return jsonAnswer(200, {
              id: 'cmpl-1',
              object: 'text_completion',
              created: 1,
              model: 'm',
              choices: [choice],
              usage,
            });
          }
          const answer = SPEECHES.chat.whole(SCENARIOS.text, request.json) as {
            readonly choices: readonly JsonObject[];
          };
          const { n = 1 } = request.json as { readonly n?: number };
          const choices = Array.from({ length: n }, (_, index) => ({ ...answer.choices[0]!, index }));
          return jsonAnswer(200, { ...answer, choices });
        },
        config: {
          models: {
            'test-model': { from: ['main'], free: true },
            vectors: { from: ['main'], free: true, only: ['embeddings'] },
          },
        },
      },
    );
    const several = await read(gateway, (await ask({ n: 2 })).id);
    const [block] = several.answer!.blocks;
    assert.equal(block!.type, 'data');
    const { choices } = JSON.parse(block!.text) as { readonly choices: readonly unknown[] };
    assert.equal(choices.length, 2);

    const completion = await post('/v1/completions', { model: 'test-model', prompt: 'Once', max_tokens: 9 });
    assert.equal(completion.status, 200, completion.text);
    const completed = await read(gateway, completion.id);
    assert.deepEqual(textsOf(completed.messages[0]!.blocks, 'text'), ['Once']);
    assert.deepEqual(textsOf(completed.answer!.blocks, 'text'), ['upon a time']);
    const vector = await post('/v1/embeddings', { model: 'vectors', input: ['one', 'two'] });
    assert.equal(vector.status, 200, vector.text);
    const { messages, answer } = await read(gateway, vector.id);
    assert.deepEqual(
      messages.map(({ blocks }) => textsOf(blocks, 'text')),
      [['one'], ['two']],
    );
    assert.equal(answer, undefined);
    // Token ids are for the vendor to read, so the call is not refused.
    const tokens = await post('/v1/embeddings', { model: 'vectors', input: [[1], [2, 3]] });
    assert.equal(tokens.status, 200, tokens.text);
    const unread = await read(gateway, tokens.id);
    assert.deepEqual([unread.messages, unread.omitted], [[], ['request:dropped']]);
  });

  it('stores what came of an answer that broke off', async () => {
    await start({ keep: '1d' });
    vendor.next((request) => {
      const events = SPEECHES.chat.events(SCENARIOS.text, request.json);
      return eventStream(events.slice(0, 3));
    });
    const { id } = await ask({ stream: true });
    const { answer } = await read(gateway, id);
    assert.equal(answer!.finish, undefined);
    const whole = SCENARIOS.text.text.join('');
    const text = textsOf(answer!.blocks, 'text').join('');
    assert.ok(text !== '' && text !== whole && whole.startsWith(text), text);
  });

  it('stores the request of a call that failed', async () => {
    await start({ keep: '1d' });
    vendor.next(errorAnswer(500, 'broken'));
    const { id, status } = await ask();
    assert.ok(status >= 500, `${status}`);
    const { messages, answer } = await read(gateway, id);
    assert.deepEqual([textsOf(messages[0]!.blocks, 'text'), answer], [['Hello?'], undefined]);
  });

  it('serves calls while it cannot write, says so once, and how many were lost when it can again', async () => {
    await start({ keep: '1d' });
    const failures = (pattern: RegExp) => gateway.log.filter((line) => pattern.test(line));
    await gateway.host.store.run('ALTER TABLE prompt_log RENAME TO prompt_log_away');
    for (let i = 0; i < 3; i++) {
      const { status } = await ask({ stream: i === 1 });
      assert.equal(status, 200);
      await until(() => failures(/prompts and answers cannot be stored/).length === 1);
    }
    await gateway.host.store.run('ALTER TABLE prompt_log_away RENAME TO prompt_log');
    assert.equal(await isStored(gateway, (await ask()).id), true);
    assert.equal(failures(/prompts and answers cannot be stored/).length, 1);
    assert.match(failures(/prompts and answers are stored again/).join(), /lost\D+[1-3]\b/);
    const charged = gateway.rows("SELECT CAST(charged AS TEXT) AS charged FROM usage_record WHERE outcome = 'served'");
    assert.equal(charged.length, 4);
    for (const row of charged) assert.ok(BigInt(String(row.charged)) > 0n);
  });

  it('says in `turnpike explain` and `check` what it stores, and keeps nothing of a call that is only explained', async () => {
    await start({ keep: '1d', readers: ['ann'], own: true });
    const body = JSON.stringify({ model: 'test-model', messages: [{ role: 'user', content: 'Hello?' }] });
    const told = await gateway.command(`explain --key ${gateway.key} --style chat --body -`, body);
    assert.match(told, /prompt and answer are stored for 1d/);
    const { stdout } = await turnpike(['check', '--config', gateway.configFile]);
    assert.match(stdout, /stored for 1d, at most 64kb of a call; readers: root, ann, users their own/);
    assert.match(stdout, /warning: prompts: reading them is not audited/);
    assert.equal(countOf(), 0);
  });

  it('refuses a limit that makes no sense', async () => {
    await assert.rejects(start({ keep: '1d', maxBytes: '2mb' }), /prompts\.maxBytes.*1mb at most/s);
    for (const stop of stops.splice(0)) await stop().catch(() => {});
  });
});

describe('contents that wait to be written', () => {
  const content = (text: string): StoredContent => ({
    messages: [{ role: 'user', blocks: [{ type: 'text', text }] }],
    earlierMessages: 0,
    tools: [],
    omitted: [],
  });

  it('are limited in memory while the store cannot be written, and are written when it can', async () => {
    const clock = fakeClock();
    const log: [string, object | undefined][] = [];
    let isAway = true;
    let written = 0;
    let tries = 0;
    const note = (message: string, facts?: object): void => void log.push([message, facts]);
    const host = {
      clock,
      log: { error: note, warn: note },
      vault: { seal: (_place: string, text: string) => text },
      store: {
        async atomic(steps: readonly unknown[]) {
          tries++;
          if (isAway) throw new StoreUnavailable('the disk is full');
          written += steps.length;
        },
      },
    } as unknown as Host;
    const writer = createWriter(host);
    const megabyte = 'x'.repeat(1_024 * 1_024);
    for (let i = 0; i < 40; i++) writer.add({ id: `${i}`, accountId: 1, keyId: 1 }, content(megabyte));
    assert.equal(tries, 0, 'a call that ends waits for nothing');
    await writer.written();
    assert.deepEqual([tries, written], [1, 0]);
    assert.deepEqual(
      log.map(([message]) => message),
      ['prompts and answers are not stored: too many are waiting to be written'],
    );
    isAway = false;
    clock.advance(2_000);
    await writer.written();
    assert.equal(written, 31);
    assert.deepEqual(log.at(-1), ['prompts and answers are stored again', { lost: 9 }]);
    await writer.stop();
    assert.equal(written, 31);
  });
});

describe('what fits into a limit', () => {
  it('is a beginning of every text, and never more than the limit, whatever was asked and answered', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 300 });
    const block: fc.Arbitrary<Block> = fc.oneof(
      text.map((said): Block => ({ type: 'text', text: said })),
      text.map((said): Block => ({ type: 'toolCall', id: 'c', name: 'n', kind: 'function', input: said })),
      text.map(
        (said): Block => ({ type: 'toolResult', id: 'c', kind: 'function', content: [{ type: 'text', text: said }] }),
      ),
    );
    fc.assert(
      fc.property(
        fc.array(fc.array(block, { minLength: 1, maxLength: 4 }), { maxLength: 6 }),
        fc.array(text, { maxLength: 10 }),
        fc.integer({ min: 1_024, max: 4_096 }),
        (turns, deltas, most) => {
          const collector = new AnswerCollector(most);
          collector.part({ type: 'start', id: '', model: '' });
          collector.part({ type: 'blockStart', key: 0, block: { type: 'text', text: '' } });
          for (const delta of deltas) collector.part({ type: 'delta', key: 0, text: delta });
          const whole = deltas.join('');
          const conversation = {
            ...conversationOf([]),
            turns: turns.map((blocks) => ({ role: 'user' as const, blocks })),
          };
          const seen = { conversation, texts: [], lengthOf: (said: string) => said.length, omitted: [] };
          const content = contentOf(seen, storedAnswer(collector), most);
          const all = [...content.messages.flatMap(({ blocks }) => blocks), ...content.answer!.blocks];
          const bytes = all.reduce((sum, each) => sum + Buffer.byteLength(each.text), 0);
          assert.ok(bytes <= most, `${bytes} of ${most}`);
          assert.equal(content.earlierMessages + content.messages.length, turns.length);
          const answer = content.answer!.blocks[0];
          if (whole === '') assert.equal(answer, undefined);
          else {
            assert.ok(whole.startsWith(answer!.text));
            assert.equal(Buffer.byteLength(answer!.text) + (answer!.cutBytes ?? 0), Buffer.byteLength(whole));
          }
        },
      ),
    );
  });
});

/** Waits for something that happens soon, and needs no clock. */
const until = (isSo: () => boolean) => eventually('it has happened', isSo);
