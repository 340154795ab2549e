/** What a request lets the vendor choose, run and bill is priced, refused or removed, wherever it is said. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { scanJson, UNLIMITED } from '../../../core/bytes/json-body.ts';
import type { Json, JsonObject } from '../../../core/plugin.ts';
import { chat } from '../../../plugins/styles/chat/index.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

const PATHS = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  completions: '/v1/completions',
  embeddings: '/v1/embeddings',
} as const;
type Name = keyof typeof PATHS;

/** A short request of each style. */
const REQUESTS: Readonly<Record<Name, JsonObject>> = {
  chat: { messages: [{ role: 'user', content: 'Hello' }] },
  responses: { input: 'Hello' },
  messages: { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 10 },
  completions: { prompt: 'Hello' },
  embeddings: { input: 'Hello' },
};

const F = { name: 'f', parameters: { type: 'object' } };
const CHAT_FUNCTION = { type: 'function', function: F };
const namespace = (...tools: Json[]): JsonObject => ({ type: 'namespace', name: 'n', tools });

/** Members with which the vendor runs something. */
const RUN: readonly (readonly [Name, JsonObject])[] = [
  ['chat', { enable_search: true }],
  ['chat', { enable_search: 'true' }],
  ['chat', { enable_search: 1 }],
  ['chat', { plugins: [{ id: 'web' }] }],
  ['chat', { plugins: [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }] }],
  ['chat', { data_sources: [{ type: 'azure_search' }] }],
  ['chat', { tools: [{ google_search: {} }] }],
  ['chat', { tools: [{ type: 'function', function: F, googleSearch: {} }] }],
  ['chat', { tools: [CHAT_FUNCTION, {}] }],
  ['chat', { tools: [{ type: 'builtin_function', function: { name: '$web_search' } }] }],
  ['responses', { enable_search: 'true' }],
  ['responses', { plugins: [{ id: 'web' }] }],
  ['responses', { tools: [namespace({ type: 'web_search' })] }],
  ['responses', { tools: [namespace(namespace({ type: 'web_search' }))] }],
  ['responses', { tools: [{ google_search: {} }] }],
  ['responses', { tools: [{ type: 'shell', environment: [{ type: 'container_auto' }] }] }],
  ['responses', { tools: [{ type: 'shell', environment: { container_id: 'c' } }] }],
  ['responses', { input: [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'web_search' }] }] }],
  ['messages', { enable_search: true }],
  ['messages', { plugins: [{ id: 'web' }] }],
  ['messages', { tools: [{ google_search: {} }] }],
  [
    'messages',
    {
      messages: [
        { role: 'user', content: 'Hello' },
        {
          role: 'system',
          content: [{ type: 'tool_addition', tool: { type: 'web_search_20250305', name: 'web_search' } }],
        },
      ],
    },
  ],
  ['completions', { enable_search: 1 }],
  ['chat', { plugins: { id: 'web' } }],
  ['chat', { plugins: 'web' }],
  ['chat', { search_parameters: 'on' }],
  ['chat', { search_parameters: [{ mode: 'on' }] }],
  ['chat', { web_search_options: true }],
  ['chat', { web_search: { enable: true } }],
  ['chat', { enable_web_search: 'yes' }],
  ['chat', { dataSources: [{ type: 'azure_search' }] }],
  ['chat', { compound_custom: { tools: { enabled_tools: ['web_search'] } } }],
  ['chat', { tools: ['web_search'] }],
  ['responses', { tools: [['web_search']] }],
  ['messages', { tools: ['web_search'] }],
  ['completions', { plugins: 'web' }],
  ['completions', { service_tier: 'priority' }],
  ['embeddings', { service_tier: 'priority' }],
  ['chat', { service_tier: ['priority'] }],
  ['responses', { service_tier: { tier: 'priority' } }],
  ['messages', { service_tier: ' priority' }],
  ['chat', { speed: 'fast' }],
  ['responses', { inference_geo: 'us' }],
];

/** Members that some vendors read although they are spelt differently, or somewhere else. */
const MISPLACED: readonly JsonObject[] = [
  { MODELS: ['dear'] },
  { Plugins: [{ id: 'web' }] },
  { Service_Tier: 'priority' },
  { TOOLS: [{ type: 'web_search' }] },
  { Max_Tokens: 1_000_000 },
  { 'models[]': 'dear' },
  { extra_body: { model: 'dear' } },
  { extra_body: { enable_search: true } },
  { extra_body: { Tools: [{ type: 'web_search' }] } },
];

