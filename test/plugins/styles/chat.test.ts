import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEventSplitter } from '../../../core/bytes/event-splitter.ts';
import { scanAnswer, scanJson } from '../../../core/bytes/json-body.ts';
import type { EventKind, JsonObject, Usage } from '../../../core/plugin.ts';
import { GatewayError } from '../../../core/plugin.ts';
import { NO_TOKENS } from '../../../core/translation/index.ts';
import { collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { chat } from '../../../plugins/styles/chat/index.ts';
import { relayed, styleContract } from '../../kit/contracts/style-contract.ts';
import { ANY_CALL, arriving, patchTo } from '../../kit/gateway/calls.ts';
import { chatBody, chatError, chatEvent, chatEvents, chatRequest, DONE } from '../../kit/gateway/fixtures.ts';
import {
  CHAT_RECORDINGS,
  recordedBytes,
  recordedUsage,
  recordings,
  recordingsAvailable,
} from '../../kit/vendors/recordings.ts';

const usage = (more: Partial<Usage> = {}): Usage => ({ ...NO_TOKENS, ...more });
const request = { model: 'public-name', messages: [{ role: 'user', content: 'Hello?' }] };
const told = { prompt: 20, completion: 9, cached: 16, reasoning: 4 };
const without = (name: string): JsonObject =>
  Object.fromEntries(Object.entries(request).filter(([key]) => key !== name));

styleContract(chat, {
  request,
  refused: [
    [without('model'), 'model'],
    [{ ...request, model: null }, 'model'],
    [{ ...request, model: 7 }, 'model'],
    [{ ...request, model: '' }, 'model'],
    [{ ...request, model: 'x'.repeat(257) }, 'model'],
    [without('messages'), 'messages'],
    [{ ...request, tools: {} }, 'tools'],
    [{ ...request, tool_choice: 1 }, 'tool_choice'],
    [{ ...request, response_format: 'json' }, 'response_format'],
    [{ ...request, reasoning_effort: 5 }, 'reasoning_effort'],
    [{ ...request, modalities: 'text' }, 'modalities'],
    [{ ...request, audio: true }, 'audio'],
    [{ ...request, messages: [] }, 'messages'],
    [{ ...request, messages: 'Hello?' }, 'messages'],
    [{ ...request, messages: null }, 'messages'],
    [{ ...request, temperature: 2.1 }, 'temperature'],
    [{ ...request, temperature: -0.1 }, 'temperature'],
    [{ ...request, temperature: '1' }, 'temperature'],
    [{ ...request, top_p: 1.1 }, 'top_p'],
    [{ ...request, stream: 'true' }, 'stream'],
    [{ ...request, stream_options: [] }, 'stream_options'],
    [{ ...request, max_tokens: 0 }, 'max_tokens'],
    [{ ...request, max_tokens: 1.5 }, 'max_tokens'],
    [{ ...request, max_completion_tokens: -1 }, 'max_completion_tokens'],
    [{ ...request, n: 0 }, 'n'],
    [{ ...request, n: 129 }, 'n'],
    [{ ...request, n: true }, 'n'],
  ],
  answer: {
    body: chatBody({ usage: told }),
    usage: usage({ input: 20, cacheRead: 16, output: 9, reasoning: 4 }),
  },
  stream: chatEvents({ usage: told }),
  usageEvent: chatEvents({ usage: told }).length - 2,
  error: {
    body: chatError('It burns.', 'fire'),
    event: chatEvent(chatError('It burns.', 'fire')),
    message: 'It burns.',
  },
});

const read = (more: JsonObject) =>
  chat.ingress!.read(scanJson(Buffer.from(JSON.stringify(chatRequest(more)))), arriving());

describe('a chat request', () => {
  it('may omit or null every optional field', () => {
    const { stream, asksUsage, bounds } = read({
      temperature: null,
      top_p: null,
      stream: null,
      stream_options: null,
      max_tokens: null,
      max_completion_tokens: null,
      n: null,
    });
    assert.deepEqual([stream, asksUsage, bounds.outputTokens, bounds.choices], [false, false, undefined, 1]);
    assert.ok(read({ temperature: 2, top_p: 1, n: 128 }));
    assert.ok(read({ temperature: 0, top_p: 0 }));
  });

  it('has the largest output limit of all choices as its bound', () => {
    assert.equal(read({ max_tokens: 100 }).bounds.outputTokens, 100);
    assert.equal(read({ max_tokens: 100, max_completion_tokens: 50 }).bounds.outputTokens, 100);
    assert.equal(read({ max_completion_tokens: 50, n: 3 }).bounds.outputTokens, 150);
    assert.equal(read({ max_completion_tokens: 50, n: 2, best_of: 4 }).bounds.outputTokens, 200);
  });

  it('counts images separately from text', () => {
    const url = `data:image/png;base64,${'iVBORw0KGgoAAAAN'.repeat(1_000)}`;
    const parts = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url } },
      { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } },
    ];
    const { bounds } = read({ messages: [{ role: 'user', content: parts }] });
    assert.equal(bounds.media, 2);
    assert.ok(bounds.inputBytes < 300);
  });

  it('says whether the client requested usage', () => {
    assert.equal(read({ stream: true, stream_options: { include_usage: true } }).asksUsage, true);
    assert.equal(read({ stream: true, stream_options: { include_usage: false } }).asksUsage, false);
  });

  it('may have whitespace wherever JSON allows it', () => {
    const body = scanJson(Buffer.from('{"model" : "m", "messages" : [ \n {"role":"user","content":"x"} ] }'));
    assert.equal(chat.ingress!.read(body, arriving()).model, 'm');
    const empty = scanJson(Buffer.from('{"model":"m","messages":[ \n ]}'));
    assert.throws(
      () => chat.ingress!.read(empty, arriving()),
      (error) => error instanceof GatewayError && error.param === 'messages',
    );
  });

  it("keeps the client's stream options if usage is added", () => {
    const body = scanJson(
      Buffer.from(
        '{"model":"m","messages":[1],"stream":true,"stream_options":{"include_usage":false,"include_obfuscation":false}}',
      ),
    );
    const sent = body
      .patched(chat.relay.patch!(body, patchTo({ model: 'm', askUsage: true, channel: 'main' })))
      .toString();
    assert.equal(
      sent,
      '{"model":"m","messages":[1],"stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}}',
    );
  });
});

