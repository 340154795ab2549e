/** A request of this style in the common form. */

import type { Json, JsonObject, Losses } from '../../../core/plugin.ts';
import type {
  Conversation,
  Effort,
  Fields,
  Labels,
  Output,
  Reasoning,
  Sampling,
  Turn,
} from '../../../core/translation/index.ts';
import { given, readFields } from '../../../core/translation/index.ts';
import { dropRest, required } from './content.ts';
import { declaredTools, readInput } from './input-items.ts';
import { readToolChoice, readTools } from './tools.ts';

/** What only a vendor that keeps responses can do. */
const KEPT: Readonly<Record<string, string>> = {
  previous_response_id: 'names a response that is not kept here.',
  conversation: 'names a conversation that is not kept here. Send its items as `input`.',
  prompt: 'names a prompt that is not kept here. Send its text as `instructions`.',
};

/** Reads the body; refuses what nobody could understand, and what only a vendor of this style can do. */
export function decodeRequest(body: JsonObject, losses: Losses): Conversation {
  const request = readFields(body, '');
  for (const [name, why] of Object.entries(KEPT)) if (request.get(name) !== undefined) losses.bar(name, why);
  if (request.flag('background') === true) {
    losses.bar('background', 'is not possible with this model: its vendor answers at once. Leave it out.');
  }
  for (const name of ['model', 'stream']) request.get(name);
  // How a stream is padded, and what a program tells its own server.
  for (const name of ['stream_options', 'client_metadata']) {
    if (request.get(name) !== undefined) losses.drop(name, 'hint');
  }

  const input = request.get('input');
  const items = typeof input === 'string' ? [] : request.each('input');
  const tools = readTools([...request.each('tools'), ...declaredTools(items)], losses);
  const turns = readInput(items, tools, losses);
  return {
    turns: [...instructions(request), ...(typeof input === 'string' ? [userTurn(input)] : turns)],
    tools,
    toolChoice: readToolChoice(request, tools, losses),
    parallelToolCalls: request.flag('parallel_tool_calls'),
    maxTokens: request.number('max_output_tokens'),
    sampling: readSampling(request, losses),
    stop: [],
    reasoning: readReasoning(request.fields('reasoning'), losses),
    output: readOutput(request.fields('text'), losses),
    labels: readLabels(request, losses),
    truncation: oneOf(request, 'truncation', ['auto', 'disabled']),
    extras: request.rest(),
  };
}

function instructions(request: Fields): readonly Turn[] {
  const text = request.text('instructions');
  return text === undefined || text === '' ? [] : [{ role: 'system', blocks: [{ type: 'text', text }] }];
}

function userTurn(text: string): Turn {
  return { role: 'user', blocks: [{ type: 'text', text }] };
}

/** Log probabilities are asked for among the things to be included; how many alternatives stands beside. */
function readSampling(request: Fields, losses: Losses): Sampling {
  const alternatives = request.number('top_logprobs');
  let logprobs = alternatives !== undefined && alternatives > 0 ? alternatives : undefined;
  for (const wanted of request.list('include') ?? []) {
    if (wanted === 'message.output_text.logprobs') logprobs ??= 0;
    // The others are about what tools of the vendor's do.
    else if (wanted !== 'reasoning.encrypted_content') losses.drop(`include.${String(wanted)}`, 'hint');
  }
  return given<Sampling>({
    temperature: request.number('temperature'),
    topP: request.number('top_p'),
    presencePenalty: request.number('presence_penalty'),
    frequencyPenalty: request.number('frequency_penalty'),
    logprobs,
  });
}

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
const SUMMARIES = ['auto', 'concise', 'detailed'] as const;

function readReasoning(reasoning: Fields | undefined, losses: Losses): Reasoning | undefined {
  if (reasoning === undefined) return undefined;
  const effort = oneOf(reasoning, 'effort', EFFORTS);
  // The second is what the first was called before.
  const summary = oneOf(reasoning, 'summary', SUMMARIES) ?? oneOf(reasoning, 'generate_summary', SUMMARIES);
  // Which thoughts it sees again is for the vendor's own rules to say.
  if (reasoning.get('context') !== undefined) losses.drop('reasoning.context', 'hint');
  for (const [name, value] of Object.entries(reasoning.rest())) {
    if (value !== 'standard') losses.drop(`reasoning.${name}`);
  }
  if (effort === undefined && summary === undefined) return undefined;
  // Who does not ask for a summary gets none.
  const shown = { summary: summary ?? 'none' } as const;
  if (effort === 'none') return { mode: 'off', ...shown };
  return effort === undefined ? { mode: 'auto', ...shown } : { mode: 'on', effort: effort satisfies Effort, ...shown };
}

function readOutput(text: Fields | undefined, losses: Losses): Output {
  if (text === undefined) return {};
  const format = text.fields('format');
  const output = given<Output>({ format: format && readFormat(format, losses), verbosity: text.text('verbosity') });
  for (const name of Object.keys(text.rest())) losses.drop(`text.${name}`);
  return output;
}

function readFormat(format: Fields, losses: Losses): NonNullable<Output['format']> {
  const shape = readShape(format);
  dropRest(format, losses, 'response_format');
  return shape;
}

function readShape(format: Fields): NonNullable<Output['format']> {
  const type = oneOf(format, 'type', ['text', 'json_object', 'json_schema']) ?? required(format, 'type');
  if (type === 'text') return { type };
  if (type === 'json_object') return { type: 'json' };
  return given<Extract<Output['format'], { readonly type: 'schema' }>>({
    type: 'schema',
    name: format.text('name'),
    description: format.text('description'),
    schema: format.object('schema') ?? format.wrong('schema', 'must be an object'),
    strict: format.flag('strict'),
  });
}

function readLabels(request: Fields, losses: Losses): Labels {
  const person = request.text('safety_identifier');
  const user = request.text('user');
  // The gateway itself keeps what it answers.
  request.flag('store');
  if (person !== undefined && user !== undefined && person !== user) losses.drop('user', 'hint');
  return given<Labels>({
    user: person ?? user,
    metadata: request.object('metadata'),
    cacheKey: request.text('prompt_cache_key'),
    serviceTier: request.text('service_tier'),
  });
}

function oneOf<const T extends string>(fields: Fields, name: string, words: readonly T[]): T | undefined {
  const found: Json | undefined = fields.get(name);
  if (found === undefined || words.includes(found as T)) return found as T | undefined;
  return fields.wrong(name, `must be one of ${words.map((word) => `"${word}"`).join(', ')}`);
}
