/**
 * Classes that plugins share with core, although each may have its own copy of them: a plugin in a folder without
 * `"type": "module"` is loaded as CommonJS, and with it a second `plugin.ts`; a package may bring a gateway of its own along.
 */

/**
 * Has `instanceof` recognise what any copy of the class has made, by a mark that all copies know. Classes derived from it are
 * told apart as usual.
 */
export function sharedByCopies(type: { readonly prototype: object }, name: string): void {
  const mark = Symbol.for(`turnpike.${name}`);
  Object.defineProperty(type.prototype, mark, { value: true });
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: unknown, candidate: unknown): boolean {
      if (this !== type) return Function.prototype[Symbol.hasInstance].call(this as () => void, candidate);
      return typeof candidate === 'object' && candidate !== null && mark in candidate;
    },
  });
}