describe('usage of chat vendors', () => {
  const usageOf = (told: JsonObject): Usage | undefined =>
    chat.relay.answer(scanAnswer(Buffer.from(JSON.stringify({ choices: [], usage: told })))!, ANY_CALL)?.usage;

  it('is found under every name that vendors use', () => {
    const told = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
    assert.deepEqual(usageOf(told), usage({ input: 100, output: 10 }));
    for (const cached of [
      { prompt_tokens_details: { cached_tokens: 64 } },
      { prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 },
      { cached_tokens: 64 },
      { num_cached_tokens: 64 },
      { prompt_tokens_details: null, cached_tokens: 64 },
    ]) {
      assert.deepEqual(usageOf({ ...told, ...cached }), usage({ input: 100, cacheRead: 64, output: 10 }));
    }
    assert.deepEqual(
      usageOf({
        ...told,
        prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 20, audio_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 3, audio_tokens: 2 },
      }),
      usage({ input: 100, cacheRead: 10, cacheWrite: 20, inputAudio: 5, output: 10, reasoning: 3, outputAudio: 2 }),
    );
  });

  it('includes reasoning that a vendor counts separately from the completion', () => {
    const details = { completion_tokens_details: { reasoning_tokens: 40 } };
    assert.deepEqual(
      usageOf({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 55, ...details }),
      usage({ input: 10, output: 45, reasoning: 40 }),
    );
    assert.deepEqual(
      usageOf({ prompt_tokens: 10, completion_tokens: 45, total_tokens: 55, ...details }),
      usage({ input: 10, output: 45, reasoning: 40 }),
    );
  });

  it('does not count cache reads as cache writes', () => {
    const details = { cached_tokens: 2161, cache_write_tokens: 2161 };
    assert.deepEqual(
      usageOf({ prompt_tokens: 2168, completion_tokens: 1, prompt_tokens_details: details }),
      usage({ input: 2168, cacheRead: 2161, cacheWrite: 7, output: 1 }),
    );
  });

  it('is a whole number and never negative', () => {
    assert.deepEqual(usageOf({ prompt_tokens: 10, completion_tokens: -5 }), usage({ input: 10, estimated: true }));
    assert.deepEqual(usageOf({ prompt_tokens: 1.5, completion_tokens: '3' }), usage({ input: 2, estimated: true }));
    assert.equal(usageOf({}), undefined);
    assert.equal(usageOf({ prompt_tokens: '10' }), undefined);
  });
});

