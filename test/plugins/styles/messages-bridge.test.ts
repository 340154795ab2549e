import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MessageStream } from '@anthropic-ai/sdk/lib/MessageStream';
import { MessageStream as OlderStream } from 'anthropic-sdk-0/lib/MessageStream';
import { type Answering, GatewayError, type JsonObject, type Target, type Usage } from '../../../core/plugin.ts';
import { adapt } from '../../../core/translation/adapt/adapt.ts';
import { foldParts, partsOf } from '../../../core/translation/conversation/fold.ts';
import {
  type Block,
  type Conversation,
  isObject,
  type Opaque,
  type Part,
  packOpaque,
  type Reply,
  type SomeQuirks,
  type Turn,
  unpackOpaque,
} from '../../../core/translation/index.ts';
import { layQuirks } from '../../../core/translation/quirks/quirks.ts';
import { type CollectedWarnings, collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { messages } from '../../../plugins/styles/messages/index.ts';
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
import { eventsOf, recordings, recordingsAvailable } from '../../kit/vendors/recordings.ts';

const asked = messages.client!;
const spoken = messages.vendor!;
const FROM = { channel: 'main', model: 'vendor-name' };

// biome-ignore lint/suspicious/noExplicitAny: tests look deep into bodies
type Body = any;

const usage = (more: Partial<Usage> = {}): Usage => ({
  input: 20,
  cacheRead: 4,
  cacheWrite: 3,
  cacheWriteLong: 3,
  inputAudio: 0,
  output: 9,
  reasoning: 2,
  outputAudio: 0,
  estimated: false,
  ...more,
});

function decoded(more: JsonObject): Conversation & { readonly warnings: CollectedWarnings } {
  const warnings = collectWarnings(asked.names);
  const request = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hello?' }], ...more };
  return { ...asked.decodeRequest(request, warnings), warnings };
}

const user = (...blocks: readonly Block[]): Turn => ({ role: 'user', blocks });
const assistant = (...blocks: readonly Block[]): Turn => ({ role: 'assistant', blocks });
const text = (content: string): Block => ({ type: 'text', text: content });

function targetOf(quirks: SomeQuirks = {}, stream = false): Target {
  return { ...FROM, stream, askUsage: false, quirks: layQuirks(spoken.quirks, quirks) };
}

function encoded(
  conversation: Conversation,
  quirks: SomeQuirks = {},
): { readonly body: Body; readonly warnings: CollectedWarnings } {
  const warnings = collectWarnings({});
  return { body: spoken.encodeRequest(conversation, targetOf(quirks), warnings), warnings };
}

/** A refusal with the name of what is refused. */
const refuses = (param: string) => (error: unknown) =>
  error instanceof GatewayError && error.status === 400 && error.param === param && error.message.includes(param);

function answering(warnings: CollectedWarnings = collectWarnings(asked.names)): Answering {
  return {
    id: 'A'.repeat(26),
    model: 'public-name',
    createdMs: 0,
    now: () => 1_000,
    request: {},
    asksUsage: true,
    estimatedInput: 77,
    warnings,
  };
}

/** What a client gets for these parts. */
function streamed(parts: readonly Part[], as = answering()): string {
  const writer = asked.createStreamEncoder(as);
  return parts.map((part) => writer.write(part)).join('');
}

/** What a client of this style makes of a stream: the official ones fail where it is out of order. */
async function folded(stream: string, kind: { fromReadableStream(from: ReadableStream): unknown } = MessageStream) {
  const source = new ReadableStream({
    start(controller) {
      for (const value of eventsOf(stream) as readonly JsonObject[]) {
        if (value.type !== 'ping') controller.enqueue(new TextEncoder().encode(`${JSON.stringify(value)}\n`));
      }
      controller.close();
    },
  });
  const { parsed_output: _, ...message } = JSON.parse(
    JSON.stringify(await (kind.fromReadableStream(source) as MessageStream).finalMessage()),
  ) as Body;
  return message;
}

/** The parts of a vendor's stream. */
function read(events: readonly JsonObject[], warnings = collectWarnings({})): readonly Part[] {
  const reader = spoken.createStreamDecoder(FROM, warnings);
  const parts = events.flatMap((event) => reader.read({ name: String(event.type), data: JSON.stringify(event) }));
  return [...parts, ...reader.close()];
}

describe('a messages request in the common form', () => {
  it('starts with the system prompt, block by block', () => {
    const { turns } = decoded({
      system: [
        { type: 'text', text: 'One.' },
        { type: 'text', text: 'Two.', cache_control: { type: 'ephemeral', ttl: '1h' } },
      ],
    });
    assert.deepEqual(turns, [
      {
        role: 'system',
        blocks: [
          { type: 'text', text: 'One.' },
          { type: 'text', text: 'Two.', cache: { ttlSeconds: 3_600 } },
        ],
      },
      said('user', 'Hello?'),
    ]);
    assert.deepEqual(decoded({ system: 'Be brief.' }).turns[0], said('system', 'Be brief.'));
  });

  it('drops the billing block and reports it', () => {
    const billing = { type: 'text', text: 'x-anthropic-billing-header: cc_version=2; cch=1;' };
    const { turns, warnings } = decoded({ system: [billing, { type: 'text', text: 'Be brief.' }] });
    assert.deepEqual(turns[0], said('system', 'Be brief.'));
    assert.deepEqual([warnings.all, warnings.serious], [['system.billing_header:dropped'], []]);
  });

  it('keeps the position of system messages inside the conversation', () => {
    const turns = decoded({
      messages: [
        { role: 'user', content: 'One' },
        { role: 'system', content: [{ type: 'text', text: 'Now.', cache_control: { type: 'ephemeral' } }] },
        { role: 'system', content: [], output_config: { effort: 'low' } },
        { role: 'assistant', content: 'Two' },
      ],
    });
    assert.deepEqual(
      turns.turns.map(({ role }) => role),
      ['user', 'system', 'assistant'],
    );
    assert.deepEqual(turns.warnings.all, ['messages.output_config:dropped']);
  });

  it('has calls, results, images and documents', () => {
    const png = 'iVBORw0KGgoAAAAN';
    const { turns, warnings } = decoded({
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Let me see.' },
            { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: [1] }, caller: { type: 'direct' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_1',
              is_error: true,
              content: [
                { type: 'text', text: 'no' },
                { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: png } },
              ],
            },
            { type: 'tool_result', tool_use_id: 'toolu_2' },
            { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQK' },
              title: 'Plan',
              context: 'old',
              citations: { enabled: true },
            },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Plain.' } },
            { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'Parts.' }] } },
            { type: 'document', source: { type: 'file', file_id: 'file_1' } },
            {
              type: 'search_result',
              source: 'https://example.com',
              title: 'Found',
              content: [{ type: 'text', text: 'It is.' }],
            },
          ],
        },
      ],
    });
    assert.deepEqual(turns, [
      assistant(text('Let me see.'), {
        type: 'toolCall',
        id: 'toolu_1',
        name: 'f',
        kind: 'function',
        input: '{"a":[1]}',
      }),
      user(
        {
          type: 'toolResult',
          id: 'toolu_1',
          kind: 'function',
          // Its first bytes know better than the client.
          content: [text('no'), { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: png } }],
          isError: true,
        },
        { type: 'toolResult', id: 'toolu_2', kind: 'function', content: [] },
        { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } },
        {
          type: 'file',
          source: { kind: 'base64', mediaType: 'application/pdf', data: 'JVBERi0xLjQK' },
          title: 'Plan',
          context: 'old',
          citable: true,
        },
        { type: 'file', source: { kind: 'text', text: 'Plain.' } },
        { type: 'file', source: { kind: 'text', text: 'Parts.' } },
        { type: 'file', source: { kind: 'id', id: 'file_1' } },
        text('Found\nhttps://example.com\n\nIt is.'),
      ),
    ]);
    assert.deepEqual(warnings.serious, []);
    assert.deepEqual(warnings.all, [
      'messages.caller:dropped',
      'messages.document:changed',
      'messages.search_result:changed',
    ]);
  });

  it('keeps results of vendor-side tools as blocks of this style', () => {
    const raw = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };
    assert.deepEqual(decoded({ messages: [{ role: 'assistant', content: [raw] }] }).turns, [
      assistant({ type: 'foreign', style: 'messages', what: 'web_search_tool_result', raw }),
    ]);
  });

  it('distinguishes our packed signatures from those of the vendor, and returns that of a call to it', () => {
    const made: Opaque = { style: 'responses', channel: 'other', kind: 'encrypted', value: 'E:1', id: 'rs_1' };
    const ofCall: Opaque = { style: 'gemini', channel: 'g', kind: 'thought', value: 'T', id: 'call_1' };
    const call = { type: 'tool_use', id: 'call_1', name: 'f', input: {} };
    const { turns } = decoded({
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'a', signature: 'theirs' },
            { type: 'thinking', thinking: '', signature: packOpaque(made) },
            { type: 'redacted_thinking', data: 'dark' },
            { type: 'thinking', thinking: 'b' },
            { type: 'thinking', thinking: '', signature: packOpaque(ofCall) },
            call,
          ],
        },
      ],
    });
    assert.deepEqual(turns[0]?.blocks, [
      { type: 'thinking', text: 'a', opaque: { style: 'messages', kind: 'signature', value: 'theirs' } },
      { type: 'thinking', text: '', opaque: made },
      { type: 'thinking', text: '', opaque: { style: 'messages', kind: 'redacted', value: 'dark' } },
      { type: 'thinking', text: 'b' },
      { type: 'toolCall', id: 'call_1', name: 'f', kind: 'function', input: '{}', opaque: ofCall },
    ]);
  });

  it('decodes every way to request reasoning', () => {
    const ways: readonly (readonly [JsonObject, Conversation['reasoning']])[] = [
      [{}, undefined],
      [{ thinking: { type: 'enabled', budget_tokens: 2_000 } }, { mode: 'on', budget: 2_000, summary: 'auto' }],
      [{ thinking: { type: 'adaptive' } }, { mode: 'on' }],
      [
        { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'high' } },
        { mode: 'auto', effort: 'high', summary: 'none' },
      ],
      [{ thinking: { type: 'disabled' } }, { mode: 'off' }],
      [{ output_config: { effort: 'max' } }, { mode: 'auto', effort: 'max' }],
    ];
    for (const [more, reasoning] of ways) {
      assert.deepEqual(decoded(more).reasoning, reasoning, JSON.stringify(more));
    }
    assert.throws(() => decoded({ thinking: { type: 'deep' } }), refuses('thinking.type'));
    assert.throws(() => decoded({ output_config: { effort: 'huge' } }), refuses('output_config.effort'));
  });

  it('decodes client-side and vendor-side tools', () => {
    const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 2, blocked_domains: ['x.com'] };
    const bash = { type: 'bash_20250124', name: 'bash' };
    const { tools } = decoded({
      tools: [
        {
          type: 'custom',
          name: 'f',
          description: 'Does f.',
          input_schema: { type: 'object' },
          strict: true,
          defer_loading: true,
          cache_control: { type: 'ephemeral', ttl: '5m' },
        },
        search,
        bash,
      ],
    });
    assert.deepEqual(tools, [
      {
        type: 'function',
        name: 'f',
        description: 'Does f.',
        schema: { type: 'object' },
        strict: true,
        cache: { ttlSeconds: 300 },
        extras: { defer_loading: true },
      },
      {
        type: 'hosted',
        name: 'web_search',
        style: 'messages',
        raw: search,
        search: { maxUses: 2, blockedDomains: ['x.com'] },
      },
      { type: 'hosted', name: 'bash_20250124', style: 'messages', raw: bash },
    ]);
  });

  it('decodes every tool choice', () => {
    const choices: readonly (readonly [JsonObject, Conversation['toolChoice'], boolean | undefined])[] = [
      [{ type: 'auto' }, { mode: 'auto' }, undefined],
      [{ type: 'any', disable_parallel_tool_use: true }, { mode: 'required' }, false],
      [{ type: 'none' }, { mode: 'none' }, undefined],
      [{ type: 'tool', name: 'f', disable_parallel_tool_use: false }, { mode: 'required', only: ['f'] }, true],
    ];
    for (const [choice, toolChoice, parallel] of choices) {
      const { toolChoice: found, parallelToolCalls } = decoded({ tool_choice: choice });
      assert.deepEqual([found, parallelToolCalls], [toolChoice, parallel]);
    }
    assert.throws(() => decoded({ tool_choice: { type: 'some' } }), refuses('tool_choice.type'));
  });

  it('finds the session in the user id', () => {
    for (const id of ['{"device_id":"d","session_id":"s-1"}', 'user_abc_account__session_s-1']) {
      assert.deepEqual(decoded({ metadata: { user_id: id } }).labels, { user: id, cacheKey: 's-1' });
    }
    for (const id of ['someone', '{"session_id":7}', '{broken']) {
      assert.deepEqual(decoded({ metadata: { user_id: id } }).labels, { user: id });
    }
  });

  it('applies `cache_control` beside the messages to the whole conversation', () => {
    const { turns } = decoded({ cache_control: { type: 'ephemeral' } });
    assert.deepEqual(turns, [user({ type: 'text', text: 'Hello?', cache: {} })]);
  });

  it('reports every other field, or keeps it in extras', () => {
    const { extras, warnings, output, stop, sampling, maxTokens, labels } = decoded({
      temperature: 0.5,
      top_p: 0.9,
      top_k: 5,
      stop_sequences: ['END'],
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } }, task_budget: 5 },
      service_tier: 'standard_only',
      context_management: { edits: [] },
      container: 'c_1',
      metadata: null,
      future: { x: 1 },
    });
    assert.deepEqual(extras, { container: 'c_1', future: { x: 1 } });
    assert.deepEqual(warnings.all, ['output_config.task_budget:dropped', 'context_management:dropped']);
    assert.deepEqual(warnings.serious, ['output_config.task_budget:dropped']);
    assert.deepEqual(output.format, {
      type: 'schema',
      name: 'structured_output',
      schema: { type: 'object' },
      strict: true,
    });
    assert.deepEqual(
      [stop, sampling, maxTokens, labels],
      [['END'], { temperature: 0.5, topP: 0.9, topK: 5 }, 100, { serviceTier: 'default' }],
    );
  });

  it('is refused with the path of an invalid member', () => {
    const content = (block: JsonObject): JsonObject => ({ messages: [{ role: 'user', content: [block] }] });
    const wrong: readonly (readonly [JsonObject, string])[] = [
      [{ messages: [{ role: 'user', content: 7 }] }, 'messages[0].content'],
      [content({ text: 'x' }), 'messages[0].content[0].type'],
      [content({ type: 'wat' }), 'messages[0].content[0].type'],
      [content({ type: 'image_url', image_url: { url: 'https://a.example/a.png' } }), 'messages[0].content[0].type'],
      [content({ type: 'text' }), 'messages[0].content[0].text'],
      [content({ type: 'image' }), 'messages[0].content[0].source'],
      [content({ type: 'image', source: { type: 'base64', data: '***' } }), 'messages[0].content[0].source.data'],
      [content({ type: 'tool_use', id: 'x', name: 'f', input: '{}' }), 'messages[0].content[0].input'],
      [content({ type: 'tool_result', content: 'x' }), 'messages[0].content[0].tool_use_id'],
      [{ system: [{ type: 'image' }] }, 'system[0].type'],
      [{ tools: [{ input_schema: {} }] }, 'tools[0].name'],
      [{ stop_sequences: [1] }, 'stop_sequences[0]'],
    ];
    for (const [body, param] of wrong) assert.throws(() => decoded(body), refuses(param));
    assert.throws(() => decoded(content({ type: 'wat' })), /must be text, image, document, .*tool_result/);
  });

  it('keeps unread members of vendor-side tools', () => {
    const kinds = ['container_upload', 'mcp_tool_use', 'mcp_tool_result', 'new_tool_result', 'compaction'];
    const content = kinds.map((type) => ({ type }));
    const { turns } = decoded({ messages: [{ role: 'assistant', content }] });
    assert.deepEqual(
      turns[0]?.blocks.map((block) => block.type === 'foreign' && block.what),
      kinds,
    );
  });
});

