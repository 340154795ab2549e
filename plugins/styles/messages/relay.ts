/** Passes one stream of message events on, byte for byte, and counts along. */
import {
  behindSpace,
  type EventKind,
  eventData,
  eventName,
  type GatewayError,
  isObject,
  jsonTextLength,
  parsed,
  readVendorError,
  type StreamRelay,
} from '../../../core/plugin.ts';
import { errorEvent, errorIn } from './errors.ts';
import { event as writeEvent } from './event.ts';
import { followUsage } from './usage.ts';

/** How nearly all events of a stream begin. */
const DELTA = 'event: content_block_delta';

/** A relay for one attempt. It parses the few events that frame an answer, and only counts the letters of the others. */
export function createRelay(): StreamRelay {
  const usage = followUsage();
  let textLength = 0;
  let begun = false;
  let finished = false;
  let error: StreamRelay['error'];

  function pass(): EventKind {
    begun = true;
    return 'pass';
  }

  function see(event: Buffer, out: (Buffer | string)[]): EventKind {
    if (event.toString('latin1', 0, DELTA.length) === DELTA) {
      out.push(event);
      textLength += deltaLength(event);
      return pass();
    }
    const name = eventName(event);
    const data = eventData(event);
    // What is not JSON is the client's to complain about.
    const value = data === undefined ? undefined : parsed(data);
    const type = isObject(value) && typeof value.type === 'string' ? value.type : name;
    // What says nothing of the answer goes along, and leaves the way back open.
    const aside: EventKind = begun ? 'pass' : 'hold';
    if (type === 'message_stop' && !begun) return 'hold';
    out.push(event);
    switch (type) {
      case 'message_start':
        if (isObject(value) && isObject(value.message)) usage.begin(value.message.usage);
        return aside;
      case 'content_block_start':
      case 'content_block_stop':
        return pass();
      case 'content_block_delta':
        textLength += deltaLength(event);
        return pass();
      case 'message_delta':
        if (!isObject(value)) return aside;
        usage.add(value.usage);
        finished ||= isObject(value.delta) && typeof value.delta.stop_reason === 'string';
        return pass();
      case 'message_stop':
        return 'last';
      default:
        error = errorIn(value) ?? (type === 'error' ? readVendorError(data) : undefined);
        return error === undefined ? aside : 'error';
    }
  }

  return {
    see,
    close(out) {
      if (!finished) return 'broken';
      out.push(writeEvent('message_stop'));
      return 'untidy';
    },
    fail: (failure: GatewayError, requestId: string) => errorEvent(failure, requestId),
    get usage() {
      return usage.after(textLength);
    },
    get textLength() {
      return textLength;
    },
    get error() {
      return error;
    },
  };
}

/** The members of a delta that are text, with their quotes: inside a text a quote has a backslash before it. */
const TEXTS = ['text', 'thinking', 'partial_json'].map((name) => Buffer.from(`"${name}"`));

const QUOTE = 0x22;
const COLON = 0x3a;

/** The characters of a delta, told from its bytes: a stream has too many deltas to parse each. */
function deltaLength(event: Buffer): number {
  for (const name of TEXTS) {
    const found = event.indexOf(name);
    if (found === -1) continue;
    let at = behindSpace(event, found + name.length);
    if (event[at] !== COLON) continue;
    at = behindSpace(event, at + 1);
    return event[at] === QUOTE ? jsonTextLength(event, at + 1) : 0;
  }
  return 0;
}
