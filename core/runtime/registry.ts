/** A registry for objects that are added and removed with every call. */

/** An entry; it can be in one registry at a time. */
export interface Member {
  /** Its index, which only the registry may change; -1 if it is in none. */
  place: number;
}

/** Counts additions to all registries that share it. */
export interface Tally {
  added: number;
}

/** A set of entries. */
export interface Roll<T extends Member> extends Iterable<T> {
  add(member: T): void;
  /** Does nothing if the entry is not in this registry. */
  delete(member: T): void;
  readonly size: number;
  /** Resolves when it is empty. */
  empty(): Promise<void>;
}

/**
 * An empty registry; iterating uses the entries present at its start. Not a `Set`: under load, Sets caused far more
 * objects of finished calls to be promoted to the old generation. That was measured; the cause in V8 was not
 * investigated.
 */
export function createRoll<T extends Member>(tally: Tally = { added: 0 }): Roll<T> {
  const present: T[] = [];
  const waiting: (() => void)[] = [];
  return {
    add(member) {
      tally.added++;
      member.place = present.length;
      present.push(member);
    },
    delete(member) {
      const { place } = member;
      if (present[place] !== member) return;
      member.place = -1;
      const last = present.pop()!;
      if (last !== member) {
        present[place] = last;
        last.place = place;
      }
      if (present.length === 0 && waiting.length > 0) for (const done of waiting.splice(0)) done();
    },
    get size() {
      return present.length;
    },
    empty: () =>
      new Promise((done) => {
        if (present.length === 0) done();
        else waiting.push(done);
      }),
    [Symbol.iterator]: () => present.slice().values(),
  };
}
