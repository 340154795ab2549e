/** Converts JSON Schema to the subset of OpenAPI that older models support: no references, and only known keywords. */

import type { Json, JsonObject } from '../../../core/plugin.ts';
import { isObject } from '../../../core/translation/index.ts';

/** A converted schema. */
export interface CleanSchema {
  readonly schema: JsonObject;
  /** True if part of it could not be expressed. */
  readonly lost: boolean;
}

/** The maximum depth; a recursive schema ends here. */
const MAX_DEPTH = 24;
/** The maximum size: resolved references can make a small schema huge. */
const MAX_NODES = 5_000;

/** Keywords that are copied. */
const KEPT = [
  'title',
  'description',
  'nullable',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'propertyOrdering',
];
/** Keywords that are converted, or that a model does not need. */
const HANDLED = [
  '$schema',
  '$id',
  '$defs',
  '$comment',
  'definitions',
  'default',
  'examples',
  'example',
  'readOnly',
  'writeOnly',
  'deprecated',
  'type',
  'enum',
  'const',
  'format',
  'properties',
  'required',
  'items',
  'anyOf',
  'oneOf',
];
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ['enum', 'date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

/** Converts a schema. */
export function cleanSchema(root: JsonObject): CleanSchema {
  let lost = false;
  let nodes = 0;

  function clean(value: Json | undefined, depth: number): JsonObject {
    if (depth > MAX_DEPTH || ++nodes > MAX_NODES || !isObject(value)) {
      lost ||= value !== undefined;
      return { type: 'string' };
    }
    const source = flat(value, 0);
    const result: Record<string, Json> = {};
    for (const [name, node] of Object.entries(source)) {
      if (KEPT.includes(name)) result[name] = node;
      else if (!HANDLED.includes(name) && !isLooseEnd(name, node)) lost = true;
    }
    const { types, nullable } = typesOf(source);
    if (nullable) result.nullable = true;
    alternatives(source, types, result, depth);
    if (types.length === 1) result.type = types[0]!;
    values(source, result);
    members(source, result, depth);
    elements(source, result, depth);
    bounds(source, result);
    if (typeof source.format === 'string') {
      if (FORMATS[String(result.type)]?.includes(source.format)) result.format = source.format;
      else lost = true;
    }
    if (result.type === undefined && result.anyOf === undefined) result.type = 'string';
    return result;
  }

  /** Merges the target of its reference and its `allOf` into one object. */
  function flat(schema: JsonObject, depth: number): JsonObject {
    if (depth > MAX_DEPTH || ++nodes > MAX_NODES) {
      lost = true;
      return {};
    }
    const { $ref: ref, allOf, if: condition, then, else: otherwise, ...own } = schema;
    let result = own;
    if (typeof ref === 'string') {
      const target = resolve(root, ref);
      if (target === undefined) lost = true;
      else result = merged(flat(target, depth + 1), result);
    }
    for (const piece of Array.isArray(allOf) ? (allOf as Json[]) : []) {
      if (isObject(piece)) result = merged(result, flat(piece, depth + 1));
    }
    for (const branch of [then, otherwise]) {
      if (!isObject(branch)) continue;
      // A conditional subschema: its members are optional.
      const { required: _, ...rest } = flat(branch, depth + 1);
      result = merged(result, rest);
    }
    lost ||= condition !== undefined;
    return result;
  }

  /** Several types or schemas become `anyOf`. A schema with alternatives cannot have other members. */
  function alternatives(
    source: JsonObject,
    types: readonly string[],
    result: Record<string, Json>,
    depth: number,
  ): void {
    const given = [source.anyOf, source.oneOf].flatMap((list) => (Array.isArray(list) ? (list as Json[]) : []));
    const some = given.filter((each) => !isObject(each) || each.type !== 'null');
    if (some.length < given.length) result.nullable = true;
    if (some.length > 0 && (types.length > 0 || source.properties !== undefined)) lost = true;
    else if (some.length === 1) Object.assign(result, clean(some[0], depth + 1), { ...result });
    else if (some.length > 1) result.anyOf = some.map((each) => clean(each, depth + 1));
    if (types.length < 2) return;
    const { description: _, ...rest } = source;
    result.anyOf = types.map((type) => clean({ ...rest, type }, depth + 1));
  }

  /** Only strings can be enumerated; other values are listed in the description. */
  function values(source: JsonObject, result: Record<string, Json>): void {
    const listed = Object.hasOwn(source, 'const') ? [source.const!] : source.enum;
    if (!Array.isArray(listed) || result.anyOf !== undefined) return;
    const some = (listed as Json[]).filter((value) => value !== null);
    if (some.length < listed.length) result.nullable = true;
    if (some.every((value) => typeof value === 'string') && (result.type ?? 'string') === 'string') {
      if (some.length > 0) Object.assign(result, { type: 'string', enum: some.filter((value) => value !== '') });
      return;
    }
    lost = true;
    result.type ??= typeof some[0] === 'number' ? 'number' : typeof some[0] === 'boolean' ? 'boolean' : 'string';
    const alternatives = `One of: ${some.map((value) => JSON.stringify(value)).join(', ')}.`;
    result.description =
      typeof result.description === 'string' ? `${result.description} ${alternatives}` : alternatives;
  }

  function members(source: JsonObject, result: Record<string, Json>, depth: number): void {
    const { properties } = source;
    const entries = isObject(properties) ? Object.entries(properties) : [];
    if (result.type === undefined && result.anyOf === undefined && isObject(properties)) result.type = 'object';
    if (result.type !== 'object' || entries.length === 0) return;
    result.properties = Object.fromEntries(entries.map(([name, each]) => [name, clean(each, depth + 1)]));
    const required = Array.isArray(source.required) ? (source.required as Json[]) : [];
    const own: ReadonlySet<Json> = new Set(entries.map(([name]) => name));
    const existing = [...new Set(required)].filter((name) => own.has(name));
    if (existing.length > 0) result.required = existing;
  }

  function elements(source: JsonObject, result: Record<string, Json>, depth: number): void {
    if (result.type === undefined && result.anyOf === undefined && source.items !== undefined) result.type = 'array';
    if (result.type !== 'array') return;
    const { items } = source;
    if (!Array.isArray(items)) {
      result.items = clean(items === undefined ? {} : items, depth + 1);
      return;
    }
    // Tuples are not supported: any element may match any of the schemas.
    lost = true;
    const each = (items as Json[]).map((item) => clean(item, depth + 1));
    result.items = each.length === 1 ? each[0]! : each.length === 0 ? { type: 'string' } : { anyOf: each };
  }

  /** An exclusive bound: the next integer, or approximately. */
  function bounds(source: JsonObject, result: Record<string, Json>): void {
    const step = result.type === 'integer' ? 1 : 0;
    const { exclusiveMinimum: low, exclusiveMaximum: high } = source;
    if (typeof low === 'number' && result.minimum === undefined) result.minimum = low + step;
    if (typeof high === 'number' && result.maximum === undefined) result.maximum = high - step;
    lost ||= step === 0 && (low !== undefined || high !== undefined);
  }

  /** Keywords that can be dropped without effect, or that are read in other functions. */
  function isLooseEnd(name: string, value: Json): boolean {
    return name === 'additionalProperties' ? typeof value === 'boolean' : name.startsWith('exclusive');
  }

  const schema = clean(root, 0);
  return { schema, lost };
}

/** The types except `null`, and whether `null` was one of them. */
function typesOf(source: JsonObject): { readonly types: readonly string[]; readonly nullable: boolean } {
  const { type } = source;
  const all = (Array.isArray(type) ? (type as Json[]) : [type]).filter((each) => typeof each === 'string');
  const types = all.map((each) => each.toLowerCase()).filter((each) => each !== 'null');
  return { types, nullable: types.length < all.length };
}

/** Merges two schemas: later members usually win. */
function merged(one: JsonObject, other: JsonObject): JsonObject {
  const both: Record<string, Json> = { ...one, ...other };
  if (isObject(one.properties) && isObject(other.properties)) {
    both.properties = { ...one.properties, ...other.properties };
  }
  if (Array.isArray(one.required) && Array.isArray(other.required)) {
    both.required = [...(one.required as Json[]), ...(other.required as Json[])];
  }
  return both;
}

/** `#/$defs/name` inside the schema. */
function resolve(root: JsonObject, ref: string): JsonObject | undefined {
  if (!ref.startsWith('#')) return undefined;
  let node: Json | undefined = root;
  for (const step of ref.slice(1).split('/').filter(Boolean)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    node = isObject(node) && Object.hasOwn(node, name) ? node[name] : undefined;
  }
  return isObject(node) ? node : undefined;
}
