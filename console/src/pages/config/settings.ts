/** The settings in a text of gateway.yaml, and the edits that change them. */
import { parseDocument } from 'yaml';
import type { Path } from './marks.ts';

/** A value of YAML. */
export type Value = null | boolean | number | string | readonly Value[] | Members;
/** A mapping. */
export interface Members {
  readonly [name: string]: Value;
}

/** One edit, as `POST /api/config/edit` takes it. */
export type Edit =
  | { readonly path: readonly (string | number)[]; readonly value: Value }
  | { readonly path: readonly (string | number)[]; readonly remove: true }
  | { readonly path: readonly (string | number)[]; readonly rename: string };

/** The settings of a text; undefined if the text is not a YAML mapping. */
export function settingsOf(text: string): Members | undefined {
  try {
    const doc = parseDocument(text, { prettyErrors: false, schema: 'core' });
    if (doc.errors.length > 0) return undefined;
    const value: unknown = doc.toJS({ maxAliasCount: 100 });
    return value === null ? {} : isMembers(value as Value) ? (value as Members) : undefined;
  } catch {
    // Aliases that repeat too much, or nesting that is too deep.
    return undefined;
  }
}

/** True for a mapping. */
export function isMembers(value: Value | undefined): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of a section that is a mapping; none if it is missing or something else. */
export function membersOf(value: Value | undefined): Members {
  return isMembers(value) ? value : {};
}

/** The items of a section that is a list; none if it is missing or something else. */
export function itemsOf(value: Value | undefined): readonly Value[] {
  return Array.isArray(value) ? value : [];
}

/** Text of a scalar; empty for anything else. */
export function textOf(value: Value | undefined): string {
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value);
}

/** True for equal values; the order of members does not matter. */
export function isSame(a: Value | undefined, b: Value | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, at) => isSame(item as Value, b[at] as Value));
  if (!isMembers(a) || !isMembers(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name]))
  );
}

/**
 * The edits that turn the value at a path into another: of the members that differ only, so that the comments of all others
 * stay. Undefined `before`: it is not there yet; undefined `after`: it is removed.
 */
export function editsBetween(path: Path, before: Value | undefined, after: Value | undefined): readonly Edit[] {
  if (isSame(before, after)) return [];
  if (after === undefined) return [{ path: [...path], remove: true }];
  if (!isMembers(before) || !isMembers(after)) return [{ path: [...path], value: after }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => editsBetween([...path, name], before[name], after[name]));
}

/** The names in `${…}` of a value: `OPENAI_API_KEY`, `secret:openai`, `file:./key`; without their defaults. */
export function referencesOf(value: Value | undefined): readonly string[] {
  return [...textOf(value).matchAll(/\$\$\{|\$\{([^}]*)\}/g)].flatMap(([, inside]) =>
    inside === undefined ? [] : [inside.replace(/:-.*$/s, '')],
  );
}

/** The keys of a channel: `key`, or all of `keys`. */
export function keysOf(channel: Members): readonly string[] {
  const several = itemsOf(channel.keys).map(textOf);
  return several.length > 0 ? several : textOf(channel.key) === '' ? [] : [textOf(channel.key)];
}

/** The name of the secret for the key of a channel that no other secret has: `groq`, `groq-2`. */
export function secretNameOf(channel: string, taken: ReadonlySet<string>): string {
  const base =
    channel
      .replace(/[^A-Za-z0-9_-]+/g, '-')
      .replace(/^[^A-Za-z]+/, '')
      .slice(0, 56) || 'key';
  for (let at = 1; ; at++) {
    const name = at === 1 ? base : `${base}-${at}`;
    if (!taken.has(name)) return name;
  }
}

/** The models that a channel serves by its own list, with the upstream name of each. */
export function modelsOfChannel(models: Members, channel: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, model] of Object.entries(models)) {
    for (const [of, upstream] of offersOf(membersOf(model).from)) if (of === channel) found.set(name, upstream || name);
  }
  return found;
}

/** The entries of `from`: channel and upstream model, which is empty if it is that of the public name. */
export function offersOf(from: Value | undefined): readonly (readonly [channel: string, upstream: string])[] {
  return itemsOf(from).flatMap((item) =>
    isMembers(item)
      ? Object.entries(item).map(([channel, upstream]) => [channel, textOf(upstream)] as const)
      : [[textOf(item), ''] as const],
  );
}

/** The same as it is written in the file. */
export function fromOf(offers: readonly (readonly [channel: string, upstream: string])[]): Value {
  return offers.map(([channel, upstream]) => (upstream === '' ? channel : { [channel]: upstream }));
}
