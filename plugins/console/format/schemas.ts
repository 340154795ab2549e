/** Building blocks of the routes' schemas. */
import { type Members, type Schema, schema } from '../../../core/plugin.ts';

export type { Accepted, Members } from '../../../core/plugin.ts';

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
export const objectOrNull = <P extends object>(description: string, properties: P) =>
  ({ ...object(properties), type: ['object', 'null'], description }) as const;
/** The same with a name, which OpenAPI and the console's types refer to. Schemas with the same name must be equal. */
export const record = <P extends object>(title: string, properties: P) => ({ title, ...object(properties) });
/** A list of such objects. */
export const list = <P extends object>(properties: P) => ({ type: 'array', items: object(properties) });
/** A list of named objects. */
export const listOf = <P extends object>(title: string, properties: P) => ({
  type: 'array',
  items: record(title, properties),
});

/** The body of a request; other members are refused. */
export const bodyOf = <const P extends object, const R extends string = never>(required: readonly R[], properties: P) =>
  schema<Members<P, R>>({
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    properties,
  });
/** A body as the document describes it: with rules for some members, and with members that must be there. */
export function withRules(
  body: Schema,
  rules: Readonly<Record<string, object>>,
  required: readonly string[] = [],
): Schema {
  const {
    properties,
    required: always = [],
    ...others
  } = body as {
    readonly properties: Readonly<Record<string, object>>;
    readonly required?: readonly string[];
  };
  const ruled = Object.entries(rules).map(([name, rule]) => [name, { ...properties[name], ...rule }]);
  const all = [...always, ...required];
  return {
    ...others,
    ...(all.length > 0 && { required: all }),
    properties: { ...properties, ...Object.fromEntries(ruled) },
  };
}
/** The rule of a name that a schema can say; invisible characters do not count. */
export const nameRules = { maxLength: 64 } as const;
/** The rules of a new password that a schema can say; common passwords are refused, too. */
export const passwordRules = {
  minLength: 8,
  maxLength: 256,
  description: '8 to 256 characters; common passwords are refused.',
} as const;
/** The same, or empty. */
export const passwordOrNone = { maxLength: 256, pattern: '^$|^[\\s\\S]{8}' } as const;
/** The query of a request; other parameters are refused. */
export const queryOf = <const P extends object, const R extends string = never>(
  properties: P,
  required: readonly R[] = [],
) =>
  schema<Members<P, R>>({
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    properties,
  });
/** The query of a request from another party, which may add parameters. */
export const openQueryOf = <const P extends object>(properties: P) =>
  schema<Members<P>>({ type: 'object', properties });
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

/** A parameter that older clients send and that the gateway ignores. */
export const ignoredParameter = { ...text, maxLength: 200, description: 'Ignored.', deprecated: true } as const;

/** The parameter of a captcha, which older clients send with requests that have none here. */
export const captcha = {
  turnstile: { ...text, maxLength: 4_096, description: 'Ignored.', deprecated: true },
} as const;

/** Members that clients send and that the gateway ignores. */
export function notLookedAt(...names: readonly string[]): Readonly<Record<string, object>> {
  return Object.fromEntries(names.map((name) => [name, { description: 'Ignored.', deprecated: true }]));
}
