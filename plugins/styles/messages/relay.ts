/** Forwards a messages stream byte for byte and meters it. */

import type { EventKind, GatewayError, Json, JsonObject, RelayOptions, StreamRelay } from '../../../core/plugin.ts';
import {
  behindSpace,
  countedUsage,
  eventData,
  eventName,
  isClosed,
  isCutShort,
  isEndMark,
  isObject,
  jsonTextLength,
  parsed,
  patchedEvent,
  readVendorError,
} from '../../../core/translation/index.ts';
import { completing, contentLength } from './answer.ts';
import { errorEvent, errorIn, event as writeEvent } from './errors.ts';
import { isWholeAtOnce } from './fields/finish.ts';
import { followUses } from './fields/hosted.ts';
import { billed, followUsage } from './fields/usage.ts';

/** The start of nearly all events of a stream. */
const DELTA = 'event: content_block_delta';

/** Creates a relay for one attempt. It parses the few events that frame an answer, and only counts characters in the others. */
export function createRelay({ call, warnings }: RelayOptions): StreamRelay {
  const usage = followUsage();
  const run = followUses();
  let textLength = 0;
  let blocks = 0;
  let stopReason: Json | undefined;
  let begun = false;
  let finished = false;
  /** The message, if the first event has all of it, until more arrives. */
  let atOnce: JsonObject | undefined;
  let error: ReturnType<StreamRelay['error']>;

  function pass(): EventKind {
    begun = true;
    return 'pass';
  }

  /** The start event with all counts of the input. */
  function completed(event: Buffer): Buffer {
    return patchedEvent(event, 'message', (message) =>
      completing(message.get('usage') ?? null, () => countedUsage(call.bounds, 0), warnings),
    );
  }

  function see(event: Buffer, out: (Buffer | string)[]): EventKind {
    if (event.toString('latin1', 0, DELTA.length) === DELTA && isClosed(event)) {
      out.push(event);
      textLength += deltaLength(event);
      return pass();
    }
    const name = eventName(event);
    const data = eventData(event);
    const value = data === undefined ? undefined : parsed(data);
    const type = isObject(value) && typeof value.type === 'string' ? value.type : name;
    // Events without content are forwarded, and another channel can still be tried after them.
    const aside: EventKind = begun ? 'pass' : 'hold';
    if (data !== undefined && value === undefined && !isEndMark(data)) return judgeText(type, data);
    if (type === 'message_stop' && !begun && atOnce === undefined) return 'hold';
    out.push(type === 'message_start' ? completed(event) : event);
    switch (type) {
      case 'message_start':
        if (!isObject(value) || !isObject(value.message)) return aside;
        usage.begin(value.message.usage, typeof value.message.stop_reason === 'string');
        if (isWholeAtOnce(value.message)) atOnce = value.message;
        return aside;
      case 'content_block_start':
      case 'content_block_stop':
        atOnce = undefined;
        blocks++;
        if (isObject(value)) run.see(value.content_block);
        return pass();
      case 'content_block_delta':
        textLength += deltaLength(event);
        return pass();
      case 'message_delta':
        if (!isObject(value)) return aside;
        usage.add(value.usage);
        if (isObject(value.delta) && typeof value.delta.stop_reason === 'string') {
          finished = true;
          stopReason = value.delta.stop_reason;
        }
        return pass();
      case 'message_stop':
        endWholeMessage();
        return 'last';
      default:
        error = errorIn(value) ?? (type === 'error' ? readVendorError(value) : undefined);
        return error === undefined ? aside : 'error';
    }
  }

  /** Data that is not JSON is not an event of this style: an error as plain text, part of an event, or meaningless. */
  function judgeText(type: string | undefined, text: string): EventKind {
    if (type !== 'error') return isCutShort(text) ? 'broken' : 'hold';
    error = readVendorError(text);
    return 'error';
  }

  /** The end of a message that arrived in its first event. */
  function endWholeMessage(): void {
    if (atOnce === undefined) return;
    usage.add(atOnce.usage);
    textLength += contentLength(atOnce.content);
    blocks += Array.isArray(atOnce.content) ? atOnce.content.length : 0;
    stopReason = atOnce.stop_reason;
    atOnce = undefined;
  }

  return {
    see,
    close(out) {
      if (!finished && atOnce === undefined) return 'broken';
      endWholeMessage();
      out.push(writeEvent('message_stop'));
      return 'untidy';
    },
    fail: (failure: GatewayError, requestId: string) => errorEvent(failure, requestId),
    usage: () => billed(usage.after(textLength), stopReason, blocks),
    uses: () => run.uses(),
    textLength: () => textLength,
    error: () => error,
  };
}

/** The text members of a delta, with their quotes: inside a JSON string, quotes are escaped. */
const TEXTS = ['text', 'thinking', 'partial_json'].map((name) => Buffer.from(`"${name}"`));

const QUOTE = 0x22;
const COLON = 0x3a;

/** The characters of a delta, counted in its bytes: parsing each delta would be too slow. */
function deltaLength(event: Buffer): number {
  for (const name of TEXTS) {
    const index = event.indexOf(name);
    if (index === -1) continue;
    let at = behindSpace(event, index + name.length);
    if (event[at] !== COLON) continue;
    at = behindSpace(event, at + 1);
    return event[at] === QUOTE ? jsonTextLength(event, at + 1) : 0;
  }
  return 0;
}
