/** Decodes a chat request to the common form. */

import type { JsonObject, Warnings } from '../../../../core/plugin.ts';
import {
  type Conversation,
  type Effort,
  type Fields,
  given,
  type Output,
  type Reasoning,
  readFields,
  type Sampling,
} from '../../../../core/translation/index.ts';
import { readLabels } from '../../request-fields.ts';
import { dropRest } from '../fields/leftovers.ts';
import { decodeMessages } from './decode-messages.ts';
import { decodeTools } from './decode-tools.ts';
import { inChatForm } from './mixed-form.ts';

/** Refuses invalid fields by name. */
export function decodeRequest(body: JsonObject, warnings: Warnings): Conversation {
  const fields = readFields(inChatForm(body), '');
  // These are handled before the translation.
  for (const name of ['model', 'stream']) fields.get(name);
  for (const name of Object.keys(fields.object('stream_options') ?? {})) {
    if (name !== 'include_usage') warnings.drop(`stream_options.${name}`, 'hint');
  }
  const choices = fields.number('n') ?? 1;
  const limits = [fields.number('max_completion_tokens'), fields.number('max_tokens')];
  if (limits[0] !== undefined && limits[1] !== undefined && limits[0] !== limits[1])
    warnings.drop('max_tokens', 'hint');
  // Some servers expect a number here: the count of alternatives.
  if (fields.get('logprobs') !== true) {
    for (const name of ['logprobs', 'top_logprobs']) if (fields.get(name)) warnings.drop(name);
  }
  return {
    turns: decodeMessages(fields, warnings),
    ...decodeTools(fields, warnings),
    maxTokens: limits.find((limit) => limit !== undefined),
    sampling: readSampling(fields),
    stop: readStop(fields),
    reasoning: readReasoning(fields, warnings),
    output: readOutput(fields, warnings),
    labels: readLabels(fields, warnings),
    truncation: undefined,
    ...(choices > 1 && { choices }),
    // Fields that were not read above.
    extras: fields.rest(),
  };
}

/** Decodes sampling options; completions have the same, except log probabilities. */
export function readSampling(fields: Fields): Sampling {
  const wants = fields.get('logprobs') === true;
  const alternatives = fields.number('top_logprobs');
  return given<Sampling>({
    temperature: fields.number('temperature'),
    topP: fields.number('top_p'),
    topK: fields.number('top_k'),
    seed: fields.number('seed'),
    presencePenalty: fields.number('presence_penalty'),
    frequencyPenalty: fields.number('frequency_penalty'),
    logitBias: fields.object('logit_bias'),
    logprobs: wants ? (alternatives ?? 0) : undefined,
  });
}

/** One text, or a list of them. */
export function readStop(fields: Fields): readonly string[] {
  const stop = fields.get('stop');
  if (stop === undefined) return [];
  if (typeof stop === 'string') return [stop];
  const list = fields.list('stop') ?? [];
  return list.map((text) => (typeof text === 'string' ? text : fields.wrong('stop', 'must be a string or strings')));
}

function readOutput(fields: Fields, warnings: Warnings): Output {
  const shape = fields.fields('response_format');
  const format = shape && readFormat(shape, warnings);
  if (shape !== undefined) dropRest(shape, 'response_format', warnings);
  const modalities = fields.list('modalities')?.map(String);
  const audio = fields.fields('audio');
  const kind = audio?.text('format');
  const voice = audio?.get('voice');
  if (audio !== undefined) dropRest(audio, 'audio', warnings);
  return given<Output>({
    format,
    verbosity: fields.text('verbosity'),
    modalities,
    audio: audio && { ...(voice !== undefined && { voice }), ...(kind !== undefined && { format: kind }) },
  });
}

function readFormat(format: Fields, warnings: Warnings): Output['format'] {
  const type = format.text('type');
  if (type === 'text') return { type };
  if (type === 'json_object') return { type: 'json' };
  if (type !== 'json_schema') return format.wrong('type', 'must be text, json_object or json_schema');
  const schema = format.fields('json_schema') ?? format.wrong('json_schema', 'must be an object');
  const [name, description, strict] = [schema.text('name'), schema.text('description'), schema.flag('strict')];
  const shape = schema.object('schema') ?? {};
  dropRest(schema, 'response_format', warnings);
  return {
    type: 'schema',
    schema: shape,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(strict !== undefined && { strict }),
  };
}

const EFFORTS: readonly string[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] satisfies readonly Effort[];

/** Undefined if the request has none. */
function readReasoning(fields: Fields, warnings: Warnings): Reasoning | undefined {
  const effort = fields.text('reasoning_effort');
  const router = fields.fields('reasoning');
  const thinking = fields.fields('thinking');
  const enabled = fields.flag('enable_thinking');
  const budget = fields.number('thinking_budget');
  const settings = [
    effort === undefined ? undefined : ofEffort(effort, fields, 'reasoning_effort'),
    router && ofRouter(router, warnings),
    thinking && ofThinking(thinking, warnings),
    enabled === undefined ? undefined : ({ mode: enabled ? 'on' : 'off' } as const),
    budget === undefined ? undefined : ({ mode: 'on', budget } as const),
  ].filter((each) => each !== undefined);
  if (settings.length === 0) return undefined;
  const merged = Object.assign({}, ...settings) as Reasoning;
  // Chat clients show reasoning whenever it arrives.
  const summary = merged.summary ?? 'auto';
  return settings.some(({ mode }) => mode === 'off') ? { mode: 'off' } : { ...merged, summary };
}

function ofEffort(effort: string, fields: Fields, name: string): Reasoning {
  if (effort === 'none') return { mode: 'off' };
  if (effort === 'default' || effort === 'auto') return { mode: 'auto' };
  if (EFFORTS.includes(effort)) return { mode: 'on', effort: effort as Effort };
  return fields.wrong(name, `must be none, ${EFFORTS.slice(0, -1).join(', ')} or max`);
}

/** `reasoning: {effort, max_tokens, enabled, exclude}`, as model routers define it. */
function ofRouter(router: Fields, warnings: Warnings): Reasoning {
  const effort = router.text('effort');
  const budget = router.number('max_tokens');
  const enabled = router.flag('enabled');
  const exclude = router.flag('exclude');
  const summary = router.text('summary');
  dropRest(router, 'reasoning', warnings);
  const base: Reasoning = effort === undefined ? { mode: 'on' } : ofEffort(effort, router, 'effort');
  return {
    ...base,
    ...(enabled === false && { mode: 'off' as const }),
    ...(budget !== undefined && { budget }),
    ...(isSummary(summary) && { summary }),
    ...(exclude === true && { summary: 'none' as const }),
  };
}

function isSummary(word: string | undefined): word is 'auto' | 'concise' | 'detailed' {
  return word === 'auto' || word === 'concise' || word === 'detailed';
}

/** `thinking: {type}`. */
function ofThinking(thinking: Fields, warnings: Warnings): Reasoning {
  const type = thinking.text('type');
  const budget = thinking.number('budget_tokens');
  dropRest(thinking, 'thinking', warnings);
  if (type === 'disabled') return { mode: 'off' };
  const mode = type === 'auto' || type === 'adaptive' ? 'auto' : 'on';
  return { mode, ...(budget !== undefined && { budget }) };
}
