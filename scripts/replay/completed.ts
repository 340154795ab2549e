/** Whether an answer of the vendor's own style is what the vendor sent, but for what the gateway promises its clients. */
import type { Json } from '../../core/contracts/json.ts';
import { eventsIn } from './event-stream.ts';
import { isObject, isSame, listOf, parsed } from './json.ts';

/** A member that is promised to clients: added where a vendor leaves it out, or has null for it. */
interface Promised {
  /** The members in which it may stand; empty: the answer, or an event, itself. */
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

/** Members of an error that are always text. */
const TEXTS: ReadonlySet<string> = new Set(['type', 'param', 'code']);

/** A refusal: every member of its error is text, and where a request has an id, it is ours. All else is as it was. */
export function isInOurForm(told: Buffer, seen: Buffer, requestId: string): boolean {
  const [theirs, ours] = [parsed(told.toString()), parsed(seen.toString())];
  if (!isObject(theirs) || !isObject(ours) || !isObject(theirs.error) || !isObject(ours.error)) return false;
  const { error: said, request_id: _, ...around } = theirs;
  const { error: own, request_id: id = requestId, ...rest } = ours;
  const names = new Set([...Object.keys(said), ...TEXTS]);
  return (
    id === requestId &&
    isSame({ type: rest.type ?? null, ...around }, { type: null, ...rest }) &&
    Object.keys(own).every((name) => names.has(name)) &&
    [...names].every((name) =>
      TEXTS.has(name) ? own[name] === asText(said[name], own[name]) : isSame(said[name], own[name]),
    )
  );
}

/** A number as text; what is missing, or is no text at all, as the gateway fills it. */
function asText(said: Json | undefined, filled: Json | undefined): Json | undefined {
  if (typeof said === 'string') return said;
  if (typeof said === 'number') return String(said);
  return typeof filled === 'string' ? filled : undefined;
}

function isUsage(data: Json | undefined): boolean {
  return isObject(data) && listOf(data.choices).length === 0 && isObject(data.usage);
}

/** Whether everything of one value is in the other, and nothing else but what is promised there. `within`: the member around `name`. */
function holds(told: Json | undefined, seen: Json | undefined, name = '', within = ''): boolean {
  if (told === undefined || told === null) {
    const promise = PROMISED.get(name);
    if (promise?.within.includes(within) && promise.is(seen)) return true;
  }
  if (isObject(told) && isObject(seen)) {
    return [...new Set([...Object.keys(told), ...Object.keys(seen)])].every((member) =>
      holds(told[member], seen[member], member, name),
    );
  }
  if (Array.isArray(told) && Array.isArray(seen)) {
    return told.length === seen.length && told.every((item, i) => holds(item as Json, seen[i] as Json, '[]', name));
  }
  return told === seen;
}
