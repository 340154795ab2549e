import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Catalog } from '../../../core/contracts/catalog.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import type {
  Answer,
  ApiRequest,
  Channel,
  Dialect,
  Headers,
  Host,
  Json,
  JsonObject,
  Question,
  Vendor,
  VendorReply,
} from '../../../core/plugin.ts';
import { definePlugin, type Route, refuse } from '../../../core/plugin.ts';
import { packOpaque } from '../../../core/translation/index.ts';
import { chat } from '../../../plugins/styles/chat/index.ts';
import { countTokensRoutes } from '../../../plugins/styles/messages/count-tokens.ts';
import { messages } from '../../../plugins/styles/messages/index.ts';
import { estimateTokens } from '../../../plugins/styles/messages/token-estimate.ts';
import { responses } from '../../../plugins/styles/responses/index.ts';
import { caller, type Driven, drive, verdict } from '../../kit/gateway/drive.ts';
import { defaultConfig, startGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { jsonAnswer } from '../../kit/vendors/script.ts';

const hello: JsonObject = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };

interface Stage {
  readonly host: Driven;
  readonly route: Route;
  readonly asked: (Question & { readonly channel: string })[];
  vendor: (question: Question) => Promise<VendorReply>;
}

const VERSION = { 'anthropic-version': '2023-06-01' };

const plain: Dialect = { path: '/', headers: () => ({}) };
/** Can be asked for tokens in this style. */
const counting = (style: string): Dialect => ({
  path: '/',
  headers: (channel, call, caller) => ({
    'x-key': channel.key,
    'x-call': String(call),
    'x-version': caller?.headers['anthropic-version'] ?? 'none',
  }),
  count: {
    path: (model) => `/${style}/${model}/count`,
    read: (answer) => (answer as { readonly input_tokens?: number }).input_tokens,
  },
});
const VENDORS: readonly Vendor[] = [
  { name: 'counts', speaks: { chat: plain, messages: counting('messages') } },
  { name: 'silent', speaks: { messages: plain } },
  // It can, but not for this model.
  { name: 'picky', speaks: { messages: { ...counting('messages'), models: ['other-*'] } } },
  {
    name: 'foreign',
    speaks: { chat: counting('chat'), responses: counting('responses') },
    defaultStyles: ['responses', 'chat'],
    quirks: [{ models: ['foreign-*'], quirks: { reasoning: { input: 'none' }, drop_fields: ['store'] } }],
  },
];

const from = (name: string, vendor: string, priority = 0, more: Partial<Channel> = {}) => ({
  channel: { name, vendor, priority, key: `key of ${name}`, quirks: {}, ...more },
  model: `${vendor}-m`,
});

/** The route, with a model that may be had from these channels and a key that may call all but `secret`. */
async function stage(...sources: readonly ReturnType<typeof from>[]): Promise<Stage> {
  const asked: Stage['asked'] = [];
  let route: Route | undefined;
  const plugin = definePlugin({
    name: 'styles',
    api: 2,
    create(host) {
      const around: Host = {
        ...host,
        vendors: () => new Map(VENDORS.map((vendor) => [vendor.name, vendor])),
        styles: () => new Map([chat, responses, messages].map((style) => [style.name, style])),
        ask(channel, question) {
          asked.push({ ...question, channel: channel.name });
          return it.vendor(question);
        },
      };
      route = countTokensRoutes(around)[0]!;
      return { routes: [route] };
    },
  });
  const require = (name: string) => {
    if (name !== 'm' && name !== 'secret') refuse(404, 'model_not_found', `There is no model '${name}'.`);
    return { from: sources };
  };
  const host = await drive([plugin], {
    services: () => [
      [Catalog, { require }],
      [Keys, { allows: (_key: unknown, name: string) => name !== 'secret' }],
    ],
  });
  const it: Stage = {
    host,
    route: route!,
    asked,
    vendor: async () => ({ status: 200, body: { input_tokens: 12 } }),
  };
  return it;
}

async function count(at: Stage, body: Json, headers: Headers = VERSION): Promise<unknown> {
  const request = { ...caller({ headers }), params: {}, body, holder: { key: {} } } as unknown as ApiRequest;
  return at.route.handle(request);
}

