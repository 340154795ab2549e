/** Passes the events of a transcription on, and counts along. */
import type { EventKind, JsonObject, RelayOptions, StreamRelay, Usage } from '../../../core/plugin.ts';
import { eventData, isObject, parsed } from '../../../core/translation/index.ts';
import { errorEvent } from '../chat/errors.ts';
import { errorIn } from '../chat/usage.ts';
import { heardUsage, toldUsage, unfinishedUsage } from './hearing-usage.ts';

/** A relay for one attempt. */
export function createHearingRelay({ call }: RelayOptions): StreamRelay {
  let textLength = 0;
  let begun = false;
  let error: ReturnType<StreamRelay['error']>;
  let usage: Usage | undefined;

  function read(event: JsonObject): EventKind {
    const isLast = event.type === 'transcript.text.done';
    // Silence ends before anything was said.
    if (isLast && typeof event.text === 'string') textLength = Math.max(textLength, event.text.length);
    else if (!isLast && typeof event.delta === 'string') textLength += event.delta.length;
    begun ||= !isLast;
    usage = toldUsage(call, event, textLength) ?? usage;
    return isLast ? 'last' : 'pass';
  }

  return {
    see(event, out) {
      const data = eventData(event);
      const isEnd = data?.trim() === '[DONE]';
      // An end without a beginning is no answer.
      if (isEnd && !begun) return 'hold';
      out.push(event);
      if (isEnd) return 'last';
      if (data === undefined) return 'hold';
      const value = parsed(data);
      error = errorIn(value);
      if (error !== undefined) return 'error';
      return isObject(value) ? read(value) : 'pass';
    },
    close: () => 'broken',
    fail: errorEvent,
    usage() {
      return usage ?? heardUsage(call, textLength);
    },
    unfinished: (how) => unfinishedUsage(call, textLength, how),
    textLength() {
      return textLength;
    },
    error() {
      return error;
    },
  };
}
