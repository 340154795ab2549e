/** The entries of the section `models` by name: those that spell it out, and those whose `*` stands for a part of it. */
import { starIn } from '../../core/sdk.ts';
import type { ModelEntry } from './sections.ts';

/** The section, to be looked up in. */
export interface Entries {
  /** By the name that is written there, `*` and all. */
  readonly all: ReadonlyMap<string, ModelEntry>;
  /** Names without a `*`, in their order. */
  readonly names: readonly string[];
  /** Those with one. */
  readonly patterns: readonly string[];
  /** The pattern that stands for a name that is not written there: the longest, of several the first. */
  patternOf(name: string): { readonly name: string; readonly entry: ModelEntry; readonly star: string } | undefined;
  entryOf(name: string): ModelEntry | undefined;
  /** The name under which the entry of a name is written. */
  keyOf(name: string | undefined): string | undefined;
  /** The name behind an alias of an alias; undefined where it leads nowhere. */
  resolve(name: string): string | undefined;
}

/** A name that a vendor may be asked for although nobody wrote it down. */
const ASKABLE = /^[\x21-\x29\x2b-\x7e]{1,200}$/;

/** Reads the section. */
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

  return {
    all,
    names: names!,
    patterns: patterns!,
    patternOf,
    entryOf,
    keyOf,
    resolve(name) {
      const seen = new Set<string>();
      for (let at = name; !seen.has(at); ) {
        seen.add(at);
        const entry = entryOf(at);
        if (entry?.alias === undefined) return entry && at;
        at = entry.alias;
      }
      return undefined;
    },
  };
}
