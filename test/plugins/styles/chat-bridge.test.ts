import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream';
import type { Answering, Json, JsonObject } from '../../../core/plugin.ts';
import { GatewayError } from '../../../core/plugin.ts';
import { foldParts, partsOf } from '../../../core/translation/conversation/fold.ts';
import type { Block, Conversation, Part, Reply, SomeQuirks, Tool, Turn } from '../../../core/translation/index.ts';
import { CARRIER } from '../../../core/translation/index.ts';
import { layQuirks } from '../../../core/translation/quirks/quirks.ts';
import { type CollectedWarnings, collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { client as asked, vendor as spoken } from '../../../plugins/styles/chat/translation.ts';
import { processorTime } from '../../kit/clients/processor.ts';
import { CHAT_RECORDINGS, recordedUsage, recordings, recordingsAvailable } from '../../kit/vendors/recordings.ts';

const FROM = { channel: 'main', model: 'vendor-model' };
const user = (content: Json): JsonObject => ({ role: 'user', content });
const system = (content: Json): JsonObject => ({ role: 'system', content });

function decoded(more: JsonObject): { conversation: Conversation; warnings: CollectedWarnings } {
  const warnings = collectWarnings(asked.names);
  const conversation = asked.decodeRequest({ model: 'm', messages: [user('Hello?')], ...more }, warnings);
  return { conversation, warnings };
}

function blocksOf(...messages: readonly JsonObject[]): readonly (readonly Block[])[] {
  return decoded({ messages }).conversation.turns.map(({ blocks }) => blocks);
}

function refused(more: JsonObject): string {
  let param = '';
  assert.throws(
    () => decoded(more),
    (error) => {
      param = (error as GatewayError).param;
      return error instanceof GatewayError && error.status === 400;
    },
  );
  return param;
}

const NOTHING: Conversation = {
  turns: [{ role: 'user', blocks: [{ type: 'text', text: 'Hello?' }] }],
  tools: [],
  toolChoice: undefined,
  parallelToolCalls: undefined,
  maxTokens: undefined,
  sampling: {},
  stop: [],
  reasoning: undefined,
  output: {},
  labels: {},
  truncation: undefined,
  extras: {},
};

function encoded(
  more: Partial<Conversation>,
  quirks: SomeQuirks = {},
  stream = false,
): { body: JsonObject; warnings: CollectedWarnings } {
  const warnings = collectWarnings({});
  const target = { ...FROM, stream, askUsage: stream, quirks: layQuirks(spoken.quirks, quirks) };
  return { body: spoken.encodeRequest({ ...NOTHING, ...more }, target, warnings), warnings };
}

function messagesOf(blocks: readonly Block[], role: 'user' | 'assistant' | 'system', quirks: SomeQuirks = {}): Json {
  return encoded({ turns: [{ role, blocks }] }, quirks).body.messages!;
}

/** The parts of a stream whose events are these; what is no string is a chunk of one choice with that delta. */
function partsIn(events: readonly (JsonObject | string)[], end = '[DONE]'): readonly Part[] {
  const reader = spoken.createStreamDecoder(FROM, collectWarnings({}));
  const parts = events.flatMap((event) =>
    reader.read({ name: undefined, data: typeof event === 'string' ? event : JSON.stringify(event) }),
  );
  return [...parts, ...(end === '' ? [] : reader.read({ name: undefined, data: end })), ...reader.close()];
}

const delta = (piece: JsonObject, finish: string | null = null): JsonObject => ({
  id: 'chatcmpl-1',
  model: 'vendor-model',
  choices: [{ index: 0, delta: piece, finish_reason: finish }],
});
const call = (entry: JsonObject): JsonObject => delta({ tool_calls: [entry] });
const STOP = delta({}, 'stop');

function reply(events: readonly (JsonObject | string)[]): Reply {
  const folded = foldParts(partsIn(events));
  assert.ok(folded, 'the stream has an end');
  return folded;
}

const callsOf = ({ blocks }: Reply): readonly (readonly string[])[] =>
  blocks.flatMap((block) => (block.type === 'toolCall' ? [[block.id, block.name, block.input]] : []));

const USAGE = {
  input: 10,
  cacheRead: 4,
  cacheWrite: 0,
  cacheWriteLong: 0,
  inputAudio: 0,
  output: 5,
  reasoning: 2,
  outputAudio: 0,
  estimated: false,
};

function answering(more: Partial<Answering> = {}): Answering & { readonly warnings: CollectedWarnings } {
  return {
    id: '01234567890123456789012345',
    model: 'public-name',
    createdMs: 1_700_000_000_900,
    now: () => 1_700_000_001_000,
    request: {},
    asksUsage: true,
    estimatedInput: 3,
    warnings: collectWarnings({}),
    ...more,
  } as Answering & { readonly warnings: CollectedWarnings };
}

const answer = (blocks: readonly Block[], more: Partial<Reply> = {}): Reply => ({
  id: 'x',
  model: 'vendor-model',
  blocks,
  finish: { reason: 'stop' },
  usage: USAGE,
  ...more,
});

function choiceOf(body: JsonObject): JsonObject & { readonly message: JsonObject } {
  return (body.choices as readonly JsonObject[])[0] as JsonObject & { readonly message: JsonObject };
}

function written(parts: readonly Part[], as: Answering = answering()): string {
  const writer = asked.createStreamEncoder(as);
  return parts.map((part) => writer.write(part)).join('');
}

function chunksIn(text: string): readonly JsonObject[] {
  const events = text.split('\n\n');
  assert.equal(events.pop(), '', 'the last event has its blank line');
  assert.equal(events.pop(), 'data: [DONE]');
  return events.map((event) => JSON.parse(event.replace(/^data: /, '')) as JsonObject);
}

describe('a chat request in the common form', () => {
  it('has a turn for each message, in order', () => {
    const { turns } = decoded({
      messages: [
        { role: 'developer', content: [{ type: 'text', text: 'Be short.' }] },
        { ...user('Hello?'), name: 'kim' },
        { role: 'assistant', content: 'Yes?' },
        system('Now be long.'),
        user(''),
      ],
    }).conversation;
    assert.deepEqual(turns, [
      { role: 'developer', blocks: [{ type: 'text', text: 'Be short.' }] },
      { role: 'user', blocks: [{ type: 'text', text: 'Hello?' }], name: 'kim' },
      { role: 'assistant', blocks: [{ type: 'text', text: 'Yes?' }] },
      { role: 'system', blocks: [{ type: 'text', text: 'Now be long.' }] },
      { role: 'user', blocks: [] },
    ]);
  });

  it('decodes every kind of part, including non-standard ones', () => {
    const png = 'iVBORw0KGgoAAAAN';
    const [blocks] = blocksOf(
      user([
        { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
        { type: 'image_url', image_url: `data:image/jpg;base64,${png}` },
        { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'mp3' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQ=' } },
        { type: 'file', file: { file_data: 'JVBERi0xLjQ=' } },
        { type: 'file', file: { file_id: 'file-1' } },
        { type: 'document_url', document_url: 'https://example.com/a.pdf' },
        { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } },
      ]),
    );
    const pdf = { kind: 'base64', mediaType: 'application/pdf', data: 'JVBERi0xLjQ=' };
    assert.deepEqual(blocks, [
      { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' }, detail: 'low' },
      // Its bytes say that it is no JPEG.
      { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: png } },
      { type: 'audio', data: 'UklGRg==', format: 'mp3' },
      { type: 'file', source: pdf, name: 'a.pdf' },
      { type: 'file', source: pdf },
      { type: 'file', source: { kind: 'id', id: 'file-1' } },
      { type: 'file', source: { kind: 'url', url: 'https://example.com/a.pdf', mediaType: 'application/pdf' } },
      { type: 'file', source: { kind: 'url', url: 'https://example.com/a.mp4', mediaType: 'video/mp4' } },
    ]);
  });

  it('decodes cache marks in both notations, on a part and on a message', () => {
    const text = { type: 'text', text: 'Long.' };
    const turns = blocksOf(
      system([{ ...text, cache_control: { type: 'ephemeral', ttl: '1h' } }]),
      user([{ ...text, prompt_cache_breakpoint: { mode: 'explicit', ttl: '30m' } }]),
      { ...user('Short.'), cache_control: { type: 'ephemeral' } },
    );
    assert.deepEqual(turns, [
      [{ ...text, cache: { ttlSeconds: 3_600 } }],
      [{ ...text, cache: { ttlSeconds: 1_800 } }],
      [{ type: 'text', text: 'Short.', cache: {} }],
    ]);
  });

  it('decodes calls and results with their kinds', () => {
    const [, calls, first, second] = blocksOf(
      user('Go.'),
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'c1',
            type: 'function',
            function: { name: 'f', arguments: '{"a": 1}' },
            extra_content: { google: { thought_signature: 'SEAL' } },
          },
          {
            id: 'c2',
            type: 'custom',
            custom: { name: 'patch', input: '*** Begin' },
            extra_content: { google: { thought_signature: 'SEAL' } },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
      { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'two' }] },
    );
    assert.deepEqual(calls, [
      {
        type: 'toolCall',
        id: 'c1',
        kind: 'function',
        name: 'f',
        input: '{"a": 1}',
        opaque: { style: 'gemini', kind: 'thought', value: 'SEAL' },
      },
      {
        type: 'toolCall',
        id: 'c2',
        kind: 'custom',
        name: 'patch',
        input: '*** Begin',
        opaque: { style: 'gemini', kind: 'thought', value: 'SEAL' },
      },
    ]);
    assert.deepEqual(first, [
      { type: 'toolResult', id: 'c1', kind: 'function', content: [{ type: 'text', text: 'one' }] },
    ]);
    assert.deepEqual(second, [
      { type: 'toolResult', id: 'c2', kind: 'custom', content: [{ type: 'text', text: 'two' }] },
    ]);
  });

  it('decodes legacy functions', () => {
    const { conversation } = decoded({
      messages: [
        user('Go.'),
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: 'done' },
      ],
      functions: [{ name: 'f', parameters: { type: 'object' } }],
      function_call: { name: 'f' },
    });
    const [, called, result] = conversation.turns.map(({ blocks }) => blocks[0]);
    assert.ok(called?.type === 'toolCall' && result?.type === 'toolResult', 'a call and its result');
    assert.equal(result.id, called.id);
    assert.deepEqual(conversation.tools, [{ type: 'function', name: 'f', schema: { type: 'object' } }]);
    assert.deepEqual(conversation.toolChoice, { mode: 'required', only: ['f'] });
    assert.equal(conversation.parallelToolCalls, false);
  });

  it('decodes tools of all kinds, and tool_choice', () => {
    const { tools } = decoded({
      tools: [
        { type: 'function', function: { name: 'f', description: 'F.', strict: true, x: 1 }, cache_control: {} },
        {
          type: 'custom',
          custom: { name: 'c', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } },
        },
        { type: 'router:advisor', parameters: {} },
      ],
      web_search_options: { search_context_size: 'low', user_location: { approximate: { city: 'Bern' } } },
    }).conversation;
    assert.deepEqual(tools.slice(0, 2), [
      { type: 'function', name: 'f', description: 'F.', strict: true, extras: { x: 1 }, cache: {} },
      { type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
    ]);
    assert.deepEqual(
      tools.slice(2).map((tool) => tool.type === 'hosted' && [tool.name, tool.search]),
      [
        ['router:advisor', undefined],
        ['web_search', { contextSize: 'low', location: { type: 'approximate', city: 'Bern' } }],
      ],
    );
    const choice = (tool_choice: Json) => decoded({ tool_choice }).conversation.toolChoice;
    assert.deepEqual(choice('any'), { mode: 'required' });
    assert.deepEqual(choice({ type: 'function', function: { name: 'f' } }), { mode: 'required', only: ['f'] });
    assert.deepEqual(
      choice({
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
      }),
      { mode: 'auto', only: ['f'] },
    );
  });

  it('decodes every known field, and keeps the others for the vendor', () => {
    const { conversation, warnings } = decoded({
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 7,
      max_completion_tokens: 9,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 3,
      seed: 1,
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      logit_bias: { 1: 2 },
      logprobs: true,
      top_logprobs: 3,
      stop: 'END',
      modalities: ['text', 'audio'],
      audio: { voice: 'ash', format: 'mp3' },
      verbosity: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' }, strict: true } },
      user: 'u',
      safety_identifier: 's',
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      service_tier: 'flex',
      store: true,
      parallel_tool_calls: false,
      prompt_cache_retention: '24h',
      prediction: { type: 'content', content: 'x' },
      n: 1,
    });
    const { turns: _, ...rest } = conversation;
    assert.deepEqual(rest, {
      tools: [],
      toolChoice: undefined,
      parallelToolCalls: false,
      maxTokens: 9,
      sampling: {
        temperature: 0.5,
        topP: 0.9,
        topK: 3,
        seed: 1,
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        logitBias: { 1: 2 },
        logprobs: 3,
      },
      stop: ['END'],
      reasoning: undefined,
      output: {
        format: { type: 'schema', name: 'n', schema: { type: 'object' }, strict: true },
        verbosity: 'low',
        modalities: ['text', 'audio'],
        audio: { voice: 'ash', format: 'mp3' },
      },
      labels: { user: 's', metadata: { a: 'b' }, cacheKey: 'k', serviceTier: 'flex', store: true },
      truncation: undefined,
      extras: { prompt_cache_retention: '24h', prediction: { type: 'content', content: 'x' } },
    });
    // Of two names for one thing the newer counts.
    assert.deepEqual(warnings.all, ['max_tokens:dropped', 'user:dropped']);
    assert.deepEqual(warnings.serious, []);
  });

  it('decodes every way to request reasoning', () => {
    const reasoning = (more: JsonObject) => decoded(more).conversation.reasoning;
    assert.deepEqual(reasoning({ reasoning_effort: 'low' }), { mode: 'on', effort: 'low', summary: 'auto' });
    assert.deepEqual(reasoning({ reasoning_effort: 'none' }), { mode: 'off' });
    assert.deepEqual(reasoning({ reasoning: { max_tokens: 500, exclude: true } }), {
      mode: 'on',
      budget: 500,
      summary: 'none',
    });
    assert.deepEqual(reasoning({ reasoning: { enabled: false } }), { mode: 'off' });
    assert.deepEqual(reasoning({ enable_thinking: true, thinking_budget: 99 }), {
      mode: 'on',
      budget: 99,
      summary: 'auto',
    });
    assert.deepEqual(reasoning({ thinking: { type: 'disabled' } }), { mode: 'off' });
    assert.equal(reasoning({}), undefined);
    assert.equal(refused({ reasoning_effort: 'lots' }), 'reasoning_effort');
  });

  it('is refused with the path of an invalid member', () => {
    assert.equal(refused({ messages: [user('x'), { role: 'robot', content: 'x' }] }), 'messages[1].role');
    assert.equal(refused({ messages: [{ role: 'user' }] }), 'messages[0].content');
    assert.equal(refused({ messages: [user(7)] }), 'messages[0].content');
    assert.equal(refused({ messages: [user([{ type: 'smell' }])] }), 'messages[0].content[0].type');
    assert.equal(refused({ messages: [{ role: 'tool', content: 'x' }] }), 'messages[0].tool_call_id');
    assert.equal(
      refused({ messages: [user([{ type: 'image_url', image_url: { url: 'data:image/png;base64,?' } }])] }),
      'messages[0].content[0].image_url.url',
    );
    assert.equal(refused({ tools: [{ type: 'function' }] }), 'tools[0].function');
    assert.equal(refused({ response_format: { type: 'regex' } }), 'response_format.type');
  });

  it('has the number of answers if there are several', () => {
    assert.equal(decoded({ n: 2 }).conversation.choices, 2);
    assert.ok(!('choices' in decoded({ n: 1 }).conversation));
  });

  it('reports what cannot be translated, and whether it matters', () => {
    const { warnings } = decoded({
      messages: [{ role: 'assistant', content: 'x', prefix: true, annotations: [{}], executed: 'y' }],
    });
    assert.deepEqual(warnings.all, [
      'messages.prefix:dropped',
      'messages.annotations:dropped',
      'messages.executed:dropped',
    ]);
    assert.deepEqual(warnings.serious, ['messages.prefix:dropped', 'messages.executed:dropped']);
  });
});

