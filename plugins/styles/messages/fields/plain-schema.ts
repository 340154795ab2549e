/** Reduces JSON Schemas to the keywords that vendors of this style enforce; the others are moved into descriptions. */

import type { Json, JsonObject } from '../../../../core/plugin.ts';
import { isObject } from '../../../../core/translation/index.ts';

const UNKNOWN: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'patternProperties',
  'propertyNames',
  'not',
]);
const FORMATS: readonly unknown[] = [
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
];
/** Keywords that contain one schema, a list of schemas, or schemas by name. */
const INSIDE: ReadonlySet<string> = new Set([
  'items',
  'prefixItems',
  'anyOf',
  'allOf',
  '$defs',
  'definitions',
  'properties',
]);
const BY_NAME: ReadonlySet<string> = new Set(['$defs', 'definitions', 'properties']);

/** The schema, and whether any part of it is no longer enforced. */
export function plainSchema(schema: JsonObject): { readonly schema: JsonObject; readonly weaker: boolean } {
  let weaker = false;

  function plain(value: Json): Json {
    if (Array.isArray(value)) return value.map(plain);
    if (!isObject(value)) return value;
    const kept: Record<string, Json> = {};
    const unenforced: string[] = [];
    for (const [keyword, rule] of Object.entries(value)) {
      if (isUnknown(keyword, rule)) unenforced.push(`${keyword}: ${JSON.stringify(rule)}`);
      else if (BY_NAME.has(keyword) && isObject(rule)) kept[keyword] = byName(rule);
      else if (keyword === 'oneOf' && value.anyOf === undefined) kept.anyOf = plain(rule);
      else kept[keyword] = INSIDE.has(keyword) ? plain(rule) : rule;
    }
    if (kept.type === 'object' || kept.properties !== undefined) {
      weaker ||= kept.additionalProperties !== undefined && kept.additionalProperties !== false;
      // Required for every object.
      kept.additionalProperties = false;
    }
    if (unenforced.length > 0) {
      weaker = true;
      const { description } = kept;
      kept.description = [typeof description === 'string' ? description : '', `{${unenforced.join(', ')}}`]
        .join(' ')
        .trim();
    }
    return kept;
  }
  function byName(schemas: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(schemas).map(([name, inner]) => [name, plain(inner)]));
  }

  return { schema: plain(schema) as JsonObject, weaker };
}

function isUnknown(keyword: string, rule: Json): boolean {
  if (keyword === 'minItems') return rule !== 0 && rule !== 1;
  if (keyword === 'format') return !FORMATS.includes(rule);
  return UNKNOWN.has(keyword);
}
