/** What the demo model answers: always the same to the same request, and made of what the request says. */
import type { Json, JsonObject } from '../../../core/plugin.ts';
import { sampleOf } from './sample.ts';
import { countTokens, firstTokens } from './tokens.ts';

/** A tool the model wants called. */
export interface ToolCall {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  /** JSON text of a function's arguments, or a custom tool's input. */
  readonly input: string;
}

/** An answer, before it is written as a body or as events. */
export interface Completion {
  /** Undefined where the answer is tool calls. */
  readonly text: string | undefined;
  readonly calls: readonly ToolCall[];
  readonly finish: 'stop' | 'length' | 'tool_calls';
  /** How many times the same answer is given. */
  readonly choices: number;
  readonly inputTokens: number;
  /** All choices together. */
  readonly outputTokens: number;
}

/** Longer texts are quoted by their beginning. */
const QUOTED = 200;
/** What a picture, a clip or a file counts for. */
const TOKENS_PER_MEDIUM = 85;
const TOKENS_PER_MESSAGE = 4;

/** The answer to a chat request. */
export function complete(request: JsonObject): Completion {
  const budget = numberOf(request.max_completion_tokens) ?? numberOf(request.max_tokens) ?? Number.POSITIVE_INFINITY;
  const choices = numberOf(request.n) ?? 1;
  const inputTokens = tokensOf(request);
  const wanted = callsFor(request);
  if (wanted.length > 0) {
    const { calls, used, isCut } = withinBudget(wanted, budget);
    return {
      text: undefined,
      calls,
      finish: isCut ? 'length' : 'tool_calls',
      choices,
      inputTokens,
      outputTokens: used * choices,
    };
  }
  const whole = untilStop(structured(request) ?? textFor(request), request.stop);
  const text = firstTokens(whole, budget);
  return {
    text,
    calls: [],
    finish: text.length < whole.length ? 'length' : 'stop',
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
  const said = textOf(last?.content);
  return [
    `This is the demo model "${String(request.model)}". It answers by itself, without a vendor or a network.`,
    ...(said === '' ? [] : [`You said: ${quote(said)}.`]),
    ...acknowledged(last?.content),
    'Give a channel of a real vendor its key in gateway.yaml, and a real model answers here.',
  ].join(' ');
}

/** What parts of the message are not text, in words. */
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

/** The answer where the client wants JSON. */
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

/** The tools to call: those the last message names, or what `tool_choice` demands. */
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

/** What may be called, and whether something must be. */
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
  const [wanted] = toolOf(demand);
  return { offered: tools.filter((tool) => tool.name === wanted?.name), mode: 'required' };
}

function toolOf(tool: JsonObject): readonly Tool[] {
  const kind = tool.type === 'custom' ? 'custom' : 'function';
  const { name, parameters } = objectOf(tool[kind]);
  return typeof name === 'string' && name !== '' ? [{ kind, name, parameters: parameters ?? {} }] : [];
}

/** More than this of a message, of a name and of a list of tools the demo model does not take in. */
const MAX_READ = { text: 4_096, name: 64, tools: 128 };

/** Tells whether a text has a tool's name in it, as words of its own; `get weather` names `get_weather`. */
function namedIn(text: string): (name: string) => boolean {
  const said = ` ${wordsIn(text.slice(0, MAX_READ.text))} `;
  return (name) => {
    const words = wordsIn(name.slice(0, MAX_READ.name));
    return words !== '' && said.includes(` ${words} `);
  };
}

/** Letters and digits, all else is one space. */
function wordsIn(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** Tool calls that fit into so many tokens; the last may be cut. */
function withinBudget(
  wanted: readonly ToolCall[],
  budget: number,
): { readonly calls: readonly ToolCall[]; readonly used: number; readonly isCut: boolean } {
  const calls: ToolCall[] = [];
  let used = 0;
  for (const call of wanted) {
    const name = countTokens(call.name);
    if (used + name >= budget) return { calls, used, isCut: true };
    const input = firstTokens(call.input, budget - used - name);
    calls.push({ ...call, input });
    used += name + countTokens(input);
    if (input.length < call.input.length) return { calls, used, isCut: true };
  }
  return { calls, used, isCut: false };
}

/** The tokens of everything a request makes the model read. */
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

function numberOf(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
function objectOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
}
