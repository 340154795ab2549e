/** Schemas of sections that were compiled with the server: the same code, without the time that it takes to write it. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ValidateFunction } from 'ajv';
import { besideCompiled, compiled } from '../compiled.ts';
import type { Schema } from '../plugin.ts';

/** What is compiled of a section's schema. The default of the section itself is of no use there: nothing holds the section. */
export function checkedPart({ default: _, ...checked }: Schema): Schema {
  return checked as Schema;
}

/** What its function is called there. */
export function nameOf(checked: Schema): string {
  return `of_${createHash('sha1').update(JSON.stringify(checked)).digest('hex')}`;
}

type Functions = Readonly<Record<string, ValidateFunction>>;
let functions: Functions | undefined;

/** The function of a schema; undefined where it was not compiled. */
export function readyValidator(checked: Schema): ValidateFunction | undefined {
  functions ??= (compiled.schemas ?? load)() as Functions;
  return functions[nameOf(checked)];
}

/** Sources that are run take them from a build. */
function load(): Functions {
  const file = besideCompiled('validators.cjs');
  return file !== undefined && existsSync(file) ? createRequire(file)(file) : {};
}
