/** Conversations, answers and streams in the common form, as fast-check makes them up: legal by their types, not always sensible. */

import type {
  Block,
  Conversation,
  Finish,
  Opaque,
  Part,
  Reply,
  Source,
  Tool,
  ToolChoice,
  Turn,
} from '../../../core/contracts/formats/conversation.ts';
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import type { SomeQuirks } from '../../../core/contracts/formats/quirks.ts';
import type { Target } from '../../../core/contracts/formats/style.ts';
import type { Usage } from '../../../core/contracts/formats/usage.ts';
import { adapt } from '../../../core/translation/adapt/adapt.ts';
import { partsOf } from '../../../core/translation/conversation/fold.ts';
import { layQuirks } from '../../../core/translation/quirks/quirks.ts';
import { collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import fc from '../fast-check.ts';

/** A conversation of these turns that asks for nothing else than `more`. */
export function conversationOf(turns: readonly Turn[], more: Partial<Conversation> = {}): Conversation {
  return {
    turns,
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
    ...more,
  };
}

/** An answer of these blocks. */
export function replyOf(blocks: readonly Block[], reason: Finish['reason'] = 'stop'): Reply {
  return { id: 'answer_1', model: 'their-model', blocks, finish: { reason }, usage: undefined };
}

/** A turn that says one thing. */
export function said(role: Turn['role'], text: string): Turn {
  return { role, blocks: [{ type: 'text', text }] };
}

/** The channel `here`, with a model that takes what all do, but for these quirks. */
export function targetOf(quirks: SomeQuirks = {}): Target {
  return { channel: 'here', model: 'their-model', stream: true, askUsage: false, quirks: layQuirks(quirks) };
}

/** What a model with these quirks gets of a conversation, and what is lost on the way there. */
export function adapted(conversation: Conversation, quirks: SomeQuirks = {}, style = 'chat') {
  const warnings = collectWarnings({});
  const { conversation: result, restore } = adapt(conversation, style, targetOf(quirks), warnings);
  return { ...result, restore, warnings: warnings.all, serious: warnings.serious };
}

/** The styles that opaque values and foreign blocks come from. */
export const STYLES = ['chat', 'responses', 'messages', 'gemini'] as const;

/** A record; members other than `needed` may be missing. Its prototype is the usual one, as that of parsed JSON. */
function some<T extends object, K extends keyof T>(members: { [N in keyof T]: fc.Arbitrary<T[N]> }, ...needed: K[]) {
  return fc.record(members, { requiredKeys: needed, noNullPrototype: true });
}
/** A record of which nothing is missing. */
function all<T extends object>(members: { [N in keyof T]: fc.Arbitrary<T[N]> }): fc.Arbitrary<T> {
  return fc.record(members, { noNullPrototype: true }) as fc.Arbitrary<T>;
}
/** The model without its type saying what is missing: fast-check writes no `undefined` into members that it leaves out. */
function exact<T>(made: fc.Arbitrary<unknown>): fc.Arbitrary<T> {
  return made as fc.Arbitrary<T>;
}
const just = fc.constant;

const texts = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('', ' ', '\n', 'a', 'Hello', 'STOP', 'one two', 'é€😀', '{"input":"x"}') },
  fc.string({ unit: 'binary', maxLength: 12 }),
);
/** Few, so that they meet. */
const ids = fc.constantFrom('call_1', 'call_2', 'call_3', 'functions.Bash:0', '', 'x'.repeat(80), 'ü');
const names = fc.constantFrom(
  'read',
  'write',
  'shell',
  'a.b c',
  'long_'.repeat(20),
  'ns__read',
  'web_search',
  'é',
  '1',
);
const namespaces = fc.constantFrom('ns', 'mcp.server');
const small: fc.Arbitrary<JsonObject> = fc.dictionary(
  fc.constantFrom('a', 'b', 'type'),
  fc.constantFrom<Json>(null, 1, 'x', [], { c: true }),
  { noNullPrototype: true, maxKeys: 3 },
);
const inputs = fc.oneof(
  fc.constantFrom(
    '',
    '{}',
    '{"input":"ls"}',
    '{"patch":"p"}',
    '{"cmd":"x"}',
    '"bare"',
    '[1]',
    '{"a":',
    '{"a":1,"b":2}',
  ),
  texts,
);
const caches = exact<{ ttlSeconds?: number }>(some({ ttlSeconds: fc.constantFrom(300, 3_600) }));
const opaques = exact<Opaque>(
  some(
    {
      style: fc.constantFrom(...STYLES),
      channel: fc.constantFrom('here', 'there'),
      kind: fc.constantFrom('signature' as const, 'redacted' as const, 'encrypted' as const, 'thought' as const),
      value: fc.constantFrom('AbC+/=', 'sealed', ''),
      id: ids,
    },
    'style',
    'kind',
    'value',
  ),
);
const citations = exact<NonNullable<(Block & { type: 'text' })['citations']>[number]>(
  some(
    {
      url: just('https://example.com/'),
      title: texts,
      start: fc.nat(5),
      end: fc.nat(12),
      style: fc.constantFrom(...STYLES),
      raw: small,
    },
    'style',
    'raw',
  ),
);
const logprobs: fc.Arbitrary<Json> = all({ token: fc.string({ maxLength: 3 }), logprob: just(-0.5) });
const sources = fc.oneof<fc.Arbitrary<Source>[]>(
  all({
    kind: just('base64' as const),
    mediaType: fc.constantFrom('image/png', 'image/bmp', 'application/pdf'),
    data: just('AAAA'),
  }),
  exact<Source>(
    some(
      { kind: just('url' as const), url: just('https://example.com/x'), mediaType: just('image/png') },
      'kind',
      'url',
    ),
  ),
  all({ kind: just('text' as const), text: texts }),
);
const uploads: fc.Arbitrary<Source> = all({ kind: just('id' as const), id: just('file-1') });

