/** Tools that a vendor runs, and dearer ways of being served: charged to the unit, refused where they have no price. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Ledger } from '../../../core/contracts/ledger.ts';
import { Records } from '../../../core/contracts/records.ts';
import type { JsonObject } from '../../../core/plugin.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { eventStream, jsonAnswer, rst, type Script } from '../../kit/vendors/script.ts';

const STYLES = ['chat', 'responses', 'messages'] as const;
type StyleName = (typeof STYLES)[number];
const PATHS: Readonly<Record<StyleName, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
};
/** A token of input is half a quota unit, one of output five, a search 5,000. */
const PRICE = {
  input: 1,
  output: 10,
  perUse: { web_search: 0.01, file_search: 0.0025, code_execution: 0.03 },
  service: { priority: 2, fast: { input: 6, output: 60 }, us: 1.1 },
};
const INPUT = 20;
const OUTPUT = 50;
const TOKENS = 10n + 250n;
const SEARCH = 5_000n;
const MICRO = 1_000_000n;

const data = (event: JsonObject): string => `data: ${JSON.stringify(event)}\n\n`;
const named = (event: JsonObject): string => `event: ${String(event.type)}\n${data(event)}`;

/** What the vendor did beside answering. */
interface Done {
  readonly searches?: number;
  /** Of the member of the answer, or of its usage, that says how it was served. */
  readonly served?: JsonObject;
}

const SEARCHES = {
  responses: (count: number): readonly JsonObject[] =>
    Array.from({ length: count }, (_, i) => ({
      id: `ws_${i}`,
      type: 'web_search_call',
      status: 'completed',
      action: { type: 'search', query: `q${i}` },
    })),
  // What is looked at of what was found is not sold.
  opened: {
    id: 'ws_open',
    type: 'web_search_call',
    status: 'completed',
    action: { type: 'open_page', url: 'https://a' },
  },
};

const ANSWERS: Readonly<Record<StyleName, (stream: boolean, done: Done) => Script>> = {
  chat(stream, { searches, served = {} }) {
    const usage = {
      prompt_tokens: INPUT,
      completion_tokens: OUTPUT,
      total_tokens: INPUT + OUTPUT,
      ...(searches !== undefined && { server_tool_use: { web_search_requests: searches } }),
    };
    const facts = { id: 'c1', created: 1, model: 'm', ...served };
    if (!stream) {
      const message = { role: 'assistant', content: 'Found.' };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      return jsonAnswer(200, { ...facts, object: 'chat.completion', choices, usage });
    }
    const event = (delta: JsonObject, finish_reason: string | null): string =>
      data({ ...facts, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] });
    return eventStream([
      event({ role: 'assistant', content: 'Found.' }, null),
      event({}, 'stop'),
      data({ ...facts, object: 'chat.completion.chunk', choices: [], usage }),
      'data: [DONE]\n\n',
    ]);
  },
  responses(stream, { searches = 0, served = {} }) {
    const text = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Found.', annotations: [] }],
    };
    const items = searches > 0 ? [...SEARCHES.responses(searches), SEARCHES.opened, text] : [text];
    const usage = { input_tokens: INPUT, output_tokens: OUTPUT, total_tokens: INPUT + OUTPUT };
    const begun = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] };
    const done = { ...begun, status: 'completed', output: items, usage, ...served };
    if (!stream) return jsonAnswer(200, done);
    const events: JsonObject[] = [
      { type: 'response.created', response: begun },
      ...items.flatMap((item, output_index): JsonObject[] => [
        { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress' } },
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.completed', response: done },
    ];
    return eventStream(events.map((event, sequence_number) => named({ ...event, sequence_number })));
  },
  messages(stream, { searches, served = {} }) {
    const stop_reason = 'end_turn';
    const counts = searches !== undefined && { server_tool_use: { web_search_requests: searches } };
    const usage = { input_tokens: INPUT, output_tokens: OUTPUT, ...served, ...counts };
    const facts = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_sequence: null };
    const found: readonly JsonObject[] = Array.from({ length: searches ?? 0 }, (_, i) => ({
      type: 'server_tool_use',
      id: `srvtoolu_${i}`,
      name: 'web_search',
      input: { query: `q${i}` },
    }));
    const text = { type: 'text', text: 'Found.' };
    if (!stream) return jsonAnswer(200, { ...facts, content: [...found, text], stop_reason, usage });
    const start = { input_tokens: INPUT, output_tokens: 1, ...served, server_tool_use: { web_search_requests: 0 } };
    return eventStream(
      [
        { type: 'message_start', message: { ...facts, content: [], stop_reason: null, usage: start } },
        ...found.flatMap((content_block, index): JsonObject[] => [
          { type: 'content_block_start', index, content_block },
          { type: 'content_block_stop', index },
        ]),
        { type: 'content_block_start', index: found.length, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: found.length, delta: { type: 'text_delta', text: 'Found.' } },
        { type: 'content_block_stop', index: found.length },
        {
          type: 'message_delta',
          delta: { stop_reason, stop_sequence: null },
          usage: { output_tokens: OUTPUT, ...counts },
        },
        { type: 'message_stop' },
      ].map((event) => named(event as JsonObject)),
    );
  },
};

