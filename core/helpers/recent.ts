/** Values of recent keys, found by comparing keys: for what each call looks up, building a name for a map costs more than the comparison. */

/**
 * Returns a function that makes the value of a key, or returns that of the last equal key in the same place. `placeOf`: a whole number, the same for
 * equal keys. A value is kept until another key takes its place.
 */
export function createRecent<Key, Value>(
  size: number,
  placeOf: (key: Key) => number,
  isSame: (one: Key, other: Key) => boolean,
  make: (key: Key) => Value,
): (key: Key) => Value {
  const kept: ({ readonly key: Key; readonly value: Value } | undefined)[] = new Array(size).fill(undefined);
  return (key) => {
    const place = placeOf(key) % size;
    const known = kept[place];
    if (known !== undefined && isSame(known.key, key)) return known.value;
    const value = make(key);
    kept[place] = { key, value };
    return value;
  };
}
