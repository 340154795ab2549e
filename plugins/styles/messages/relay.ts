/** Passes one stream of message events on, byte for byte, and counts along. */

import type { EventKind, GatewayError, JsonObject, RelayOptions, StreamRelay } from '../../../core/plugin.ts';
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
import { contentLength } from './answer.ts';
import { completing } from './completion.ts';
import { errorEvent, errorIn } from './errors.ts';
import { event as writeEvent } from './event.ts';
import { isWholeAtOnce } from './finish.ts';
import { followUses } from './hosted.ts';
import { followUsage } from './usage.ts';

/** How nearly all events of a stream begin. */
const DELTA = 'event: content_block_delta';

/** A relay for one attempt. It parses the few events that frame an answer, and only counts the letters of the others. */
export function createRelay({ call, losses }: RelayOptions): StreamRelay {
  const usage = followUsage();
  const run = followUses();
  let textLength = 0;
  let begun = false;
  let finished = false;
  /** The message that came whole in the first event, until more of it comes. */
  let atOnce: JsonObject | undefined;
  let error: ReturnType<StreamRelay['error']>;

  function pass(): EventKind {
    begun = true;
    return 'pass';
  }

  /** The event that begins a message, with all counts of the input. */
  function completed(event: Buffer): Buffer {
    return patchedEvent(event, 'message', (message) =>
      completing(message.get('usage') ?? null, () => countedUsage(call.bounds, 0), losses),
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
    // What says nothing of the answer goes along, and leaves the way back open.
    const aside: EventKind = begun ? 'pass' : 'hold';
    if (data !== undefined && value === undefined && !isEndMark(data)) return judgeWords(type, data);
    if (type === 'message_stop' && !begun && atOnce === undefined) return 'hold';
    out.push(type === 'message_start' ? completed(event) : event);
    switch (type) {
      case 'message_start':
        if (!isObject(value) || !isObject(value.message)) return aside;
        usage.begin(value.message.usage);
        if (isWholeAtOnce(value.message)) atOnce = value.message;
        return aside;
      case 'content_block_start':
      case 'content_block_stop':
        atOnce = undefined;
        if (isObject(value)) run.see(value.content_block);
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
        takeWhole();
        return 'last';
      default:
        error = errorIn(value) ?? (type === 'error' ? readVendorError(value) : undefined);
        return error === undefined ? aside : 'error';
    }
  }

  /** Data that is not JSON is no event of this style: an error in words, part of an event, or words that say nothing. */
  function judgeWords(type: string | undefined, words: string): EventKind {
    if (type !== 'error') return isCutShort(words) ? 'broken' : 'hold';
    error = readVendorError(words);
    return 'error';
  }

  /** The end of a message that came whole. */
  function takeWhole(): void {
    if (atOnce === undefined) return;
    usage.add(atOnce.usage);
    textLength += contentLength(atOnce.content);
    atOnce = undefined;
  }

  return {
    see,
    close(out) {
      if (!finished && atOnce === undefined) return 'broken';
      takeWhole();
      out.push(writeEvent('message_stop'));
      return 'untidy';
    },
    fail: (failure: GatewayError, requestId: string) => errorEvent(failure, requestId),
    usage() {
      return usage.after(textLength);
    },
    uses() {
      return run.uses();
    },
    textLength() {
      return textLength;
    },
    error() {
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
