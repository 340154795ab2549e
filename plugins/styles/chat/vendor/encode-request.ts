/** Encodes the common form as a chat request. */
import { createHash } from 'node:crypto';
import type { Json, JsonObject, Target, Warnings } from '../../../../core/plugin.ts';
import {
  type Conversation,
  describedSchema,
  dropSummaryLength,
  given,
  type Labels,
  type Quirks,
  type Reasoning,
  type Sampling,
  type Turn,
} from '../../../../core/translation/index.ts';
import type { Writing } from './encode-content.ts';
import { writeMessages } from './encode-messages.ts';
import { writeTools } from './encode-tools.ts';

/** Encodes the request for this model; reports what it cannot express to `warnings`. */
export function encodeRequest(conversation: Conversation, to: Target, warnings: Warnings): JsonObject {
  const { quirks } = to;
  const writing: Writing = { quirks, warnings };
  const { format, instruction } = writeFormat(conversation, writing);
  const turns = instruction === undefined ? conversation.turns : withInstruction(conversation.turns, instruction);
  return given<JsonObject>({
    model: to.model,
    messages: writeMessages(turns, writing),
    ...(to.stream && { stream: true, ...(to.askUsage && { stream_options: { include_usage: true } }) }),
    ...(conversation.maxTokens !== undefined && { [quirks.limits.max_tokens_field]: conversation.maxTokens }),
    ...writeSampling(conversation.sampling),
    stop: writeStop(conversation.stop, quirks.stop),
    ...writeTools(conversation, writing),
    ...writeReasoning(conversation.reasoning, quirks.reasoning, warnings),
    response_format: format,
    verbosity: conversation.output.verbosity,
    ...writeModalities(conversation),
    ...writeLabels(conversation.labels, writing),
    ...writeExtras(conversation.extras, writing),
  });
}

/** Nearly all servers accept a list; for the others, a single text can still be encoded. */
function writeStop(stop: readonly string[], { array_only: onlyLists }: Quirks['stop']): Json | undefined {
  return stop.length === 1 && !onlyLists ? stop[0] : stop.length === 0 ? undefined : stop;
}

function writeSampling(sampling: Sampling): { readonly [name: string]: Json | undefined } {
  const { logprobs } = sampling;
  return {
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: sampling.topK,
    seed: sampling.seed,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    logit_bias: sampling.logitBias,
    ...(logprobs !== undefined && { logprobs: true, ...(logprobs > 0 && { top_logprobs: logprobs }) }),
  };
}

/** The output format: as a field, or as an instruction if the vendor has no such field. */
function writeFormat(
  { output }: Conversation,
  { quirks, warnings }: Writing,
): { readonly format?: Json; readonly instruction?: string } {
  const { format } = output;
  const { json_object: knowsJson, json_schema: knowsSchema } = quirks.output;
  if (format === undefined || format.type === 'text') return {};
  const plain = knowsJson ? { format: { type: 'json_object' } } : {};
  if (format.type === 'json') {
    if (knowsJson) return plain;
    warnings.change('response_format');
    return { instruction: 'Answer with one JSON object and nothing else.' };
  }
  const { name = 'structured_output', description, schema, strict } = format;
  if (knowsSchema) {
    const described = {
      name,
      ...(description !== undefined && { description }),
      schema,
      ...(strict !== undefined && { strict }),
    };
    return { format: { type: 'json_schema', json_schema: described } };
  }
  warnings.change('response_format');
  const instruction = `Answer with JSON that is valid against this JSON Schema, and nothing else:\n${JSON.stringify(describedSchema(format))}`;
  return { ...plain, instruction };
}

/** Adds the instruction to the last of the leading system messages. */
function withInstruction(turns: readonly Turn[], text: string): readonly Turn[] {
  const [first, ...others] = turns;
  const block = { type: 'text', text } as const;
  if (first === undefined || first.role === 'user' || first.role === 'assistant') {
    return [{ role: 'system', blocks: [block] }, ...turns];
  }
  return [{ ...first, blocks: [...first.blocks, block] }, ...others];
}

