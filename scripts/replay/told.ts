/**
 * What an answer says to somebody who reads it: text, reasoning, calls, why it ends, what it cost. A small reading of each style,
 * written from the formats alone and without the gateway's decoders: whatever those get wrong shows up as a difference.
 */
import type { JsonObject } from '../../core/contracts/json.ts';
import type { VendorStyle } from './folder.ts';
import { isObject, listOf, numberOf, objectOf, objectsOf, textOf } from './json.ts';

/** An answer, read. */
export interface Told {
  /** Pieces in order; where one piece ends and the next begins is the vendor's business. */
  readonly texts: readonly string[];
  readonly refusals: readonly string[];
  readonly reasoning: readonly string[];
  readonly calls: readonly ToldCall[];
  readonly stop: Stop;
  readonly stopSequence: string | undefined;
  readonly usage: ToldUsage | undefined;
}

/** A tool the client is to call. */
export interface ToldCall {
  readonly id: string;
  readonly name: string;
  readonly namespace: string | undefined;
  /** The arguments as text. */
  readonly input: string;
  /** Free text, not JSON. */
  readonly custom: boolean;
}

/** Why it ends. `unfinished`: the vendor is still at it. `other`: in a word that nobody knows. */
export type Stop =
  | 'stop'
  | 'stop_sequence'
  | 'length'
  | 'context_full'
  | 'tool_calls'
  | 'refusal'
  | 'content_filter'
  | 'pause'
  | 'error'
  | 'unfinished'
  | 'other';

/** Tokens. `input` includes both kinds of cache, `output` the reasoning. */
export interface ToldUsage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  /** Undefined where the style has no place for it. */
  readonly reasoning: number | undefined;
}

/** Reads a whole answer. */
export function read(style: VendorStyle, body: JsonObject): Told {
  const told = READERS[style](body);
  // Whoever calls tools stops to hear what they say, whatever word the vendor has for it.
  return told.stop === 'stop' && told.calls.length > 0 ? { ...told, stop: 'tool_calls' } : told;
}

const READERS: Readonly<Record<VendorStyle, (body: JsonObject) => Told>> = {
  chat: readChat,
  responses: readResponses,
  messages: readMessages,
  gemini: readGemini,
};

const filled = (texts: readonly string[]): readonly string[] => texts.filter((text) => text !== '');

function readChat(body: JsonObject): Told {
  const [choice = {}] = objectsOf(body.choices);
  const message = objectOf(choice.message);
  const parts = objectsOf(message.content);
  const thoughts = parts.filter(({ type }) => type === 'thinking').flatMap(({ thinking }) => objectsOf(thinking));
  const texts = [
    textOf(message.content),
    ...parts.filter(({ type }) => type === 'text').map(({ text }) => textOf(text)),
  ];
  const refusals = filled([textOf(message.refusal), ...parts.map(({ refusal }) => textOf(refusal))]);
  const thought = textOf(message.reasoning_content) || textOf(message.reasoning);
  const details = objectsOf(message.reasoning_details).map(({ text, summary }) => textOf(text) || textOf(summary));
  const calls = objectsOf(message.tool_calls).map(({ id, type, function: called, custom }): ToldCall => {
    const isCustom = type === 'custom' || (type === undefined && isObject(custom));
    const { name, arguments: json, input } = objectOf(isCustom ? custom : called);
    return {
      id: textOf(id),
      name: textOf(name),
      namespace: undefined,
      // Some servers send the object itself.
      input: isObject(json) ? JSON.stringify(json) : textOf(isCustom ? input : json),
      custom: isCustom,
    };
  });
  const old = objectOf(message.function_call);
  if (calls.length === 0 && textOf(old.name) !== '') {
    calls.push({ id: '', name: textOf(old.name), namespace: undefined, input: textOf(old.arguments), custom: false });
  }
  const reason = textOf(choice.finish_reason);
  const said = textOf(choice.stop_reason);
  const word = CHAT_STOPS[reason] ?? 'other';
  const stop = word === 'stop' && said !== '' ? 'stop_sequence' : word;
  return {
    texts: filled(texts),
    refusals,
    reasoning: filled(thought === '' ? [...thoughts.map(({ text }) => textOf(text)), ...details] : [thought]),
    calls,
    stop: refusals.length > 0 && (stop === 'stop' || stop === 'content_filter') ? 'refusal' : stop,
    stopSequence: stop === 'stop_sequence' ? said : undefined,
    usage: isObject(body.usage) ? chatUsage(body.usage) : undefined,
  };
}

