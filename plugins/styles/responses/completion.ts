/** Adds the members that some vendors of this style omit from their responses. */
import type { Call, Finishing, Json, JsonBody, JsonObject, Losses, Usage } from '../../../core/plugin.ts';
import { isObject } from '../../../core/translation/index.ts';
import { toUsage, usageObject } from './usage.ts';

/** The counts in every response: the style's own names, and those of chat completions. */
const COUNTS = ['input_tokens', 'output_tokens', 'prompt_tokens', 'completion_tokens', 'total_tokens'];

/** Properties of a response in addition to the vendor's reply. */
interface ResponseFacts {
  /** The response that it continues; the vendor does not know it if it got the whole conversation instead. */
  readonly previousId: string | undefined;
  /** The usage, for a completed response whose vendor reports none. */
  usage?(): Usage;
}

/** The members that complete a response; empty if nothing is missing. `losses` collects the warnings. */
export function completion(
  { usage: reported = null, status, previous_response_id: previous }: JsonObject,
  facts: ResponseFacts,
  losses?: Losses,
): JsonObject {
  const changes: Record<string, Json> = {};
  const usage = usageOf(reported, status === 'queued' || status === 'in_progress' ? undefined : facts.usage);
  if (usage !== undefined) {
    changes.usage = usage;
    losses?.change('usage', 'hint');
  }
  if (facts.previousId !== undefined && typeof previous !== 'string') {
    changes.previous_response_id = facts.previousId;
    losses?.change('previous_response_id', 'hint');
  }
  return changes;
}

function usageOf(reported: Json, counted: ResponseFacts['usage']): JsonObject | undefined {
  if (!isObject(reported)) return counted && usageObject(counted());
  if (COUNTS.every((name) => typeof reported[name] === 'number')) return undefined;
  const complete = usageObject(toUsage(reported) ?? counted?.());
  return { ...reported, ...Object.fromEntries(COUNTS.map((name) => [name, reported[name] ?? complete[name] ?? 0])) };
}

/** The same as changes to a response's bytes. */
export function completing(
  response: JsonBody,
  call: Call,
  losses: Losses,
  usage?: () => Usage,
): Record<string, string> {
  const previous = call.earlier?.body.get('previous_response_id');
  const changes = completion(
    Object.fromEntries(['usage', 'status', 'previous_response_id'].map((name) => [name, response.get(name) ?? null])),
    { previousId: typeof previous === 'string' ? previous : undefined, ...(usage && { usage }) },
    losses,
  );
  return Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, JSON.stringify(value)]));
}

/** A whole reply with the missing members; undefined if there are none. */
export function finishAnswer(body: JsonBody, call: Call, { usage, losses }: Finishing): Buffer | undefined {
  const changes = completing(body, call, losses, () => usage);
  return Object.keys(changes).length === 0 ? undefined : body.patched(changes);
}
