/** The entries of the section `models` by name: exact names, patterns with `*`, and suggestions of similar names. */
import { nearest, starIn } from '../../core/sdk.ts';
import type { ModelEntry } from './sections.ts';

/** A name that can be sent to a vendor through a pattern. */
const ASKABLE = /^[\x21-\x29\x2b-\x7e]{1,200}$/;

/** Lookups in the section. */
export function createEntries(section: Readonly<Record<string, ModelEntry>>) {
  const all: ReadonlyMap<string, ModelEntry> = new Map(Object.entries(section));
  const [names, patterns] = [false, true].map((starred) =>
    [...all.keys()].filter((name) => name.includes('*') === starred),
  );
  const longestFirst = patterns!.toSorted((a, b) => b.length - a.length);

  /** The pattern that matches a name without an entry: the longest, and of several the first. */
  const patternOf = (name: string) => {
    if (longestFirst.length === 0 || !ASKABLE.test(name)) return undefined;
    for (const pattern of longestFirst) {
      const star = starIn(pattern, name);
      if (star !== undefined) return { name: pattern, entry: all.get(pattern)!, star };
    }
    return undefined;
  };
  /** The name of the entry for a name. */
  const keyOf = (name: string | undefined) => (name === undefined || all.has(name) ? name : patternOf(name)?.name);
  const entryOf = (name: string) => all.get(name) ?? patternOf(name)?.entry;

  /** The name, and those that it leads to by aliases; ends with what `resolve` returns, if that is defined. */
  const path = (name: string): readonly string[] => {
    const seen = new Set<string>();
    for (let at: string | undefined = name; at !== undefined && !seen.has(at); at = entryOf(at)?.alias) seen.add(at);
    return [...seen];
  };

  return {
    /** By the name as it is in the section, patterns included. */
    all,
    /** Names without `*`, in order. */
    names: names!,
    patterns: patterns!,
    patternOf,
    entryOf,
    keyOf,
    path,
    /** The name at the end of a chain of aliases; undefined if it ends nowhere. */
    resolve(name: string): string | undefined {
      const last = path(name).at(-1)!;
      const entry = entryOf(last);
      return entry?.alias === undefined && entry !== undefined ? last : undefined;
    },
  };
}

export type Entries = ReturnType<typeof createEntries>;

/** Longer names are ignored: clients can send any name, and comparing takes time proportional to the product of the lengths. */
const MAX_LENGTH = 200;

/** `; did you mean x?`, or an empty text if no name is similar. */
export function didYouMean(name: string, names: readonly string[]): string {
  const candidate = name.length > MAX_LENGTH ? undefined : nearest(name, names);
  return candidate === undefined ? '' : `; did you mean ${candidate}?`;
}
