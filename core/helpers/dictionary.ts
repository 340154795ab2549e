/** Objects with untrusted keys, such as headers. */

/**
 * `new Dictionary()` is an empty object without a prototype: any key is safe, `__proto__` included. Same as
 * `Object.create(null)`, except that V8 keeps those as hash tables, which are slow to fill and to iterate.
 */
export const Dictionary = function Dictionary() {} as unknown as new () => Record<string, string>;
Object.defineProperty(Dictionary, 'prototype', { value: Object.create(null) });
