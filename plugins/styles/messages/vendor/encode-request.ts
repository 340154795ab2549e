/** Encodes a request for a vendor of this style. */
import { createHash } from 'node:crypto';
import type { Json, JsonObject, Target, Warnings } from '../../../../core/plugin.ts';
import {
  type Conversation,
  canBeClosed,
  describedSchema,
  dropSummaryLength,
  type Effort,
  leaveExtras,
  type Output,
  type Quirks,
  type Reasoning,
  type Sampling,
} from '../../../../core/translation/index.ts';
import { bound } from '../fields/binding.ts';
import { chooseMarks } from '../fields/cache-marks.ts';
import { plainSchema } from '../fields/plain-schema.ts';
import { encodeTools } from './encode-tools.ts';
import { encodeTurns } from './encode-turns.ts';

/** Encodes a request. Fields that this style cannot express are dropped with a warning, or refused. */
export function encodeRequest(conversation: Conversation, to: Target, warnings: Warnings): JsonObject {
  const { quirks } = to;
  const { stop } = conversation;
  const marks = chooseMarks(conversation, quirks, warnings);
  const { format, note } = encodeFormat(conversation.output, quirks, warnings);
  const { system, messages } = encodeTurns(conversation.turns, note, { quirks, marks, warnings });
  const thought = encodeThinking(conversation, quirks, warnings);
  const { thinking, effort, maxTokens } = thought;
  const config = { ...(effort !== undefined && { effort }), ...(format !== undefined && { format }) };
  nameTheRest(conversation, warnings);
  return {
    model: to.model,
    max_tokens: maxTokens,
    ...(system.length > 0 && { system }),
    messages,
    ...encodeTools(conversation, quirks, marks, warnings),
    ...withBinding(thinking, conversation, quirks),
    ...(Object.keys(config).length > 0 && { output_config: config }),
    ...encodeSampling(conversation.sampling, thought, warnings),
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...encodeLabels(conversation, warnings),
    ...marks.beside,
    ...(to.stream && { stream: true }),
  };
}

/** The output format: enforced if the vendor supports it, otherwise an instruction in the prompt. */
function encodeFormat(
  { format, verbosity, modalities, audio }: Output,
  quirks: Quirks,
  warnings: Warnings,
): { readonly format?: JsonObject; readonly note?: string } {
  for (const modality of modalities ?? []) {
    if (modality !== 'text')
      warnings.refuse('modalities', `has ${modality}, which this model does not support as output.`);
  }
  if (audio !== undefined) warnings.drop('audio');
  if (verbosity !== undefined) warnings.drop('verbosity');
  if (format === undefined || format.type === 'text') return {};
  const described = format.type === 'schema' ? describedSchema(format) : undefined;
  if (described !== undefined && quirks.output.json_schema && canBeClosed(described)) {
    const { schema, weaker } = plainSchema(described);
    if (weaker) warnings.change('response_format');
    return { format: { type: 'json_schema', schema } };
  }
  warnings.change('response_format');
  const only = 'Answer with a single JSON object and nothing else: no prose around it, no code fence.';
  return {
    note: described === undefined ? only : `${only} It must match this JSON Schema:\n${JSON.stringify(described)}`,
  };
}

/** A model that reasons accepts default sampling only. */
function encodeSampling(sampling: Sampling, { thinking }: EncodedThinking, warnings: Warnings): JsonObject {
  const { temperature, topP, topK, ...others } = sampling;
  for (const name of Object.keys(others)) warnings.drop(NAMES[name] ?? name);
  const isBound = thinking !== undefined && thinking.type !== 'disabled';
  const fields = [
    { name: 'temperature', value: temperature, fits: temperature === 1 },
    { name: 'top_p', value: topP, fits: topP !== undefined && topP >= 0.95 },
    { name: 'top_k', value: topK, fits: false },
  ];
  const body: Record<string, Json> = {};
  for (const { name, value, fits } of fields) {
    if (value === undefined) continue;
    if (isBound && !fits) warnings.drop(name);
    else body[name] = value;
  }
  return body;
}

const NAMES: Readonly<Record<string, string>> = {
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  logitBias: 'logit_bias',
};

const MAX_USER = 256;

