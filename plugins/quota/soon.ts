/** Work that begins after it is asked for, once for all that ask in the meantime: many calls at once look something up together. */

interface State<T> {
  readonly now: Promise<T>;
  next: Promise<T> | undefined;
}

/** Work of one kind, by what it is about. */
export class Soon<K, T> {
  readonly #states = new Map<K, State<T>>();

  /** Begins the work, or has it begin when what is under way for the same key has ended. Those that wait share the work of the first of them. */
  ask(key: K, work: () => Promise<T>): Promise<T> {
    const state = this.#states.get(key);
    if (state === undefined) return this.#begin(key, work);
    const begin = (): Promise<T> => this.#begin(key, work);
    state.next ??= state.now.then(begin, begin);
    return state.next;
  }

  /** The last work that is under way or waits; undefined: there is none. */
  last(key: K): Promise<T> | undefined {
    const state = this.#states.get(key);
    return state?.next ?? state?.now;
  }

  #begin(key: K, work: () => Promise<T>): Promise<T> {
    const now = work().finally(() => {
      if (this.#states.get(key) === state && state.next === undefined) this.#states.delete(key);
    });
    const state: State<T> = { now, next: undefined };
    this.#states.set(key, state);
    return now;
  }
}
