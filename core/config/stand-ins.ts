/** Replaces wrong values with valid ones, so that one reading of a file can check everything else in it, too. */
import type { Mistake } from './sentences.ts';
import type { Path } from './yaml.ts';

type Definition = Readonly<Record<string, unknown>>;

/**
 * Replaces them in `value`. False if that is impossible: a broken list or map has unknown content, and references to it
 * would be reported as wrong.
 */
export function mend(value: unknown, wrong: readonly Mistake[]): boolean {
  return wrong.every((mistake) => mended(value, mistake));
}

/** Paths below which later problems may be consequences of these mistakes. */
export function doubtfulPlaces(wrong: readonly Mistake[]): Path[] {
  // An unknown name was probably meant to be another one, which is missing now.
  return wrong.map(({ path, unwanted }) => (unwanted === true ? path.slice(0, -1) : path));
}

function mended(value: unknown, { path, schema, unwanted }: Mistake): boolean {
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
