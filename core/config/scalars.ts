/** The scalars of a document with their places, wherever an alias repeats them. */
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Scalar } from 'yaml';
import { type Path, targetOf } from './yaml.ts';

/** More of them is no configuration: aliases that repeat aliases. */
const MOST = 20_000;

/**
 * Every scalar that is a value, at each of its places, in the order of the text; undefined where aliases repeat too much, or
 * themselves.
 */
export function scalarsOf(doc: Document): readonly (readonly [path: Path, scalar: Scalar])[] | undefined {
  const found: (readonly [Path, Scalar])[] = [];
  let left = MOST;

  const walk = (node: Node | null, path: Path, above: readonly Node[]): boolean => {
    if (node === null) return true;
    if (left-- <= 0 || above.includes(node)) return false;
    if (isAlias(node)) return walk(targetOf(node, doc) ?? null, path, [...above, node]);
    const below = [...above, node];
    if (isMap(node)) {
      return node.items.every(({ key, value }) =>
        walk(value as Node | null, [...path, isScalar(key) ? String(key.value) : ''], below),
      );
    }
    if (isSeq(node)) return node.items.every((item, i) => walk(item as Node | null, [...path, i], below));
    if (isScalar(node)) found.push([path, node]);
    return true;
  };
  return walk(doc.contents, [], []) ? found : undefined;
}

/** A place without the positions in lists: channels may be put in another order. */
export function roughly(path: Path): string {
  return JSON.stringify(path.map((step) => (typeof step === 'number' ? 0 : step)));
}
