/** Whole chat answers. */
import type { AnswerFacts, JsonBody } from '../../../core/plugin.ts';
import { glance } from './glance.ts';
import { errorIn, usageIn } from './usage.ts';

const OPEN_ARRAY = 0x5b;

/** What an answer tells; undefined where it has neither choices nor an error. */
export function readAnswer(body: JsonBody): AnswerFacts | undefined {
  const choices = body.members.get('choices');
  const error = errorIn({ error: body.get('error') ?? null });
  if (error === undefined && (choices === undefined || body.bytes[choices.start] !== OPEN_ARRAY)) return undefined;
  return {
    usage: usageIn({ usage: body.get('usage') ?? null, x_groq: body.get('x_groq') ?? null }),
    // Counted only where somebody asks: most vendors say what they used.
    get textLength() {
      return glance(body.bytes, 0).textLength;
    },
    error,
  };
}