describe('a chat answer with the finish reason of a failure', () => {
  const answer = (...reasons: readonly (string | null)[]) => {
    const choices = reasons.map((reason, index) => ({
      index,
      message: { role: 'assistant', content: 'Half of "finish_reason": "error"' },
      finish_reason: reason,
    }));
    return chat.relay.answer(scanAnswer(Buffer.from(JSON.stringify({ choices }, null, 1)))!, ANY_CALL);
  };

  it('is an error, so that the next channel is tried', () => {
    for (const reason of ['error', 'insufficient_system_resource', 'network_error', 'abort']) {
      const { error } = answer(reason)!;
      assert.deepEqual([error?.code, error?.message.includes(reason)], [reason, true]);
    }
    for (const reason of ['stop', 'length', 'whatever', null])
      assert.equal(answer(reason)?.error, undefined, `${reason}`);
  });

  it('is no error if one of its choices is complete', () => {
    assert.equal(answer('error', 'stop')?.error, undefined);
    assert.equal(answer('error', 'error')?.error?.code, 'error');
  });
});

describe('a chat answer', () => {
  const answer = (value: JsonObject) => chat.relay.answer(scanAnswer(Buffer.from(JSON.stringify(value)))!, ANY_CALL);

  it('may have an error that is only a text, and an `error` that is none', () => {
    assert.deepEqual(answer({ error: 'model is loading' })?.error, { message: 'model is loading', code: '' });
    assert.deepEqual(answer({ error: { message: 'no', code: 400 } })?.error, { message: 'no', code: '400' });
    assert.equal(answer({ choices: [], error: null })?.error, undefined);
    assert.equal(answer({ choices: null }), undefined);
  });

  it('has as many characters as its text, reasoning and tool arguments', () => {
    const message = {
      content: 'aé中😀\n"',
      reasoning_content: 'because',
      tool_calls: [{ function: { name: 'f', arguments: '{"a":1}' } }],
    };
    // An emoji is one character in bytes, whatever JavaScript says.
    assert.equal(answer({ choices: [{ message }] })?.textLength(), 6 + 7 + 7);
    const parts = [{ type: 'text', text: 'in a part' }];
    assert.equal(answer({ choices: [{ message: { content: parts } }] })?.textLength(), 9);
    const twice = { reasoning: 'because', reasoning_details: [{ type: 'reasoning.text', text: 'because' }] };
    assert.equal(answer({ choices: [{ message: twice }] })?.textLength(), 7);
  });
});