/** The number, and whether it is an estimate. */
async function counted(at: Stage, body: Json = hello): Promise<readonly [tokens: number, estimated: boolean]> {
  const result = await count(at, body);
  const { headers, body: text } = result as Answer;
  if (headers === undefined) return [(result as { input_tokens: number }).input_tokens, false];
  assert.equal(headers['x-turnpike-translation'], 'input_tokens:estimated');
  return [(JSON.parse(text as string) as { input_tokens: number }).input_tokens, true];
}

describe('POST /v1/messages/count_tokens', () => {
  it('requires a key', async () => {
    const { route } = await stage();
    assert.deepEqual([route.method, route.path, route.access], ['POST', '/v1/messages/count_tokens', ['key']]);
  });

  it("returns the vendor's count of the unchanged body if the vendor uses this style", async () => {
    const at = await stage(from('main', 'counts'));
    const body = { ...hello, system: 'Be brief.', tools: [{ name: 'f', input_schema: {} }], some_beta: { a: 1 } };
    assert.deepEqual(await count(at, body, { 'anthropic-version': '2026-10-21' }), { input_tokens: 12 });
    assert.deepEqual(at.asked, [
      {
        channel: 'main',
        method: 'POST',
        model: 'counts-m',
        path: '/messages/counts-m/count',
        headers: { 'x-key': 'key of main', 'x-call': 'undefined', 'x-version': '2026-10-21' },
        body: { ...body, model: 'counts-m' },
      },
    ]);
  });

  it('returns reasoning to the vendor that sealed it, and to no other', async () => {
    const at = await stage(from('main', 'counts'));
    const thought = (channel: string): JsonObject => ({
      type: 'thinking',
      thinking: 'Hm.',
      signature: packOpaque({ style: 'messages', channel, kind: 'signature', value: 'SIG' }),
    });
    const said: JsonObject = { role: 'assistant', content: [thought('main'), thought('else')] };
    await count(at, { ...hello, messages: [{ role: 'user', content: 'Hello' }, said] });
    const [, sent] = (at.asked[0]!.body as { readonly messages: readonly JsonObject[] }).messages;
    assert.deepEqual(sent?.content, [{ type: 'thinking', thinking: 'Hm.', signature: 'SIG' }]);
  });

  it('translates to the first style of the channel in which the vendor can count', async () => {
    const body = {
      ...hello,
      system: 'Be brief.',
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
    };
    const at = await stage(from('main', 'foreign'));
    assert.deepEqual(await count(at, body), { input_tokens: 12 });
    const [{ path, headers, body: sent } = {} as never] = at.asked;
    assert.equal(path, '/responses/foreign-m/count');
    // The headers of its client mean nothing there.
    assert.deepEqual(headers, { 'x-key': 'key of main', 'x-call': 'undefined', 'x-version': 'none' });
    const { model, instructions, input, tools, ...rest } = sent as JsonObject;
    assert.deepEqual([model, instructions], ['foreign-m', 'Be brief.']);
    assert.match(JSON.stringify(input), /"Hello"/);
    assert.equal((tools as readonly JsonObject[])[0]?.name, 'f');
    assert.deepEqual([rest.store, rest.reasoning], [undefined, undefined], 'as the quirks of the model say');

    const other = await stage(
      from('main', 'foreign', 0, { speaks: ['chat'], quirks: { rename_fields: { messages: 'turns' } } }),
    );
    assert.deepEqual(await count(other, body), { input_tokens: 12 });
    assert.equal(other.asked[0]?.path, '/chat/foreign-m/count');
    assert.deepEqual((other.asked[0]!.body as JsonObject).turns, [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
    ]);
  });

  it('estimates if the request cannot be translated', async () => {
    const at = await stage(from('main', 'foreign', 0, { quirks: { image: { types: [] } } }));
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
    const body = { ...hello, messages: [{ role: 'user', content: [image] }] };
    assert.deepEqual(await counted(at, body), [estimateTokens(body), true]);
    assert.deepEqual(at.asked, []);
  });

  it('requires the API version, like a call', async () => {
    const at = await stage(from('main', 'counts'));
    for (const headers of [{}, { 'anthropic-version': 'latest' }]) {
      await assert.rejects(() => count(at, hello, headers), {
        status: 400,
        code: 'invalid_request_error',
        param: 'anthropic-version',
        message: '`anthropic-version` must be sent as a header, a date such as 2023-06-01.',
      });
    }
    assert.deepEqual(at.asked, []);
  });

  it('asks the first channel whose vendor can count', async () => {
    const at = await stage(
      from('late', 'counts', 2),
      from('a', 'silent'),
      from('b', 'picky'),
      from('early', 'counts', 1),
    );
    assert.deepEqual(await counted(at), [12, false]);
    assert.deepEqual(
      at.asked.map(({ channel }) => channel),
      ['early'],
    );
  });

  it('estimates if no vendor can count', async () => {
    const at = await stage(from('a', 'silent'), from('b', 'picky'));
    assert.deepEqual(await counted(at), [estimateTokens(hello), true]);
    assert.deepEqual(at.asked, []);
  });

  it('estimates if the vendor fails, or returns anything but a number', async () => {
    const at = await stage(from('main', 'counts'));
    const replies: (() => Promise<VendorReply>)[] = [
      () => Promise.reject(new Error('the connection was refused')),
      async () => ({ status: 500, body: { input_tokens: 12 } }),
      async () => ({ status: 200, body: undefined }),
      async () => ({ status: 200, body: {} }),
      async () => ({ status: 200, body: { input_tokens: 1.5 } }),
      async () => ({ status: 200, body: { input_tokens: '12' } }),
      async () => ({ status: 200, body: { input_tokens: -1 } }),
      async () => ({ status: 200, body: { input_tokens: 0 } }),
    ];
    for (const reply of replies) {
      at.vendor = reply;
      assert.deepEqual(await counted(at), [estimateTokens(hello), true]);
    }
  });

  it('estimates if the vendor is too slow', async () => {
    const at = await stage(from('main', 'counts'));
    at.vendor = () => new Promise(() => {});
    const waiting = counted(at);
    at.host.clock.advance(5_000);
    assert.deepEqual(await waiting, [estimateTokens(hello), true]);
  });

  it('answers 404 for an unknown model, and for one that the key may not call', async () => {
    const at = await stage(from('main', 'counts'));
    assert.equal(await verdict(() => count(at, { ...hello, model: 'none' })), '404 model_not_found');
    assert.equal(await verdict(() => count(at, { ...hello, model: 'secret' })), '404 model_not_found');
    assert.deepEqual(at.asked, []);
  });

  const mistakes: readonly (readonly [param: string, body: Json | undefined])[] = [
    ['', undefined],
    ['model', { messages: hello.messages! }],
    ['model', { ...hello, model: '' }],
    ['model', { ...hello, model: 'm'.repeat(257) }],
    ['model', { ...hello, model: 7 }],
    ['messages', { model: 'm' }],
    ['messages', { model: 'm', messages: [] }],
    ['messages', { model: 'm', messages: 'Hello' }],
    ['messages[0]', { model: 'm', messages: ['Hello'] }],
    ['messages[0].role', { model: 'm', messages: [{ content: 'Hello' }] }],
    ['messages[0].content', { model: 'm', messages: [{ role: 'user' }] }],
    ['messages[0].content', { model: 'm', messages: [{ role: 'user', content: 7 }] }],
    ['messages[0].content', { model: 'm', messages: [{ role: 'user', content: ['Hello'] }] }],
    ['system', { ...hello, system: {} }],
    ['tools', { ...hello, tools: {} }],
    ['tools[0]', { ...hello, tools: ['f'] }],
    ['tool_choice', { ...hello, tool_choice: 'auto' }],
    ['thinking', { ...hello, thinking: true }],
  ];
  for (const [param, body] of mistakes) {
    it(`refuses ${JSON.stringify(body)?.slice(0, 80) ?? 'no body'}, and names the field`, async () => {
      const at = await stage(from('main', 'counts'));
      await assert.rejects(
        async () => count(at, body as Json),
        (error: Error) => 'status' in error && error.status === 400 && 'param' in error && error.param === param,
      );
    });
  }
});