/** The client's own tools, and members that are off. */
const OWN: readonly (readonly [Name, JsonObject])[] = [
  ['chat', { tools: [CHAT_FUNCTION] }],
  ['chat', { tools: [{ function: F }] }],
  ['chat', { tools: [F] }],
  ['chat', { enable_search: false, plugins: [] }],
  ['responses', { tools: [namespace({ type: 'function', ...F })] }],
  ['responses', { tools: [{ type: 'shell', environment: { type: 'local' } }, { type: 'shell' }] }],
  ['messages', { tools: [{ name: 'f', input_schema: { type: 'object' } }], enable_search: null }],
  ['chat', { extra_body: { google: { thinking_config: {} } }, service_tier: null, web_search: { enable: false } }],
];

const CHOICES: JsonObject = {
  models: ['dear'],
  route: 'fallback',
  provider: { order: ['a'] },
  fallbacks: ['dear'],
  preset: 'p',
  providerOptions: { gateway: { models: ['dear'] } },
  model_list: ['dear'],
  user_config: { model_list: ['dear'] },
};

describe('what a request lets a vendor choose', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor();
    const priced = { from: ['main'], price: { input: 1, output: 2 } };
    gateway = await startGateway({
      vendor,
      config: {
        channels: [
          {
            name: 'main',
            vendor: 'compatible',
            url: vendor.url,
            key: 'k',
            speaks: ['chat', 'responses', 'messages', 'completions', 'embeddings'],
          },
        ],
        models: {
          m: priced,
          open: { ...priced, quirks: { routing_fields: ['models', 'provider'] } },
          strict: { ...priced, strict: true },
        },
      },
    });
  });
  after(async () => {
    await gateway?.stop();
    await vendor?.close();
  });

  const ask = (style: Name, more: JsonObject) =>
    fetch(gateway.url + PATHS[style], {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
      },
      body: JSON.stringify({ model: 'm', ...REQUESTS[style], ...more }),
    });

  for (const [style, more] of RUN) {
    it(`has a price before it is sent: ${style} ${JSON.stringify(more).slice(0, 90)}`, async () => {
      const requests = vendor.requests.length;
      const response = await ask(style, more);
      assert.deepEqual([response.status, vendor.requests.length], [402, requests], await response.text());
    });
  }

  it('has few names, however many tools a request declares', () => {
    const tools = [CHAT_FUNCTION, ...Array.from({ length: 1_000 }, (_, i) => ({ type: `tool_${i}` }))];
    const body = scanJson(Buffer.from(JSON.stringify({ ...REQUESTS.chat, model: 'm', tools })), UNLIMITED);
    const { bounds } = chat.ingress!.read(body, { headers: {}, params: {}, query: new URLSearchParams() });
    assert.equal(Object.keys(bounds.uses!()!).length, 65);
    assert.deepEqual(bounds.spare!(), []);
  });

  for (const style of Object.keys(PATHS) as Name[]) {
    it(`is said where it is checked: ${style}`, async () => {
      for (const more of MISPLACED) {
        const requests = vendor.requests.length;
        const response = await ask(style, more);
        assert.equal(response.status, 400, `${JSON.stringify(more)} ${await response.text()}`);
        assert.equal(vendor.requests.length, requests);
      }
    });
  }

  for (const [style, more] of OWN) {
    it(`costs nothing more if the client runs it: ${style} ${JSON.stringify(more).slice(0, 90)}`, async () => {
      const requests = vendor.requests.length;
      await (await ask(style, more)).text();
      assert.equal(vendor.requests.length, requests + 1);
    });
  }

  for (const style of Object.keys(PATHS) as Name[]) {
    it(`is not another model or provider: ${style}`, async () => {
      const response = await ask(style, CHOICES);
      await response.text();
      const { json } = vendor.requests.at(-1)!;
      for (const name of Object.keys(CHOICES)) assert.ok(!Object.hasOwn(json, name), name);
      assert.equal(json.model, 'm');
      // An answer that the vendor got wrong has no warnings.
      if (!response.ok) return;
      assert.match(response.headers.get('x-turnpike-translation') ?? '', /models:dropped.*provider:dropped/);
    });
  }

  it('is another model or provider only if its channel or model allows it', async () => {
    await (await ask('chat', { ...CHOICES, model: 'open' })).text();
    const { json } = vendor.requests.at(-1)!;
    assert.deepEqual([json.models, json.provider, json.route], [CHOICES.models, CHOICES.provider, undefined]);
  });

  it('is refused for a strict model', async () => {
    const requests = vendor.requests.length;
    const response = await ask('chat', { ...CHOICES, model: 'strict' });
    assert.deepEqual([response.status, vendor.requests.length], [400, requests], await response.text());
  });

  it('is not said twice', async () => {
    for (const body of ['{"model":"m","messages":[],"model":"x"}', '{"model":"m","messages":[],"Model":"x"}']) {
      const response = await fetch(gateway.url + PATHS.chat, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body,
      });
      assert.equal(response.status, 400);
      assert.match(await response.text(), /model/i);
    }
  });
});
