/** Work that many callers share: many calls at once read the same bucket together. */

interface State<T> {
  readonly running: Promise<T>;
  next: Promise<T> | undefined;
}

/** Shares work by key. */
export class Coalescer<K, T> {
  readonly #states = new Map<K, State<T>>();

  /**
   * The result of work that begins after this call. If work for the same key is running, the next begins when it has ended, and all who call
   * in the meantime share the work of the first of them.
   */
  run(key: K, work: () => Promise<T>): Promise<T> {
    const state = this.#states.get(key);
    if (state === undefined) return this.#begin(key, work);
    const begin = (): Promise<T> => this.#begin(key, work);
    state.next ??= state.running.then(begin, begin);
    return state.next;
  }

  /** The latest work that is running or waiting; undefined: there is none. */
  latest(key: K): Promise<T> | undefined {
    const state = this.#states.get(key);
    return state?.next ?? state?.running;
  }

  #begin(key: K, work: () => Promise<T>): Promise<T> {
    const running = work().finally(() => {
      if (this.#states.get(key) === state && state.next === undefined) this.#states.delete(key);
    });
    const state: State<T> = { running, next: undefined };
    this.#states.set(key, state);
    return running;
  }
}
