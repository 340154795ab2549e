/** Checks one value against a schema and fills its defaults in. */
import { Ajv, type Options, type ValidateFunction } from 'ajv';
import type { Schema } from '../plugin.ts';
import { formats } from './formats.ts';
import { type Mistake, mistakes, type Origin } from './sentences.ts';

/** Strict with schemas, complete with mistakes. */
export const VALIDATOR: Options = {
  allErrors: true,
  verbose: true,
  useDefaults: true,
  ownProperties: true,
  strict: true,
  // Compiling finds what is wrong with a schema, being strict; to hold it against the schema of schemas takes ten times as long.
  meta: false,
  validateSchema: false,
  // Alternatives that differ in what they require need not repeat what it looks like.
  strictRequired: false,
  allowUnionTypes: true,
  allowMatchingProperties: true,
  formats,
  // What a schema compiles to is mostly run once or twice: to make that faster takes longer than it saves.
  code: { optimize: false },
};

/** The validator for everything that stands in gateway.yaml. */
export function createValidator(): Ajv {
  return new Ajv(VALIDATOR);
}

/** What compiling has made of a schema: for a route, it would cost more than the request. */
const compiled = new WeakMap<Schema, ValidateFunction>();

/**
 * Fills the defaults of `value` in, where it stands, and says what is wrong with it. For parts of a section whose schema is known
 * only later (the fields that a vendor adds to its channels), and for the bodies and queries of routes (`origin`). Throws where the
 * schema itself is wrong.
 */
export function checkValue(schema: Schema, value: unknown, origin: Origin = 'file'): readonly Mistake[] {
  const validate = compiled.get(schema) ?? createValidator().compile(schema);
  compiled.set(schema, validate);
  return validate(value) ? [] : mistakes(validate.errors ?? [], value, origin);
}
