/** Whole answers of this style. */
import type { AnswerFacts, JsonBody } from '../../../core/plugin.ts';
import { tokensIn } from '../../../core/translation/index.ts';
import { failureOf } from './errors.ts';
import { outputLength } from './text-length.ts';
import { usageIn } from './usage.ts';

const OPEN_ARRAY = 0x5b;

/** Of an answer without a limit: about 16,000 tokens. */
const LONG = 64_000;
/** The shortest that a token may be taken for. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * What an answer tells; undefined where it has neither output nor an error. Of one that the vendor goes on with in the
 * background nobody will tell us what it came to, so it counts for as long as it may get.
 */
export function readAnswer(body: JsonBody): AnswerFacts | undefined {
  const output = body.members.get('output');
  const error = failureOf({ error: body.get('error') ?? null, status: body.get('status') ?? null });
  if (error === undefined && (output === undefined || body.bytes[output.start] !== OPEN_ARRAY)) return undefined;
  return {
    usage: usageIn({
      usage: body.get('usage') ?? null,
      service_tier: body.get('service_tier') ?? null,
      output: body.bytes.includes('_call"') ? (body.get('output') ?? null) : [],
    }),
    // Counted only where somebody asks: most vendors say what they used.
    textLength() {
      const status = body.get('status');
      if (status === 'queued' || status === 'in_progress') {
        const limit = tokensIn(body.get('max_output_tokens'));
        return limit > 0 ? limit * CHARACTERS_PER_TOKEN : LONG;
      }
      return outputLength({ output: body.get('output') ?? null });
    },
    error,
  };
}
