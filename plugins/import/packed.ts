/** Lists of very many things. Objects of the heap take several times the room of what they say, and the heap grows to a multiple of what lives in it. */
import { deserialize, serialize } from 'node:v8';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Things of one page: some of them exist as objects while a list is gone through. */
const PAGE = 200;

/** Things in an order, to be gone through as often as needed. An array is one, too. */
export interface Things<T> extends Iterable<T> {
  readonly length: number;
}

/** A list that keeps its things as bytes. They must be data without methods; each time they are read, they are new objects. */
export class Packed<T> implements Things<T> {
  readonly #pages: Uint8Array[] = [];
  #last: T[] = [];

  push(thing: T): void {
    if (this.#last.push(thing) < PAGE) return;
    // Things of a page are alike: it shrinks to a fraction at the fastest level.
    this.#pages.push(new Uint8Array(deflateRawSync(serialize(this.#last), { level: 1 })));
    this.#last = [];
  }

  get length(): number {
    return this.#pages.length * PAGE + this.#last.length;
  }

  *[Symbol.iterator](): Generator<T> {
    for (const page of this.#pages) yield* deserialize(inflateRawSync(page)) as readonly T[];
    yield* this.#last;
  }
}

/** The things as `as` makes them, each time they are gone through: no second list is kept. */
export function viewed<T, U>(things: Things<T>, as: (thing: T) => U): Things<U> {
  return {
    length: things.length,
    *[Symbol.iterator]() {
      for (const thing of things) yield as(thing);
    },
  };
}

/** Those of the things whose mark, at their place, is `mark`. */
export function marked<T>(things: Things<T>, marks: Uint8Array, mark: number): Things<T> {
  return {
    length: marks.reduce((count, each) => (each === mark ? count + 1 : count), 0),
    *[Symbol.iterator]() {
      let place = 0;
      for (const thing of things) if (marks[place++] === mark) yield thing;
    },
  };
}

/** Bytes of one chunk of texts. */
const CHUNK = 2 ** 18;
/** Bytes of the length in front of a text. */
const LENGTH = 4;

/** Texts as bytes, each read by its number. */
export class Texts {
  readonly #chunks: Buffer[] = [];
  #end = CHUNK;

  /** Adds a text, and returns its number. */
  add(text: string): number {
    const size = LENGTH + Buffer.byteLength(text);
    if (this.#end + size > CHUNK) {
      // A longer text has a chunk of its own.
      this.#chunks.push(Buffer.alloc(Math.max(CHUNK, size)));
      this.#end = 0;
    }
    const chunk = this.#chunks.at(-1)!;
    const at = this.#end;
    chunk.writeUInt32LE(size - LENGTH, at);
    chunk.write(text, at + LENGTH);
    this.#end += size;
    return (this.#chunks.length - 1) * CHUNK + at;
  }

  at(number: number): string {
    const chunk = this.#chunks[Math.floor(number / CHUNK)]!;
    const begin = (number % CHUNK) + LENGTH;
    return chunk.toString('utf8', begin, begin + chunk.readUInt32LE(begin - LENGTH));
  }
}
