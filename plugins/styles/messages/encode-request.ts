/** Encodes a request for a vendor of this style. */
import { createHash } from 'node:crypto';
import type { Json, JsonObject, Losses, Target } from '../../../core/plugin.ts';
import {
  type Conversation,
  describedSchema,
  dropSummaryLength,
  type Effort,
  leaveExtras,
  type Output,
  type Quirks,
  type Reasoning,
  type Sampling,
} from '../../../core/translation/index.ts';
import { chooseMarks } from './cache-marks.ts';
import { encodeTools } from './encode-tools.ts';
import { encodeTurns } from './encode-turns.ts';
import { plainSchema } from './plain-schema.ts';

/** Encodes a request. Fields that this style cannot express are dropped with a warning, or refused. */
export function encodeRequest(conversation: Conversation, to: Target, losses: Losses): JsonObject {
  const { quirks } = to;
  const { stop } = conversation;
  const marks = chooseMarks(conversation, quirks, losses);
  const { format, note } = encodeFormat(conversation.output, quirks, losses);
  const { system, messages } = encodeTurns(conversation.turns, note, { quirks, marks, losses });
  const thought = encodeThinking(conversation, quirks, losses);
  const { thinking, effort, maxTokens } = thought;
  const config = { ...(effort !== undefined && { effort }), ...(format !== undefined && { format }) };
  nameTheRest(conversation, losses);
  return {
    model: to.model,
    max_tokens: maxTokens,
    ...(system.length > 0 && { system }),
    messages,
    ...encodeTools(conversation, quirks, marks, losses),
    ...(thinking !== undefined && { thinking }),
    ...(Object.keys(config).length > 0 && { output_config: config }),
    ...encodeSampling(conversation.sampling, thought, losses),
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...encodeLabels(conversation, losses),
    ...marks.beside,
    ...(to.stream && { stream: true }),
  };
}

/** The output format: enforced if the vendor supports it, otherwise an instruction in the prompt. */
function encodeFormat(
  { format, verbosity, modalities, audio }: Output,
  quirks: Quirks,
  losses: Losses,
): { readonly format?: JsonObject; readonly note?: string } {
  for (const modality of modalities ?? []) {
    if (modality !== 'text')
      losses.refuse('modalities', `has ${modality}, which this model does not support as output.`);
  }
  if (audio !== undefined) losses.drop('audio');
  if (verbosity !== undefined) losses.drop('verbosity');
  if (format === undefined || format.type === 'text') return {};
  if (format.type === 'schema' && quirks.output.json_schema) {
    const { schema, weaker } = plainSchema(describedSchema(format));
    if (weaker) losses.change('response_format');
    return { format: { type: 'json_schema', schema } };
  }
  losses.change('response_format');
  const only = 'Answer with a single JSON object and nothing else: no prose around it, no code fence.';
  return {
    note:
      format.type === 'json'
        ? only
        : `${only} It must match this JSON Schema:\n${JSON.stringify(describedSchema(format))}`,
  };
}

/** A model that reasons accepts default sampling only. */
function encodeSampling(sampling: Sampling, { thinking }: EncodedThinking, losses: Losses): JsonObject {
  const { temperature, topP, topK, ...others } = sampling;
  for (const name of Object.keys(others)) losses.drop(NAMES[name] ?? name);
  const isBound = thinking !== undefined && thinking.type !== 'disabled';
  const fields = [
    { name: 'temperature', value: temperature, fits: temperature === 1 },
    { name: 'top_p', value: topP, fits: topP !== undefined && topP >= 0.95 },
    { name: 'top_k', value: topK, fits: false },
  ];
  const body: Record<string, Json> = {};
  for (const { name, value, fits } of fields) {
    if (value === undefined) continue;
    if (isBound && !fits) losses.drop(name);
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

function encodeLabels({ labels: { user, serviceTier } }: Conversation, losses: Losses): JsonObject {
  const tier = serviceTier === undefined ? undefined : (TIERS.get(serviceTier) ?? 'auto');
  if (serviceTier !== undefined && !TIERS.has(serviceTier)) losses.change('service_tier', 'hint');
  return {
    ...(user !== undefined && { metadata: { user_id: user.length > MAX_USER ? hashed(user) : user } }),
    ...(tier !== undefined && { service_tier: tier }),
  };
}

function hashed(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Fields that this style cannot express. */
function nameTheRest({ labels, extras }: Conversation, losses: Losses): void {
  const { metadata, cacheKey, store } = labels;
  if (metadata !== undefined) losses.drop('metadata', 'hint');
  if (cacheKey !== undefined) losses.drop('prompt_cache_key', 'hint');
  if (store === true) losses.drop('store', 'hint');
  leaveExtras(extras, losses);
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
function encodeThinking({ reasoning, maxTokens }: Conversation, quirks: Quirks, losses: Losses): EncodedThinking {
  const limit = maxTokens ?? quirks.limits.max_output ?? USUAL_OUTPUT;
  const silent: EncodedThinking = { thinking: undefined, effort: undefined, maxTokens: limit };
  if (reasoning === undefined) return silent;
  dropSummaryLength(reasoning, losses);
  const { input } = quirks.reasoning;
  if (input === 'none') {
    losses.drop('reasoning_effort', reasoning.mode === 'off' ? 'hint' : undefined);
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
  if (budget > room) losses.change('max_tokens');
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

/** Newer models omit the text unless it is requested. */
function displayOf({ summary }: Reasoning): JsonObject {
  return summary === 'none' ? {} : { display: 'summarized' };
}
