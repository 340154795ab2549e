/** The vendors that ship, but for `gemini`: what they say of themselves and of their models. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { scanAnswer, scanJson } from '../../../core/bytes/json-body.ts';
import {
  type Call,
  type Caller,
  type Channel,
  definePlugin,
  type Headers,
  type Host,
  type Json,
  type JsonObject,
  type Offer,
  type Parts,
  type Style,
  type Vendor,
} from '../../../core/plugin.ts';
import { layQuirks, quirksOfModel } from '../../../core/translation/quirks/quirks.ts';
import { chat } from '../../../plugins/styles/chat/index.ts';
import { completions } from '../../../plugins/styles/completions/index.ts';
import { messages } from '../../../plugins/styles/messages/index.ts';
import { responses } from '../../../plugins/styles/responses/index.ts';
import anthropic from '../../../plugins/vendors/anthropic/index.ts';
import compatible from '../../../plugins/vendors/compatible/index.ts';
import demo from '../../../plugins/vendors/demo/index.ts';
import { sampleOf } from '../../../plugins/vendors/demo/sample.ts';
import openai from '../../../plugins/vendors/openai/index.ts';
import { relayed } from '../../kit/contracts/style-contract.ts';
import { vendorContract } from '../../kit/contracts/vendor-contract.ts';
import { ANY_CALL, arriving } from '../../kit/gateway/calls.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { eventsOf } from '../../kit/vendors/recordings.ts';
import { errorAnswer, jsonAnswer } from '../../kit/vendors/script.ts';

const asked = { model: 'public-name', messages: [{ role: 'user', content: 'Hello?' }] };
const styles = {
  chat: { style: chat, request: asked },
  completions: { style: completions, request: { model: 'public-name', prompt: 'Hello?' } },
  messages: { style: messages, request: { ...asked, max_tokens: 100 } },
  responses: { style: responses, request: { model: 'public-name', input: 'Hello?' } },
};

vendorContract(anthropic, { name: 'anthropic', styles: { messages: styles.messages } });
vendorContract(openai, { name: 'openai', styles, options: { organization: 'org-1', project: 'proj-1' } });
vendorContract(compatible, { name: 'compatible', styles });
vendorContract(demo, { name: 'demo', styles, isRemote: false });

async function partsOf(plugin: typeof demo): Promise<Parts> {
  return plugin.create({ clock: fakeClock(Date.UTC(2026, 0, 1)) } as unknown as Host, {});
}

describe('the vendor openai', () => {
  it('names the organization and the project where the channel does', async () => {
    const vendor = (await partsOf(openai)).vendors![0]!;
    const channel = { key: 'k', options: {} } as Channel;
    assert.deepEqual(vendor.credentials?.(channel), { authorization: 'Bearer k' });
    assert.deepEqual(vendor.credentials?.({ ...channel, options: { organization: 'o', project: 'p' } }), {
      authorization: 'Bearer k',
      'openai-organization': 'o',
      'openai-project': 'p',
    });
  });
});

/** What a vendor says about one of its models. */
function quirksOf(vendor: Vendor, model: string) {
  return layQuirks(...quirksOfModel(vendor.quirks, model));
}

describe('the vendor openai and its models', () => {
  it('is spoken to in the style that can say the most', async () => {
    const vendor = (await partsOf(openai)).vendors![0]!;
    assert.deepEqual(Object.keys(vendor.speaks).slice(0, 2), ['responses', 'chat']);
  });

  it('knows which of them think, and which take a temperature', async () => {
    const vendor = (await partsOf(openai)).vendors![0]!;
    const facts = (model: string) => {
      const { reasoning, sampling, stop } = quirksOf(vendor, model);
      return [reasoning.input, reasoning.levels[0], sampling.allowed.includes('temperature'), stop.max];
    };
    assert.deepEqual(facts('gpt-4.1-mini'), ['none', 'low', true, 4]);
    assert.deepEqual(facts('o3-mini'), ['effort', 'low', false, 0]);
    assert.deepEqual(facts('gpt-5-mini-2025-08-07'), ['effort', 'minimal', false, 0]);
    assert.deepEqual(facts('gpt-5.2'), ['effort', 'none', false, 0]);
    assert.deepEqual(facts('gpt-5-chat-latest'), ['none', 'minimal', true, 4]);
    assert.equal(quirksOf(vendor, 'gpt-5.6-mini').cache.hint, 'breakpoint');
    assert.equal(quirksOf(vendor, 'gpt-4').limits.context, 8_192);
    assert.equal(quirksOf(vendor, 'gpt-4o-audio-preview').style, 'chat');
  });
});

