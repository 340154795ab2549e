/** Passes one stream of chat chunks on, byte for byte, and counts along. */
import type { EventKind, Json, JsonObject, RelayOptions, StreamRelay, Usage } from '../../../core/plugin.ts';
import { eventData, eventName, parsed, readVendorError, withCountedOutput } from '../../../core/plugin.ts';
import { errorEvent } from './errors.ts';
import { type Glance, glance } from './glance.ts';
import { errorIn, isPlaceholder, usageIn } from './usage.ts';

const DATA = 'data:';
const COLON = 0x3a;

/** A relay for one attempt. It parses the few events that carry usage or an error, and only glances at the others. */
export function createRelay({ hideUsage }: RelayOptions): StreamRelay {
  let usage: Usage | undefined;
  let textLength = 0;
  /** How much of it had come when the usage was told. */
  let toldAt = 0;
  let begun = false;
  let finished = false;
  let error: StreamRelay['error'];

  function pass(event: Buffer, out: (Buffer | string)[]): EventKind {
    begun = true;
    out.push(event);
    return 'pass';
  }

  /** `data` is what the event's data lines hold. */
  function judge(
    event: Buffer,
    out: (Buffer | string)[],
    seen: Glance,
    data: string | undefined,
    isError: boolean,
  ): EventKind {
    if (data === undefined) {
      out.push(event);
      return event[0] === COLON ? 'hold' : 'pass';
    }
    if (seen.empty && !isError) {
      if (data.trim() !== '[DONE]') return pass(event, out);
      if (!begun) return 'hold';
      out.push(event);
      return 'last';
    }
    // What is not JSON is the client's to complain about.
    const value = parsed(data);
    const told = errorIn(value) ?? (isError ? readVendorError(value ?? data) : undefined);
    if (told !== undefined) {
      error = told;
      out.push(event);
      return 'error';
    }
    const counted = usageIn(value);
    if (counted === undefined) return pass(event, out);
    // The last word counts, but some send zeros in place of one.
    if (counted.input + counted.output > 0) {
      usage = counted;
      toldAt = textLength;
    }
    return hideUsage && !hasChoices(value) ? 'hold' : pass(event, out);
  }

  return {
    see(event, out) {
      const isPlain = startsWithData(event);
      const seen = isPlain ? glance(event, DATA.length) : glance(Buffer.from(eventData(event) ?? ''), 0);
      textLength += seen.textLength;
      finished ||= seen.finished;
      // The common event is one line of data, and nothing about it needs to be read.
      if (isPlain && !seen.usage && !seen.error && !seen.empty) return pass(event, out);
      return judge(event, out, seen, eventData(event), eventName(event) === 'error');
    },
    close(out) {
      if (!finished || !begun) return 'broken';
      out.push('data: [DONE]\n\n');
      return 'untidy';
    },
    fail: errorEvent,
    get usage() {
      return usage !== undefined && isPlaceholder(usage, toldAt, textLength)
        ? withCountedOutput(usage, textLength)
        : usage;
    },
    get textLength() {
      return textLength;
    },
    get error() {
      return error;
    },
  };
}

function startsWithData(event: Buffer): boolean {
  for (let i = 0; i < DATA.length; i++) if (event[i] !== DATA.charCodeAt(i)) return false;
  return true;
}

function hasChoices(value: Json | undefined): boolean {
  const choices = (value as JsonObject).choices;
  return Array.isArray(choices) && choices.length > 0;
}
