/** Encodes a whole request. */

import type { Json, JsonObject, Target, Warnings } from '../../../core/plugin.ts';
import {
  type Conversation,
  describedSchema,
  dropSummaryLength,
  type Effort,
  given,
  isObject,
  type Labels,
  leaveExtras,
  type Output,
  type Quirks,
  type Reasoning,
} from '../../../core/translation/index.ts';
import { encodeContents } from './contents.ts';
import { usualModalities } from './quirks.ts';
import { encodeTools } from './tools.ts';

/** The vendor's levels. */
const LEVELS: Readonly<Record<Effort, string>> = {
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'XHIGH',
  max: 'HIGH',
};

/** The budget that leaves the choice to the model. */
const DYNAMIC = -1;

/** `thinkingConfig`; undefined if there are no options. Core has chosen what the model supports. */
function thinkingConfig(reasoning: Reasoning | undefined, input: Quirks['reasoning']['input']): JsonObject | undefined {
  if (reasoning === undefined || input === 'none') return undefined;
  const { mode, effort, budget, summary } = reasoning;
  const isOff = mode === 'off';
  const level = isOff ? LEVELS.minimal : effort && LEVELS[effort];
  return {
    ...(!isOff && summary !== 'none' && { includeThoughts: true }),
    ...(input === 'budget'
      ? { thinkingBudget: isOff ? 0 : (budget ?? DYNAMIC) }
      : level !== undefined && { thinkingLevel: level }),
  };
}

/**
 * The vendor refuses unknown members, so only members that are encoded here are sent. Core has removed what the model
 * does not support (by its quirks).
 */
export function encodeRequest(conversation: Conversation, to: Target, warnings: Warnings): JsonObject {
  const generationConfig = encodeConfig(conversation, to, warnings);
  const serviceTier = encodeLabels(conversation.labels, warnings);
  leaveExtras(conversation.extras, warnings);
  return {
    ...encodeContents(conversation, to, warnings),
    ...encodeTools(conversation, to, warnings),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
    ...(serviceTier !== undefined && { serviceTier }),
  } as JsonObject;
}

function encodeConfig(conversation: Conversation, to: Target, warnings: Warnings): JsonObject {
  const { maxTokens, sampling, stop, reasoning, output, choices } = conversation;
  if (reasoning !== undefined) dropSummaryLength(reasoning, warnings);
  const { temperature, topP, topK, seed, presencePenalty, frequencyPenalty, logprobs } = sampling;
  return given<JsonObject>({
    candidateCount: choices,
    maxOutputTokens: maxTokens,
    temperature,
    topP,
    topK,
    seed,
    presencePenalty,
    frequencyPenalty,
    responseLogprobs: logprobs === undefined ? undefined : true,
    logprobs: logprobs === 0 ? undefined : logprobs,
    stopSequences: stop.length === 0 ? undefined : stop,
    ...encodeFormat(output, to, warnings),
    ...encodeVoice(output, to, warnings),
    thinkingConfig: thinkingConfig(reasoning, to.quirks.reasoning.input),
  });
}

function encodeFormat({ format, verbosity }: Output, { quirks }: Target, warnings: Warnings): JsonObject {
  if (verbosity !== undefined) warnings.drop('verbosity');
  if (format === undefined || format.type === 'text') return {};
  const { json_object: writesJson, json_schema: keepsSchemas } = quirks.output;
  const isSchema = format.type === 'schema' && keepsSchemas;
  if (!isSchema && !writesJson) {
    warnings.drop('response_format');
    return {};
  }
  const responseMimeType = 'application/json';
  if (format.type === 'json') return { responseMimeType };
  if (!isSchema) {
    warnings.change('response_format');
    return { responseMimeType };
  }
  return { responseMimeType, responseJsonSchema: describedSchema(format) };
}

/** Output modalities and voice. The vendor returns raw samples only. */
function encodeVoice({ modalities, audio }: Output, { model }: Target, warnings: Warnings): JsonObject {
  const requested = modalities?.map((modality) => modality.toUpperCase());
  const isPlain = requested === undefined || (requested.length === 1 && requested[0] === 'TEXT');
  const usual = usualModalities(model);
  // A speech-only model cannot return text as well, which clients of chat audio models request.
  const onlySpeaks = usual?.length === 1;
  if (onlySpeaks && !isPlain && requested.length > 1) warnings.change('modalities', 'hint');
  const responseModalities = isPlain || onlySpeaks ? usual : requested;
  if (responseModalities === undefined) return {};
  if (!responseModalities.includes('AUDIO')) return { responseModalities };
  if (audio?.format !== undefined && audio.format !== 'pcm16') warnings.change('audio.format');
  const voiceName = voiceOf(audio?.voice);
  return {
    responseModalities,
    ...(voiceName !== undefined && { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } } }),
  };
}

function voiceOf(voice: Json | undefined): Json | undefined {
  return isObject(voice) ? (voice.id ?? voice.name) : voice;
}

/** The service tier; other metadata of a request cannot be expressed. */
function encodeLabels(labels: Labels, warnings: Warnings): string | undefined {
  const { user, metadata, cacheKey, store, serviceTier } = labels;
  if (user !== undefined) warnings.drop('user', 'hint');
  if (metadata !== undefined) warnings.drop('metadata', 'hint');
  if (cacheKey !== undefined) warnings.drop('prompt_cache_key', 'hint');
  if (store === true) warnings.drop('store', 'hint');
  switch (serviceTier) {
    case 'flex':
    case 'priority':
      return serviceTier;
    case undefined:
    case 'auto':
    case 'default':
    case 'standard_only':
      return undefined;
    default:
      warnings.drop('service_tier');
      return undefined;
  }
}
