/** The entries of the section `models` by name: exact names, patterns with `*`, and suggestions of similar names. */
import { nearest, starIn } from '../../core/sdk.ts';
import type { ModelEntry } from './sections.ts';

/** Lookups in the section. */
export interface Entries {
  /** By the name as it is in the section, patterns included. */
  readonly all: ReadonlyMap<string, ModelEntry>;
  /** Names without `*`, in order. */
  readonly names: readonly string[];
  /** Patterns. */
  readonly patterns: readonly string[];
  /** The pattern that matches a name without an entry: the longest, and of several the first. */
  patternOf(name: string): { readonly name: string; readonly entry: ModelEntry; readonly star: string } | undefined;
  entryOf(name: string): ModelEntry | undefined;
  /** The name of the entry for a name. */
  keyOf(name: string | undefined): string | undefined;
  /** The name at the end of a chain of aliases; undefined if it ends nowhere. */
  resolve(name: string): string | undefined;
  /** The name, and those that it leads to by aliases; ends with what `resolve` returns, if that is defined. */
  path(name: string): readonly string[];
}

/** A name that can be sent to a vendor through a pattern. */
const ASKABLE = /^[\x21-\x29\x2b-\x7e]{1,200}$/;

export function createEntries(section: Readonly<Record<string, ModelEntry>>): Entries {
  const all = new Map(Object.entries(section));
  const [names, patterns] = [false, true].map((starred) =>
    [...all.keys()].filter((name) => name.includes('*') === starred),
  );
  const longestFirst = patterns!.toSorted((a, b) => b.length - a.length);

  const patternOf: Entries['patternOf'] = (name) => {
    if (longestFirst.length === 0 || !ASKABLE.test(name)) return undefined;
    for (const pattern of longestFirst) {
      const star = starIn(pattern, name);
      if (star !== undefined) return { name: pattern, entry: all.get(pattern)!, star };
    }
    return undefined;
  };
  const keyOf: Entries['keyOf'] = (name) => (name === undefined || all.has(name) ? name : patternOf(name)?.name);
  const entryOf: Entries['entryOf'] = (name) => all.get(name) ?? patternOf(name)?.entry;

  const path: Entries['path'] = (name) => {
    const seen = new Set<string>();
    for (let at: string | undefined = name; at !== undefined && !seen.has(at); at = entryOf(at)?.alias) seen.add(at);
    return [...seen];
  };

  return {
    all,
    names: names!,
    patterns: patterns!,
    patternOf,
    entryOf,
    keyOf,
    path,
    resolve(name) {
      const last = path(name).at(-1)!;
      const entry = entryOf(last);
      return entry?.alias === undefined && entry !== undefined ? last : undefined;
    },
  };
}

/** Longer names are ignored: clients can send any name, and comparing takes time proportional to the product of the lengths. */
const MAX_LENGTH = 200;

/** `; did you mean x?`, or an empty text if no name is similar. */
export function didYouMean(name: string, names: readonly string[]): string {
  const candidate = name.length > MAX_LENGTH ? undefined : nearest(name, names);
  return candidate === undefined ? '' : `; did you mean ${candidate}?`;
}
