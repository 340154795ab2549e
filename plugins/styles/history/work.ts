/** The jobs on texts of stored responses: their input and output, and how texts are read. */

import type { JsonObject } from '../../../core/plugin.ts';
import { isObject, type ScanFacts } from '../../../core/translation/index.ts';

export type Direction = 'asc' | 'desc';

/** The texts of a turn. `channel`: the channel whose vendor answered in this style; null if the gateway wrote the response. */
export interface TurnTexts {
  readonly channel: string | null;
  readonly input: Uint8Array;
  readonly response: Uint8Array;
}

/** Replaces the references of a request. */
export interface JoinWork {
  readonly kind: 'join';
  readonly body: Uint8Array;
  /** Responses whose items `input` references. */
  readonly named: readonly Uint8Array[];
  /** The conversation that the request continues, oldest first; undefined if it continues none. */
  readonly turns: readonly TurnTexts[] | undefined;
}
/** Finds the responses whose items the `input` of a request references. */
export interface FindWork {
  readonly kind: 'find';
  readonly body: Uint8Array;
}
/** Reads items of one turn. */
export interface ItemsWork {
  readonly kind: 'items';
  readonly id: string;
  readonly input: Uint8Array;
  /** Its response, if a later turn continued it. */
  readonly response: Uint8Array | undefined;
  readonly order: Direction;
  /** The item before the first one to return. */
  readonly after: string | null;
  readonly most: number;
}
export type Work = JoinWork | FindWork | ItemsWork;

/** The whole body, and its new input if that has references. */
export interface Joined {
  readonly bytes: Uint8Array | undefined;
  readonly facts: ScanFacts | undefined;
  readonly resolved: Uint8Array | undefined;
}
/** Items of one turn. */
export interface ItemsFound {
  readonly ids: readonly string[];
  /** As JSON, separated by commas. */
  readonly bytes: Uint8Array;
  /** Whether `after` is an item of this turn. */
  readonly found: boolean;
  /** Whether more items follow. */
  readonly more: boolean;
}
export type Done<W extends Work> = W extends JoinWork ? Joined : W extends FindWork ? readonly string[] : ItemsFound;

/** The objects of a response's output. */
export function outputOf(response: Uint8Array): readonly JsonObject[] {
  const { output } = JSON.parse(textOf(response)) as JsonObject;
  return Array.isArray(output) ? output.filter(isObject) : [];
}

export function textOf(bytes: Uint8Array): string {
  return bufferOf(bytes).toString();
}

/** The same bytes: what another thread sends is a plain `Uint8Array`. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
