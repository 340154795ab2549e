/**
 * Reads an answer as a client would: text, reasoning, calls, finish reason, usage. A small decoder of each style,
 * written from the formats alone and independent of the gateway's decoders, so that their mistakes show up as
 * differences.
 */
import type { JsonObject } from '../../core/contracts/formats/json.ts';
import type { VendorStyle } from './folder.ts';
import { isObject, listOf, numberOf, objectOf, objectsOf, textOf } from './json.ts';

/** A decoded answer. */
export interface DecodedAnswer {
  /** Pieces in order; how they are split is up to the vendor. */
  readonly texts: readonly string[];
  readonly refusals: readonly string[];
  readonly reasoning: readonly string[];
  readonly calls: readonly DecodedCall[];
  readonly stop: Stop;
  readonly stopSequence: string | undefined;
  readonly usage: DecodedUsage | undefined;
}

/** A tool call for the client. */
export interface DecodedCall {
  readonly id: string;
  readonly name: string;
  readonly namespace: string | undefined;
  /** The arguments as text. */
  readonly input: string;
  /** Free text, not JSON. */
  readonly custom: boolean;
}

/** The finish reason. `unfinished`: still running. `other`: an unknown value. */
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
export interface DecodedUsage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  /** Undefined if the style does not report it. */
  readonly reasoning: number | undefined;
}

/** Decodes a whole answer. */
export function read(style: VendorStyle, body: JsonObject): DecodedAnswer {
  const answer = READERS[style](body);
  // An answer with tool calls waits for results, whatever the finish reason is.
  return answer.stop === 'stop' && answer.calls.length > 0 ? { ...answer, stop: 'tool_calls' } : answer;
}

const READERS: Readonly<Record<VendorStyle, (body: JsonObject) => DecodedAnswer>> = {
  chat: readChat,
  responses: readResponses,
  messages: readMessages,
  gemini: readGemini,
};

const filled = (texts: readonly string[]): readonly string[] => texts.filter((text) => text !== '');

function readChat(body: JsonObject): DecodedAnswer {
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
  const calls = objectsOf(message.tool_calls).map(({ id, type, function: called, custom }): DecodedCall => {
    const isCustom = type === 'custom' || (type === undefined && isObject(custom));
    const { name, arguments: json, input } = objectOf(isCustom ? custom : called);
    return {
      id: textOf(id),
      name: textOf(name),
      namespace: undefined,
      // Some servers send an object instead of text.
      input: isObject(json) ? JSON.stringify(json) : textOf(isCustom ? input : json),
      custom: isCustom,
    };
  });
  const old = objectOf(message.function_call);
  if (calls.length === 0 && textOf(old.name) !== '') {
    calls.push({ id: '', name: textOf(old.name), namespace: undefined, input: textOf(old.arguments), custom: false });
  }
  const reason = textOf(choice.finish_reason);
  const stopReason = textOf(choice.stop_reason);
  const word = CHAT_STOPS[reason] ?? 'other';
  const stop = word === 'stop' && stopReason !== '' ? 'stop_sequence' : word;
  return {
    texts: filled(texts),
    refusals,
    reasoning: filled(thought === '' ? [...thoughts.map(({ text }) => textOf(text)), ...details] : [thought]),
    calls,
    stop: refusals.length > 0 && (stop === 'stop' || stop === 'content_filter') ? 'refusal' : stop,
    stopSequence: stop === 'stop_sequence' ? stopReason : undefined,
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

function chatUsage(usage: JsonObject): DecodedUsage {
  const input = objectOf(usage.prompt_tokens_details);
  const prompt = numberOf(usage.prompt_tokens);
  const completion = numberOf(usage.completion_tokens);
  const reasoning = numberOf(objectOf(usage.completion_tokens_details).reasoning_tokens);
  // Some vendors count reasoning outside of the completion; their total shows it.
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

function readResponses(body: JsonObject): DecodedAnswer {
  const items = objectsOf(body.output);
  const contents = items.filter(({ type }) => type === 'message').flatMap(({ content }) => objectsOf(content));
  const refusals = filled(contents.map(({ refusal }) => textOf(refusal)));
  const calls = items.flatMap(({ type, call_id: id, name, namespace, arguments: json, input }): DecodedCall[] => {
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

function responsesUsage(usage: JsonObject): DecodedUsage {
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

function readMessages(body: JsonObject): DecodedAnswer {
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

/** Tokens of compacting the conversation are billed in addition to the answer's own. */
function messagesUsage(usage: JsonObject): DecodedUsage {
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

function readGemini(body: JsonObject): DecodedAnswer {
  const [candidate = {}] = objectsOf(body.candidates);
  const parts = objectsOf(objectOf(candidate.content).parts);
  const texts = (thought: boolean): readonly string[] =>
    filled(parts.filter((part) => (part.thought === true) === thought).map(({ text }) => textOf(text)));
  const calls = parts.flatMap(({ functionCall: call }): DecodedCall[] => {
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