describe('long input', () => {
  const quickly = (work: () => void): void => {
    const used = processorTime();
    work();
    assert.ok(used() < 3_000, 'it is read in one pass');
  };

  it('is decoded in linear time: legacy calls, and of several with one name the last is answered', () => {
    const name = (i: number): string => `f${i % 10_000}`;
    const messages = Array.from({ length: 20_000 }, (_, i) => [
      { role: 'assistant', content: null, function_call: { name: name(i), arguments: '{}' } },
      { role: 'function', name: name(i), content: 'x' },
    ]).flat();
    quickly(() => {
      const results = blocksOf(...messages)
        .flat()
        .filter((block) => block.type === 'toolResult');
      assert.deepEqual([results.length, results.at(-1)?.id], [20_000, 'call_message_39998']);
    });
  });

  it('is decoded in linear time: a stream of many calls', () => {
    quickly(() => {
      const pieces = Array.from({ length: 20_000 }, (_, i) => ({
        id: `c${i}`,
        function: { name: 'f', arguments: '{}' },
      }));
      const parts = partsIn(pieces.map((piece) => delta({ tool_calls: [piece] })));
      assert.equal(parts.filter(({ type }) => type === 'blockStart').length, 20_000);
    });
  });

  it('is decoded in linear time: a call whose server repeats the name with every piece', () => {
    quickly(() => {
      const input = ['{"a":"', ...Array<string>(20_000).fill('words and "}{" words '.replaceAll('"', '\\"')), '"}'];
      const parts = partsIn(
        input.map((piece) => delta({ tool_calls: [{ index: 0, function: { name: 'f', arguments: piece } }] })),
      );
      const calls = foldParts(parts)!.blocks.map((block) => (block.type === 'toolCall' ? block.input : ''));
      assert.deepEqual(calls, [input.join('')]);
    });
  });
});

