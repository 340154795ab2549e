/** Whole replies of the responses style. */
import type { AnswerFacts, JsonBody } from '../../../core/plugin.ts';
import { tokensIn } from '../../../core/translation/index.ts';
import { failureOf } from './errors.ts';
import { outputLength } from './text-length.ts';
import { usageIn } from './usage.ts';

const OPEN_ARRAY = 0x5b;

/** Characters of an answer without a limit: about 16,000 tokens. */
const LONG = 64_000;
/** Minimum characters per token. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * Reads a reply; undefined if it has neither output nor an error. A background response is charged for its maximum
 * output, because its usage will not be reported to this call.
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
    // Counted on demand: most vendors report usage.
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
