import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scanAnswer, scanJson } from '../../../core/bytes/json-body.ts';
import { GatewayError, type Json, type JsonObject, type Usage } from '../../../core/plugin.ts';
import { NO_TOKENS, packOpaque } from '../../../core/translation/index.ts';
import { responses } from '../../../plugins/styles/responses/index.ts';
import { relayed, styleContract } from '../../kit/contracts/style-contract.ts';
import { ANY_CALL, arriving, patchTo } from '../../kit/gateway/calls.ts';

const usage = (more: Partial<Usage> = {}): Usage => ({ ...NO_TOKENS, ...more });
const told = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 16, cache_write_tokens: 3 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 29,
  prompt_tokens: 20,
  completion_tokens: 9,
};
const request = { model: 'public-name', input: 'Hello?' };
const without = (name: string): JsonObject =>
  Object.fromEntries(Object.entries(request).filter(([key]) => key !== name));

const message = (text: string): JsonObject => ({
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});
const whole = (more: JsonObject = {}): JsonObject => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_700_000_000,
  status: 'completed',
  model: 'm',
  error: null,
  output: [message('Hi 😀 "there"')],
  usage: told,
  ...more,
});
/** As the vendor spells it: the type twice. */
const event = (type: string, fields: JsonObject): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const begun = { ...whole({ output: [], usage: null, status: 'in_progress' }) };
const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const stream: readonly string[] = [
  event('response.created', { sequence_number: 0, response: begun }),
  event('response.in_progress', { sequence_number: 1, response: begun }),
  event('response.output_item.added', { sequence_number: 2, output_index: 0, item: { ...message(''), content: [] } }),
  event('response.content_part.added', { sequence_number: 3, ...place, part: { type: 'output_text', text: '' } }),
  event('response.output_text.delta', { sequence_number: 4, ...place, delta: 'Hi 😀 ', logprobs: [] }),
  event('response.output_text.delta', { sequence_number: 5, ...place, delta: '"there"', logprobs: [] }),
  event('response.output_item.done', { sequence_number: 6, output_index: 0, item: message('Hi 😀 "there"') }),
  event('response.completed', { sequence_number: 7, response: whole() }),
];

styleContract(responses, {
  request,
  refused: [
    [without('model'), 'model'],
    [{ ...request, model: 7 }, 'model'],
    [{ ...request, model: '' }, 'model'],
    [{ ...request, model: 'x'.repeat(257) }, 'model'],
    [{ ...request, input: 7 }, 'input'],
    [{ ...request, input: {} }, 'input'],
    [{ ...request, instructions: ['x'] }, 'instructions'],
    [{ ...request, previous_response_id: 7 }, 'previous_response_id'],
    [{ ...request, temperature: 2.1 }, 'temperature'],
    [{ ...request, temperature: '1' }, 'temperature'],
    [{ ...request, top_p: 1.1 }, 'top_p'],
    [{ ...request, truncation: true }, 'truncation'],
    [{ ...request, tools: {} }, 'tools'],
    [{ ...request, tool_choice: [] }, 'tool_choice'],
    [{ ...request, reasoning: 'low' }, 'reasoning'],
    [{ ...request, max_output_tokens: 0 }, 'max_output_tokens'],
    [{ ...request, max_output_tokens: 1.5 }, 'max_output_tokens'],
    [{ ...request, stream: 'true' }, 'stream'],
  ],
  answer: { body: whole(), usage: usage({ input: 20, cacheRead: 16, cacheWrite: 3, output: 9, reasoning: 4 }) },
  stream,
  error: {
    body: { error: { message: 'No luck.', type: 'server_error', code: 'server_error', param: null } },
    event: event('error', { sequence_number: 3, code: 'server_error', message: 'No luck.', param: null }),
    message: 'No luck.',
  },
});

