/** Named schemas: each is written once, in `components`, and referred to. */
import { isDeepStrictEqual } from 'node:util';
import { type Members, mapSchemas } from './schema-walk.ts';

/** Titles that are schema names; a title of several words is descriptive text. */
const NAME = /^[A-Z][A-Za-z0-9]*$/;

/**
 * Copies a schema. Each schema whose `title` is a name is replaced by a reference and added to `schemas` under that name. A description next to the
 * title stays at the reference. If plugins give one name to different schemas, the reference is to the first one, and the others stay inline.
 */
export function withReferences(schema: Members, schemas: Members): Members {
  const { title, description, ...others } = schema;
  const copy = mapSchemas(others, (inner) => withReferences(inner, schemas));
  const about = description === undefined ? {} : { description };
  if (typeof title !== 'string' || !NAME.test(title))
    return { ...(title !== undefined && { title }), ...about, ...copy };
  schemas[title] ??= copy;
  if (!isDeepStrictEqual(schemas[title], copy)) return { ...about, ...copy };
  return { $ref: `#/components/schemas/${title}`, ...about };
}

/** The members sorted by name. */
export function inOrder(members: Members): Members {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
}
