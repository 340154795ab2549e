/**
 * JSON Schemas in the form that the strictest vendors accept, with the same meaning: clients send bare objects, lists without items, members
 * that are null, and members beside a reference, and a vendor that refuses one of them refuses the whole request.
 */

import { isObject } from '../bytes/fields.ts';
import type { Json, JsonObject } from '../contracts/formats/json.ts';
import { changedMembers, mapChanged } from './unchanged.ts';

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const ONE: ReadonlySet<string> = new Set([
  ...['items', 'additionalItems', 'additionalProperties', 'unevaluatedItems', 'unevaluatedProperties'],
  ...['contains', 'propertyNames', 'not', 'if', 'then', 'else'],
]);
const LIST: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const BY_NAME: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'],
]);

/** Keywords for which `true` and `false` are usual. */
const FLAGS: ReadonlySet<string> = new Set([
  ...['additionalProperties', 'additionalItems', 'unevaluatedItems', 'unevaluatedProperties'],
]);

/** Keywords that vendors refuse if their list is empty; an empty list says nothing. */
const NEVER_EMPTY: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'enum', 'type', 'prefixItems']);

/** Keywords whose value may be null. */
const VALUES: ReadonlySet<string> = new Set(['default', 'const', 'example']);

const TYPES: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

/** No schema of a client is deeper; what is below stays as it is. */
const MAX_DEPTH = 100;

/** The arguments of a tool: always an object. The same object if nothing has to be changed. */
export function argumentsSchema(schema: JsonObject): JsonObject {
  const form = answerSchema(schema);
  if (form.type === 'object') return form;
  const { type: _, properties = ANY, ...rest } = form;
  return { type: 'object', properties, ...rest };
}

/** The format of an answer. The same object if nothing has to be changed. */
export function answerSchema(schema: JsonObject): JsonObject {
  return acceptable(withoutRootReference(schema), 0) as JsonObject;
}

/** A schema that is only a reference into itself, or to such a reference: vendors want to see its type. */
function withoutRootReference(schema: JsonObject): JsonObject {
  const seen = new Set<JsonObject>([schema]);
  const { $ref: reference, ...rest } = schema;
  let target: JsonObject | undefined = schema;
  while (typeof target?.$ref === 'string') {
    target = referred(schema, target.$ref);
    if (target === undefined || seen.has(target)) return schema;
    seen.add(target);
  }
  return reference === undefined ? schema : { ...target, ...rest };
}

/** What `#/$defs/name` refers to inside a schema; undefined if there is no such schema. */
export function referred(root: JsonObject, reference: string): JsonObject | undefined {
  if (!reference.startsWith('#')) return undefined;
  let node: Json | undefined = root;
  for (const step of reference.slice(1).split('/').filter(Boolean)) {
    const name = unescaped(step);
    node =
      (isObject(node) || Array.isArray(node)) && Object.hasOwn(node, name) ? (node as JsonObject)[name] : undefined;
  }
  return isObject(node) ? node : undefined;
}

function unescaped(step: string): string {
  const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function acceptable(value: Json, depth: number): Json {
  // `true` is the schema of any value.
  if (value === true || value === null) return ANY;
  if (!isObject(value) || depth > MAX_DEPTH) return value;
  const inner = changedMembers(value, (keyword, rule) => member(keyword, rule, depth));
  return withoutNeighbours(withItems(withProperties(inner)));
}

const ANY: JsonObject = {};

function member(keyword: string, rule: Json, depth: number): Json | undefined {
  if (rule === null) return VALUES.has(keyword) ? rule : undefined;
  if (Array.isArray(rule)) {
    if (rule.length === 0 && NEVER_EMPTY.has(keyword)) return undefined;
    if (keyword === 'type') return mapChanged(rule as readonly Json[], typeName);
    const isList = LIST.has(keyword) || keyword === 'items';
    return isList ? mapChanged(rule as readonly Json[], (each) => acceptable(each, depth + 1)) : rule;
  }
  if (keyword === 'type') return typeName(rule);
  // An older notation, inside of the property; a list of names is the only one that vendors know.
  if (keyword === 'required' || LIST.has(keyword)) return undefined;
  if (ONE.has(keyword)) return FLAGS.has(keyword) && typeof rule === 'boolean' ? rule : acceptable(rule, depth + 1);
  if (!BY_NAME.has(keyword)) return rule;
  return isObject(rule) ? changedMembers(rule, (_, each) => acceptable(each, depth + 1)) : undefined;
}

/** Some clients write the types of another vendor: `STRING`. */
function typeName(type: Json): Json {
  const name = typeof type === 'string' ? type.toLowerCase() : '';
  return TYPES.has(name) ? name : type;
}

function isOf(schema: JsonObject, type: string): boolean {
  return schema.type === type || (Array.isArray(schema.type) && schema.type.includes(type));
}

function withProperties(schema: JsonObject): JsonObject {
  return isOf(schema, 'object') && schema.properties === undefined ? { ...schema, properties: {} } : schema;
}

/** A list of schemas for the first items is `prefixItems` today. */
function withItems(schema: JsonObject): JsonObject {
  const { items, additionalItems, ...rest } = schema;
  if (Array.isArray(items)) {
    const first = items.length > 0 && rest.prefixItems === undefined ? { prefixItems: items } : {};
    const others = additionalItems === false || isObject(additionalItems) ? additionalItems : ANY;
    return { ...rest, ...first, items: others };
  }
  return isOf(schema, 'array') && items === undefined ? { ...schema, items: ANY } : schema;
}

/** Vendors accept no other member beside a reference. */
function withoutNeighbours(schema: JsonObject): JsonObject {
  const { $ref: reference, ...rest } = schema;
  if (reference === undefined) return schema;
  const beside = Object.keys(rest).filter((name) => !name.startsWith('$'));
  if (beside.length === 0) return schema;
  const all = [{ $ref: reference }];
  if (rest.anyOf === undefined) return { ...rest, anyOf: all };
  return { ...rest, allOf: Array.isArray(rest.allOf) ? [...rest.allOf, ...all] : all };
}

/** Whether a schema is a choice of objects at its top level; of other values, it has no form as one object. */
export function isUnionOfObjects(schema: JsonObject): boolean {
  const branches = ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => {
    const list = schema[keyword];
    return Array.isArray(list) ? (list as readonly Json[]) : [];
  });
  const isObjects = (branch: Json): boolean => {
    if (!isObject(branch)) return false;
    const target = typeof branch.$ref === 'string' ? referred(schema, branch.$ref) : branch;
    return target !== undefined && isObjectSchema(target);
  };
  return (schema.type ?? 'object') === 'object' && branches.length > 0 && branches.every(isObjects);
}