function writeModalities({ output }: Conversation): JsonObject {
  const { modalities, audio } = output;
  if (modalities === undefined || modalities.every((each) => each === 'text')) return {};
  return { modalities, ...(audio !== undefined && { audio: audio as JsonObject }) };
}

function writeLabels(labels: Labels, writing: Writing): JsonObject {
  const { user, metadata, cacheKey, serviceTier, store } = labels;
  // `store` is a request to the gateway, not to a vendor that the client does not know.
  if (store !== undefined) writing.warnings.drop('store', 'hint');
  const isKeyed = cacheKey !== undefined && takesCacheKey(writing.quirks);
  if (cacheKey !== undefined && !isKeyed) writing.warnings.drop('prompt_cache_key', 'hint');
  return {
    ...(user !== undefined && { user: shortened(user, writing.warnings) }),
    ...(metadata !== undefined && Object.keys(metadata).length > 0 && { metadata }),
    // `auto` is the default of every vendor that has the field; others refuse it.
    ...(serviceTier !== undefined &&
      serviceTier !== 'auto' && { service_tier: serviceTier === 'standard_only' ? 'default' : serviceTier }),
    ...(isKeyed && { prompt_cache_key: cacheKey }),
  };
}

/** Vendors accept 64 characters; some clients send a whole object. */
function shortened(user: string, warnings: Warnings): string {
  if (user.length <= 64) return user;
  warnings.change('user', 'hint');
  return createHash('sha256').update(user).digest('hex');
}

function takesCacheKey({ cache: { hint } }: Quirks): boolean {
  return hint === 'key' || hint === 'breakpoint';
}

/** Maps fields of other styles that have an equivalent in chat. The rest cannot be expressed. */
function writeExtras(extras: JsonObject, { quirks, warnings }: Writing): JsonObject {
  const isKeyed = takesCacheKey(quirks);
  const taken: Record<string, Json> = {};
  for (const [name, value] of Object.entries(extras)) {
    // A vendor without this option must refuse the request instead of answering unmoderated.
    if (name === 'moderation' || (isKeyed && SHARED_CACHE_FIELDS.has(name))) taken[name] = value;
    else warnings.leave(name, HINTS.has(name) || SHARED_CACHE_FIELDS.has(name) ? 'hint' : undefined);
  }
  return taken;
}

/** Fields of other styles that do not change the answer. */
const HINTS: ReadonlySet<string> = new Set(['client_metadata', 'context_management', 'include']);

const SHARED_CACHE_FIELDS: ReadonlySet<string> = new Set(['prompt_cache_retention', 'prompt_cache_options']);

/** The members of the request. Core has chosen an effort or a budget that the model supports. */
function writeReasoning(
  reasoning: Reasoning | undefined,
  { input, levels }: Quirks['reasoning'],
  warnings: Warnings,
): JsonObject {
  if (reasoning === undefined) return {};
  dropSummaryLength(reasoning, warnings);
  const { mode, effort, budget } = reasoning;
  const isOff = mode === 'off';
  switch (input) {
    case 'none':
      warnings.drop('reasoning_effort', isOff ? 'hint' : undefined);
      return {};
    case 'budget':
      return isOff
        ? { enable_thinking: false }
        : { enable_thinking: true, ...(budget !== undefined && { thinking_budget: budget }) };
    case 'adaptive':
      return isOff
        ? { thinking: { type: 'disabled' } }
        : { thinking: { type: 'enabled' }, ...(effort !== undefined && { reasoning_effort: effort }) };
    default:
      if (isOff) return levels.includes('none') ? { reasoning_effort: 'none' } : {};
      return effort === undefined ? {} : { reasoning_effort: effort };
  }
}
