/**
 * Whether an answer in the vendor's own style is what the vendor sent, except for what the gateway guarantees to
 * clients.
 */
import type { Json } from '../../core/contracts/formats/json.ts';
import { eventsIn } from './event-stream.ts';
import { isObject, isSame, listOf, parsed } from './json.ts';

/** A guaranteed member: added if a vendor omits it or sends null. */
interface Promised {
  /** The members that may contain it; empty: the answer or event itself. */
  readonly within: readonly string[];
  is(value: Json | undefined): boolean;
}

const ANSWERS = ['', 'response', 'message'];
const isCount = (value: Json | undefined): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
/** Counts, and details of them. */
const isUsageObject = (value: Json | undefined): boolean =>
  isObject(value) &&
  Object.keys(value).length > 0 &&
  Object.values(value).every((inner) => (isObject(inner) ? isUsageObject(inner) : isCount(inner)));

const PROMISED: ReadonlyMap<string, Promised> = new Map([
  ['usage', { within: ANSWERS, is: isUsageObject }],
  ['previous_response_id', { within: ['', 'response'], is: (value) => /^resp_/.test(String(value)) }],
  ...[
    ...['prompt_tokens', 'completion_tokens', 'total_tokens', 'input_tokens', 'output_tokens'],
    ...['cache_creation_input_tokens', 'cache_read_input_tokens'],
  ].map((name): [string, Promised] => [name, { within: ['usage'], is: isCount }]),
]);

/** Whole answers and streams alike. */
export function isCompleted(sent: Buffer, seen: Buffer, isStream: boolean): boolean {
  if (!isStream) return holds(parsed(sent.toString()), parsed(seen.toString()));
  const sentEvents = eventsIn(sent.toString());
  const got = eventsIn(seen.toString());
  // Our own count is a separate event before the end.
  const own = got.length - sentEvents.length === 1 ? got.length - 2 : -1;
  const rest = got.filter((event, i) => i !== own || !isUsage(event.data));
  return (
    rest.length === sentEvents.length &&
    sentEvents.every(({ name, text, data }, i) => {
      const event = rest[i]!;
      return name === event.name && (data === undefined ? text === event.text : holds(data, event.data));
    })
  );
}

/** Members that every error has. */
const ALWAYS: readonly string[] = ['type', 'param', 'code'];

/** A refusal: members that its error lacks are texts, an overflow has our code, and the request id is ours. Everything else is unchanged. */
export function isInOurForm(sent: Buffer, seen: Buffer, requestId: string): boolean {
  const [theirs, ours] = [parsed(sent.toString()), parsed(seen.toString())];
  if (!isObject(theirs) || !isObject(ours) || !isObject(theirs.error) || !isObject(ours.error)) return false;
  const { error: theirError, request_id: _, ...around } = theirs;
  const { error: own, request_id: id = requestId, ...rest } = ours;
  const names = new Set([...Object.keys(theirError), ...ALWAYS]);
  return (
    id === requestId &&
    isSame({ type: rest.type ?? null, ...around }, { type: null, ...rest }) &&
    Object.keys(own).every((name) => names.has(name)) &&
    [...names].every((name) =>
      Object.hasOwn(theirError, name) && own[name] !== 'context_length_exceeded'
        ? isSame(theirError[name], own[name])
        : typeof own[name] === 'string',
    )
  );
}

function isUsage(data: Json | undefined): boolean {
  return isObject(data) && listOf(data.choices).length === 0 && isObject(data.usage);
}

/**
 * Whether one value contains everything of the other and only guaranteed additions. `within`: the member around `name`.
 */
function holds(sent: Json | undefined, seen: Json | undefined, name = '', within = ''): boolean {
  if (sent === undefined || sent === null) {
    const promise = PROMISED.get(name);
    if (promise?.within.includes(within) && promise.is(seen)) return true;
  }
  if (isObject(sent) && isObject(seen)) {
    return [...new Set([...Object.keys(sent), ...Object.keys(seen)])].every((member) =>
      holds(sent[member], seen[member], member, name),
    );
  }
  if (Array.isArray(sent) && Array.isArray(seen)) {
    return sent.length === seen.length && sent.every((item, i) => holds(item as Json, seen[i] as Json, '[]', name));
  }
  return sent === seen;
}
