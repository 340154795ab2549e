/** Forwards the events of a transcription stream and meters them. */
import type { EventKind, JsonObject, RelayOptions, StreamRelay, Usage } from '../../../core/plugin.ts';
import { eventData, isObject, parsed } from '../../../core/translation/index.ts';
import { errorEvent } from '../chat/errors.ts';
import { errorIn } from '../chat/usage.ts';
import { estimatedUsage, reportedUsage, unfinishedUsage } from './hearing-usage.ts';

/** Creates a relay for one attempt. */
export function createTranscriptionRelay({ call }: RelayOptions): StreamRelay {
  let textLength = 0;
  let begun = false;
  let error: ReturnType<StreamRelay['error']>;
  let usage: Usage | undefined;

  function read(event: JsonObject): EventKind {
    const isLast = event.type === 'transcript.text.done';
    // The transcript of silence is empty.
    if (isLast && typeof event.text === 'string') textLength = Math.max(textLength, event.text.length);
    else if (!isLast && typeof event.delta === 'string') textLength += event.delta.length;
    begun ||= !isLast;
    usage = reportedUsage(call, event, textLength) ?? usage;
    return isLast ? 'last' : 'pass';
  }

  return {
    see(event, out) {
      const data = eventData(event);
      const isEnd = data?.trim() === '[DONE]';
      // A stream that ends without any event is not a reply.
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
      return usage ?? estimatedUsage(call, textLength);
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
