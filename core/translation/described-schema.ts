/** The schema of an answer for vendors that have no separate field for its description. */

import type { Output } from '../contracts/conversation.ts';
import type { JsonObject } from '../contracts/json.ts';

/** The schema with the description from its sibling field. */
export function describedSchema({
  schema,
  description,
}: Extract<Output['format'], { readonly type: 'schema' }>): JsonObject {
  if (description === undefined || description === schema.description) return schema;
  const own = schema.description;
  return { ...schema, description: typeof own === 'string' ? `${description}\n\n${own}` : description };
}
