/** Decodes the usage and the errors of the vendor. */

import { servedAs } from '../../../core/contracts/formats/uses.ts';
import type { Json, Usage, Uses } from '../../../core/plugin.ts';
import { isCount, member, objectsIn, textIn, type VendorError, vendorError } from '../../../core/translation/index.ts';
import { countIn } from './looking.ts';

/**
 * Decodes `usageMetadata`; undefined if it has no counts, as in the middle of some streams. Tool-use prompt tokens are
 * counted separately from the prompt, and reasoning separately from the answer; cached tokens are part of the prompt.
 */
export function usageIn(answer: Json | undefined): Usage | undefined {
  const service = servedAs({ tier: tierIn(answer) });
  const metadata = member(answer, 'usageMetadata');
  const reasoning = countIn(metadata, 'thoughtsTokenCount');
  const inputImage = modalityIn(metadata, 'promptTokensDetails', 'IMAGE');
  const outputImage = modalityIn(metadata, 'candidatesTokensDetails', 'IMAGE');
  const usage: Usage = {
    input: safeSum(countIn(metadata, 'promptTokenCount') + countIn(metadata, 'toolUsePromptTokenCount')),
    cacheRead: countIn(metadata, 'cachedContentTokenCount'),
    cacheWrite: 0,
    cacheWriteLong: 0,
    inputAudio: modalityIn(metadata, 'promptTokensDetails', 'AUDIO'),
    output: safeSum(countIn(metadata, 'candidatesTokenCount') + reasoning),
    reasoning,
    outputAudio: modalityIn(metadata, 'candidatesTokensDetails', 'AUDIO'),
    ...(inputImage > 0 && { inputImage }),
    ...(outputImage > 0 && { outputImage }),
    ...(service !== undefined && { service }),
    estimated: false,
  };
  return usage.input + usage.output > 0 || saysZero(answer, metadata) ? usage : undefined;
}

/** Whether the end of an answer reports zeros: these are counts; before the end, zeros only stand in for counts. */
function saysZero(answer: Json | undefined, metadata: Json | undefined): boolean {
  const isLast = objectsIn(answer, 'candidates').some((candidate) => textIn(candidate, 'finishReason') !== undefined);
  return isLast && ['promptTokenCount', 'candidatesTokenCount'].some((name) => isCount(member(metadata, name)));
}

/** The sum of two counts, limited to the largest safe number. */
function safeSum(sum: number): number {
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}

function modalityIn(metadata: Json | undefined, details: string, modality: 'AUDIO' | 'IMAGE'): number {
  let sum = 0;
  for (const detail of objectsIn(metadata, details)) {
    if (textIn(detail, 'modality') === modality) sum += countIn(detail, 'tokenCount');
  }
  return safeSum(sum);
}

/** The usage after one more event: a missing or zero count keeps the previous one. */
export function laterUsage(before: Usage | undefined, now: Usage): Usage {
  if (before === undefined) return now;
  const { inputImage = before.inputImage, outputImage = before.outputImage, service = before.service } = now;
  return {
    input: now.input || before.input,
    cacheRead: now.cacheRead || before.cacheRead,
    cacheWrite: 0,
    cacheWriteLong: 0,
    inputAudio: now.inputAudio || before.inputAudio,
    output: now.output || before.output,
    reasoning: now.reasoning || before.reasoning,
    outputAudio: now.outputAudio || before.outputAudio,
    ...(inputImage !== undefined && { inputImage }),
    ...(outputImage !== undefined && { outputImage }),
    ...(service !== undefined && { service }),
    estimated: false,
  };
}

/** For these families, the vendor bills a grounded prompt once, whatever the number of searches; for later ones, each search. */
const BY_PROMPT = /^(models\/)?gemini-[12][.-]/;

/** The billable searches in a reply of this model. */
export function usesIn(answer: Json | undefined, model: string): Uses | undefined {
  const queries = objectsIn(answer, 'candidates').flatMap((candidate) => {
    const list = member(member(candidate, 'groundingMetadata'), 'webSearchQueries');
    return Array.isArray(list) ? list.filter((question) => typeof question === 'string' && question !== '') : [];
  });
  const count = new Set(queries).size;
  if (count === 0) return undefined;
  return { web_search: BY_PROMPT.test(textIn(answer, 'modelVersion') ?? model) ? 1 : count };
}

/** The service tier, by its name in OpenAI's API. */
export function tierIn(answer: Json | undefined): string | undefined {
  const tier = textIn(member(answer, 'usageMetadata'), 'serviceTier')?.toLowerCase();
  return tier === 'standard' ? 'default' : tier;
}

/** The vendor's error; undefined if there is none. Its OpenAI-compatible endpoint wraps errors in an array. */
export function errorIn(value: Json | undefined): VendorError | undefined {
  const error = member(Array.isArray(value) ? (value[0] as Json | undefined) : value, 'error');
  if (error === undefined || error === false) return undefined;
  if (typeof error === 'string') return vendorError(error, undefined);
  return vendorError(member(error, 'message'), member(error, 'status') ?? member(error, 'code'));
}
