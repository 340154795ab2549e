/** Decodes a request of the responses style. */

import type { Json, JsonObject, Warnings } from '../../../../core/plugin.ts';
import type {
  Conversation,
  Effort,
  Fields,
  Labels,
  Output,
  Reasoning,
  Sampling,
  Turn,
} from '../../../../core/translation/index.ts';
import { given, readFields } from '../../../../core/translation/index.ts';
import { readLabels } from '../../request-fields.ts';
import { asksSummary } from '../compaction.ts';
import { dropRest, required } from '../fields/content.ts';
import { readToolChoice, readTools } from '../fields/tools.ts';
import { declaredTools, readInput } from './decode-input-items.ts';

/** Options that only a vendor with stored responses supports. */
const KEPT: Readonly<Record<string, string>> = {
  previous_response_id: 'refers to a response that is not stored here.',
  conversation: 'refers to a conversation that is not stored here. Send its items as `input`.',
  prompt: 'refers to a prompt that is not stored here. Send its text as `instructions`.',
};

/** Decodes the body; refuses invalid fields, and options that only a vendor of this style supports. */
export function decodeRequest(body: JsonObject, warnings: Warnings): Conversation {
  const request = readFields(body, '');
  for (const [name, why] of Object.entries(KEPT)) if (request.get(name) !== undefined) warnings.bar(name, why);
  if (request.flag('background') === true) {
    warnings.bar('background', 'is not supported by the vendor of this model. Omit it.');
  }
  for (const name of ['model', 'stream']) request.get(name);
  // Padding of the stream, and metadata of the client.
  for (const name of ['stream_options', 'client_metadata']) {
    if (request.get(name) !== undefined) warnings.drop(name, 'hint');
  }

  const input = request.get('input');
  const items = typeof input === 'string' ? [] : request.each('input');
  const tools = readTools([...request.each('tools'), ...declaredTools(items)], warnings);
  const turns = readInput(items, tools, warnings);
  const conversation: Conversation = {
    turns: [...instructions(request), ...(typeof input === 'string' ? [userTurn(input)] : turns)],
    tools,
    toolChoice: readToolChoice(request, tools, warnings),
    parallelToolCalls: request.flag('parallel_tool_calls'),
    maxTokens: request.number('max_output_tokens'),
    sampling: readSampling(request, warnings),
    stop: [],
    reasoning: readReasoning(request.fields('reasoning'), warnings),
    output: readOutput(request.fields('text'), warnings),
    labels: labelsOf(request, warnings),
    truncation: oneOf(request, 'truncation', ['auto', 'disabled']),
    extras: request.rest(),
  };
  // The tools stay, because vendors' caches begin with them.
  return asksSummary(body)
    ? { ...conversation, toolChoice: tools.length > 0 ? { mode: 'none' } : undefined, output: {} }
    : conversation;
}

function instructions(request: Fields): readonly Turn[] {
  const text = request.text('instructions');
  return text === undefined || text === '' ? [] : [{ role: 'system', blocks: [{ type: 'text', text }] }];
}

function userTurn(text: string): Turn {
  return { role: 'user', blocks: [{ type: 'text', text }] };
}

/** Log probabilities are requested in `include`; the number of alternatives is a field. */
function readSampling(request: Fields, warnings: Warnings): Sampling {
  const alternatives = request.number('top_logprobs');
  let logprobs = alternatives !== undefined && alternatives > 0 ? alternatives : undefined;
  for (const included of request.list('include') ?? []) {
    if (included === 'message.output_text.logprobs') logprobs ??= 0;
    // The other values are about results of vendor-side tools.
    else if (included !== 'reasoning.encrypted_content') warnings.drop(`include.${String(included)}`, 'hint');
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

function readReasoning(reasoning: Fields | undefined, warnings: Warnings): Reasoning | undefined {
  if (reasoning === undefined) return undefined;
  const effort = oneOf(reasoning, 'effort', EFFORTS);
  // The second is the former name of the first.
  const summary = oneOf(reasoning, 'summary', SUMMARIES) ?? oneOf(reasoning, 'generate_summary', SUMMARIES);
  // Which reasoning the model sees again is up to the vendor's rules.
  if (reasoning.get('context') !== undefined) warnings.drop('reasoning.context', 'hint');
  for (const [name, value] of Object.entries(reasoning.rest())) {
    if (value !== 'standard') warnings.drop(`reasoning.${name}`);
  }
  if (effort === undefined && summary === undefined) return undefined;
  // Without a requested summary, there is none.
  const shared = { summary: summary ?? 'none' } as const;
  if (effort === 'none') return { mode: 'off', ...shared };
  return effort === undefined
    ? { mode: 'auto', ...shared }
    : { mode: 'on', effort: effort satisfies Effort, ...shared };
}

function readOutput(text: Fields | undefined, warnings: Warnings): Output {
  if (text === undefined) return {};
  const format = text.fields('format');
  const output = given<Output>({ format: format && readFormat(format, warnings), verbosity: text.text('verbosity') });
  for (const name of Object.keys(text.rest())) warnings.drop(`text.${name}`);
  return output;
}

function readFormat(format: Fields, warnings: Warnings): NonNullable<Output['format']> {
  const shape = readShape(format);
  dropRest(format, 'response_format', warnings);
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

function labelsOf(request: Fields, warnings: Warnings): Labels {
  // The gateway itself keeps responses.
  const { store: _, ...labels } = readLabels(request, warnings);
  return labels;
}

function oneOf<const T extends string>(fields: Fields, name: string, words: readonly T[]): T | undefined {
  const member: Json | undefined = fields.get(name);
  if (member === undefined || words.includes(member as T)) return member as T | undefined;
  return fields.wrong(name, `must be one of ${words.map((word) => `"${word}"`).join(', ')}`);
}
