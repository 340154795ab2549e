/** Building blocks of the routes' schemas. */

export const text = { type: 'string' } as const;
export const integer = { type: 'integer' } as const;
export const number = { type: 'number' } as const;
export const boolean = { type: 'boolean' } as const;
/** An object whose members are all required. */
export const object = (properties: object) => ({ type: 'object', required: Object.keys(properties), properties });
/** The same with a name, which OpenAPI and the console's types refer to. Schemas with the same name must be equal. */
export const named = <S extends object>(title: string, schema: S): S & { readonly title: string } => ({
  title,
  ...schema,
});
/** A list of such objects. */
export const list = (properties: object) => ({ type: 'array', items: object(properties) });
/** A list of named objects. */
export const listOf = (title: string, properties: object) => ({
  type: 'array',
  items: named(title, object(properties)),
});
/** The response of a route without data: `data` is null. */
export const nothing = { type: 'null' } as const;
/** A time in a response. */
export const unixSeconds = { ...integer, description: 'Unix seconds.' } as const;
/** A time in a request. */
export const timestamp = { ...integer, minimum: 0, maximum: 10_000_000_000 } as const;
/** An id in a request. */
export const idNumber = { ...integer, minimum: 1 } as const;

/** An email address that the gateway sends to: ASCII only, because non-ASCII characters can look the same. */
export const EMAIL_PATTERN = "^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\\.[A-Za-z0-9-]{1,63})+$";

/** Members that clients send and that the gateway ignores. */
export function notLookedAt(...names: readonly string[]): Readonly<Record<string, object>> {
  return Object.fromEntries(names.map((name) => [name, { description: 'Ignored.' }]));
}
