/** Counts along one stream of chat chunks. */
import type { EventKind, Json, JsonObject, MeterOptions, StreamMeter, Usage } from '../../../core/plugin.ts';
import { eventData, eventName } from '../../../core/plugin.ts';
import { type Glance, glance } from './glance.ts';
import { errorIn, toError, usageIn } from './usage.ts';

const DATA = 'data:';

/** A meter for one attempt. It parses the few events that carry usage or an error, and only glances at the others. */
export function createMeter({ hideUsage }: MeterOptions): StreamMeter {
  let usage: Usage | undefined;
  let textLength = 0;
  let finished = false;
  let error: StreamMeter['error'];

  function keep(seen: Glance): void {
    textLength += seen.textLength;
    finished ||= seen.finished;
  }

  /** `data` is what the event's data lines hold. */
  function judge(seen: Glance, data: string | undefined, isError: boolean): EventKind {
    if (data === undefined) return 'pass';
    if (seen.empty && !isError) return data.trim() === '[DONE]' ? 'last' : 'pass';
    const value = parsed(data);
    const told = errorIn(value) ?? (isError ? toError(value ?? data) : undefined);
    if (told !== undefined) {
      error = told;
      return 'error';
    }
    const counted = usageIn(value);
    if (counted === undefined) return 'pass';
    // The last word counts, but some send zeros after it.
    if (usage === undefined || counted.input + counted.output > 0) usage = counted;
    return hideUsage && !hasChoices(value) ? 'hide' : 'pass';
  }

  return {
    see(event) {
      // The common event is one line of data, and nothing about it needs to be read.
      if (startsWithData(event)) {
        const seen = glance(event, DATA.length);
        keep(seen);
        if (!seen.usage && !seen.error && !seen.empty) return 'pass';
        return judge(seen, eventData(event), eventName(event) === 'error');
      }
      const data = eventData(event);
      const seen = glance(Buffer.from(data ?? ''), 0);
      keep(seen);
      return judge(seen, data, eventName(event) === 'error');
    },
    get usage() {
      return usage;
    },
    get textLength() {
      return textLength;
    },
    get finished() {
      return finished;
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

/** Undefined where it is not JSON: such an event is the client's to complain about. */
function parsed(data: string): Json | undefined {
  try {
    return JSON.parse(data) as Json;
  } catch {
    return undefined;
  }
}
