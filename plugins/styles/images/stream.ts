/** Streams of images: events with images that are on their way, and one for each that is complete. */
import {
  type Call,
  type EventKind,
  errorObject,
  type GatewayError,
  type Json,
  type JsonBody,
  type JsonObject,
  type RelayOptions,
  type StreamRelay,
  type Usage,
} from '../../../core/plugin.ts';
import {
  eventData,
  eventName,
  isObject,
  member,
  NO_TOKENS,
  objectsIn,
  parsed,
  readVendorError,
} from '../../../core/translation/index.ts';
import { isImage } from './answer.ts';
import { addUsage, countedImages, imagesMade, tokensOf, tokensTold } from './usage.ts';

/** What the events of a style begin with. */
export type EventFamily = 'image_generation' | 'image_edit';

const COLON = 0x3a;

/** A relay for one attempt: passes events on byte for byte, and counts the images. */
export function createRelay({ call }: RelayOptions): StreamRelay {
  const asked = call.bounds.images?.count ?? 1;
  let tokens: Usage | undefined;
  let made = 0;
  let last: Json | undefined;
  let error: ReturnType<StreamRelay['error']>;
  /** The newest complete image. It may be the end of the stream, which has to wait for the books; only what comes next tells. */
  let held: Buffer[] = [];

  /** `event` behind what was held. */
  function push(out: (Buffer | string)[], event: Buffer): void {
    out.push(...held, event);
    held = [];
  }

  function completed(event: Buffer, value: Json | undefined, out: (Buffer | string)[]): EventKind {
    const told = tokensTold(value);
    if (told !== undefined) tokens = tokens === undefined ? told : addUsage(tokens, told);
    const isSummary = !isObject(value) || !isImage(value);
    last = isSummary ? (last ?? value) : value;
    if (!isSummary) made++;
    // A sum of nothing is no answer.
    if (isSummary && made === 0) return 'hold';
    // Some send each image in an event of its own, and end with what was used for all of them.
    if (isSummary || made >= asked) {
      push(out, event);
      return 'last';
    }
    const before = held;
    held = [event];
    out.push(...before);
    return before.length > 0 ? 'pass' : 'hold';
  }

  function usageOf(count: number): Usage {
    const used = tokens === undefined && count === 0 ? NO_TOKENS : tokensOf(tokens, call, count);
    return { ...used, images: imagesMade(call, count, last) };
  }

  return {
    see(event, out) {
      const data = eventData(event);
      if (data === undefined) {
        const begun = held.length > 0;
        push(out, event);
        return event[0] === COLON && !begun ? 'hold' : 'pass';
      }
      if (data.trim() === '[DONE]') {
        if (made === 0) return 'hold';
        push(out, event);
        return 'last';
      }
      const name = eventName(event);
      // Images on their way are long, and say nothing that counts.
      const value = name?.endsWith('.partial_image') ? undefined : parsed(data);
      const type = member(value, 'type') ?? name;
      const told = member(value, 'error');
      if (told !== undefined || type === 'error' || name === 'error') {
        error = readVendorError(told ?? value ?? data);
        push(out, event);
        return 'error';
      }
      if (typeof type === 'string' && type.endsWith('.completed')) return completed(event, value, out);
      if (isObject(value) && isImage(value) && typeof type === 'string' && type.endsWith('_succeeded')) {
        made++;
        last = value;
      }
      push(out, event);
      return 'pass';
    },
    close(out) {
      if (made === 0) return 'broken';
      out.push(...held);
      held = [];
      return made < asked ? 'untidy' : 'whole';
    },
    fail: errorEvent,
    usage() {
      return made === 0 && tokens === undefined ? undefined : usageOf(made);
    },
    unfinished(how) {
      if (how === 'broken' || made >= asked) return usageOf(made);
      // The vendor goes on, and what it makes of the rest nobody will hear.
      const counted = countedImages(call, tokens === undefined ? asked : asked - made);
      return {
        ...(tokens === undefined ? counted : addUsage(tokens, { ...counted, input: 0 })),
        images: imagesMade(call, asked, last),
      };
    },
    textLength: () => 0,
    error() {
      return error;
    },
  };
}

/** An error as the only event of a stream, or its last one. */
export function errorEvent(error: GatewayError): string {
  return eventOf('error', { type: 'error', ...errorObject(error) });
}

/** The events for an answer that came whole although a stream was asked for: each image complete, the last with what was used. */
export function eventsOf(family: EventFamily): (body: JsonBody, call: Call) => string | undefined {
  return (body) => {
    const { data, created, usage, ...about } = body.tree() as JsonObject;
    const images = objectsIn({ data: data ?? null }, 'data').filter(isImage);
    if (images.length === 0) return undefined;
    const type = `${family}.completed`;
    return images
      .map((image, i) => {
        const isLast = i === images.length - 1;
        const rest = { created_at: created ?? 0, ...about, ...(isLast && usage !== undefined && { usage }) };
        return eventOf(type, { type, ...image, ...rest });
      })
      .join('');
  };
}

function eventOf(name: string, value: Json): string {
  return `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`;
}