const textBlocks = exact<Block & { type: 'text' }>(
  some(
    {
      type: just('text' as const),
      text: texts,
      citations: fc.array(citations, { maxLength: 2 }),
      logprobs: fc.array(logprobs, { maxLength: 4 }),
      cache: caches,
    },
    'type',
    'text',
  ),
);
const refusals: fc.Arbitrary<Block> = all({ type: just('refusal' as const), text: texts });
const images = exact<Block>(
  some({ type: just('image' as const), source: sources, detail: just('low'), cache: caches }, 'type', 'source'),
);
const uploadedImages: fc.Arbitrary<Block> = all({ type: just('image' as const), source: uploads });
const audios = exact<Block>(
  some(
    {
      type: just('audio' as const),
      data: fc.constantFrom('', 'AAAA', 'AAAABBBB'),
      format: just('wav'),
      transcript: texts,
      id: ids,
      expiresAt: fc.nat(),
    },
    'type',
    'data',
    'format',
  ),
);
const files = exact<Block>(
  some(
    { type: just('file' as const), source: sources, name: just('a.pdf'), title: texts, citable: fc.boolean() },
    'type',
    'source',
  ),
);
const thoughts = exact<Block>(some({ type: just('thinking' as const), text: texts, opaque: opaques }, 'type', 'text'));
const foreign: fc.Arbitrary<Block> = all({
  type: just('foreign' as const),
  style: fc.constantFrom(...STYLES),
  what: fc.constantFrom('web_search_call', 'mcp_call'),
  raw: small,
});
const kinds = fc.constantFrom('function' as const, 'custom' as const);
const calls = exact<Block & { type: 'toolCall' }>(
  some(
    {
      type: just('toolCall' as const),
      id: ids,
      name: names,
      namespace: namespaces,
      kind: kinds,
      input: inputs,
      opaque: opaques,
    },
    'type',
    'id',
    'name',
    'kind',
    'input',
  ),
);
const results = exact<Block>(
  some(
    {
      type: just('toolResult' as const),
      id: ids,
      kind: kinds,
      content: fc.array(fc.oneof<fc.Arbitrary<Block>[]>(textBlocks, images, files), { maxLength: 3 }),
      isError: fc.boolean(),
      cache: caches,
    },
    'type',
    'id',
    'kind',
    'content',
  ),
);

