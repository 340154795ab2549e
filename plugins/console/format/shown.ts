/** Records as their schema shows them. */
import type { Json } from '../../../core/plugin.ts';
import { secondsOf } from './units.ts';

/** `heap_used` is `heapUsed` of the record, `started_at` is `startedMs`. */
type Source<Name extends string> = Name extends 'at'
  ? 'atMs'
  : Name extends `${infer Event}_at`
    ? `${Camel<Event>}Ms`
    : Camel<Name>;
type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;

/** The members that a schema names and a record does not have, at any depth. */
type Missing<S, R> = S extends { readonly items: infer Item }
  ? NonNullable<R> extends readonly (infer Each)[]
    ? Missing<Item, Each>
    : never
  : S extends { readonly properties: infer P }
    ? {
        [Name in keyof P & string]: Source<Name> extends keyof NonNullable<R>
          ? Missing<P[Name], NonNullable<R>[Source<Name>]>
          : Source<Name>;
      }[keyof P & string]
    : never;

interface Shape {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
}

/**
 * The members of a record that its schema names: `heap_used` is its `heapUsed`, and `started_at` its `startedMs` in Unix seconds. An undefined value
 * is null if the schema allows that, otherwise empty, false or 0. Values are not converted: amounts must be in units of `/api`.
 */
export function shownAs<S extends object, R>(
  schema: S,
  record: R & ([Missing<S, R>] extends [never] ? unknown : Readonly<Record<Missing<S, R>, unknown>>),
): Json {
  return shown(schema as Shape, record) as Json;
}

function shown({ type, properties, items }: Shape, value: unknown): unknown {
  if (value === undefined || value === null) return nothingOf(type);
  if (items !== undefined) return (value as readonly unknown[]).map((each) => shown(items, each));
  if (properties === undefined) return value;
  const record = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(properties).map(([name, shape]) => [name, shown(shape, memberOf(record, name))]),
  );
}

function memberOf(record: Readonly<Record<string, unknown>>, name: string): unknown {
  const source = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  if (!/(^|_)at$/.test(name)) return record[source];
  const ms = record[source.replace(/[aA]t$/, name === 'at' ? 'atMs' : 'Ms')];
  return typeof ms === 'number' ? secondsOf(ms) : undefined;
}

function nothingOf(type: Shape['type']): unknown {
  if (type === undefined || type.includes('null')) return null;
  return { string: '', boolean: false, array: [] }[type as string] ?? 0;
}
