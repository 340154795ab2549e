import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEventSplitter } from '../../../core/bytes/event-splitter.ts';
import { scanAnswer, scanJson } from '../../../core/bytes/json-body.ts';
import { GatewayError, type Headers, type JsonObject, type Usage } from '../../../core/plugin.ts';
import { NO_TOKENS, packOpaque } from '../../../core/translation/index.ts';
import { messages } from '../../../plugins/styles/messages/index.ts';
import { relayed, styleContract } from '../../kit/contracts/style-contract.ts';
import { ANY_CALL, arriving, patchTo } from '../../kit/gateway/calls.ts';
import { recordedBytes, recordings, recordingsAvailable } from '../../kit/vendors/recordings.ts';

const usage = (more: Partial<Usage> = {}): Usage => ({ ...NO_TOKENS, ...more });
const request: JsonObject = {
  model: 'public-name',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hello?' }],
};
const without = (name: string): JsonObject =>
  Object.fromEntries(Object.entries(request).filter(([key]) => key !== name));
const event = (type: string, data: JsonObject = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

const message: JsonObject = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'vendor-name',
  content: [],
  stop_reason: null,
  stop_sequence: null,
};
const begun: JsonObject = {
  input_tokens: 10,
  output_tokens: 1,
  cache_creation_input_tokens: 6,
  cache_read_input_tokens: 4,
  cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 2 },
};
const told = { ...begun, output_tokens: 9, output_tokens_details: { thinking_tokens: 3 } };
const ended = { input_tokens: 10, output_tokens: 9, output_tokens_details: { thinking_tokens: 3 } };
const start = event('message_start', { message: { ...message, usage: begun } });
const delta = (index: number, content: JsonObject): string => event('content_block_delta', { index, delta: content });
const block = (index: number, content: JsonObject, deltas: readonly JsonObject[]): readonly string[] => [
  event('content_block_start', { index, content_block: content }),
  ...deltas.map((each) => delta(index, each)),
  event('content_block_stop', { index }),
];
const last = [
  event('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: ended }),
  event('message_stop'),
];
const stream = [
  start,
  event('ping'),
  ...block(0, { type: 'thinking', thinking: '', signature: '' }, [
    { type: 'thinking_delta', thinking: 'hm "m"' },
    { type: 'signature_delta', signature: 'SIG' },
  ]),
  ...block(1, { type: 'text', text: '' }, [
    { type: 'text_delta', text: 'Hé\n' },
    { type: 'text_delta', text: 'you "text":"\\' },
  ]),
  ...block(2, { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }, [
    { type: 'input_json_delta', partial_json: '' },
    { type: 'input_json_delta', partial_json: '{"a":' },
    { type: 'input_json_delta', partial_json: '1}' },
  ]),
  ...last,
];

styleContract(messages, {
  request,
  refused: [
    [without('model'), 'model'],
    [{ ...request, model: 7 }, 'model'],
    [{ ...request, model: 'x'.repeat(257) }, 'model'],
    [without('messages'), 'messages'],
    [{ ...request, system: 5 }, 'system'],
    [{ ...request, top_k: 'x' }, 'top_k'],
    [{ ...request, stop_sequences: 'x' }, 'stop_sequences'],
    [{ ...request, tools: {} }, 'tools'],
    [{ ...request, tool_choice: 'auto' }, 'tool_choice'],
    [{ ...request, thinking: 'on' }, 'thinking'],
    [{ ...request, messages: [] }, 'messages'],
    [{ ...request, messages: 'Hello?' }, 'messages'],
    [{ ...request, messages: ['Hello?'] }, 'messages[0]'],
    [
      {
        ...request,
        messages: [
          { role: 'user', content: 'x' },
          { role: 'tool', content: 'x' },
        ],
      },
      'messages[1].role',
    ],
    [{ ...request, messages: [{ content: 'x' }] }, 'messages[0].role'],
    [without('max_tokens'), 'max_tokens'],
    [{ ...request, max_tokens: null }, 'max_tokens'],
    [{ ...request, max_tokens: -1 }, 'max_tokens'],
    [{ ...request, max_tokens: 1.5 }, 'max_tokens'],
    [{ ...request, max_tokens: '100' }, 'max_tokens'],
    [{ ...request, temperature: 1.1 }, 'temperature'],
    [{ ...request, temperature: -0.1 }, 'temperature'],
    [{ ...request, top_p: 2 }, 'top_p'],
    [{ ...request, stream: 'true' }, 'stream'],
  ],
  answer: {
    body: {
      ...message,
      content: [
        { type: 'thinking', thinking: 'hm "m"', signature: 'SIG' },
        { type: 'text', text: 'Hé\nyou "text":"\\' },
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
      usage: told,
    },
    usage: usage({ input: 20, cacheRead: 4, cacheWrite: 4, cacheWriteLong: 2, output: 9, reasoning: 3 }),
  },
  stream,
  error: {
    body: { type: 'error', error: { type: 'api_error', message: 'It burns.' } },
    event: event('error', { error: { type: 'api_error', message: 'It burns.' } }),
    message: 'It burns.',
  },
});

const bodyOf = (body: JsonObject) => scanJson(Buffer.from(JSON.stringify(body)));
const needed = messages.ingress!.headers!;
const read = (more: JsonObject, headers: Headers = needed) =>
  messages.ingress!.read(bodyOf({ ...request, ...more }), arriving(headers));

describe('a messages request', () => {
  it('may request 0 tokens, to fill a cache', () => {
    assert.equal(read({ max_tokens: 0 }).bounds.outputTokens, 0);
    assert.equal(read({}).bounds.outputTokens, 100);
  });

  it('may have system messages inside the conversation', () => {
    const system = { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] };
    assert.equal(read({ messages: [{ role: 'user', content: 'x' }, system] }).model, 'public-name');
  });

  it('needs a version that is a date, and is told what to send otherwise', () => {
    for (const version of ['2023-06-01', '2026-10-21']) {
      assert.equal(read({}, { 'anthropic-version': version }).asksUsage, true);
    }
    const wrong = ['', 'latest', '2023-6-1', '2023-06-01x'].map((version) => ({ 'anthropic-version': version }));
    for (const headers of [{}, ...wrong]) {
      assert.throws(
        () => read({}, headers),
        {
          status: 400,
          code: 'invalid_request_error',
          param: 'anthropic-version',
          message: '`anthropic-version` must be sent as a header, a date such as 2023-06-01.',
        },
        JSON.stringify(headers),
      );
    }
  });

  it('is refused as invalid JSON if its messages are', () => {
    const broken = Buffer.from('{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a\u0001b"}]}');
    assert.throws(
      () => messages.ingress!.read(scanJson(broken), arriving(needed)),
      (error) => error instanceof GatewayError && error.code === 'invalid_json',
    );
  });

  it('keeps its bytes, whatever its numbers and escapes look like', () => {
    const bytes = Buffer.from(
      '{ "temperature":1.0,"max_tokens":1e2,"model":"m" ,"messages":[{"role":"user","content":"\\u00e9"}] }',
    );
    const body = scanJson(bytes);
    const patch = messages.relay.patch!(body, patchTo({ model: 'other', askUsage: true, channel: 'main' }));
    assert.equal(body.patched(patch).toString(), bytes.toString().replace('"m"', '"other"'));
  });
});

describe('sealed reasoning in a messages request', () => {
  const sealed = (channel: string, kind: 'signature' | 'redacted', style = 'messages') => ({
    type: 'thinking',
    thinking: kind === 'redacted' ? '' : 'hmm',
    signature: packOpaque({ style, channel, kind, value: 'SEAL' }),
  });
  const sent = (content: readonly JsonObject[]): JsonObject => {
    const body = bodyOf({
      ...request,
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content },
      ],
    });
    const patch = messages.relay.patch!(body, patchTo({ model: 'public-name', askUsage: false, channel: 'main' }));
    return JSON.parse(body.patched(patch).toString()) as JsonObject;
  };
  const text = { type: 'text', text: 'Hi.' };

  it('is unpacked for the channel that made it', () => {
    const content = [sealed('main', 'signature'), sealed('main', 'redacted'), text];
    assert.deepEqual((sent(content).messages as readonly JsonObject[])[1]?.content, [
      { type: 'thinking', thinking: 'hmm', signature: 'SEAL' },
      { type: 'redacted_thinking', data: 'SEAL' },
      text,
    ]);
  });

  it('is dropped for all others, with a message that has nothing else', () => {
    const own = { type: 'thinking', thinking: 'own', signature: 'theirs' };
    const foreign = [sealed('other', 'signature'), sealed('main', 'signature', 'responses')];
    assert.deepEqual((sent([...foreign, own, text]).messages as readonly JsonObject[])[1]?.content, [own, text]);
    assert.equal((sent(foreign).messages as readonly JsonObject[]).length, 1);
  });
});

