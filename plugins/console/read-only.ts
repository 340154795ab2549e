/**
 * Members of a record that a request may send back as they were read, and that it does not set. One that says something else is refused:
 * a caller who means to change it must not believe that it was.
 */
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../core/plugin.ts';
import { errors } from './errors.ts';

/** By name: what sets it instead, in a sentence for the caller. */
export type ReadOnly = Readonly<Record<string, string>>;

/** What tools send for members that they do not mean to set. */
export const NOTHING_MEANT: readonly unknown[] = [null, '', 'default', 0, false, []];

/** Their schemas. */
export function readOnlyProperties(fields: ReadOnly): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.keys(fields).map((name) => [name, { description: 'Not set here: as it was read, or left out.' }]),
  );
}

/** Refuses (400) a form that says something else than the record, or than `nothing`, in such a member. */
export function refuseOthers(
  form: object,
  record: object,
  fields: ReadOnly,
  nothing: readonly unknown[] = [null],
): void {
  for (const [name, instead] of Object.entries(fields)) {
    const value = (form as JsonObject)[name];
    if (value === undefined || nothing.some((one) => isDeepStrictEqual(one, value))) continue;
    if (isDeepStrictEqual((record as JsonObject)[name], value)) continue;
    throw errors.read_only(name, instead).with({ param: name });
  }
}