describe('a request encoded for a chat vendor', () => {
  it('leaves a choice of web search only to the model, without the functions', () => {
    const search: Tool = { type: 'hosted', name: 'web_search', style: 'responses', raw: {}, search: {} };
    const tool: Tool = { type: 'function', name: 'f' };
    const toolChoice = { mode: 'required', only: ['web_search'] } as const;
    const { body, warnings } = encoded({ tools: [search, tool], toolChoice });
    assert.deepEqual([body.tools, body.tool_choice, body.web_search_options], [undefined, undefined, {}]);
    assert.deepEqual(warnings.serious, ['tool_choice:changed']);
    const both = encoded({ tools: [search, tool], toolChoice: { mode: 'required', only: ['web_search', 'f'] } });
    assert.deepEqual([both.body.tool_choice, both.warnings.all], ['required', []]);
    const own: Tool = { type: 'function', name: 'web_search' };
    const named = encoded({ tools: [own, tool], toolChoice });
    assert.deepEqual(named.body.tool_choice, { type: 'function', function: { name: 'web_search' } });
  });

  it('has one text as a string, and several as parts', () => {
    const text = (words: string): Block => ({ type: 'text', text: words });
    assert.deepEqual(messagesOf([text('a')], 'user'), [user('a')]);
    assert.deepEqual(messagesOf([text('a'), text('b')], 'user'), [
      user([
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
    ]);
    assert.deepEqual(messagesOf([text('a'), text('b')], 'system'), [system('a\n\nb')]);
    assert.deepEqual(messagesOf([text('a'), text('b')], 'user', { content: { array: false } }), [user('a\n\nb')]);
    assert.deepEqual(messagesOf([text('a'), text('b')], 'assistant'), [{ role: 'assistant', content: 'ab' }]);
  });

  it('keeps text and calls of one message together, and makes every result a message', () => {
    const { body, warnings } = encoded({
      turns: [
        {
          role: 'assistant',
          blocks: [
            { type: 'text', text: 'Let me see.' },
            { type: 'toolCall', id: 'c1', kind: 'function', name: 'f', input: '' },
            { type: 'toolCall', id: 'c2', kind: 'function', name: 'g', input: '{"a":1}' },
          ],
        },
        {
          role: 'user',
          blocks: [
            { type: 'text', text: 'And?' },
            {
              type: 'toolResult',
              id: 'c1',
              kind: 'function',
              content: [{ type: 'text', text: 'gone' }],
              isError: true,
            },
            {
              type: 'toolResult',
              id: 'c2',
              kind: 'function',
              content: [{ type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'JVBE' } }],
            },
          ],
        },
      ],
    });
    assert.deepEqual(body.messages, [
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
          { id: 'c2', type: 'function', function: { name: 'g', arguments: '{"a":1}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'Error: gone' },
      { role: 'tool', tool_call_id: 'c2', content: '' },
      user([
        { type: 'text', text: 'Files in the result of tool call c2:' },
        { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
        { type: 'text', text: 'And?' },
      ]),
    ]);
    assert.deepEqual(warnings.serious, []);
  });

  it('has images, audio and files in the form that the vendor supports', () => {
    const pdf: Block = { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'JVBE' } };
    assert.deepEqual(
      messagesOf([{ type: 'image', source: { kind: 'url', url: 'https://a/b' }, detail: 'low' }], 'user'),
      [user([{ type: 'image_url', image_url: { url: 'https://a/b', detail: 'low' } }])],
    );
    assert.deepEqual(messagesOf([pdf], 'user', { file: { pdf: 'image_url' } }), [
      user([{ type: 'image_url', image_url: { url: 'data:application/pdf;base64,JVBE' } }]),
    ]);
    assert.deepEqual(messagesOf([{ type: 'file', title: 'T', source: { kind: 'text', text: 'words' } }], 'user'), [
      user('T\n\nwords'),
    ]);
    assert.deepEqual(messagesOf([{ type: 'audio', data: 'AAAA', format: 'wav' }], 'user', { audio: { input: true } }), [
      user([{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }]),
    ]);
    assert.throws(
      () => messagesOf([pdf], 'user', { content: { array: false } }),
      (error) => error instanceof GatewayError && error.status === 400,
    );
  });

  it('has cache marks in the notation of the vendor, and reports those without an equivalent', () => {
    const block: Block = { type: 'text', text: 'a', cache: { ttlSeconds: 3_600 } };
    const part = (hint: 'cache_control' | 'breakpoint') => messagesOf([block], 'user', { cache: { hint } });
    assert.deepEqual(part('cache_control'), [
      user([{ type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } }]),
    ]);
    assert.deepEqual(part('breakpoint'), [
      user([{ type: 'text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } }]),
    ]);
    const { body, warnings } = encoded({ turns: [{ role: 'user', blocks: [block] }], labels: { cacheKey: 'k' } });
    assert.deepEqual(body.messages, [user('a')]);
    assert.deepEqual(warnings.all, ['messages.cache_control:dropped', 'prompt_cache_key:dropped']);
    assert.deepEqual(warnings.serious, []);
    assert.equal(encoded({ labels: { cacheKey: 'k' } }, { cache: { hint: 'key' } }).body.prompt_cache_key, 'k');
  });

  it('returns reasoning if the vendor requires it, and a placeholder for what is lost', () => {
    const thought: Block = { type: 'thinking', text: 'Hm.' };
    const toolCall: Block = { type: 'toolCall', id: 'c', kind: 'function', name: 'f', input: '{}' };
    const sent = (blocks: readonly Block[], reasoning: SomeQuirks['reasoning']) =>
      (messagesOf(blocks, 'assistant', { reasoning: { ...reasoning } }) as readonly JsonObject[])[0]!;
    assert.equal(sent([thought], { echo: 'all' }).reasoning_content, 'Hm.');
    assert.equal(sent([thought, toolCall], { echo: 'tool_turns', field: 'reasoning' }).reasoning, 'Hm.');
    assert.equal(sent([toolCall], { echo: 'tool_turns' }).reasoning_content, ' ');
    assert.ok(!('reasoning_content' in sent([thought], { echo: 'tool_turns' })), 'no call, no thought');
    assert.ok(!('reasoning_content' in sent([thought, toolCall], { echo: 'none' })), 'this vendor wants none');
  });

  it('returns sealed details to a router unchanged', () => {
    const details = [
      { type: 'reasoning.text', text: 'Hm.', signature: 'SIG', format: 'f-v1', index: 0 },
      { type: 'reasoning.encrypted', data: 'ENC', id: 'r', format: 'g-v1', index: 1 },
    ];
    const body = { choices: [{ message: { content: 'x', reasoning: 'Hm.', reasoning_details: details } }] };
    const { blocks } = spoken.decodeReply(body, FROM, collectWarnings({}))!;
    const [message] = messagesOf(blocks, 'assistant', {
      reasoning: { echo: 'all', field: 'reasoning_details' },
    }) as readonly JsonObject[];
    assert.deepEqual(message?.reasoning_details, details);
  });

  it('requests reasoning with the field that the vendor supports', () => {
    const sent = (input: 'effort' | 'budget' | 'adaptive', reasoning: Conversation['reasoning']) => {
      const {
        model: _,
        messages: __,
        ...rest
      } = encoded({ reasoning }, { reasoning: { input, levels: ['none'] } }).body;
      return rest;
    };
    assert.deepEqual(sent('effort', { mode: 'on', effort: 'high' }), { reasoning_effort: 'high' });
    assert.deepEqual(sent('effort', { mode: 'off' }), { reasoning_effort: 'none' });
    assert.deepEqual(sent('budget', { mode: 'on', budget: 9 }), { enable_thinking: true, thinking_budget: 9 });
    assert.deepEqual(sent('adaptive', { mode: 'off' }), { thinking: { type: 'disabled' } });
    assert.deepEqual(sent('adaptive', { mode: 'auto' }), { thinking: { type: 'enabled' } });
  });

  it('has a schema as an instruction if its vendor has no field for it', () => {
    const output = { format: { type: 'schema', schema: { type: 'object' } } } as const;
    const native = encoded({ output });
    assert.deepEqual(native.body.response_format, {
      type: 'json_schema',
      json_schema: { name: 'structured_output', schema: { type: 'object' } },
    });
    const { body, warnings } = encoded({ output }, { output: { json_schema: false } });
    assert.deepEqual(body.response_format, { type: 'json_object' });
    const [first] = body.messages as readonly JsonObject[];
    assert.equal(first?.role, 'system');
    assert.match(String(first?.content), /JSON Schema.*\n\{"type":"object"\}$/);
    assert.deepEqual(warnings.serious, ['response_format:changed']);
  });

  it('has fewer tools if only some are allowed, and omits tool options without tools', () => {
    const tools = ['f', 'g', 'h'].map((name) => ({ type: 'function', name }) as const);
    const { body } = encoded({ tools, toolChoice: { mode: 'required', only: ['f', 'h'] }, parallelToolCalls: false });
    const function_ = (name: string) => ({
      type: 'function',
      function: { name, parameters: { type: 'object', properties: {} } },
    });
    assert.deepEqual(body.tools, [function_('f'), function_('h')]);
    assert.deepEqual([body.tool_choice, body.parallel_tool_calls], ['required', false]);
    assert.deepEqual(encoded({ tools, toolChoice: { mode: 'required', only: ['g'] } }).body.tool_choice, {
      type: 'function',
      function: { name: 'g' },
    });
    assert.deepEqual(Object.keys(encoded({ toolChoice: { mode: 'auto' } }).body), ['model', 'messages']);
  });

  it('has a single stop sequence as a string if lists are not supported', () => {
    const stopOf = (stop: readonly string[], array_only?: boolean) =>
      encoded({ stop }, array_only === undefined ? {} : { stop: { array_only } }).body.stop;
    assert.equal(stopOf(['END'], false), 'END');
    assert.deepEqual(stopOf(['END', 'STOP'], false), ['END', 'STOP']);
    assert.deepEqual([stopOf(['END'], true), stopOf(['END'])], [['END'], ['END']]);
    assert.equal(stopOf([], false), undefined);
  });

  it('has an empty list of tools only after calls, and only for vendors that accept it', () => {
    const turns: readonly Turn[] = [
      { role: 'user', blocks: [{ type: 'text', text: 'Do it.' }] },
      { role: 'assistant', blocks: [{ type: 'toolCall', id: 'c', name: 'f', kind: 'function', input: '{}' }] },
      { role: 'user', blocks: [{ type: 'toolResult', id: 'c', kind: 'function', content: [] }] },
    ];
    const taken: SomeQuirks = { tools: { empty_array_ok: true } };
    const tools: readonly Tool[] = [{ type: 'function', name: 'f' }];
    assert.deepEqual(encoded({ turns }, taken).body.tools, []);
    assert.equal('tools' in encoded({ turns }).body, false);
    assert.equal('tools' in encoded({ turns: turns.slice(0, 1) }, taken).body, false);
    assert.equal((encoded({ turns, tools }, taken).body.tools as readonly Json[]).length, 1);
  });

  it("encodes all other options in chat's notation", () => {
    const { body, warnings } = encoded(
      {
        maxTokens: 9,
        stop: ['END'],
        sampling: { temperature: 1, topP: 0.5, seed: 3, logprobs: 2 },
        labels: { user: 'u'.repeat(100), metadata: { a: 'b' }, serviceTier: 'standard_only', store: true },
        extras: { moderation: { model: 'm' }, prompt_cache_retention: '24h', container: 'c' },
      },
      { limits: { max_tokens_field: 'max_completion_tokens' } },
      true,
    );
    const { messages: _, user: hashed, ...rest } = body;
    assert.match(String(hashed), /^[0-9a-f]{64}$/);
    assert.deepEqual(rest, {
      model: 'vendor-model',
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 9,
      temperature: 1,
      top_p: 0.5,
      seed: 3,
      logprobs: true,
      top_logprobs: 2,
      stop: ['END'],
      metadata: { a: 'b' },
      service_tier: 'default',
      moderation: { model: 'm' },
    });
    assert.deepEqual(warnings.serious, ['container:dropped']);
  });

  it('keeps the meaning of a round trip', () => {
    const request = {
      messages: [
        system('Be short.'),
        user([
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
        ]),
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'A cat.' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      tool_choice: 'auto',
      temperature: 0.2,
      max_tokens: 5,
    };
    const { body } = encoded(decoded(request).conversation);
    assert.deepEqual(body, { model: 'vendor-model', ...request });
  });
});

describe('the reply of a chat vendor', () => {
  const read = (message: JsonObject, more: JsonObject = {}): Reply => {
    const body = { id: 'x', model: 'y', choices: [{ index: 0, message, finish_reason: 'stop', ...more }] };
    return spoken.decodeReply(body, FROM, collectWarnings({}))!;
  };

  it('is decoded with everything that vendors add', () => {
    const { blocks } = read(
      {
        role: 'assistant',
        content: 'See here.',
        reasoning_content: 'Hm.',
        annotations: [
          { type: 'url_citation', url_citation: { url: 'https://a', title: 'A', start_index: 4, end_index: 8 } },
        ],
        images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgoAAAAN' } }],
        tool_calls: [{ id: 'c', function: { name: 'f', arguments: { a: 1 } } }],
      },
      { logprobs: { content: [{ token: 'See' }] } },
    );
    assert.deepEqual(
      blocks.map(({ type }) => type),
      ['thinking', 'text', 'image', 'toolCall'],
    );
    const [, text, , toolCall] = blocks;
    assert.ok(text?.type === 'text' && text.citations?.[0]?.url === 'https://a', 'the citation stands with the text');
    assert.deepEqual(text.logprobs, [{ token: 'See' }]);
    assert.ok(toolCall?.type === 'toolCall' && toolCall.input === '{"a":1}', 'arguments that came as an object');
  });

  it('is decoded if its content has reasoning', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
      { type: 'text', text: 'Yes.' },
    ];
    const thought = [
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'Yes.' },
    ];
    assert.deepEqual(read({ content }).blocks, thought);
    assert.deepEqual(
      reply([delta({ content: content.slice(0, 1) }), delta({ content: 'Yes.' }), STOP]).blocks,
      thought,
    );
  });

  it('ends as the vendor says, except that calls have their reason and an unknown word is `stop`', () => {
    const ends = (finish_reason: Json, message: JsonObject = { content: 'x' }, more: JsonObject = {}) =>
      read(message, { finish_reason, ...more }).finish;
    const tool_calls = [{ id: 'c', function: { name: 'f', arguments: '{}' } }];
    assert.equal(ends('stop').reason, 'stop');
    assert.equal(ends('eos').reason, 'stop');
    assert.equal(ends('').reason, 'stop');
    assert.equal(ends('length', { tool_calls }).reason, 'length');
    assert.equal(ends('content_filter', { tool_calls }).reason, 'content_filter');
    assert.equal(ends('stop', { tool_calls }).reason, 'tool_calls');
    assert.equal(ends('tool_calls').reason, 'stop');
    assert.equal(ends('stop', { refusal: 'No.' }).reason, 'refusal');
    assert.deepEqual(ends('stop', undefined, { stop_reason: 'END' }), { reason: 'stop_sequence', stopSequence: 'END' });
  });

  it('is undefined without a message, and accepts members of any wrong type', () => {
    assert.equal(spoken.decodeReply({}, FROM, collectWarnings({})), undefined);
    assert.equal(spoken.decodeReply({ choices: [] }, FROM, collectWarnings({})), undefined);
    for (const value of [1, 'x', true, [1, 'x', null, {}], { a: 1 }] as readonly Json[]) {
      const members = ['reasoning_details', 'annotations', 'images', 'audio', 'tool_calls', 'function_call', 'refusal'];
      const message = Object.fromEntries(members.map((name) => [name, value]));
      assert.ok(
        read({ ...message, content: 'x' }, { logprobs: value, finish_reason: value }).blocks.length > 0,
        'text',
      );
      assert.ok(partsIn([delta({ ...message, content: 'x' }), STOP]).length > 0, 'text');
      assert.ok(partsIn([{ choices: value, usage: value }, JSON.stringify(value), '{'], '[DONE]').length > 0, 'an end');
    }
  });

  it('reports unread members', () => {
    const warnings = collectWarnings({});
    const choice = { message: { content: 'x', executed_tools: [{ a: 1 }] }, seed: 7, finish_reason: 'stop' };
    spoken.decodeReply({ provider: 'P', choices: [choice], empty: [] }, FROM, warnings);
    assert.deepEqual(warnings.all, ['provider:omitted', 'seed:omitted', 'executed_tools:omitted']);
  });
});

describe('a failed reply of a chat vendor', () => {
  it('is an error instead of an answer', () => {
    for (const reason of ['error', 'insufficient_system_resource', 'ABORT']) {
      const usage = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } };
      const parts = partsIn([delta({ content: 'Half of' }), delta({}, reason), usage]);
      assert.deepEqual(
        parts.map(({ type }) => type),
        ['start', 'blockStart', 'delta', 'usage', 'error'],
      );
      const end = parts.at(-1);
      assert.equal(end?.type === 'error' && end.code, reason);
      assert.equal(partsIn([delta({ content: 'Half of' }), delta({}, reason)], '').at(-1)?.type, 'error');
      const choices = [{ index: 0, message: { role: 'assistant', content: 'Half of' }, finish_reason: reason }];
      assert.equal(spoken.decodeReply({ choices }, FROM, collectWarnings({})), undefined);
    }
  });
});

describe('the stream of a chat vendor', () => {
  it('has our own count if the vendor reported usage too early, or not the output; zeros at the end are counts', () => {
    const count = (n: number): JsonObject => ({ choices: [], usage: { prompt_tokens: 20, completion_tokens: n } });
    const words = delta({ content: 'x'.repeat(4_000) });
    for (const events of [
      [delta({ role: 'assistant' }), count(1), words],
      [delta({ role: 'assistant' }), count(0), words],
      [words, { choices: [], usage: { prompt_tokens: 20 } }],
    ]) {
      const told = foldParts(partsIn(events))?.usage;
      assert.deepEqual([told?.input, told?.output, told?.estimated], [20, 1_000, true]);
    }
    assert.equal(foldParts(partsIn([words, count(3)]))?.usage?.output, 3);
    const zeros = { choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } };
    assert.equal(foldParts(partsIn([words, zeros]))?.usage?.input, 0);
    assert.equal(foldParts(partsIn([zeros, words]))?.usage, undefined);
    assert.equal(foldParts(partsIn([words, count(0)]))?.usage?.output, 0);
  });

  it('has its parts in order, and ends when everything has arrived', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const parts = partsIn([
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: 'Hm.' }),
      delta({ content: 'Hel' }),
      delta({ content: 'lo' }),
      STOP,
      { choices: [], usage },
    ]);
    assert.deepEqual(
      parts.map(({ type }) => type),
      ['start', 'blockStart', 'delta', 'blockEnd', 'blockStart', 'delta', 'delta', 'usage', 'blockEnd', 'finish'],
    );
    assert.deepEqual(parts[0], { type: 'start', id: 'chatcmpl-1', model: 'vendor-model' });
  });

  it('separates calls whose pieces are interleaved', () => {
    const { blocks, finish } = reply([
      delta({ content: 'Wait.' }),
      call({ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '' } }),
      call({ index: 0, function: { arguments: '{"a":' } }),
      // Some servers send an empty text with every piece.
      delta({ content: '', tool_calls: [{ index: 1, id: 'c2', function: { name: 'g', arguments: '{"b"' } }] }),
      call({ index: 0, function: { arguments: '1}' } }),
      call({ index: 1, function: { arguments: ':2}' } }),
      STOP,
    ]);
    assert.deepEqual(
      blocks.map((block) => (block.type === 'toolCall' ? block.input : block.type)),
      ['text', '{"a":1}', '{"b":2}'],
    );
    assert.equal(finish.reason, 'tool_calls');
  });

  it('separates calls that all have the same index', () => {
    const f = { name: 'f', arguments: '{"a":1}' };
    const g = { name: 'g', arguments: '{"b":2}' };
    const expected = [
      ['c1', 'f', '{"a":1}'],
      ['c2', 'g', '{"b":2}'],
    ];
    const byId = [call({ index: 0, id: 'c1', function: f }), call({ index: 0, id: 'c2', function: g }), STOP];
    assert.deepEqual(callsOf(reply(byId)), expected);
    const inPieces = [
      call({ index: 0, id: 'c1', function: { name: 'f', arguments: '{"a"' } }),
      call({ index: 0, id: 'c2', function: { name: 'g', arguments: '{"b"' } }),
      call({ index: 0, id: 'c1', function: { arguments: ':1}' } }),
      call({ index: 0, id: 'c2', function: { arguments: ':2}' } }),
      STOP,
    ];
    assert.deepEqual(callsOf(reply(inPieces)), expected);
    const byName = callsOf(reply([call({ index: 0, function: f }), call({ index: 0, function: g }), STOP]));
    assert.deepEqual(
      byName.map(([, name, input]) => [name, input]),
      expected.map(([, name, input]) => [name, input]),
    );
    assert.equal(new Set(byName.map(([id]) => id)).size, 2);
  });

  it('accepts calls without an index, repeated ids and names, and a name that arrives late', () => {
    const both = delta({
      tool_calls: [
        { id: 'c1', function: { name: 'f', arguments: '{}' } },
        { id: 'c2', function: { name: 'f', arguments: '{}' } },
      ],
    });
    assert.deepEqual(callsOf(reply([both, STOP])), [
      ['c1', 'f', '{}'],
      ['c2', 'f', '{}'],
    ]);
    const repeated = ['{"a"', ':1}'].map((piece) =>
      call({ index: 0, id: 'c', function: { name: 'f', arguments: piece } }),
    );
    assert.deepEqual(callsOf(reply([...repeated, STOP])), [['c', 'f', '{"a":1}']]);
    const without = [
      call({ function: { name: 'f', arguments: '{"a"' } }),
      call({ function: { arguments: ':1}' } }),
      STOP,
    ];
    assert.deepEqual(callsOf(reply(without))[0]?.slice(1), ['f', '{"a":1}']);
    const late = [
      call({ index: 0, id: 'c', function: { arguments: '{"a"' } }),
      call({ index: 0, function: { name: 'f', arguments: ':1}' } }),
      STOP,
    ];
    assert.deepEqual(callsOf(reply(late)), [['c', 'f', '{"a":1}']]);
    // One id for two calls could not be answered.
    const piece = (index: number, input: string, name = {}) =>
      call({ index, id: 'c', function: { ...name, arguments: input } });
    const sameId = callsOf(
      reply([piece(0, '{', { name: 'f' }), piece(1, '{', { name: 'g' }), piece(0, '}'), piece(1, '} '), STOP]),
    );
    assert.deepEqual(
      sameId.map(([, name, input]) => [name, input]),
      [
        ['f', '{}'],
        ['g', '{} '],
      ],
    );
    assert.equal(new Set(sameId.map(([id]) => id)).size, 2);
  });

  it('gives a call without an id the same one, streamed or not', () => {
    const about = { id: 'a', created: 1_760_000_000 };
    const entries = ['{}', '{"a":1}', '{"a":2}'].map((input, i) => ({
      ...(i > 0 && { id: 'c' }),
      function: { name: 'f', arguments: input },
    }));
    const stream = [...entries.map((entry, index) => call({ index, ...entry })), STOP];
    const message = { content: null, tool_calls: entries };
    const whole = (head: JsonObject): Reply =>
      spoken.decodeReply({ ...head, choices: [{ index: 0, message }] }, FROM, collectWarnings({}))!;
    const streamed = callsOf(reply(stream.map((event) => ({ ...event, ...about }))));
    assert.deepEqual(callsOf(whole(about)), streamed);
    assert.deepEqual([streamed[1]?.[0], new Set(streamed.map(([id]) => id)).size], ['c', 3]);
    // Some servers call every answer the same, and a conversation may hold several of them.
    for (const other of [{ id: 'b' }, { created: 1_760_000_001 }]) {
      assert.notEqual(callsOf(whole({ ...about, ...other }))[0]?.[0], streamed[0]?.[0]);
    }
    for (const unknown of [{ id: 'a' }, { id: 'a', created: 0 }, { created: 1 }]) {
      assert.notEqual(callsOf(whole(unknown))[0]?.[0], callsOf(whole(unknown))[0]?.[0]);
    }
  });

  it('skips whitespace before arguments, but not before the free text of a custom call', () => {
    const blank = [call({ index: 0, id: 'c', function: { name: 'f', arguments: ' ' } }), STOP];
    assert.deepEqual(callsOf(reply(blank)), [['c', 'f', '']]);
    const message = { tool_calls: [{ id: 'c', function: { name: 'f', arguments: ' ' } }] };
    assert.deepEqual(callsOf(spoken.decodeReply({ choices: [{ message }] }, FROM, collectWarnings({}))!), [
      ['c', 'f', ''],
    ]);
    const before = [
      call({ index: 0, id: 'c', function: { name: 'f', arguments: ' ' } }),
      call({ index: 0, function: { arguments: '\n{"a": ' } }),
      call({ index: 0, function: { arguments: ' 1}' } }),
      STOP,
    ];
    assert.deepEqual(callsOf(reply(before)), [['c', 'f', '{"a":  1}']]);
    const custom = [call({ index: 0, id: 'c', type: 'custom', custom: { name: 'f', input: ' x' } }), STOP];
    assert.deepEqual(callsOf(reply(custom)), [['c', 'f', ' x']]);
  });

  it('decodes the first of several choices, and reports the others', () => {
    const warnings = collectWarnings({});
    const reader = spoken.createStreamDecoder(FROM, warnings);
    const choice = (index: number, content: string, finish: string | null = null): JsonObject => ({
      index,
      delta: { content },
      finish_reason: finish,
    });
    const chunks = [
      [choice(0, 'A')],
      [choice(1, 'B')],
      [choice(1, 'b', 'length'), choice(0, 'a', 'stop')],
      [choice(1, 'B')],
    ];
    const parts = chunks.flatMap((choices) => reader.read({ name: undefined, data: JSON.stringify({ choices }) }));
    const folded = foldParts([...parts, ...reader.close()]);
    assert.deepEqual([folded?.blocks, folded?.finish], [[{ type: 'text', text: 'Aa' }], { reason: 'stop' }]);
    assert.deepEqual(warnings.all, ['choices:omitted']);
    // A server that counts from one gives one answer all the same.
    const other = reply([{ choices: [choice(1, 'A')] }, { choices: [choice(1, 'a', 'stop')] }]);
    assert.deepEqual(other.blocks, [{ type: 'text', text: 'Aa' }]);
  });

  it('decodes custom and legacy calls', () => {
    const custom = [
      call({ index: 0, id: 'c', type: 'custom', custom: { name: 'patch', input: '' } }),
      call({ index: 0, custom: { input: '*** Begin' } }),
      STOP,
    ];
    const [block] = reply(custom).blocks;
    assert.deepEqual(block, { type: 'toolCall', id: 'c', name: 'patch', kind: 'custom', input: '*** Begin' });
    const older = [
      delta({ function_call: { name: 'f', arguments: '' } }),
      delta({ function_call: { arguments: '{}' } }, 'function_call'),
    ];
    assert.deepEqual(
      callsOf(reply(older)).map((each) => each.slice(1)),
      [['f', '{}']],
    );
    assert.equal(reply(older).finish.reason, 'tool_calls');
  });

  it('starts before its usage, wherever that is, and may be an error only', () => {
    const usage = { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } };
    const types = partsIn([usage, delta({ content: 'x' }), STOP]).map(({ type }) => type);
    assert.deepEqual(types.slice(0, 3), ['start', 'usage', 'blockStart']);
    const nothing = partsIn([usage]).map(({ type }) => type);
    assert.deepEqual(nothing, ['start', 'usage', 'error']);
    assert.deepEqual(
      partsIn([{ error: { message: 'No.' } }]).map(({ type }) => type),
      ['error'],
    );
  });

  it('has log probabilities even of tokens without text', () => {
    const logprob = { token: 'x', logprob: -1 };
    const piece = (content: string): JsonObject => ({
      choices: [{ index: 0, delta: { content }, logprobs: { content: [logprob] }, finish_reason: null }],
    });
    const said = reply([delta({ content: '' }), piece(''), piece('Hi'), piece(''), STOP]);
    const text = { type: 'text', text: 'Hi', logprobs: [logprob, logprob, logprob] } as const;
    assert.deepEqual(said.blocks, [text]);
    const split: readonly Part[] = [
      { type: 'start', id: '', model: '' },
      { type: 'blockStart', key: 0, block: { type: 'text', text: '' } },
      { type: 'delta', key: 0, text: 'Hi', logprobs: [logprob] },
      { type: 'delta', key: 0, text: '', logprobs: [logprob] },
      { type: 'blockEnd', key: 0 },
      { type: 'finish', finish: { reason: 'stop' } },
    ];
    const again = reply(chunksIn(written(split, answering({ asksUsage: false }))));
    assert.deepEqual(again.blocks, [{ ...text, logprobs: [logprob, logprob] }]);
  });

  it('keeps reasoning that another gateway sealed in the form that it requires', () => {
    const thought = {
      type: 'thinking',
      text: 'First.',
      opaque: { style: 'messages', channel: 'a', kind: 'signature', value: 'S1' },
    } as const;
    const theirs = answer([thought, { type: 'text', text: 'Done.' }]);
    const whole = spoken.decodeReply(asked.encodeReply(theirs, answering()), FROM, collectWarnings({}))!;
    const streamed = reply(chunksIn(written(partsOf(theirs))));
    const seals = [whole, streamed].map(({ blocks }) =>
      blocks.flatMap((block) => (block.type === 'thinking' && block.opaque ? [block.opaque] : [])),
    );
    assert.deepEqual(seals[0], seals[1]);
    assert.deepEqual([seals[0]?.[0]?.style, seals[0]?.[0]?.channel], ['chat', 'main']);
    for (const { blocks } of [whole, streamed]) {
      const sent = messagesOf(blocks, 'assistant', { reasoning: { echo: 'all', field: 'reasoning_details' } });
      assert.deepEqual(blocksOf(...(sent as readonly JsonObject[])), [theirs.blocks]);
    }
  });

  it('seals reasoning with its details', () => {
    const { blocks } = reply([
      delta({ reasoning: 'Hm.', reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', index: 0 }] }),
      delta({ reasoning: null, reasoning_details: [{ type: 'reasoning.text', signature: 'SIG', index: 0 }] }),
      delta({ content: 'Yes.' }),
      STOP,
    ]);
    assert.deepEqual(blocks, [
      {
        type: 'thinking',
        text: 'Hm.',
        opaque: {
          style: 'chat',
          channel: 'main',
          kind: 'signature',
          value: '{"index":0,"signature":"SIG","type":"reasoning.text"}',
        },
      },
      { type: 'text', text: 'Yes.' },
    ]);
    const details = [{ type: 'reasoning.text', text: 'Hm.', index: 0, signature: 'SIG' }];
    const message = { reasoning: 'Hm.', reasoning_details: details, content: 'Yes.' };
    const whole = spoken.decodeReply({ choices: [{ message }] }, FROM, collectWarnings({}));
    assert.deepEqual(whole?.blocks, blocks);
  });

  it('decodes images, audio, refusals and citations', () => {
    const { blocks, finish } = reply([
      delta({ images: [{ type: 'image_url', image_url: { url: 'https://a/b.png' } }] }),
      delta({ audio: { id: 'a', transcript: 'Hel' } }),
      delta({ audio: { data: 'AAAA', transcript: 'lo' } }),
      delta({ content: 'See.' }),
      delta({
        annotations: [{ type: 'url_citation', url_citation: { url: 'https://a', start_index: 0, end_index: 3 } }],
      }),
      delta({ refusal: 'No.' }),
      STOP,
    ]);
    assert.deepEqual(
      blocks.map(({ type }) => type),
      ['image', 'audio', 'text', 'refusal'],
    );
    const [, audio, text] = blocks;
    assert.ok(audio?.type === 'audio' && audio.data === 'AAAA' && audio.transcript === 'Hello', 'sound and its words');
    assert.ok(text?.type === 'text' && text.citations?.length === 1, 'the citation stands with the text');
    assert.equal(finish.reason, 'refusal');
  });

  it('reads usage wherever it is, and ignores zeros after it', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5 };
    const zeros = { prompt_tokens: 0, completion_tokens: 0 };
    const choice = { index: 0, delta: {}, finish_reason: 'stop' };
    const places: readonly JsonObject[] = [
      { choices: [], usage },
      { usage },
      { choices: [choice], usage },
      { choices: [{ ...choice, usage }] },
      { choices: [], x_groq: { usage } },
    ];
    for (const place of places) {
      const { usage: told } = reply([delta({ content: 'x' }), STOP, place, { choices: [], usage: zeros }]);
      assert.deepEqual([told?.input, told?.output], [10, 5], JSON.stringify(place));
    }
  });

  it('is complete without [DONE] once it has a finish reason, and not before', () => {
    const said = [delta({ content: 'x' })];
    assert.equal(partsIn([...said, STOP], '').at(-1)?.type, 'finish');
    assert.equal(partsIn(said, '').at(-1)?.type, 'delta');
    assert.equal(partsIn(said).at(-1)?.type, 'finish');
    const reader = spoken.createStreamDecoder(FROM, collectWarnings({}));
    reader.read({ name: undefined, data: '[DONE]' });
    assert.deepEqual(reader.read({ name: undefined, data: JSON.stringify(said[0]) }), []);
  });

  it('is an error if the vendor sends one, in the middle of a call, and if nothing arrived', () => {
    const error = { message: 'It burns.', code: 'fire' };
    const told = { type: 'error', ...error };
    assert.deepEqual(partsIn([delta({ content: 'x' }), { error }]).at(-1), told);
    assert.deepEqual(partsIn(['[{"error":{"message":"It burns.","code":"fire"}}]']), [told]);
    assert.deepEqual(partsIn([delta({ content: 'x' }), { object: 'error', ...error }]).at(-1), told);
    assert.deepEqual(partsIn([{ choices: [{ index: 0, delta: {}, error, finish_reason: 'error' }] }]).at(-1), told);
    const reader = spoken.createStreamDecoder(FROM, collectWarnings({}));
    assert.deepEqual(reader.read({ name: 'error', data: JSON.stringify(error) }), [told]);
    assert.equal(
      partsIn([call({ index: 0, id: 'c', function: { name: 'f', arguments: '{"a' } })]).at(-1)?.type,
      'error',
    );
    assert.equal(partsIn([]).at(-1)?.type, 'error');
  });
});

