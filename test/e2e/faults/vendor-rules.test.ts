/**
 * What a model or vendor refuses is known before it is sent: the form of the request that reaches the vendor, from clients of its own style and
 * of others. The vendor of these tests refuses what real ones do.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Json, JsonObject } from '../../../core/plugin.ts';
import { defaultConfig, startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { type Answer, type FakeVendor, fakeVendor, type VendorRequest } from '../../kit/vendors/fake-vendor.ts';
import { heard, SCENARIOS, says } from '../../kit/vendors/scenarios.ts';
import { errorAnswer, eventStream, jsonAnswer } from '../../kit/vendors/script.ts';

/** The model of each vendor, by the name that the gateway gives it. */
const MODELS: Readonly<Record<string, { readonly vendor: string; readonly model: string; readonly speaks?: string }>> =
  {
    gpt: { vendor: 'openai', model: 'gpt-5.5' },
    'gpt-older': { vendor: 'openai', model: 'gpt-5.4' },
    'gpt-first': { vendor: 'openai', model: 'gpt-5' },
    'gpt-plain': { vendor: 'openai', model: 'gpt-4.1' },
    'gpt-pro': { vendor: 'openai', model: 'gpt-5-pro' },
    'gpt-codex': { vendor: 'openai', model: 'gpt-5.3-codex' },
    claude: { vendor: 'anthropic', model: 'claude-sonnet-5-5' },
    'claude-older': { vendor: 'anthropic', model: 'claude-sonnet-4-5' },
    gemini: { vendor: 'gemini', model: 'gemini-3-pro-preview' },
    'gemini-preview': { vendor: 'gemini', model: 'gemini-3.1-pro-preview' },
    'gemini-older': { vendor: 'gemini', model: 'gemini-2.5-pro' },
    vectors: { vendor: 'gemini', model: 'gemini-embedding-001' },
    llama: { vendor: 'compatible', model: 'llama-3.3-70b-versatile' },
    qwen: { vendor: 'compatible', model: 'qwen3-coder' },
    oss: { vendor: 'compatible', model: 'gpt-oss-120b' },
    kimi: { vendor: 'compatible', model: 'kimi-k2-thinking' },
    mistral: { vendor: 'compatible', model: 'mistral-large-latest' },
    'own-responses': { vendor: 'compatible', model: 'some-model', speaks: 'responses' },
    'own-messages': { vendor: 'compatible', model: 'some-model', speaks: 'messages' },
  };

const PATHS = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  embeddings: '/v1/embeddings',
} as const;
type Client = keyof typeof PATHS;

/** The same question of every client. */
const QUESTION: Readonly<Record<Client, JsonObject>> = {
  chat: { messages: [{ role: 'user', content: 'Hi' }] },
  responses: { input: 'Hi' },
  messages: { max_tokens: 500, messages: [{ role: 'user', content: 'Hi' }] },
  embeddings: {},
};

/** An answer to requests with tools that the rules of the kit do not know. */
const tolerant: Answer = (request) => {
  const { speech, body, stream } = heard(request, VENDOR_KEY);
  return stream
    ? eventStream(speech.events(SCENARIOS.text, body))
    : jsonAnswer(200, speech.whole(SCENARIOS.text, body));
};

