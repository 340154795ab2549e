/** Typed names for what plugins share: services and schemas; and results that may be synchronous or a promise. */

import type { JsonObject } from './formats/json.ts';

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
/** Assigns a type to a schema; nothing checks that they agree. Prefer `typed`, except for what it cannot infer. */
export function schema<T>(definition: Record<string, unknown>): Schema<T> {
  return definition as Schema<T>;
}
/** A schema with the type that is inferred from it. Parts that are built outside of the call must be literal: `as const`. */
export function typed<const S extends Readonly<Record<string, unknown>>>(definition: S): Schema<ValueOf<S>> {
  return definition as Schema<ValueOf<S>>;
}

/** The type that a schema has. */
export type Accepted<S> = S extends Schema<infer T> ? T : never;

/**
 * The type of the values that a schema accepts, after defaults were filled in. Reads `const`, `enum`, `type`, `properties`, `required`,
 * `default`, `additionalProperties`, `items`, `anyOf` and `oneOf`; what it cannot read is unknown.
 */
export type ValueOf<S> = S extends Schema<infer T> ? (unknown extends T ? Inferred<S> : T) : Inferred<S>;

type Inferred<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: readonly (infer N)[] }
      ? OfType<S, N>
      : S extends { readonly type: infer N }
        ? OfType<S, N>
        : S extends { readonly anyOf: readonly (infer A)[] } | { readonly oneOf: readonly (infer A)[] }
          ? ValueOf<A>
          : unknown;

type OfType<S, N> = N extends 'object'
  ? ObjectOf<S>
  : N extends 'array'
    ? readonly (S extends { readonly items: infer I } ? ValueOf<I> : unknown)[]
    : N extends keyof Named
      ? Named[N]
      : unknown;

interface Named {
  readonly string: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
  readonly null: null;
}

type ObjectOf<S> = S extends { readonly properties: infer P }
  ? Members<P, S extends { readonly required: readonly (infer R)[] } ? R : never>
  : S extends { readonly additionalProperties: infer A }
    ? Readonly<Record<string, ValueOf<A>>>
    : JsonObject;

/** The type of an object with these properties, of which `R` and those with a default are there. */
export type Members<P, R = never> = Flat<
  { readonly [K in There<P, R>]: ValueOf<P[K]> } & { readonly [K in Exclude<Known<P>, There<P, R>>]?: ValueOf<P[K]> }
>;
type Flat<T> = { [K in keyof T]: T[K] };
/** The properties that are named one by one, not by an index signature. */
type Known<P> = keyof { [K in keyof P as string extends K ? never : K]: true };
/** Of these, the ones that are always there. Names in `required` that are not literal say nothing. */
type There<P, R> = {
  [K in Known<P>]: P[K] extends { readonly default: unknown } ? K : string extends R ? never : K extends R ? K : never;
}[Known<P>];

/** Header names in lower case. Core has refused or joined duplicates. */
export type Headers = Readonly<Record<string, string>>;

/** The format of a request and its answer: `chat`, `responses`, `messages`, … Plugins provide a `Style` for each. */
export type StyleName = string;
