/** Parses a complete event stream. Independent of the gateway's own parser. */
import type { Json } from '../../core/contracts/formats/json.ts';
import { parsed } from './json.ts';

/** One event. */
export interface StreamEvent {
  /** Its `event` line. */
  readonly name: string | undefined;
  /** Its `data` lines, joined. */
  readonly text: string;
  /** Their JSON; undefined for `[DONE]`. */
  readonly data: Json | undefined;
}

/** The events, in order, without comments. The last one counts even without its blank line. */
export function eventsIn(stream: string): readonly StreamEvent[] {
  const events: StreamEvent[] = [];
  for (const block of stream.replaceAll(/\r\n?/g, '\n').split('\n\n')) {
    const data: string[] = [];
    let name: string | undefined;
    for (const line of block.split('\n')) {
      const [, field, value = ''] = /^([a-z]+)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (field === 'data') data.push(value);
      if (field === 'event') name = value;
    }
    if (data.length === 0) continue;
    const text = data.join('\n');
    events.push({ name, text, data: parsed(text) });
  }
  return events;
}
