/** What a translation changes is named as the client spelled it, also where little is left of a message or a file. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../core/contracts/formats/json.ts';
import { packOpaque, UNSEALED } from '../../core/translation/conversation/opaque-values.ts';
import { call } from './kit.ts';

const hello = [{ role: 'user', content: 'Hello?' }];

describe('a change is named', () => {
  it('by the one of two fields that the client used', async () => {
    const limits = { model: 'claude-sonnet-4-5' };
    const newer = await call('chat', 'messages', { max_completion_tokens: 999_999 }, limits);
    assert.deepEqual(newer.warnings(), ['max_completion_tokens:changed']);
    const older = await call('chat', 'messages', { max_tokens: 999_999 }, limits);
    assert.deepEqual(older.warnings(), ['max_tokens:changed']);
    const effort = await call('messages', 'chat', { output_config: { effort: 'max' } });
    assert.deepEqual(effort.warnings(), ['output_config.effort:changed']);
    const budget = await call('messages', 'chat', { thinking: { type: 'enabled', budget_tokens: 1_024 } });
    assert.deepEqual(budget.warnings(), ['thinking:changed']);
  });

  it('where a mark for the prompt cache has no place', async () => {
    const marked = (text: string) => ({ type: 'text', text, cache_control: { type: 'ephemeral' } });
    const messages = [{ role: 'user', content: [marked('Hello?')] }];
    for (const [kind, name] of [
      ['responses', 'cache_control'],
      ['gemini', 'messages.cache_control'],
    ] as const) {
      for (const client of ['chat', 'messages'] as const) {
        assert.deepEqual(
          (await call(client, kind, { messages })).warnings(),
          [`${name}:dropped`],
          `${client} to ${kind}`,
        );
      }
    }
    assert.deepEqual((await call('chat', 'messages', { messages })).warnings(), [], 'and it is kept where it has one');
  });

  it('where a file comes without its name', async () => {
    const data = 'data:application/pdf;base64,JVBERi0=';
    const messages = [{ role: 'user', content: [{ type: 'file', file: { filename: 'my.pdf', file_data: data } }] }];
    assert.deepEqual((await call('chat', 'gemini', { messages })).warnings(), ['messages.file.filename:dropped']);
    const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
    const titled = [{ role: 'user', content: [{ type: 'document', title: 'my.pdf', source }] }];
    const pictured = await call('messages', 'chat', { messages: titled }, { quirks: { file: { pdf: 'image_url' } } });
    assert.deepEqual(pictured.warnings(), ['messages.document.title:dropped']);
    const kept = await call('messages', 'chat', { messages: titled });
    assert.ok(kept.bytes.includes('my.pdf') && kept.warnings().length === 0);
  });

  it('where the least effort is too little for the vendor’s own tools', async () => {
    const searching = { tools: [{ type: 'web_search_20250305', name: 'web_search' }] };
    const thinking = { thinking: { type: 'enabled', budget_tokens: 1_024 } };
    const { sent, warnings } = await call('messages', 'responses', { ...searching, ...thinking }, { model: 'gpt-5' });
    assert.equal((sent.reasoning as JsonObject).effort, 'low');
    assert.deepEqual(warnings(), ['thinking:changed']);
    const without = await call('messages', 'responses', thinking, { model: 'gpt-5' });
    assert.equal((without.sent.reasoning as JsonObject).effort, 'minimal');
  });
});

describe('a message of the assistant’s of which nothing is left', () => {
  const history = (content: JsonObject[]) => ({
    messages: [...hello, { role: 'assistant', content }, { role: 'user', content: 'Well?' }],
  });
  const thought = { type: 'thinking', thinking: 'Hm.', signature: packOpaque(UNSEALED) };

  it('is left out, and its thoughts are named', async () => {
    for (const kind of ['chat', 'gemini', 'responses'] as const) {
      const { bytes, warnings } = await call('messages', kind, history([thought]));
      assert.ok(!/"(assistant|model)"/.test(bytes.replace(/"model":/g, '')), `${kind}: ${bytes}`);
      assert.ok(warnings().includes('messages.thinking:dropped'), `${kind}: ${warnings().join()}`);
    }
  });

  it('stays where it calls a tool', async () => {
    const use = { type: 'tool_use', id: 'c', name: 'f', input: {} };
    const { sent } = await call('messages', 'chat', {
      messages: [
        ...hello,
        { role: 'assistant', content: [thought, use] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'done' }] },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
    });
    assert.deepEqual(
      (sent.messages as readonly JsonObject[]).map(({ role }) => role),
      ['user', 'assistant', 'tool'],
    );
  });
});