describe('a messages request with pending tool results', () => {
  const call = { type: 'tool_use', id: 'c', name: 'f', input: {} };
  const done = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'ok' }] };
  const thoughtOf = (channel: string): JsonObject => ({
    type: 'thinking',
    thinking: 'hmm',
    signature: packOpaque({ style: 'messages', channel, kind: 'signature', value: 'SEAL' }),
  });
  const sent = (messages_: readonly JsonObject[], more: JsonObject = {}): JsonObject => {
    const thinking = { type: 'enabled', budget_tokens: 1_024 };
    const body = bodyOf({ ...request, thinking, messages: messages_, ...more });
    return JSON.parse(
      body.patched(messages.relay.patch!(body, patchTo({ model: 'm', askUsage: false, channel: 'main' }))).toString(),
    ) as JsonObject;
  };
  const loop = (...thoughts: readonly JsonObject[]): readonly JsonObject[] => [
    { role: 'user', content: 'Go.' },
    { role: 'assistant', content: [...thoughts, call] },
    done,
  ];

  it('turns reasoning off if its earlier reasoning was sealed for another channel', () => {
    assert.equal(sent(loop(thoughtOf('other'))).thinking, undefined);
    const edits = [{ type: 'clear_thinking_20251015' }, { type: 'clear_tool_uses_20250919' }];
    const managed = sent(loop(thoughtOf('other')), { context_management: { edits } });
    assert.deepEqual(managed.context_management, { edits: edits.slice(1) });
  });

  it('keeps reasoning if none was lost, if the turn has ended, and if the model decides', () => {
    assert.ok(sent(loop(thoughtOf('main'))).thinking !== undefined, 'its own thought');
    const other = loop(thoughtOf('other'));
    assert.ok(sent(loop(thoughtOf('other'), thoughtOf('main'))).thinking !== undefined, 'one of two');
    const later = [...other, { role: 'assistant', content: 'Done.' }, { role: 'user', content: 'More?' }];
    assert.ok(sent(later).thinking !== undefined, 'a loop that is over');
    assert.ok(sent(other, { thinking: { type: 'adaptive' } }).thinking !== undefined, 'adaptive');
    // What the client itself left out is its own affair.
    const withoutPrefix = [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: [call, thoughtOf('other')] },
      done,
    ];
    assert.ok(sent(withoutPrefix).thinking !== undefined, 'never there');
  });
});

