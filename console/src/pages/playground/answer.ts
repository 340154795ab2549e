/** The answer of a model, in the same form for all APIs, and how it is decoded. Pure. */
import { isObject, type Json, type JsonObject } from './typed-json.ts';

/** A tool call of the model. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON, possibly incomplete. */
  readonly input: string;
}

/** Tokens as the vendor counted them. */
export interface Usage {
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly cached?: number | undefined;
  readonly thoughts?: number | undefined;
}

/** An answer, possibly incomplete. */
export interface Answer {
  readonly text: string;
  readonly thoughts: string;
  readonly calls: readonly ToolCall[];
  /** `data:` or http URLs. */
  readonly pictures: readonly string[];
  readonly vectors: readonly (readonly number[])[];
  /** The object URL of audio. */
  readonly sound: string;
  readonly usage: Usage | undefined;
  /** Truncated at the token limit. */
  readonly cut: boolean;
  /** Ended by a content filter. */
  readonly filtered: boolean;
}

/** An empty answer. */
export const SILENCE: Answer = {
  text: '',
  thoughts: '',
  calls: [],
  pictures: [],
  vectors: [],
  sound: '',
  usage: undefined,
  cut: false,
  filtered: false,
};

/** Decodes the events of a stream, or a whole body. */
export interface Decoder {
  /** Decodes the data of an event. Throws `Failed` for an error event. */
  event(data: string): void;
  body(body: Json): void;
  /** True after the final event. */
  readonly ended: boolean;
  answer(): Answer;
  /** The part of the answer that the next request repeats before the tool results, in the format of the API. */
  turns(): readonly Json[];
}

/** The state of an API's decoder; `event` and `body` return true at the end of the answer. */
interface Decoding extends Pick<Decoder, 'answer' | 'turns'> {
  event(event: JsonObject): boolean;
  body(body: Json): boolean;
}

/** Creates a decoder. `last`: the data of a final event that is not JSON. */
export function decoderOf({ event, body, ...own }: Decoding, last?: string): Decoder {
  let ended = false;
  return {
    ...own,
    get ended() {
      return ended;
    },
    event(data) {
      const decoded = parsed(data);
      if (data === last) ended = true;
      else if (isObject(decoded)) {
        const failure = failureIn(decoded) ?? failureIn(decoded.response);
        if (failure !== undefined) throw failure;
        ended = event(decoded) || ended;
      }
    },
    body(whole) {
      ended = body(whole) || ended;
    },
  };
}

/** An error event within a stream. */
export class Failed extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The error in a body or an event; undefined if there is none. */
export function failureIn(value: unknown): Failed | undefined {
  if (!isObject(value)) return undefined;
  const error = isObject(value.error) ? value.error : value.type === 'error' ? value : undefined;
  if (error === undefined || typeof error.message !== 'string') return undefined;
  return new Failed(typeof error.code === 'string' ? error.code : '', error.message);
}

/** Parses JSON; undefined if invalid. */
export function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The value if it is a string. */
export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The objects in a list. */
export function objectsIn(value: unknown) {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The value if it is a count. */
export function countIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
