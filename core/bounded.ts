/** What is remembered by names that callers choose: never more than a number of entries. */

/** A map that forgets its oldest entry when it would hold more than `most`. */
export function boundedMap<K, V>(most: number): Map<K, V> {
  return new BoundedMap<K, V>(most);
}

class BoundedMap<K, V> extends Map<K, V> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: K, value: V): this {
    if (this.size >= this.#most && !this.has(key)) {
      const { value: oldest } = this.keys().next();
      this.delete(oldest as K);
    }
    return super.set(key, value);
  }
}