describe('legacy completions at openai', () => {
  let upstream: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    upstream = await fakeVendor();
    gateway = await startGateway({
      config: {
        channels: [{ name: 'main', vendor: 'openai', url: upstream.url, key: VENDOR_KEY }],
        models: {
          'gpt-5': { from: ['main'], free: true },
          old: { from: [{ main: 'gpt-3.5-turbo-instruct-0914' }], free: true },
        },
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const ask = async (model: string): Promise<JsonObject> => {
    const answer = await fetch(`${gateway.url}/v1/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, prompt: 'Once upon', max_tokens: 40 }),
    });
    assert.equal(answer.status, 200);
    return (await answer.json()) as JsonObject;
  };

  it('pass as they are to the models that have them', async () => {
    const whole = {
      id: 'cmpl-1',
      object: 'text_completion',
      created: 1,
      model: 'gpt-3.5-turbo-instruct-0914',
      choices: [{ text: ' a time', index: 0, logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 },
    };
    upstream.next(jsonAnswer(200, whole));
    assert.deepEqual(await ask('old'), whole);
    const { path, json } = upstream.requests.at(-1)!;
    assert.equal(path, '/v1/completions');
    assert.deepEqual(json, { model: 'gpt-3.5-turbo-instruct-0914', prompt: 'Once upon', max_tokens: 40 });
  });

  it('are translated for a model that would answer 404 there', async () => {
    const content = [{ type: 'output_text', text: ' a time', annotations: [] }];
    upstream.next(
      jsonAnswer(200, {
        id: 'resp_1',
        object: 'response',
        created_at: 1,
        status: 'completed',
        model: 'gpt-5-2025-08-07',
        output: [{ id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content }],
        usage: { input_tokens: 2, output_tokens: 2, total_tokens: 4 },
      }),
    );
    const answer = await ask('gpt-5');
    const { path, json } = upstream.requests.at(-1)!;
    assert.deepEqual([path, json.model, json.max_output_tokens], ['/v1/responses', 'gpt-5', 40]);
    assert.match(JSON.stringify(json.input), /Once upon/);
    assert.deepEqual([answer.object, answer.model], ['text_completion', 'gpt-5-2025-08-07']);
    const [choice] = answer.choices as readonly JsonObject[];
    assert.deepEqual([choice?.text, choice?.finish_reason], [' a time', 'stop']);
  });
});

describe('the vendor compatible', () => {
  it('has three styles unless a channel lists others, which may be all that clients ask in', async () => {
    const vendor = (await partsOf(compatible)).vendors![0]!;
    assert.deepEqual(vendor.defaultStyles, ['chat', 'completions', 'embeddings']);
    assert.deepEqual(Object.keys(vendor.speaks).sort(), [
      ...['chat', 'completions', 'edits', 'embeddings', 'images', 'messages', 'responses', 'speech'],
      ...['transcription', 'translation'],
    ]);
    const channel = { key: 'k', options: {} } as Channel;
    assert.deepEqual(vendor.speaks.messages?.headers(channel, callOf(messages), undefined), {
      authorization: 'Bearer k',
      'x-api-key': 'k',
      'anthropic-version': '2023-06-01',
    });
  });
});

describe('the vendor anthropic', () => {
  const channel = { key: 'k', options: {} } as Channel;
  const callerOf = (headers: Headers, query = ''): Caller => ({
    method: 'POST',
    path: '/v1/messages',
    query: new URLSearchParams(query),
    headers,
    ip: '192.0.2.1',
  });
  const dialect = async () => (await partsOf(anthropic)).vendors![0]!.speaks.messages!;

  it("passes on the client's version and what it tries out, where the client speaks its style", async () => {
    const { headers } = await dialect();
    const said = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'one-2025-01-01,two' };
    assert.deepEqual(headers(channel, callOf(messages), callerOf(said)), { 'x-api-key': 'k', ...said });
    const plain = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' };
    assert.deepEqual(headers(channel, callOf(messages), callerOf({})), plain);
    assert.deepEqual(headers(channel, callOf(chat), undefined), plain);
    const long = { ...plain, 'anthropic-beta': 'x,'.repeat(2_000) };
    assert.deepEqual(headers(channel, callOf(messages), callerOf(long)), long);
    const unfit = callerOf({ 'anthropic-beta': 'one\u00fc' });
    assert.deepEqual(headers(channel, callOf(messages), unfit), plain);
  });

  it('is asked for its beta where the client of its style asks for it', async () => {
    const { path } = await dialect();
    assert.ok(typeof path === 'function', 'the path depends on the client');
    const offer = {} as Offer;
    assert.equal(path(callOf(messages), offer, callerOf({}, 'beta=true&x=1')), '/messages?beta=true');
    assert.equal(path(callOf(messages), offer, callerOf({})), '/messages');
    assert.equal(path(callOf(chat), offer, callerOf({}, 'beta=true')), '/messages');
  });

  it('knows how each of its models thinks, and which can be sampled from', async () => {
    const vendor = (await partsOf(anthropic)).vendors![0]!;
    const facts = (model: string) => {
      const { reasoning, sampling, output, prefill, roles, limits } = quirksOf(vendor, model);
      const samples = sampling.allowed.includes('temperature');
      return [reasoning.input, samples, output.json_schema, prefill, roles.mid_system, limits.max_output];
    };
    assert.deepEqual(facts('claude-3-5-haiku-latest'), ['none', true, false, true, 'user_wrap', 8_192]);
    assert.deepEqual(facts('claude-3-7-sonnet-latest'), ['budget', true, false, true, 'user_wrap', 64_000]);
    assert.deepEqual(facts('claude-sonnet-4-20250514'), ['budget', true, false, true, 'user_wrap', 64_000]);
    assert.deepEqual(facts('claude-opus-4-1-20250805'), ['budget', true, true, true, 'user_wrap', 32_000]);
    assert.deepEqual(facts('claude-sonnet-4-5-20250929'), ['budget', true, true, true, 'user_wrap', 64_000]);
    assert.deepEqual(facts('claude-opus-4-6'), ['adaptive', true, true, false, 'user_wrap', 128_000]);
    assert.deepEqual(facts('claude-opus-4-8'), ['adaptive', false, true, false, 'native', 128_000]);
    assert.deepEqual(facts('claude-sonnet-5-5'), ['adaptive', false, true, false, 'native', 128_000]);
    assert.ok(!quirksOf(vendor, 'claude-opus-4-6').reasoning.levels.includes('xhigh'), 'it refuses that word');
    assert.ok(!quirksOf(vendor, 'claude-fable-5').reasoning.levels.includes('none'), 'it always thinks');
  });
});

function callOf(style: Style): Call {
  return { style: style.name } as Call;
}

interface Message {
  readonly content: string | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: string;
    readonly function: { readonly name: string; readonly arguments: string };
    readonly custom: { readonly name: string; readonly input: string };
  }[];
}
interface Completion {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly choices: readonly { readonly index: number; readonly message: Message; readonly finish_reason: string }[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number };
}

describe('the vendor demo', () => {
  let parts: Parts;
  let vendor: Vendor;
  before(async () => {
    parts = await partsOf(demo);
    vendor = parts.vendors![0]!;
    await parts.start?.();
  });
  after(() => parts.stop?.());

  const post = (body: Json, path = '/chat/completions'): Promise<Response> =>
    fetch(`${vendor.url?.()}${path}`, { method: 'POST', body: JSON.stringify(body) });
  const user = (content: Json): JsonObject => ({ role: 'user', content });
  const requestOf = (content: Json, more: JsonObject = {}): JsonObject => ({
    model: 'demo-1',
    messages: [user(content)],
    ...more,
  });

  /** The whole answer; the streamed one must say the same, and the style must read both. */
  async function ask(request: JsonObject): Promise<Completion> {
    const text = await (await post(request)).text();
    const whole = JSON.parse(text) as Completion;
    const stream = await (await post({ ...request, stream: true, stream_options: { include_usage: true } })).text();
    assert.deepEqual(withoutIds(folded(stream)), withoutIds({ choices: whole.choices, usage: whole.usage }));

    const facts = chat.relay.answer(scanAnswer(Buffer.from(text))!, ANY_CALL);
    const { relay, kinds } = relayed(chat, stream.match(/data: .*\n\n/g)!);
    assert.deepEqual(relay.usage(), facts?.usage);
    assert.equal(relay.textLength(), facts?.textLength());
    assert.equal(kinds.at(-1), 'last');

    const { bounds } = chat.ingress!.read(scanJson(Buffer.from(JSON.stringify(request))), arriving());
    assert.ok(whole.usage.prompt_tokens <= bounds.inputBytes + bounds.media * 85);
    assert.ok(whole.usage.completion_tokens <= (bounds.outputTokens ?? Number.POSITIVE_INFINITY));
    assert.equal(whole.usage.total_tokens, whole.usage.prompt_tokens + whole.usage.completion_tokens);
    return whole;
  }
  const textOf = async (request: JsonObject): Promise<string> => (await ask(request)).choices[0]!.message.content!;

  it('answers with the facts of the request, the same each time', async () => {
    const first = await ask(requestOf('What is a turnpike?'));
    const again = await ask(requestOf('What is a turnpike?'));
    assert.match(first.choices[0]!.message.content!, /demo-1.*"What is a turnpike\?"/);
    assert.deepEqual(again.choices, first.choices);
    assert.deepEqual(again.usage, first.usage);
    assert.notEqual(again.id, first.id);
    assert.deepEqual([first.model, first.created], ['demo-1', Date.UTC(2026, 0, 1) / 1_000]);
    assert.equal(first.choices[0]!.finish_reason, 'stop');
  });

  it('streams word by word, and tells its usage only where asked', async () => {
    const stream = await (await post(requestOf('Hello', { stream: true }))).text();
    const chunks = eventsOf(stream) as readonly JsonObject[];
    assert.ok(chunks.length > 10);
    assert.ok(chunks.every((chunk) => !('usage' in chunk)));
    assert.ok(stream.endsWith('data: [DONE]\n\n'));
  });

  it('counts more for more', async () => {
    const short = await ask(requestOf('Hello'));
    const long = await ask(requestOf('Hello '.repeat(100)));
    assert.ok(long.usage.prompt_tokens > short.usage.prompt_tokens + 90);
    const many = await ask(requestOf('Hello', { n: 3 }));
    assert.equal(many.choices.length, 3);
    assert.equal(many.usage.completion_tokens, 3 * short.usage.completion_tokens);
  });

  it('obeys limits and stop sequences', async () => {
    const cut = await ask(requestOf('Hello', { max_tokens: 5 }));
    assert.deepEqual([cut.choices[0]!.finish_reason, cut.usage.completion_tokens], ['length', 5]);
    const newer = await ask(requestOf('Hello', { max_completion_tokens: 3, n: 2 }));
    assert.deepEqual([newer.choices[1]!.finish_reason, newer.usage.completion_tokens], ['length', 6]);
    const stopped = await ask(requestOf('Hello', { stop: ['gateway.yaml', 'model'] }));
    assert.equal(stopped.choices[0]!.finish_reason, 'stop');
    assert.equal(stopped.choices[0]!.message.content, 'This is the demo ');
  });

  const tool = (name: string, parameters: JsonObject): JsonObject => ({
    type: 'function',
    function: { name, parameters },
  });
  const tools = [
    tool('get_weather', {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 2 }, unit: { enum: ['C', 'F'] } },
      required: ['city', 'days'],
    }),
    tool('get_time', { type: 'object', properties: {} }),
    { type: 'custom', custom: { name: 'shell' } },
  ];
  const called = async (content: string, more: JsonObject = {}): Promise<readonly string[]> => {
    const { choices } = await ask(requestOf(content, { tools, ...more }));
    const [{ message, finish_reason }] = choices as [Completion['choices'][0]];
    const calls = message.tool_calls ?? [];
    assert.equal(finish_reason, calls.length > 0 ? 'tool_calls' : 'stop');
    assert.equal(message.content === null, calls.length > 0);
    assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length);
    return calls.map((call) =>
      call.type === 'custom'
        ? `${call.custom.name} ${call.custom.input}`
        : `${call.function.name} ${call.function.arguments}`,
    );
  };
  const weather = 'get_weather {"city":"city","days":2}';

  it('calls the tools that a message names', async () => {
    assert.deepEqual(await called('Please use get_weather.'), [weather]);
    assert.deepEqual(await called('First get weather, then get_time!'), [weather, 'get_time {}']);
    assert.deepEqual(await called('get_time and get_weather', { parallel_tool_calls: false }), [weather]);
    assert.deepEqual(await called('forget_weather'), []);
    assert.deepEqual(await called('Run a shell.'), ['shell "Run a shell."']);
  });

  it('obeys the tool choice', async () => {
    assert.deepEqual(await called('get_weather', { tool_choice: 'none' }), []);
    assert.deepEqual(await called('Hello', { tool_choice: 'auto' }), []);
    assert.deepEqual(await called('Hello', { tool_choice: 'required' }), [weather]);
    assert.deepEqual(await called('Hello', { tool_choice: { type: 'function', function: { name: 'get_time' } } }), [
      'get_time {}',
    ]);
    const allowed = (mode: string): JsonObject => ({
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode, tools: [{ type: 'function', function: { name: 'get_time' } }] },
      },
    });
    assert.deepEqual(await called('get_weather', allowed('auto')), []);
    assert.deepEqual(await called('get_weather', allowed('required')), ['get_time {}']);
  });

  it('makes something of what the tools answered', async () => {
    const messages = [
      user('get_weather'),
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '21 degrees' },
    ];
    assert.match(await textOf({ model: 'demo-1', messages, tools }), /"21 degrees"/);
  });

  it('answers in JSON where JSON is wanted', async () => {
    const object = JSON.parse(
      await textOf(requestOf('Hello', { response_format: { type: 'json_object' } })),
    ) as JsonObject;
    assert.equal(object.model, 'demo-1');
    const schema = {
      type: 'object',
      properties: { steps: { type: 'array', items: { $ref: '#/$defs/step' } }, final: { type: 'string' } },
      required: ['steps', 'final'],
      additionalProperties: false,
      $defs: { step: { type: 'object', properties: { why: { type: 'string' } }, required: ['why'] } },
    };
    const format = { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } };
    assert.deepEqual(JSON.parse(await textOf(requestOf('Hello', { response_format: format }))), {
      steps: [{ why: 'why' }],
      final: 'final',
    });
  });

  it('says that it received pictures, clips and files', async () => {
    const data = 'iVBORw0KGgoAAAAN'.repeat(20);
    const text = await textOf(
      requestOf([
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
        { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } },
        { type: 'input_audio', input_audio: { format: 'wav', data } },
      ]),
    );
    assert.match(text, /"Look".*2 images.*1 audio clip,/);
  });

  it('refuses what it does not understand', async () => {
    assert.equal((await post({}, '/nowhere')).status, 404);
    assert.equal((await post([])).status, 400);
    assert.equal((await fetch(`${vendor.url?.()}/chat/completions`, { method: 'POST', body: '{' })).status, 400);
  });

  it('is there only between start and stop, and can start again', async () => {
    const other = await partsOf(demo);
    const [{ url }] = other.vendors as [Vendor];
    assert.equal(url?.(), '');
    await other.start?.();
    const first = url?.() ?? '';
    assert.match(first, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    assert.notEqual(first, vendor.url?.());
    await other.stop?.();
    await assert.rejects(fetch(first));
    await other.stop?.();
    await other.start?.();
    assert.equal((await fetch(`${url?.()}/x`)).status, 404);
    await other.stop?.();
  });
});

describe('the vendor demo behind a gateway', () => {
  it('answers before and after a reload', async () => {
    const gateway = await startGateway();
    try {
      for (const reload of [false, true]) {
        if (reload) await gateway.gateway.reload();
        const whole = (await (await gateway.chat({ model: 'demo' })).json()) as Completion;
        assert.match(whole.choices[0]!.message.content!, /You said: "Hello"/);
        const stream = await (await gateway.chat({ model: 'demo', stream: true })).text();
        const { choices } = folded(stream) as unknown as Completion;
        assert.deepEqual(choices, whole.choices);
      }
    } finally {
      await gateway.stop();
    }
  });
});

describe('a vendor that judges some statuses itself', () => {
  const plugin = definePlugin({
    name: 'picky',
    api: 2,
    create: () => ({
      vendors: [
        {
          name: 'picky',
          speaks: { chat: { path: '/chat/completions', headers: ({ key }) => ({ authorization: `Bearer ${key}` }) } },
          judge: (status) => ({ 404: 'relay' as const, 409: 'next' as const, 420: 'busy' as const })[status],
        },
      ],
    }),
  });
  let clock: FakeClock;
  let vendors: readonly FakeVendor[];
  let gateway: TestGateway;
  beforeEach(async () => {
    clock = fakeClock();
    vendors = [await fakeVendor(), await fakeVendor()];
    const channels = vendors.map(({ url }, i) => ({
      name: `channel-${i}`,
      vendor: 'picky',
      url,
      key: VENDOR_KEY,
      priority: i,
    }));
    gateway = await startGateway({
      clock,
      plugins: [plugin],
      config: { channels, models: { 'test-model': { from: channels.map(({ name }) => name), free: true } } },
    });
  });
  afterEach(async () => {
    await gateway.stop();
    await Promise.all(vendors.map((vendor) => vendor.close()));
  });
  const asked = (): readonly number[] => vendors.map(({ requests }) => requests.length);

  it('has a busy channel left alone for a while, and another one asked', async () => {
    vendors[0]!.next(errorAnswer(420));
    for (const seen of [
      [1, 1],
      [1, 2],
    ]) {
      assert.equal((await gateway.chat({})).status, 200);
      assert.deepEqual(asked(), seen);
    }
    clock.advance(120_000);
    assert.equal((await gateway.chat({})).status, 200);
    assert.deepEqual(asked(), [2, 2]);
  });

  it('has a client told to come back where all are busy', async () => {
    for (const vendor of vendors) vendor.next(errorAnswer(420));
    const answer = await gateway.chat({});
    assert.equal(answer.status, 429);
    assert.equal(answer.headers.get('retry-after'), '1');
  });

  it('has another channel asked, or its own words relayed, as it says', async () => {
    vendors[0]!.next(errorAnswer(409));
    assert.equal((await gateway.chat({})).status, 200);
    assert.deepEqual(asked(), [1, 1]);
    vendors[0]!.next(errorAnswer(404, 'No such thing.'));
    const answer = await gateway.chat({});
    assert.equal(answer.status, 404);
    assert.match(await answer.text(), /No such thing/);
    assert.deepEqual(asked(), [2, 1]);
  });

  it('leaves the others to the usual rule', async () => {
    vendors[0]!.next(errorAnswer(500), errorAnswer(400));
    assert.equal((await gateway.chat({})).status, 200);
    assert.deepEqual(asked(), [1, 1]);
    assert.equal((await gateway.chat({})).status, 400);
    assert.deepEqual(asked(), [2, 1]);
  });
});

describe('a sample of a schema', () => {
  const schemas: readonly JsonObject[] = [
    {
      type: 'object',
      properties: { a: { type: 'number', minimum: 3 }, b: { type: ['null', 'boolean'] } },
      required: ['a', 'b'],
    },
    { type: 'array', items: { type: 'integer', exclusiveMinimum: 4, multipleOf: 5 }, minItems: 3 },
    { type: 'array', prefixItems: [{ type: 'string' }, { const: 7 }], items: false },
    { type: 'array', items: { type: 'string' }, maxItems: 0 },
    { anyOf: [{ type: 'string', minLength: 30 }, { type: 'null' }] },
    { type: 'string', maxLength: 2 },
    { type: 'number', maximum: -5 },
    { enum: ['x', 'y'] },
    {
      allOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }, { $ref: '#/$defs/b' }],
      $defs: { b: { properties: { b: { type: 'integer' } }, required: ['b'] } },
    },
    {
      $ref: '#/$defs/tree',
      $defs: {
        tree: {
          type: 'object',
          properties: { next: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/tree' }] } },
          required: ['next'],
        },
      },
    },
    { type: 'object', required: ['constructor', 'toString'] },
    {},
  ];

  it('fits the schema', () => {
    for (const schema of schemas) {
      const isValid = new Ajv2020({ strict: false }).compile(schema);
      const sample = sampleOf(schema);
      assert.ok(
        isValid(sample),
        `${JSON.stringify(schema)} → ${JSON.stringify(sample)}: ${JSON.stringify(isValid.errors)}`,
      );
    }
  });

  it('ends, whatever the schema demands', () => {
    const endless = {
      $ref: '#/$defs/a',
      $defs: { a: { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, required: ['a'] } },
    };
    const wide = {
      type: 'array',
      minItems: 1e9,
      items: { type: 'array', minItems: 1e9, items: { type: 'string', minLength: 1e9 } },
    };
    for (const schema of [endless, wide, { $ref: '#' }, { $ref: '#/nowhere' }, true, null]) {
      assert.ok(JSON.stringify(sampleOf(schema as Json)).length < 2_000_000);
    }
  });
});

/** The ids of tool calls are made anew for each answer. */
function withoutIds(answer: unknown): Json {
  return JSON.parse(JSON.stringify(answer).replace(/call_chatcmpl-demo-\d+/g, 'call')) as Json;
}

/** A stream put together again, as a client does it. */
function folded(stream: string): Json {
  const messages = new Map<number, Record<string, unknown>>();
  const finishes = new Map<number, Json>();
  let usage: Json = null;
  for (const chunk of eventsOf(stream) as readonly JsonObject[]) {
    if (chunk.usage !== null) usage = chunk.usage ?? null;
    for (const choice of chunk.choices as readonly {
      index: number;
      delta: Record<string, unknown>;
      finish_reason: Json;
    }[]) {
      const { tool_calls: pieces, ...delta } = choice.delta;
      const message = messages.get(choice.index) ?? {};
      messages.set(choice.index, message);
      merge(message, delta);
      for (const piece of (pieces ?? []) as readonly Record<string, unknown>[]) {
        const { index, ...rest } = piece;
        message.tool_calls ??= [];
        const calls = message.tool_calls as Record<string, unknown>[];
        calls[index as number] ??= {};
        merge(calls[index as number]!, rest);
      }
      if (choice.finish_reason !== null) finishes.set(choice.index, choice.finish_reason);
    }
  }
  const choices = [...messages].map(([index, message]) => ({
    index,
    message,
    logprobs: null,
    finish_reason: finishes.get(index)!,
  }));
  return { choices, usage } as unknown as Json;
}

/** Adds a delta: strings grow, objects merge, everything else is replaced. */
function merge(into: Record<string, unknown>, delta: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(delta)) {
    const had = into[name];
    if (typeof had === 'string' && typeof value === 'string') into[name] = had + value;
    else if (typeof had === 'object' && had !== null)
      merge(had as Record<string, unknown>, value as Record<string, unknown>);
    else into[name] = typeof value === 'object' && value !== null ? { ...value } : value;
  }
}
