/** The schemas that those of rows are made of. */

export const text = { type: 'string' } as const;
export const integer = { type: 'integer' } as const;
export const number = { type: 'number' } as const;
export const boolean = { type: 'boolean' } as const;
/** An object whose members are all there. */
export const object = (properties: object) => ({ type: 'object', required: Object.keys(properties), properties });
/** The same with a name: OpenAPI and the console's types refer to it by this name. Equal names need equal schemas. */
export const named = <S extends object>(title: string, schema: S): S & { readonly title: string } => ({
  title,
  ...schema,
});
/** A list of such. */
export const list = (properties: object) => ({ type: 'array', items: object(properties) });
/** The same, of items with a name. */
export const listOf = (title: string, properties: object) => ({
  type: 'array',
  items: named(title, object(properties)),
});
/** The answer of a row that has nothing to tell: `data` is null. */
export const nothing = { type: 'null' } as const;
/** A moment, as it is answered. */
export const unixSeconds = { ...integer, description: 'Unix seconds.' } as const;
/** A moment, as it is asked for. */
export const timestamp = { ...integer, minimum: 0, maximum: 10_000_000_000 } as const;
/** The id of something, as it is asked for. */
export const idNumber = { ...integer, minimum: 1 } as const;

/** An e-mail address that letters go to: of ASCII only, so that no two look the same. */
export const EMAIL_PATTERN = "^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\\.[A-Za-z0-9-]{1,63})+$";

/** Members that tools send along, and that nothing is done with. */
export function notLookedAt(...names: readonly string[]): Readonly<Record<string, object>> {
  return Object.fromEntries(names.map((name) => [name, { description: 'Not looked at.' }]));
}
