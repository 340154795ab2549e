/** Typed names for what plugins share: services and schemas; and results that may be synchronous or a promise. */

/** A value or a promise of it. A function that has its value already returns it without a promise. */
export type Awaitable<T> = T | Promise<T>;

/** The name of something one plugin provides and others use, with its type. */
export interface Service<out T> {
  readonly id: string;
  readonly type?: T;
}
/** Names a service. Two calls with the same id name the same service. */
export function service<T>(id: string): Service<T> {
  return { id };
}

/** A JSON Schema with the TypeScript type it describes. */
export interface Schema<out T = unknown> {
  readonly [keyword: string]: unknown;
  readonly $type?: T;
}
/** Assigns a type to a schema; nothing checks that they agree. */
export function schema<T>(definition: Record<string, unknown>): Schema<T> {
  return definition as Schema<T>;
}
