/** The replies of the demo model: deterministic, and derived from the request. */
import type { Json, JsonObject } from '../../../core/plugin.ts';
import { numberOf, objectOf, sampleOf } from './sample.ts';
import { countTokens, firstTokens } from './tokens.ts';

/** A tool call. */
export interface ToolCall {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  /** JSON text of a function's arguments, or a custom tool's input. */
  readonly input: string;
}

/** A reply before it is encoded as a body or as events. */
export interface Completion {
  /** Undefined if the reply has tool calls. */
  readonly text: string | undefined;
  readonly calls: readonly ToolCall[];
  readonly finish: 'stop' | 'length' | 'tool_calls';
  /** The number of choices, which are all the same. */
  readonly choices: number;
  readonly inputTokens: number;
  /** All choices together. */
  readonly outputTokens: number;
}

/** Longer texts are quoted in part. */
const QUOTED = 200;
/** The tokens of an image, an audio clip or a file. */
const TOKENS_PER_MEDIUM = 85;
const TOKENS_PER_MESSAGE = 4;

/** The reply to a chat request. */
export function complete(request: JsonObject): Completion {
  const budget = numberOf(request.max_completion_tokens) ?? numberOf(request.max_tokens) ?? Number.POSITIVE_INFINITY;
  const choices = numberOf(request.n) ?? 1;
  const inputTokens = tokensOf(request);
  const requested = callsFor(request);
  if (requested.length > 0) {
    const { calls, used, isCut } = withinBudget(requested, budget);
    return {
      text: undefined,
      calls,
      finish: isCut ? 'length' : 'tool_calls',
      choices,
      inputTokens,
      outputTokens: used * choices,
    };
  }
  const fullText = untilStop(structured(request) ?? textFor(request), request.stop);
  const text = firstTokens(fullText, budget);
  return {
    text,
    calls: [],
    finish: text.length < fullText.length ? 'length' : 'stop',
    choices,
    inputTokens,
    outputTokens: countTokens(text) * choices,
  };
}

function textFor(request: JsonObject): string {
  const messages = objectsOf(request.messages);
  const results = messages.slice(messages.findLastIndex((message) => message.role !== 'tool') + 1);
  if (results.length > 0) {
    const quotes = results.map((result) => quote(textOf(result.content)));
    return `The tool answered ${quotes.join(' and ')}. That is all a demonstration can make of it.`;
  }
  const last = messages.findLast((message) => message.role === 'user');
  const userText = textOf(last?.content);
  return [
    `This is the demo model "${String(request.model)}". It answers by itself, without a vendor or a network.`,
    ...(userText === '' ? [] : [`You said: ${quote(userText)}.`]),
    ...acknowledged(last?.content),
    'Give a channel of a real vendor its key in gateway.yaml, and a real model answers here.',
  ].join(' ');
}

/** A description of the parts of the message that are not text. */
function acknowledged(content: Json | undefined): readonly string[] {
  const parts = objectsOf(content);
  return (
    [
      ['image_url', 'image'],
      ['input_audio', 'audio clip'],
      ['file', 'file'],
    ] as const
  ).flatMap(([type, word]) => {
    const count = parts.filter((part) => part.type === type).length;
    if (count === 0) return [];
    return [`I received ${count} ${word}${count === 1 ? '' : 's'}, but a demonstration cannot look inside.`];
  });
}

/** The reply if the client requests JSON. */
function structured(request: JsonObject): string | undefined {
  const format = objectOf(request.response_format);
  if (format.type === 'json_schema') {
    const { schema } = objectOf(format.json_schema);
    return JSON.stringify(sampleOf(schema ?? {}));
  }
  if (format.type === 'json_object') {
    return JSON.stringify({ model: String(request.model), answer: textFor(request) });
  }
  return undefined;
}

function untilStop(text: string, stop: Json | undefined): string {
  const ends = [stop].flat().flatMap((sequence) => {
    const at = typeof sequence === 'string' && sequence !== '' ? text.indexOf(sequence) : -1;
    return at === -1 ? [] : [at];
  });
  return text.slice(0, Math.min(text.length, ...ends));
}

interface Tool {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  readonly parameters: Json;
}

