/** Whole replies of the responses style: reads and completes them. Counts the characters of an answer, for vendors that do not report usage. */
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
import {
  behindSpace,
  isObject,
  jsonTextLength,
  member,
  objectsIn,
  textOf,
  tokensIn,
} from '../../../core/translation/index.ts';
import { failureOf } from './errors.ts';
import { usageIn, usageObject } from './fields/usage.ts';

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
      if (status === 'queued' || status === 'in_progress') return longest(body.get('max_output_tokens'));
      return outputLength({ output: body.get('output') ?? null });
    },
    error,
  };
}

/** Characters of the longest answer with this limit of tokens. */
export function longest(limit: Json | undefined): number {
  const tokens = tokensIn(limit);
  return tokens > 0 ? tokens * CHARACTERS_PER_TOKEN : LONG;
}

/** The texts of an item that a stream would send as deltas. */
const TEXTS = ['arguments', 'input', 'code', 'diff'];

/** Text, reasoning and arguments in the output of a whole reply. */
export function outputLength(response: Json | undefined): number {
  let length = 0;
  for (const item of objectsIn(response, 'output')) {
    for (const part of [...objectsIn(item, 'content'), ...objectsIn(item, 'summary')]) {
      length += characters(textOf(member(part, 'text'))) + characters(textOf(member(part, 'refusal')));
    }
    for (const name of TEXTS) length += characters(textOf(member(item, name)));
    length += characters(textOf(member(member(item, 'operation'), 'diff')));
  }
  return length;
}

/** Counts code points, like the length of an event's bytes. */
function characters(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xdc00) count--;
  return count;
}

const DELTA = Buffer.from('"delta"');
const QUOTE = 0x22;
const COLON = 0x3a;

/** Characters of the `delta` in an event, without parsing it. The name is unambiguous, because quotes inside a text are escaped. */
export function deltaLength(event: Buffer): number {
  for (let at = event.indexOf(DELTA); at !== -1; at = event.indexOf(DELTA, at)) {
    at = behindSpace(event, at + DELTA.length);
    if (event[at] !== COLON) continue;
    at = behindSpace(event, at + 1);
    return event[at] === QUOTE ? jsonTextLength(event, at + 1) : 0;
  }
  return 0;
}

/** Properties of a response in addition to the vendor's reply. */
interface ResponseFacts {
  /** The response that it continues; the vendor does not know it if it got the whole conversation instead. */
  readonly previousId: string | undefined;
  /** The usage, for a completed response whose vendor reports none. */
  usage?(): Usage;
}

/** The members that complete a response; empty if nothing is missing. `warnings` collects the warnings. */
export function completion(
  { usage: reported = null, status, previous_response_id: previous }: JsonObject,
  facts: ResponseFacts,
  warnings?: Warnings,
): JsonObject {
  const changes: Record<string, Json> = {};
  // What the vendor reports stays as it is.
  if (!isObject(reported) && status !== 'queued' && status !== 'in_progress' && facts.usage !== undefined) {
    changes.usage = usageObject(facts.usage());
    warnings?.change('usage', 'hint');
  }
  if (facts.previousId !== undefined && typeof previous !== 'string') {
    changes.previous_response_id = facts.previousId;
    warnings?.change('previous_response_id', 'hint');
  }
  return changes;
}

/** The same as changes to a response's bytes. */
export function completing(
  response: JsonBody,
  call: Call,
  warnings: Warnings,
  usage?: () => Usage,
): Record<string, string> {
  const previous = call.earlier?.body.get('previous_response_id');
  const changes = completion(
    Object.fromEntries(['usage', 'status', 'previous_response_id'].map((name) => [name, response.get(name) ?? null])),
    { previousId: typeof previous === 'string' ? previous : undefined, ...(usage && { usage }) },
    warnings,
  );
  return Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, JSON.stringify(value)]));
}

/** A whole reply with the missing members; undefined if there are none. */
export function finishAnswer(body: JsonBody, call: Call, { usage, warnings }: Finishing): Buffer | undefined {
  const changes = completing(body, call, warnings, () => usage);
  return Object.keys(changes).length === 0 ? undefined : body.patched(changes);
}
