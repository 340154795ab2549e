/** JSON inside of texts that is nested deeper than anybody means: it stays a text, and ends in nobody's stack. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../core/contracts/formats/json.ts';
import { at, call, chatDelta, geminiParts, geminiSays, list, piece, sent, type VendorKind } from './kit.ts';

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

describe('JSON that is nested too deeply', () => {
  const history = (input: string, result: string): JsonObject => ({
    messages: [
      { role: 'user', content: 'Hello?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: input } }],
      },
      { role: 'tool', tool_call_id: 'c', content: result },
    ],
  });

  for (const kind of ['messages', 'gemini', 'responses'] satisfies VendorKind[]) {
    it(`is told to a vendor that speaks ${kind} as a text, where a tool or a model wrote it`, async () => {
      const bytes = JSON.stringify(await sent('chat', kind, history(DEEP, DEEP)));
      assert.equal(bytes.split(JSON.stringify(DEEP)).length, 3, 'the arguments and the result');
    });
  }

  it('is what a free text tool is called with, whole and in pieces', async () => {
    const tools = [{ type: 'custom', name: 'run' }];
    const request = { input: 'Run!', tools };
    const text = `{"input":${DEEP}}`;
    const whole = await call('responses', 'chat', request);
    const { body } = whole.whole({
      choices: [{ message: { tool_calls: [{ id: 'c', function: { name: 'run', arguments: text } }] } }],
    });
    assert.equal(at(body, 'output', 0, 'input'), text);
    const { stream } = await call('responses', 'chat', { ...request, stream: true });
    const half = text.length / 2;
    const chunks = [piece(0, text.slice(0, half), 'c', 'run'), piece(0, text.slice(half))].map((delta) =>
      chatDelta(delta),
    );
    const said = stream([...chunks, chatDelta({}, 'stop'), 'data: [DONE]\n\n'].join(''));
    const last = said.events.at(-1)?.data as JsonObject;
    assert.equal(at(list(last, 'response', 'output')[0], 'input'), text);
  });
});

describe('an event that is a list of answers', () => {
  it('is a part of the answer, and missed where it is cut', async () => {
    const answer = geminiParts([{ text: 'Hello' }]);
    const end = geminiSays([geminiParts([{ text: '.' }], {}, 'STOP')]);
    const { stream } = await call('chat', 'gemini', { stream: true });
    assert.equal(stream(`data: ${JSON.stringify([answer])}\n\n${end}`).ended, true);
    const cut = (await call('chat', 'gemini', { stream: true })).stream(
      `data: ${JSON.stringify([answer]).slice(0, -9)}\n\n${end}`,
    );
    assert.equal(cut.ended, false);
  });
});
