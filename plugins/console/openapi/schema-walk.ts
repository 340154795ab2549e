/** Visits the schemas inside a schema. Texts and values (`description`, `default`, `enum`, `examples`) are not visited: they may look like schemas. */

/** A schema as an object with members. */
export type Members = Record<string, unknown>;

const SINGLE = ['items', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else', 'contains'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties', '$defs'];

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Copies a schema with every schema directly inside it replaced. `required`: it is a property that is always there, or no property of an
 * object.
 */
export function mapSchemas(schema: Members, replace: (inner: Members, required: boolean) => unknown): Members {
  const always = (inner: unknown, required = true): unknown => (isMembers(inner) ? replace(inner, required) : inner);
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (SINGLE.includes(keyword)) return [keyword, always(value, keyword !== 'additionalProperties')];
      if (LISTS.includes(keyword) && Array.isArray(value)) return [keyword, value.map((inner) => always(inner))];
      if (!MAPS.includes(keyword) || !isMembers(value)) return [keyword, value];
      return [
        keyword,
        Object.fromEntries(
          Object.entries(value).map(([name, inner]) => [name, always(inner, required.includes(name))]),
        ),
      ];
    }),
  );
}
