/** The matches of several matchers in one text: what a thread returns for a large one, without copying them. */
import { type Finder, Scanner } from '../contracts/matching.ts';

/** Three numbers for each match, in order: start, end, and the index of its matcher. */
export type Matches = Uint32Array;

/** Collects matches one at a time, so that other work can run in between. */
export class MatchCollector {
  readonly #scanner: Scanner<{ readonly index: number } & Finder>;
  readonly #most: number;
  readonly #found: number[] = [];
  #at = 0;

  /** `of`: the indexes of the matchers to use; `most`: where it ends. */
  constructor(finders: readonly Finder[], text: string, of: readonly number[], most: number) {
    const own = of.map((index) => ({ index, find: (each: string, from: number) => finders[index]!.find(each, from) }));
    this.#scanner = new Scanner(own, text);
    this.#most = most;
  }

  /** Looks for the next match; false if there is none, or there are enough. */
  next(): boolean {
    if (this.#found.length >= this.#most * 3) return false;
    const match = this.#scanner.next(this.#at);
    if (match === undefined) return false;
    this.#found.push(match.start, match.end, match.by.index);
    this.#at = match.end;
    return true;
  }

  get matches(): Matches {
    return Uint32Array.from(this.#found);
  }
}