describe('the chat relay', () => {
  const chunk = (delta: JsonObject, more: JsonObject = {}): string =>
    chatEvent({ id: '1', choices: [{ index: 0, delta, finish_reason: null }], ...more });
  const kindsOf = (events: readonly string[], hideUsage = false): readonly EventKind[] =>
    relayed(chat, events, hideUsage).kinds;

  it('is not misled by text about usage, errors and ends', () => {
    const text = 'data: [DONE] "usage":{"prompt_tokens":1} {"error":{"message":"x"}} "finish_reason":"stop" \\" [DONE]';
    const { relay, kinds } = relayed(
      chat,
      [chunk({ content: text }), chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })],
      true,
    );
    assert.deepEqual(kinds, ['pass', 'pass']);
    assert.deepEqual([relay.usage(), relay.close([]), relay.error()], [undefined, 'broken', undefined]);
    assert.equal(relay.textLength(), 2 * text.length);
  });

  it('reads JSON as other languages format it', () => {
    const { relay, kinds } = relayed(
      chat,
      [
        'data: {"choices": [{"index": 0, "delta": {"content": "\\u4e2d\\u6587"}, "finish_reason": "stop"}], "usage": null}\n\n',
        'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}\n\n',
        'data:[DONE]\n\n',
      ],
      true,
    );
    assert.deepEqual(kinds, ['pass', 'hold', 'last']);
    assert.deepEqual(relay.usage(), usage({ input: 3, output: 2 }));
    assert.deepEqual([relay.textLength(), relay.close([])], [2, 'untidy']);
  });

  it('uses the last usage wherever it is, but ignores zeros after it', () => {
    const at = (place: JsonObject): string => chunk({ content: 'x' }, place);
    const count = (n: number): JsonObject => ({ prompt_tokens: n, completion_tokens: n });
    assert.equal(relayed(chat, [at({ usage: count(1) }), at({ usage: count(2) })], false).relay.usage()?.input, 2);
    assert.equal(relayed(chat, [at({ x_groq: { id: '1', usage: count(3) } })], false).relay.usage()?.input, 3);
    assert.equal(
      relayed(
        chat,
        [chatEvent({ choices: [{ delta: {}, finish_reason: 'stop', usage: count(4) }] })],
        false,
      ).relay.usage()?.input,
      4,
    );
    assert.equal(relayed(chat, [at({ usage: count(5) }), at({ usage: count(0) })], false).relay.usage()?.input, 5);
  });

  it('counts by itself if the vendor reported usage too early, or not the output; zeros at the end are counts', () => {
    const count = (n: number): JsonObject => ({ usage: { prompt_tokens: 20, completion_tokens: n } });
    const words = chunk({ content: 'x'.repeat(4_000) });
    for (const events of [
      [chunk({ role: 'assistant' }, count(1)), words],
      [chunk({ role: 'assistant' }, count(0)), words],
      [words, chatEvent({ choices: [], usage: { prompt_tokens: 20 } })],
    ]) {
      assert.deepEqual(relayed(chat, events).relay.usage(), usage({ input: 20, output: 1_000, estimated: true }));
    }
    assert.deepEqual(relayed(chat, [words, chatEvent({ choices: [], ...count(3) })]).relay.usage()?.output, 3);
    const zeros = chatEvent({ choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } });
    assert.deepEqual(relayed(chat, [words, zeros]).relay.usage(), usage({}));
    assert.equal(relayed(chat, [zeros, words]).relay.usage(), undefined);
    assert.equal(relayed(chat, [words, chatEvent({ choices: [], ...count(0) })]).relay.usage()?.output, 0);
  });

  it('hides an event only if it has nothing but usage', () => {
    const used = { usage: { prompt_tokens: 1, completion_tokens: 1 } };
    assert.deepEqual(
      kindsOf(
        [
          chunk({ content: 'x' }, used),
          chatEvent({ choices: [], ...used }),
          chatEvent(used),
          chatEvent({ choices: [], prompt_filter_results: [] }),
        ],
        true,
      ),
      ['pass', 'hold', 'hold', 'pass'],
    );
  });

  it('recognizes errors in every form, and ignores null', () => {
    assert.deepEqual(kindsOf([chunk({ content: 'x' }, { error: null }), chunk({}, { error: { message: 'x' } })]), [
      'pass',
      'error',
    ]);
    const named = relayed(chat, ['event: error\ndata: {"message":"out of memory","code":"oom"}\n\n'], false);
    assert.deepEqual([named.kinds, named.relay.error()], [['error'], { message: 'out of memory', code: 'oom' }]);
    assert.equal(relayed(chat, ['event: error\ndata: overloaded\n\n'], false).relay.error()?.message, 'overloaded');
    assert.equal(relayed(chat, ['data: {"error": "text"}\n\n'], false).relay.error()?.message, 'text');
    const flat = relayed(chat, ['data: {"object":"error","message":"no memory","code":500}\n\n'], false);
    assert.deepEqual([flat.kinds, flat.relay.error()], [['error'], { message: 'no memory', code: '500' }]);
    assert.deepEqual(kindsOf([chatEvent({ choices: [{ delta: { metadata: { object: 'error' } } }] })]), ['pass']);
    // A choice's own error is the client's to read.
    assert.deepEqual(kindsOf([chatEvent({ choices: [{ delta: {}, error: { message: 'x' } }] })]), ['pass']);
  });

  it('reads an event that starts with a byte order mark, a comment or another line', () => {
    const { relay, kinds } = relayed(
      chat,
      [
        `\uFEFF${chunk({ content: 'ab' })}`,
        `: "\n${chunk({ content: 'cd' })}`,
        `id: 1\n${chunk({ content: 'ef' })}`,
        `: bye\n${DONE}`,
      ],
      false,
    );
    assert.deepEqual(kinds, ['pass', 'pass', 'pass', 'last']);
    assert.equal(relay.textLength(), 6);
  });

  const ofChoice = (index: number, delta: JsonObject, reason: string | null = null): string =>
    chatEvent({ choices: [{ index, delta, finish_reason: reason }] });
  const closing = (events: readonly string[], n = 1): string => {
    const call = { ...ANY_CALL, bounds: { ...ANY_CALL.bounds, choices: n } };
    return relayed(chat, events, false, call).relay.close([]);
  };

  it('completes an answer of several choices once each has a finish reason', () => {
    const words = [ofChoice(0, { content: 'One' }), ofChoice(1, { content: 'Two' })];
    assert.equal(closing([...words, ofChoice(0, {}, 'stop')], 2), 'broken');
    assert.equal(closing([...words, ofChoice(0, {}, 'stop'), ofChoice(1, {}, 'stop')], 2), 'untidy');
    assert.equal(closing([words[0]!, ofChoice(0, {}, 'stop')], 2), 'broken', 'the second may still have come');
  });

  it('ignores an empty finish reason', () => {
    assert.equal(closing([ofChoice(0, { content: 'One' }, '')]), 'broken');
    assert.equal(closing([ofChoice(0, { content: 'One' }, ''), ofChoice(0, {}, 'stop')]), 'untidy');
  });

  it('fails if every choice ends in a failure', () => {
    const { relay, kinds, text } = relayed(chat, [ofChoice(0, { content: 'One' }), ofChoice(0, {}, 'network_error')]);
    assert.deepEqual([kinds, relay.error()?.code], [['pass', 'error'], 'network_error']);
    assert.equal(text, ofChoice(0, { content: 'One' }), 'core tells the client');
  });

  it('forwards an error after the end of the answer, and everything that follows', () => {
    const counted = chatEvent({
      choices: [],
      error: { message: 'Not billed.' },
      usage: { prompt_tokens: 3, completion_tokens: 1 },
    });
    const events = [ofChoice(0, { content: 'One' }), ofChoice(0, {}, 'stop'), counted];
    const { relay, kinds, text } = relayed(chat, [...events, DONE]);
    assert.deepEqual(kinds, ['pass', 'pass', 'pass', 'last']);
    assert.equal(text, [...events, DONE].join(''));
    assert.deepEqual([relay.error(), relay.usage()?.input], [undefined, 3]);
    const out: (Buffer | string)[] = [];
    assert.equal(relayed(chat, events).relay.close(out), 'whole');
    assert.deepEqual(out, [], 'no good end behind an error');
    const both = chatEvent({ choices: [{ index: 0, delta: {}, finish_reason: 'error' }], error: { message: 'No.' } });
    assert.deepEqual(relayed(chat, [ofChoice(0, { content: 'One' }), both]).kinds, ['pass', 'error']);
  });

  it('finds the end of a stream without its last blank line', () => {
    const begun = chunk({ content: 'x' });
    assert.deepEqual(kindsOf([begun, 'data: [DONE]']), ['pass', 'last']);
    assert.deepEqual(kindsOf([begun, 'data: [DONE]\r\r']), ['pass', 'last']);
  });
});

