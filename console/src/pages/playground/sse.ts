/** Server-sent events decoded from chunks of text. */
import { createParser } from 'eventsource-parser';

/** An event. */
export interface StreamEvent {
  /** Its type; `message` by default. */
  readonly event: string;
  readonly data: string;
}

/** Decodes chunks of text. */
export interface EventReader {
  /** The events that the chunk completes. */
  push(piece: string): readonly StreamEvent[];
  /** Ends the stream. Pending data counts as an event even without its blank line, which may be all that is missing. */
  end(): readonly StreamEvent[];
}

/** Decodes as browsers do. */
export function createEventReader(): EventReader {
  let events: StreamEvent[] = [];
  const parser = createParser({
    onEvent: ({ event = 'message', data }) => void events.push({ event, data }),
  });
  let hasBegun = false;

  function taken(text: string): readonly StreamEvent[] {
    parser.feed(text);
    const all = events;
    events = [];
    return all;
  }

  return {
    push(piece) {
      const text = hasBegun ? piece : piece.replace(/^\uFEFF/, '');
      hasBegun ||= piece !== '';
      return taken(text);
    },
    end: () => taken('\n\n'),
  };
}
