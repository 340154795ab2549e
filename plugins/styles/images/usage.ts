/** What a vendor of images says was used, and what counts where it does not say. */
import type { AnswerFacts, Call, Images, Json, Usage } from '../../../core/plugin.ts';
import { countedUsage, member, NO_TOKENS, readVendorError, tokensIn } from '../../../core/translation/index.ts';

/** Tokens as they stand in a whole answer or in the last event of a stream; undefined where none are counted. */
export function tokensTold(value: Json | undefined): Usage | undefined {
  const told = member(value, 'usage');
  const input = tokensIn(member(told, 'input_tokens') ?? member(told, 'prompt_tokens'));
  const output = tokensIn(member(told, 'output_tokens') ?? member(told, 'completion_tokens'));
  const inputDetails = member(told, 'input_tokens_details') ?? member(told, 'prompt_tokens_details');
  const outputDetails = member(told, 'output_tokens_details') ?? member(told, 'completion_tokens_details');
  // Vector graphics are written by a model of their own, and counted beside what is drawn.
  const written = member(value, 'svg_usage');
  const drawn = member(outputDetails, 'image_tokens');
  const usage: Usage = {
    ...NO_TOKENS,
    input: input + tokensIn(member(written, 'input_tokens')),
    cacheRead: tokensIn(member(inputDetails, 'cached_tokens')),
    inputImage: tokensIn(member(inputDetails, 'image_tokens')),
    output: output + tokensIn(member(written, 'output_tokens')),
    reasoning: tokensIn(member(outputDetails, 'reasoning_tokens')) + tokensIn(member(written, 'reasoning_tokens')),
    // Where nothing else is said, all that comes out are images.
    outputImage: drawn === undefined ? output : tokensIn(drawn),
  };
  return usage.input + usage.output > 0 ? usage : undefined;
}

/** What was told, or our own count where nothing was; images are never made of nothing, whatever some write in their place. */
export function tokensOf(told: Usage | undefined, call: Call, count: number): Usage {
  const counted = countedImages(call, count);
  if (told === undefined) return counted;
  const { output } = counted;
  return told.output > 0 || count === 0 ? told : { ...told, output, outputImage: output, estimated: true };
}

/** Both together. */
export function addUsage(one: Usage, other: Usage): Usage {
  return {
    ...NO_TOKENS,
    input: one.input + other.input,
    cacheRead: one.cacheRead + other.cacheRead,
    inputImage: (one.inputImage ?? 0) + (other.inputImage ?? 0),
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
    outputImage: (one.outputImage ?? 0) + (other.outputImage ?? 0),
    estimated: one.estimated || other.estimated,
  };
}

/** So many images of what a call asks for, whose vendor does not count tokens: as many as they can have had at most. */
export function countedImages({ bounds }: Call, count: number): Usage {
  const output = Math.ceil(((bounds.outputTokens ?? 0) * count) / Math.max(1, bounds.choices));
  return { ...countedUsage(bounds, 0), output, outputImage: output };
}

/** Images as the price tells them apart: what the vendor says of them, else what was asked for. */
export function imagesMade({ bounds }: Call, count: number, answer: Json | undefined): Images {
  const told = (name: 'size' | 'quality'): string => {
    const said = member(answer, name);
    return typeof said === 'string' && said !== 'auto' && said !== '' ? said : (bounds.images?.[name] ?? '');
  };
  return { count, size: told('size').replace('*', 'x'), quality: told('quality') };
}

/** What vendors call an error that is about what was asked for. */
const REFUSALS = [
  'content_policy_violation',
  'moderation_blocked',
  'no_image',
  'DataInspectionFailed',
  'InvalidParameter',
  'OutputImageSensitiveContentDetected',
  'InputTextSensitiveContentDetected',
];

/** The vendor's error; undefined where there is none. Vendors of the structured form put it at the top. */
export function errorIn(value: Json | undefined): AnswerFacts['error'] {
  const isAtTop = typeof member(value, 'message') === 'string' && member(value, 'code') !== undefined;
  const error = member(value, 'error') || (isAtTop && value);
  if (!error) return undefined;
  const { message, code } = readVendorError(error);
  return { message, code, ...(REFUSALS.includes(code) && { refused: true }) };
}