const EVERYTHING: readonly Block[] = [
  { type: 'thinking', text: 'Hm.', opaque: { style: 'messages', channel: 'main', kind: 'signature', value: 'SIG' } },
  { type: 'text', text: 'Hello ' },
  {
    type: 'text',
    text: 'there',
    citations: [{ url: 'https://a', title: 'A', start: 0, end: 5, style: 'messages', raw: {} }],
  },
  { type: 'thinking', text: 'So.' },
  { type: 'toolCall', id: 'c1', kind: 'function', name: 'f', input: '' },
  {
    type: 'toolCall',
    id: 'c2',
    kind: 'function',
    name: 'g',
    input: '{"a":1}',
    opaque: { style: 'gemini', channel: 'main', kind: 'thought', value: 'SEAL' },
  },
  { type: 'foreign', style: 'messages', what: 'web_search_call', raw: {} },
];

describe('an answer encoded for a chat client', () => {
  it('has everything that a chat message can express, and reports the rest', () => {
    const as = answering();
    const body = asked.encodeReply(answer(EVERYTHING, { finish: { reason: 'tool_calls' } }), as);
    const { choices: _, usage: __, ...head } = body;
    assert.deepEqual(head, {
      id: 'chatcmpl-01234567890123456789012345',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'public-name',
    });
    const { message, finish_reason, logprobs } = choiceOf(body);
    const { reasoning_details: details, ...rest } = message;
    assert.deepEqual([finish_reason, logprobs], ['tool_calls', null]);
    assert.deepEqual(rest, {
      role: 'assistant',
      content: 'Hello there',
      refusal: null,
      reasoning_content: 'Hm.\n\nSo.',
      annotations: [
        { type: 'url_citation', url_citation: { start_index: 6, end_index: 11, title: 'A', url: 'https://a' } },
      ],
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
        {
          id: 'c2',
          type: 'function',
          function: { name: 'g', arguments: '{"a":1}' },
          extra_content: { google: { thought_signature: 'SEAL' } },
        },
      ],
    });
    const [detail] = details as readonly JsonObject[];
    assert.ok(String(detail?.data).startsWith(CARRIER), 'the signature is sealed for the way back');
    assert.deepEqual(as.warnings.all, ['web_search_call:omitted']);
  });

  it('returns sealed reasoning, each with its text', () => {
    const blocks: readonly Block[] = [
      { type: 'thinking', text: 'First.', opaque: { style: 'messages', channel: 'a', kind: 'signature', value: 'S1' } },
      { type: 'thinking', text: 'Open.' },
      { type: 'thinking', text: '', opaque: { style: 'messages', channel: 'a', kind: 'redacted', value: 'R' } },
      { type: 'thinking', text: 'Last.', opaque: { style: 'messages', channel: 'a', kind: 'signature', value: 'S2' } },
      { type: 'text', text: 'Done.' },
    ];
    const { message } = choiceOf(asked.encodeReply(answer(blocks), answering()));
    assert.deepEqual(blocksOf(message), [blocks]);
    const streamed = chunksIn(written(partsOf(answer(blocks))));
    const deltas = streamed.flatMap(({ choices }) =>
      (choices as readonly JsonObject[]).map((each) => each.delta as JsonObject),
    );
    const joined = (name: string): string => deltas.map((each) => each[name] ?? '').join('');
    const folded = { role: 'assistant', content: joined('content'), reasoning_content: joined('reasoning_content') };
    const details = deltas.flatMap((each) => (each.reasoning_details ?? []) as readonly Json[]);
    assert.deepEqual(blocksOf({ ...folded, reasoning_details: details }), [blocks]);
    // A signature is worth nothing beside other words.
    const changed = { ...message, reasoning_content: '' };
    assert.deepEqual(
      blocksOf(changed)[0]?.map((block) => (block.type === 'thinking' ? block.opaque?.kind : block.type)),
      ['redacted', 'text'],
    );
  });

  it('has null content if there is only a call, and empty content if there is nothing', () => {
    const content = (blocks: readonly Block[]) =>
      choiceOf(asked.encodeReply(answer(blocks), answering())).message.content;
    assert.equal(content([{ type: 'toolCall', id: 'c', kind: 'function', name: 'f', input: '{}' }]), null);
    assert.equal(content([]), '');
  });

  it('has one of the finish reasons that clients know', () => {
    const word = (reason: Reply['finish']['reason'], blocks: readonly Block[] = []) =>
      choiceOf(asked.encodeReply(answer(blocks, { finish: { reason } }), answering())).finish_reason;
    const reasons = ['stop', 'stop_sequence', 'pause', 'length', 'context_full', 'content_filter', 'refusal'] as const;
    assert.deepEqual(
      reasons.map((reason) => word(reason)),
      ['stop', 'stop', 'stop', 'length', 'length', 'content_filter', 'content_filter'],
    );
    assert.equal(word('refusal', [{ type: 'refusal', text: 'No.' }]), 'stop');
  });

  it('reports an end that chat cannot express', () => {
    const paused = answer([], { finish: { reason: 'pause' } });
    for (const write of [
      (as: Answering) => void asked.encodeReply(paused, as),
      (as: Answering) => void written(partsOf(paused), as),
    ]) {
      const warnings = collectWarnings({});
      write(answering({ warnings }));
      assert.deepEqual(warnings.all, ['pause:omitted']);
    }
  });

  it('has the legacy function call for legacy clients', () => {
    const as = answering({ request: { functions: [{ name: 'f' }] } });
    const blocks: readonly Block[] = [{ type: 'toolCall', id: 'c', kind: 'function', name: 'f', input: '{"a":1}' }];
    const whole = choiceOf(asked.encodeReply(answer(blocks, { finish: { reason: 'tool_calls' } }), as));
    assert.deepEqual(whole.message.function_call, { name: 'f', arguments: '{"a":1}' });
    assert.equal(whole.finish_reason, 'function_call');
    const chunks = chunksIn(written(partsOf(answer(blocks, { finish: { reason: 'tool_calls' } })), as));
    assert.equal(choiceOf(chunks.at(-2)!).finish_reason, 'function_call');
  });
});

