/** Forwards a responses stream byte for byte and meters it. */
import type {
  EventKind,
  GatewayError,
  Json,
  JsonObject,
  RelayOptions,
  StreamRelay,
  Usage,
} from '../../../core/plugin.ts';
import {
  countedUsage,
  eventData,
  isClosed,
  isCutShort,
  isEndMark,
  isObject,
  member,
  parsed,
  patchedEvent,
  readVendorError,
} from '../../../core/translation/index.ts';
import { completing, deltaLength, longest, outputLength } from './answer.ts';
import { errorEvent, failedEvent, failureOf } from './errors.ts';
import { followUses } from './fields/hosted.ts';
import { usageIn } from './fields/usage.ts';

/** Creates a relay for one attempt. Only the start and end events of a response are parsed. */
export function createRelay({ call, warnings }: RelayOptions): StreamRelay {
  let usage: Usage | undefined;
  let textLength = 0;
  let error: ReturnType<StreamRelay['error']>;
  let answer: JsonObject | undefined;
  /** The start event. */
  let created: Buffer | undefined;
  let latest: Buffer | undefined;
  let events = 0;
  const run = followUses();

  function end(response: Json | undefined): EventKind {
    usage = usageIn(response);
    // Some servers omit the deltas.
    textLength = Math.max(textLength, outputLength(response));
    error = failureOf(response);
    if (error !== undefined) return 'error';
    // Without a response, it is unknown whether the answer is complete.
    if (!isObject(response)) return 'broken';
    answer = response;
    return 'last';
  }

  /** A background response that has begun and not ended; undefined if there is none. */
  function pending(): JsonObject | undefined {
    const response = member(created && dataOf(created), 'response');
    const goesOn = isObject(response) && response.background === true && answer === undefined && error === undefined;
    return goesOn ? response : undefined;
  }

  /** A start or end event, with the members that its vendor omitted. */
  function completed(event: Buffer, type: string | undefined): Buffer {
    const isLast = type === 'response.completed' || type === 'response.incomplete';
    const needsCompletion = isLast || (call.earlier !== undefined && BEGINNINGS.has(type ?? ''));
    if (!needsCompletion) return event;
    return patchedEvent(event, 'response', (response) => {
      const counted = () => countedUsage(call.bounds, Math.max(textLength, outputLength(response.tree())));
      return completing(response, call, warnings, isLast ? counted : undefined);
    });
  }

  function judge(event: Buffer, type: string | undefined): EventKind {
    if (type?.endsWith('.delta')) {
      textLength += deltaLength(event);
      return 'pass';
    }
    switch (type) {
      case undefined:
      case 'keepalive':
        return 'hold';
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        created ??= event;
        return 'hold';
      case 'response.output_item.done':
        run.see(member(dataOf(event), 'item'));
        return 'pass';
      case 'response.completed':
      case 'response.incomplete':
        return end(member(dataOf(event), 'response'));
      case 'response.failed': {
        const response = member(dataOf(event), 'response');
        end(response);
        error ??= readVendorError(response);
        return 'error';
      }
      case 'error': {
        // Some vendors nest the error as in replies, some spread it over the event.
        const value = dataOf(event);
        error = readVendorError(member(value, 'error') ?? value);
        return 'error';
      }
      default:
        return 'pass';
    }
  }

  /** Data that is not JSON is not an event of this style: an error as plain text, part of an event, or meaningless. */
  function judgeText(type: string | undefined, text: string): EventKind {
    if (type !== 'error') return isCutShort(text) ? 'broken' : 'hold';
    error = readVendorError(text);
    return 'error';
  }

  /** Clients refuse a repeated sequence number. */
  function nextSequence(): number {
    const last = member(latest && dataOf(latest), 'sequence_number');
    return typeof last === 'number' ? last + 1 : events;
  }

  return {
    see(event, out) {
      const type = typeOf(event);
      const text = isClosed(event) ? undefined : plainTextIn(event);
      if (text !== undefined) return judgeText(type, text);
      if (type !== undefined) {
        latest = event;
        events++;
      }
      const complete = completed(event, type);
      const kind = judge(complete, type);
      if (kind !== 'broken') out.push(complete);
      return kind;
    },
    close: () => (answer === undefined ? 'broken' : 'whole'),
    fail(failure: GatewayError) {
      const response = member(created && dataOf(created), 'response');
      return isObject(response)
        ? failedEvent(response, failure, nextSequence())
        : errorEvent(failure, created === undefined ? 0 : nextSequence());
    },
    usage: () => usage,
    uses: () => run.uses(),
    textLength: () => textLength,
    error: () => error,
    answer: () => answer,
    pending,
    // The vendor goes on with it, and will not report its usage to this call.
    unfinished() {
      const response = pending();
      return response && countedUsage(call.bounds, Math.max(textLength, longest(response.max_output_tokens)));
    },
  };
}

const BEGINNINGS: ReadonlySet<string> = new Set(['response.created', 'response.queued', 'response.in_progress']);

const EVENT_LINE = /^event: ?([^\r\n]*)/;
/** Unambiguous: types of items do not start like this, and quotes inside texts are escaped. */
const TYPE = /"type"\s*:\s*"(response\.[a-z_.]+)"/;
/** The position of the type, unless the members are sorted by name. */
const HEAD = 512;

/** The type of an event; undefined for comments and `[DONE]`; '' if the data is not understood. */
function typeOf(event: Buffer): string | undefined {
  const head = event.toString('latin1', 0, HEAD);
  const named = EVENT_LINE.exec(head)?.[1]?.trim() ?? TYPE.exec(head)?.[1];
  if (named !== undefined && named !== '' && named !== 'message') return named;
  const data = eventData(event)?.trim();
  if (data === undefined || data === '' || data === '[DONE]') return undefined;
  const type = member(parsed(data), 'type');
  return typeof type === 'string' ? type : '';
}

/** The data of an event if it is neither JSON nor the end mark. */
function plainTextIn(event: Buffer): string | undefined {
  const data = eventData(event);
  return data === undefined || isEndMark(data) || parsed(data) !== undefined ? undefined : data;
}

function dataOf(event: Buffer): Json | undefined {
  return parsed(eventData(event) ?? '');
}