/** The tools to call: those named in the last message, or those that `tool_choice` requires. */
function callsFor(request: JsonObject): readonly ToolCall[] {
  const { offered, mode } = choiceOf(request);
  if (mode === 'none') return [];
  const last = objectsOf(request.messages).at(-1);
  const text = last?.role === 'user' ? textOf(last.content) : '';
  const isNamed = namedIn(text);
  const named = offered.slice(0, MAX_READ.tools).filter((tool) => isNamed(tool.name));
  const chosen = named.length === 0 && mode === 'required' ? offered.slice(0, 1) : named;
  return chosen
    .slice(0, request.parallel_tool_calls === false ? 1 : chosen.length)
    .map(({ kind, name, parameters }) => ({
      kind,
      name,
      input: kind === 'function' ? JSON.stringify(sampleOf(parameters)) : quote(text),
    }));
}

/** The tools that may be called, and whether one must be. */
function choiceOf(request: JsonObject): { readonly offered: readonly Tool[]; readonly mode: Json } {
  const tools = objectsOf(request.tools).flatMap(toolOf);
  const choice = request.tool_choice ?? 'auto';
  if (typeof choice === 'string') return { offered: tools, mode: choice };
  const demand = objectOf(choice);
  if (demand.type === 'allowed_tools') {
    const allowed = objectOf(demand.allowed_tools);
    const names = new Set(
      objectsOf(allowed.tools)
        .flatMap(toolOf)
        .map((tool) => tool.name),
    );
    return { offered: tools.filter((tool) => names.has(tool.name)), mode: allowed.mode ?? 'auto' };
  }
  const [requested] = toolOf(demand);
  return { offered: tools.filter((tool) => tool.name === requested?.name), mode: 'required' };
}

function toolOf(tool: JsonObject): readonly Tool[] {
  const kind = tool.type === 'custom' ? 'custom' : 'function';
  const { name, parameters } = objectOf(tool[kind]);
  return typeof name === 'string' && name !== '' ? [{ kind, name, parameters: parameters ?? {} }] : [];
}

/** The demo model reads only this much of a message, of a name and of a list of tools. */
const MAX_READ = { text: 4_096, name: 64, tools: 128 };

/** Whether a text contains a tool's name as words; `get weather` matches `get_weather`. */
function namedIn(text: string): (name: string) => boolean {
  const userText = ` ${wordsIn(text.slice(0, MAX_READ.text))} `;
  return (name) => {
    const words = wordsIn(name.slice(0, MAX_READ.name));
    return words !== '' && userText.includes(` ${words} `);
  };
}

/** Replaces everything except letters and digits by single spaces. */
function wordsIn(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** Tool calls within this number of tokens; the last one may be truncated. */
function withinBudget(
  requested: readonly ToolCall[],
  budget: number,
): { readonly calls: readonly ToolCall[]; readonly used: number; readonly isCut: boolean } {
  const calls: ToolCall[] = [];
  let used = 0;
  for (const call of requested) {
    const name = countTokens(call.name);
    if (used + name >= budget) return { calls, used, isCut: true };
    const input = firstTokens(call.input, budget - used - name);
    calls.push({ ...call, input });
    used += name + countTokens(input);
    if (input.length < call.input.length) return { calls, used, isCut: true };
  }
  return { calls, used, isCut: false };
}

/** The input tokens of a request. */
function tokensOf(request: JsonObject): number {
  const tools = objectsOf(request.tools);
  let total = tools.length === 0 ? 0 : countTokens(JSON.stringify(tools));
  for (const message of objectsOf(request.messages)) {
    const parts = objectsOf(message.content);
    const media = parts.filter((part) => part.type !== 'text').length;
    const calls = objectsOf(message.tool_calls);
    total += TOKENS_PER_MESSAGE + countTokens(textOf(message.content)) + media * TOKENS_PER_MEDIUM;
    if (calls.length > 0) total += countTokens(JSON.stringify(calls));
  }
  return total;
}

function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return objectsOf(content)
    .map((part) => part.text)
    .filter((text) => typeof text === 'string')
    .join(' ');
}

function quote(text: string): string {
  const characters = Array.from(text.slice(0, QUOTED * 2));
  return characters.length > QUOTED ? `"${characters.slice(0, QUOTED).join('')}…"` : `"${text}"`;
}

function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
}
