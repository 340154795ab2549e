/** What a vendor of this style leaves out of its responses although every client is promised it. */
import type { Call, Finishing, Json, JsonBody, JsonObject, Losses, Usage } from '../../../core/plugin.ts';
import { isObject } from '../../../core/translation/index.ts';
import { toUsage, usageObject } from './usage.ts';

/** The counts that stand in every answer: the style's own names, and those of chat completions. */
const COUNTS = ['input_tokens', 'output_tokens', 'prompt_tokens', 'completion_tokens', 'total_tokens'];

/** What is known of a response beside what its vendor says. */
interface Known {
  /** The response that it goes on from; a vendor that was told its turns instead does not know. */
  readonly previousId: string | undefined;
  /** What was used; asked for where the vendor of a response that has ended does not say. */
  usage?(): Usage;
}

/** The members that complete a response; empty where nothing is missing. `losses`: where they are named. */
export function completion(
  { usage: told = null, status, previous_response_id: previous }: JsonObject,
  known: Known,
  losses?: Losses,
): JsonObject {
  const changes: Record<string, Json> = {};
  const usage = usageOf(told, status === 'queued' || status === 'in_progress' ? undefined : known.usage);
  if (usage !== undefined) {
    changes.usage = usage;
    losses?.change('usage', 'hint');
  }
  if (known.previousId !== undefined && typeof previous !== 'string') {
    changes.previous_response_id = known.previousId;
    losses?.change('previous_response_id', 'hint');
  }
  return changes;
}

function usageOf(told: Json, counted: Known['usage']): JsonObject | undefined {
  if (!isObject(told)) return counted && usageObject(counted());
  if (COUNTS.every((name) => typeof told[name] === 'number')) return undefined;
  const complete = usageObject(toUsage(told) ?? counted?.());
  return { ...told, ...Object.fromEntries(COUNTS.map((name) => [name, told[name] ?? complete[name] ?? 0])) };
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

/** A whole answer with what its vendor left out; undefined where that is nothing. */
export function finishAnswer(body: JsonBody, call: Call, { usage, losses }: Finishing): Buffer | undefined {
  const changes = completing(body, call, losses, () => usage);
  return Object.keys(changes).length === 0 ? undefined : body.patched(changes);
}
