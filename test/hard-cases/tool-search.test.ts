/** A search for tools that a responses client carries out itself, towards vendors that know no such tool. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../core/contracts/formats/json.ts';
import { call } from './kit.ts';

const parameters = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] };
const search = { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters };
const asked = { type: 'message', role: 'user', content: 'Which issues are open?' };
const list = { type: 'function', name: 'list_issues', parameters: { type: 'object', properties: {} } };
const found = { type: 'namespace', name: 'tracker', tools: [list] };

const first = { input: [asked], tools: [search] };
const second = {
  tools: [search],
  input: [
    asked,
    {
      type: 'tool_search_call',
      call_id: 'c1',
      execution: 'client',
      status: 'completed',
      arguments: { query: 'issues' },
    },
    { type: 'tool_search_output', call_id: 'c1', execution: 'client', status: 'completed', tools: [found] },
  ],
};

describe('a search for tools by the client', () => {
  it('is a function for a chat vendor, whose call comes back as the client’s own', async () => {
    const prepared = await call('responses', 'chat', first);
    assert.deepEqual(prepared.sent.tools, [
      { type: 'function', function: { name: 'tool_search', description: 'Finds tools.', parameters } },
    ]);
    assert.deepEqual(prepared.warnings(), []);
    const made = { id: 'c1', type: 'function', function: { name: 'tool_search', arguments: '{"query":"issues"}' } };
    const { body } = prepared.whole({
      choices: [
        { index: 0, message: { role: 'assistant', content: null, tool_calls: [made] }, finish_reason: 'tool_calls' },
      ],
    });
    const [{ id: _, ...item }] = body.output as [JsonObject];
    assert.deepEqual(item, {
      type: 'tool_search_call',
      status: 'completed',
      execution: 'client',
      call_id: 'c1',
      arguments: { query: 'issues' },
    });
    const chunk = (delta: JsonObject, reason: string | null = null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
    const streaming = await call('responses', 'chat', { ...first, stream: true });
    const { events } = streaming.stream(
      chunk({ tool_calls: [{ index: 0, ...made, function: { name: 'tool_search', arguments: '{"query":' } }] }) +
        chunk({ tool_calls: [{ index: 0, function: { arguments: '"issues"}' } }] }) +
        chunk({}, 'tool_calls') +
        'data: [DONE]\n\n',
    );
    const done = events.find(({ name }) => name === 'response.output_item.done')?.data as JsonObject;
    const { id: __, ...streamed } = done.item as JsonObject;
    assert.deepEqual(streamed, item, 'the same whole and in a stream');
  });

  it('is told with its result to a vendor of every other style, and what was found can be called', async () => {
    for (const kind of ['chat', 'messages', 'gemini'] as const) {
      const { bytes, warnings } = await call('responses', kind, second);
      for (const words of ['"query":"issues"', 'tracker__list_issues', 'Finds tools.']) {
        assert.ok(bytes.replaceAll('\\"', '"').includes(words), `${kind}: ${words}: ${bytes}`);
      }
      assert.ok(!warnings().some((warning) => warning.includes('tool_search')), `${kind}: ${warnings().join()}`);
    }
  });

  it('by the vendor is none of the client’s calls', async () => {
    const server = { type: 'tool_search', execution: 'server' };
    const { warnings, bytes } = await call('responses', 'chat', { input: [asked], tools: [server, list] });
    assert.deepEqual([warnings(), bytes.includes('tool_search')], [['tools.tool_search:dropped'], false]);
  });
});
