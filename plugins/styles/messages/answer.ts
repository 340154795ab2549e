/** Whole messages replies. */
import type { AnswerFacts, Json, JsonBody } from '../../../core/plugin.ts';
import { isObject } from '../../../core/translation/index.ts';
import { errorIn } from './errors.ts';
import { usesIn } from './hosted.ts';
import { toUsage } from './usage.ts';

/** Reads a reply; undefined if it has neither content nor an error. */
export function readAnswer(body: JsonBody): AnswerFacts | undefined {
  const error = errorIn({ type: body.get('type') ?? null, error: body.get('error') ?? null });
  const content = body.get('content');
  if (error === undefined && !Array.isArray(content)) return undefined;
  const usage = toUsage(body.get('usage'));
  const seen = Array.isArray(content) ? usesIn(content) : undefined;
  return {
    usage: usage === undefined || seen === undefined ? usage : { ...usage, uses: { ...seen, ...usage.uses } },
    // Counted on demand: most vendors report usage.
    textLength: () => contentLength(content),
    error,
  };
}

/** Characters of text, reasoning and arguments in the blocks of a message. */
export function contentLength(content: Json | undefined): number {
  return Array.isArray(content) ? content.reduce((sum, block) => sum + lengthOf(block), 0) : 0;
}

function lengthOf(block: Json): number {
  if (!isObject(block)) return 0;
  const { text, thinking, input } = block;
  const lengths = [text, thinking].map((words) => (typeof words === 'string' ? Array.from(words).length : 0));
  // Empty arguments are not sent in a stream.
  const called = isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input).length : 0;
  return lengths.reduce((sum, length) => sum + length, called);
}
