/** Whether an answer of the vendor's own style is what the vendor sent, but for what the gateway adds where it is missing. */
import type { Json } from '../../core/contracts/call.ts';
import { eventsIn } from './event-stream.ts';
import { isObject, listOf, parsed } from './json.ts';

/** Members that are promised to clients: added where a vendor leaves them out, and text where it has null. */
const PROMISED: ReadonlySet<string> = new Set([
  ...['usage', 'prompt_tokens', 'completion_tokens', 'total_tokens', 'input_tokens', 'output_tokens'],
  ...['cache_creation_input_tokens', 'cache_read_input_tokens', 'previous_response_id'],
  ...['type', 'param', 'code', 'request_id'],
]);

/** Whole answers and streams alike. */
export function isCompleted(told: Buffer, seen: Buffer, isStream: boolean): boolean {
  if (!isStream) return holds(parsed(told.toString()), parsed(seen.toString()));
  const sent = eventsIn(told.toString());
  const got = eventsIn(seen.toString());
  // Our own count stands in an event of its own before the end.
  const own = got.length - sent.length === 1 ? got.length - 2 : -1;
  const rest = got.filter((event, i) => i !== own || !isUsage(event.data));
  return (
    rest.length === sent.length &&
    sent.every(({ name, text, data }, i) => {
      const event = rest[i]!;
      return name === event.name && (data === undefined ? text === event.text : holds(data, event.data));
    })
  );
}

function isUsage(data: Json | undefined): boolean {
  return isObject(data) && listOf(data.choices).length === 0 && isObject(data.usage);
}

/** Whether everything of one value is in the other, and nothing else but what is promised. */
function holds(told: Json | undefined, seen: Json | undefined, name = ''): boolean {
  if (PROMISED.has(name) && (told === undefined || told === null)) return true;
  if (isObject(told) && isObject(seen)) {
    return [...new Set([...Object.keys(told), ...Object.keys(seen)])].every((member) =>
      holds(told[member], seen[member], member),
    );
  }
  if (Array.isArray(told) && Array.isArray(seen)) {
    return told.length === seen.length && told.every((item, i) => holds(item as Json, seen[i] as Json));
  }
  return told === seen;
}
