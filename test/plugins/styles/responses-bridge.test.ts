import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import OpenAI from 'openai';
import { createEventSplitter, eventData, eventName } from '../../../core/bytes/event-splitter.ts';
import {
  type Answering,
  GatewayError,
  type Json,
  type JsonObject,
  type StyleClient,
  type StyleVendor,
  type Target,
} from '../../../core/plugin.ts';
import { foldParts } from '../../../core/translation/conversation/fold.ts';
import {
  type Block,
  type Conversation,
  type Opaque,
  type Part,
  packOpaque,
  type SomeQuirks,
  type Tool,
  unpackOpaque,
} from '../../../core/translation/index.ts';
import { layQuirks } from '../../../core/translation/quirks/quirks.ts';
import { collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { responses } from '../../../plugins/styles/responses/index.ts';
import { processorTime } from '../../kit/clients/processor.ts';
import {
  conversationOf,
  conversations,
  replies,
  replyOf,
  said,
  streamsOf,
} from '../../kit/conversations/conversations.ts';
import { checkParts } from '../../kit/conversations/parts.ts';
import fc from '../../kit/fast-check.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway } from '../../kit/gateway/gateway.ts';
import { fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { hold, wholeAnswer } from '../../kit/vendors/script.ts';

const asked = responses.client as StyleClient;
const spoken = responses.vendor as StyleVendor;
const ID = '0123456789ABCDEFGHIJKLMNOP';
const from = { channel: 'here', model: 'their-model' };
const object = { type: 'object', properties: {} };

function decoded(body: JsonObject) {
  const warnings = collectWarnings(asked.names);
  return { conversation: asked.decodeRequest({ model: 'm', ...body }, warnings), warnings };
}
/** The turns of an input, in short. */
function heard(input: Json): Conversation['turns'] {
  return decoded({ input }).conversation.turns;
}
function encoded(conversation: Conversation, quirks: SomeQuirks = {}, stream = false) {
  const warnings = collectWarnings({});
  const target: Target = { ...from, stream, askUsage: false, quirks: layQuirks(spoken.quirks, quirks) };
  return { body: spoken.encodeRequest(conversation, target, warnings), warnings };
}
function answering(request: JsonObject = {}): Answering {
  const warnings = collectWarnings({});
  return {
    id: ID,
    model: 'public',
    createdMs: 1_700_000_000_500,
    now: () => 1_700_000_007_900,
    request,
    asksUsage: true,
    estimatedInput: 1,
    warnings,
  };
}
function written(parts: readonly Part[], as = answering()) {
  const writer = asked.createStreamEncoder(as);
  return { text: parts.map((part) => writer.write(part)).join(''), writer };
}
function eventsIn(text: string): readonly (JsonObject & { readonly type: string })[] {
  const events = createEventSplitter({ maxBytes: 10_000_000 }).push(Buffer.from(text))!;
  return events.map((event) => {
    const value = JSON.parse(eventData(event)!) as JsonObject & { readonly type: string };
    assert.equal(eventName(event), value.type);
    return value;
  });
}
/** What a fresh decoder says to these events, checked for its order. */
function partsIn(events: readonly JsonObject[]): readonly Part[] {
  const reader = spoken.createStreamDecoder(from, collectWarnings({}));
  const parts = events.flatMap((event) => reader.read({ name: undefined, data: JSON.stringify(event) }));
  checkParts([...parts, ...reader.close()]);
  return parts;
}
/** What the strictest client makes of a stream. */
async function clientReads(text: string): Promise<Json> {
  const answer = (): Promise<Response> =>
    Promise.resolve(new Response(Buffer.from(text), { headers: { 'content-type': 'text/event-stream' } }));
  const client = new OpenAI({ apiKey: 'x', baseURL: 'http://127.0.0.1:1/v1', maxRetries: 0, fetch: answer });
  const response = await client.responses.stream({ model: 'm', input: 'x' }).finalResponse();
  const own = ['output_text', 'output_parsed', 'parsed', 'parsed_arguments'];
  const isOwn = (name: string, value: unknown): boolean => own.includes(name) && !Array.isArray(value);
  return JSON.parse(JSON.stringify(response, (name, value) => (isOwn(name, value) ? undefined : value))) as Json;
}
const start: Part = { type: 'start', id: 'x', model: 'their-model' };

describe('decoding responses requests', () => {
  it('makes a text a user turn, after the instructions', () => {
    const { conversation } = decoded({ instructions: 'Be brief.', input: 'Hi' });
    assert.deepEqual(conversation.turns, [said('system', 'Be brief.'), said('user', 'Hi')]);
  });

  it('makes messages turns, with or without a type, and a text the same as one part', () => {
    const parts = [{ type: 'input_text', text: 'c' }];
    assert.deepEqual(
      heard([
        { role: 'developer', content: 'a' },
        { type: 'message', role: 'system', content: 'b' },
        { role: 'user', content: parts },
        { role: 'user', content: 'd' },
      ]),
      [said('developer', 'a'), said('system', 'b'), said('user', 'c'), said('user', 'd')],
    );
  });

  it('merges adjacent items of the assistant into one turn, and so adjacent results', () => {
    const turns = heard([
      { role: 'user', content: 'go' },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'SEAL' },
      {
        id: 'msg_1',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'Let me see.', annotations: [], logprobs: [] },
          { type: 'refusal', refusal: 'No.' },
        ],
      },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{"a":1}' },
      { type: 'custom_tool_call', call_id: 'call_2', name: 'c', input: 'ls' },
      { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: 'one' }] },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: '' },
    ]);
    const opaque = { style: 'responses', kind: 'encrypted', value: 'SEAL', id: 'rs_1' };
    assert.deepEqual(turns.slice(1), [
      {
        role: 'assistant',
        blocks: [
          { type: 'thinking', text: 'hm', opaque },
          { type: 'text', text: 'Let me see.' },
          { type: 'refusal', text: 'No.' },
          { type: 'toolCall', id: 'call_1', name: 'f', kind: 'function', input: '{"a":1}' },
          { type: 'toolCall', id: 'call_2', name: 'c', kind: 'custom', input: 'ls' },
        ],
      },
      {
        role: 'user',
        blocks: [
          { type: 'toolResult', id: 'call_1', kind: 'function', content: [{ type: 'text', text: 'one' }] },
          { type: 'toolResult', id: 'call_2', kind: 'custom', content: [] },
        ],
      },
    ]);
  });

  it('finds the call of a result by the id of the item', () => {
    const [, result] = heard([
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '' },
      { type: 'function_call_output', call_id: 'fc_1', output: 'x' },
    ]);
    assert.equal((result!.blocks[0] as { id: string }).id, 'call_1');
  });

  it('decodes images, files and audio in every notation', () => {
    const pdf = 'data:application/pdf;base64,JVBERi0xLjQ=';
    const [turn] = heard([
      {
        role: 'user',
        content: [
          { type: 'input_image', image_url: 'data:image/jpg;base64,/9j/4AAQ', detail: 'low' },
          { type: 'input_image', image_url: 'https://example.com/a.png' },
          { type: 'input_image', file_id: 'file-1' },
          { type: 'input_file', filename: 'a.pdf', file_data: pdf },
          { type: 'input_file', file_data: 'JVBERi0xLjQ=' },
          { type: 'input_file', file_url: 'https://example.com/a.pdf' },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
          { type: 'input_text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } },
        ],
      },
    ]);
    const document = { kind: 'base64', mediaType: 'application/pdf', data: 'JVBERi0xLjQ=' };
    assert.deepEqual(turn?.blocks, [
      { type: 'image', source: { kind: 'base64', mediaType: 'image/jpeg', data: '/9j/4AAQ' }, detail: 'low' },
      { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } },
      { type: 'image', source: { kind: 'id', id: 'file-1' } },
      { type: 'file', source: document, name: 'a.pdf' },
      { type: 'file', source: document },
      { type: 'file', source: { kind: 'url', url: 'https://example.com/a.pdf' } },
      { type: 'audio', data: 'AAAA', format: 'wav' },
      { type: 'text', text: 'x', cache: { ttlSeconds: 43_200 } },
    ]);
  });

  it('decodes what coding agents send, with hints only', () => {
    const f = { type: 'function', name: 'exec', description: 'd', strict: false, parameters: object };
    const { conversation, warnings } = decoded({
      stream: true,
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'permissions' }] },
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'rules' }] },
        { type: 'additional_tools', role: 'developer', tools: [f, { ...f, name: 'late' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'environment' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'task' }] },
      ],
      tools: [
        f,
        { type: 'namespace', name: 'agents', tools: [{ ...f, name: 'spawn' }] },
        { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
        { type: 'web_search', search_context_size: 'low', filters: { allowed_domains: ['example.com'] } },
        { type: 'local_shell' },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      reasoning: { summary: 'auto' },
      store: false,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'session',
      client_metadata: { a: 'b' },
    });
    assert.deepEqual(warnings.serious, []);
    assert.deepEqual(warnings.all, ['client_metadata:dropped']);
    assert.deepEqual(
      conversation.turns.map(({ role }) => role),
      ['developer', 'developer', 'user', 'user'],
    );
    assert.deepEqual(
      conversation.tools.map((tool) => [tool.type, tool.name, tool.type === 'function' ? tool.namespace : undefined]),
      [
        ['function', 'exec', undefined],
        ['function', 'spawn', 'agents'],
        ['custom', 'apply_patch', undefined],
        ['hosted', 'web_search', undefined],
        ['hosted', 'local_shell', undefined],
        ['function', 'late', undefined],
      ],
    );
    const search = conversation.tools[3];
    assert.deepEqual(search?.type === 'hosted' && search.search, {
      contextSize: 'low',
      allowedDomains: ['example.com'],
    });
    assert.deepEqual(conversation.reasoning, { mode: 'auto', summary: 'auto' });
    assert.deepEqual(conversation.labels, { cacheKey: 'session' });
    assert.deepEqual(conversation.extras, {});
  });

  it('keeps the group of a tool in its calls', () => {
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', namespace: 'g' };
    const tools = [{ type: 'namespace', name: 'g', tools: [{ type: 'function', name: 'f' }] }];
    const group = (body: JsonObject): unknown =>
      (decoded({ input: [call], ...body }).conversation.turns[0]!.blocks[0] as { namespace?: string }).namespace;
    assert.equal(group({ tools }), 'g');
    assert.equal(group({ tools: [{ type: 'function', name: 'f' }] }), undefined);
  });

  it('decodes every tool choice', () => {
    const choice = (tool_choice: Json): unknown => decoded({ input: 'x', tool_choice }).conversation.toolChoice;
    assert.deepEqual(choice('required'), { mode: 'required' });
    assert.deepEqual(choice({ type: 'function', name: 'f' }), { mode: 'required', only: ['f'] });
    assert.deepEqual(choice({ type: 'web_search_preview' }), { mode: 'required', only: ['web_search'] });
    const tools = [{ type: 'function', name: 'f' }, { type: 'web_search' }];
    assert.deepEqual(choice({ type: 'allowed_tools', mode: 'auto', tools }), {
      mode: 'auto',
      only: ['f', 'web_search'],
    });
  });

  it('decodes limits, reasoning, output format and metadata, and reports the rest', () => {
    const { conversation } = decoded({
      input: 'x',
      max_output_tokens: 50,
      temperature: 0.5,
      top_p: 0.9,
      top_logprobs: 3,
      include: ['message.output_text.logprobs'],
      truncation: 'auto',
      reasoning: { effort: 'none' },
      text: { format: { type: 'json_schema', name: 'n', schema: object, strict: true }, verbosity: 'low' },
      user: 'u',
      metadata: { k: 'v' },
      service_tier: 'flex',
      max_tool_calls: 3,
    });
    assert.equal(conversation.maxTokens, 50);
    assert.deepEqual(conversation.sampling, { temperature: 0.5, topP: 0.9, logprobs: 3 });
    assert.equal(conversation.truncation, 'auto');
    assert.deepEqual(conversation.reasoning, { mode: 'off', summary: 'none' });
    assert.deepEqual(conversation.output, {
      format: { type: 'schema', name: 'n', schema: object, strict: true },
      verbosity: 'low',
    });
    assert.deepEqual(conversation.labels, { user: 'u', metadata: { k: 'v' }, serviceTier: 'flex' });
    assert.deepEqual(conversation.extras, { max_tool_calls: 3 });
  });

  it('opens sealed reasoning, and returns the signature of a call to it', () => {
    const opaque: Opaque = { style: 'gemini', channel: 'g', kind: 'thought', value: 'SIG', id: 'call_1' };
    const carrier = (sealed: Opaque): JsonObject => ({
      type: 'reasoning',
      id: 'rs_x',
      summary: [],
      encrypted_content: packOpaque(sealed),
    });
    const call = { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' };
    const result = { type: 'function_call_output', call_id: 'call_1', output: 'r' };
    const kept = { type: 'toolCall', id: 'call_1', name: 'f', kind: 'function', input: '{}', opaque };
    for (const input of [
      [carrier(opaque), call, result],
      [call, carrier(opaque), result],
      [call, result, carrier(opaque)],
    ]) {
      const turns = heard(input);
      assert.deepEqual(turns[0], { role: 'assistant', blocks: [kept] });
      assert.equal(turns.length, 2);
    }
    const other: Opaque = { style: 'messages', channel: 'm', kind: 'redacted', value: 'R' };
    assert.deepEqual(heard([carrier(other)])[0]?.blocks, [{ type: 'thinking', text: '', opaque: other }]);
  });

  it('keeps only the text of reasoning without encrypted content, and drops it without text', () => {
    const unsealed = packOpaque({ style: '', kind: 'thought', value: '' });
    const summary = [{ type: 'summary_text', text: 'hm' }];
    const blocks = (item: JsonObject): unknown => heard([{ type: 'reasoning', id: 'rs_1', ...item }])[0]?.blocks;
    assert.deepEqual(blocks({ summary, encrypted_content: unsealed }), [{ type: 'thinking', text: 'hm' }]);
    assert.deepEqual(blocks({ summary: [], content: [{ type: 'reasoning_text', text: 'raw' }] }), [
      { type: 'thinking', text: 'raw' },
    ]);
    const { conversation, warnings } = decoded({ input: [{ type: 'reasoning', id: 'rs_1', summary: [] }] });
    assert.deepEqual(conversation.turns, []);
    assert.ok(warnings.all.includes('input.reasoning:dropped'), 'it is named');
  });

  it('keeps items that only vendors of this style support', () => {
    const call = { type: 'shell_call', call_id: 'c', action: {} };
    const output = { type: 'shell_call_output', call_id: 'c', output: [] };
    const turns = heard([call, output]);
    assert.deepEqual(turns, [
      { role: 'assistant', blocks: [{ type: 'foreign', style: 'responses', what: 'shell_call', raw: call }] },
      { role: 'user', blocks: [{ type: 'foreign', style: 'responses', what: 'shell_call_output', raw: output }] },
    ]);
  });

  it('refuses with their name options that need stored responses', () => {
    for (const [body, param] of [
      [{ conversation: 'conv_1' }, 'conversation'],
      [{ prompt: { id: 'p' } }, 'prompt'],
      [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
      [{ input: 'x', background: true }, 'background'],
      [{ input: [{ type: 'item_reference', id: 'x' }] }, 'input.item_reference'],
      [{ input: [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'x' }] }, 'input.compaction'],
      [{ input: [{ type: 'compaction_summary', encrypted_content: 'x' }] }, 'input.compaction'],
    ] as const) {
      assert.throws(
        () => decoded(body),
        (error) => error instanceof GatewayError && error.status === 400 && error.param === param,
        param,
      );
    }
    assert.equal(decoded({ input: 'x', background: false, conversation: null }).conversation.turns.length, 1);
  });

  it('refuses invalid members with their path', () => {
    for (const [body, param] of [
      [{ input: [{ role: 'tool', content: 'x' }] }, 'input[0].role'],
      [{ input: [{ content: 'x' }] }, 'input[0].type'],
      [{ input: [{ type: 'wat' }] }, 'input[0].type'],
      [{ input: [{ role: 'user', content: [{ type: 'video' }] }] }, 'input[0].content[0].type'],
      [
        { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:x' }] }] },
        'input[0].content[0].image_url',
      ],
      [{ input: [{ type: 'function_call_output', output: 'x' }] }, 'input[0].call_id'],
      [{ input: 'x', tools: [{ type: 'function' }] }, 'tools[0].name'],
      [{ input: 'x', tool_choice: 7 }, 'tool_choice'],
      [{ input: 'x', reasoning: { effort: 'huge' } }, 'reasoning.effort'],
      [{ input: 'x', text: { format: { type: 'yaml' } } }, 'text.format.type'],
      [{ input: 'x', text: { format: { type: 'json_schema' } } }, 'text.format.schema'],
    ] as const) {
      assert.throws(
        () => decoded(body),
        (error) => error instanceof GatewayError && error.status === 400 && error.param === param,
        param,
      );
    }
  });

  it('reports every unknown field, harmless ones as hints', () => {
    const item = {
      role: 'user',
      content: [{ type: 'input_text', text: 'x', mood: 'glad' }],
      phase: 'commentary',
      odd: 1,
    };
    const { warnings } = decoded({ input: [item], reasoning: { effort: 'low', mode: 'pro' }, text: { colour: 'red' } });
    assert.deepEqual(warnings.all, [
      'input.mood:dropped',
      'input.phase:dropped',
      'input.odd:dropped',
      'reasoning.mode:dropped',
      'text.colour:dropped',
    ]);
    assert.ok(!warnings.serious.includes('input.phase:dropped'), 'a phase changes no answer');
  });
});

