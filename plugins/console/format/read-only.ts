/**
 * Read-only members of a record: a request may send them back unchanged. A different value is refused, so that a caller does not believe it
 * was saved.
 */
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../../core/plugin.ts';
import { errors } from '../errors.ts';

/** By member: how the caller can change it instead. */
export type ReadOnly = Readonly<Record<string, string>>;

/** Values that API clients send for members they do not set. */
export const NOTHING_MEANT: readonly unknown[] = [null, '', 'default', 0, false, []];

/** Members with the same sentence. */
export function readOnly(instead: string, ...names: readonly string[]): ReadOnly {
  return Object.fromEntries(names.map((name) => [name, instead]));
}

/** The schemas of the members. */
export function readOnlyProperties(fields: ReadOnly): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.keys(fields).map((name) => [
      name,
      { description: 'Read-only: send it unchanged, or omit it.', readOnly: true },
    ]),
  );
}

/** Refuses (400) a form in which a read-only member differs from the record and from `nothing`. */
export function refuseOthers(
  form: object,
  record: object,
  fields: ReadOnly,
  nothing: readonly unknown[] = [null],
): void {
  for (const [name, instead] of Object.entries(fields)) {
    const value = (form as JsonObject)[name];
    if (value === undefined || nothing.some((ignored) => isDeepStrictEqual(ignored, value))) continue;
    if (isDeepStrictEqual((record as JsonObject)[name], value)) continue;
    throw errors.read_only(name, instead).with({ param: name });
  }
}