describe('responses: requests', () => {
  const read = (body: JsonObject) => responses.ingress!.read(scanJson(Buffer.from(JSON.stringify(body))), arriving());

  it('need no input, and may have values that only their vendor validates', () => {
    for (const input of [[], null]) assert.equal(read({ model: 'm', input }).model, 'm');
    assert.equal(read({ model: 'm', truncation: 'cleverly' }).model, 'm');
  });

  it("have the client's limit as their bound, and always request usage", () => {
    const facts = read({ ...request, max_output_tokens: 300 });
    assert.deepEqual([facts.bounds.outputTokens, facts.bounds.choices, facts.asksUsage], [300, 1, true]);
    assert.equal(read(request).bounds.outputTokens, undefined);
  });

  const sealed = (style: string, channel: string | undefined, value: string): string =>
    packOpaque({ style, kind: 'encrypted', value, id: 'rs_theirs', ...(channel !== undefined && { channel }) });
  const thought = (encrypted_content: string): JsonObject => ({
    id: 'rs_ours',
    type: 'reasoning',
    summary: [],
    encrypted_content,
  });
  const sent = (input: Json): Json | undefined => {
    const body = scanJson(Buffer.from(JSON.stringify({ model: 'm', input })));
    return scanJson(
      body.patched(responses.relay.patch!(body, patchTo({ model: 'm', askUsage: false, channel: 'here' }))),
    ).get('input');
  };

  it('return reasoning to the vendor that sealed it, with its id', () => {
    const opened = { ...thought('SEALED'), id: 'rs_theirs' };
    assert.deepEqual(sent([thought(sealed('responses', 'here', 'SEALED'))]), [opened]);
    assert.deepEqual(sent([thought(sealed('responses', undefined, 'SEALED'))]), [opened]);
  });

  it('drop reasoning that another vendor sealed, or that is not sealed, and change nothing else', () => {
    const others = [
      thought(sealed('responses', 'elsewhere', 'x')),
      thought(sealed('messages', 'here', 'x')),
      thought(packOpaque({ style: '', kind: 'thought', value: '' })),
    ];
    const words = { role: 'user', content: sealed('messages', 'here', 'I only quote it') };
    const native = thought('made by the vendor');
    assert.deepEqual(sent([...others, words, native, { ...words, encrypted_content: 7 }]), [
      words,
      native,
      { ...words, encrypted_content: 7 },
    ]);
  });
});

describe('responses: replies', () => {
  const read = (body: JsonObject) => responses.relay.answer(scanAnswer(Buffer.from(JSON.stringify(body)))!, ANY_CALL);

  it('count the maximum output if they are in progress in the background', () => {
    for (const status of ['queued', 'in_progress']) {
      const facts = read(whole({ status, output: [], usage: null, max_output_tokens: 500 }));
      assert.deepEqual([facts?.usage, facts?.error, facts?.textLength()], [undefined, undefined, 2_000]);
      assert.equal(read(whole({ status, output: [], usage: null, max_output_tokens: null }))?.textLength(), 64_000);
    }
  });

  it('are errors if they failed, with or without a message', () => {
    const error = { code: 'server_error', message: 'Broken.' };
    assert.deepEqual(read(whole({ status: 'failed', error }))?.error, error);
    assert.match(read(whole({ status: 'failed' }))?.error?.message ?? '', /without a message/);
  });

  it('have usage under the names of chat completions, too', () => {
    const counted = read(whole({ usage: { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 } }));
    assert.deepEqual(counted?.usage, usage({ input: 5, output: 6 }));
  });

  it('separate long-lived cache writes, and add reasoning that is counted separately from the output', () => {
    const counted = read(
      whole({
        usage: {
          input_tokens: 100,
          input_tokens_details: { cache_write_tokens: 60, cache_write_tokens_details: { ttl_12h_tokens: 50 } },
          output_tokens: 10,
          output_tokens_details: { reasoning_tokens: 7 },
          total_tokens: 117,
        },
      }),
    );
    assert.deepEqual(
      counted?.usage,
      usage({ input: 100, cacheWrite: 10, cacheWriteLong: 50, output: 17, reasoning: 7 }),
    );
  });

  it('count text, refusals, reasoning and arguments of calls', () => {
    const output = [
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: '12' }], content: [{ text: '3' }] },
      { type: 'message', content: [{ type: 'refusal', refusal: '4567' }] },
      { type: 'function_call', name: 'f', arguments: '{}' },
      { type: 'custom_tool_call', name: 'c', input: 'x' },
    ];
    assert.equal(read(whole({ output }))?.textLength(), 10);
  });
});

describe('responses: replies with implausible usage', () => {
  it('have whole counts that are never negative', () => {
    for (const absurd of [1e308, -5, 1.5, '7', [], { a: 1 }, true, null]) {
      const told = {
        input_tokens: 3,
        output_tokens: absurd,
        total_tokens: absurd,
        input_tokens_details: { cached_tokens: absurd, cache_write_tokens: absurd, audio_tokens: absurd },
        output_tokens_details: { reasoning_tokens: absurd },
      };
      const body = whole({ usage: told, status: 'in_progress', max_output_tokens: absurd });
      const facts = responses.relay.answer(scanAnswer(Buffer.from(JSON.stringify(body)))!, ANY_CALL)!;
      const { estimated: _, ...numbers } = facts.usage!;
      for (const [name, value] of Object.entries(numbers)) {
        assert.ok(Number.isSafeInteger(value) && Number(value) >= 0, `${name} of ${String(absurd)} is ${value}`);
      }
      assert.ok(facts.textLength() > 0 && Number.isFinite(facts.textLength()), `a length for ${String(absurd)}`);
    }
  });
});

