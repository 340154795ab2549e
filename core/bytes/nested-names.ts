/** The member names of the open objects of a JSON body, so that a name that an object has twice is found. */

/** Objects with more names are looked up in a set: comparing each name with all others would take quadratic time. */
const FEW = 16;
const BACKSLASH = 0x5c;

/**
 * One for a scan. Names of the innermost object are at the end of the list; a name is a start and an end in the body. Names with escapes are
 * compared as what they mean.
 */
export class NestedNames {
  readonly #bytes: Buffer;
  readonly #nameAt: (bytes: Buffer, start: number, end: number) => string;
  readonly #spans: number[] = [];
  /** How much of the list is used: setting the length of an array is slow. */
  #used = 0;
  /** Where the names of each open object begin. */
  readonly #bases: number[] = [];
  /** The names of objects with many, or with escapes, by the index of the object. */
  readonly #sets: (Set<string> | undefined)[] = [];

  /** `nameAt`: decodes a name. */
  constructor(bytes: Buffer, nameAt: (bytes: Buffer, start: number, end: number) => string) {
    this.#bytes = bytes;
    this.#nameAt = nameAt;
  }

  /** An object begins. */
  open(): void {
    this.#bases.push(this.#used);
  }

  /** The innermost object ends. */
  close(): void {
    this.#used = this.#bases.pop()!;
    if (this.#sets.length > this.#bases.length) this.#sets.length = this.#bases.length;
  }

  /** Adds a name to the innermost object; false if it has it already. */
  add(start: number, end: number): boolean {
    const object = this.#bases.length - 1;
    const base = this.#bases[object]!;
    const spans = this.#spans;
    let names = this.#sets[object];
    if (names === undefined && (this.#used - base >= 2 * FEW || this.#isEscaped(start, end))) {
      names = new Set();
      for (let at = base; at < this.#used; at += 2) names.add(this.#nameAt(this.#bytes, spans[at]!, spans[at + 1]!));
      this.#sets[object] = names;
    }
    if (names !== undefined) {
      const { size } = names;
      return names.add(this.#nameAt(this.#bytes, start, end)).size > size;
    }
    for (let at = base; at < this.#used; at += 2)
      if (this.#isSame(spans[at]!, spans[at + 1]!, start, end)) return false;
    spans[this.#used++] = start;
    spans[this.#used++] = end;
    return true;
  }

  #isEscaped(start: number, end: number): boolean {
    for (let at = start; at < end; at++) if (this.#bytes[at] === BACKSLASH) return true;
    return false;
  }

  #isSame(oneStart: number, oneEnd: number, start: number, end: number): boolean {
    const bytes = this.#bytes;
    if (oneEnd - oneStart !== end - start) return false;
    // Names in one list often begin alike and end differently.
    for (let one = oneEnd - 1, other = end - 1; other >= start; one--, other--)
      if (bytes[one] !== bytes[other]) return false;
    return true;
  }
}
