/**
 * `instanceof` across copies of a class: a plugin in a folder without `"type": "module"` is loaded as CommonJS, and
 * with it a second `plugin.ts`; a package may bring its own gateway.
 */

/** Makes `instanceof` accept instances of any copy of the class, by a shared mark; derived classes as usual. */
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
