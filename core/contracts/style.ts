/** A style: how one kind of request and its answers are read. Core relays the bytes; a style only looks at them. */
import type { GatewayError } from '../errors.ts';
import type { JsonBody } from '../json.ts';
import type { Bounds, Headers, Json, StyleName, Usage } from './call.ts';

/** One shape of requests and answers, as a plugin brings it. */
export interface Style {
  readonly name: StyleName;
  /** `POST` here reaches this style. */
  readonly path: string;
  /** Checks the body and says what is asked; refuses with 400 and the field's name. */
  read(body: JsonBody, headers: Headers): CallFacts;
  /** The changes that make the client's body the vendor's: a member's new JSON text, or undefined to remove it. */
  patch(body: JsonBody, to: Patch): Readonly<Record<string, string | undefined>>;
  /** Reads a whole answer. `undefined` where it is not an answer of this style at all. */
  answer(body: JsonBody): AnswerFacts | undefined;
  /** Looks at one stream; made anew for each attempt. */
  meter(options: MeterOptions): StreamMeter;
  /** An error as this style spells it. */
  error(error: GatewayError, requestId: string): Json;
  /** The same inside a stream that has begun; whole events. */
  errorEvent(error: GatewayError, requestId: string): string;
  /** The bytes that end a stream well, for a vendor that forgot them. */
  readonly terminal: string;
  /** A comment that keeps the connection alive while the vendor thinks. */
  readonly keepAlive: string;
}

/** What a body asks for. */
export interface CallFacts {
  readonly model: string;
  readonly stream: boolean;
  /** The client itself asked for the usage of its stream. */
  readonly asksUsage: boolean;
  readonly bounds: Bounds;
}

/** What the vendor's body must say that the client's may not. */
export interface Patch {
  /** The vendor's name for the model. */
  readonly model: string;
  /** Ask for the usage of a stream although the client did not. */
  readonly askUsage: boolean;
}

/** What a whole answer tells about itself. */
export interface AnswerFacts {
  readonly usage: Usage | undefined;
  /** Output text in characters, for an answer whose vendor does not count. */
  readonly textLength: number;
  /** The vendor's error inside an answer whose status said success. */
  readonly error: { readonly message: string; readonly code: string } | undefined;
}

/** How a meter is to look at its stream. */
export interface MeterOptions {
  /** We asked for the usage, the client did not: the event that holds nothing else is kept from it. */
  readonly hideUsage: boolean;
}

/**
 * What an event is to the relay. `pass`: to the client as it is. `hide`: not for the client. `last`: ends the stream well;
 * held back until the call is settled. `error`: the vendor gives up inside the stream.
 */
export type EventKind = 'pass' | 'hide' | 'last' | 'error';

/** Counts along one stream. Fed with whole events, comments among them, in order. */
export interface StreamMeter {
  /** `event` holds the event's bytes with its blank line. */
  see(event: Buffer): EventKind;
  /** What the vendor said it used, so far. */
  readonly usage: Usage | undefined;
  /** Characters of text, reasoning and tool arguments delivered so far. */
  readonly textLength: number;
  /** True once the vendor has said why the answer ends, so that a missing last event is only untidy. */
  readonly finished: boolean;
  /** The vendor's error, after `error`. */
  readonly error: { readonly message: string; readonly code: string } | undefined;
}
