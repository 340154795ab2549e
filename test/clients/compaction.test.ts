/** Coding clients that ask for a summary of a conversation, and go on with it: `compaction_trigger`, as Codex sends it. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import type { JsonObject } from '../../core/plugin.ts';
import type { Scenario } from '../kit/speech.ts';
import { KIND_NAMES, modelOf, openStand, type Stand } from './stand.ts';

const SUMMARY = 'The task: count the gates. Found: 17, in gates.txt.';
const says = (...text: readonly string[]): Scenario => ({
  ...{ text, end: 'stop', usage: { input: 120, cached: 0, output: 7, reasoning: 0 } },
});
const conversation: OpenAI.Responses.ResponseInputItem[] = [
  { role: 'user', content: 'Count the gates.' },
  { role: 'assistant', content: 'I count.' },
];
const tools: OpenAI.Responses.FunctionTool[] = [
  { type: 'function', name: 'count', strict: false, parameters: { type: 'object', properties: {} } },
];
/** Newer than the types of the client. */
const trigger = { type: 'compaction_trigger' } as unknown as OpenAI.Responses.ResponseInputItem;

describe('a summary in place of a conversation', () => {
  let stand: Stand;
  let client: OpenAI;
  before(async () => {
    stand = await openStand(1);
    client = new OpenAI({ baseURL: stand.v1, apiKey: stand.key, maxRetries: 0 });
  });
  after(() => stand.stop());
  const sent = (): string => stand.vendor.requests.at(-1)!.body.toString();
  const translated = KIND_NAMES.filter((kind) => kind !== 'responses');

  /** The items of the answer, whole or from the events of a stream. */
  async function summarized(model: string, stream: boolean, more: JsonObject = {}): Promise<readonly JsonObject[]> {
    const body = { model, tools, store: false, input: [...conversation, trigger], ...more };
    if (!stream) return (await client.responses.create(body)).output as unknown as readonly JsonObject[];
    const items: JsonObject[] = [];
    for await (const event of await client.responses.create({ ...body, stream: true })) {
      if (event.type === 'response.output_item.done') items.push(event.item as unknown as JsonObject);
      if (event.type === 'response.completed') assert.deepEqual(event.response.output, items);
    }
    return items;
  }

  for (const kind of translated) {
    it(`is written by a model that has no such thing, and read by all: ${kind}`, async () => {
      for (const stream of [false, true]) {
        stand.next({ ...says(...SUMMARY.split(/(?=:)/)), reasoning: ['I sum up.'] });
        const items = await summarized(modelOf(kind), stream);
        assert.deepEqual(
          items.map(({ type }) => type),
          ['compaction'],
        );
        assert.match(sent(), /Count the gates\.[\s\S]*I count\.[\s\S]*replaced by a summary/);
        for (const other of KIND_NAMES) {
          stand.next(says('18 now.'));
          const input = [...items, { role: 'user', content: 'Go on.' }] as unknown as OpenAI.Responses.ResponseInput;
          const { output_text: text } = await client.responses.create({ model: modelOf(other), store: false, input });
          assert.equal(text, '18 now.');
          assert.ok(sent().includes(SUMMARY) && sent().includes('Go on.'), sent());
          assert.doesNotMatch(sent(), /turnpike-sealed|compaction/);
        }
      }
    });
  }

  it('is no call of a tool and no JSON, whatever the request asks for beside it', async () => {
    stand.next(says(SUMMARY));
    const format = { type: 'json_schema', name: 'x', schema: { type: 'object', properties: {} } };
    await summarized('chat-0', false, { tool_choice: 'required', text: { format } });
    const { tool_choice: choice, tools: offered, response_format: form } = JSON.parse(sent()) as JsonObject;
    assert.deepEqual([choice, (offered as readonly JsonObject[]).length, form], ['none', 1, undefined]);
  });

  it('is missing if the answer is cut or empty: the conversation would be lost', async () => {
    for (const scenario of [{ ...says('The task:'), end: 'length' as const }, says('  ')]) {
      for (const stream of [false, true]) {
        stand.next(scenario);
        assert.deepEqual(await summarized('chat-0', stream), []);
      }
    }
  });

  it('is asked of a vendor of this API in its own words', async () => {
    // This one does not know them.
    await assert.rejects(summarized('responses-0', false), /The vendor minds: input\[2\]\.type compaction_trigger/);
  });

  it('is refused if it is asked for before the end', async () => {
    const input = [trigger, ...conversation];
    await assert.rejects(
      client.responses.create({ model: 'chat-0', input }),
      /`input\[0\]\.type` must be that of the last/,
    );
  });
});