describe('large responses', () => {
  const quickly = (work: () => void): void => {
    const used = processorTime();
    work();
    assert.ok(used() < 3_000, 'it is read in one pass');
  };

  it('are decoded in linear time: many calls of many tools', () => {
    const name = (i: number): string => `f${i}`;
    const tools = Array.from({ length: 10_000 }, (_, i) => ({ type: 'function', name: name(i), parameters: object }));
    const input = Array.from({ length: 10_000 }, (_, i) => ({
      type: 'function_call',
      call_id: `c${i}`,
      name: name(i),
      arguments: '{}',
    }));
    quickly(() => {
      const [turn, ...others] = decoded({ tools, input }).conversation.turns;
      assert.deepEqual([turn?.blocks.length, others.length], [10_000, 0]);
    });
  });

  it('are decoded in linear time: a stream of many items', () => {
    const items = Array.from({ length: 20_000 }, (_, i) => ({
      type: 'function_call',
      id: `fc_${i}`,
      call_id: `c${i}`,
      name: 'f',
      arguments: '{}',
    }));
    const events = [
      ...items.map((item, output_index) => ({ type: 'response.output_item.added', output_index, item })),
      { type: 'response.completed', response: { id: 'r', status: 'completed', output: items } },
    ];
    quickly(() => {
      const calls = foldParts(partsIn(events))!.blocks.map((block) => (block.type === 'toolCall' ? block.input : ''));
      assert.deepEqual([calls.length, new Set(calls)], [20_000, new Set(['{}'])]);
    });
  });
});

