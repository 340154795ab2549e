/** How plugins name what they share: services and schemas, each with its type; and what they may answer at once or later. */

/** A value or a promise of it. A function that has its value at once returns it without a promise. */
export type Awaitable<T> = T | Promise<T>;

/** A name for something one plugin gives and others use; the type rides along. */
export interface Service<out T> {
  readonly id: string;
  readonly type?: T;
}
/** Names a service. Two calls with one id name the same. */
export function service<T>(id: string): Service<T> {
  return { id };
}

/** A JSON Schema that knows the type it describes. */
export interface Schema<out T = unknown> {
  readonly [keyword: string]: unknown;
  readonly $type?: T;
}
/** Says which type a schema describes; nothing checks that they agree. */
export function schema<T>(definition: Record<string, unknown>): Schema<T> {
  return definition as Schema<T>;
}
