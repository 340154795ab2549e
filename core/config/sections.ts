/** Checks every section of gateway.yaml against its schema and fills in defaults. */
import type { ValidateFunction } from 'ajv';
import { nearest } from '../helpers/nearest.ts';
import type { Schema } from '../plugin.ts';
import { checkedPart, readyValidator } from './compiled-schemas.ts';
import { ConfigError, type ConfigFile, pathText } from './file.ts';
import { expected, type Mistake, mistakes } from './schema-messages.ts';
import { createValidator } from './validator.ts';
import type { Path } from './yaml.ts';

/** The result of checking a file. */
export interface CheckedSections {
  /** The value of every section, with defaults, frozen. Invalid values are replaced by valid placeholders. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The paths of placeholders; undefined if an invalid value could not be replaced. */
  readonly doubtful: readonly Path[] | undefined;
}

/**
 * Adds mistakes to `file.problems`. A missing or empty section is its schema's `default`, otherwise an empty map or
 * list. Throws if a schema itself is wrong: that is its plugin's mistake. `isMissing`: whether a plugin of this name is
 * built in and not in the pipeline.
 */
export function checkSections(
  file: ConfigFile,
  sections: Readonly<Record<string, Schema>>,
  isMissing: (plugin: string) => boolean = () => false,
): CheckedSections {
  const doubtful: Path[] = [];
  // A mistake found while reading left a text there that may be valid; a plugin that was not loaded left a hole.
  let mended = file.problems.every(({ path }) => /[.[]/.test(path) && !path.startsWith('pipeline'));
  // At a place with a mistake from reading, a schema violation is only its consequence.
  const taken = new Set(file.problems.map((problem) => problem.path));
  const report = (path: Path, message: string) => {
    const place = pathText(path);
    if (!file.readable || taken.has(place)) return;
    taken.add(place);
    file.problem(path, message);
  };

  const adviceFor = (name: string): string => {
    if (isMissing(name)) return `add \`- ${name}\` to the pipeline, or remove this section`;
    const near = nearest(name, Object.keys(sections));
    return near === undefined ? 'add the plugin that does, or remove this section' : `did you mean ${near}?`;
  };
  for (const name of Object.keys(file.value)) {
    if (Object.hasOwn(sections, name)) continue;
    report([name], `nothing in the pipeline reads this section; ${adviceFor(name)}`);
    mended = false;
  }
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(sections)) {
    const written = Object.hasOwn(file.value, name) ? file.value[name] : undefined;
    const value = structuredClone(written ?? blank(schema));
    const validate = compile(name, schema);
    if (value === undefined) {
      report([name], `is missing; it must be ${expected(schema)}`);
      mended = false;
    } else if (!validate(value)) {
      const wrong = mistakes(validate.errors ?? [], value);
      for (const { path, message } of wrong) report([name, ...path], message);
      // An unknown name was probably meant to be another one, which is missing now.
      doubtful.push(...wrong.map(({ path, unwanted }) => [name, ...path.slice(0, unwanted === true ? -1 : undefined)]));
      mended = wrong.every((mistake) => mend(value, mistake)) && validate(value) && mended;
    }
    values[name] = frozen(value);
  }
  return { values, doubtful: mended ? doubtful : undefined };
}

/** Throws a `ConfigError` with all problems found so far, if any. */
export function throwIfWrong(file: ConfigFile): void {
  if (file.problems.length > 0) throw new ConfigError(file.file, file.problems);
}

/** Compiled schemas of sections, which are the same for every configuration of a process. */
const compiled = new WeakMap<Schema, ValidateFunction>();

function compile(name: string, schema: Schema): ValidateFunction {
  const cached = compiled.get(schema);
  if (cached !== undefined) return cached;
  const checked = checkedPart(schema);
  try {
    const validate = readyValidator(checked) ?? createValidator().compile(checked);
    compiled.set(schema, validate);
    return validate;
  } catch (error) {
    throw new Error(`the schema of section ${name} is wrong: ${(error as Error).message}`, { cause: error });
  }
}

/** The default of a missing section; undefined if it is required. */
function blank(schema: Schema): unknown {
  if (schema.default !== undefined) return schema.default;
  if (schema.type === 'array') return schema.minItems === undefined ? [] : undefined;
  return schema.type === 'object' || schema.type === undefined ? {} : undefined;
}

function frozen(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) frozen(member);
    Object.freeze(value);
  }
  return value;
}

type Definition = Readonly<Record<string, unknown>>;

/** Replaces one in `value`; false if that is impossible: the content of a broken list or map is unknown. */
function mend(value: unknown, { path, schema, unwanted }: Mistake): boolean {
  const holder = path.slice(0, -1).reduce<unknown>((at, step) => (at as Definition | undefined)?.[step], value);
  const last = path.at(-1);
  if (last === undefined || typeof holder !== 'object' || holder === null) return false;
  const members = holder as Record<string | number, unknown>;
  if (unwanted === true) {
    delete members[last];
    return !Array.isArray(holder);
  }
  const better = standIn(schema ?? {});
  if (better === undefined) return false;
  members[last] = structuredClone(better);
  return true;
}

/** A value that a schema accepts; undefined if every such value would affect other checks. */
function standIn(schema: Definition): unknown {
  if (schema.default !== undefined) return schema.default;
  for (const { 0: first } of [schema.examples, schema.enum].filter(Array.isArray))
    if (first !== undefined) return first;
  for (const alternatives of [schema.anyOf, schema.oneOf].filter(Array.isArray)) {
    for (const each of alternatives) {
      const valid = standIn(each);
      if (valid !== undefined) return valid;
    }
  }
  if (schema.const !== undefined) return schema.const;
  if (schema.format === 'uri') return 'https://example.com';
  const types = [schema.type].flat();
  if (types.includes('boolean')) return false;
  if (types.includes('integer') || types.includes('number')) return schema.minimum ?? schema.maximum ?? 1;
  return undefined;
}