/** Keywords that vendors enforce in their strict mode. */
const ENFORCED: ReadonlySet<string> = new Set([
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'anyOf', 'enum', 'const', '$ref', '$defs'],
  ...['definitions', '$schema', '$id', '$comment', 'title', 'description', 'pattern', 'format', 'multipleOf'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minItems', 'maxItems'],
]);

/**
 * Whether the strict mode of vendors that want every object closed, and every property required, accepts a schema: they refuse a request with
 * another one.
 */
export function isStrict(schema: JsonObject): boolean {
  return schema.type === 'object' && schema.anyOf === undefined && isEnforced(schema, 0);
}

function isEnforced(schema: Json | undefined, depth: number): boolean {
  if (!isObject(schema) || depth > MAX_DEPTH) return false;
  if (!Object.keys(schema).every((keyword) => ENFORCED.has(keyword))) return false;
  const isTold = ['type', 'anyOf', 'enum', 'const', '$ref'].some((keyword) => schema[keyword] !== undefined);
  const { properties, required, anyOf, items } = schema;
  const names = isObject(properties) ? Object.keys(properties) : [];
  const isClosed =
    schema.additionalProperties === false &&
    (names.length === 0 || (Array.isArray(required) && names.every((name) => required.includes(name))));
  if (!isTold || (isObjectSchema(schema) && !isClosed)) return false;
  const inner = [
    ...[schema.$defs, schema.definitions, properties].flatMap((each) => (isObject(each) ? Object.values(each) : [])),
    ...(Array.isArray(anyOf) ? (anyOf as readonly Json[]) : []),
    ...(items === undefined ? [] : [items]),
  ];
  return inner.every((each) => isEnforced(each, depth + 1));
}

function isObjectSchema(schema: JsonObject): boolean {
  return isOf(schema, 'object') || schema.properties !== undefined;
}

/**
 * Whether closing every object keeps the meaning of a schema, as vendors require that enforce no open ones: an object without named
 * properties could only be empty then. They refuse recursive schemas, too.
 */
export function canBeClosed(root: JsonObject): boolean {
  const done = new Set<JsonObject>();
  const open = new Set<JsonObject>();

  function visit(schema: Json | undefined): boolean {
    if (Array.isArray(schema)) return schema.every(visit);
    if (!isObject(schema) || done.has(schema)) return true;
    if (open.has(schema)) return false;
    open.add(schema);
    const { properties, additionalProperties } = schema;
    const isFree =
      isObjectSchema(schema) &&
      additionalProperties !== false &&
      !(isObject(properties) && Object.keys(properties).length > 0);
    const target = typeof schema.$ref === 'string' ? referred(root, schema.$ref) : undefined;
    const isFine =
      !isFree &&
      visit(target) &&
      Object.entries(schema).every(([keyword, rule]) => {
        // Definitions count where they are used.
        if (keyword === '$defs' || keyword === 'definitions') return true;
        if (BY_NAME.has(keyword)) return isObject(rule) ? visit(Object.values(rule)) : true;
        return !(ONE.has(keyword) || LIST.has(keyword)) || visit(rule);
      });
    open.delete(schema);
    done.add(schema);
    return isFine;
  }

  return visit(root);
}
