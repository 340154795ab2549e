/** The placeholders of one call and their values. */
import { type Finder, patternFinder, Scanner } from '../../core/contracts/matching.ts';
import { type Matches, replaceMatches } from '../../core/sdk.ts';
import { Shifts, type TextFlow } from '../../core/translation/index.ts';

/** Finds values of one kind. */
export interface KindFinder extends Finder {
  readonly kind: string;
}

/** Any placeholder. A text that already contains one is a value: it gets its own placeholder. */
const PLACEHOLDER = /\[[A-Z][A-Z_]*_\d+\]/g;
/** The beginning of a placeholder at the end of a text. */
const BEGUN = /\[(?:[A-Z][A-Z_]{0,20}\d{0,9})?$/;

/** Creates a finder of texts that look like placeholders of these kinds. */
export function placeholderFinders(kinds: readonly string[]): readonly KindFinder[] {
  return [...new Set(kinds)].map((kind) => ({ kind, ...patternFinder(String.raw`\[${kind}_\d+\]`) }));
}

/** Values and their placeholders, numbered in the order of appearance: the beginning of a conversation always gets the same ones. */
export class Table {
  readonly #finders: readonly KindFinder[];
  readonly #placeholders = new Map<string, string>();
  readonly #values = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  constructor(finders: readonly KindFinder[]) {
    this.#finders = finders;
  }

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  /** How many values of each kind there are. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** Replaces values by placeholders. */
  hide(text: string): string {
    const scanner = new Scanner(this.#finders, text);
    let out = '';
    let at = 0;
    for (;;) {
      const match = scanner.next(at);
      if (match === undefined) return at === 0 ? text : out + text.slice(at);
      out += text.slice(at, match.start) + this.#placeholder(match.by.kind, text.slice(match.start, match.end));
      at = match.end;
    }
  }

  /** The same with the matches that a thread has found: three numbers for each, in order. */
  hideMatches(text: string, matches: Matches): Promise<string> {
    return replaceMatches(text, matches, (index, found) => this.#placeholder(this.#finders[index]!.kind, found));
  }

  #placeholder(kind: string, value: string): string {
    const existing = this.#placeholders.get(value);
    if (existing !== undefined) return existing;
    const number = (this.#counts.get(kind) ?? 0) + 1;
    const placeholder = `[${kind}_${number}]`;
    this.#counts.set(kind, number);
    this.#placeholders.set(value, placeholder);
    this.#values.set(placeholder, value);
    return placeholder;
  }

  /** Replaces placeholders by their values; unknown placeholders stay. */
  restore(text: string): string {
    return text.replace(PLACEHOLDER, (placeholder) => this.#values.get(placeholder) ?? placeholder);
  }

  /** The same for a growing text: the beginning of a placeholder at its end is held back. */
  flow(): TextFlow {
    let held = '';
    /** The offset of `held` in the whole text. */
    let offset = 0;
    const shifts = new Shifts();
    const release = (text: string): string => {
      for (const { 0: placeholder, index } of text.matchAll(PLACEHOLDER)) {
        const value = this.#values.get(placeholder) ?? placeholder;
        shifts.add(offset + index, offset + index + placeholder.length, value.length);
      }
      offset += text.length;
      return this.restore(text);
    };
    return {
      push(text) {
        const all = held + text;
        const begun = BEGUN.exec(all)?.index ?? all.length;
        held = all.slice(begun);
        return release(all.slice(0, begun));
      },
      end() {
        const rest = held;
        held = '';
        return release(rest);
      },
      moved: (place) => shifts.moved(place),
    };
  }
}
