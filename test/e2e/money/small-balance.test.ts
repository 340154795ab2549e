/** Coding agents run as they come on a balance of 0.10: a first call of nearly 100 KB that asks for a long answer. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../core/plugin.ts';
import { type CodingClient, claudeCode, codex } from '../../kit/clients/coding-clients.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { eventStream } from '../../kit/vendors/script.ts';

/** 0.10 currency units. */
const BALANCE = 50_000;

const named = (event: JsonObject): string => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`;
const messagesAnswer = eventStream([
  named({
    type: 'message_start',
    message: {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null },
      usage: { input_tokens: 9_000, cache_creation_input_tokens: 4_000, output_tokens: 1 },
    },
  }),
  named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } }),
  named({ type: 'content_block_stop', index: 0 }),
  named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 60 } }),
  named({ type: 'message_stop' }),
]);
const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed', output: [] };
const responsesAnswer = eventStream([
  named({ type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress' } }),
  named({
    type: 'response.completed',
    sequence_number: 1,
    response: { ...response, usage: { input_tokens: 13_000, output_tokens: 60, total_tokens: 13_060 } },
  }),
]);

describe('with a balance of 0.10', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor();
    gateway = await startGateway({
      vendor,
      config: {
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
            'vendors/openai',
          ],
          ...['vendors/anthropic', 'log'],
        ],
        channels: [
          { name: 'anthropic', vendor: 'anthropic', url: vendor.url, key: 'k' },
          { name: 'openai', vendor: 'openai', url: vendor.url, key: 'k' },
        ],
        models: {
          'claude-opus-5-5': { from: ['anthropic'] },
          'claude-sonnet-5': { from: ['anthropic'] },
          'gpt-5': { from: ['openai'] },
          'gpt-5.5': { from: ['openai'] },
        },
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  /** The first call of a client, with so many bytes of tools that a new project brings. */
  async function first(client: CodingClient, model: string, bytes: number, more: JsonObject = {}) {
    const body = client.first(model);
    const tools = body.tools as readonly JsonObject[];
    const described = {
      ...tools[0],
      name: 'mcp__more',
      description: 'A tool that is described at length. '.repeat(bytes / 36),
    };
    const key = await gateway.customer(BALANCE);
    const answer = await fetch(gateway.url + client.path, {
      method: 'POST',
      headers: { ...client.headers, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, ...more, tools: [...tools, described] }),
    });
    return { status: answer.status, text: await answer.text(), sent: vendor.requests.at(-1)!.json, answer };
  }

  for (const [model, bytes] of [
    ['claude-sonnet-5', 95_000],
    ['claude-opus-5-5', 80_000],
  ] as const) {
    it(`Claude Code calls ${model} with ${bytes} bytes`, async () => {
      vendor.next(messagesAnswer);
      const { status, text, sent, answer } = await first(claudeCode, model, bytes, { max_tokens: 64_000 });
      assert.equal(status, 200, text);
      assert.match(text, /message_stop/);
      assert.ok((sent.max_tokens as number) >= 256 && (sent.max_tokens as number) < 64_000);
      assert.match(answer.headers.get('x-turnpike-translation') ?? '', /max_tokens:changed/);
    });
  }

  for (const [model, bytes] of [
    ['gpt-5', 95_000],
    ['gpt-5.5', 55_000],
  ] as const) {
    it(`Codex calls ${model} with ${bytes} bytes`, async () => {
      vendor.next(responsesAnswer);
      const { status, text, sent } = await first(codex, model, bytes);
      assert.equal(status, 200, text);
      assert.match(text, /response\.completed/);
      assert.ok((sent.max_output_tokens as number) >= 256);
    });
  }

  it('a budget for thoughts stays below the limit of the answer, and is left out where there is no room for one', async () => {
    const thinking = { type: 'enabled', budget_tokens: 31_999 };
    const asked = {
      max_tokens: 32_000,
      thinking,
      context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
    };
    vendor.next(messagesAnswer);
    const { sent } = await first(claudeCode, 'claude-sonnet-5', 20_000, asked);
    const { budget_tokens: budget } = sent.thinking as { readonly budget_tokens: number };
    assert.ok(budget >= 1_024 && budget < (sent.max_tokens as number), `${budget} of ${sent.max_tokens}`);
    vendor.next(messagesAnswer);
    const { sent: little, answer } = await first(claudeCode, 'claude-opus-5-5', 80_000, asked);
    assert.ok((little.max_tokens as number) <= 1_024);
    assert.deepEqual([little.thinking, little.context_management], [undefined, { edits: [] }]);
    assert.match(answer.headers.get('x-turnpike-translation') ?? '', /thinking:changed/);
  });
});
