/** Image streams: events with partial images, and one for each complete image. */
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
import { addUsage, countedImages, imagesOf, reportedTokens, tokensOf } from './usage.ts';

/** The prefix of the event types of a style. */
export type EventFamily = 'image_generation' | 'image_edit';

const COLON = 0x3a;

/** Creates a relay for one attempt: forwards events byte for byte, and counts the images. */
export function createRelay({ call }: RelayOptions): StreamRelay {
  const requested = call.bounds.images?.count ?? 1;
  let tokens: Usage | undefined;
  let made = 0;
  let last: Json | undefined;
  let error: ReturnType<StreamRelay['error']>;
  /**
   * The newest complete image. It may be the last event, which must wait until the call is settled; only the next event
   * shows that it is not.
   */
  let pending: Buffer[] = [];

  /** `event` after the held one. */
  function push(out: (Buffer | string)[], event: Buffer): void {
    out.push(...pending, event);
    pending = [];
  }

  function completed(event: Buffer, value: Json | undefined, out: (Buffer | string)[]): EventKind {
    const reported = reportedTokens(value);
    if (reported !== undefined) tokens = tokens === undefined ? reported : addUsage(tokens, reported);
    const isSummary = !isObject(value) || !isImage(value);
    last = isSummary ? (last ?? value) : value;
    if (!isSummary) made++;
    // A total of zero images is not a reply.
    if (isSummary && made === 0) return 'hold';
    // Some vendors send each image in an event, and at the end the usage of all.
    if (isSummary || made >= requested) {
      push(out, event);
      return 'last';
    }
    const before = pending;
    pending = [event];
    out.push(...before);
    return before.length > 0 ? 'pass' : 'hold';
  }

  function usageOf(count: number): Usage {
    const used = tokens === undefined && count === 0 ? NO_TOKENS : tokensOf(tokens, call, count);
    return { ...used, images: imagesOf(call, count, last) };
  }

  return {
    see(event, out) {
      const data = eventData(event);
      if (data === undefined) {
        const begun = pending.length > 0;
        push(out, event);
        return event[0] === COLON && !begun ? 'hold' : 'pass';
      }
      if (data.trim() === '[DONE]') {
        if (made === 0) return 'hold';
        push(out, event);
        return 'last';
      }
      const name = eventName(event);
      // Partial images are long and not counted.
      const value = name?.endsWith('.partial_image') ? undefined : parsed(data);
      const type = member(value, 'type') ?? name;
      const reported = member(value, 'error');
      if (reported !== undefined || type === 'error' || name === 'error') {
        error = readVendorError(reported ?? value ?? data);
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
      out.push(...pending);
      pending = [];
      return made < requested ? 'untidy' : 'whole';
    },
    fail: errorEvent,
    usage: () => (made === 0 && tokens === undefined ? undefined : usageOf(made)),
    unfinished(how) {
      if (how === 'broken' || made >= requested) return usageOf(made);
      // The vendor continues, although the client has disconnected.
      const counted = countedImages(call, tokens === undefined ? requested : requested - made);
      return {
        ...(tokens === undefined ? counted : addUsage(tokens, { ...counted, input: 0 })),
        images: imagesOf(call, requested, last),
      };
    },
    textLength: () => 0,
    error: () => error,
  };
}

/** An error as the only event of a stream, or its last one. */
export function errorEvent(error: GatewayError): string {
  return eventOf('error', { type: 'error', ...errorObject(error) });
}

/** Converts a whole reply to events, for a requested stream: each image complete, the last one with the usage. */
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