describe('what vendors refuse', () => {
  let gateway: TestGateway;
  let vendor: FakeVendor;
  before(async () => {
    vendor = await fakeVendor();
    const { pipeline, ...rest } = defaultConfig([]) as { readonly pipeline: readonly string[] };
    gateway = await startGateway({
      config: {
        ...rest,
        pipeline: [...pipeline, 'vendors/anthropic', 'vendors/gemini'],
        channels: Object.entries(MODELS).map(([name, { vendor: kind, speaks }]) => ({
          name,
          vendor: kind,
          url: vendor.url,
          key: VENDOR_KEY,
          ...(speaks !== undefined && { speaks: [speaks] }),
        })),
        models: Object.fromEntries(
          Object.entries(MODELS).map(([name, { model }]) => [name, { from: [{ [name]: model }], free: true }]),
        ),
      },
    });
  });
  after(async () => {
    await gateway?.stop();
    await vendor?.close();
  });
  beforeEach(() => {
    vendor.forget();
    vendor.always(says(SCENARIOS.text, { key: VENDOR_KEY }));
  });

  /** What a client got. */
  interface Answered {
    readonly status: number;
    readonly text: string;
    readonly body: Record<string, Json>;
    /** The warnings. */
    readonly told: string;
    /** What reached the vendor, in order. */
    readonly sent: readonly VendorRequest[];
    /** The body of the last of them. */
    readonly wire: Record<string, Json>;
  }

  async function ask(client: Client, model: string, more: JsonObject | string = {}): Promise<Answered> {
    const before = vendor.requests.length;
    const answer = await fetch(gateway.url + PATHS[client], {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
      },
      body: typeof more === 'string' ? more : JSON.stringify({ model, ...QUESTION[client], ...more }),
    });
    const text = await answer.text();
    const sent = vendor.requests.slice(before);
    return {
      status: answer.status,
      text,
      body: text.startsWith('{') ? (JSON.parse(text) as Record<string, Json>) : {},
      told: answer.headers.get('x-turnpike-translation') ?? '',
      sent,
      wire: (sent.at(-1)?.json ?? {}) as Record<string, Json>,
    };
  }
  const roles = (messages: Json | undefined): readonly Json[] =>
    (messages as readonly JsonObject[]).map(({ role }) => role!);
  const messageAt = (wire: Record<string, Json>, i: number): JsonObject => (wire.messages as readonly JsonObject[])[i]!;
  const read = { type: 'function', function: { name: 'read', parameters: { type: 'object', properties: {} } } };
  const call = (id: string): JsonObject => ({
    id,
    type: 'function',
    function: { name: 'read', arguments: '{}' },
  });
  /** A history with one call, in each style. */
  const history = (id: string, thoughts: JsonObject = {}): Readonly<Record<Client, JsonObject>> => ({
    chat: {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: null, ...thoughts, tool_calls: [call(id)] },
        { role: 'tool', tool_call_id: id, content: 'x' },
      ],
      tools: [read],
    },
    responses: {
      input: [
        { role: 'user', content: 'Hi' },
        { type: 'function_call', call_id: id, name: 'read', arguments: '{}' },
        { type: 'function_call_output', call_id: id, output: 'x' },
      ],
      tools: [{ type: 'function', name: 'read', parameters: { type: 'object', properties: {} } }],
    },
    messages: {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'x' }] },
      ],
      tools: [{ name: 'read', input_schema: { type: 'object', properties: {} } }],
    },
    embeddings: {},
  });

  describe('endpoints', () => {
    const rows: readonly (readonly [string, string, JsonObject, 'chat' | 'responses'])[] = [
      ['tools at a model that reasons unasked', 'gpt', { tools: [read] }, 'responses'],
      ['tools and an effort', 'gpt', { tools: [read], reasoning_effort: 'low' }, 'responses'],
      [
        'tools and an effort at a model that reasons if asked',
        'gpt-older',
        { tools: [read], reasoning_effort: 'low' },
        'responses',
      ],
      ['tools without reasoning', 'gpt', { tools: [read], reasoning_effort: 'none' }, 'chat'],
      ['tools at a model that does not reason unasked', 'gpt-older', { tools: [read] }, 'chat'],
      ['no tools', 'gpt', {}, 'chat'],
      ['a model that is served in responses only', 'gpt-pro', {}, 'responses'],
      ['another one', 'gpt-codex', {}, 'responses'],
    ];
    for (const [what, model, more, style] of rows) {
      it(`${what}: chat clients are answered by the style ${style}`, async () => {
        for (const stream of [false, true]) {
          const { status, text, sent } = await ask('chat', model, { ...more, stream });
          assert.equal(status, 200, text);
          assert.equal(sent.at(-1)?.path, style === 'chat' ? '/v1/chat/completions' : '/v1/responses');
        }
      });
    }
  });

  describe('requests that mix the forms of two styles', () => {
    const flat: readonly Json[] = [
      {
        type: 'function',
        name: 'read',
        description: 'd',
        parameters: { type: 'object', properties: {} },
        strict: false,
      },
      { type: 'function', function: { name: 'list', parameters: { type: 'object', properties: {} } } },
      { type: 'custom', name: 'ApplyPatch', format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/s' } },
    ];
    const toolNames = ({ tools }: Record<string, Json>): readonly (Json | undefined)[] => {
      const [first] = tools as readonly JsonObject[];
      const list = Array.isArray(first?.functionDeclarations) ? first.functionDeclarations : (tools as readonly Json[]);
      return (list as readonly Record<string, JsonObject>[]).map(
        ({ name, function: inner, custom }) => name ?? inner?.name ?? custom?.name,
      );
    };
    for (const model of ['gpt-first', 'gpt-plain', 'claude', 'gemini', 'llama', 'own-responses']) {
      it(`are read by ${model}: flat tools, empty lists as content, and input in place of messages`, async () => {
        vendor.always(tolerant);
        const tools = await ask('chat', model, { tools: flat });
        assert.equal(tools.status, 200, tools.text);
        assert.deepEqual(toolNames(tools.wire), ['read', 'list', 'ApplyPatch']);
        if (tools.sent[0]?.path.endsWith('/chat/completions')) {
          for (const tool of tools.wire.tools as readonly JsonObject[])
            assert.ok(tool[String(tool.type)] !== undefined);
        }
        const messages = [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: [], tool_calls: [call('call_1')] },
          { role: 'tool', tool_call_id: 'call_1', content: 'x' },
        ];
        const hollow = await ask('chat', model, { messages, tools: [read] });
        assert.equal(hollow.status, 200, hollow.text);
        assert.ok(!JSON.stringify(hollow.wire).includes('"content":[]'));
        const items = await ask('chat', model, {
          messages: null,
          input: [{ role: 'user', content: 'Hi' }],
          instructions: 'Be kind.',
        });
        assert.equal(items.status, 200, items.text);
        assert.equal(items.body.object, 'chat.completion');
        assert.ok(JSON.stringify(items.wire).includes('Be kind.'));
      });
    }
  });

  describe('roles at servers of an unknown model', () => {
    it('are one system message at the front, and a reminder in the middle, from clients of all styles', async () => {
      const late = [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: 'Later.' },
      ];
      const rows: readonly (readonly [Client, JsonObject])[] = [
        ['chat', { messages: [{ role: 'system', content: 'One.' }, { role: 'developer', content: 'Two.' }, ...late] }],
        ['responses', { instructions: 'One.', input: [{ role: 'developer', content: 'Two.' }, ...late] }],
        ['messages', { system: 'One.\n\nTwo.', messages: late }],
      ];
      for (const [client, body] of rows) {
        const { status, text, wire } = await ask(client, 'llama', body);
        assert.equal(status, 200, text);
        assert.deepEqual(roles(wire.messages), ['system', 'user'], client);
        assert.equal(messageAt(wire, 0).content, 'One.\n\nTwo.');
        const last = JSON.stringify(messageAt(wire, 1).content);
        assert.ok(last.includes('Hi') && last.includes('<system-reminder>\\nLater.'), last);
      }
    });

    it('stay as they are in the same style if they are in order', async () => {
      const messages = [{ role: 'system', content: 'One.' }, ...(QUESTION.chat.messages as readonly Json[])];
      const { wire, told } = await ask('chat', 'llama', { messages });
      assert.deepEqual([wire.messages, told], [messages, '']);
    });

    it('developer becomes system in the same style, and stays at OpenAI', async () => {
      const messages = [{ role: 'developer', content: 'One.' }, ...(QUESTION.chat.messages as readonly Json[])];
      for (const model of ['llama', 'kimi']) {
        const { wire, told } = await ask('chat', model, { messages });
        assert.deepEqual([roles(wire.messages), told], [['system', 'user'], 'messages.role:changed']);
      }
      const { wire } = await ask('chat', 'gpt', { messages });
      assert.deepEqual(wire.messages, messages);
    });

    it('a reminder between two texts of the user is one message with them, also if they are lists', async () => {
      const part = { type: 'text', text: 'Hi' };
      const messages = [
        { role: 'user', content: [part] },
        { role: 'system', content: 'Later.' },
        { role: 'user', content: 'And?' },
        { role: 'assistant', content: 'Yes.' },
        { role: 'user', content: 'Go on.' },
      ];
      const { wire } = await ask('chat', 'llama', { messages });
      assert.deepEqual(roles(wire.messages), ['user', 'assistant', 'user']);
      assert.deepEqual(messageAt(wire, 0).content, [
        part,
        { type: 'text', text: '<system-reminder>\nLater.\n</system-reminder>' },
        { type: 'text', text: 'And?' },
      ]);
    });
  });

  describe('reasoning of another model', () => {
    const thoughts: readonly JsonObject[] = [
      { reasoning_content: 'Hm.' },
      { reasoning: 'Hm.', reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', signature: 'abc' }] },
    ];
    it('does not reach models that refuse it in the same style', async () => {
      for (const model of ['gpt-plain', 'gpt-first', 'llama', 'mistral']) {
        for (const each of thoughts) {
          const { status, wire, told } = await ask('chat', model, history('abcdefgh1', each).chat);
          assert.equal(status, 200);
          assert.ok(!JSON.stringify(wire.messages).includes('reasoning'), model);
          assert.equal(told, 'messages.reasoning:dropped');
        }
      }
    });

    it('reaches those that reason themselves, and is what those get that require some', async () => {
      const { wire, told } = await ask('chat', 'oss', history('abcdefgh1', thoughts[0]).chat);
      assert.deepEqual([messageAt(wire, 1).reasoning_content, told], ['Hm.', '']);
      const filled = await ask('chat', 'kimi', history('abcdefgh1', { reasoning: 'Hm.' }).chat);
      assert.equal(messageAt(filled.wire, 1).reasoning_content, 'Hm.');
      assert.equal(messageAt(filled.wire, 1).reasoning, undefined);
    });

    it('is left out once a server has refused it, for every later request', async () => {
      const words = [
        errorAnswer(
          400,
          "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
        ),
        jsonAnswer(422, {
          detail: [
            {
              type: 'extra_forbidden',
              loc: ['body', 'messages', 1, 'assistant', 'reasoning_content'],
              msg: 'Extra inputs are not permitted',
            },
          ],
        }),
      ];
      const models = ['qwen', 'oss'];
      for (const [i, refusal] of words.entries()) {
        vendor.next(refusal);
        const first = await ask('chat', models[i]!, history('abcdefgh1', thoughts[0]).chat);
        assert.deepEqual(
          [first.status, first.sent.length, first.told],
          [200, 2, 'messages.reasoning:dropped'],
          first.text,
        );
        assert.ok(!JSON.stringify(first.wire).includes('reasoning_content'));
        const second = await ask('chat', models[i]!, history('abcdefgh1', thoughts[0]).chat);
        assert.deepEqual([second.status, second.sent.length], [200, 1]);
        assert.ok(!JSON.stringify(second.wire).includes('reasoning_content'));
      }
    });
  });

  describe('an optional member that the vendor refuses by name', () => {
    it('is left out of a translated request, once and then always, and named', async () => {
      vendor.next(errorAnswer(400, "Unsupported parameter: 'parallel_tool_calls' is not supported with this model."));
      const ask1 = (): Promise<Answered> =>
        ask('responses', 'qwen', { ...history('call_1').responses, parallel_tool_calls: false });
      const first = await ask1();
      assert.deepEqual([first.status, first.sent.length], [200, 2], first.text);
      assert.equal(first.sent[0]?.json.parallel_tool_calls, false);
      assert.equal(first.wire.parallel_tool_calls, undefined);
      assert.match(first.told, /parallel_tool_calls:dropped/);
      const second = await ask1();
      assert.deepEqual([second.sent.length, second.wire.parallel_tool_calls], [1, undefined]);
    });

    it('may be a member of each tool', async () => {
      vendor.next(
        jsonAnswer(400, {
          detail: [{ loc: ['body', 'tools', 0, 'function', 'strict'], msg: 'Extra inputs are not permitted' }],
        }),
      );
      const tools = [{ type: 'function', name: 'read', strict: false, parameters: { type: 'object', properties: {} } }];
      for (const attempts of [2, 1]) {
        const { status, sent, wire, text } = await ask('responses', 'mistral', { tools });
        assert.deepEqual([status, sent.length], [200, attempts], text);
        assert.ok(!JSON.stringify(wire.tools).includes('strict'));
      }
    });

    it('may be a sampling option, also in the group where a vendor has them', async () => {
      vendor.next(errorAnswer(400, '`temperature` is deprecated for this model.'));
      const first = await ask('chat', 'own-messages', { temperature: 0.5 });
      assert.deepEqual([first.status, first.sent.length, first.told], [200, 2, 'temperature:dropped'], first.text);
      assert.equal((await ask('chat', 'own-messages', { temperature: 0.5 })).sent.length, 1);
      vendor.next(
        jsonAnswer(400, {
          error: { code: 400, message: 'Logprobs is not enabled for models/x', status: 'INVALID_ARGUMENT' },
        }),
      );
      const second = await ask('chat', 'gemini', { logprobs: true, top_logprobs: 2 });
      assert.deepEqual([second.status, second.sent.length, second.told], [200, 2, 'logprobs:dropped'], second.text);
    });

    it('is the answer of a client of the same style, and of one whose request needs the member', async () => {
      const refusal = errorAnswer(400, "Unsupported parameter: 'seed' is not supported with this model.");
      vendor.next(refusal);
      const own = await ask('chat', 'llama', { seed: 7 });
      assert.deepEqual([own.status, own.sent.length], [400, 1]);
      vendor.next(errorAnswer(400, "Unsupported parameter: 'messages' is not supported with this model."));
      const needed = await ask('messages', 'llama');
      assert.deepEqual([needed.status, needed.sent.length], [400, 1]);
    });

    it('is refused a second time without a third attempt', async () => {
      const refusal = errorAnswer(400, "Unsupported parameter: 'top_k' is not supported with this model.");
      vendor.next(refusal, refusal);
      const { status, sent } = await ask('messages', 'own-responses', { top_k: 5, temperature: 0.5 });
      assert.equal(status, 400);
      assert.ok(sent.length <= 2);
    });
  });

  describe('defaults of one vendor', () => {
    it('are not sent to another: an effort, disabled reasoning, a service tier, the storage of answers', async () => {
      const rows: readonly (readonly [Client, JsonObject])[] = [
        ['messages', { thinking: { type: 'disabled' }, service_tier: 'auto' }],
        ['messages', { thinking: { type: 'enabled', budget_tokens: 1_024 }, max_tokens: 2_000 }],
        ['responses', { reasoning: { effort: 'high', summary: 'auto' }, service_tier: 'auto', store: false }],
      ];
      for (const [client, body] of rows) {
        const { status, wire, text } = await ask(client, 'llama', body);
        assert.equal(status, 200, text);
        for (const name of ['reasoning_effort', 'thinking', 'service_tier', 'store']) assert.ok(!(name in wire), name);
      }
      const { wire } = await ask('messages', 'gpt-first', { service_tier: 'auto' });
      assert.ok(!('service_tier' in wire));
      const { wire: effort } = await ask('responses', 'oss', { reasoning: { effort: 'high' } });
      assert.equal(effort.reasoning_effort, 'high', 'a model that is known to take one gets it');
    });

    it('the storage of answers is not asked of a strict server in the same style', async () => {
      const { wire, told } = await ask('chat', 'llama', { store: false });
      assert.deepEqual([wire.store, told], [undefined, 'store:dropped']);
      assert.equal((await ask('chat', 'gpt-plain', { store: false })).sent.at(-1)?.json.store, false);
    });
  });

  describe('ids of tool calls', () => {
    const KIMI = 'functions.read:0';
    const LONG = `call_${'x'.repeat(50)}`;
    const idsOf = (wire: Record<string, Json>): ReadonlySet<string> =>
      new Set(
        [...JSON.stringify(wire).matchAll(/"(?:tool_call_id|tool_use_id|call_id)":"([^"]+)"|"id":"([^"]+)"/g)].map(
          ([, result, made]) => (result ?? made)!,
        ),
      );
    const rows: readonly (readonly [string, Client, RegExp])[] = [
      ['mistral', 'chat', /^[a-zA-Z0-9]{9}$/],
      ['gpt-plain', 'chat', /^.{1,40}$/],
      ['claude', 'messages', /^[a-zA-Z0-9_-]+$/],
      ['own-responses', 'responses', /^[a-zA-Z0-9_-]{1,64}$/],
    ];
    for (const [model, style, form] of rows) {
      it(`have a form that ${model} accepts, in calls and results alike, from clients of all styles`, async () => {
        for (const client of ['chat', 'responses', 'messages'] as const) {
          for (const id of [KIMI, LONG, `${LONG}${LONG}`]) {
            const { status, text, wire, sent } = await ask(client, model, history(id)[client]);
            assert.equal(status, 200, text);
            const ids = [...idsOf(wire)];
            assert.equal(ids.length, 1, `${client}: ${JSON.stringify(wire)}`);
            if (sent[0]?.path.includes(style === 'chat' ? '/chat' : style)) assert.match(ids[0]!, form);
          }
        }
      });
    }

    it('stay what they are if the vendor accepts them', async () => {
      const { wire, told } = await ask('messages', 'claude', history('toolu_01AbC-9').messages);
      assert.deepEqual([[...idsOf(wire)], told], [['toolu_01AbC-9'], '']);
    });

    it('of calls that the vendor keeps stay what they are', async () => {
      const input = [{ type: 'function_call_output', call_id: KIMI, output: 'x' }];
      const { wire } = await ask('responses', 'own-responses', { conversation: 'conv_1', input });
      assert.deepEqual(wire.input, input);
    });
  });

  describe('tools', () => {
    it('with free text are functions at servers that have no others, in the same style too, and calls of them again free text', async () => {
      const tools = [{ type: 'custom', custom: { name: 'patch', description: 'd' } }];
      const called = {
        ...SCENARIOS.calls,
        reasoning: [],
        calls: [{ id: 'p1', name: 'patch', pieces: ['{"input":"*** Be', 'gin"}'] }],
      };
      for (const stream of [false, true]) {
        vendor.next(says(called, { key: VENDOR_KEY }));
        const { status, text, wire } = await ask('chat', 'llama', { tools, stream });
        assert.equal(status, 200, text);
        assert.equal((wire.tools as readonly JsonObject[])[0]?.type, 'function');
        assert.ok(text.includes('"custom"') && !text.includes('"function"'), text);
      }
      const kept = await ask('chat', 'gpt-first', { tools });
      assert.deepEqual(kept.wire.tools, tools);
    });

    it('that a conversation adds are tools of the request, and an instruction until the next message of the user ends there', async () => {
      const add = { name: 'late', input_schema: { type: 'object', properties: {} } };
      const note = { role: 'system', clear_at: 'next_user_message', content: 'Be brief.' };
      const messages = [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: [{ type: 'tool_addition', tool: add }] },
        note,
        { role: 'assistant', content: 'Yes?' },
        { role: 'user', content: 'Go on.' },
      ];
      const { wire, told } = await ask('messages', 'gpt-first', { messages });
      assert.deepEqual(
        (wire.tools as readonly JsonObject[]).map(({ name }) => name),
        ['late'],
      );
      assert.ok(!JSON.stringify(wire).includes('Be brief.'));
      assert.match(told, /messages.tool_addition:dropped/);
      const during = await ask('messages', 'gpt-first', { messages: [...messages, note] });
      assert.equal(JSON.stringify(during.wire).split('Be brief.').length, 2);
    });

    it('`VALIDATED` is a mode of Gemini, and auto elsewhere', async () => {
      for (const choice of ['validated', 'VALIDATED']) {
        const own = await ask('chat', 'gemini', { tools: [read], tool_choice: choice });
        assert.equal(own.status, 200, own.text);
        const { functionCallingConfig: config } = own.wire.toolConfig as Record<string, JsonObject>;
        assert.equal(config?.mode, 'VALIDATED');
        const other = await ask('chat', 'claude', { tools: [read], tool_choice: choice });
        assert.deepEqual([other.status, other.told], [200, 'tool_choice:changed']);
      }
    });

    it('results reach Gemini in the order of their calls', async () => {
      const ids = ['call_a', 'call_b', 'call_c'];
      const uses = ids.map((id) => ({ type: 'tool_use', id, name: 'read', input: {} }));
      const results = ids.toReversed().map((id) => ({ type: 'tool_result', tool_use_id: id, content: id }));
      const { wire, text } = await ask('messages', 'gemini', {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: uses },
          { role: 'user', content: results },
        ],
        tools: [{ name: 'read', input_schema: { type: 'object' } }],
      });
      const contents = wire.contents as readonly { readonly parts: readonly Record<string, JsonObject>[] }[];
      assert.deepEqual(
        contents.at(-1)?.parts.map(({ functionResponse }) => functionResponse?.id),
        ids,
        text,
      );
    });
  });

  describe('schemas', () => {
    const optional = {
      type: 'object',
      properties: { x: { type: 'integer' }, y: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      required: ['x'],
      additionalProperties: false,
    };
    const formatOf = ({ text, response_format: format }: Record<string, Json>): JsonObject =>
      ((text as JsonObject | undefined)?.format ?? (format as JsonObject | undefined)?.json_schema) as JsonObject;

    it('with optional properties are not strict at vendors that want all of them required', async () => {
      const own = await ask('messages', 'gpt', {
        output_config: { format: { type: 'json_schema', schema: optional } },
        tools: [{ name: 'g', strict: true, input_schema: optional }],
      });
      assert.equal(own.status, 200, own.text);
      assert.equal(formatOf(own.wire).strict, false);
      assert.equal((own.wire.tools as readonly JsonObject[])[0]?.strict, false);
      assert.match(own.told, /output_config.format:changed/);
      const closed = { ...optional, required: ['x', 'y'] };
      const strict = await ask('messages', 'gpt', {
        output_config: { format: { type: 'json_schema', schema: closed } },
      });
      assert.deepEqual([formatOf(strict.wire).strict, strict.told], [true, '']);
    });

    it('that are a reference, of a reference too, are what they refer to', async () => {
      const $defs = { Rec: { ...optional, required: ['x', 'y'] }, Alias: { $ref: '#/$defs/Rec' } };
      for (const $ref of ['#/$defs/Rec', '#/$defs/Alias']) {
        for (const model of ['gpt', 'claude', 'gemini', 'llama']) {
          const schema = { $ref, $defs };
          const { status, wire, text } = await ask('chat', model, {
            response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
            tools: [{ type: 'function', function: { name: 'read', parameters: schema } }],
          });
          assert.equal(status, 200, text);
          // In the same style, the client's schema stays: it chose it for this vendor.
          if (model !== 'llama')
            assert.ok(!JSON.stringify(wire).includes(`{"$ref":"${$ref}","$defs"`), JSON.stringify(wire));
        }
      }
    });

    it('with free objects or cycles are an instruction for Claude, never an object that must be empty', async () => {
      const free = { type: 'object', properties: { args: { type: 'object' } }, required: ['args'] };
      const rows: readonly JsonObject[] = [
        free,
        { ...free, properties: { args: { type: 'object', additionalProperties: { type: 'integer' } } } },
        { ...free, properties: { args: { type: ['object', 'null'] } } },
        { ...free, properties: { args: { $ref: '#/$defs/Map' } }, $defs: { Map: { type: 'object' } } },
        {
          ...free,
          properties: { args: { type: 'array', items: { $ref: '#/$defs/Rec' } } },
          $defs: { Rec: { type: 'object', properties: { of: { $ref: '#/$defs/Rec' } } } },
        },
      ];
      for (const schema of rows) {
        const body = { response_format: { type: 'json_schema', json_schema: { name: 'n', schema } } };
        const { status, wire, told, text } = await ask('chat', 'claude', body);
        assert.equal(status, 200, text);
        assert.equal(wire.output_config, undefined, JSON.stringify(wire));
        assert.ok(JSON.stringify(wire.system).includes('JSON Schema'), 'the schema is in the instructions');
        assert.match(told, /response_format:changed/);
        const strict = { type: 'function', function: { name: 'read', strict: true, parameters: schema } };
        const tool = await ask('chat', 'claude', { tools: [strict] });
        assert.equal((tool.wire.tools as readonly JsonObject[])[0]?.strict, undefined);
        assert.match(tool.told, /tools.strict:dropped/);
      }
    });

    it('with alternatives at the top are one object at vendors that refuse them, for tools and answers', async () => {
      const schema = {
        anyOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] },
        ],
      };
      const { status, wire, told, text } = await ask('messages', 'gpt', {
        output_config: { format: { type: 'json_schema', schema } },
        tools: [{ name: 'g', input_schema: schema }],
      });
      assert.equal(status, 200, text);
      const format = formatOf(wire);
      assert.deepEqual([(format.schema as JsonObject).type, format.strict], ['object', false]);
      assert.match(told, /output_config.format:changed/);
    });
  });

  describe('options', () => {
    it('log probabilities are asked of Gemini models that return them', async () => {
      const rows = [
        ['gemini-preview', { responseLogprobs: true, logprobs: 3 }, ''],
        ['gemini-older', undefined, 'logprobs:dropped'],
      ] as const;
      for (const [model, expected, warning] of rows) {
        vendor.always(tolerant);
        const { status, told, wire, text } = await ask('chat', model, { logprobs: true, top_logprobs: 3 });
        assert.deepEqual([status, told], [200, warning], text);
        assert.deepEqual(wire.generationConfig, expected);
      }
    });

    it('several answers are asked of Gemini, and are choices; in a stream and elsewhere they are refused', async () => {
      const candidate = (text: string, index: number): JsonObject => ({
        content: { role: 'model', parts: [{ text }] },
        finishReason: 'STOP',
        index,
      });
      vendor.next(
        jsonAnswer(200, {
          candidates: [candidate('One', 0), candidate('Two', 1)],
          usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 },
          modelVersion: 'gemini-3',
          responseId: 'r1',
        }),
      );
      const { status, body, wire, text } = await ask('chat', 'gemini', { n: 2 });
      assert.equal(status, 200, text);
      assert.deepEqual(wire.generationConfig, { candidateCount: 2 });
      const choices = body.choices as readonly { readonly index: number; readonly message: JsonObject }[];
      assert.deepEqual(
        choices.map(({ index, message }) => [index, message.content]),
        [
          [0, 'One'],
          [1, 'Two'],
        ],
      );
      assert.equal((body.usage as JsonObject).completion_tokens, 4);
      vendor.always(tolerant);
      const fewer = await ask('chat', 'gemini', { n: 2 });
      assert.deepEqual([fewer.status, fewer.sent.length], [400, 1]);
      assert.match(fewer.text, /returned 1 of 2 answers/);
      for (const [model, more] of [
        ['gemini', { stream: true }],
        ['claude', {}],
        ['own-responses', {}],
      ] as const) {
        const refused = await ask('chat', model, { n: 2, ...more });
        assert.deepEqual([refused.status, refused.sent.length], [400, 0], refused.text);
        assert.match(refused.text, /`n` must be 1 for this model/);
      }
    });

    it('a beginning of the answer that is not continued is named', async () => {
      const messages = [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: '{' },
      ];
      const { status, told, wire } = await ask('messages', 'gpt-first', { messages });
      assert.deepEqual([status, told], [200, 'messages:changed']);
      assert.equal((wire.input as readonly Json[]).length, 2);
    });

    it('token ids for a model without them are refused with the way out', async () => {
      const { status, text } = await ask('embeddings', 'vectors', { input: [1, 2, 3] });
      assert.equal(status, 400);
      assert.match(text, /check_embedding_ctx_length/);
    });
  });
});