describe('a stream encoded for a chat client', () => {
  const parts = partsOf(answer(EVERYTHING, { finish: { reason: 'tool_calls' } }));

  it('has one head on every chunk, the role first, and reason and usage last', () => {
    const chunks = chunksIn(written(parts));
    for (const { id, object, created, model } of chunks) {
      assert.deepEqual(
        [id, object, created, model],
        ['chatcmpl-01234567890123456789012345', 'chat.completion.chunk', 1_700_000_000, 'public-name'],
      );
    }
    assert.deepEqual(chunks[0]?.choices, [
      { index: 0, delta: { role: 'assistant', content: '', refusal: null }, logprobs: null, finish_reason: null },
    ]);
    assert.deepEqual(chunks.at(-2)?.choices, [{ index: 0, delta: {}, logprobs: null, finish_reason: 'tool_calls' }]);
    assert.deepEqual(chunks.at(-1)?.choices, []);
    assert.equal((chunks.at(-1)!.usage as JsonObject).total_tokens, 15);
    assert.ok(
      chunks.slice(0, -1).every(({ usage }) => usage === null),
      'usage is null until it comes',
    );
  });

  it('has no usage if the client did not request it', () => {
    const chunks = chunksIn(written(parts, answering({ asksUsage: false })));
    assert.ok(
      chunks.every((chunk) => !('usage' in chunk)),
      'no usage',
    );
    assert.equal(choiceOf(chunks.at(-1)!).finish_reason, 'tool_calls');
  });

  it('is assembled by the most used client library to the whole answer', async () => {
    const lines = chunksIn(written(parts)).map((chunk) => `${JSON.stringify(chunk)}\n`);
    const stream = ChatCompletionStream.fromReadableStream(new Blob(lines).stream());
    const { choices, usage } = await stream.finalChatCompletion();
    const whole = asked.encodeReply(answer(EVERYTHING, { finish: { reason: 'tool_calls' } }), answering());
    const { reasoning_content: _, ...message } = choiceOf(whole).message;
    const { reasoning_content: __, parsed: ___, ...streamed } = choices[0]!.message as unknown as JsonObject;
    const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;
    const withoutParsed = (value: unknown): Json =>
      JSON.parse(
        JSON.stringify(value, (key, each: unknown) => (key === 'parsed_arguments' ? undefined : each)),
      ) as Json;
    assert.deepEqual(withoutParsed(streamed), plain(message));
    assert.deepEqual(plain(usage), whole.usage);
    assert.equal(choices[0]?.finish_reason, 'tool_calls');
  });

  it('numbers calls only among calls', () => {
    const start = (key: number, id: string): Part => ({
      type: 'blockStart',
      key,
      block: { type: 'toolCall', id, kind: 'function', name: 'f', input: '' },
    });
    const mixed: readonly Part[] = [
      { type: 'start', id: '', model: '' },
      { type: 'blockStart', key: 0, block: { type: 'text', text: '' } },
      { type: 'delta', key: 0, text: 'x' },
      start(1, 'c1'),
      start(2, 'c2'),
      { type: 'delta', key: 2, text: '{"b":2}' },
      { type: 'delta', key: 1, text: '{"a":1}' },
      { type: 'finish', finish: { reason: 'tool_calls' } },
    ];
    const calls = chunksIn(written(mixed)).flatMap(({ choices }) =>
      (choices as readonly { readonly delta: JsonObject }[]).flatMap(
        (each) => (each.delta.tool_calls ?? []) as readonly JsonObject[],
      ),
    );
    assert.deepEqual(
      calls.map(
        ({ index, id, function: { arguments: input } = {} as JsonObject }: JsonObject & { function?: JsonObject }) => [
          index,
          id,
          input,
        ],
      ),
      [
        [0, 'c1', ''],
        [1, 'c2', ''],
        [1, undefined, '{"b":2}'],
        [0, undefined, '{"a":1}'],
      ],
    );
  });

  it('seals calls of both kinds, whole and in pieces', () => {
    const extra = { google: { thought_signature: 'SEAL' } };
    for (const [kind, nothing] of [
      ['function', { function: { arguments: '' } }],
      ['custom', { custom: { input: '' } }],
    ] as const) {
      const opaque = { style: 'gemini', channel: 'main', kind: 'thought', value: 'SEAL' } as const;
      const block = { type: 'toolCall', id: 'c1', kind, name: 'f', input: '{}' } as const;
      const sealed = answer([{ ...block, opaque }]);
      const { message } = choiceOf(asked.encodeReply(sealed, answering()));
      assert.deepEqual((message.tool_calls as readonly JsonObject[])[0]?.extra_content, extra);
      const late: readonly Part[] = [
        { type: 'start', id: '', model: '' },
        { type: 'blockStart', key: 0, block: { ...block, input: '' } },
        { type: 'opaque', key: 0, opaque },
        { type: 'finish', finish: { reason: 'tool_calls' } },
      ];
      const deltas = chunksIn(written(late)).map(({ choices }) => (choices as readonly JsonObject[])[0]?.delta);
      assert.deepEqual(deltas[2], { tool_calls: [{ index: 0, ...nothing, extra_content: extra }] });
    }
  });

  it('decodes to the same answer', () => {
    const reader = spoken.createStreamDecoder(FROM, collectWarnings({}));
    const again = foldParts(
      chunksIn(written(parts))
        .flatMap((chunk) => reader.read({ name: undefined, data: JSON.stringify(chunk) }))
        .concat(reader.read({ name: undefined, data: '[DONE]' })),
    );
    assert.deepEqual(again?.usage, USAGE);
    assert.deepEqual(again?.finish, { reason: 'tool_calls' });
    assert.deepEqual(callsOf(again!), [
      ['c1', 'f', '{}'],
      ['c2', 'g', '{"a":1}'],
    ]);
  });

  it('ends with an error event, without [DONE]', () => {
    const text = asked.createStreamEncoder(answering()).fail(new GatewayError(502, 'upstream_error', 'Gone.'), 'r');
    assert.match(text, /^data: \{"error":\{"message":"Gone\.".*\}\}\n\n$/);
  });
});

