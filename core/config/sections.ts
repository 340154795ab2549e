/** Checks every section of gateway.yaml against its schema and fills its defaults in. */
import type { ValidateFunction } from 'ajv';
import type { Schema } from '../plugin.ts';
import { ConfigError, type ConfigFile, pathText } from './file.ts';
import { nearest } from './nearest.ts';
import { checkedPart, readyValidator } from './ready.ts';
import { mistakes, wanted } from './sentences.ts';
import { doubtfulPlaces, mend } from './stand-ins.ts';
import { createValidator } from './validator.ts';
import type { Path } from './yaml.ts';

/** What checking has made of a file. */
export interface CheckedSections {
  /** The value of every section, defaults filled in, frozen. Something that is right stands in for what is wrong. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The places where something stands in; undefined where something is wrong that nothing can stand in for. */
  readonly doubtful: readonly Path[] | undefined;
}

/**
 * Mistakes go to `file.problems`. A section that is missing or empty is its schema's `default`, else an empty map or list. Throws where a
 * schema itself is wrong: that is its plugin's mistake. `isMissing`: whether a plugin of this name ships and is not in the pipeline.
 */
export function checkSections(
  file: ConfigFile,
  sections: Readonly<Record<string, Schema>>,
  isMissing: (plugin: string) => boolean = () => false,
): CheckedSections {
  const doubtful: Path[] = [];
  // What reading found inside of a section left a text there that may do; a plugin that was not loaded leaves a hole.
  let mended = file.problems.every(({ path }) => /[.[]/.test(path) && !path.startsWith('pipeline'));
  // Where reading found a mistake, what the schema says about the same place is its echo.
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
      report([name], `is missing; it must be ${wanted(schema)}`);
      mended = false;
    } else if (!validate(value)) {
      const wrong = mistakes(validate.errors ?? [], value);
      for (const { path, message } of wrong) report([name, ...path], message);
      doubtful.push(...doubtfulPlaces(wrong).map((path) => [name, ...path]));
      mended = mend(value, wrong) && validate(value) && mended;
    }
    values[name] = frozen(value);
  }
  return { values, doubtful: mended ? doubtful : undefined };
}

/** Throws a `ConfigError` with every problem found so far, if there is one. */
export function throwIfWrong(file: ConfigFile): void {
  if (file.problems.length > 0) throw new ConfigError(file.file, file.problems);
}

/** What compiling has made of a section's schema, which is the same for every configuration of a process. */
const compiled = new WeakMap<Schema, ValidateFunction>();

function compile(name: string, schema: Schema): ValidateFunction {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const checked = checkedPart(schema);
  try {
    const validate = readyValidator(checked) ?? createValidator().compile(checked);
    compiled.set(schema, validate);
    return validate;
  } catch (error) {
    throw new Error(`the schema of section ${name} is wrong: ${(error as Error).message}`, { cause: error });
  }
}

/** What a section is that nobody wrote; undefined where it has to be written. */
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