const CHAT_STOPS: Readonly<Record<string, Stop>> = {
  '': 'stop',
  stop: 'stop',
  eos: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
  error: 'error',
};

function chatUsage(usage: JsonObject): ToldUsage {
  const input = objectOf(usage.prompt_tokens_details);
  const prompt = numberOf(usage.prompt_tokens);
  const completion = numberOf(usage.completion_tokens);
  const reasoning = numberOf(objectOf(usage.completion_tokens_details).reasoning_tokens);
  // Some vendors count reasoning beside the completion; their total gives them away.
  const beside = reasoning > 0 && numberOf(usage.total_tokens) === prompt + completion + reasoning;
  const cacheRead = numberOf(
    input.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens ?? usage.num_cached_tokens,
  );
  return {
    input: prompt,
    cacheRead,
    // One vendor counts the same tokens as read and as written.
    cacheWrite: Math.min(numberOf(input.cache_write_tokens), prompt - cacheRead),
    output: completion + (beside ? reasoning : 0),
    reasoning,
  };
}

function readResponses(body: JsonObject): Told {
  const items = objectsOf(body.output);
  const contents = items.filter(({ type }) => type === 'message').flatMap(({ content }) => objectsOf(content));
  const refusals = filled(contents.map(({ refusal }) => textOf(refusal)));
  const calls = items.flatMap(({ type, call_id: id, name, namespace, arguments: json, input }): ToldCall[] => {
    const custom = type === 'custom_tool_call';
    if (type !== 'function_call' && !custom) return [];
    const group = typeof namespace === 'string' ? namespace : undefined;
    return [{ id: textOf(id), name: textOf(name), namespace: group, input: textOf(custom ? input : json), custom }];
  });
  return {
    texts: filled(contents.map(({ text }) => textOf(text))),
    refusals,
    reasoning: filled(
      items
        .filter(({ type }) => type === 'reasoning')
        .flatMap(({ summary, content }) =>
          [...objectsOf(summary), ...objectsOf(content)].map(({ text }) => textOf(text)),
        ),
    ),
    calls,
    stop: responsesStop(body, refusals.length > 0),
    stopSequence: undefined,
    usage: isObject(body.usage) ? responsesUsage(body.usage) : undefined,
  };
}

function responsesStop({ status, incomplete_details: details }: JsonObject, refused: boolean): Stop {
  if (status === 'failed' || status === 'cancelled') return 'error';
  if (status === 'queued' || status === 'in_progress') return 'unfinished';
  if (status !== 'incomplete') return refused ? 'refusal' : 'stop';
  const { reason } = objectOf(details);
  return reason === 'content_filter' ? 'content_filter' : 'length';
}

function responsesUsage(usage: JsonObject): ToldUsage {
  const input = objectOf(usage.input_tokens_details);
  const all = numberOf(usage.input_tokens);
  const cacheRead = numberOf(input.cached_tokens);
  return {
    input: all,
    cacheRead,
    cacheWrite: Math.min(numberOf(input.cache_write_tokens), all - cacheRead),
    output: numberOf(usage.output_tokens),
    reasoning: numberOf(objectOf(usage.output_tokens_details).reasoning_tokens),
  };
}

function readMessages(body: JsonObject): Told {
  const blocks = objectsOf(body.content);
  const of = (type: string): readonly JsonObject[] => blocks.filter((block) => block.type === type);
  return {
    texts: filled(of('text').map(({ text }) => textOf(text))),
    refusals: filled([textOf(objectOf(body.stop_details).explanation)]),
    reasoning: filled(of('thinking').map(({ thinking }) => textOf(thinking))),
    calls: of('tool_use').map(({ id, name, input }) => ({
      id: textOf(id),
      name: textOf(name),
      namespace: undefined,
      input: typeof input === 'string' ? input : JSON.stringify(input ?? {}),
      custom: false,
    })),
    stop: MESSAGES_STOPS[textOf(body.stop_reason)] ?? 'other',
    stopSequence: typeof body.stop_sequence === 'string' ? body.stop_sequence : undefined,
    usage: isObject(body.usage) ? messagesUsage(body.usage) : undefined,
  };
}

