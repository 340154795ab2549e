/** What each style can show of an answer, in a form that can be compared, and answers that its laws are tested with. */

import { isObject } from '../../core/bytes/fields.ts';
import type { Block, Finish, Opaque, Part, Reply } from '../../core/contracts/formats/conversation.ts';
import type { Json } from '../../core/contracts/formats/json.ts';
import type { Usage } from '../../core/contracts/formats/usage.ts';
import { NO_TOKENS } from '../../core/translation/conversation/count-usage.ts';
import { unpackOpaque } from '../../core/translation/conversation/opaque-values.ts';
import { replies as anyReplies } from '../kit/conversations/conversations.ts';
import type fc from '../kit/fast-check.ts';
import type { Client } from './halves.ts';

type StyleName = Client['name'];

/** What a client reads of an answer. */
export interface Shown {
  readonly text: string;
  readonly refusal: string;
  readonly logprobs: readonly Json[];
  readonly thoughts: string;
  readonly calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly kind: string;
    readonly input: Json;
  }[];
  /** Everything sealed, in the order of the alphabet: it may stand beside the call or the thought that it belongs to. */
  readonly seals: readonly string[];
  readonly finish: Finish['reason'];
  readonly usage: Usage | undefined;
}

/** Any answer whose counts are possible, whose calls can be told apart, and in which every token has its text. */
export const replies: fc.Arbitrary<Reply> = anyReplies.map((reply) => ({
  ...reply,
  blocks: reply.blocks.map((block, i) => {
    if (block.type === 'foreign') {
      // Of kinds that clients of the style may send back.
      const what = block.style === 'messages' ? 'mcp_tool_use' : block.what;
      return { ...block, what, raw: { type: what } };
    }
    if (block.type === 'text' && block.text === '') return { type: 'text', text: '' };
    return block.type === 'toolCall' ? { ...block, id: `toolu_${i}` } : block;
  }),
  usage: possible(reply.usage ?? NO_TOKENS),
}));

/** Caches are part of the input, and reasoning is part of the output; whoever counts neither has told nothing. */
function possible(usage: Usage): Usage {
  const { input, cacheRead, cacheWrite, cacheWriteLong, inputAudio, output, reasoning, outputAudio } = usage;
  return {
    ...usage,
    input: 1 + input + cacheRead + cacheWrite + cacheWriteLong + inputAudio,
    output: 1 + output + reasoning + outputAudio,
  };
}

/** The answer as a client of this style can see it; both for what is written and for what is read again. */
export function shown(style: StyleName, reply: Reply): Shown {
  const { blocks } = reply;
  const calls = blocks.filter((block) => block.type === 'toolCall');
  const said = style === 'messages' ? [...texts(blocks, 'text', 'refusal')] : texts(blocks, 'text');
  const refused = texts(blocks, 'refusal');
  return {
    text: said.join(''),
    // The messages style says it in a text; the others have a place for the explanation of one, where nothing else was said.
    refusal:
      style === 'messages'
        ? ''
        : refused.join('') ||
          explanationOf(style, reply, style === 'chat' ? refused.some(Boolean) : refused.length > 0),
    logprobs:
      style === 'messages' ? [] : blocks.flatMap((block) => (block.type === 'text' ? (block.logprobs ?? []) : [])),
    // Between two thoughts there are blank lines, which a client of chat cannot tell from their own.
    thoughts: texts(blocks, 'thinking').join('').replaceAll('\n', ''),
    calls: calls.map(({ id, name, kind, input }) =>
      kind === 'custom' && style !== 'messages'
        ? { id, name, kind, input }
        : { id, name, kind: 'function', input: kind === 'custom' ? { input } : inputOf(input) },
    ),
    seals: blocks.flatMap((block) => sealOf(style, block)).sort(),
    finish: finishOf(style, reply),
    usage: reply.usage && usageOf(style, reply.usage),
  };
}

function texts(blocks: readonly Block[], ...types: readonly Block['type'][]): readonly string[] {
  return blocks.flatMap((block) => (types.includes(block.type) && 'text' in block ? [block.text] : []));
}

function explanationOf(style: StyleName, { finish }: Reply, isSaid: boolean): string {
  if (finish.reason !== 'refusal' || isSaid) return '';
  return finish.explanation ?? (style === 'responses' ? 'The model declined to answer.' : '');
}