describe('responses: streams', () => {
  it('hold back events that only start the response', () => {
    const idle = [event('keepalive', { sequence_number: 9 }), ': comment\n\n', 'data: [DONE]\n\n'];
    assert.deepEqual(relayed(responses, [...stream.slice(0, 2), ...idle]).kinds, Array(5).fill('hold'));
  });

  it('keep the whole reply, even if it is incomplete', () => {
    const response = whole({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    const { relay, kinds } = relayed(responses, [...stream.slice(0, 6), event('response.incomplete', { response })]);
    assert.equal(kinds.at(-1), 'last');
    assert.deepEqual(relay.answer?.(), response);
    assert.equal(relay.close([]), 'whole');
  });

  it('are read without event lines, with members in any order', () => {
    const withoutPrefix = stream.map((each) => each.slice(each.indexOf('data:')));
    const sorted = withoutPrefix.map((each) => {
      const entries = Object.entries(JSON.parse(each.slice(5)) as JsonObject);
      return `data:${JSON.stringify(Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))))}\n\n`;
    });
    for (const events of [withoutPrefix, sorted]) {
      const { relay, kinds } = relayed(responses, events);
      assert.deepEqual(kinds, relayed(responses, stream).kinds);
      assert.equal(relay.textLength(), 12);
      assert.deepEqual(relay.answer?.(), whole());
    }
  });

  it('are not misled by a text that looks like an event', () => {
    const delta = '"type":"response.completed","delta":"no"}\n\nevent: error';
    const { relay, kinds } = relayed(responses, [event('response.output_text.delta', { ...place, delta })]);
    assert.deepEqual(kinds, ['pass']);
    assert.equal(relay.textLength(), delta.length);
  });

  it('have the usage as the vendor reports it, in the last event, too', () => {
    assert.equal(relayed(responses, stream).text, stream.join(''));
  });

  it('of a background response that end early are charged for its longest answer, and can be come back for', () => {
    const response = { ...begun, background: true, max_output_tokens: 500 };
    const created = event('response.created', { sequence_number: 0, response });
    const { relay } = relayed(responses, [created, ...stream.slice(1, 6)]);
    assert.deepEqual(relay.pending?.(), response);
    assert.equal(relay.unfinished?.('left')?.output, 500);
    for (const events of [stream.slice(0, 6), [created, ...stream.slice(1)]]) {
      const { relay: other } = relayed(responses, events);
      assert.deepEqual([other.pending?.(), other.unfinished?.('left')], [undefined, undefined]);
    }
  });

  it('are measured by the whole reply if the vendor omits deltas', () => {
    const few = stream.filter((each) => !each.includes('.delta'));
    assert.equal(relayed(responses, few).relay.textLength(), 12);
  });

  it('have error and usage of a failure, nested or not', () => {
    const error = { code: 'insufficient_quota', message: 'No money.' };
    const nested = relayed(responses, [event('error', { error })]);
    assert.deepEqual([nested.kinds[0], nested.relay.error()], ['error', error]);
    const response = whole({ status: 'failed', error });
    const failed = relayed(responses, [...stream.slice(0, 5), event('response.failed', { response })]);
    assert.deepEqual([failed.kinds.at(-1), failed.relay.error()], ['error', error]);
    assert.equal(failed.relay.usage()?.input, 20);
    assert.equal(failed.relay.answer?.(), undefined);
  });

  it('have not ended if the last event is invalid, or has no response', () => {
    for (const end of ['event: response.completed\ndata: {"ty\n\n', event('response.completed', {})]) {
      const { relay, kinds, text } = relayed(responses, [...stream.slice(0, 5), end]);
      assert.equal(kinds.at(-1), 'broken');
      assert.equal(text, stream.slice(0, 5).join(''));
      assert.equal(relay.close([]), 'broken');
    }
  });

  it('end as a failed response with the next sequence number if we break off', () => {
    const { relay } = relayed(responses, stream.slice(0, 5));
    const text = relay.fail(new GatewayError(429, 'rate_limit_exceeded', 'Enough.'), 'request-1');
    assert.equal(
      text,
      event('response.failed', {
        sequence_number: 5,
        response: { ...begun, status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Enough.' } },
      }),
    );
  });

  it('end in a plain error if we break off before the start', () => {
    const { relay } = relayed(responses, [': hello\n\n']);
    assert.equal(
      relay.fail(new GatewayError(502, 'upstream_error', 'Gone.'), 'request-1'),
      event('error', { sequence_number: 0, code: 'upstream_error', message: 'Gone.', param: null }),
    );
  });
});