describe('a large messages request', () => {
  const quickly = (work: () => void): void => {
    const used = processorTime();
    work();
    assert.ok(used() < 3_000, 'it is read in one pass');
  };

  it('is decoded in linear time if the user id looks like many sessions', () => {
    const id = `${'_session_'.repeat(20_000)}!`;
    quickly(() => assert.deepEqual(decoded({ metadata: { user_id: id } }).labels, { user: id }));
    const last = decoded({ metadata: { user_id: 'user_1_session_a_session_b-2' } });
    assert.equal(last.labels.cacheKey, 'b-2');
  });

  it('may have system messages between all its messages, or one role for all of them', () => {
    const system: Turn = { role: 'system', blocks: [text('Mind.')] };
    const turns = Array.from({ length: 40_000 }, (_, i) => (i % 2 === 0 ? user(text(String(i))) : system));
    quickly(() => {
      const { body } = encoded(conversationOf(turns), { roles: { mid_system: 'user_wrap' } });
      assert.deepEqual([body.messages.length, body.messages[0].content.length], [1, 40_000]);
    });
  });
});

describe('a conversation encoded for a messages vendor', () => {
  const hello = said('user', 'Hello?');

  it('always has max_tokens', () => {
    assert.deepEqual(encoded(conversationOf([said('developer', 'One.'), said('system', 'Two.'), hello])).body, {
      model: 'vendor-name',
      max_tokens: 4_096,
      system: [
        { type: 'text', text: 'One.' },
        { type: 'text', text: 'Two.' },
      ],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello?' }] }],
    });
    const quirks = { limits: { max_output: 64_000 } };
    assert.equal(encoded(conversationOf([hello]), quirks).body.max_tokens, 64_000);
    assert.equal(encoded(conversationOf([hello], { maxTokens: 5 }), quirks).body.max_tokens, 5);
  });

  it('has system messages inside the conversation only at allowed positions', () => {
    const native: SomeQuirks = { roles: { mid_system: 'native' } };
    const now = said('system', 'Now.');
    const rolesOf = (...turns: readonly Turn[]) =>
      encoded(conversationOf(turns), native).body.messages.map(({ role }: Body) => role);
    assert.deepEqual(rolesOf(hello, now, said('assistant', 'x')), ['user', 'system', 'assistant']);
    assert.deepEqual(rolesOf(hello, now, said('system', 'And.')), ['user', 'system']);
    assert.deepEqual(rolesOf(hello, now, hello), ['user']);
    assert.deepEqual(rolesOf(hello, said('assistant', 'x'), now), ['user', 'assistant', 'user']);
    const { body, warnings } = encoded(conversationOf([hello, now]));
    assert.deepEqual(
      body.messages[0].content.map((block: Body) => block.text),
      ['Hello?', '<system-reminder>\nNow.\n</system-reminder>'],
    );
    assert.deepEqual(warnings.all, ['messages.system:changed']);
  });

  it('has results first, then text, and arguments as objects', () => {
    const call = (id: string, input: string): Block => ({ type: 'toolCall', id, name: 'f', kind: 'function', input });
    const result: Block = { type: 'toolResult', id: 'b', kind: 'function', content: [text('ok')], isError: true };
    const { messages: sent } = encoded(
      conversationOf([
        assistant(call('a', ''), call('b', '{"x":1}'), call('c', '[1]'), call('d', '{"x":')),
        user(text('Well?'), result, { type: 'toolResult', id: 'a', kind: 'function', content: [] }),
      ]),
    ).body;
    assert.deepEqual(
      sent[0].content.map(({ input }: Body) => input),
      [{}, { x: 1 }, { value: [1] }, { _raw: '{"x":' }],
    );
    assert.deepEqual(sent[1].content, [
      { type: 'tool_result', tool_use_id: 'b', content: 'ok', is_error: true },
      { type: 'tool_result', tool_use_id: 'a' },
      { type: 'text', text: 'Well?' },
    ]);
  });

  it('has reasoning only with the signature of its vendor, and first', () => {
    const own = (kind: 'signature' | 'redacted'): Opaque => ({ style: 'messages', kind, value: 'SEAL' });
    const { body, warnings } = encoded(
      conversationOf([
        hello,
        assistant(
          text('Hi.'),
          { type: 'thinking', text: 'a', opaque: own('signature') },
          { type: 'thinking', text: '', opaque: own('redacted') },
          { type: 'thinking', text: 'unsealed' },
        ),
      ]),
    );
    assert.deepEqual(body.messages[1].content, [
      { type: 'thinking', thinking: 'a', signature: 'SEAL' },
      { type: 'redacted_thinking', data: 'SEAL' },
      { type: 'text', text: 'Hi.' },
    ]);
    assert.deepEqual([warnings.all, warnings.serious], [['messages.reasoning:dropped'], []]);
  });

  it('never has an empty text, and does not end in whitespace', () => {
    const { messages: sent } = encoded(
      conversationOf([user(text(' '), text('Go')), assistant(text(''), text('Once upon \n'))]),
    ).body;
    assert.deepEqual(sent, [
      { role: 'user', content: [{ type: 'text', text: 'Go' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Once upon' }] },
    ]);
  });

  it('has images and documents in supported forms, and others are refused by name', () => {
    const base64 = (mediaType: string, data = 'AAAA') => ({ kind: 'base64', mediaType, data }) as const;
    const { messages: sent } = encoded(
      conversationOf([
        user(
          { type: 'image', source: base64('image/webp') },
          { type: 'image', source: { kind: 'url', url: 'https://example.com/a' }, detail: 'low' },
          { type: 'file', source: base64('application/pdf'), name: 'a.pdf' },
          { type: 'file', source: base64('text/csv', Buffer.from('a,b').toString('base64')), citable: true },
          { type: 'file', source: { kind: 'url', url: 'https://example.com/b.pdf' } },
        ),
      ]),
    ).body;
    assert.deepEqual(sent[0].content, [
      { type: 'image', source: { type: 'base64', media_type: 'image/webp', data: 'AAAA' } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a' } },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
        title: 'a.pdf',
      },
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'a,b' },
        citations: { enabled: true },
      },
      { type: 'document', source: { type: 'url', url: 'https://example.com/b.pdf' } },
      // Documents alone are refused.
      { type: 'text', text: '.' },
    ]);
    const refused: readonly (readonly [Block, string])[] = [
      [{ type: 'image', source: base64('image/svg+xml') }, 'messages.image'],
      [{ type: 'image', source: { kind: 'id', id: 'file_1' } }, 'messages.image'],
      [{ type: 'file', source: base64('application/zip') }, 'messages.file'],
      [{ type: 'file', source: { kind: 'id', id: 'file_1' } }, 'messages.file'],
      [{ type: 'audio', data: 'AAAA', format: 'wav' }, 'messages.audio'],
    ];
    for (const [block, param] of refused) {
      assert.throws(() => encoded(conversationOf([user(block)])), refuses(param));
    }
  });

  it('forces one tool, reduces the list for several, and requests one call at a time', () => {
    const tools = ['f', 'g', 'h'].map((name) => ({ type: 'function', name }) as const);
    const of = (more: Partial<Conversation>): Body => {
      const { body } = encoded(conversationOf([hello], { tools, ...more }));
      return [body.tools?.map(({ name }: Body) => name).join(''), body.tool_choice];
    };
    assert.deepEqual(of({}), ['fgh', undefined]);
    assert.deepEqual(of({ toolChoice: { mode: 'required' } }), ['fgh', { type: 'any' }]);
    assert.deepEqual(of({ toolChoice: { mode: 'required', only: ['g'] } }), ['fgh', { type: 'tool', name: 'g' }]);
    assert.deepEqual(of({ toolChoice: { mode: 'required', only: ['g', 'h'] } }), ['gh', { type: 'any' }]);
    assert.deepEqual(of({ toolChoice: { mode: 'auto', only: ['g'] } }), ['g', { type: 'auto' }]);
    assert.deepEqual(of({ toolChoice: { mode: 'auto', only: ['x'] } }), ['fgh', { type: 'auto' }]);
    assert.deepEqual(of({ parallelToolCalls: false }), ['fgh', { type: 'auto', disable_parallel_tool_use: true }]);
    assert.deepEqual(of({ parallelToolCalls: false, toolChoice: { mode: 'none' } }), ['fgh', { type: 'none' }]);
    assert.deepEqual(of({ tools: [], parallelToolCalls: false, toolChoice: { mode: 'auto' } }), [undefined, undefined]);
  });

  it('has an object schema for every tool, and an enforceable one for a strict tool', () => {
    const schema: JsonObject = {
      type: 'object',
      properties: {
        minimum: { type: 'integer', minimum: 1, description: 'How many.' },
        when: { type: 'string', format: 'date' },
        who: { oneOf: [{ type: 'string', pattern: '^a' }, { type: 'null' }] },
      },
    };
    const { body, warnings } = encoded(
      conversationOf([hello], {
        tools: [
          { type: 'function', name: 'f' },
          { type: 'function', name: 'g', schema, strict: true, extras: { defer_loading: true } },
        ],
      }),
      { tools: { strict: true } },
    );
    assert.deepEqual(body.tools, [
      { name: 'f', input_schema: { type: 'object', properties: {} } },
      {
        name: 'g',
        input_schema: {
          type: 'object',
          properties: {
            minimum: { type: 'integer', description: 'How many. {minimum: 1}' },
            when: { type: 'string', format: 'date' },
            who: { anyOf: [{ type: 'string', description: '{pattern: "^a"}' }, { type: 'null' }] },
          },
          additionalProperties: false,
        },
        strict: true,
      },
    ]);
    assert.deepEqual(warnings.serious, ['tools.strict:changed']);
  });

  it('has web search in the notation of the style', () => {
    const search = {
      contextSize: 'high',
      allowedDomains: ['a.com'],
      location: { type: 'approximate', city: 'Rome' },
    } as const;
    const tools = [{ type: 'hosted', name: 'web_search', style: 'responses', raw: {}, search }] as const;
    assert.deepEqual(encoded(conversationOf([hello], { tools }), { tools: { web_search: true } }).body.tools, [
      {
        type: 'web_search_20250305',
        name: 'web_search',
        max_uses: 10,
        allowed_domains: ['a.com'],
        user_location: { type: 'approximate', city: 'Rome' },
      },
    ]);
  });

  describe('with reasoning', () => {
    it('has default sampling, with a budget or adaptive reasoning; other sampling options are reported', () => {
      for (const input of ['adaptive', 'budget'] as const) {
        const reasoning = { mode: 'auto', effort: 'high' } as const;
        const { body, warnings } = encoded(
          conversationOf([said('user', 'Hi')], { reasoning, sampling: { temperature: 0.2, topP: 0.97, topK: 5 } }),
          { reasoning: { input } },
        );
        assert.deepEqual([body.temperature, body.top_p, body.top_k], [undefined, 0.97, undefined], input);
        assert.deepEqual(warnings.serious, ['temperature:dropped', 'top_k:dropped'], input);
      }
      const off = conversationOf([said('user', 'Hi')], { reasoning: { mode: 'off' }, sampling: { temperature: 0.2 } });
      assert.equal(encoded(off).body.temperature, 0.2);
    });

    it('lets the vendor drop reasoning that no longer fits, if the model binds it and the history has any', () => {
      const thought: Block = {
        type: 'thinking',
        text: 'Hm.',
        opaque: { style: 'messages', kind: 'signature', value: 'S' },
      };
      const history = [said('user', 'Hi'), { role: 'assistant', blocks: [thought] } as Turn, said('user', 'And?')];
      const bindingOf = (
        turns: readonly Turn[],
        reasoning: Conversation['reasoning'],
        more: SomeQuirks['reasoning'] = {},
      ) =>
        encoded(conversationOf(turns, { ...(reasoning && { reasoning }) }), {
          reasoning: { input: 'adaptive', levels: ['none', 'low', 'high'], binding: true, ...more },
        }).body.thinking;
      const drop = { prefix_mismatch_behavior: 'drop_block' };
      assert.deepEqual(bindingOf(history, { mode: 'auto' })?.block_binding, drop);
      assert.equal(bindingOf([said('user', 'Hi')], { mode: 'auto' })?.block_binding, undefined);
      assert.deepEqual(bindingOf(history, { mode: 'off' }), { type: 'disabled' });
      assert.equal(bindingOf(history, { mode: 'auto' }, { binding: false })?.block_binding, undefined);
      // A model that always reasons checks the history although the request does not mention reasoning.
      assert.equal(bindingOf(history, undefined), undefined);
      assert.deepEqual(bindingOf(history, undefined, { levels: ['low', 'high'] }), {
        type: 'adaptive',
        block_binding: drop,
      });
    });

    it('sends signatures back only to the model that made them', () => {
      const opaque: Opaque = {
        style: 'messages',
        channel: FROM.channel,
        model: 'older',
        kind: 'signature',
        value: 'S',
      };
      const thought: Block = { type: 'thinking', text: 'Hm.', opaque };
      const turns = [
        said('user', 'Hi'),
        { role: 'assistant', blocks: [thought, { type: 'text', text: 'Yes' }] } as Turn,
        said('user', 'And?'),
      ];
      const sentTo = (model: string) => {
        const to = { ...targetOf({}), model };
        const adapted = adapt(conversationOf(turns), 'messages', to, collectWarnings({})).conversation;
        return (spoken.encodeRequest(adapted, to, collectWarnings({})) as Body).messages[1].content.map(
          ({ type }: Body) => type,
        );
      };
      assert.deepEqual(sentTo('older'), ['thinking', 'text']);
      assert.deepEqual(sentTo('newer'), ['text']);
      assert.deepEqual(unpackOpaque(packOpaque(opaque)), opaque);
    });

    it('cannot force a call on a model that always reasons and refuses that', () => {
      const tools = [{ type: 'function', name: 'f' } as const, { type: 'function', name: 'g' } as const];
      const choice = { tools, toolChoice: { mode: 'required', only: ['f'] } as const };
      const to = targetOf({
        reasoning: { input: 'adaptive', levels: ['low', 'high'] },
        tools: { force_with_thinking: false },
      });
      const warnings = collectWarnings({});
      const { conversation } = adapt(conversationOf([hello], choice), 'messages', to, warnings);
      assert.deepEqual(
        [conversation.toolChoice, conversation.tools.length, warnings.all],
        [{ mode: 'auto' }, 1, ['tool_choice:changed']],
      );
    });

    const thinking = (more: Partial<Conversation>, quirks: SomeQuirks = {}) => {
      const { body, warnings } = encoded(conversationOf([hello], more), quirks);
      return { ...body, warnings: warnings.all };
    };
    const adaptive: SomeQuirks = { reasoning: { input: 'adaptive' } };

    it('has a budget that leaves room for the answer', () => {
      const high = thinking({ maxTokens: 10_000, reasoning: { mode: 'on', budget: 8_000 } });
      assert.deepEqual([high.thinking, high.max_tokens], [{ type: 'enabled', budget_tokens: 8_000 }, 10_000]);
      const open = thinking({ reasoning: { mode: 'on', budget: 16_384 } }, { limits: { max_output: 20_000 } });
      assert.deepEqual([open.thinking.budget_tokens, open.max_tokens], [16_384, 20_000]);
      const guessed = thinking({ reasoning: { mode: 'on', budget: 16_384 } });
      assert.deepEqual([guessed.thinking.budget_tokens, guessed.max_tokens, guessed.warnings], [16_384, 20_480, []]);
      const tight = thinking({ maxTokens: 500, reasoning: { mode: 'on', budget: 2_000, summary: 'none' } });
      assert.deepEqual(
        [tight.thinking, tight.max_tokens, tight.warnings],
        [{ type: 'enabled', budget_tokens: 1_024, display: 'omitted' }, 1_524, ['max_tokens:changed']],
      );
    });

    it('has no sampling options', () => {
      const { temperature, top_p, top_k, warnings } = thinking({
        maxTokens: 10_000,
        reasoning: { mode: 'on', budget: 2_000 },
        sampling: { temperature: 1, topP: 0.5, topK: 3 },
      });
      assert.deepEqual(
        [temperature, top_p, top_k, warnings],
        [1, undefined, undefined, ['top_p:dropped', 'top_k:dropped']],
      );
    });

    it('uses adaptive reasoning if the model supports it, with the effort', () => {
      const body = thinking({ reasoning: { mode: 'auto', effort: 'minimal' } }, adaptive);
      assert.deepEqual(
        [body.thinking, body.output_config],
        [{ type: 'adaptive', display: 'summarized' }, { effort: 'low' }],
      );
      const quiet = thinking({ reasoning: { mode: 'auto', summary: 'none' } }, adaptive);
      assert.deepEqual([quiet.thinking, quiet.output_config], [{ type: 'adaptive' }, undefined]);
      assert.deepEqual(thinking({ reasoning: { mode: 'off' } }, adaptive).thinking, { type: 'disabled' });
    });
  });

  it('requests JSON with a field if supported, otherwise with an instruction', () => {
    const schema = { type: 'object', properties: { n: { type: 'integer', maximum: 9 } } };
    const output = { format: { type: 'schema', schema } } as const;
    const enforced = encoded(conversationOf([hello], { output }), { output: { json_schema: true } });
    assert.deepEqual(enforced.body.output_config, {
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { n: { type: 'integer', description: '{maximum: 9}' } },
          additionalProperties: false,
        },
      },
    });
    assert.deepEqual(enforced.warnings.all, ['response_format:changed']);
    const line = encoded(conversationOf([hello], { output })).body;
    assert.ok(line.system[0].text.includes(JSON.stringify(schema)), 'the schema is told');
    const any = encoded(conversationOf([hello], { output: { format: { type: 'json' } } }));
    assert.match(any.body.system[0].text, /JSON object/);
    assert.deepEqual(any.warnings.all, ['response_format:changed']);
  });

  describe('and its cache', () => {
    const quirks: SomeQuirks = { cache: { hint: 'cache_control' } };
    const marked = (ttlSeconds?: number): Block => ({
      type: 'text',
      text: 'x',
      cache: ttlSeconds === undefined ? {} : { ttlSeconds },
    });

    it('is left to the vendor if the client has no marks', () => {
      assert.deepEqual(encoded(conversationOf([hello]), quirks).body.cache_control, { type: 'ephemeral' });
      assert.equal(encoded(conversationOf([hello])).body.cache_control, undefined);
    });

    it('is marked after the tools, after the instructions and at the end of the previous request if the client has no marks', () => {
      const call = (id: string): Block => ({ type: 'toolCall', id, name: 'f', kind: 'function', input: '{}' });
      const result = (id: string): Block => ({ type: 'toolResult', id, kind: 'function', content: [] });
      const conversation = conversationOf(
        [
          said('system', 'Rules.'),
          said('developer', 'More rules.'),
          said('user', 'Hi'),
          { role: 'assistant', blocks: [call('a'), call('b')] },
          user(result('a'), result('b')),
          { role: 'assistant', blocks: [call('c')] },
          user(result('c')),
        ],
        {
          tools: [
            { type: 'function', name: 'e' },
            { type: 'function', name: 'f' },
          ],
        },
      );
      const { body, warnings } = encoded(conversation, quirks);
      const isMarked = ({ cache_control: mark }: Body): boolean => mark?.type === 'ephemeral';
      assert.deepEqual(body.tools.map(isMarked), [false, true]);
      assert.deepEqual(body.system.map(isMarked), [false, true]);
      const blocks = body.messages.flatMap(({ content }: Body) => content);
      const marks = blocks.filter(isMarked).map(({ tool_use_id: id }: Body) => id);
      assert.deepEqual(marks, ['b']);
      assert.deepEqual([body.cache_control, warnings.all], [{ type: 'ephemeral' }, []]);
    });

    it('has four marks, long-lived ones first', () => {
      const turns = [
        { role: 'system', blocks: [marked(3_600)] } as const,
        user(marked(1_800), marked(300), marked(3_600)),
      ];
      const { body, warnings } = encoded(
        conversationOf(turns, { tools: [{ type: 'function', name: 'f', cache: { ttlSeconds: 3_600 } }] }),
        quirks,
      );
      assert.equal(body.tools[0].cache_control, undefined);
      assert.deepEqual(
        [...body.system, ...body.messages[0].content].map(({ cache_control: mark }: Body) => mark),
        [
          { type: 'ephemeral', ttl: '1h' },
          { type: 'ephemeral', ttl: '1h' },
          { type: 'ephemeral' },
          { type: 'ephemeral' },
        ],
      );
      assert.equal(body.cache_control, undefined);
      assert.deepEqual([warnings.all, warnings.serious], [['messages.cache_control:dropped'], []]);
    });

    it('is not marked at an empty text, and at a result instead of inside it', () => {
      const result: Block = { type: 'toolResult', id: 'a', kind: 'function', content: [marked()] };
      const empty: Block = { type: 'text', text: '', cache: {} };
      const { messages: sent } = encoded(conversationOf([user(empty, result, text('y'))]), quirks).body;
      assert.deepEqual(sent[0].content, [
        { type: 'tool_result', tool_use_id: 'a', content: 'x', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'y' },
      ]);
    });
  });

  it('reports what the style cannot express', () => {
    const { body, warnings } = encoded(
      conversationOf([hello], {
        stop: ['END'],
        labels: {
          user: 'u'.repeat(300),
          metadata: { a: 'b' },
          cacheKey: 'k',
          serviceTier: 'flex',
          store: true,
        },
        output: { verbosity: 'low' },
        extras: { prediction: {}, prompt_cache_retention: '24h' },
      }),
    );
    assert.match(body.metadata.user_id, /^[0-9a-f]{64}$/);
    assert.deepEqual([body.service_tier, body.stop_sequences], ['auto', ['END']]);
    assert.deepEqual(warnings.serious, ['verbosity:dropped', 'prediction:dropped']);
    assert.deepEqual(
      warnings.all.filter((warning) => !warnings.serious.includes(warning)),
      [
        'metadata:dropped',
        'prompt_cache_key:dropped',
        'store:dropped',
        'prompt_cache_retention:dropped',
        'service_tier:changed',
      ],
    );
    assert.throws(
      () => encoded(conversationOf([hello], { output: { modalities: ['text', 'audio'] } })),
      refuses('modalities'),
    );
  });

  it('is encoded whatever it contains', () => {
    fc.assert(
      fc.property(conversations, fc.constantFrom('budget', 'adaptive', 'none'), (conversation, input) => {
        const warnings = collectWarnings({});
        const target = targetOf({ reasoning: { input } }, true);
        try {
          spoken.encodeRequest(conversation, target, warnings);
          const { conversation: fitted } = adapt(conversation, 'messages', target, warnings);
          const body: Body = spoken.encodeRequest(fitted, target, warnings);
          assert.equal(body.messages[0].role, 'user');
          const limit = body.thinking?.budget_tokens ?? 0;
          assert.ok(limit < body.max_tokens, `${limit} of ${body.max_tokens} tokens to think with`);
          for (const { content } of body.messages) {
            assert.ok(content.length > 0, 'a message says something');
            for (const block of content) assert.ok(block.type !== 'text' || block.text.trim() !== '', 'a text is none');
          }
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error;
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('the reply of a messages vendor in the common form', () => {
  it('has our own count if the vendor sent only a placeholder for its output', () => {
    const words = 'x'.repeat(40_000);
    const events = (told: JsonObject | undefined, atStart: number): readonly JsonObject[] => [
      { type: 'message_start', message: { id: 'm', model: 'v', usage: { input_tokens: 10, output_tokens: atStart } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: words } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, ...(told && { usage: told }) },
      { type: 'message_stop' },
    ];
    const usageIn = (told: JsonObject | undefined, atStart: number): Usage | undefined => {
      const parts = read(events(told, atStart));
      checkParts(parts);
      return foldParts(parts)?.usage;
    };
    const counted = usage({ input: 10, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0, reasoning: 0 });
    for (const atStart of [0, 1]) {
      for (const told of [undefined, {}, { input_tokens: 10 }]) {
        const what = JSON.stringify({ told, atStart });
        assert.deepEqual(usageIn(told, atStart), { ...counted, output: 10_000, estimated: true }, what);
      }
      // Also a zero at the end is the vendor's count.
      for (const output of [0, 7])
        assert.deepEqual(usageIn({ output_tokens: output }, atStart), { ...counted, output });
    }
  });

  const citation = {
    type: 'web_search_result_location',
    url: 'https://a.com',
    title: 'A',
    cited_text: 'so',
    encrypted_index: 'E',
  };
  const content: readonly JsonObject[] = [
    { type: 'thinking', thinking: 'hmm', signature: 'SIG' },
    { type: 'redacted_thinking', data: 'DARK' },
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
    { type: 'text', text: 'It is so.', citations: [citation] },
    { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
    { type: 'tool_use', id: 'toolu_2', name: 'g', input: {} },
  ];
  const seal = (kind: 'signature' | 'redacted', value: string): Opaque => ({
    style: 'messages',
    channel: 'main',
    kind,
    value,
  });
  const expected: Reply = {
    id: 'msg_1',
    model: 'vendor-name-1',
    blocks: [
      { type: 'thinking', text: 'hmm', opaque: seal('signature', 'SIG') },
      { type: 'thinking', text: '', opaque: seal('redacted', 'DARK') },
      { type: 'foreign', style: 'messages', what: 'server_tool_use', raw: content[2]! },
      {
        type: 'text',
        text: 'It is so.',
        citations: [
          { style: 'messages', raw: citation, start: 0, end: 9, url: 'https://a.com', title: 'A', quote: 'so' },
        ],
      },
      { type: 'toolCall', id: 'toolu_1', name: 'f', kind: 'function', input: '{"a":1}' },
      { type: 'toolCall', id: 'toolu_2', name: 'g', kind: 'function', input: '' },
    ],
    finish: { reason: 'tool_calls' },
    usage: usage({ input: 14, cacheWrite: 0, cacheWriteLong: 0, reasoning: 0, service: { tier: 'standard' } }),
    serviceTier: 'default',
  };
  const told = { input_tokens: 10, cache_read_input_tokens: 4, output_tokens: 9, service_tier: 'standard' };
  const start = {
    type: 'message_start',
    message: { id: 'msg_1', model: 'vendor-name-1', content: [], usage: { ...told, output_tokens: 1 } },
  };
  const stop = (reason: string | null, more: JsonObject = {}): readonly JsonObject[] => [
    { type: 'message_delta', delta: { stop_reason: reason, ...more }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ];
  const block = (index: number, first: JsonObject, ...deltas: readonly JsonObject[]): readonly JsonObject[] => [
    { type: 'content_block_start', index, content_block: first },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
  const events = [
    start,
    { type: 'ping' },
    ...block(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'hm' },
      { type: 'thinking_delta', thinking: 'm' },
      { type: 'signature_delta', signature: 'SIG' },
    ),
    ...block(1, { type: 'redacted_thinking', data: 'DARK' }),
    ...block(
      2,
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
      { type: 'input_json_delta', partial_json: '{"query"' },
      { type: 'input_json_delta', partial_json: ':"x"}' },
    ),
    ...block(
      3,
      { type: 'text', text: '' },
      { type: 'citations_delta', citation },
      { type: 'text_delta', text: 'It is ' },
      { type: 'text_delta', text: 'so.' },
      { type: 'unheard_of_delta', x: 1 },
    ),
    ...block(
      4,
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
      { type: 'input_json_delta', partial_json: '{"a":1}' },
    ),
    ...block(
      5,
      { type: 'tool_use', id: 'toolu_2', name: 'g', input: {} },
      { type: 'input_json_delta', partial_json: '' },
    ),
    { type: 'unheard_of' },
    ...stop('tool_use'),
  ];

  it('is the same whether streamed or not', () => {
    const warnings = collectWarnings({});
    const body = { id: 'msg_1', model: 'vendor-name-1', content, stop_reason: 'tool_use', usage: told };
    assert.deepEqual(spoken.decodeReply(body, FROM, warnings), expected);
    const parts = read(events);
    checkParts(parts);
    assert.deepEqual(foldParts(parts), expected);
    assert.deepEqual(warnings.all, []);
  });

  it('is undefined without content', () => {
    assert.equal(spoken.decodeReply({ id: 'msg_1' }, FROM, collectWarnings({})), undefined);
  });

  it("has the vendor's stop reason, and `stop` for an unknown one", () => {
    const reasons: readonly (readonly [JsonObject, Reply['finish']])[] = [
      [{ stop_reason: 'end_turn' }, { reason: 'stop' }],
      [{ stop_reason: 'max_tokens' }, { reason: 'length' }],
      [
        { stop_reason: 'stop_sequence', stop_sequence: 'END' },
        { reason: 'stop_sequence', stopSequence: 'END' },
      ],
      [{ stop_reason: 'pause_turn' }, { reason: 'pause' }],
      [{ stop_reason: 'model_context_window_exceeded' }, { reason: 'context_full' }],
      [
        { stop_reason: 'refusal', stop_details: { type: 'refusal', category: null, explanation: 'No.' } },
        { reason: 'refusal', explanation: 'No.' },
      ],
      [{ stop_reason: 'constructor' }, { reason: 'stop' }],
      [{ stop_reason: 'tool_use' }, { reason: 'stop' }],
    ];
    for (const [told, finish] of reasons) {
      const reply = spoken.decodeReply({ content: [{ type: 'text', text: 'x' }], ...told }, FROM, collectWarnings({}));
      assert.deepEqual(reply?.finish, finish);
    }
    const calls = [start, ...block(0, { type: 'tool_use', id: 'a', name: 'f' }), ...stop('end_turn')];
    assert.deepEqual(read(calls).at(-1), { type: 'finish', finish: { reason: 'tool_calls' } });
  });

  it('may have all arguments in the start event of a call', () => {
    const parts = read([
      start,
      ...block(0, { type: 'tool_use', id: 'a', name: 'f', input: { b: 1 } }),
      ...stop('tool_use'),
    ]);
    assert.deepEqual(foldParts(parts)?.blocks, [
      { type: 'toolCall', id: 'a', name: 'f', kind: 'function', input: '{"b":1}' },
    ]);
  });

  it('may lack start and stop events and pings', () => {
    const events = [
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_start', index: 1, content_block: { type: 'thinking', thinking: 'x' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    ];
    const parts = read(events);
    checkParts(parts);
    assert.deepEqual(foldParts(parts)?.blocks, [text('Hi'), { type: 'thinking', text: 'x' }]);
  });

  it('is complete if its first event has all of it and a stop reason, unless blocks follow', () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'add', input: { a: 1 } };
    const message = {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm' },
      content: [{ type: 'text', text: 'Hi' }, call],
      stop_reason: 'tool_use',
      usage: { input_tokens: 9, output_tokens: 5 },
    };
    const first = { type: 'message_start', message };
    for (const end of [[{ type: 'message_stop' }], []]) {
      const parts = read([first, ...end]);
      checkParts(parts);
      const reply = foldParts(parts);
      assert.deepEqual(
        reply?.blocks.map((block) => (block.type === 'toolCall' ? block.input : block)),
        [text('Hi'), '{"a":1}'],
      );
      assert.equal(reply?.finish.reason, 'tool_calls');
      assert.deepEqual([reply?.usage?.output, reply?.usage?.estimated], [5, false]);
    }
    const repeated = [
      ...[first, { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }],
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
    ];
    assert.equal(foldParts(read(repeated)), undefined);
    const complete = [...repeated, { type: 'message_delta', delta: { stop_reason: 'end_turn' } }];
    assert.deepEqual(foldParts(read(complete))?.blocks, [text('Hi')]);
  });

  it('is incomplete without a stop reason', () => {
    const cut = read(events.slice(0, -2));
    checkParts(cut);
    assert.ok(!cut.some(({ type }) => type === 'finish'), 'there is no finish');
    assert.deepEqual(read([{ type: 'message_stop' }]), []);
  });

  it('is an error if it starts again in the middle, but not if only the start event is repeated', () => {
    assert.equal(read([start, start, ...events.slice(2)]).at(-1)?.type, 'finish');
    assert.equal(read([...events.slice(0, 4), start, ...events]).at(-1)?.type, 'error');
  });

  it('ends at its first end', () => {
    assert.deepEqual(read([...events, ...events]), read(events));
  });

  it('is an error if the vendor sends one', () => {
    const reader = spoken.createStreamDecoder(FROM, collectWarnings({}));
    const data = JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Too much.' } });
    assert.deepEqual(reader.read({ name: 'error', data }), [
      { type: 'start', id: '', model: '' },
      { type: 'error', message: 'Too much.', code: 'overloaded_error' },
    ]);
    assert.deepEqual(reader.close(), []);
  });

  it('is decoded whatever a vendor sends', () => {
    const odd = fc.oneof(
      fc.json(),
      fc
        .record({
          type: fc.constantFrom(
            'message_start',
            'content_block_start',
            'content_block_delta',
            'message_delta',
            'error',
          ),
          index: fc.oneof(fc.nat(2), fc.string()),
          message: fc.jsonValue(),
          content_block: fc.oneof(fc.jsonValue(), fc.record({ type: fc.constantFrom('text', 'tool_use', 'x') })),
          delta: fc.oneof(
            fc.jsonValue(),
            fc.record({ type: fc.constantFrom('text_delta', 'x'), text: fc.jsonValue() }),
          ),
          usage: fc.jsonValue(),
        })
        .map((event) => JSON.stringify(event)),
    );
    fc.assert(
      fc.property(fc.array(odd), (data) => {
        const reader = spoken.createStreamDecoder(FROM, collectWarnings({}));
        const parts = data.flatMap((each) => reader.read({ name: undefined, data: each }));
        checkParts([...parts, ...reader.close()]);
      }),
      { numRuns: 300 },
    );
  });
});

describe('an answer encoded for a messages client', () => {
  const sealed: Opaque = { style: 'responses', channel: 'main', kind: 'encrypted', value: 'E', id: 'rs_1' };
  const ofCall: Opaque = { style: 'gemini', channel: 'main', kind: 'thought', value: 'T' };
  const reply: Reply = {
    ...replyOf([
      { type: 'thinking', text: 'hmm', opaque: sealed },
      {
        type: 'text',
        text: 'It is so.',
        citations: [{ style: 'responses', raw: {}, url: 'https://a.com', title: 'A' }],
      },
      { type: 'toolCall', id: 'call_1', name: 'f', kind: 'function', input: '{"a":1}', opaque: ofCall },
      { type: 'toolCall', id: '', name: 'g', kind: 'function', input: '' },
      { type: 'toolCall', id: 'call_3', name: 'h', kind: 'custom', input: 'say "é😀"' },
      { type: 'foreign', style: 'responses', what: 'web_search_call', raw: {} },
    ]),
    usage: usage(),
    serviceTier: 'default',
  };

  it('is made of blocks', () => {
    const warnings = collectWarnings(asked.names);
    const body: Body = asked.encodeReply(reply, answering(warnings));
    const { content, ...rest } = body;
    assert.deepEqual(rest, {
      id: `msg_${'A'.repeat(26)}`,
      type: 'message',
      role: 'assistant',
      model: 'public-name',
      stop_reason: 'tool_use',
      stop_sequence: null,
      stop_details: null,
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 6,
        cache_read_input_tokens: 4,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 3 },
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 2 },
        service_tier: 'standard',
      },
    });
    assert.deepEqual(content, [
      { type: 'thinking', thinking: 'hmm', signature: packOpaque(sealed) },
      {
        type: 'text',
        text: 'It is so.',
        citations: [
          {
            type: 'web_search_result_location',
            url: 'https://a.com',
            title: 'A',
            cited_text: '',
            encrypted_index: '',
          },
        ],
      },
      { type: 'thinking', thinking: '', signature: packOpaque({ ...ofCall, id: 'call_1' }) },
      { type: 'tool_use', id: 'call_1', name: 'f', input: { a: 1 } },
      { type: 'tool_use', id: `toolu_${'A'.repeat(26)}_3`, name: 'g', input: {} },
      { type: 'tool_use', id: 'call_3', name: 'h', input: { input: 'say "é😀"' } },
    ]);
    assert.deepEqual(warnings.all, ['web_search_call:omitted']);
  });

  it('is decoded again with everything that was sealed in it', () => {
    const { content }: Body = asked.encodeReply(reply, answering());
    const { turns } = decoded({ messages: [{ role: 'assistant', content }] });
    const seals = turns[0]?.blocks.map((block) => ('opaque' in block ? block.opaque : undefined));
    assert.deepEqual(seals, [sealed, undefined, { ...ofCall, id: 'call_1' }, undefined, undefined]);
  });

  it('has the events that the vendor would send', () => {
    const parts: readonly Part[] = [
      { type: 'start', id: 'x', model: 'y' },
      { type: 'blockStart', key: 0, block: { type: 'thinking', text: '' } },
      { type: 'delta', key: 0, text: 'hmm' },
      { type: 'opaque', key: 0, opaque: sealed },
      { type: 'blockEnd', key: 0 },
      { type: 'blockStart', key: 1, block: text('') },
      { type: 'delta', key: 1, text: 'Hello ' },
      { type: 'delta', key: 1, text: '' },
      { type: 'delta', key: 1, text: 'you' },
      { type: 'blockEnd', key: 1 },
      { type: 'blockStart', key: 2, block: { type: 'toolCall', id: 'call_1', name: 'f', kind: 'function', input: '' } },
      { type: 'delta', key: 2, text: '{"a":' },
      { type: 'delta', key: 2, text: '1}' },
      { type: 'blockEnd', key: 2 },
      { type: 'usage', usage: usage() },
      { type: 'finish', finish: { reason: 'tool_calls' } },
    ];
    const counted = {
      input_tokens: 10,
      cache_creation_input_tokens: 6,
      cache_read_input_tokens: 4,
      cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 3 },
      output_tokens: 9,
      output_tokens_details: { thinking_tokens: 2 },
    };
    const delta = (index: number, content: JsonObject) => ({ type: 'content_block_delta', index, delta: content });
    const stream = streamed(parts);
    assert.deepEqual(eventsOf(stream), [
      {
        type: 'message_start',
        message: {
          id: `msg_${'A'.repeat(26)}`,
          type: 'message',
          role: 'assistant',
          model: 'public-name',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          stop_details: null,
          usage: {
            input_tokens: 77,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 0,
            cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
            output_tokens: 0,
          },
        },
      },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      delta(0, { type: 'thinking_delta', thinking: 'hmm' }),
      delta(0, { type: 'signature_delta', signature: packOpaque(sealed) }),
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      delta(1, { type: 'text_delta', text: 'Hello ' }),
      delta(1, { type: 'text_delta', text: 'you' }),
      { type: 'content_block_stop', index: 1 },
      {
        type: 'content_block_start',
        index: 2,
        content_block: { type: 'tool_use', id: 'call_1', name: 'f', input: {} },
      },
      delta(2, { type: 'input_json_delta', partial_json: '{"a":' }),
      delta(2, { type: 'input_json_delta', partial_json: '1}' }),
      { type: 'content_block_stop', index: 2 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', stop_sequence: null, stop_details: null },
        usage: counted,
      },
      { type: 'message_stop' },
    ]);
    for (const event of stream.split('\n\n').slice(0, -1)) {
      const [, name, type] = /^event: (\w+)\ndata: \{"type":"(\w+)"/.exec(event) ?? [];
      assert.equal(name, type, event);
    }
  });

  it('starts with the usage that the vendor has reported so far', () => {
    const parts: readonly Part[] = [
      { type: 'start', id: '', model: '' },
      { type: 'usage', usage: usage() },
      { type: 'blockStart', key: 0, block: text('') },
      { type: 'delta', key: 0, text: 'Hi' },
    ];
    const [start] = eventsOf(streamed(parts)) as readonly Body[];
    assert.deepEqual([start.message.usage.input_tokens, start.message.usage.cache_read_input_tokens], [10, 4]);
    assert.equal(streamed(parts.slice(0, 3)), '');
  });

  it('has one open block at a time, in whatever order pieces arrive', () => {
    const call = (key: number): Part => ({
      type: 'blockStart',
      key,
      block: { type: 'toolCall', id: `call_${key}`, name: 'f', kind: 'function', input: '' },
    });
    const stream = streamed([
      { type: 'start', id: '', model: '' },
      { type: 'blockStart', key: 0, block: text('') },
      call(1),
      call(2),
      { type: 'delta', key: 2, text: '{"b"' },
      { type: 'delta', key: 1, text: '{"a"' },
      { type: 'delta', key: 0, text: 'late' },
      { type: 'blockEnd', key: 2 },
      { type: 'delta', key: 1, text: ':1}' },
      { type: 'blockEnd', key: 1 },
      { type: 'finish', finish: { reason: 'tool_calls' } },
    ]);
    const shape = (eventsOf(stream) as readonly Body[])
      .filter(({ type }) => type.startsWith('content_block'))
      .map(
        ({ index, delta, content_block: block }) =>
          `${index} ${block?.id ?? block?.type ?? delta?.partial_json ?? delta?.text ?? 'stop'}`,
      );
    assert.deepEqual(shape, [
      '0 call_1',
      '0 {"a"',
      '0 :1}',
      '0 stop',
      '1 call_2',
      '1 {"b"',
      '1 stop',
      '2 text',
      '2 late',
      '2 stop',
    ]);
  });

  it('has an empty text if there is nothing else', async () => {
    const message = await folded(streamed(partsOf(replyOf([]))));
    assert.deepEqual(message.content, [{ type: 'text', text: '' }]);
    assert.deepEqual((asked.encodeReply(replyOf([]), answering()) as Body).content, message.content);
  });

  it('has the text of a refusal', () => {
    const refused = replyOf([{ type: 'refusal', text: 'I will not.' }]);
    const { content, stop_reason: reason, stop_details: details }: Body = asked.encodeReply(refused, answering());
    assert.deepEqual(content, [{ type: 'text', text: 'I will not.' }]);
    assert.deepEqual([reason, details], ['refusal', { type: 'refusal', category: null, explanation: 'I will not.' }]);
    const filtered: Body = asked.encodeReply(replyOf([], 'content_filter'), answering());
    assert.deepEqual(
      [filtered.stop_reason, filtered.stop_details],
      ['refusal', { type: 'refusal', category: null, explanation: null }],
    );
  });

  it('has a stop reason of the style, and that for tool use only with calls', () => {
    const call: Block = { type: 'toolCall', id: 'a', name: 'f', kind: 'function', input: '' };
    const reasonOf = (blocks: readonly Block[], reason: Reply['finish']['reason']): unknown =>
      asked.encodeReply(replyOf(blocks, reason), answering()).stop_reason;
    assert.equal(reasonOf([call], 'stop'), 'tool_use');
    assert.equal(reasonOf([call], 'length'), 'max_tokens');
    assert.equal(reasonOf([], 'tool_calls'), 'end_turn');
    assert.equal(reasonOf([], 'context_full'), 'model_context_window_exceeded');
    assert.equal(reasonOf([], 'pause'), 'pause_turn');
    const cut = { ...replyOf([]), finish: { reason: 'stop_sequence', stopSequence: 'END' } } as const;
    const { stop_reason: reason, stop_sequence: sequence } = asked.encodeReply(cut, answering());
    assert.deepEqual([reason, sequence], ['stop_sequence', 'END']);
  });

  it('ends with an error event of the style if it breaks off', () => {
    const writer = asked.createStreamEncoder(answering());
    const event = writer.fail(new GatewayError(502, 'upstream_error', 'Gone.'), 'req-1');
    assert.ok(event.startsWith('event: error\ndata: {') && event.endsWith('}\n\n'), event);
    assert.equal((eventsOf(event)[0] as Body).error.type, 'api_error');
  });

  it('is the same streamed and whole, for the official clients', async () => {
    await fc.assert(
      fc.asyncProperty(
        sensible.chain((made) => streamsOf(made, false).map((parts) => ({ made, parts }))),
        async ({ made, parts }) => {
          const whole = JSON.parse(JSON.stringify(asked.encodeReply(made, answering()))) as Body;
          for (const kind of [MessageStream, OlderStream]) {
            const message = await folded(streamed(parts), kind);
            assert.deepEqual(plain(message), plain(whole));
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it('is accepted by the official client whichever blocks are open', async () => {
    await fc.assert(
      fc.asyncProperty(
        sensible.chain((made) => streamsOf(made, true).map((parts) => ({ made, parts }))),
        async ({ made, parts }) => {
          const whole: Body = asked.encodeReply(made, answering());
          const message = await folded(streamed(parts));
          assert.equal(message.stop_reason, whole.stop_reason);
          assert.equal(message.content.length, whole.content.length);
        },
      ),
      { numRuns: 150 },
    );
  });
});

/** Answers whose calls have arguments that clients can read, and no seals: those come before a call where it is whole, else behind it. */
const sensible = replies.map((reply) => ({
  ...reply,
  blocks: reply.blocks.map((block): Block => {
    if (block.type !== 'toolCall') return block;
    const { opaque: _, ...call } = block;
    return call.kind === 'custom' || isObjectText(call.input) ? call : { ...call, input: '{"a":"é😀"}' };
  }),
}));

function isObjectText(input: string): boolean {
  try {
    return input === '' || isObject(JSON.parse(input));
  } catch {
    return false;
  }
}

/** Without what a stream cannot know yet when it begins. */
function plain({ usage: { service_tier: _, cache_creation: __, ...counted }, ...rest }: Body): Body {
  return { ...rest, usage: counted };
}

if (recordingsAvailable)
  describe('recorded messages between two styles', () => {
    it('lose nothing in a round trip', async () => {
      for (const { id, request, response, sse } of recordings(['anthropic-messages'])) {
        asked.decodeRequest(request, collectWarnings(asked.names));
        const body = (sse === undefined ? response : await folded(sse)) as Body;
        if (body.content === undefined) continue;
        const reply =
          sse === undefined
            ? spoken.decodeReply(body, FROM, collectWarnings({}))
            : foldParts(read(eventsOf(sse) as readonly JsonObject[]));
        assert.ok(reply !== undefined, id);
        const told = [asked.encodeReply(reply, answering()), await folded(streamed(partsOf(reply)))] as Body[];
        for (const answer of told) {
          assert.deepEqual(saidIn(answer), saidIn(body), id);
          assert.equal(answer.stop_reason, body.stop_reason, id);
          assert.deepEqual(countsOf(answer.usage), countsOf(body.usage), id);
        }
        for (const block of told[0].content) {
          if (block.type !== 'thinking') continue;
          assert.equal(unpackOpaque(block.signature)?.channel, FROM.channel, id);
        }
      }
    });
  });

function saidIn({ content }: Body): readonly Body[] {
  return content
    .filter(({ type, text: words }: Body) => type === 'tool_use' || (type === 'text' && words !== ''))
    .map(({ type, text: words, id, name, input }: Body) => (type === 'text' ? words : [id, name, input]));
}

function countsOf({ input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens }: Body): Body {
  return [input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens];
}