if (recordingsAvailable)
  describe('recorded chat traffic', () => {
    const all = recordings(CHAT_RECORDINGS);

    it('is translated, or refused with a reason, request by request', () => {
      for (const { id, request } of all) {
        try {
          const { body } = encoded(decoded(request).conversation, { cache: { hint: 'cache_control' } });
          assert.ok((body.messages as readonly Json[]).length > 0, id);
        } catch (error) {
          assert.ok(error instanceof GatewayError && error.status === 400, `${id}: ${String(error)}`);
        }
      }
    });

    it('decodes to the same from a whole reply as from a stream of one event', () => {
      for (const recording of all) {
        const { response } = recording as { readonly response?: JsonObject };
        const whole = response && spoken.decodeReply(response, FROM, collectWarnings({}));
        if (whole === undefined) continue;
        assert.deepEqual(whole.usage, recordedUsage(recording), recording.id);
        const { message } = choiceOf(response!);
        const streamed = reply([
          { ...response, choices: [{ ...choiceOf(response!), message: null, delta: message }] } as JsonObject,
        ]);
        const said = ({ blocks }: Reply) =>
          blocks.map((block) => ({ ...block, ...(block.type === 'audio' && { format: '' }) }));
        assert.deepEqual(
          said(streamed).map(({ type }) => type),
          said(whole).map(({ type }) => type),
          recording.id,
        );
        assert.deepEqual([streamed.finish, streamed.usage], [whole.finish, whole.usage], recording.id);
        assert.deepEqual(callsOf(streamed), callsOf(whole), recording.id);
      }
    });
  });
