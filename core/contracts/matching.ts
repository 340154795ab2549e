/**
 * How plugins find words and patterns in texts. Patterns have the syntax of RE2 and are matched in linear time, whatever the text: one
 * that backtracks in other engines (`(a+)+b`) cannot make a call slow.
 */
import { RE2JS } from 're2js';

/** A match in a text, in UTF-16 units; `end` is exclusive. Never empty. */
export interface Match {
  readonly start: number;
  readonly end: number;
}

/** A matcher. */
export interface Finder {
  /** The first match that starts at `from` or later. */
  find(text: string, from: number): Match | undefined;
}

/** Creates a matcher for a pattern. Throws an `Error` whose message describes what is wrong with the pattern. */
export function patternFinder(pattern: string): Finder {
  const compiled = compile(pattern);
  return {
    find(text, from) {
      // Without capturing groups the engine is many times faster, and usually there is no match.
      if (from > text.length || !compiled.test(text)) return undefined;
      const matcher = compiled.matcher(text);
      for (let at = from; at <= text.length && matcher.find(at); at++) {
        const [start, end] = [matcher.start(), matcher.end()];
        if (end > start) return { start, end };
        at = Math.max(at, start);
      }
      return undefined;
    },
  };
}

/** Any white space between two words: line breaks, no-break spaces, several, and characters without a width. */
const SPACES = String.raw`[\s\p{Z}\x{85}\x{200b}-\x{200d}\x{2060}\x{feff}]+`;

/** Matches words and phrases, ignoring case; a space in them matches any white space. Not if a letter, digit or underscore precedes or follows. */
export function wordFinder(words: readonly string[]): Finder {
  // The longest of several that start at the same position.
  const any = words
    .toSorted((a, b) => b.length - a.length)
    .map((word) =>
      word
        .split(/[\s\p{Z}]+/u)
        .map((part) => RE2JS.quote(part))
        .join(SPACES),
    )
    .join('|');
  const compiled = RE2JS.compile(`(?:^|[^\\p{L}\\p{N}_])(${any})(?:$|[^\\p{L}\\p{N}_])`, RE2JS.CASE_INSENSITIVE);
  return {
    find(text, from) {
      if (from > text.length || !compiled.test(text)) return undefined;
      const matcher = compiled.matcher(text);
      // The match includes the character before the word.
      for (let at = Math.max(0, from - 1); at <= text.length && matcher.find(at); at = matcher.end(1)) {
        if (matcher.start(1) >= from) return { start: matcher.start(1), end: matcher.end(1) };
      }
      return undefined;
    },
  };
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new Error(`is not a valid RE2 pattern: ${(error as Error).message}`);
  }
}

/** Several matchers on one text, from start to end. Each of them scans the text once. */
export class Scanner<F extends Finder> {
  readonly #text: string;
  /** The next match of each matcher; undefined: none left. */
  readonly #next: { readonly by: F; match: Match | undefined }[];

  constructor(finders: readonly F[], text: string, from = 0) {
    this.#text = text;
    this.#next = finders.map((by) => ({ by, match: by.find(text, from) }));
  }

  /** The first match at `from` or later; among equals the longest, then the first matcher's. `from` never decreases. */
  next(from: number): (Match & { readonly by: F }) | undefined {
    let first: { readonly by: F; readonly match: Match } | undefined;
    for (const each of this.#next) {
      if (each.match !== undefined && each.match.start < from) each.match = each.by.find(this.#text, from);
      const { by, match } = each;
      if (match === undefined) continue;
      const isFirst =
        first === undefined ||
        match.start < first.match.start ||
        (match.start === first.match.start && match.end > first.match.end);
      if (isFirst) first = { by, match };
    }
    return first && { ...first.match, by: first.by };
  }
}
