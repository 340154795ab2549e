/** The hard cases of tool calls: pieces that interleave, calls without ids, names that nobody takes. Numbered as they were collected. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import { GatewayError } from '../../core/contracts/gateway-error.ts';
import {
  at,
  block,
  call,
  chatDelta,
  chatSays,
  checkBlocks,
  checkItems,
  list,
  messagesSay,
  named,
  ofType,
  piece,
  readChat,
  readMessages,
  readResponses,
  responsesSay,
  type Said,
  sent,
  stream,
  type VendorKind,
} from './kit.ts';

const TOOL_END = { finish: 'tool_calls' } as const;
const READ: JsonObject = { path: { type: 'string' } };
const SCHEMA: JsonObject = { type: 'object', properties: READ };

/** The calls in a messages client's answer. */
async function usesIn(said: Awaited<ReturnType<typeof stream>>): Promise<readonly JsonObject[]> {
  checkBlocks(said);
  const { content } = await readMessages(said);
  return content
    .filter((each) => each.type === 'tool_use')
    .map(({ id, name, input }) => ({ id, name, input: input as Json }));
}

/** The calls in a responses client's answer. */
async function callsIn(said: Awaited<ReturnType<typeof stream>>): Promise<readonly JsonObject[]> {
  checkItems(said);
  const { output } = await readResponses(said);
  return output
    .filter((item) => item.type === 'function_call')
    .map(({ call_id: id, name, arguments: input }) => ({ id, name, input: JSON.parse(input) as Json }));
}

/** Two calls whose pieces come in turns. */
const INTERLEAVED: readonly JsonObject[] = [
  piece(0, '', 'call_1', 'read'),
  piece(1, '', 'call_2', 'write'),
  piece(0, '{"path":'),
  piece(1, '{"path"'),
  piece(0, '"a"}'),
  piece(1, ':"b"}'),
];
const BOTH: readonly JsonObject[] = [
  { id: 'call_1', name: 'read', input: { path: 'a' } },
  { id: 'call_2', name: 'write', input: { path: 'b' } },
];

