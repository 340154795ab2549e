/** Whole messages replies: reads them, and adds the token counts that some vendors omit. */
import type {
  AnswerFacts,
  Call,
  Finishing,
  Json,
  JsonBody,
  JsonObject,
  Usage,
  Warnings,
} from '../../../core/plugin.ts';
import { isObject } from '../../../core/translation/index.ts';
import { errorIn } from './errors.ts';
import { usesIn } from './fields/hosted.ts';
import { billed, toUsage, usageBody } from './fields/usage.ts';

/** Reads a reply; undefined if it has neither content nor an error. */
export function readAnswer(body: JsonBody): AnswerFacts | undefined {
  const error = errorIn({ type: body.get('type') ?? null, error: body.get('error') ?? null });
  const content = body.get('content');
  if (error === undefined && !Array.isArray(content)) return undefined;
  const blocks = Array.isArray(content) ? content.length : 1;
  const usage = billed(toUsage(body.get('usage')), body.get('stop_reason'), blocks);
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

const COUNTS = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens'];

/** The members to change so that a message has all counts; empty if it has them. `usage`: the counts to use if the vendor reports none. */
export function completing(reported: Json, usage: () => Usage, warnings: Warnings): Record<string, string> {
  if (isObject(reported) && COUNTS.every((name) => typeof reported[name] === 'number')) return {};
  warnings.change('usage', 'hint');
  const own = isObject(reported) ? reported : {};
  const counted: JsonObject = toUsage(reported) === undefined ? usageBody(usage()) : {};
  const counts = COUNTS.map((name) => [name, own[name] ?? counted[name] ?? 0]);
  return { usage: JSON.stringify({ ...own, ...Object.fromEntries(counts) }) };
}

/** A whole reply with all counts; undefined if it has them. */
export function finishAnswer(body: JsonBody, _call: Call, { usage, warnings }: Finishing): Buffer | undefined {
  const changes = completing(body.get('usage') ?? null, () => usage, warnings);
  return changes.usage === undefined ? undefined : body.patched(changes);
}
