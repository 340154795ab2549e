/** What was noted of a call, as the row and the label of its record have it: members of a JSON object, each behind a comma. */

import type { Json, JsonObject } from '../../core/plugin.ts';
import { isObject } from '../../core/translation/index.ts';

/** A note that is the same of many calls. */
export interface Shared {
  /** Tells it from others within this process. */
  readonly number: number;
  readonly text: string;
}

/** What was noted of a call. */
export interface Noted {
  readonly shared: readonly Shared[];
  /** The rest; null where there is none. */
  readonly text: string | null;
}

/** Tells what is shared. */
export interface Notes {
  /** All but the member `without`. */
  of(notes: JsonObject, without: string | undefined): Noted;
}

const NONE: readonly Shared[] = [];

/**
 * A note is shared if its value is the very object that an earlier call had under this name, such as what was noted of a price. What a
 * client can make different in each of its calls is not.
 */
export function createNotes(): Notes {
  /** By the value; without `shared` it was met once. */
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
    of(notes, without) {
      let shared = NONE;
      let text = '';
      for (const name of Object.keys(notes)) {
        if (name === without) continue;
        const value = notes[name]!;
        const its = typeof value === 'object' && value !== null ? sharedOf(name, value) : undefined;
        if (its === undefined) text += textOf(name, value);
        else shared = [...shared, its];
      }
      return { shared, text: text === '' ? null : text };
    },
  };
}

function textOf(name: string, value: Json): string {
  return `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
}

/** The only attempt of a call, if its record says all of it but what it asked for and how long it took. */
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
