/** The schema of a tool's arguments for vendors that take no union at its top level: one object with the properties of all branches. */
import type { Json, JsonObject } from '../contracts/json.ts';
import { isObject } from './fields.ts';

/** Keywords that some vendors refuse beside `type: object`. */
const REFUSED = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const'] as const;

/** A branch may be a union again, and refer to itself. */
const MAX_DEPTH = 8;

/** What could not be kept as a rule stands in the description; longer than this it helps no model. */
const MAX_TOLD = 2_000;

/** The part of a schema that says which members an object has. */
interface Shape {
  readonly properties: Readonly<Record<string, Json>>;
  readonly required: readonly string[];
}

/** Whether a vendor that takes plain objects only would refuse the schema. */
export function hasRootUnion(schema: JsonObject): boolean {
  return REFUSED.some((keyword) => schema[keyword] !== undefined);
}

/**
 * The same without them. What every branch demands is still demanded, a property that differs between branches may be any of them,
 * and which members belong together is told in the description.
 */
export function objectSchema(schema: JsonObject): JsonObject {
  const { properties, required } = shapeOf(schema, schema, 0);
  const told: string[] = [];
  const kept: Record<string, Json> = {};
  for (const [keyword, rule] of Object.entries(schema)) {
    if (keyword === 'allOf') continue;
    if (!REFUSED.some((refused) => refused === keyword)) kept[keyword] = rule;
    else told.push(`${keyword}: ${JSON.stringify(withoutNoise(rule, schema))}`);
  }
  const rules = told.length === 0 ? '' : `{${told.join(', ')}}`;
  const { description } = schema;
  const words = [typeof description === 'string' ? description : '', rules.length <= MAX_TOLD ? rules : '']
    .filter((text) => text !== '')
    .join(' ');
  return {
    ...kept,
    type: 'object',
    ...(words !== '' && { description: words }),
    properties,
    ...(required.length > 0 && { required }),
    // Branches that allow nothing else mean their own members, and here stand those of all.
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
      // `null` and the like: a model can leave the arguments empty anyway.
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

/** A branch, which may stand among the schema's own definitions. */
function resolve(branch: Json, root: JsonObject): JsonObject | undefined {
  if (!isObject(branch)) return undefined;
  const path = typeof branch.$ref === 'string' ? /^#\/(\$defs|definitions)\/([^/]+)$/.exec(branch.$ref) : null;
  if (path === null) return branch;
  const definitions = root[path[1]!];
  const found = isObject(definitions) ? definitions[path[2]!] : undefined;
  return isObject(found) ? found : undefined;
}

/** What tells the branches apart: their properties stand in the merged object already. */
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