function turnsOf(role: Turn['role'], blocks: fc.Arbitrary<Block>): fc.Arbitrary<Turn> {
  return exact<Turn>(
    some(
      { role: just(role), blocks: fc.array(blocks, { maxLength: 4 }), name: fc.constantFrom('ann', 'bob') },
      'role',
      'blocks',
    ),
  );
}
const turns = fc.oneof<fc.WeightedArbitrary<Turn>[]>(
  { weight: 1, arbitrary: turnsOf('system', textBlocks) },
  { weight: 1, arbitrary: turnsOf('developer', textBlocks) },
  {
    weight: 5,
    arbitrary: turnsOf('user', fc.oneof<fc.Arbitrary<Block>[]>(textBlocks, results, results, images, files)),
  },
  { weight: 1, arbitrary: turnsOf('user', fc.oneof<fc.Arbitrary<Block>[]>(textBlocks, audios, uploadedImages)) },
  {
    weight: 5,
    arbitrary: turnsOf(
      'assistant',
      fc.oneof<fc.Arbitrary<Block>[]>(textBlocks, calls, calls, thoughts, refusals, foreign, audios),
    ),
  },
);

const tools = fc.oneof<fc.Arbitrary<Tool>[]>(
  exact<Tool>(
    some(
      {
        type: just('function' as const),
        name: names,
        namespace: namespaces,
        description: texts,
        schema: small,
        strict: fc.boolean(),
        extras: small,
      },
      'type',
      'name',
    ),
  ),
  exact<Tool>(
    some(
      {
        type: just('custom' as const),
        name: names,
        namespace: namespaces,
        description: texts,
        format: fc.constantFrom({ type: 'text' }, { type: 'grammar', syntax: 'lark', definition: 'start: "x"' }),
      },
      'type',
      'name',
    ),
  ),
  all({
    type: just('hosted' as const),
    name: fc.constantFrom('web_search', 'code_interpreter'),
    style: fc.constantFrom(...STYLES),
    raw: small,
  }),
);
const choices = exact<ToolChoice>(
  some(
    {
      mode: fc.constantFrom('auto' as const, 'none' as const, 'required' as const),
      only: fc.array(names, { maxLength: 3 }),
    },
    'mode',
  ),
);
const perhaps = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });

/** Any conversation. Names and ids are few, so that they are told twice, and some are such that vendors refuse them. */
export const conversations: fc.Arbitrary<Conversation> = all({
  turns: fc.array(turns, { maxLength: 10 }),
  tools: fc.array(tools, { maxLength: 5 }),
  toolChoice: perhaps(choices),
  parallelToolCalls: perhaps(fc.boolean()),
  maxTokens: perhaps(fc.constantFrom(1, 10, 1_000, 100_000)),
  sampling: exact<Conversation['sampling']>(
    some({
      temperature: fc.constantFrom(0, 1, 2),
      topP: fc.constantFrom(0.5, 1),
      topK: fc.nat(40),
      seed: fc.nat(),
      presencePenalty: fc.constantFrom(0, 1),
      frequencyPenalty: fc.constantFrom(0, 1),
      logitBias: fc.constantFrom({}, { 50: -100 }),
      logprobs: fc.nat(5),
    }),
  ),
  stop: fc.array(texts, { maxLength: 6 }),
  reasoning: perhaps(
    exact<NonNullable<Conversation['reasoning']>>(
      some(
        {
          mode: fc.constantFrom('off' as const, 'on' as const, 'auto' as const),
          effort: fc.constantFrom('minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
          budget: fc.constantFrom(1, 1_024, 5_000, 31_999, 200_000),
          summary: fc.constantFrom('none', 'auto', 'concise', 'detailed'),
        },
        'mode',
      ),
    ),
  ),
  output: exact<Conversation['output']>(
    some({
      format: fc.oneof(all({ type: fc.constantFrom('text', 'json') }), all({ type: just('schema'), schema: small })),
      verbosity: fc.constantFrom('low', 'high'),
      modalities: fc.constantFrom(['text'], ['text', 'image'], ['text', 'audio']),
      audio: just({ voice: 'alloy', format: 'wav' }),
    }),
  ),
  labels: exact<Conversation['labels']>(
    some({ user: just('someone'), store: fc.boolean(), serviceTier: just('auto') }),
  ),
  truncation: perhaps(fc.constantFrom('auto' as const, 'disabled' as const)),
  extras: small,
});

const usages: fc.Arbitrary<Usage> = all({
  input: fc.nat(1_000),
  cacheRead: fc.nat(100),
  cacheWrite: fc.nat(100),
  cacheWriteLong: fc.nat(100),
  inputAudio: fc.nat(10),
  output: fc.nat(1_000),
  reasoning: fc.nat(100),
  outputAudio: fc.nat(10),
  estimated: fc.boolean(),
});
const finishes = exact<Finish>(
  some(
    {
      reason: fc.constantFrom(
        'stop',
        'stop_sequence',
        'length',
        'context_full',
        'tool_calls',
        'refusal',
        'content_filter',
        'pause',
      ),
      stopSequence: just('END'),
      explanation: texts,
    },
    'reason',
  ),
);

/** Any answer. */
export const replies: fc.Arbitrary<Reply> = exact<Reply>(
  some(
    {
      id: fc.constantFrom('', 'msg_1'),
      model: fc.constantFrom('', 'some-model'),
      blocks: fc.array(
        fc.oneof<fc.Arbitrary<Block>[]>(
          textBlocks,
          textBlocks,
          refusals,
          thoughts,
          calls,
          calls,
          audios,
          images,
          foreign,
        ),
        {
          maxLength: 5,
        },
      ),
      finish: finishes,
      usage: perhaps(usages),
      serviceTier: just('default'),
    },
    'id',
    'model',
    'blocks',
    'finish',
    'usage',
  ),
);

/** Streams that tell an answer in a legal order: with deltas cut anywhere, and `together` with several blocks open at a time. */
export function streamsOf(reply: Reply, together: boolean): fc.Arbitrary<readonly Part[]> {
  return fc.infiniteStream(fc.nat(1_000)).map((numbers) => {
    const below = (limit: number): number => numbers.next().value % limit;
    const [start, ...rest] = partsOf(reply);
    const queues = reply.blocks.map((_, key) =>
      rest.filter((part) => 'key' in part && part.key === key).flatMap((part) => cut(part, below)),
    );
    // A usage that came early is not the last word where another one follows.
    const early: Part[] = reply.usage === undefined ? [] : [{ type: 'usage', usage: { ...reply.usage, output: 0 } }];
    const parts: Part[] = [start!, ...early];
    let begun = together ? 0 : queues.length;
    while (queues.some((queue) => queue.length > 0)) {
      if (below(8) === 0) parts.push({ type: 'ping' });
      const waiting = queues.filter((queue, i) => queue.length > 0 && i <= begun);
      const queue = waiting[together ? below(waiting.length) : 0] ?? queues[begun]!;
      // Blocks begin in their order, however they go on.
      if (together && queue === queues[begun]) begun++;
      parts.push(queue.shift()!);
    }
    return [...parts, ...rest.filter((part) => !('key' in part))];
  });
}

/** A delta in pieces. */
function cut(part: Part, below: (limit: number) => number): readonly Part[] {
  if (part.type !== 'delta' && part.type !== 'transcript') return [part];
  const { text } = part;
  const places = Array.from({ length: below(5) }, () => below(text.length + 1)).sort((a, b) => a - b);
  const pieces = [0, ...places].map((place, i) => text.slice(place, places[i] ?? text.length));
  if (part.type === 'transcript' || part.logprobs === undefined)
    return pieces.map((piece) => ({ ...part, text: piece }));
  const all = [...part.logprobs];
  return pieces.map((piece, i) => ({
    ...part,
    text: piece,
    logprobs: all.splice(0, i === places.length ? all.length : below(3)),
  }));
}
