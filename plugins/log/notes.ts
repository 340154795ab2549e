/** Notes of a call, split between the row and the label of its record: members of a JSON object, each after a comma. */

import type { Json, JsonObject } from '../../core/plugin.ts';
import { isObject } from '../../core/translation/index.ts';

/** A note that many calls share. */
export interface Shared {
  /** Identifies it within this process. */
  readonly number: number;
  readonly text: string;
}

/** The notes of a call. */
export interface Noted {
  readonly shared: readonly Shared[];
  /** The other notes; null if there are none. */
  readonly text: string | null;
}

const NONE: readonly Shared[] = [];

/**
 * A note is shared if its value is the same object that an earlier call had under this name, such as a price. Values that clients can vary
 * in each call are not shared.
 */
export function createNotes() {
  /** By value; without `shared` it was seen once. */
  const met = new WeakMap<object, { readonly name: string; shared?: Shared }>();
  let last = 0;

  function sharedOf(name: string, value: JsonObject | readonly Json[]): Shared | undefined {
    const note = met.get(value);
    if (note === undefined) met.set(value, { name });
    if (note?.name !== name) return undefined;
    note.shared ??= { number: ++last, text: textOf(name, value) };
    return note.shared;
  }

  return {
    /** All members except `without`. */
    of(notes: JsonObject, without: string | undefined): Noted {
      let shared = NONE;
      let text = '';
      for (const name of Object.keys(notes)) {
        if (name === without) continue;
        const value = notes[name]!;
        const sharedNote = typeof value === 'object' && value !== null ? sharedOf(name, value) : undefined;
        if (sharedNote === undefined) text += textOf(name, value);
        else shared = [...shared, sharedNote];
      }
      return { shared, text: text === '' ? null : text };
    },
  };
}

function textOf(name: string, value: Json): string {
  return `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
}

/** The only attempt of a call, if the record has everything except its upstream model and duration. */
export function onlyAttempt(
  attempts: Json | undefined,
  channel: string,
  status: number,
): { readonly model: string; readonly ms: number | null } | undefined {
  if (!Array.isArray(attempts) || attempts.length !== 1) return undefined;
  const attempt = (attempts as readonly Json[])[0];
  if (!isObject(attempt) || attempt.channel !== channel || attempt.status !== status) return undefined;
  const { model, ms } = attempt;
  if (typeof model !== 'string' || !(ms === null || Number.isInteger(ms))) return undefined;
  return Object.keys(attempt).length === 4 ? { model, ms: ms as number | null } : undefined;
}
