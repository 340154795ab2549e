/** Schemas for vendors that accept no union at their top level, or have no separate field for a description. */

import { isObject } from '../../bytes/fields.ts';
import type { Output } from '../../contracts/formats/conversation.ts';
import type { Json, JsonObject } from '../../contracts/formats/json.ts';

/** Keywords that some vendors refuse in addition to `type: object`. */
const REFUSED = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const'] as const;

/** A branch may be a union itself, and recursive. */
const MAX_DEPTH = 8;

/** Maximum length of a description. Rules that the schema cannot express are added to it, but longer descriptions do not help models. */
const MAX_TOLD = 2_000;

/** The members of a schema that define an object's properties. */
interface Shape {
  readonly properties: Readonly<Record<string, Json>>;
  readonly required: readonly string[];
}

/** Whether a vendor that accepts plain objects only would refuse the schema. */
export function hasRootUnion(schema: JsonObject): boolean {
  return REFUSED.some((keyword) => schema[keyword] !== undefined);
}

/**
 * The same without them. Properties required by every branch stay required, a property that differs between branches
 * may have any of its schemas, and the description says which properties belong together.
 */
export function objectSchema(schema: JsonObject): JsonObject {
  const { properties, required } = shapeOf(schema, schema, 0);
  const rulesText: string[] = [];
  const plain: Record<string, Json> = {};
  for (const [keyword, rule] of Object.entries(schema)) {
    if (keyword === 'allOf') continue;
    if (!REFUSED.some((refused) => refused === keyword)) plain[keyword] = rule;
    else rulesText.push(`${keyword}: ${JSON.stringify(withoutNoise(rule, schema))}`);
  }
  const rules = rulesText.length === 0 ? '' : `{${rulesText.join(', ')}}`;
  const { description } = schema;
  const words = [typeof description === 'string' ? description : '', rules.length <= MAX_TOLD ? rules : '']
    .filter((text) => text !== '')
    .join(' ');
  return {
    ...plain,
    type: 'object',
    ...(words !== '' && { description: words }),
    properties,
    ...(required.length > 0 && { required }),
    // `additionalProperties: false` of a branch refers to its own properties, but the merged object has those of all.
    ...(schema.additionalProperties === false && { additionalProperties: false }),
  };
}

function shapeOf(schema: JsonObject, root: JsonObject, depth: number): Shape {
  const own: Shape = {
    properties: isObject(schema.properties) ? schema.properties : {},
    required: Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : [],
  };
  if (depth > MAX_DEPTH) return own;
  const branches = (keyword: string): readonly Shape[] => {
    const list = schema[keyword];
    if (!Array.isArray(list)) return [];
    return list.flatMap((branch) => {
      const found = resolve(branch, root);
      // `null` and the like: a model can leave the arguments empty.
      const isOther = found === undefined || (typeof found.type === 'string' && found.type !== 'object');
      return isOther ? [] : [shapeOf(found, root, depth + 1)];
    });
  };
  const all = branches('allOf');
  const sides = ['anyOf', 'oneOf'].map(branches).filter((shapes) => shapes.length > 0);
  const common = sides.flatMap(([first, ...others]) =>
    first!.required.filter((name) => others.every(({ required }) => required.includes(name))),
  );
  return {
    properties: merged([own, ...all, ...sides.flat()].map(({ properties }) => properties)),
    required: [...new Set([...own.required, ...all.flatMap(({ required }) => required), ...common])],
  };
}

function merged(lists: readonly Shape['properties'][]): Shape['properties'] {
  const variants = new Map<string, Map<string, Json>>();
  for (const properties of lists) {
    for (const [name, rule] of Object.entries(properties)) {
      const known = variants.get(name) ?? new Map<string, Json>();
      known.set(JSON.stringify(rule), rule);
      variants.set(name, known);
    }
  }
  return Object.fromEntries(
    [...variants].map(([name, known]) => {
      const rules = [...known.values()];
      return [name, rules.length === 1 ? rules[0]! : { anyOf: rules }];
    }),
  );
}

/** A branch, resolved if it refers to the schema's own definitions. */
function resolve(branch: Json, root: JsonObject): JsonObject | undefined {
  if (!isObject(branch)) return undefined;
  const path = typeof branch.$ref === 'string' ? /^#\/(\$defs|definitions)\/([^/]+)$/.exec(branch.$ref) : null;
  if (path === null) return branch;
  const definitions = root[path[1]!];
  const found = isObject(definitions) ? definitions[path[2]!] : undefined;
  return isObject(found) ? found : undefined;
}

/** The description of the branches; their properties are in the merged object already. */
function withoutNoise(rule: Json, root: JsonObject): Json {
  if (!Array.isArray(rule)) return rule;
  return rule.map((branch) => {
    const { properties, additionalProperties: _, type: __, ...rest } = resolve(branch, root) ?? {};
    if (!isObject(branch)) return branch;
    const fixed = Object.entries(isObject(properties) ? properties : {}).filter(
      ([, value]) => isObject(value) && (value.const !== undefined || value.enum !== undefined),
    );
    return { ...(fixed.length > 0 && { properties: Object.fromEntries(fixed) }), ...rest };
  });
}

/** The schema with the description from its sibling field. */
export function describedSchema({
  schema,
  description,
  // A vendor that has no field for a description has none for these, which change nothing if it always keeps to the schema.
  name: _,
  strict: __,
}: Extract<Output['format'], { readonly type: 'schema' }>): JsonObject {
  if (description === undefined || description === schema.description) return schema;
  const own = schema.description;
  return { ...schema, description: typeof own === 'string' ? `${description}\n\n${own}` : description };
}
