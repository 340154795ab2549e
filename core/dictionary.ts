/** Objects whose member names strangers choose, such as headers. */

/**
 * `new Dictionary()` is an empty object without a prototype: a member may be called anything, `__proto__` included. It is what
 * `Object.create(null)` gives, except that V8 keeps those as hash tables, which are slow to fill and to go through.
 */
export const Dictionary = function Dictionary() {} as unknown as new () => Record<string, string>;
Object.defineProperty(Dictionary, 'prototype', { value: Object.create(null) });