describe('a messages stream', () => {
  it('is charged by our own count if the vendor sent only a placeholder', () => {
    const said = block(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'x'.repeat(40_000) }]);
    const ending = (told: JsonObject): string =>
      event('message_delta', { delta: { stop_reason: 'end_turn' }, ...told });
    for (const told of [{}, { usage: {} }]) {
      const { relay } = relayed(messages, [start, ...said, ending(told), event('message_stop')]);
      assert.deepEqual([relay.usage()?.input, relay.usage()?.output, relay.usage()?.estimated], [20, 10_000, true]);
    }
    const { relay } = relayed(messages, [start, ...said, ending({ usage: { output_tokens: 9 } })]);
    assert.deepEqual([relay.usage()?.output, relay.usage()?.estimated], [9, false]);
    const zero = relayed(messages, [start, ...said, ending({ usage: { output_tokens: 0 } }), event('message_stop')]);
    assert.deepEqual([zero.relay.usage()?.output, zero.relay.usage()?.estimated], [0, false]);
  });

  it('commits with its first block, not with events before it', () => {
    assert.deepEqual(relayed(messages, stream.slice(0, 3)).kinds, ['hold', 'hold', 'pass']);
    assert.deepEqual(relayed(messages, [start, stream[2]!, event('ping')]).kinds, ['hold', 'pass', 'pass']);
  });

  it('uses later usage, except zeros and nulls', () => {
    const zeros = { input_tokens: 0, output_tokens: 5, cache_read_input_tokens: null };
    const events = [start, event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: zeros })];
    const counted = relayed(messages, events).relay.usage();
    assert.deepEqual(counted, usage({ input: 20, cacheRead: 4, cacheWrite: 4, cacheWriteLong: 2, output: 5 }));
    const more = { input_tokens: 50, output_tokens: 5 };
    const grown = relayed(messages, [start, event('message_delta', { delta: {}, usage: more })]).relay.usage();
    assert.equal(grown?.input, 60);
  });

  it('counts the usage of a compaction before the answer', () => {
    const shortened = { ...begun, output_tokens: 50, type: 'compaction' };
    const all = { input_tokens: 3, output_tokens: 9, iterations: [shortened, { ...ended, type: 'message' }] };
    const { relay } = relayed(messages, [start, event('message_delta', { delta: {}, usage: all })]);
    const counts = { input: 33, cacheRead: 8, cacheWrite: 8, cacheWriteLong: 4, output: 59 };
    assert.deepEqual(relay.usage(), usage(counts));
  });

  it('has no usage if the vendor reports none', () => {
    const silent = event('message_start', { message });
    assert.equal(relayed(messages, [silent, event('message_delta', { delta: {} })]).relay.usage(), undefined);
  });

  it('is complete if its first event has all of it and a stop reason, unless blocks follow', () => {
    const told = {
      ...message,
      content: [{ type: 'text', text: 'Twelve words' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 9, output_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    };
    const first = event('message_start', { message: told });
    const { relay, kinds, text } = relayed(messages, [first, event('message_stop')]);
    assert.deepEqual(kinds, ['hold', 'last']);
    assert.equal(text, first + event('message_stop'));
    assert.deepEqual(relay.usage(), usage({ input: 9, output: 5 }));
    assert.equal(relayed(messages, [first]).relay.close([]), 'untidy');
    assert.equal(relayed(messages, [first, stream[2]!]).relay.close([]), 'broken');
    const uncounted = event('message_start', { message: { ...told, usage: null } });
    assert.equal(relayed(messages, [uncounted, event('message_stop')]).relay.textLength(), 12);
  });

  it('gets an end event if the vendor omits it after a stop reason', () => {
    const { relay } = relayed(messages, stream.slice(0, -1));
    const out: (Buffer | string)[] = [];
    assert.equal(relay.close(out), 'untidy');
    assert.deepEqual(out, [event('message_stop')]);
    assert.equal(relayed(messages, stream.slice(0, -2)).relay.close([]), 'broken');
  });

  it('is read without event lines, with members in any order, and with whitespace', () => {
    const events = [
      `data: ${JSON.stringify({ message: { ...message, usage: begun }, type: 'message_start' })}\n\n`,
      'data: {"delta": {"text" : "H\\u00e9\\"", "type": "text_delta"}, "index": 0, "type": "content_block_delta"}\n\n',
      'event:content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"\\ud83d!"}}\n\n',
      'data: {"type":"message_stop"}\n\n',
    ];
    const { relay, kinds, text } = relayed(messages, events);
    assert.deepEqual(kinds, ['hold', 'pass', 'pass', 'last']);
    assert.equal(text, events.join(''));
    assert.equal(relay.textLength(), 5);
    const pair = [start, delta(0, { type: 'text_delta', text: 'x' }).replace('"x"', '"\\ud83d\\ude00!"')];
    assert.equal(relayed(messages, pair).relay.textLength(), 2, 'two halves of one character');
  });

  it('has an error that is not JSON', () => {
    const { relay, kinds } = relayed(messages, ['event: error\ndata: upstream connect error\n\n']);
    assert.deepEqual(kinds, ['error']);
    assert.equal(relay.error()?.message, 'upstream connect error');
  });
});

