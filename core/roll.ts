/** Who is present: a set for what comes and goes with every call. */

/** What can be on a roll; on one at a time. */
export interface Member {
  /** Its place on the roll, which alone may change it; -1 where it is on none. */
  place: number;
}

/** How many came, on all rolls that it is given to. */
export interface Tally {
  added: number;
}

/** Who is here now. */
export interface Roll<T extends Member> extends Iterable<T> {
  add(member: T): void;
  /** Nothing happens where it is not on this roll. */
  delete(member: T): void;
  readonly size: number;
  /** Resolves when nobody is on it. */
  empty(): Promise<void>;
}

/**
 * An empty roll; iterating sees those present when it began. It is no `Set`: under load, with Sets in this place, far more of
 * what belongs to calls that have ended was moved to the old generation. That was measured; why V8 does it was not looked into.
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
