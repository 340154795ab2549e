/** Section schemas that were compiled with the server: the same validators without the time to generate them. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ValidateFunction } from 'ajv';
import type { Schema } from '../plugin.ts';
import { besideCompiled, compiled } from '../runtime/compiled.ts';

/** A section's schema without its own default, which has no effect there: the section has no parent. */
export function checkedPart({ default: _, ...checked }: Schema): Schema {
  return checked as Schema;
}

/** The name of its function there. */
export function nameOf(checked: Schema): string {
  return `of_${createHash('sha1').update(JSON.stringify(checked)).digest('hex')}`;
}

type Functions = Readonly<Record<string, ValidateFunction>>;
let functions: Functions | undefined;

/** The validator of a schema; undefined if it was not compiled. */
export function readyValidator(checked: Schema): ValidateFunction | undefined {
  functions ??= (compiled.schemas ?? load)() as Functions;
  return functions[nameOf(checked)];
}

/** Sources use the validators of the last build. */
function load(): Functions {
  const file = besideCompiled('validators.cjs');
  return file !== undefined && existsSync(file) ? createRequire(file)(file) : {};
}
