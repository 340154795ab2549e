/** Checks a value against a schema and fills in its defaults. */
import { Ajv, type Options, type ValidateFunction } from 'ajv';
import type { Schema } from '../plugin.ts';
import { formats } from './formats.ts';
import { type Mistake, mistakes, type Origin } from './schema-messages.ts';

/** Strict with schemas, and reports all mistakes. */
export const VALIDATOR: Options = {
  allErrors: true,
  verbose: true,
  messages: false,
  useDefaults: true,
  ownProperties: true,
  strict: true,
  // Compiling in strict mode finds mistakes of a schema; validating it against the meta-schema takes ten times as long.
  meta: false,
  validateSchema: false,
  // Alternatives that differ in what they require need not repeat the properties.
  strictRequired: false,
  allowUnionTypes: true,
  allowMatchingProperties: true,
  formats,
  // Most validators run once or twice: optimizing their code takes longer than it saves.
  code: { optimize: false },
};

/** The validator for gateway.yaml. */
export function createValidator(): Ajv {
  return new Ajv(VALIDATOR);
}

/** Compiled schemas: compiling one per request would cost more than the request of a route. */
const compiled = new WeakMap<Schema, ValidateFunction>();

/**
 * Fills in the defaults of `value` in place and returns its mistakes. For parts of a section whose schema is known only
 * later (the fields that a vendor adds to its channels), and for bodies and queries of routes (`origin`). Throws if the
 * schema itself is wrong.
 */
export function checkValue(schema: Schema, value: unknown, origin: Origin = 'file'): readonly Mistake[] {
  const validate = compiled.get(schema) ?? createValidator().compile(schema);
  compiled.set(schema, validate);
  return validate(value) ? [] : mistakes(validate.errors ?? [], value, origin);
}