const MESSAGES_STOPS: Readonly<Record<string, Stop>> = {
  '': 'stop',
  end_turn: 'stop',
  compaction: 'pause',
  max_tokens: 'length',
  stop_sequence: 'stop_sequence',
  tool_use: 'tool_calls',
  pause_turn: 'pause',
  refusal: 'refusal',
  model_context_window_exceeded: 'context_full',
};

/** What was made of the conversation before the answer, to shorten it, is billed beside the answer's own counts. */
function messagesUsage(usage: JsonObject): ToldUsage {
  const shortened = objectsOf(usage.iterations).filter(({ type }) => type === 'compaction');
  const all = [usage, ...shortened].map(countsOf);
  const sum = (name: 'input' | 'cacheRead' | 'cacheWrite' | 'output'): number =>
    all.reduce((total, each) => total + each[name], 0);
  return {
    input: sum('input'),
    cacheRead: sum('cacheRead'),
    cacheWrite: sum('cacheWrite'),
    output: sum('output'),
    reasoning: all[0]?.reasoning,
  };
}

function countsOf(usage: JsonObject) {
  const cacheRead = numberOf(usage.cache_read_input_tokens);
  const cacheWrite = numberOf(usage.cache_creation_input_tokens);
  const { thinking_tokens: thinking } = objectOf(usage.output_tokens_details);
  return {
    input: numberOf(usage.input_tokens) + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: numberOf(usage.output_tokens),
    reasoning: typeof thinking === 'number' ? thinking : undefined,
  };
}

function readGemini(body: JsonObject): Told {
  const [candidate = {}] = objectsOf(body.candidates);
  const parts = objectsOf(objectOf(candidate.content).parts);
  const texts = (thought: boolean): readonly string[] =>
    filled(parts.filter((part) => (part.thought === true) === thought).map(({ text }) => textOf(text)));
  const calls = parts.flatMap(({ functionCall: call }): ToldCall[] => {
    if (!isObject(call)) return [];
    const input = JSON.stringify(call.args ?? {}) ?? '';
    return [{ id: textOf(call.id), name: textOf(call.name), namespace: undefined, input, custom: false }];
  });
  const blocked = listOf(body.candidates).length === 0 && objectOf(body.promptFeedback).blockReason !== undefined;
  const usage = objectOf(body.usageMetadata);
  return {
    texts: texts(false),
    refusals: [],
    reasoning: texts(true),
    calls,
    stop: blocked ? 'content_filter' : geminiStop(textOf(candidate.finishReason)),
    stopSequence: undefined,
    usage:
      usage.promptTokenCount === undefined
        ? undefined
        : {
            input: numberOf(usage.promptTokenCount) + numberOf(usage.toolUsePromptTokenCount),
            cacheRead: numberOf(usage.cachedContentTokenCount),
            cacheWrite: 0,
            output: numberOf(usage.candidatesTokenCount) + numberOf(usage.thoughtsTokenCount),
            reasoning: numberOf(usage.thoughtsTokenCount),
          },
  };
}

const GEMINI_FILTERS: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
]);
const GEMINI_ERRORS: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'MALFORMED_RESPONSE',
  'LANGUAGE',
  'NO_IMAGE',
  'OTHER',
]);

function geminiStop(reason: string): Stop {
  if (reason === 'STOP' || reason === '') return 'stop';
  if (reason === 'MAX_TOKENS') return 'length';
  if (reason === 'CONTINUATION') return 'pause';
  if (GEMINI_FILTERS.has(reason) || reason.startsWith('IMAGE_')) return 'content_filter';
  return GEMINI_ERRORS.has(reason) ? 'error' : 'other';
}
