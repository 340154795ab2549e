/** Building blocks of the routes' schemas. */
import { schema } from '../../core/plugin.ts';

export const text = { type: 'string' } as const;
export const integer = { type: 'integer' } as const;
export const number = { type: 'number' } as const;
export const boolean = { type: 'boolean' } as const;
/** An object whose members are all required. */
export const object = <P extends object>(properties: P) =>
  ({ type: 'object', required: Object.keys(properties), properties }) as const;
/** An object of which only these members are required. */
export const partly = (required: readonly string[], properties: object) => ({ type: 'object', required, properties });
/** An object whose members are all required, or null. */
export const objectOrNull = (description: string, properties: object) =>
  ({ ...object(properties), type: ['object', 'null'], description }) as const;
/** The same with a name, which OpenAPI and the console's types refer to. Schemas with the same name must be equal. */
export const record = <P extends object>(title: string, properties: P) => ({ title, ...object(properties) });
/** A list of such objects. */
export const list = (properties: object) => ({ type: 'array', items: object(properties) });
/** A list of named objects. */
export const listOf = (title: string, properties: object) => ({ type: 'array', items: record(title, properties) });
/** The body of a request; other members are refused. */
export const bodyOf = <T>(required: readonly (keyof T & string)[], properties: object) =>
  schema<T>({ type: 'object', additionalProperties: false, ...(required.length > 0 && { required }), properties });
/** The query of a request. */
export const queryOf = <T>(properties: object, required: readonly (keyof T & string)[] = []) =>
  schema<T>({ type: 'object', ...(required.length > 0 && { required }), properties });
/** Members with these values. */
export const constants = (values: object) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { const: value }]));
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
