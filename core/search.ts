/** What the query of an address says, as the values that a route's `search` schema names. */
import type { Json, JsonObject } from './contracts/json.ts';
import { Dictionary } from './dictionary.ts';
import type { Schema } from './plugin.ts';

interface SearchSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>;
}

const NUMBER = /^-?\d{1,16}(\.\d{1,16})?$/;

/**
 * The parameters that the schema has, numbers and booleans as such; of one that came twice, the last. What cannot be read
 * stays text, for the schema to refuse; an empty one counts as left out.
 */
export function searchOf(schema: Schema, query: URLSearchParams): JsonObject {
  const { properties = {} } = schema as SearchSchema;
  const asked = new Dictionary() as unknown as Record<string, Json>;
  for (const [name, { type }] of Object.entries(properties)) {
    const text = query.getAll(name).at(-1);
    if (text === undefined || text === '') continue;
    if (type === 'integer' && NUMBER.test(text)) asked[name] = Number(text);
    else if (type === 'boolean' && (text === 'true' || text === 'false')) asked[name] = text === 'true';
    else asked[name] = text;
  }
  return asked;
}