describe('a messages reply', () => {
  it('has whole counts that are never negative, whatever the vendor sent', () => {
    for (const absurd of [1e308, -5, 1.5, '7', [], { a: 1 }, true, null]) {
      const told = {
        input_tokens: 3,
        output_tokens: absurd,
        cache_read_input_tokens: absurd,
        cache_creation_input_tokens: absurd,
        cache_creation: { ephemeral_1h_input_tokens: absurd, ephemeral_5m_input_tokens: absurd },
        output_tokens_details: { thinking_tokens: absurd },
      };
      const counted = messages.relay.answer(
        scanAnswer(Buffer.from(JSON.stringify({ ...message, usage: told })))!,
        ANY_CALL,
      )?.usage;
      const { estimated: _, ...numbers } = counted!;
      for (const [name, value] of Object.entries(numbers)) {
        assert.ok(Number.isSafeInteger(value) && Number(value) >= 0, `${name} of ${String(absurd)} is ${value}`);
      }
    }
  });
});

describe('an error of the messages style', () => {
  const spelt = (status: number, code: string) =>
    messages.errors!.body!(new GatewayError(status, code, 'No.', { param: 'model' }), 'req-1') as {
      readonly type: string;
      readonly request_id: string;
      readonly error: JsonObject;
    };

  it('can be read by both kinds of client', () => {
    assert.deepEqual(spelt(404, 'model_not_found'), {
      type: 'error',
      error: { message: 'No.', type: 'not_found_error', param: 'model', code: 'model_not_found' },
      request_id: 'req-1',
    });
  });

  it('has the type of its status', () => {
    const types = [400, 401, 402, 403, 404, 409, 413, 415, 422, 429, 500, 501, 502, 503, 504, 529].map(
      (status) => spelt(status, 'x').error.type,
    );
    assert.deepEqual(types, [
      'invalid_request_error',
      'authentication_error',
      'billing_error',
      'permission_error',
      'not_found_error',
      'conflict_error',
      'request_too_large',
      'invalid_request_error',
      'invalid_request_error',
      'rate_limit_error',
      'api_error',
      'api_error',
      'api_error',
      'overloaded_error',
      'timeout_error',
      'overloaded_error',
    ]);
  });

  it('has a quota code where clients of this style look for codes, too', () => {
    const { error } = spelt(403, 'QUOTA_EXCEEDED');
    assert.deepEqual([error.code, error.details], ['QUOTA_EXCEEDED', { error_code: 'QUOTA_EXCEEDED' }]);
  });
});