describe('encoding responses requests', () => {
  it('makes a system prompt of text the instructions, and keeps others at their position with their role', () => {
    const { body } = encoded(conversationOf([said('system', 'a'), said('developer', 'b'), said('user', 'c')]));
    assert.equal(body.instructions, 'a');
    assert.deepEqual(body.input, [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'b' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'c' }] },
    ]);
    const first = encoded(conversationOf([said('developer', 'b')])).body;
    assert.equal(first.instructions, undefined);
  });

  it('stores nothing at the vendor unless requested, and requests encrypted reasoning', () => {
    const { body } = encoded(conversationOf([said('user', 'x')]), {}, true);
    assert.deepEqual(body, {
      model: 'their-model',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x' }] }],
      include: ['reasoning.encrypted_content'],
      store: false,
      stream: true,
    });
    assert.equal(encoded(conversationOf([], { labels: { store: true } })).body.store, true);
    const plain = encoded(conversationOf([]), { reasoning: { input: 'none' } }).body;
    assert.equal(plain.include, undefined, 'a model that does not think refuses to be asked for thoughts');
  });

  it('sends reasoning of this style back before what followed it, and drops that of others', () => {
    const opaque: Opaque = { style: 'responses', channel: 'here', kind: 'encrypted', value: 'SEAL', id: 'rs_1' };
    const { body, warnings } = encoded(
      conversationOf([
        {
          role: 'assistant',
          blocks: [
            { type: 'thinking', text: 'hm', opaque },
            { type: 'thinking', text: 'of another', opaque: { ...opaque, style: 'messages' } },
            { type: 'text', text: 'a' },
            { type: 'refusal', text: 'b' },
            { type: 'toolCall', id: 'c1', name: 'f', kind: 'function', input: '' },
            { type: 'toolCall', id: 'c2', name: 'g', kind: 'custom', input: 'ls' },
          ],
        },
        {
          role: 'user',
          blocks: [
            { type: 'toolResult', id: 'c1', kind: 'function', content: [{ type: 'text', text: 'one' }] },
            {
              type: 'toolResult',
              id: 'c2',
              kind: 'custom',
              isError: true,
              content: [
                { type: 'text', text: 'two' },
                { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'iVBO' } },
              ],
            },
            { type: 'text', text: 'and?' },
          ],
        },
      ]),
    );
    assert.deepEqual(body.input, [
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'SEAL' },
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'a' },
          { type: 'refusal', refusal: 'b' },
        ],
      },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'g', input: 'ls' },
      { type: 'function_call_output', call_id: 'c1', output: 'one' },
      {
        type: 'custom_tool_call_output',
        call_id: 'c2',
        output: [
          { type: 'input_text', text: 'two' },
          { type: 'input_image', image_url: 'data:image/png;base64,iVBO', detail: 'auto' },
        ],
      },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'and?' }] },
    ]);
    assert.deepEqual(warnings.all, ['messages.reasoning:dropped', 'messages.is_error:dropped']);
    assert.deepEqual(warnings.serious, []);
  });

  it('marks tools as not strict, and maps web search', () => {
    const { body, warnings } = encoded(
      conversationOf([said('user', 'x')], {
        tools: [
          { type: 'function', name: 'f', extras: { defer_loading: true, input_examples: [] } },
          { type: 'custom', name: 'c', format: { type: 'text' } },
          {
            type: 'hosted',
            name: 'web_search',
            style: 'messages',
            raw: {},
            search: { maxUses: 3, allowedDomains: ['a.org'], location: { type: 'approximate', country: 'DE' } },
          },
          { type: 'hosted', name: 'code_execution', style: 'messages', raw: {} },
        ],
        toolChoice: { mode: 'required', only: ['f'] },
        parallelToolCalls: false,
      }),
    );
    assert.deepEqual(body.tools, [
      { type: 'function', name: 'f', parameters: object, strict: false },
      { type: 'custom', name: 'c', format: { type: 'text' } },
      {
        type: 'web_search',
        filters: { allowed_domains: ['a.org'] },
        user_location: { type: 'approximate', country: 'DE' },
      },
    ]);
    assert.deepEqual(body.tool_choice, { type: 'function', name: 'f' });
    assert.equal(body.parallel_tool_calls, false);
    assert.deepEqual(warnings.all, [
      'tools.defer_loading:dropped',
      'tools.input_examples:dropped',
      'tools.max_uses:dropped',
      'tools.code_execution:dropped',
    ]);
  });

  it('defers a tool only if there is a tool search', () => {
    const extras = { defer_loading: true };
    const waiting: readonly Tool[] = [
      { type: 'function', name: 'f', extras },
      { type: 'custom', name: 'c', extras },
    ];
    const search: Tool = { type: 'hosted', name: 'tool_search', style: 'responses', raw: { type: 'tool_search' } };
    const waits = (tools: readonly Tool[]) => {
      const { body, warnings } = encoded(conversationOf([said('user', 'x')], { tools }));
      return [(body.tools as readonly JsonObject[]).map((tool) => tool.defer_loading), warnings.all, warnings.serious];
    };
    assert.deepEqual(waits(waiting), [[undefined, undefined], ['tools.defer_loading:dropped'], []]);
    assert.deepEqual(waits([...waiting, search]), [[true, true, undefined], [], []]);
  });

  it('makes a result with a single text a string, unless it has a mark', () => {
    const content = [{ type: 'text', text: 'one', cache: {} }] as const;
    const turns = [{ role: 'user', blocks: [{ type: 'toolResult', id: 'c1', kind: 'function', content }] }] as const;
    const outputOf = (hint: 'breakpoint' | 'key') => {
      const { body, warnings } = encoded(conversationOf(turns), { cache: { hint } });
      return [(body.input as readonly JsonObject[])[0]?.output, warnings.all];
    };
    const marked = { type: 'input_text', text: 'one', prompt_cache_breakpoint: { mode: 'explicit' } };
    assert.deepEqual(outputOf('breakpoint'), [[marked], []]);
    assert.deepEqual(outputOf('key'), ['one', ['cache_control:dropped']]);
  });

  it('refuses a tool of another vendor if it is forced', () => {
    const tools = [
      { type: 'function', name: 'f' },
      { type: 'hosted', name: 'code_execution', style: 'messages', raw: {} },
    ] as const;
    const forced = conversationOf([], { tools, toolChoice: { mode: 'required', only: ['code_execution'] } });
    assert.throws(() => encoded(forced), GatewayError);
    assert.throws(() => encoded(conversationOf([], { tools: tools.slice(1) })), GatewayError);
  });

  it('encodes a choice among several tools with their types', () => {
    const tools = [
      { type: 'function', name: 'f' },
      { type: 'custom', name: 'c' },
    ] as const;
    const choice = (toolChoice: Conversation['toolChoice']): Json | undefined =>
      encoded(conversationOf([], { tools, toolChoice })).body.tool_choice;
    assert.deepEqual(choice({ mode: 'auto', only: ['c'] }), {
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'custom', name: 'c' }],
    });
    assert.equal(choice({ mode: 'none', only: ['c'] }), 'none');
    assert.equal(encoded(conversationOf([], { toolChoice: { mode: 'required' } })).body.tool_choice, undefined);
  });

  it('encodes limits, reasoning, format and metadata', () => {
    const { body, warnings } = encoded(
      conversationOf([], {
        maxTokens: 5,
        sampling: { temperature: 1, topK: 4, seed: 1, logprobs: 2 },
        stop: ['END'],
        reasoning: { mode: 'on', effort: 'high' },
        output: { format: { type: 'schema', schema: object }, verbosity: 'low' },
        labels: { user: 'x'.repeat(65), cacheKey: 'k', serviceTier: 'standard_only', metadata: { a: 'b' } },
        extras: { prompt_cache_retention: '24h', context_management: {}, odd: 1 },
      }),
    );
    const { input: _, safety_identifier: person, ...rest } = body;
    assert.match(String(person), /^[0-9a-f]{64}$/);
    assert.deepEqual(rest, {
      model: 'their-model',
      max_output_tokens: 16,
      temperature: 1,
      top_logprobs: 2,
      reasoning: { effort: 'high', summary: 'auto' },
      text: { format: { type: 'json_schema', name: 'structured_output', schema: object }, verbosity: 'low' },
      include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      service_tier: 'default',
      store: false,
      prompt_cache_retention: '24h',
    });
    assert.deepEqual([...warnings.serious].sort(), [
      'max_tokens:changed',
      'odd:dropped',
      'seed:dropped',
      'stop:dropped',
      'top_k:dropped',
    ]);
  });

  it('encodes disabled reasoning by name, and a summary only if it is shown', () => {
    const reasoning = (wanted: NonNullable<Conversation['reasoning']>, quirks: SomeQuirks = {}): Json | undefined =>
      encoded(conversationOf([], { reasoning: wanted }), quirks).body.reasoning;
    assert.deepEqual(reasoning({ mode: 'off' }), { effort: 'none' });
    assert.equal(reasoning({ mode: 'off' }, { reasoning: { levels: ['low'] } }), undefined);
    assert.equal(reasoning({ mode: 'on', effort: 'low' }, { reasoning: { input: 'none' } }), undefined);
    assert.deepEqual(reasoning({ mode: 'on', effort: 'low', summary: 'none' }), { effort: 'low' });
    assert.deepEqual(reasoning({ mode: 'auto', summary: 'detailed' }), { summary: 'detailed' });
  });

  it('keeps the meaning of a request of its own style', () => {
    const request: JsonObject = {
      model: 'their-model',
      instructions: 'Be brief.',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'SEAL' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes?' }] },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a": 1}' },
        { type: 'function_call_output', call_id: 'c1', output: 'done' },
        { type: 'shell_call', call_id: 'c2', action: {} },
      ],
      tools: [{ type: 'function', name: 'f', parameters: object, strict: true }, { type: 'image_generation' }],
      tool_choice: 'auto',
      max_output_tokens: 100,
      truncation: 'disabled',
      include: ['reasoning.encrypted_content'],
      store: false,
    };
    assert.deepEqual(encoded(decoded(request).conversation).body, request);
  });

  it('encodes any conversation', () => {
    fc.assert(
      fc.property(conversations, fc.boolean(), (conversation, stream) => {
        try {
          const { body } = encoded(conversation, {}, stream);
          assert.deepEqual(JSON.parse(JSON.stringify(body)), body);
        } catch (error) {
          assert.ok(error instanceof GatewayError && error.status === 400, String(error));
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('encoding responses replies', () => {
  it('adds every member that some client requires, and repeats the request', () => {
    const request = {
      instructions: 'Be brief.',
      tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }],
      reasoning: { effort: 'low' },
      text: { verbosity: 'high', format: null },
      metadata: { a: 'b' },
      previous_response_id: 'resp_0',
      store: false,
    };
    const usage = {
      input: 10,
      cacheRead: 4,
      cacheWrite: 1,
      cacheWriteLong: 2,
      inputAudio: 0,
      output: 5,
      reasoning: 3,
      outputAudio: 0,
      estimated: false,
    };
    const answer = asked.encodeReply({ ...replyOf([{ type: 'text', text: 'Hi' }]), usage }, answering(request));
    assert.deepEqual(answer, {
      id: `resp_${ID}`,
      object: 'response',
      created_at: 1_700_000_000,
      status: 'completed',
      background: false,
      completed_at: 1_700_000_007,
      error: null,
      incomplete_details: null,
      instructions: 'Be brief.',
      max_output_tokens: null,
      max_tool_calls: null,
      model: 'public',
      output: [
        {
          id: `msg_${ID}_0`,
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
        },
      ],
      parallel_tool_calls: true,
      previous_response_id: 'resp_0',
      prompt_cache_key: null,
      reasoning: { effort: 'low', summary: null },
      safety_identifier: null,
      service_tier: 'default',
      store: false,
      temperature: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      text: { format: { type: 'text' }, verbosity: 'high' },
      tool_choice: 'auto',
      tools: [
        { description: null, parameters: null, strict: null, type: 'function', name: 'f' },
        { type: 'web_search' },
      ],
      top_logprobs: 0,
      top_p: 1,
      truncation: 'disabled',
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 3 },
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
      },
      user: null,
      metadata: { a: 'b' },
    });
  });

  it('encodes items in the order of the blocks, and a text after a call as a new message', () => {
    const answer = asked.encodeReply(
      replyOf([
        { type: 'thinking', text: 'hm' },
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
        { type: 'toolCall', id: 'c1', name: 'f', namespace: 'g', kind: 'function', input: '' },
        { type: 'toolCall', id: 'c2', name: 'c', kind: 'custom', input: 'ls' },
        { type: 'text', text: 'c' },
        { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'iVBO' } },
      ]),
      answering(),
    );
    const items = answer.output as readonly JsonObject[];
    assert.deepEqual(
      items.map(({ type }) => type),
      ['reasoning', 'message', 'function_call', 'custom_tool_call', 'message', 'image_generation_call'],
    );
    assert.deepEqual(items[0]?.summary, [{ type: 'summary_text', text: 'hm' }]);
    assert.deepEqual(
      (items[1]!.content as readonly JsonObject[]).map(({ text }) => text),
      ['a', 'b'],
    );
    assert.deepEqual(items[2], {
      id: `fc_${ID}_2`,
      type: 'function_call',
      status: 'completed',
      call_id: 'c1',
      name: 'f',
      namespace: 'g',
      arguments: '{}',
    });
    assert.equal(items[3]?.input, 'ls');
    assert.equal(items[5]?.result, 'iVBO');
  });

  it('encodes the end: complete, truncated, refused', () => {
    const ended = (reason: Parameters<typeof replyOf>[1], blocks: readonly Block[] = [{ type: 'text', text: 'x' }]) => {
      const { status, incomplete_details: details, output } = asked.encodeReply(replyOf(blocks, reason), answering());
      return [status, (details as JsonObject | null)?.reason, (output as readonly JsonObject[]).at(-1)?.status];
    };
    assert.deepEqual(ended('stop'), ['completed', undefined, 'completed']);
    assert.deepEqual(ended('pause'), ['completed', undefined, 'completed']);
    assert.deepEqual(ended('length'), ['incomplete', 'max_output_tokens', 'incomplete']);
    assert.deepEqual(ended('context_full'), ['incomplete', 'max_output_tokens', 'incomplete']);
    assert.deepEqual(ended('content_filter'), ['incomplete', 'content_filter', 'incomplete']);
    const { output } = asked.encodeReply(
      { ...replyOf([]), finish: { reason: 'refusal', explanation: 'Not this.' } },
      answering(),
    );
    assert.deepEqual((output as readonly JsonObject[])[0]?.content, [{ type: 'refusal', refusal: 'Not this.' }]);
  });

  it('encodes signatures of calls as items of their own, and marks unsealed reasoning', () => {
    const opaque: Opaque = { style: 'gemini', channel: 'g', kind: 'thought', value: 'SIG' };
    const { output } = asked.encodeReply(
      replyOf([
        { type: 'thinking', text: 'hm', opaque: { ...opaque, style: 'messages', kind: 'signature' } },
        { type: 'thinking', text: 'so' },
        { type: 'toolCall', id: 'c1', name: 'f', kind: 'function', input: '{}', opaque },
      ]),
      answering(),
    );
    const items = output as readonly JsonObject[];
    const opened = items.map(({ encrypted_content: text }) => unpackOpaque(String(text)));
    assert.deepEqual(opened[0], { ...opaque, style: 'messages', kind: 'signature' });
    assert.deepEqual(opened[1], { style: '', kind: 'thought', value: '' });
    assert.deepEqual([items[2]?.type, opened[3]], ['function_call', { ...opaque, id: 'c1' }]);
    // What the client sends back is what it got.
    assert.deepEqual(heard(items)[0]?.blocks.at(-1), {
      type: 'toolCall',
      id: 'c1',
      name: 'f',
      kind: 'function',
      input: '{}',
      opaque: { ...opaque, id: 'c1' },
    } satisfies Block);
  });

  it('encodes citations with URLs, and reports the others', () => {
    const as = answering();
    const warnings = collectWarnings({});
    const citation = { style: 'messages', raw: {} };
    const { output } = asked.encodeReply(
      replyOf([
        {
          type: 'text',
          text: 'Sunny.',
          citations: [
            { ...citation, url: 'https://a.org', title: 'A' },
            { ...citation, url: 'https://b.org', start: 1, end: 3 },
            { ...citation, quote: 'page 3' },
          ],
        },
        { type: 'audio', data: 'AAAA', format: 'wav' },
        { type: 'foreign', style: 'messages', what: 'server_tool_use', raw: {} },
        { type: 'foreign', style: 'responses', what: 'web_search_call', raw: { type: 'web_search_call', id: 'ws_1' } },
      ]),
      { ...as, warnings },
    );
    const [message, search] = output as readonly JsonObject[];
    const [part] = message!.content as readonly JsonObject[];
    assert.deepEqual(part?.annotations, [
      { type: 'url_citation', url: 'https://a.org', title: 'A', start_index: 0, end_index: 6 },
      { type: 'url_citation', url: 'https://b.org', title: '', start_index: 1, end_index: 3 },
    ]);
    assert.deepEqual(search, { type: 'web_search_call', id: 'ws_1' });
    assert.deepEqual(warnings.all, ['citations:omitted', 'audio:omitted', 'server_tool_use:omitted']);
  });
});

describe('encoding responses streams', () => {
  const call = { type: 'toolCall', id: 'c1', name: 'f', kind: 'function', input: '' } as const;

  it('sends a text and a call with the events that clients wait for', () => {
    const { text } = written([
      start,
      { type: 'blockStart', key: 0, block: { type: 'thinking', text: '' } },
      { type: 'delta', key: 0, text: 'hm' },
      { type: 'blockEnd', key: 0 },
      { type: 'blockStart', key: 1, block: { type: 'text', text: '' } },
      { type: 'delta', key: 1, text: 'Hello ' },
      { type: 'delta', key: 1, text: 'world' },
      { type: 'blockEnd', key: 1 },
      { type: 'blockStart', key: 2, block: call },
      { type: 'delta', key: 2, text: '{"a":' },
      { type: 'delta', key: 2, text: '1}' },
      { type: 'blockEnd', key: 2 },
      { type: 'finish', finish: { reason: 'tool_calls' } },
    ]);
    const events = eventsIn(text);
    assert.deepEqual(
      events.map(({ type }) => type),
      [
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.reasoning_summary_part.added',
        'response.reasoning_summary_text.delta',
        'response.reasoning_summary_text.done',
        'response.reasoning_summary_part.done',
        'response.output_item.done',
        'response.output_item.added',
        'response.content_part.added',
        'response.output_text.delta',
        'response.output_text.delta',
        'response.output_text.done',
        'response.content_part.done',
        'response.output_item.done',
        'response.output_item.added',
        'response.function_call_arguments.delta',
        'response.function_call_arguments.delta',
        'response.function_call_arguments.done',
        'response.output_item.done',
        'response.completed',
      ],
    );
    assert.deepEqual(
      events.map(({ sequence_number: n }) => n),
      events.map((_, i) => i),
    );
    assert.deepEqual(
      events.filter(({ type }) => type === 'response.output_item.added').map(({ output_index: i }) => i),
      [0, 1, 2],
    );
  });

  it('sends nothing before the start, and nothing for pings and errors', () => {
    const writer = asked.createStreamEncoder(answering());
    assert.equal(writer.write({ type: 'ping' }), '');
    assert.equal(writer.write({ type: 'error', message: 'x', code: 'y' }), '');
    assert.equal(writer.answer?.(), undefined);
  });

  it('ends a failure with `response.failed` after the start, and with a plain error before', () => {
    const error = new GatewayError(502, 'upstream_error', 'Gone.');
    const [plain] = eventsIn(asked.createStreamEncoder(answering()).fail(error, 'r'));
    assert.deepEqual(plain, {
      type: 'error',
      sequence_number: 0,
      code: 'upstream_error',
      message: 'Gone.',
      param: null,
    });
    const { writer } = written([start, { type: 'blockStart', key: 0, block: call }]);
    const [failed] = eventsIn(writer.fail(error, 'r'));
    assert.deepEqual([failed?.type, failed?.sequence_number], ['response.failed', 3]);
    const response = failed?.response as JsonObject;
    assert.deepEqual([response.status, response.error], ['failed', { code: 'server_error', message: 'Gone.' }]);
    assert.equal(writer.answer?.(), undefined);
  });

  it('has the text so far of a message that a failure truncates', () => {
    const citation = { url: 'https://a.example', title: 'A', style: 'responses', raw: {} };
    const { writer } = written([
      start,
      { type: 'blockStart', key: 0, block: { type: 'text', text: '' } },
      { type: 'delta', key: 0, text: 'One.' },
      { type: 'blockEnd', key: 0 },
      { type: 'blockStart', key: 1, block: { type: 'text', text: '' } },
      { type: 'delta', key: 1, text: 'Two, th' },
      { type: 'citation', key: 1, citation },
    ]);
    const [failed] = eventsIn(writer.fail(new GatewayError(502, 'upstream_error', 'Gone.'), 'r'));
    const response = failed?.response as JsonObject;
    const annotation = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 7 };
    assert.deepEqual([response.status, response.completed_at], ['failed', null]);
    assert.deepEqual(response.output, [
      {
        id: `msg_${ID}_0`,
        type: 'message',
        status: 'incomplete',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'One.', annotations: [], logprobs: [] },
          { type: 'output_text', text: 'Two, th', annotations: [annotation], logprobs: [] },
        ],
      },
    ]);
  });

  it('has completed items unchanged, beside a message that a failure truncates', () => {
    const { writer, text } = written([
      start,
      { type: 'blockStart', key: 0, block: { type: 'text', text: '' } },
      { type: 'delta', key: 0, text: 'Done.' },
      { type: 'blockEnd', key: 0 },
      { type: 'blockStart', key: 1, block: call },
      { type: 'blockEnd', key: 1 },
      { type: 'blockStart', key: 2, block: { type: 'refusal', text: '' } },
      { type: 'delta', key: 2, text: 'No, I' },
    ]);
    const [failed] = eventsIn(writer.fail(new GatewayError(502, 'upstream_error', 'Gone.'), 'r'));
    const told = eventsIn(text).filter(({ type }) => type === 'response.output_item.done');
    const response = failed?.response as JsonObject;
    const output = response.output as readonly JsonObject[];
    assert.deepEqual(
      output.slice(0, 2),
      told.map(({ item }) => item),
    );
    assert.deepEqual([output[2]?.status, output[2]?.content], ['incomplete', [{ type: 'refusal', refusal: 'No, I' }]]);
  });

  it('completes a response at a good end only', () => {
    for (const [reason, completed] of [
      ['stop', 1_700_000_007],
      ['tool_calls', 1_700_000_007],
      ['length', null],
      ['content_filter', null],
    ] as const) {
      const { text } = written([start, { type: 'finish', finish: { reason } }]);
      const [created, , last] = eventsIn(text).map(({ response }) => (response as JsonObject).completed_at);
      assert.deepEqual([created, last], [null, completed], reason);
    }
  });

  it('has the same completion time however late it is read', () => {
    let ms = 1_700_000_001_000;
    const { writer } = written([start, { type: 'finish', finish: { reason: 'stop' } }], {
      ...answering(),
      now: () => ms,
    });
    ms += 60_000;
    assert.equal(writer.answer?.()?.completed_at, 1_700_000_001);
  });

  it('equals the whole reply, however deltas are cut and blocks are interleaved', () => {
    const cases = fc
      .tuple(replies, fc.boolean())
      .chain(([reply, together]) => fc.tuple(fc.constant(reply), streamsOf(reply, together)));
    fc.assert(
      fc.property(cases, ([reply, parts]) => {
        const { writer, text } = written(parts);
        assert.deepEqual(writer.answer?.(), asked.encodeReply(reply, answering()));
        assert.deepEqual(eventsIn(text).at(-1)?.response, JSON.parse(JSON.stringify(writer.answer?.())));
      }),
      { numRuns: 200 },
    );
  });

  it('is accepted by the strictest client, which assembles the same reply', async () => {
    const known = replies.map((reply) => ({
      ...reply,
      blocks: reply.blocks
        .filter((block) => block.type !== 'foreign')
        .map((block, i) => (block.type === 'toolCall' ? { ...block, id: `call_${i}` } : block)),
    }));
    await fc.assert(
      fc.asyncProperty(
        known.chain((reply) => streamsOf(reply, true)),
        async (parts) => {
          const { text, writer } = written(parts);
          assert.deepEqual(await clientReads(text), JSON.parse(JSON.stringify(writer.answer?.())));
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('decoding responses replies', () => {
  const read = (body: JsonObject) => spoken.decodeReply(body, from, collectWarnings({}));

  it('makes blocks in the order of the items', () => {
    const annotation = { type: 'url_citation', url: 'https://a.org', title: 'A', start_index: 0, end_index: 2 };
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' };
    const reply = read({
      id: 'resp_1',
      model: 'their-model-1',
      status: 'completed',
      service_tier: 'flex',
      output: [
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [
            { type: 'summary_text', text: 'a' },
            { type: 'summary_text', text: 'b' },
          ],
          encrypted_content: 'SEAL',
        },
        { type: 'reasoning', id: 'rs_2', summary: [] },
        search,
        {
          type: 'message',
          content: [{ type: 'output_text', text: 'Hi', annotations: [annotation], logprobs: [{ token: 'Hi' }] }],
        },
        { type: 'function_call', call_id: 'c1', name: 'f', namespace: 'g', arguments: '{}' },
        { type: 'custom_tool_call', call_id: 'c2', name: 'c', input: 'ls' },
        { type: 'image_generation_call', id: 'ig_1', result: 'iVBORw0KGgo=' },
      ],
      usage: { input_tokens: 1, output_tokens: 2 },
    });
    const opaque = { style: 'responses', channel: 'here', kind: 'encrypted', value: 'SEAL', id: 'rs_1' };
    const citation = { url: 'https://a.org', title: 'A', start: 0, end: 2, style: 'responses', raw: annotation };
    assert.deepEqual(reply?.blocks, [
      { type: 'thinking', text: 'a\n\nb', opaque },
      { type: 'foreign', style: 'responses', what: 'web_search_call', raw: search },
      { type: 'text', text: 'Hi', citations: [citation], logprobs: [{ token: 'Hi' }] },
      { type: 'toolCall', id: 'c1', name: 'f', namespace: 'g', kind: 'function', input: '{}' },
      { type: 'toolCall', id: 'c2', name: 'c', kind: 'custom', input: 'ls' },
      { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' } },
    ]);
    assert.deepEqual([reply?.id, reply?.model, reply?.serviceTier], ['resp_1', 'their-model-1', 'flex']);
    assert.deepEqual([reply?.finish, reply?.usage?.output], [{ reason: 'tool_calls' }, 2]);
  });

  it('derives the end from the status, and from the content', () => {
    const finish = (more: JsonObject, output: Json = []) => read({ output, ...more })?.finish;
    const cut = (reason: string): JsonObject => ({ status: 'incomplete', incomplete_details: { reason } });
    const call = [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a' }];
    assert.deepEqual(finish({ status: 'completed' }), { reason: 'stop' });
    assert.deepEqual(finish({ status: 'complete' }), { reason: 'stop' });
    assert.deepEqual(finish(cut('max_output_tokens'), call), { reason: 'length' });
    assert.deepEqual(finish(cut('content_filter')), { reason: 'content_filter' });
    assert.deepEqual(finish({}, [{ type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }]), {
      reason: 'refusal',
    });
    assert.equal(read({ output: [], status: 'failed', error: { message: 'No.' } }), undefined);
    assert.equal(read({ output: [], status: 'cancelled' }), undefined);
    assert.equal(read({ hello: 'world' }), undefined);
  });
});

describe('decoding responses streams', () => {
  const created = { type: 'response.created', response: { id: 'resp_1', model: 'm1' } };
  const done = (output: Json, more: JsonObject = {}): JsonObject => ({
    type: 'response.completed',
    response: { id: 'resp_1', status: 'completed', output, usage: { input_tokens: 3, output_tokens: 4 }, ...more },
  });
  const message = (text: string, annotations: Json = []): JsonObject => ({
    type: 'message',
    id: 'msg_1',
    content: [{ type: 'output_text', text, annotations }],
  });
  const call = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{"a":1}' };
  const told = (...events: readonly JsonObject[]): readonly Block[] => foldParts(partsIn([created, ...events]))!.blocks;
  const added = (item: JsonObject, output_index = 0): JsonObject => ({
    type: 'response.output_item.added',
    output_index,
    item,
  });
  const delta = (text: string, more: JsonObject = {}): JsonObject => ({
    type: 'response.output_text.delta',
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    delta: text,
    ...more,
  });
  const input = { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 0 };
  const called = [{ type: 'toolCall', id: 'c1', name: 'f', kind: 'function', input: '{"a":1}' }];
  const hi = [{ type: 'text', text: 'Hi there' }];

  it('restores the reply that we encoded', () => {
    const sayable = replies.map((reply) => ({
      ...reply,
      blocks: reply.blocks
        .filter(({ type }) => ['text', 'refusal', 'toolCall'].includes(type))
        .map((block, i) => (block.type === 'toolCall' ? { ...block, id: `call_${i}`, name: 'f' } : block)),
      finish: { reason: 'stop' as const },
    }));
    fc.assert(
      fc.property(
        sayable.chain((reply) => streamsOf(reply, true)),
        (parts) => {
          const { text, writer } = written(parts);
          const events = eventsIn(text);
          const folded = foldParts(partsIn(events));
          const whole = spoken.decodeReply(writer.answer!()!, from, collectWarnings({}));
          const withoutPrefix = (blocks: readonly Block[] | undefined) =>
            blocks?.map((block) => (block.type === 'text' ? { ...block, citations: block.citations?.length } : block));
          assert.deepEqual(withoutPrefix(folded?.blocks), withoutPrefix(whole?.blocks));
          assert.deepEqual([folded?.finish, folded?.usage], [whole?.finish, whole?.usage]);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('works without item ids, sequence numbers, and start and end events of parts', () => {
    const withoutPrefix = { type: 'response.output_text.delta', delta: 'Hi ' };
    assert.deepEqual(told(withoutPrefix, { ...withoutPrefix, delta: 'there' }, done([message('Hi there')])), hi);
    assert.deepEqual(
      told(added({ type: 'message' }), withoutPrefix, { ...withoutPrefix, delta: 'there' }, done(null)),
      hi,
    );
    assert.deepEqual(told(delta('Hi '), delta('there', { item_id: 'other' }), done([message('Hi there')])), hi);
  });

  it('pushes everything if deltas are missing, all or some', () => {
    assert.deepEqual(told(done([message('Hi there'), call])), [...hi, ...called]);
    assert.deepEqual(
      told(delta('Hi'), { type: 'response.output_item.done', output_index: 0, item: message('Hi there') }, done([])),
      hi,
    );
    const whole = { ...input, type: 'response.function_call_arguments.done', arguments: '{"a":1}' };
    assert.deepEqual(told(added({ ...call, arguments: '' }), whole, done([call])), called);
    assert.deepEqual(told({ ...input, delta: '{"a"' }, { ...input, delta: ':1}' }, done([call])), called);
  });

  it('pushes nothing twice if events are repeated, or follow the end of an item', () => {
    const end = { type: 'response.output_item.done', output_index: 0, item: call };
    const whole = { ...input, type: 'response.function_call_arguments.done', arguments: '{"a":1}' };
    const begin = added({ ...call, arguments: '' });
    assert.deepEqual(
      told(
        begin,
        begin,
        { ...input, delta: '{"a":1}' },
        whole,
        whole,
        end,
        end,
        { ...input, delta: 'x' },
        done([call]),
      ),
      called,
    );
  });

  it('pushes an item once if its type arrives late', () => {
    const { type: _, ...withoutPrefix } = message('Hi there');
    const nameless = added({ ...withoutPrefix, content: [] });
    const whole = { type: 'response.output_item.done', output_index: 0, item: message('Hi there') };
    assert.deepEqual(told(nameless, delta('Hi '), delta('there'), whole, done([message('Hi there')])), hi);
    assert.deepEqual(told(nameless, done([message('Hi there')])), hi);
    assert.deepEqual(
      told(added(message('')), delta('Hi '), { ...whole, item: withoutPrefix }, done([withoutPrefix])),
      hi,
    );
    assert.deepEqual(told(added({ id: 'fc_1' }), { ...input, delta: '{"a":1}' }, done([call])), called);
  });

  it('keeps parallel calls apart', () => {
    const other = { ...call, id: 'fc_2', call_id: 'c2', arguments: '{"b":2}' };
    const second = { ...input, item_id: 'fc_2', output_index: 1 };
    const blocks = told(
      added({ ...call, arguments: '' }),
      added({ ...other, arguments: '' }, 1),
      { ...input, delta: '{"a"' },
      { ...second, delta: '{"b"' },
      { ...input, item_id: 'mistaken', delta: ':1}' },
      { ...second, delta: ':2}' },
      done([call, other]),
    );
    assert.deepEqual(
      blocks.map((block) => block.type === 'toolCall' && [block.id, block.input]),
      [
        ['c1', '{"a":1}'],
        ['c2', '{"b":2}'],
      ],
    );
  });

  it('has reasoning part by part, with its encrypted content, and citations', () => {
    const summary = (text: string, summary_index: number): JsonObject => ({
      type: 'response.reasoning_summary_text.delta',
      item_id: 'rs_1',
      output_index: 0,
      summary_index,
      delta: text,
    });
    const annotation = { type: 'url_citation', url: 'https://a.org', title: 'A', start_index: 0, end_index: 2 };
    const thought = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ text: 'one two' }, { text: 'three' }],
      encrypted_content: 'SEAL',
    };
    const said = { ...delta('Hi there'), output_index: 1 };
    const blocks = told(
      added({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'NOT YET' }),
      summary('one ', 0),
      summary('two', 0),
      summary('three', 1),
      { type: 'response.output_item.done', output_index: 0, item: thought },
      said,
      { ...said, type: 'response.output_text.annotation.added', delta: null, annotation },
      {
        ...said,
        type: 'response.content_part.done',
        part: { type: 'output_text', text: 'Hi there', annotations: [annotation] },
      },
      done([thought, message('Hi there', [annotation])]),
    );
    const opaque = { style: 'responses', channel: 'here', kind: 'encrypted', value: 'SEAL', id: 'rs_1' };
    assert.deepEqual(blocks[0], { type: 'thinking', text: 'one two\n\nthree', opaque });
    const citation = { url: 'https://a.org', title: 'A', start: 0, end: 2, style: 'responses', raw: annotation };
    assert.deepEqual(blocks[1], { type: 'text', text: 'Hi there', citations: [citation] });
  });

  it('has results of vendor-side tools once they are complete', () => {
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' };
    const blocks = told(
      added({ ...search, status: 'in_progress' }),
      { type: 'response.web_search_call.searching', item_id: 'ws_1', output_index: 0 },
      { type: 'response.output_item.done', output_index: 0, item: search },
      done([search]),
    );
    assert.deepEqual(blocks, [{ type: 'foreign', style: 'responses', what: 'web_search_call', raw: search }]);
  });

  it('ends with usage and reason, and only if the vendor sends an end event', () => {
    const parts = partsIn([created, done([call])]);
    assert.deepEqual(
      parts.slice(-2).map((part) => (part.type === 'usage' ? part.usage.input : part.type === 'finish' && part.finish)),
      [3, { reason: 'tool_calls' }],
    );
    const cut = partsIn([created, added(call), { ...input, delta: '{"a"' }]);
    assert.equal(foldParts(cut), undefined);
    assert.deepEqual(
      cut.map(({ type }) => type),
      ['start', 'blockStart', 'delta'],
    );
  });

  it('ends a failure with one error, nested or not', () => {
    const error = { code: 'server_error', message: 'Broken.' };
    const failed = { type: 'response.failed', response: { status: 'failed', error } };
    for (const events of [
      [{ type: 'error', error }, failed],
      [{ type: 'error', ...error }, failed],
      [failed, failed],
    ]) {
      assert.deepEqual(partsIn([created, ...events]).slice(1), [{ type: 'error', ...error }]);
    }
  });

  it('accepts whatever a vendor sends', () => {
    const reader = spoken.createStreamDecoder(from, collectWarnings({}));
    const types = [
      'output_item.added',
      'output_item.done',
      'content_part.added',
      'content_part.done',
      'output_text.delta',
    ];
    const junk = [null, 7, 'x', [], {}, { type: 'constructor' }, { type: 'response.odd' }, { type: 'ping' }];
    const parts = [
      ...['', '[DONE]', '}', ...junk.map((value) => JSON.stringify(value))],
      ...types.flatMap((type) =>
        [{}, { item: 7, part: [], delta: {} }, { item: {}, part: {}, output_index: 'x' }].map((fields) =>
          JSON.stringify({ type: `response.${type}`, ...fields }),
        ),
      ),
      JSON.stringify({ type: 'response.completed', response: 7 }),
    ].flatMap((data) => reader.read({ name: undefined, data }));
    assert.equal(parts.at(-1)?.type, 'finish');
    checkParts(parts.filter(({ type }) => type !== 'ping'));
  });
});

describe('the completion time of a response', () => {
  it("is when the vendor ended, by the gateway's clock", async () => {
    const clock = fakeClock(1_700_000_000_000);
    const vendor = await fakeVendor(() => [hold(), ...wholeAnswer()]);
    const gateway = await startGateway({ vendor, clock });
    try {
      const asking = fetch(`${gateway.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'test-model', input: 'Hello?' }),
      });
      await vendor.waitFor(1);
      clock.advance(5_000);
      vendor.release();
      const answer = (await (await asking).json()) as JsonObject;
      assert.deepEqual([answer.created_at, answer.completed_at], [1_700_000_000, 1_700_000_005]);
    } finally {
      await gateway.stop();
      await vendor.close();
    }
  });
});
