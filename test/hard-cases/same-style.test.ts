/** What is known of a model is mended where client and vendor speak one style, too, and named. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../core/contracts/formats/json.ts';
import { packOpaque, UNSEALED } from '../../core/translation/conversation/opaque-values.ts';
import openai from '../../plugins/vendors/openai/index.ts';
import { call, type Special } from './kit.ts';

const hello = [{ role: 'user', content: 'Hello?' }];

describe('a chat request for one of OpenAI’s chat models', () => {
  const ask = (model: string, more: JsonObject, special: Special = {}) =>
    call('chat', 'chat', more, { plugin: openai, model, ...special });

  it('gives a thinking model its limit under the name that it takes', async () => {
    for (const model of ['gpt-5', 'gpt-5-mini', 'gpt-5.5', 'o4-mini']) {
      const { sent, warnings } = await ask(model, { max_tokens: 300 });
      assert.deepEqual([sent.max_tokens, sent.max_completion_tokens], [undefined, 300], model);
      assert.deepEqual(warnings(), ['max_tokens:changed'], model);
    }
    const both = await ask('gpt-5', { max_tokens: 9, max_completion_tokens: 300 });
    assert.deepEqual([both.sent.max_tokens, both.sent.max_completion_tokens], [undefined, 300]);
    assert.deepEqual(both.warnings(), ['max_tokens:dropped']);
    const none = await ask('gpt-5', { max_tokens: null });
    assert.deepEqual(['max_completion_tokens' in none.sent, none.warnings()], [false, []]);
  });

  it('leaves models alone that take either name', async () => {
    const body = { model: 'gpt-4.1', messages: hello, max_tokens: 300, temperature: 0.1 };
    const { bytes, warnings } = await ask('gpt-4.1', body);
    assert.deepEqual([bytes, warnings()], [JSON.stringify(body), []]);
  });

  it('drops a temperature that the model has fixed, which is a hint if it is the fixed one', async () => {
    const cold = await ask('gpt-5-mini', { temperature: 0.1, presence_penalty: 0, logprobs: false });
    for (const name of ['temperature', 'presence_penalty', 'logprobs']) assert.ok(!(name in cold.sent), name);
    assert.deepEqual(cold.warnings(), ['temperature:dropped', 'presence_penalty:dropped', 'logprobs:dropped']);
    const refusal = { status: 400, code: 'translation_refused', param: 'temperature' };
    const strict = { strict: true };
    await assert.rejects(ask('gpt-5', { temperature: 0.1 }, strict), refusal);
    await ask('gpt-5', { temperature: 1 }, strict);
    // These take it while they do not think.
    assert.equal((await ask('gpt-5.1', { temperature: 0.1 })).sent.temperature, 0.1);
    assert.equal((await ask('gpt-5-chat-latest', { temperature: 0.1 })).sent.temperature, 0.1);
  });
});

describe('a history of tool calls for a model that wants their reasoning back', () => {
  const called = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  const history = (more: JsonObject): JsonObject => ({
    messages: [
      ...hello,
      { role: 'assistant', content: null, tool_calls: [called], ...more },
      { role: 'tool', tool_call_id: 'c', content: 'done' },
      { role: 'assistant', content: 'It is done.' },
    ],
  });
  const reasonings = (sent: JsonObject): readonly unknown[] =>
    (sent.messages as readonly JsonObject[]).map((message) => message.reasoning_content);

  it('has a filler where the client did not keep it', async () => {
    for (const model of ['kimi-k2', 'moonshotai/Kimi-K2.5', 'deepseek-chat', 'deepseek-reasoner']) {
      for (const lost of [{}, { reasoning_content: '' }, { reasoning_content: null }]) {
        const { sent, warnings } = await call('chat', 'chat', history(lost), { model });
        assert.deepEqual(reasonings(sent), [undefined, ' ', undefined, undefined], model);
        assert.deepEqual(warnings(), ['messages.reasoning:changed'], model);
      }
    }
  });

  it('stays as it is where the client kept it, and where the model does not want it', async () => {
    const kept = history({ reasoning_content: 'Hm.' });
    const { sent, warnings } = await call('chat', 'chat', kept, { model: 'kimi-k2' });
    assert.deepEqual([reasonings(sent)[1], warnings()], ['Hm.', []]);
    for (const model of ['qwen3-max', 'moonshotai/kimi-k2-instruct', 'deepseek-r1-distill']) {
      const other = await call('chat', 'chat', history({}), { model });
      assert.deepEqual([reasonings(other.sent)[1], other.warnings()], [undefined, []], model);
    }
  });

  it('gets the reasoning from clients of the other styles', async () => {
    const { sent, warnings } = await call(
      'messages',
      'chat',
      {
        messages: [
          { role: 'user', content: 'Hello?' },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'Hm.', signature: packOpaque(UNSEALED) },
              { type: 'tool_use', id: 'c', name: 'f', input: {} },
            ],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'done' }] },
        ],
        tools: [{ name: 'f', input_schema: { type: 'object' } }],
      },
      { model: 'kimi-k2' },
    );
    assert.equal(reasonings(sent)[1], 'Hm.');
    assert.ok(!warnings().some((warning) => warning.startsWith('messages.thinking')), warnings().join());
  });
});
