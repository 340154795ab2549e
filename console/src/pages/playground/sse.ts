/** Server-sent events out of pieces of text, cut anywhere. Pure. */

/** An event. */
export interface StreamEvent {
  /** What it is called; `message` where it has no name. */
  readonly event: string;
  readonly data: string;
}

/** Takes the text piece by piece. */
export interface EventReader {
  /** The events that have come to their end with it. */
  push(piece: string): readonly StreamEvent[];
  /** The text is over. What has no empty line behind it counts all the same: the line may be all that is missing. */
  end(): readonly StreamEvent[];
}

/** Reads as browsers do: lines end with CR, LF or both, those that begin with a colon are comments, fields it does not know are none. */
export function createEventReader(): EventReader {
  // The line that has not ended, in pieces: a picture may be one line of megabytes.
  let line: string[] = [];
  let hasBegun = false;
  let isAfterReturn = false;
  let event = '';
  let data: string[] = [];

  function take(found: StreamEvent[]): void {
    const text = line.join('');
    line = [];
    if (text === '') {
      if (data.length > 0) found.push({ event: event === '' ? 'message' : event, data: data.join('\n') });
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
    push(said) {
      const found: StreamEvent[] = [];
      if (said === '') return found;
      let piece = said;
      if (!hasBegun) piece = piece.replace(/^\uFEFF/, '');
      hasBegun = true;
      // The line feed of a return that came in the piece before.
      if (isAfterReturn && piece.startsWith('\n')) piece = piece.slice(1);
      isAfterReturn = said.endsWith('\r');
      let start = 0;
      for (const end of piece.matchAll(/\r\n|\r|\n/g)) {
        line.push(piece.slice(start, end.index));
        take(found);
        start = end.index + end[0].length;
      }
      if (start < piece.length) line.push(piece.slice(start));
      return found;
    },
    end() {
      const found: StreamEvent[] = [];
      if (line.length > 0) take(found);
      take(found);
      return found;
    },
  };
}
