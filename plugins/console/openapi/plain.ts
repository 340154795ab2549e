/**
 * Writes a schema in the forms that generators of clients can read: every `enum` and `const` has a type, no type is a union of types other than
 * null, every array has items, and no optional member is a constant other than a text.
 */
import { isMembers, type Members, mapSchemas } from './schema-walk.ts';

/** Copies a schema. `required`: see `mapSchemas`. */
export function plain(schema: Members, required = true): Members {
  return alternatives(withItems(typed(constant(mapSchemas(schema, plain), required))));
}

/** A constant that generators can read. Optional constants other than texts become code that is wrong, or none: they are ranges instead. */
function constant(schema: Members, required: boolean): Members {
  if (!('const' in schema)) return schema;
  const { const: value, ...others } = schema;
  if (Array.isArray(value)) return { ...others, type: 'array', items: {}, maxItems: value.length };
  if (typeof value === 'number') return { ...others, type: typeOf(value), minimum: value, maximum: value };
  if (typeof value === 'boolean' && !required) {
    const sentence = `Always ${value}.`;
    const description = typeof others.description === 'string' ? `${others.description} ${sentence}` : sentence;
    return { ...others, description, type: 'boolean', not: { const: !value } };
  }
  return isMembers(value) ? schema : { ...schema, type: typeOf(value) };
}

/** An `enum` with the type of its values. */
function typed(schema: Members): Members {
  if (!Array.isArray(schema.enum) || schema.type !== undefined) return schema;
  const types = [...new Set(schema.enum.map(typeOf))];
  return { type: types.length === 1 ? types[0] : types, ...schema };
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

function withItems(schema: Members): Members {
  const isArray = [schema.type].flat().includes('array');
  return isArray && schema.items === undefined ? { ...schema, items: {} } : schema;
}

/** The keywords that concern values of one type. */
const OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format', 'const'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: ['items', 'prefixItems', 'contains', 'minItems', 'maxItems', 'uniqueItems'],
  object: [
    ...['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'],
    ...['minProperties', 'maxProperties'],
  ],
};

/** Several types as alternatives, each with the keywords that concern it; a type that may also be null stays as it is. */
function alternatives(schema: Members): Members {
  const { type, ...others } = schema;
  if (!Array.isArray(type) || type.filter((each) => each !== 'null').length < 2) return schema;
  const choices = type.map((each) => {
    const own = (OF_TYPE[each] ?? []).filter((keyword) => keyword in others);
    return { type: each, ...Object.fromEntries(own.map((keyword) => [keyword, others[keyword]])) };
  });
  const divided = new Set(type.flatMap((each) => OF_TYPE[each] ?? []));
  return {
    ...Object.fromEntries(Object.entries(others).filter(([keyword]) => !divided.has(keyword))),
    anyOf: choices,
  };
}
