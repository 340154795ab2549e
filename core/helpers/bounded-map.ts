/** A map with a maximum size, for keys that callers choose. */

/** A map that drops its oldest entry when it would exceed `most`. */
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
