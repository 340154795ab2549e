/** Who is present: a set for what comes and goes with every call. */

/** What can be on a roll; on one at a time. */
export interface Member {
  /** Its place on the roll, which alone may change it; -1 where it is on none. */
  place: number;
}

export interface Roll<T extends Member> extends Iterable<T> {
  add(member: T): void;
  /** Nothing happens where it is not on this roll. */
  delete(member: T): void;
  readonly size: number;
}

/**
 * An empty roll; iterating sees those present when it began. It is no `Set`, because of what V8 does for a Set that changes
 * all the time: its tables wear out, and each one that is thrown away leads to the next. One of them in the old generation
 * keeps alive all that follow, and with them every call that ever was in one, until the next full collection.
 */
export function createRoll<T extends Member>(): Roll<T> {
  const present: T[] = [];
  return {
    add(member) {
      member.place = present.length;
      present.push(member);
    },
    delete(member) {
      const { place } = member;
      if (present[place] !== member) return;
      member.place = -1;
      const last = present.pop()!;
      if (last === member) return;
      present[place] = last;
      last.place = place;
    },
    get size() {
      return present.length;
    },
    [Symbol.iterator]: () => present.slice().values(),
  };
}
