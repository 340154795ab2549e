/** The scalars of a document with their paths, also where an alias repeats them. */
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Scalar } from 'yaml';
import { type Path, targetOf } from './yaml.ts';

/** A document with more scalars is not a configuration: it has aliases that repeat aliases. */
const MOST = 20_000;

/** Every scalar value at each of its paths, in text order; undefined if aliases repeat too much, or themselves. */
export function scalarsOf(doc: Document): readonly (readonly [path: Path, scalar: Scalar])[] | undefined {
  const scalars: (readonly [Path, Scalar])[] = [];
  let budget = MOST;

  const walk = (node: Node | null, path: Path, above: readonly Node[]): boolean => {
    if (node === null) return true;
    if (budget-- <= 0 || above.includes(node)) return false;
    if (isAlias(node)) return walk(targetOf(node, doc) ?? null, path, [...above, node]);
    const below = [...above, node];
    if (isMap(node)) {
      return node.items.every(({ key, value }) =>
        walk(value as Node | null, [...path, isScalar(key) ? String(key.value) : ''], below),
      );
    }
    if (isSeq(node)) return node.items.every((item, i) => walk(item as Node | null, [...path, i], below));
    if (isScalar(node)) scalars.push([path, node]);
    return true;
  };
  return walk(doc.contents, [], []) ? scalars : undefined;
}

/** A path without list positions: channels may be reordered. */
export function roughly(path: Path): string {
  return JSON.stringify(path.map((step) => (typeof step === 'number' ? 0 : step)));
}