describe('hard cases: tool call streams', () => {
  it('case 1: an empty text between the pieces of a call does not end the call', async () => {
    const said = await stream(
      'messages',
      'chat',
      chatSays(
        [piece(0, '', 'call_1', 'read'), { content: '' }, piece(0, '{"path":'), { content: '' }, piece(0, '"a"}')],
        TOOL_END,
      ),
    );
    assert.deepEqual(await usesIn(said), [BOTH[0]]);
    assert.equal(ofType(said, 'content_block_start').length, 1);
  });

  it('case 2: pieces without an id go to the call of their index, although another call has begun', async () => {
    const said = await stream('messages', 'chat', chatSays(INTERLEAVED, TOOL_END));
    assert.deepEqual(await usesIn(said), BOTH);
  });

  it('case 3: two calls that begin in one chunk both get the arguments that come later', async () => {
    const both = { tool_calls: [list(INTERLEAVED[0], 'tool_calls')[0]!, list(INTERLEAVED[1], 'tool_calls')[0]!] };
    const said = await stream('messages', 'chat', chatSays([both, ...INTERLEAVED.slice(2)], TOOL_END));
    assert.deepEqual(await usesIn(said), BOTH);
  });

  it('case 4: pieces for a call that is not the open one wait for their turn', async () => {
    const said = await stream('messages', 'chat', chatSays(INTERLEAVED, TOOL_END));
    checkBlocks(said);
    const told = ofType(said, 'content_block_delta').map((event) => [event.index, at(event, 'delta', 'partial_json')]);
    const textOf = (index: number) =>
      told
        .filter(([of]) => of === index)
        .map(([, text]) => text)
        .join('');
    assert.deepEqual([textOf(0), textOf(1)], ['{"path":"a"}', '{"path":"b"}']);
    assert.deepEqual(await callsIn(await stream('responses', 'chat', chatSays(INTERLEAVED, TOOL_END))), BOTH);
  });

  it('case 5: calls right behind each other are one block each', async () => {
    const events = chatSays(
      [piece(0, '{"path":"a"}', 'call_1', 'read'), piece(0, '{"path":"b"}', 'call_2', 'write')],
      TOOL_END,
    );
    assert.deepEqual(await usesIn(await stream('messages', 'chat', events)), BOTH);
  });

  it('case 6: calls that all have the index 0 are told apart by their ids, or by a name behind whole arguments', async () => {
    const byId = [
      piece(0, '{"path":', 'call_1', 'read'),
      piece(0, '"a"}'),
      piece(0, '', 'call_2', 'write'),
      piece(0, '{"path":"b"}'),
    ];
    assert.deepEqual(await usesIn(await stream('messages', 'chat', chatSays(byId, TOOL_END))), BOTH);
    assert.deepEqual(await callsIn(await stream('responses', 'chat', chatSays(byId, TOOL_END))), BOTH);

    const byName = [
      { tool_calls: [{ index: 0, function: { name: 'read', arguments: '{"path":"a"}' } }] },
      { tool_calls: [{ index: 0, function: { name: 'read', arguments: '{"path":"b"}' } }] },
    ];
    const uses = await usesIn(await stream('messages', 'chat', chatSays(byName, TOOL_END)));
    assert.deepEqual(
      uses.map(({ input }) => input),
      [{ path: 'a' }, { path: 'b' }],
    );
    assert.notEqual(uses[0]!.id, uses[1]!.id);
  });

  it('case 7: a piece without an id is not for the call that came last, but for that of its index', async () => {
    const events = chatSays(
      [
        piece(0, '', 'call_1', 'read'),
        piece(1, '', 'call_2', 'write'),
        piece(0, '{"path":"a"}'),
        piece(1, '{"path":"b"}'),
      ],
      TOOL_END,
    );
    assert.deepEqual(await callsIn(await stream('responses', 'chat', events)), BOTH);
  });

  it('case 8: an empty first piece of arguments is a piece like any other', async () => {
    const events = messagesSay(
      block(
        0,
        { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} },
        { type: 'input_json_delta', partial_json: '' },
        { type: 'input_json_delta', partial_json: '{"path":' },
        { type: 'input_json_delta', partial_json: '"a"}' },
      ),
      { stop: 'tool_use' },
    );
    const { choices } = await readChat(await stream('chat', 'messages', events));
    assert.deepEqual(
      choices[0]!.message.tool_calls?.map((each) => each.type === 'function' && each.function),
      [{ name: 'read', arguments: '{"path":"a"}' }],
    );
    assert.deepEqual(await callsIn(await stream('responses', 'messages', events)), [
      { id: 'toolu_1', name: 'read', input: { path: 'a' } },
    ]);
  });

  it('case 9: a call begins for the client when its id and name are known, and never for an empty piece', async () => {
    const events = chatSays(
      [
        { tool_calls: [{ index: 0, type: 'function', function: { arguments: '' } }] },
        { tool_calls: [{ index: 0, id: 'call_1', function: { name: 'read', arguments: '' } }] },
        { tool_calls: [{ index: 0, function: { arguments: '{"path":"a"}' } }] },
        { tool_calls: [{ index: 1, type: 'function', function: { arguments: '' } }] },
      ],
      TOOL_END,
    );
    const said = await stream('messages', 'chat', events);
    assert.deepEqual(await usesIn(said), [BOTH[0]]);
    const pieces = ofType(said, 'content_block_delta').map((event) => at(event, 'delta', 'partial_json'));
    assert.deepEqual(JSON.parse(pieces.join('')), { path: 'a' });
  });

  it('case 10: words in the middle of a call are no delta of the call, and thoughts before it are not lost', async () => {
    const events = chatSays(
      [{ reasoning_content: 'hmm' }, piece(0, '{"path":', 'call_1', 'read'), { content: 'Reading.' }, piece(0, '"a"}')],
      TOOL_END,
    );
    const said = await stream('messages', 'chat', events);
    assert.deepEqual(await usesIn(said), [BOTH[0]]);
    const { content } = await readMessages(said);
    assert.deepEqual(
      content.map((each) => [each.type, each.type === 'thinking' ? each.thinking : 'text' in each && each.text]),
      [
        ['thinking', 'hmm'],
        ['tool_use', false],
        ['text', 'Reading.'],
      ],
    );
  });

  it('case 11: thoughts and text each have an index of their own, and nothing comes for one that never began', async () => {
    const events = chatSays([{ reasoning_content: 'hm' }, { reasoning_content: 'm' }, { content: 'Yes' }]);
    const said = await stream('messages', 'chat', events);
    checkBlocks(said);
    assert.deepEqual(
      ofType(said, 'content_block_start').map(({ index, content_block: start }) => [index, at(start, 'type')]),
      [
        [0, 'thinking'],
        [1, 'text'],
      ],
    );
  });

  it('case 12: a stream with nothing but reasoning still ends as a message', async () => {
    const said = await stream('messages', 'chat', chatSays([{ reasoning_content: 'hmm' }]));
    checkBlocks(said);
    const { content, stop_reason: stop } = await readMessages(said);
    assert.deepEqual(
      content.map(({ type }) => type),
      ['thinking', 'text'],
    );
    assert.equal(stop, 'end_turn');
  });

  it('case 13: no arguments are an empty object, and a tool without parameters takes one', async () => {
    const events = chatSays([piece(0, '', 'call_1', 'now')], TOOL_END);
    assert.deepEqual(await usesIn(await stream('messages', 'chat', events)), [
      { id: 'call_1', name: 'now', input: {} },
    ]);
    const none = messagesSay(block(0, { type: 'tool_use', id: 'toolu_1', name: 'now', input: {} }), {
      stop: 'tool_use',
    });
    const { choices } = await readChat(await stream('chat', 'messages', none));
    const [made] = choices[0]!.message.tool_calls ?? [];
    assert.equal(made?.type === 'function' && made.function.arguments, '{}');
    assert.deepEqual(await callsIn(await stream('responses', 'messages', none)), [
      { id: 'toolu_1', name: 'now', input: {} },
    ]);

    const history = historyOf('call_1', '');
    const tools = [{ type: 'function', function: { name: 'read' } }];
    const toMessages = await sent('chat', 'messages', { ...history, tools });
    assert.deepEqual(at(toMessages, 'messages', 1, 'content', 0, 'input'), {});
    assert.deepEqual(at(toMessages, 'tools', 0, 'input_schema'), { type: 'object', properties: {} });
    const toResponses = await sent('chat', 'responses', { ...history, tools });
    assert.equal(at(toResponses, 'input', 1, 'arguments'), '{}');
    assert.deepEqual(at(toResponses, 'tools', 0, 'parameters'), { type: 'object', properties: {} });
    const toChat = await sent('messages', 'chat', {
      tools: [{ name: 'read', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'now?' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'noon' }] },
      ],
    });
    assert.equal(at(toChat, 'messages', 1, 'tool_calls', 0, 'function', 'arguments'), '{}');
  });

  it('case 14: arguments that are no object are kept inside of one', async () => {
    for (const [input, kept] of [
      ['["a","b"]', { value: ['a', 'b'] }],
      ['"a"', { value: 'a' }],
      ['{"path":', { _raw: '{"path":' }],
    ] as const) {
      const body = await sent('chat', 'messages', historyOf('call_1', input));
      assert.deepEqual(at(body, 'messages', 1, 'content', 0, 'input'), kept);
    }
  });

  it('case 15: a call whose name comes later begins later', async () => {
    const events = chatSays(
      [
        { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { arguments: '{"path":' } }] },
        { tool_calls: [{ index: 0, function: { name: 'read' } }] },
        { tool_calls: [{ index: 0, function: { arguments: '"a"}' } }] },
      ],
      TOOL_END,
    );
    assert.deepEqual(await usesIn(await stream('messages', 'chat', events)), [BOTH[0]]);
    assert.deepEqual(await callsIn(await stream('responses', 'chat', events)), [BOTH[0]]);
  });

  const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'read', status: 'completed' };
  const added: Said = ['response.output_item.added', { output_index: 0, item: { ...item, arguments: '' } }];
  const input = '{"path":"a"}';
  const done: Said = ['response.output_item.done', { output_index: 0, item: { ...item, arguments: input } }];
  const delta = (text: string, id = 'fc_1'): Said => [
    'response.function_call_arguments.delta',
    { item_id: id, output_index: 0, delta: text },
  ];
  const inputDone: Said = [
    'response.function_call_arguments.done',
    { item_id: 'fc_1', output_index: 0, arguments: input },
  ];

  it('case 16: arguments are told once, whether the vendor says they are done never, once or twice', async () => {
    const streams: readonly (readonly Said[])[] = [
      [added, delta('{"path":'), delta('"a"}'), done],
      [added, delta('{"path":'), delta('"a"}'), inputDone, inputDone, done, done],
      [added, inputDone, done],
      [added, added, done],
    ];
    for (const events of streams) {
      const said = responsesSay(events, [{ ...item, arguments: input }]);
      assert.deepEqual(await usesIn(await stream('messages', 'responses', said)), [BOTH[0]]);
      const { choices } = await readChat(await stream('chat', 'responses', said));
      const [made] = choices[0]!.message.tool_calls ?? [];
      assert.equal(made?.type === 'function' && made.function.arguments, input);
    }
  });

  it('case 17: deltas with the id of no item are for the one at their place', async () => {
    const events = [added, delta('{"path":', 'fc_other'), delta('"a"}', 'fc_another'), done];
    const said = responsesSay(events, [{ ...item, arguments: input }]);
    assert.deepEqual(await usesIn(await stream('messages', 'responses', said)), [BOTH[0]]);
  });

  it('case 18: half a call is no call: a stream that breaks off fails, and one that is cut by the limit is incomplete', async () => {
    const half = [chatDelta({ role: 'assistant' }), chatDelta(piece(0, '{"path":', 'call_1', 'read'))].join('');
    const cut = await stream('responses', 'chat', half);
    assert.equal(cut.ended, false);
    assert.deepEqual(ofType(cut, 'response.completed'), []);
    assert.deepEqual(ofType(cut, 'response.function_call_arguments.done'), []);
    const message = await stream('messages', 'chat', half);
    assert.deepEqual(ofType(message, 'message_stop'), []);
    assert.equal(ofType(message, 'error').length, 1);
    // `[DONE]` without a reason makes it no better.
    assert.equal((await stream('responses', 'chat', `${half}data: [DONE]\n\n`)).ended, false);
    // A responses vendor that goes away.
    const gone = await stream('messages', 'responses', named([added, delta('{"path":')]));
    assert.equal(gone.ended, false);
    assert.deepEqual(ofType(gone, 'message_stop'), []);

    const full = await stream(
      'responses',
      'chat',
      chatSays([piece(0, '{"path":', 'call_1', 'read')], { finish: 'length' }),
    );
    const { status, output } = await readResponses(full);
    assert.equal(status, 'incomplete');
    assert.equal(output[0]!.type === 'function_call' && output[0]!.status, 'incomplete');
  });

  it('case 19: text that goes on behind a call is a message of its own', async () => {
    const events = chatSays(
      [{ content: 'I look. ' }, piece(0, '{"path":"a"}', 'call_1', 'read'), { content: 'And ' }, { content: 'wait.' }],
      TOOL_END,
    );
    const said = await stream('responses', 'chat', events);
    checkItems(said);
    const { output } = await readResponses(said);
    assert.deepEqual(
      output.map((each) => (each.type === 'message' ? at(each as unknown as Json, 'content', 0, 'text') : each.type)),
      ['I look. ', 'function_call', 'And wait.'],
    );
    assert.equal(new Set(output.map(({ id }) => id)).size, 3);
  });

  it('case 20: pieces of a stream in a history are refused by the name of their field', async () => {
    for (const kind of ['chat', 'responses', 'gemini'] as const) {
      const error = await refusal('messages', kind, {
        messages: [
          { role: 'user', content: 'Hello?' },
          { role: 'assistant', content: [{ type: 'input_json_delta', partial_json: '{}' }] },
        ],
      });
      assert.match(String(error.param), /^messages\[1\]\.content\[0\]/);
      assert.match(error.message, /input_json_delta/);
    }
  });

  it('case 21: of two results for one call the vendor gets one', async () => {
    const output = (text: string): JsonObject => ({ type: 'function_call_output', call_id: 'call_1', output: text });
    const request = {
      input: [
        { role: 'user', content: 'Read.' },
        { type: 'function_call', call_id: 'call_1', name: 'read', arguments: '{}' },
        output('one'),
        output('one'),
      ],
    };
    const toMessages = await call('responses', 'messages', request);
    const results = list(toMessages.sent, 'messages', 2, 'content').filter(({ type }) => type === 'tool_result');
    assert.deepEqual(
      results.map(({ tool_use_id: id }) => id),
      ['call_1'],
    );
    const toChat = await sent('responses', 'chat', request);
    assert.equal(list(toChat, 'messages').filter(({ role }) => role === 'tool').length, 1);
    assert.notDeepEqual(toMessages.warnings(), [], 'the client is told');
  });

  it('case 22: a result without the id of its call is for the only call it can be for, or is refused by name', async () => {
    const use = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'read', input: {} });
    const request = (...uses: readonly JsonObject[]): JsonObject => ({
      messages: [
        { role: 'user', content: 'Read.' },
        { role: 'assistant', content: uses },
        { role: 'user', content: [{ type: 'tool_result', content: 'one' }] },
      ],
    });
    const body = await sent('messages', 'chat', request(use('toolu_1')));
    assert.equal(at(body, 'messages', 2, 'tool_call_id'), 'toolu_1');
    const { param } = await refusal('messages', 'chat', request(use('toolu_1'), use('toolu_2')));
    assert.equal(param, 'messages[2].content[0].tool_use_id');
  });

  it('case 23: a result that names the item instead of the call is found', async () => {
    const request = (id: string): JsonObject => ({
      input: [
        { role: 'user', content: 'Read.' },
        { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'read', arguments: '{}' },
        { type: 'function_call_output', call_id: id, output: 'one' },
      ],
    });
    for (const id of ['fc_1', 'call_1']) {
      const body = await sent('responses', 'messages', request(id));
      assert.equal(at(body, 'messages', 2, 'content', 0, 'tool_use_id'), 'call_1', id);
    }
  });

  it('case 24: a result whose call was cut from the history becomes text, and the client is told', async () => {
    const request = {
      messages: [
        { role: 'user', content: 'Read.' },
        { role: 'tool', tool_call_id: 'call_gone', content: 'one' },
      ],
    };
    for (const kind of ['messages', 'responses', 'gemini'] as const) {
      const made = await call('chat', kind, request);
      assert.doesNotMatch(made.bytes, /tool_result|function_call_output|functionResponse/);
      assert.match(made.bytes, /one/);
      assert.ok(
        made.warnings().some((warning) => warning.endsWith(':changed')),
        `${kind}: a warning is named`,
      );
    }
  });

  it('case 25: an id that a vendor would not take is another one, the same in call and result', async () => {
    for (const id of ['functions.Bash:0', `gemini_${'x'.repeat(200)}`, 'ü']) {
      const body = await sent('chat', 'messages', historyOf(id, '{}'));
      const used = at(body, 'messages', 1, 'content', 0, 'id');
      assert.match(String(used), /^[a-zA-Z0-9_-]{1,128}$/);
      assert.equal(at(body, 'messages', 2, 'content', 0, 'tool_use_id'), used);
    }
  });

  it('case 26: an id of more than 64 characters is shortened for vendors that take no more', async () => {
    const long = ['a', 'b'].map((end) => `call_${'x'.repeat(80)}${end}`);
    const body = await sent('messages', 'responses', {
      messages: [
        { role: 'user', content: 'Read.' },
        { role: 'assistant', content: long.map((id) => ({ type: 'tool_use', id, name: 'read', input: {} })) },
        { role: 'user', content: long.map((id) => ({ type: 'tool_result', tool_use_id: id, content: id.slice(-1) })) },
      ],
    });
    const items = list(body, 'input');
    const calls = items.filter(({ type }) => type === 'function_call').map(({ call_id: id }) => String(id));
    const results = items.filter(({ type }) => type === 'function_call_output').map(({ call_id: id }) => id);
    assert.equal(new Set(calls).size, 2);
    for (const id of calls) assert.ok(id.length <= 64, `${id} has 64 characters at most`);
    assert.deepEqual(results, calls);
  });

  it('case 27: a tool name that a vendor would not take is another one there, and the old one for the client', async () => {
    const name = 'mcp.files/read a file';
    const long = 'l'.repeat(90);
    const tools = [name, long].map((each) => ({ type: 'function', function: { name: each, parameters: SCHEMA } }));
    const request = { tools, tool_choice: { type: 'function', function: { name } } };
    for (const how of ['stream', 'whole'] as const) {
      const made = await call('chat', 'messages', { ...request, stream: how === 'stream' });
      const [theirs, longOne] = list(made.sent, 'tools').map((tool) => String(tool.name));
      assert.match(theirs!, /^[a-zA-Z0-9_-]{1,128}$/);
      assert.equal(longOne, long, 'this vendor takes 128 characters');
      assert.deepEqual(at(made.sent, 'tool_choice', 'name'), theirs);
      const use = { type: 'tool_use', id: 'toolu_1', name: theirs!, input: {} };
      const answer: Json =
        how === 'stream'
          ? ((await readChat(made.stream(messagesSay(block(0, use), { stop: 'tool_use' })))) as unknown as JsonObject)
          : made.whole(messagesBody([use], 'tool_use')).body;
      assert.equal(at(answer, 'choices', 0, 'message', 'tool_calls', 0, 'function', 'name'), name);
    }
    const toChat = await sent('messages', 'chat', {
      tools: [{ name: 'n'.repeat(100), input_schema: SCHEMA }],
    });
    assert.equal(String(at(toChat, 'tools', 0, 'function', 'name')).length <= 64, true);
  });

  it('case 28: of a tool only the known members are copied; its type does not end up in its parameters', async () => {
    const tools = [{ type: 'custom', name: 'read', description: 'Reads.', input_schema: SCHEMA }];
    assert.deepEqual(at(await sent('messages', 'chat', { tools }), 'tools', 0), {
      type: 'function',
      function: { name: 'read', description: 'Reads.', parameters: SCHEMA },
    });
    const toResponses = await sent('messages', 'responses', { tools });
    assert.deepEqual(at(toResponses, 'tools', 0, 'parameters'), SCHEMA);
    assert.equal(at(toResponses, 'tools', 0, 'type'), 'function');
  });

  it('case 29: a tool called with free text is a function where the vendor knows no other, and free text again for the client', async () => {
    const patch = '*** Begin Patch\n+"a\\b"\n*** End Patch';
    const tools = [{ type: 'custom', name: 'apply_patch', description: 'Patches.' }];
    const history = [
      { role: 'user', content: 'Patch.' },
      { type: 'custom_tool_call', call_id: 'call_0', name: 'apply_patch', input: patch },
      { type: 'custom_tool_call_output', call_id: 'call_0', output: 'Done.' },
    ];
    const made = await call('responses', 'messages', { stream: true, tools, input: history });
    assert.deepEqual(at(made.sent, 'messages', 1, 'content', 0, 'input'), { input: patch });
    assert.deepEqual(at(made.sent, 'messages', 2, 'content', 0, 'tool_use_id'), 'call_0');
    assert.deepEqual(at(made.sent, 'tools', 0, 'input_schema', 'required'), ['input']);
    const words = JSON.stringify({ input: patch });
    const said = made.stream(
      messagesSay(
        block(
          0,
          { type: 'tool_use', id: 'toolu_1', name: 'apply_patch', input: {} },
          { type: 'input_json_delta', partial_json: words.slice(0, 20) },
          { type: 'input_json_delta', partial_json: words.slice(20) },
        ),
        { stop: 'tool_use' },
      ),
    );
    checkItems(said);
    const [first] = (await readResponses(said)).output;
    assert.deepEqual(first?.type === 'custom_tool_call' && [first.call_id, first.input], ['toolu_1', patch]);
  });

  it('case 30: tools that stand among the input are tools', async () => {
    const body = await sent('responses', 'messages', {
      input: [
        {
          type: 'additional_tools',
          role: 'developer',
          tools: [{ type: 'function', name: 'read', parameters: SCHEMA, strict: false }],
        },
        { role: 'user', content: 'Read.' },
      ],
    });
    assert.deepEqual(
      list(body, 'tools').map(({ name }) => name),
      ['read'],
    );
  });

  it('case 31: a forced call is only offered where the model thinks and cannot do both', async () => {
    const tools = ['read', 'write'].map((name) => ({ type: 'function', function: { name, parameters: SCHEMA } }));
    const made = await call('chat', 'messages', {
      tools,
      tool_choice: { type: 'function', function: { name: 'read' } },
      reasoning_effort: 'high',
    });
    assert.equal(at(made.sent, 'thinking', 'type'), 'enabled');
    assert.equal(at(made.sent, 'tool_choice', 'type'), 'auto');
    assert.deepEqual(
      list(made.sent, 'tools').map(({ name }) => name),
      ['read'],
    );
    assert.ok(made.warnings().includes('tool_choice:changed'), 'the client is told');
  });

  it('case 32: tools that may be called are the only ones declared, and still only may', async () => {
    const tools = ['read', 'write', 'list'].map((name) => ({ type: 'function', name, parameters: SCHEMA }));
    const choice = (mode: string): JsonObject => ({
      type: 'allowed_tools',
      mode,
      tools: [
        { type: 'function', name: 'read' },
        { type: 'function', name: 'list' },
      ],
    });
    const may = await sent('responses', 'messages', { tools, tool_choice: choice('auto') });
    assert.deepEqual(
      list(may, 'tools').map(({ name }) => name),
      ['read', 'list'],
    );
    assert.ok(may.tool_choice === undefined || typeOf(may.tool_choice) === 'auto', 'nothing is forced');
    const must = await sent('responses', 'messages', { tools, tool_choice: choice('required') });
    assert.equal(typeOf(must.tool_choice), 'any');
  });

  it('case 33: one call at a time is asked for although the client chooses no tool', async () => {
    const body = await sent('chat', 'messages', {
      tools: [{ type: 'function', function: { name: 'read', parameters: SCHEMA } }],
      parallel_tool_calls: false,
    });
    assert.deepEqual(body.tool_choice, { type: 'auto', disable_parallel_tool_use: true });
  });

  it('a stream that is written anew in its own style waits for its tools, although the vendor says plainly stop', async () => {
    const events = [
      ...[piece(0, '', 'call_1', 'read'), piece(0, '{"path":"a"}')].map((delta) => chatDelta(delta)),
      chatDelta({}, 'stop'),
      'data: [DONE]\n\n',
    ].join('');
    const tools = { tools: [{ type: 'function', function: { name: 'read', parameters: SCHEMA } }] };
    const anew = { quirks: { stream: { rewrite: true } } } as const;
    assert.match((await stream('chat', 'chat', events, tools, anew)).text, /"finish_reason":"tool_calls"/);
    // Without the quirk its bytes are its own.
    assert.match((await stream('chat', 'chat', events, tools)).text, /"finish_reason":"stop"/);
  });
});

function typeOf(choice: Json | undefined): Json | undefined {
  return choice === undefined ? undefined : at(choice, 'type');
}

/** A chat history with one call, its arguments as they are, and its result. */
function historyOf(id: string, input: string): JsonObject {
  return {
    messages: [
      { role: 'user', content: 'Read.' },
      { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name: 'read', arguments: input } }] },
      { role: 'tool', tool_call_id: id, content: 'one' },
    ],
  };
}

function messagesBody(content: readonly Json[], stop: string): JsonObject {
  const usage = { input_tokens: 11, output_tokens: 7 };
  return { id: 'msg_v', type: 'message', role: 'assistant', model: 'm', content, stop_reason: stop, usage };
}

/** Why a request is refused. */
async function refusal(
  client: 'messages',
  kind: VendorKind,
  request: JsonObject,
): Promise<{ readonly message: string; readonly param: string | undefined }> {
  const error = await call(client, kind, request).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof GatewayError && error.status === 400, 'it is refused with 400');
  return { message: error.message, param: error.param };
}
