/** An alias or a fallback to another model of the client's own style: the request obeys the model that answers. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { definePlugin, type JsonObject } from '../../../core/plugin.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, jsonAnswer } from '../../kit/vendors/script.ts';

const ANSWER = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
  content: [{ type: 'text', text: 'Hi' }],
  usage: { input_tokens: 1, output_tokens: 1 },
};
const THOUGHTS = [
  { role: 'user', content: 'One?' },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'text', text: 'Two.' },
    ],
  },
  { role: 'user', content: 'Three?' },
];
const DROPPED = { prefix_mismatch_behavior: 'drop_block' };

/** Its answers may be changed, whatever they are. */
const reviser = definePlugin({
  name: 'reviser',
  api: 2,
  create: () => ({
    revise: ({ call }) =>
      call.body.get('metadata') === undefined ? undefined : { part: (part) => [part], end: () => [] },
  }),
});

describe('a model that answers for another one of its style', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor();
    const from = ['main'];
    gateway = await startGateway({
      plugins: [reviser],
      config: {
        pipeline: [...(defaultConfig([]).pipeline as string[]), 'vendors/anthropic'],
        channels: [
          { name: 'main', vendor: 'anthropic', url: vendor.url.replace('/v1', ''), key: 'vendor-key-of-main' },
          { name: 'second', vendor: 'openai', url: vendor.url, key: 'vendor-key-of-second' },
        ],
        models: {
          'claude-haiku-4-5': { from, free: true },
          'claude-sonnet-4-6': { from, free: true },
          'claude-fable-5-2': { from, free: true },
          'claude-opus-5': { from, free: true, fallback: ['claude-haiku-4-5'] },
          old: { alias: 'claude-haiku-4-5' },
          middle: { alias: 'claude-sonnet-4-6' },
          new: { alias: 'claude-opus-5' },
          always: { alias: 'claude-fable-5-2' },
          'gpt-5.1': { from: ['second'], free: true },
          'gpt-5-pro': { from: ['second'], free: true },
          quick: { alias: 'gpt-5.1' },
          thorough: { alias: 'gpt-5-pro' },
        },
      },
    });
  });
  after(async () => {
    await gateway?.stop();
    await vendor.close();
  });
  beforeEach(() => vendor.always(jsonAnswer(200, ANSWER)));

  /** What the vendor gets last, and the warnings. */
  async function sent(model: string, more: JsonObject = {}): Promise<{ body: JsonObject; warnings: string }> {
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: {
        'x-api-key': gateway.key,
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
      },
      body: JSON.stringify({ model, max_tokens: 9_000, messages: [{ role: 'user', content: 'One?' }], ...more }),
    });
    assert.equal(response.status, 200, await response.text());
    return { body: vendor.requests.at(-1)!.json, warnings: response.headers.get('x-turnpike-translation') ?? '' };
  }

  it('gets a budget in place of adaptive reasoning and an effort', async () => {
    const more = { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } };
    const { body } = await sent('old', more);
    assert.equal(body.model, 'claude-haiku-4-5');
    assert.equal((body.thinking as JsonObject).type, 'enabled');
    assert.ok(((body.thinking as JsonObject).budget_tokens as number) < 9_000);
    assert.equal(body.output_config, undefined);
  });

  it('gets adaptive reasoning in place of a budget', async () => {
    const { body } = await sent('new', { thinking: { type: 'enabled', budget_tokens: 2_000 } });
    assert.equal((body.thinking as JsonObject).type, 'adaptive');
    assert.equal('budget_tokens' in (body.thinking as JsonObject), false);
  });

  it('gets no effort that it does not have', async () => {
    const { body } = await sent('middle', { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } });
    assert.notEqual((body.output_config as JsonObject | undefined)?.effort, 'xhigh');
    assert.equal((body.thinking as JsonObject).type, 'adaptive');
  });

  it('gets no sampling options that it refuses', async () => {
    const { body, warnings } = await sent('new', { temperature: 0.2, top_k: 5 });
    assert.deepEqual([body.temperature, body.top_k], [undefined, undefined]);
    assert.match(warnings, /temperature:dropped/);
    const both = await sent('old', { temperature: 0.2, top_p: 0.5 });
    assert.equal('temperature' in both.body && 'top_p' in both.body, false);
  });

  it('is not told to stop reasoning if it cannot, and is not forced to call a tool if it refuses that', async () => {
    const tools = [{ name: 'look', input_schema: { type: 'object', properties: {} } }];
    const off = await sent('always', { thinking: { type: 'disabled' } });
    assert.notEqual((off.body.thinking as JsonObject | undefined)?.type, 'disabled');
    for (const model of ['always', 'old']) {
      const { body } = await sent(model, { tools, tool_choice: { type: 'any' }, thinking: { type: 'adaptive' } });
      const isForced = (body.tool_choice as JsonObject | undefined)?.type === 'any';
      const reasons = model === 'always' || (body.thinking as JsonObject | undefined)?.type === 'enabled';
      assert.equal(isForced && reasons, false, model);
    }
  });

  it('gets system messages where it accepts them, and no more output tokens than it has', async () => {
    const messages = [
      { role: 'user', content: 'One?' },
      { role: 'assistant', content: 'Two.' },
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Three?' },
    ];
    const { body } = await sent('old', { messages, max_tokens: 100_000 });
    assert.equal(
      (body.messages as JsonObject[]).some(({ role }) => role === 'system'),
      false,
    );
    assert.match(JSON.stringify(body.messages), /Be brief\./);
    assert.equal(body.max_tokens, 64_000);
  });

  it('obeys the same rules as a fallback', async () => {
    vendor.next(errorAnswer(500));
    const { body } = await sent('claude-opus-5', { thinking: { type: 'adaptive' } });
    assert.equal(body.model, 'claude-haiku-4-5');
    assert.equal((body.thinking as JsonObject | undefined)?.type === 'adaptive', false);
  });

  it('gets a request that it accepts as it is, member by member', async () => {
    const more = {
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
      context_management: { edits: [] },
      unknown: 1,
    };
    const { body } = await sent('new', more);
    assert.deepEqual(body, {
      ...{ model: 'claude-opus-5', max_tokens: 9_000, messages: [{ role: 'user', content: 'One?' }] },
      ...more,
    });
  });

  it('gets the nearest effort in chat and responses', async () => {
    for (const [path, model, effort, gets] of [
      ['/v1/chat/completions', 'quick', 'xhigh', 'high'],
      ['/v1/chat/completions', 'quick', 'none', 'none'],
      ['/v1/chat/completions', 'quick', 'unheard', 'unheard'],
      ['/v1/chat/completions', 'gpt-5.1', 'xhigh', 'xhigh'],
      ['/v1/responses', 'quick', 'minimal', 'low'],
      ['/v1/responses', 'thorough', 'none', 'high'],
      ['/v1/responses', 'gpt-5-pro', 'none', 'none'],
    ] as const) {
      const isChat = path === '/v1/chat/completions';
      const response = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(
          isChat
            ? { model, messages: [{ role: 'user', content: 'One?' }], reasoning_effort: effort }
            : { model, input: 'One?', store: false, reasoning: { effort, summary: 'auto' } },
        ),
      });
      await response.text();
      const { reasoning, reasoning_effort: inChat } = vendor.requests.at(-1)!.json;
      if (isChat) assert.equal(inChat, gets, `${model} ${effort}`);
      else assert.deepEqual(reasoning, { effort: gets, summary: 'auto' }, `${model} ${effort}`);
    }
  });

  it('is asked to drop reasoning that another model has written, if it is bound to what comes before it', async () => {
    const { body } = await sent('new', { messages: THOUGHTS, thinking: { type: 'adaptive' } });
    assert.deepEqual(body.thinking, { block_binding: DROPPED, type: 'adaptive' });
    assert.equal((await sent('middle', { messages: THOUGHTS })).body.thinking, undefined);
    assert.equal((await sent('new')).body.thinking, undefined, 'no reasoning in the history');
    assert.equal((await sent('claude-opus-5', { messages: THOUGHTS })).body.thinking, undefined, 'the model itself');
  });

  it('is asked for that, too, if plugins change what it answers', async () => {
    const more = { messages: THOUGHTS, thinking: { type: 'adaptive' }, metadata: { user_id: 'a' } };
    const { body } = await sent('claude-opus-5', more);
    assert.deepEqual(body.thinking, { block_binding: DROPPED, type: 'adaptive' });
  });
});