describe('counting tokens through the whole gateway', () => {
  it('is free, says that it estimates, and refuses in its own style', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.stop());
    const send = (body: JsonObject, key: string) =>
      fetch(`${gateway.url}/v1/messages/count_tokens?beta=true`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const penniless = await gateway.customer(0);
    const counted = await send({ ...hello, model: 'demo' }, penniless);
    assert.equal(counted.status, 200);
    assert.equal(counted.headers.get('x-turnpike-translation'), 'input_tokens:estimated');
    assert.deepEqual(await counted.json(), { input_tokens: estimateTokens(hello) });
    for (const [body, key, status] of [
      [hello, gateway.key, 404],
      [{ model: 'demo' }, gateway.key, 400],
      [hello, 'sk-unknown', 401],
    ] as const) {
      const refused = await send(body, key);
      assert.equal(refused.status, status);
      assert.equal(((await refused.json()) as JsonObject).type, 'error');
    }
  });
});

describe('counting tokens with a vendor that can count', () => {
  const body: JsonObject = {
    model: 'counted',
    system: 'Be brief.',
    messages: [{ role: 'user', content: 'Hello' }],
    max_tokens: 100,
    temperature: 0.5,
    tools: [{ name: 'f', description: 'Does it.', input_schema: { type: 'object', properties: {} } }],
    tool_choice: { type: 'any' },
  };

  /** Counts through a whole gateway; what the vendor was sent, and what the client got. */
  async function through(vendor: string, model: string, answer: JsonObject) {
    const fake = await fakeVendor(() => jsonAnswer(200, answer));
    const { pipeline } = defaultConfig([]) as { readonly pipeline: readonly string[] };
    const gateway = await startGateway({
      config: {
        pipeline: [...new Set([...pipeline, `vendors/${vendor}`])],
        channels: [{ name: 'main', vendor, url: fake.url, key: VENDOR_KEY }],
        models: { counted: { from: [{ main: model }], price: { input: 1, output: 1 } } },
      },
    });
    try {
      const reply = await fetch(`${gateway.url}/v1/messages/count_tokens?beta=true`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${await gateway.customer(0)}`,
          'anthropic-version': '2023-06-01',
          'anthropic-beta': 'token-counting-2024-11-01',
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      });
      assert.equal(fake.requests.length, 1);
      const [{ method, path, headers, json } = {} as never] = fake.requests;
      return {
        sent: { method, path, headers, json },
        got: [await reply.json(), reply.headers.get('x-turnpike-translation')],
      };
    } finally {
      await gateway.stop();
      await fake.close();
    }
  }

  it('asks anthropic with the body and the betas of the client and of the model', async () => {
    const { sent, got } = await through('anthropic', 'claude-sonnet-5', { input_tokens: 31 });
    assert.deepEqual(got, [{ input_tokens: 31 }, null]);
    assert.deepEqual([sent.method, sent.path], ['POST', '/v1/messages/count_tokens']);
    assert.deepEqual(
      ['x-api-key', 'anthropic-version', 'anthropic-beta', 'authorization'].map((name) => sent.headers[name]),
      // The second one is of the model: what a call would send.
      [VENDOR_KEY, '2023-06-01', 'token-counting-2024-11-01,thinking-binding-controls-2026-08-01', undefined],
    );
    assert.deepEqual(sent.json, { ...body, model: 'claude-sonnet-5' });
  });

  it('asks openai with the counted fields only', async () => {
    const { sent, got } = await through('openai', 'gpt-5', { object: 'response.input_tokens', input_tokens: 32 });
    assert.deepEqual(got, [{ input_tokens: 32 }, null]);
    assert.deepEqual([sent.method, sent.path], ['POST', '/v1/responses/input_tokens']);
    assert.deepEqual([sent.headers.authorization, sent.headers['anthropic-beta']], [`Bearer ${VENDOR_KEY}`, undefined]);
    const { input, tools, ...rest } = sent.json;
    assert.deepEqual(rest, { model: 'gpt-5', instructions: 'Be brief.', tool_choice: 'required' });
    assert.deepEqual(input, [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }]);
    assert.deepEqual(
      (tools as readonly JsonObject[]).map(({ type, name }) => [type, name]),
      [['function', 'f']],
    );
  });

  it('asks gemini with the request inside the question', async () => {
    const { sent, got } = await through('gemini', 'gemini-3.5-flash', { totalTokens: 33, promptTokensDetails: [] });
    assert.deepEqual(got, [{ input_tokens: 33 }, null]);
    assert.deepEqual([sent.method, sent.path], ['POST', '/v1/models/gemini-3.5-flash:countTokens']);
    assert.equal(sent.headers['x-goog-api-key'], VENDOR_KEY);
    assert.deepEqual(Object.keys(sent.json), ['generateContentRequest']);
    const { model, contents, systemInstruction, generationConfig, ...tools } = sent.json
      .generateContentRequest as JsonObject;
    assert.equal(model, 'models/gemini-3.5-flash');
    assert.deepEqual(contents, [{ role: 'user', parts: [{ text: 'Hello' }] }]);
    assert.match(JSON.stringify(systemInstruction), /Be brief\./);
    assert.equal((generationConfig as JsonObject).maxOutputTokens, 100);
    assert.deepEqual(Object.keys(tools).sort(), ['toolConfig', 'tools']);
  });

  it('estimates if the vendor returns 0', async () => {
    for (const [vendor, model, answer] of [
      ['anthropic', 'claude-sonnet-5', { input_tokens: 0 }],
      ['openai', 'gpt-5', { input_tokens: 0 }],
      ['gemini', 'gemini-3.5-flash', {}],
    ] as const) {
      const { got } = await through(vendor, model, answer);
      assert.deepEqual(got, [{ input_tokens: estimateTokens(body) }, 'input_tokens:estimated'], vendor);
    }
  });
});

describe('an estimate of tokens', () => {
  const said = (content: Json, more: JsonObject = {}) =>
    estimateTokens({ model: 'm', messages: [{ role: 'user', content }], ...more });
  const base = said('');

  it('goes by characters: four ASCII letters per token, fewer of others', () => {
    assert.equal(said('a'.repeat(400)) - base, 100);
    assert.equal(said('я'.repeat(400)) - base, 160);
    assert.equal(said('語'.repeat(300)) - base, 200);
  });

  it('counts the system prompt and the tools', () => {
    const text = 'a'.repeat(400);
    assert.equal(said('', { system: text }) - base, 100);
    assert.equal(said('', { system: [{ type: 'text', text }] }) - base, 100);
    const tool = { name: 'f', description: text, input_schema: { type: 'object' } };
    assert.ok(said('', { tools: [tool] }) - base >= 100, 'the words of a tool count');
    assert.equal(said('', { tools: [] }), base);
  });

  it('counts nested blocks: texts, calls, results and their content', () => {
    const text = 'a'.repeat(400);
    for (const block of [
      { type: 'text', text },
      { type: 'thinking', thinking: text, signature: 'long and not read' },
      { type: 'tool_result', tool_use_id: 'long and not read', content: text },
      { type: 'tool_result', content: [{ type: 'text', text }] },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text } },
      { type: 'document', source: { type: 'content', content: [{ type: 'text', text }] } },
    ]) {
      assert.equal(said([block]) - base, 100, block.type);
    }
    assert.ok(said([{ type: 'tool_use', id: 'c', name: 'f', input: { a: text } }]) - base >= 100, 'arguments count');
    assert.ok(said([{ type: 'search_result', content: text }]) - base >= 100, 'what is unknown counts as its text');
  });

  it('counts images as images and documents by size, not the characters of their base64', () => {
    const data = 'A'.repeat(4_000_000);
    assert.equal(said([{ type: 'image', source: { type: 'base64', data } }]) - base, 1_600);
    assert.equal(said([{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }]) - base, 1_600);
    assert.equal(said([{ type: 'document', source: { type: 'base64', data } }]) - base, 120_000);
    assert.equal(said([{ type: 'document', source: { type: 'file', file_id: 'f' } }]) - base, 2_000);
  });

  it('is at least 1', () => {
    assert.equal(estimateTokens({}), 1);
  });
});