/** What a request says so that the vendor may search. */
const SEARCHING: Readonly<Record<StyleName, JsonObject>> = {
  chat: { web_search_options: {} },
  responses: { tools: [{ type: 'web_search' }], max_tool_calls: 9 },
  messages: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 8 }] },
};

function question(style: StyleName, model: string, stream: boolean, more: JsonObject): JsonObject {
  if (style === 'responses') return { model, stream, input: 'x', store: false, max_output_tokens: 100, ...more };
  return { model, stream, messages: [{ role: 'user', content: 'x' }], max_tokens: 100, ...more };
}

let vendor: FakeVendor;
let gateway: TestGateway;
before(async () => {
  vendor = await fakeVendor();
  const models = STYLES.flatMap((style) => [
    [`on-${style}`, { from: [style], price: PRICE }],
    [`plain-${style}`, { from: [style], price: { input: 1, output: 10 } }],
    [`free-${style}`, { from: [style], free: true }],
  ]);
  gateway = await startGateway({
    vendor,
    config: {
      limits: {},
      pipeline: [
        ...[
          'accounts',
          'auth',
          'counters',
          'keys',
          'limits',
          'prices',
          'quota',
          'models',
          'styles',
          'vendors/compatible',
          'log',
        ],
      ],
      channels: STYLES.map((style) => ({
        name: style,
        vendor: 'compatible',
        url: vendor.url,
        key: 'k',
        speaks: [style],
        quirks: { tools: { web_search: true } },
      })),
      models: Object.fromEntries(models),
    },
  });
});
after(async () => {
  await gateway.stop();
  await vendor.close();
});

