/** What a model has said so far, in whichever style; and how it is gathered. Pure. */
import { isObject, type Json } from './typed-json.ts';

/** A tool that the model wants to be called. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON, as far as it has come. */
  readonly input: string;
}

/** Tokens, as the vendor counts them. */
export interface Usage {
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly cached?: number | undefined;
  readonly thoughts?: number | undefined;
}

/** An answer as far as it has come. */
export interface Answer {
  readonly text: string;
  readonly thoughts: string;
  readonly calls: readonly ToolCall[];
  /** `data:` addresses, or those of the web. */
  readonly pictures: readonly string[];
  readonly vectors: readonly (readonly number[])[];
  /** The address of a sound that the browser holds. */
  readonly sound: string;
  readonly usage: Usage | undefined;
  /** The limit of its length was reached. */
  readonly cut: boolean;
  /** Somebody's filter ended it. */
  readonly filtered: boolean;
}

/** Nothing yet. */
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

/** Listens to the events of a stream, or to a whole body. */
export interface Hearer {
  /** The data of an event. Throws `Failed` where it says that the call failed. */
  event(data: string): void;
  whole(body: Json): void;
  /** The stream has said that this was all. */
  readonly ended: boolean;
  answer(): Answer;
  /** What the next call repeats of it, before what the tools gave; in the words of the style. */
  said(): readonly Json[];
}

/** What a stream says where its call failed after it had begun. */
export class Failed extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The refusal in a body or an event; undefined where it is none. */
export function failureIn(value: unknown): Failed | undefined {
  if (!isObject(value)) return undefined;
  const error = isObject(value.error) ? value.error : value.type === 'error' ? value : undefined;
  if (error === undefined || typeof error.message !== 'string') return undefined;
  return new Failed(typeof error.code === 'string' ? error.code : '', error.message);
}

/** JSON, or nothing where it is none. */
export function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** A text, or none. */
export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The objects of a list. */
export function objectsIn(value: unknown) {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A count, where it is one. */
export function countIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
