/** What clients are promised of answers whose vendor speaks their style: it is there although the vendor leaves it out, and named. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Json, JsonObject } from '../../../core/plugin.ts';
import { openStand, type Stand } from '../../clients/stand.ts';
import { eventStream, jsonAnswer, sized } from '../../kit/vendors/script.ts';
import { CLIENTS, type ClientName } from '../faults/style-clients.ts';

const TOLD = { input_tokens: 12, output_tokens: 5, total_tokens: 17 };

/** A response as its own vendor writes it. */
const response = (more: JsonObject = {}): JsonObject => ({
  id: 'resp_vendor1',
  object: 'response',
  status: 'completed',
  model: 'gpt-5.1-2025-11-13',
  error: null,
  previous_response_id: null,
  output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi', annotations: [] }] }],
  usage: TOLD,
  ...more,
});
const event = (type: string, data: JsonObject): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const responseEvents = (more: JsonObject = {}): readonly string[] => [
  event('response.created', {
    sequence_number: 0,
    response: { ...response(more), status: 'in_progress', output: [], usage: null },
  }),
  event('response.output_text.delta', { sequence_number: 1, delta: 'Hi' }),
  event('response.completed', { sequence_number: 2, response: response(more) }),
];
const message = (usage: Json): JsonObject => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-of-vendor' },
  ...{ content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn', stop_sequence: null, usage },
});
const firstChoice: JsonObject = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' };
const chatAnswer: JsonObject = {
  ...{ id: 'c1', object: 'chat.completion', created: 7, model: 'llama-of-vendor' },
  choices: [firstChoice],
};
const chatChunk = (delta: JsonObject, reason: string | null): string => {
  const about = { id: 'c1', object: 'chat.completion.chunk', created: 7, model: 'llama-of-vendor' };
  return `data: ${JSON.stringify({ ...about, choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
};

describe('an answer of a vendor that speaks the style of its client', () => {
  let stand: Stand;
  before(async () => {
    stand = await openStand(3);
  });
  after(() => stand?.stop());

  async function ask(client: ClientName, model: string, more: JsonObject = {}) {
    const { path, headers, ask: question } = CLIENTS[client];
    const answer = await fetch(stand.root + path, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${stand.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...question(model), ...more }),
    });
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    return { text, body: text.startsWith('{') ? (JSON.parse(text) as Record<string, JsonObject>) : {}, answer };
  }
  const named = (answer: Response): string | null => answer.headers.get('x-turnpike-translation');
  const lastOf = (text: string): Record<string, JsonObject> => {
    const data = text.trim().split('\n\n').at(-1)?.split('data: ')[1] ?? '{}';
    return JSON.parse(data) as Record<string, JsonObject>;
  };

  it('has the usage of its vendor on responses, whole, streamed and when it is read again', async () => {
    stand.vendor.next(jsonAnswer(200, response()));
    const { body, answer } = await ask('responses', 'responses-0');
    assert.deepEqual(body.usage, TOLD);
    assert.equal(named(answer), null);
    stand.vendor.next(eventStream(responseEvents({ id: 'resp_vendor2' })));
    const { text } = await ask('responses', 'responses-0', { stream: true });
    assert.equal(text, responseEvents({ id: 'resp_vendor2' }).join(''));
    for (const id of ['resp_vendor1', 'resp_vendor2']) {
      const kept = await fetch(`${stand.v1}/responses/${id}`, { headers: { authorization: `Bearer ${stand.key}` } });
      assert.deepEqual(((await kept.json()) as Record<string, JsonObject>).usage, TOLD, id);
    }
  });

  it('passes untouched where nothing is missing', async () => {
    const whole = JSON.stringify(response({ id: 'resp_whole', usage: TOLD }));
    stand.vendor.next(jsonAnswer(200, response({ id: 'resp_whole', usage: TOLD })));
    const { text, answer } = await ask('responses', 'responses-0');
    assert.equal(text, whole);
    assert.equal(named(answer), null);
  });

  it('names the response that it goes on from where its turns were told anew', async () => {
    stand.vendor.next(jsonAnswer(200, chatAnswer));
    const { body: first } = await ask('responses', 'chat-0');
    const previous = { previous_response_id: first.id as unknown as string };
    stand.vendor.next(jsonAnswer(200, response({ id: 'resp_next', usage: TOLD })));
    const { body, answer } = await ask('responses', 'responses-0', previous);
    assert.equal(body.previous_response_id, first.id);
    assert.equal(named(answer), 'previous_response_id:changed');
    stand.vendor.next(eventStream(responseEvents({ id: 'resp_streamed' })));
    const { text } = await ask('responses', 'responses-0', { ...previous, stream: true });
    assert.equal(text.match(new RegExp(`"previous_response_id":"${String(first.id)}"`, 'g'))?.length, 2);
    for (const id of ['resp_next', 'resp_streamed']) {
      const kept = await fetch(`${stand.v1}/responses/${id}`, { headers: { authorization: `Bearer ${stand.key}` } });
      assert.equal(((await kept.json()) as JsonObject).previous_response_id, first.id);
    }
  });

  it('has usage in chat though its vendor does not count', async () => {
    stand.vendor.next(jsonAnswer(200, chatAnswer));
    const { body, answer } = await ask('chat', 'chat-0');
    assert.equal(body.usage?.completion_tokens, 1);
    assert.ok(Number(body.usage?.prompt_tokens) > 0);
    assert.equal(named(answer), 'usage:changed');
    const events = [chatChunk({ content: 'Hi' }, null), chatChunk({}, 'stop')];
    stand.vendor.next(eventStream([...events, 'data: [DONE]\n\n']));
    const { text } = await ask('chat', 'chat-0', { stream: true, stream_options: { include_usage: true } });
    const own = text.slice(events.join('').length, -'data: [DONE]\n\n'.length);
    assert.equal(text, `${events.join('')}${own}data: [DONE]\n\n`);
    const { usage, choices, id } = lastOf(own) as JsonObject & { readonly usage?: JsonObject };
    assert.deepEqual([usage?.completion_tokens, choices, id], [1, [], 'c1']);
    stand.vendor.next(eventStream([...events, 'data: [DONE]\n\n']));
    const { text: plain } = await ask('chat', 'chat-0', { stream: true });
    assert.equal(plain, `${events.join('')}data: [DONE]\n\n`, 'nobody asked for it');
  });

  it('has usage in chat though its vendor reports it in a place of its own', async () => {
    const told = { prompt_tokens: 50, completion_tokens: 20, total_tokens: 70 };
    const end = (more: JsonObject, choice: JsonObject = {}) => {
      const about = { id: 'c1', object: 'chat.completion.chunk', created: 7, model: 'llama-of-vendor' };
      const choices = [{ index: 0, delta: {}, finish_reason: 'stop', ...choice }];
      return `data: ${JSON.stringify({ ...about, choices, ...more })}\n\n`;
    };
    for (const last of [end({}, { usage: told }), end({ x_groq: { id: 'x', usage: told } })]) {
      for (const done of ['data: [DONE]\n\n', '']) {
        stand.vendor.next(
          eventStream([chatChunk({ content: 'Hi' }, null), last, done].filter((event) => event !== '')),
        );
        const { text } = await ask('chat', 'chat-0', { stream: true, stream_options: { include_usage: true } });
        const { usage, choices } = lastOf(text.replace('data: [DONE]\n\n', '')) as Record<string, JsonObject>;
        assert.deepEqual([usage?.prompt_tokens, usage?.completion_tokens, choices], [50, 20, []]);
      }
    }
    stand.vendor.next(jsonAnswer(200, { ...chatAnswer, choices: [{ ...firstChoice, usage: told }] }));
    const { body } = await ask('chat', 'chat-0');
    assert.deepEqual([body.usage?.prompt_tokens, body.usage?.completion_tokens], [50, 20]);
  });

  it('has four counts in messages', async () => {
    const four = {
      input_tokens: 9,
      output_tokens: 3,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    };
    stand.vendor.next(jsonAnswer(200, message({ input_tokens: 9, output_tokens: 3 })));
    const { body, answer } = await ask('messages', 'messages-0');
    assert.deepEqual(body.usage, four);
    assert.equal(named(answer), 'usage:changed');
    const start = { ...message({ input_tokens: 9, output_tokens: 3 }), content: [], stop_reason: null };
    const rest = [
      event('content_block_start', { index: 0, content_block: { type: 'text', text: 'Hi' } }),
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } }),
      event('message_stop', {}),
    ];
    stand.vendor.next(eventStream([event('message_start', { message: start }), ...rest]));
    const { text } = await ask('messages', 'messages-0', { stream: true });
    assert.equal(text, event('message_start', { message: { ...start, usage: four } }) + rest.join(''));
  });

  it('says the vendor’s name for the model, and so does one that is translated', async () => {
    for (const client of ['chat', 'messages', 'responses'] satisfies ClientName[]) {
      for (const stream of [false, true]) {
        stand.vendor.next(
          stream
            ? eventStream([chatChunk({ content: 'Hi' }, null), chatChunk({}, 'stop'), 'data: [DONE]\n\n'])
            : jsonAnswer(200, chatAnswer),
        );
        const { text } = await ask(client, 'chat-0', { stream });
        assert.ok(text.includes('"model":"llama-of-vendor"') && !text.includes('"chat-0"'), `${client}: ${text}`);
      }
    }
  });

  it('is asked of the next channel, and is 502, where it is nested too deeply to be read', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const whole = JSON.stringify(chatAnswer).replace('"Hi"', deep);
    const called = JSON.stringify(chatAnswer).replace(
      '"content":"Hi"',
      `"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":${JSON.stringify(deep)}}}]`,
    );
    for (const client of ['messages', 'responses', 'chat'] satisfies ClientName[]) {
      for (const text of [whole, called]) {
        stand.vendor.forget();
        stand.vendor.next(sized(200, 'application/json', text));
        const { path, headers, ask: question } = CLIENTS[client];
        const answer = await fetch(stand.root + path, {
          method: 'POST',
          headers: { ...headers, authorization: `Bearer ${stand.key}`, 'content-type': 'application/json' },
          body: JSON.stringify(question('chat-0')),
        });
        // Arguments that nobody can read are still text.
        assert.equal(answer.status, text === whole ? 502 : 200, await answer.text());
      }
    }
  });
});