/** Other styles have more service tiers; all except the default mean `auto`. */
const TIERS: ReadonlyMap<string, string> = new Map([
  ['auto', 'auto'],
  ['default', 'standard_only'],
  ['standard_only', 'standard_only'],
]);

function encodeLabels({ labels: { user, serviceTier } }: Conversation, warnings: Warnings): JsonObject {
  const tier = serviceTier === undefined ? undefined : (TIERS.get(serviceTier) ?? 'auto');
  if (serviceTier !== undefined && !TIERS.has(serviceTier)) warnings.change('service_tier', 'hint');
  return {
    ...(user !== undefined && { metadata: { user_id: user.length > MAX_USER ? hashed(user) : user } }),
    ...(tier !== undefined && { service_tier: tier }),
  };
}

function hashed(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Fields that this style cannot express. */
function nameTheRest({ labels, extras }: Conversation, warnings: Warnings): void {
  const { metadata, cacheKey, store } = labels;
  if (metadata !== undefined) warnings.drop('metadata', 'hint');
  if (cacheKey !== undefined) warnings.drop('prompt_cache_key', 'hint');
  if (store === true) warnings.drop('store', 'hint');
  leaveExtras(extras, warnings);
}

/** The members of a body about reasoning. */
interface EncodedThinking {
  /** `thinking`, if the request has any. */
  readonly thinking: JsonObject | undefined;
  /** For `output_config`. */
  readonly effort: Effort | undefined;
  /** The output limit, which this style requires. */
  readonly maxTokens: number;
}

/** The output limit if neither the client nor the model's quirks have one. */
const USUAL_OUTPUT = 4_096;

/** The reasoning budget if none is set; core sets one for every effort. */
const USUAL_BUDGET = 8_192;

/** Encodes the options; core has chosen what the model supports. */
function encodeThinking({ reasoning, maxTokens }: Conversation, quirks: Quirks, warnings: Warnings): EncodedThinking {
  const limit = maxTokens ?? quirks.limits.max_output ?? USUAL_OUTPUT;
  const silent: EncodedThinking = { thinking: undefined, effort: undefined, maxTokens: limit };
  if (reasoning === undefined) return silent;
  dropSummaryLength(reasoning, warnings);
  const { input } = quirks.reasoning;
  if (input === 'none') {
    warnings.drop('reasoning_effort', reasoning.mode === 'off' ? 'hint' : undefined);
    return silent;
  }
  if (reasoning.mode === 'off') return { ...silent, thinking: { type: 'disabled' } };
  if (input !== 'budget') {
    const thinking = input === 'adaptive' ? { thinking: { type: 'adaptive', ...displayOf(reasoning) } } : {};
    return { ...silent, ...thinking, effort: reasoning.effort === 'minimal' ? 'low' : reasoning.effort };
  }
  if (reasoning.mode === 'auto' && (reasoning.budget ?? reasoning.effort) === undefined) return silent;
  const { budget_min: least, budget_max: most } = quirks.reasoning;
  // Reasoning and answer share the limit. A default limit is raised by the budget.
  const isGuess = maxTokens === undefined && quirks.limits.max_output === undefined;
  const room = isGuess ? Number.POSITIVE_INFINITY : limit - 1;
  const budget = Math.max(least, Math.min(reasoning.budget ?? USUAL_BUDGET, most, room));
  if (budget > room) warnings.change('max_tokens');
  return {
    thinking: {
      type: 'enabled',
      budget_tokens: budget,
      // The text is sent unless the request omits it.
      ...(reasoning.summary === 'none' && { display: 'omitted' }),
    },
    effort: undefined,
    maxTokens: isGuess || budget > room ? budget + limit : limit,
  };
}

/** Reasoning is bound to everything before it, which a translation or a plugin changes; without any in the history, nothing is checked. */
function withBinding(thinking: JsonObject | undefined, { turns }: Conversation, { reasoning }: Quirks): JsonObject {
  const hasThoughts = turns.some(({ blocks }) => blocks.some(({ type }) => type === 'thinking'));
  const member = hasThoughts ? bound(thinking, reasoning) : thinking;
  return member === undefined ? {} : { thinking: member };
}

/** Newer models omit the text unless it is requested. */
function displayOf({ summary }: Reasoning): JsonObject {
  return summary === 'none' ? {} : { display: 'summarized' };
}
