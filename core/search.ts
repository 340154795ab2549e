/** Parses query parameters by a route's `search` schema. */
import type { Json, JsonObject } from './contracts/json.ts';
import { Dictionary } from './dictionary.ts';
import type { Schema } from './plugin.ts';

interface SearchSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>;
}

const NUMBER = /^-?\d{1,16}(\.\d{1,16})?$/;

/**
 * The parameters of the schema, with numbers and booleans converted; of duplicates, the last. Invalid values stay text,
 * which the schema refuses; empty ones count as missing.
 */
export function searchOf(schema: Schema, query: URLSearchParams): JsonObject {
  const { properties = {} } = schema as SearchSchema;
  const values = new Dictionary() as unknown as Record<string, Json>;
  for (const [name, { type }] of Object.entries(properties)) {
    const text = query.getAll(name).at(-1);
    if (text === undefined || text === '') continue;
    if (type === 'integer' && NUMBER.test(text)) values[name] = Number(text);
    else if (type === 'boolean' && (text === 'true' || text === 'false')) values[name] = text === 'true';
    else values[name] = text;
  }
  return values;
}
