/** Server-sent events decoded from chunks of text. Pure. */

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

/** Decodes as browsers do: lines end with CR, LF or both, lines that begin with a colon are comments, unknown fields are ignored. */
export function createEventReader(): EventReader {
  // The incomplete last line in pieces, because an image may be a line of megabytes.
  let line: string[] = [];
  let hasBegun = false;
  let isAfterReturn = false;
  let event = '';
  let data: string[] = [];

  function take(events: StreamEvent[]): void {
    const text = line.join('');
    line = [];
    if (text === '') {
      if (data.length > 0) events.push({ event: event === '' ? 'message' : event, data: data.join('\n') });
      event = '';
      data = [];
      return;
    }
    const colon = text.indexOf(':');
    const name = colon === -1 ? text : text.slice(0, colon);
    const value = colon === -1 ? '' : text.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') data.push(value);
    if (name === 'event') event = value;
  }

  return {
    push(chunk) {
      const events: StreamEvent[] = [];
      if (chunk === '') return events;
      let piece = chunk;
      if (!hasBegun) piece = piece.replace(/^\uFEFF/, '');
      hasBegun = true;
      // The LF of a CRLF that was split between two chunks.
      if (isAfterReturn && piece.startsWith('\n')) piece = piece.slice(1);
      isAfterReturn = chunk.endsWith('\r');
      let start = 0;
      for (const end of piece.matchAll(/\r\n|\r|\n/g)) {
        line.push(piece.slice(start, end.index));
        take(events);
        start = end.index + end[0].length;
      }
      if (start < piece.length) line.push(piece.slice(start));
      return events;
    },
    end() {
      const events: StreamEvent[] = [];
      if (line.length > 0) take(events);
      take(events);
      return events;
    },
  };
}