let people = 0;
/** Asks as a person of its own, and tells what that person was charged and what the record says. */
async function ask(style: StyleName, model: string, stream: boolean, more: JsonObject, quota = 200_000) {
  const key = await gateway.customer(quota);
  const account = await gateway.host.use(Accounts).findByName(`customer-${++people}`);
  const asked = vendor.requests.length;
  const response = await fetch(`${gateway.url}${PATHS[style]}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify(question(style, model, stream, more)),
  });
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const piece of response.body!) text += decoder.decode(piece, { stream: true });
  } catch {
    // A stream that is broken off has an end that is none.
  }
  const owner = account!.id;
  const { used, held } = (await gateway.host.use(Ledger).balance({ kind: 'account', owner }))!;
  assert.equal(held, 0n);
  const { items } = await gateway.host.use(Records).page({ accounts: [owner] }, { limit: 1 });
  const record = items[0]?.call;
  const receipt = record && gateway.host.use(Ledger).receipt(record);
  const translation = response.headers.get('x-turnpike-translation') ?? '';
  return { status: response.status, text, translation, used, record, receipt, asked: vendor.requests.length - asked };
}

describe('searches that a vendor makes', () => {
  for (const spoken of STYLES) {
    for (const style of STYLES) {
      for (const stream of [false, true]) {
        it(`on ${style}, with a vendor of ${spoken}, ${stream ? 'streamed' : 'whole'}: each is charged, and stands in record and receipt`, async () => {
          vendor.always(ANSWERS[spoken](stream, { searches: 3 }));
          const { status, used, record, receipt, text } = await ask(style, `on-${spoken}`, stream, SEARCHING[style]);
          assert.equal(status, 200, text);
          assert.equal(used, (TOKENS + 3n * SEARCH) * MICRO);
          assert.equal(record?.usage?.uses?.web_search, 3);
          assert.equal(receipt?.exact, true);
          const item = receipt?.items.find(({ bucket }) => bucket === 'use');
          assert.deepEqual([item?.name, item?.count, item?.price, item?.quota], ['web_search', 3, '0.01', '15000']);
        });
      }
    }
  }

  for (const style of STYLES) {
    it(`on ${style}: without a price they are refused before the vendor is asked, and the refusal names both`, async () => {
      const { status, text, used, asked } = await ask(style, `plain-${style}`, false, SEARCHING[style]);
      assert.equal(status, 402);
      assert.match(text, /web_search/);
      assert.match(text, /perUse/);
      assert.match(text, /tool_not_priced|billing|402/);
      assert.deepEqual([used, asked], [0n, 0]);
    });

    it(`on ${style}: a free model may search, and a call that is not allowed to costs its tokens`, async () => {
      vendor.always(ANSWERS[style](false, { searches: 2 }));
      assert.deepEqual([(await ask(style, `free-${style}`, false, SEARCHING[style])).used], [0n]);
      vendor.always(ANSWERS[style](false, {}));
      assert.equal((await ask(style, `plain-${style}`, false, {})).used, TOKENS * MICRO);
    });

    it(`on ${style}: more searches than can be paid are withheld`, async () => {
      for (const stream of [false, true]) {
        vendor.always(ANSWERS[style](stream, { searches: 9 }));
        const { used, text } = await ask(style, `on-${style}`, stream, SEARCHING[style], 12_000);
        assert.match(text, /QUOTA_HOLD_EXCEEDED|costs more than/);
        assert.equal(used, 12_000n * MICRO);
      }
    });
  }

  const OWN_TOOL: Readonly<Record<StyleName, JsonObject>> = {
    chat: { type: 'function', function: { name: 'read', parameters: { type: 'object', maximum: 1e2 } } },
    responses: { type: 'function', name: 'read', parameters: { type: 'object', maximum: 1e2 } },
    messages: { name: 'read', input_schema: { type: 'object', maximum: 1e2 } },
  };
  const HOSTED: Readonly<Record<StyleName, JsonObject>> = {
    chat: { type: 'web_search' },
    responses: { type: 'web_search', external_web_access: false },
    messages: { type: 'web_search_20250305', name: 'web_search' },
  };

  for (const style of STYLES) {
    it(`on ${style}: one without a price that a request can do without is left out, with a warning`, async () => {
      for (const spoken of STYLES) {
        vendor.always(ANSWERS[spoken](false, {}));
        const tools = [OWN_TOOL[style], HOSTED[style]];
        const { status, text, used, translation } = await ask(style, `plain-${spoken}`, false, { tools });
        assert.equal(status, 200, text);
        assert.equal(used, TOKENS * MICRO);
        assert.match(translation, /tools\.web_search:dropped/, `${style} to ${spoken}`);
        const sent = vendor.requests.at(-1)!.body.toString();
        assert.doesNotMatch(sent, /web_search/);
        assert.match(sent, /"read"/);
      }
    });

    it(`on ${style}: one that the request demands is refused, even beside others`, async () => {
      const demanded = style === 'messages' ? { type: 'tool', name: 'web_search' } : { type: 'web_search' };
      const tools = [OWN_TOOL[style], HOSTED[style]];
      const { status, text, asked } = await ask(style, `plain-${style}`, false, { tools, tool_choice: demanded });
      assert.equal(status, 402, text);
      assert.equal(asked, 0);
    });

    it(`on ${style}: a tool that is no object counts as one that the vendor runs`, async () => {
      for (const tools of [['web_search'], [['web_search']], [7]]) {
        const { status, asked } = await ask(style, `plain-${style}`, false, { tools });
        assert.deepEqual([status, asked], [402, 0], JSON.stringify(tools));
      }
    });
  }

  it('a stream that is cut after its searches costs them, too', async () => {
    for (const style of ['responses', 'messages'] as const) {
      const whole = ANSWERS[style](true, { searches: 2 });
      // Everything but the end of it.
      vendor.always([...whole.slice(0, -3), rst()]);
      const { used } = await ask(style, `on-${style}`, true, SEARCHING[style]);
      assert.ok(used >= 2n * SEARCH * MICRO, `${style}: ${used}`);
    }
  });

  it('code runs in a container, which is sold once', async () => {
    const call = (id: string, container_id: string) => ({
      id,
      type: 'code_interpreter_call',
      container_id,
      status: 'completed',
    });
    const output = [call('ci_1', 'cntr_1'), call('ci_2', 'cntr_1'), call('ci_3', 'cntr_2')];
    const usage = { input_tokens: INPUT, output_tokens: OUTPUT, total_tokens: INPUT + OUTPUT };
    vendor.always(jsonAnswer(200, { id: 'r', object: 'response', status: 'completed', model: 'm', output, usage }));
    const tools = [{ type: 'code_interpreter', container: { type: 'auto' } }];
    const { used } = await ask('responses', 'on-responses', false, { tools });
    assert.equal(used, (TOKENS + 2n * 15_000n) * MICRO);
  });
});

describe('dearer ways of being served', () => {
  type Case = readonly [what: string, style: StyleName, asks: JsonObject, says: JsonObject, quota: bigint];
  const CASES: readonly Case[] = [
    ['priority', 'chat', { service_tier: 'priority' }, { service_tier: 'priority' }, TOKENS * 2n],
    ['priority', 'responses', { service_tier: 'priority' }, { service_tier: 'priority' }, TOKENS * 2n],
    ['priority that was not to be had', 'chat', { service_tier: 'priority' }, { service_tier: 'default' }, TOKENS],
    ['priority of which nothing is said', 'responses', { service_tier: 'priority' }, {}, TOKENS * 2n],
    ['auto that became priority', 'responses', { service_tier: 'auto' }, { service_tier: 'priority' }, TOKENS * 2n],
    ['auto', 'chat', { service_tier: 'auto' }, { service_tier: 'default' }, TOKENS],
    ['fast', 'messages', { speed: 'fast' }, { speed: 'fast', service_tier: 'standard' }, 60n + 1_500n],
    ['a region', 'messages', { inference_geo: 'us' }, { inference_geo: 'us' }, 286n],
    ['both', 'messages', { speed: 'fast', inference_geo: 'us' }, { speed: 'fast', inference_geo: 'us' }, 1_716n],
  ];
  for (const [what, style, asks, served, quota] of CASES) {
    for (const stream of [false, true]) {
      it(`${what} on ${style}, ${stream ? 'streamed' : 'whole'}, costs ${quota}`, async () => {
        vendor.always(ANSWERS[style](stream, { served }));
        const { status, used, receipt, text } = await ask(style, `on-${style}`, stream, asks);
        assert.equal(status, 200, text);
        assert.equal(used, quota * MICRO);
        assert.equal(receipt?.exact, true);
      });
    }
  }

  for (const [style, asks] of [
    ['chat', { service_tier: 'flex' }],
    ['responses', { service_tier: 'priority' }],
    ['messages', { speed: 'fast' }],
  ] as const) {
    it(`${JSON.stringify(asks)} on ${style} without a price is refused before the vendor is asked`, async () => {
      const { status, text, used, asked } = await ask(style, `plain-${style}`, true, asks);
      assert.equal(status, 402);
      assert.match(text, new RegExp(`service: \\{ ${Object.values(asks)[0]}`));
      assert.deepEqual([used, asked], [0n, 0]);
    });
  }
});