if (recordingsAvailable)
  describe('recorded messages', () => {
    it('are decoded, relayed byte for byte and counted as the vendor counts', () => {
      for (const recording of recordings(['anthropic-messages'])) {
        messages.ingress!.read(bodyOf(recording.request), arriving(needed));
        const bytes = recordedBytes(recording);
        if (recording.sse !== undefined) {
          const events = createEventSplitter({ maxBytes: 10_000_000 }).push(bytes)!.map(String);
          const { relay, kinds, text } = relayed(messages, events);
          assert.equal(text, recording.sse, recording.id);
          assert.equal(kinds.at(-1), 'last', recording.id);
          assert.ok((relay.usage()?.output ?? 0) > 0, recording.id);
        } else if (recording.status === 200) {
          const { usage: said } = recording.response as { readonly usage: Readonly<Record<string, number>> };
          const counted = messages.relay.answer(scanAnswer(bytes)!, ANY_CALL)?.usage;
          const input =
            said.input_tokens! + (said.cache_read_input_tokens ?? 0) + (said.cache_creation_input_tokens ?? 0);
          assert.deepEqual([counted?.input, counted?.output], [input, said.output_tokens], recording.id);
        } else {
          assert.ok(messages.relay.answer(scanAnswer(bytes)!, ANY_CALL)?.error !== undefined, recording.id);
        }
      }
    });
  });