if (recordingsAvailable)
  describe('recorded chat traffic', () => {
    const all = recordings(CHAT_RECORDINGS).filter(({ status }) => status === 200);

    it('has the recorded usage in every whole reply', () => {
      const whole = all.filter(({ sse }) => sse === undefined);
      assert.ok(whole.length > 200);
      for (const recording of whole) {
        const facts = chat.relay.answer(scanAnswer(recordedBytes(recording))!, ANY_CALL);
        assert.ok(facts !== undefined, recording.id);
        assert.deepEqual(facts.usage, recordedUsage(recording), recording.id);
      }
    });

    it('has the recorded usage, text and end in every stream, in chunks of any size', () => {
      const streams = all.filter(({ sse }) => sse !== undefined);
      assert.ok(streams.length > 30);
      for (const recording of streams) {
        const bytes = recordedBytes(recording);
        const first = metered(bytes, bytes.length);
        assert.deepEqual(first.usage, recordedUsage(recording), recording.id);
        assert.equal(first.text, bytes.toString(), recording.id);
        const gaveUp = /^data: {"error"/m.test(recording.sse ?? '');
        assert.equal(first.kinds.includes('error'), gaveUp, recording.id);
        if (!gaveUp) {
          assert.equal(first.kinds.indexOf('last'), first.kinds.length - 1, recording.id);
          assert.ok(first.textLength > 0, recording.id);
        }
        for (const size of [1, 2, 7, 64, 1_000])
          assert.deepEqual(metered(bytes, size), first, `${recording.id} by ${size}`);
      }
    });

    it('decodes every recorded request', () => {
      for (const { id, request } of recordings(CHAT_RECORDINGS)) {
        const facts = chat.ingress!.read(scanJson(Buffer.from(JSON.stringify(request))), arriving());
        assert.equal(facts.model, request.model, id);
        assert.equal(facts.stream, request.stream ?? false, id);
      }
    });
  });

/** A stream through splitter and relay in chunks of one size. */
function metered(bytes: Buffer, size: number) {
  const splitter = createEventSplitter({ maxBytes: 1_000_000 });
  const relay = chat.relay.stream!({ hideUsage: false, call: ANY_CALL, warnings: collectWarnings({}) });
  const kinds: EventKind[] = [];
  const out: (Buffer | string)[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    for (const event of splitter.push(bytes.subarray(at, at + size))!) kinds.push(relay.see(event, out));
  }
  const rest = splitter.rest();
  if (rest.length > 0) kinds.push(relay.see(rest, out));
  const [usage, textLength, error] = [relay.usage(), relay.textLength(), relay.error()];
  return { usage, textLength, error, kinds, text: Buffer.concat(out.map((piece) => Buffer.from(piece))).toString() };
}