/** Arguments are an object, though a model may write something else. */
function inputOf(input: string): Json {
  if (input.trim() === '') return {};
  try {
    const value = JSON.parse(input) as Json;
    return isObject(value) ? value : { value };
  } catch {
    return { _raw: input };
  }
}

function sealOf(style: StyleName, block: Block): readonly string[] {
  if (!('opaque' in block) || block.opaque === undefined) return [];
  const opaque = opened(block.opaque);
  if (opaque === undefined) return [];
  // Of calls, chat clients get nothing but the signature that they know.
  const isKnown = opaque.style === 'gemini' || opaque.kind === 'thought';
  if (style === 'chat' && block.type === 'toolCall') return isKnown ? [opaque.value] : [];
  return [opaque.value];
}

/** What a carrier holds. */
function opened(opaque: Opaque): Opaque | undefined {
  const held = opaque.style === 'chat' && opaque.value.startsWith('{') ? dataIn(opaque.value) : opaque.value;
  const found = unpackOpaque(held) ?? opaque;
  // An empty one stands where there was none.
  return found.value === '' ? undefined : found;
}

function dataIn(detail: string): string {
  const { data } = JSON.parse(detail) as { readonly data?: unknown };
  return typeof data === 'string' ? data : detail;
}

const FINISHES: Readonly<Record<StyleName, Readonly<Partial<Record<Finish['reason'], Finish['reason']>>>>> = {
  chat: { context_full: 'length', stop_sequence: 'stop', pause: 'stop' },
  responses: { context_full: 'length', stop_sequence: 'stop', pause: 'stop' },
  messages: { content_filter: 'refusal' },
};

/** A plain end says what was said last: a refusal, a call. */
function finishOf(style: StyleName, { blocks, finish }: Reply): Finish['reason'] {
  const reason = FINISHES[style][finish.reason] ?? finish.reason;
  const has = (type: Block['type']): boolean => blocks.some((block) => block.type === type);
  const isPlain = reason === 'stop' || reason === 'tool_calls';
  if (style === 'messages') {
    if (isPlain && has('refusal')) return 'refusal';
    return isPlain ? (has('toolCall') ? 'tool_calls' : 'stop') : reason;
  }
  if (style === 'chat') {
    const refused = blocks.some((block) => block.type === 'refusal' && block.text !== '');
    if (reason === 'refusal' && !refused) return 'content_filter';
    if (!isPlain && reason !== 'refusal') return reason;
    if (has('toolCall')) return 'tool_calls';
    return refused ? 'refusal' : 'stop';
  }
  if (!isPlain && reason !== 'refusal') return reason;
  if (has('toolCall')) return 'tool_calls';
  return reason === 'refusal' || has('refusal') ? 'refusal' : 'stop';
}

/** Counts that the style has a name for; the others are part of the two sums. */
function usageOf(style: StyleName, usage: Usage): Usage {
  const { cacheWrite, cacheWriteLong } = usage;
  const writes = style === 'messages' ? {} : { cacheWrite: cacheWrite + cacheWriteLong, cacheWriteLong: 0 };
  const audio = style === 'chat' ? {} : { inputAudio: 0, outputAudio: 0 };
  // How an answer was served, and what the vendor ran for it, is told beside its counts: by `serviceTier`, and by items.
  const { service: _, uses: _uses, ...counts } = usage;
  return { ...counts, ...writes, ...audio, estimated: false };
}

/** The stream with one text after the other, as all vendors say them; calls stay open beside them, and beside each other. */
export function speechInTurn(parts: readonly Part[]): readonly Part[] {
  const waiting: number[] = [];
  const held = new Map<number, Part[]>();
  const out: Part[] = [];
  for (const part of parts) {
    if (part.type === 'blockStart' && SPEECH.includes(part.block.type)) {
      waiting.push(part.key);
      held.set(part.key, []);
    }
    const queue = 'key' in part ? held.get(part.key) : undefined;
    if (queue === undefined) {
      out.push(part);
      continue;
    }
    queue.push(part);
    for (let key = waiting[0]; key !== undefined; key = waiting[0]) {
      const said = held.get(key)!.splice(0);
      out.push(...said);
      if (said.at(-1)?.type !== 'blockEnd') break;
      waiting.shift();
    }
  }
  return out;
}

const SPEECH: readonly Block['type'][] = ['text', 'refusal', 'thinking', 'audio', 'image', 'foreign'];
