/** Usage of image replies, as the vendor reports it, otherwise counted by the gateway. */
import type { AnswerFacts, Call, Images, Json, Usage } from '../../../core/plugin.ts';
import { countedUsage, member, NO_TOKENS, readVendorError, tokensIn } from '../../../core/translation/index.ts';

/** Tokens in a whole reply or in the last event of a stream; undefined if none are counted. */
export function reportedTokens(value: Json | undefined): Usage | undefined {
  const reported = member(value, 'usage');
  const input = tokensIn(member(reported, 'input_tokens') ?? member(reported, 'prompt_tokens'));
  const output = tokensIn(member(reported, 'output_tokens') ?? member(reported, 'completion_tokens'));
  const inputDetails = member(reported, 'input_tokens_details') ?? member(reported, 'prompt_tokens_details');
  const outputDetails = member(reported, 'output_tokens_details') ?? member(reported, 'completion_tokens_details');
  // A language model writes vector graphics; its tokens are counted in addition to those of images.
  const written = member(value, 'svg_usage');
  const drawn = member(outputDetails, 'image_tokens');
  const usage: Usage = {
    ...NO_TOKENS,
    input: input + tokensIn(member(written, 'input_tokens')),
    cacheRead: tokensIn(member(inputDetails, 'cached_tokens')),
    inputImage: tokensIn(member(inputDetails, 'image_tokens')),
    output: output + tokensIn(member(written, 'output_tokens')),
    reasoning: tokensIn(member(outputDetails, 'reasoning_tokens')) + tokensIn(member(written, 'reasoning_tokens')),
    // Without details, all output tokens are of images.
    outputImage: drawn === undefined ? output : tokensIn(drawn),
  };
  return usage.input + usage.output > 0 ? usage : undefined;
}

/** The reported usage, otherwise the gateway's count. Some vendors report zeros, which are ignored. */
export function tokensOf(reported: Usage | undefined, call: Call, count: number): Usage {
  const counted = countedImages(call, count);
  if (reported === undefined) return counted;
  const { output } = counted;
  return reported.output > 0 || count === 0 ? reported : { ...reported, output, outputImage: output, estimated: true };
}

/** The sum of both. */
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

/** Usage of this many images for vendors that do not count tokens: the maximum they can have had. */
export function countedImages({ bounds }: Call, count: number): Usage {
  const output = Math.ceil(((bounds.outputTokens ?? 0) * count) / Math.max(1, bounds.choices));
  return { ...countedUsage(bounds, 0), output, outputImage: output };
}

/** Images as the price distinguishes them: by the vendor's report, otherwise by the request. */
export function imagesOf({ bounds }: Call, count: number, answer: Json | undefined): Images {
  const reported = (name: 'size' | 'quality'): string => {
    const value = member(answer, name);
    return typeof value === 'string' && value !== 'auto' && value !== '' ? value : (bounds.images?.[name] ?? '');
  };
  return { count, size: reported('size').replace('*', 'x'), quality: reported('quality') };
}

/** Error codes of vendors for an invalid or refused prompt. */
const REFUSALS = [
  'content_policy_violation',
  'moderation_blocked',
  'no_image',
  'DataInspectionFailed',
  'InvalidParameter',
  'OutputImageSensitiveContentDetected',
  'InputTextSensitiveContentDetected',
];

/** The vendor's error; undefined if there is none. Vendors of the structured form put it at the top level. */
export function errorIn(value: Json | undefined): AnswerFacts['error'] {
  const isAtTop = typeof member(value, 'message') === 'string' && member(value, 'code') !== undefined;
  const error = member(value, 'error') || (isAtTop && value);
  if (!error) return undefined;
  const { message, code } = readVendorError(error);
  return { message, code, ...(REFUSALS.includes(code) && { refused: true }) };
}
