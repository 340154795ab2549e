/** What the vendor says was used, and what it says went wrong. */

import { servedAs } from '../../../core/contracts/uses.ts';
import type { Json, Usage, Uses } from '../../../core/plugin.ts';
import type { VendorError } from '../../../core/translation/index.ts';
import { member, objectsIn, textIn, vendorError } from '../../../core/translation/index.ts';
import { countIn } from './looking.ts';

/**
 * The common form of `usageMetadata`; undefined where it counts nothing, as in the middle of some streams. What tools put into
 * the prompt is counted beside it, and thoughts beside the answer; cached tokens are part of the prompt.
 */
export function usageIn(answer: Json | undefined): Usage | undefined {
  const service = servedAs({ tier: tierIn(answer) });
  const told = member(answer, 'usageMetadata');
  const reasoning = countIn(told, 'thoughtsTokenCount');
  const inputImage = modalityIn(told, 'promptTokensDetails', 'IMAGE');
  const outputImage = modalityIn(told, 'candidatesTokensDetails', 'IMAGE');
  const usage: Usage = {
    input: whole(countIn(told, 'promptTokenCount') + countIn(told, 'toolUsePromptTokenCount')),
    cacheRead: countIn(told, 'cachedContentTokenCount'),
    cacheWrite: 0,
    cacheWriteLong: 0,
    inputAudio: modalityIn(told, 'promptTokensDetails', 'AUDIO'),
    output: whole(countIn(told, 'candidatesTokenCount') + reasoning),
    reasoning,
    outputAudio: modalityIn(told, 'candidatesTokensDetails', 'AUDIO'),
    ...(inputImage > 0 && { inputImage }),
    ...(outputImage > 0 && { outputImage }),
    ...(service !== undefined && { service }),
    estimated: false,
  };
  return usage.input + usage.output > 0 ? usage : undefined;
}

/** Two counts, each as large as a number can be, together are not larger. */
function whole(sum: number): number {
  return Math.min(sum, Number.MAX_SAFE_INTEGER);
}

function modalityIn(told: Json | undefined, details: string, modality: 'AUDIO' | 'IMAGE'): number {
  let sum = 0;
  for (const detail of objectsIn(told, details)) {
    if (textIn(detail, 'modality') === modality) sum += countIn(detail, 'tokenCount');
  }
  return whole(sum);
}

/** What is known of the usage after one more event: a count that is missing or zero leaves the one before it. */
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

/** Models of these families sell a prompt whose answer was searched for, whatever was asked; later ones sell each question. */
const BY_PROMPT = /^(models\/)?gemini-[12][.-]/;

/** What an answer of this model shows to have been searched. */
export function usesIn(answer: Json | undefined, model: string): Uses | undefined {
  const asked = objectsIn(answer, 'candidates').flatMap((candidate) => {
    const found = member(member(candidate, 'groundingMetadata'), 'webSearchQueries');
    return Array.isArray(found) ? found.filter((question) => typeof question === 'string' && question !== '') : [];
  });
  const count = new Set(asked).size;
  if (count === 0) return undefined;
  return { web_search: BY_PROMPT.test(textIn(answer, 'modelVersion') ?? model) ? 1 : count };
}

/** The tier it was served in, by the name that most clients know. */
export function tierIn(answer: Json | undefined): string | undefined {
  const tier = textIn(member(answer, 'usageMetadata'), 'serviceTier')?.toLowerCase();
  return tier === 'standard' ? 'default' : tier;
}

/** The vendor's error; undefined where there is none. Its compatible address wraps errors in an array. */
export function errorIn(value: Json | undefined): VendorError | undefined {
  const error = member(Array.isArray(value) ? (value[0] as Json | undefined) : value, 'error');
  if (error === undefined || error === false) return undefined;
  if (typeof error === 'string') return vendorError(error, undefined);
  return vendorError(member(error, 'message'), member(error, 'status') ?? member(error, 'code'));
}
