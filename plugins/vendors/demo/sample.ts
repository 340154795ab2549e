/** Generates a minimal value that matches a JSON Schema; always the same one. */
import type { Json, JsonObject } from '../../../core/plugin.ts';

/** Maximum values in one sample; further ones are null. A schema could require more than fits into memory. */
const MAX_VALUES = 1_000;
const MAX_DEPTH = 32;
const MAX_TEXT = 1_000;

/** A value that matches this schema. Patterns are ignored. */
export function sampleOf(schema: Json): Json {
  let values = 0;

  /** `name`: the name of the member; an unconstrained string has it as its value. */
  function make(given: Json, name: string, depth: number): Json {
    if (++values > MAX_VALUES || depth > MAX_DEPTH) return null;
    const rule = ruleOf(given, schema);
    if (rule.const !== undefined) return rule.const;
    if (rule.default !== undefined) return rule.default;
    const [example] = [...listOf(rule.enum), ...listOf(rule.examples)];
    if (example !== undefined) return example;
    const [option] = [...listOf(rule.anyOf), ...listOf(rule.oneOf)];
    if (option !== undefined) return make(option, name, depth + 1);
    switch (typeOf(rule)) {
      case 'object':
        return Object.fromEntries(
          listOf(rule.required)
            .filter((member) => typeof member === 'string')
            .map((member) => [member, make(objectOf(rule.properties)[member] ?? {}, member, depth + 1)]),
        );
      case 'array': {
        const fixed = listOf(rule.prefixItems);
        const length = Math.min(
          Math.max(numberOf(rule.minItems) ?? 1, fixed.length),
          numberOf(rule.maxItems) ?? MAX_VALUES,
          MAX_VALUES,
        );
        return Array.from({ length }, (_, i) => make(fixed[i] ?? rule.items ?? {}, name, depth + 1));
      }
      case 'number':
      case 'integer':
        return numberFor(rule);
      case 'boolean':
        return true;
      case 'null':
        return null;
      default:
        return textFor(rule, name);
    }
  }

  return make(schema, 'text', 0);
}

/** A schema with its reference resolved and its `allOf` merged. */
function ruleOf(given: Json, root: Json): JsonObject {
  let rule = objectOf(given);
  for (let i = 0; i < MAX_DEPTH && typeof rule.$ref === 'string'; i++) {
    const { $ref, ...beside } = rule;
    rule = { ...objectOf(at(root, $ref)), ...beside };
  }
  let merged = rule;
  for (const part of listOf(rule.allOf)) {
    const { $ref } = objectOf(part);
    const { properties, required, ...rest } = objectOf(typeof $ref === 'string' ? at(root, $ref) : part);
    merged = {
      ...rest,
      ...merged,
      properties: { ...objectOf(properties), ...objectOf(merged.properties) },
      required: [...listOf(merged.required), ...listOf(required)],
    };
  }
  return merged;
}

/** The target of a reference inside the document (`#/$defs/city`). */
function at(root: Json, pointer: string): Json | undefined {
  let value: Json | undefined = root;
  for (const step of pointer.split('/').slice(1)) {
    value = objectOf(value)[step.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return value;
}

function typeOf(rule: JsonObject): Json | undefined {
  const types = [rule.type ?? []].flat();
  const type = types.find((candidate) => candidate !== 'null') ?? types[0];
  if (type !== undefined) return type;
  if (rule.properties !== undefined || rule.required !== undefined) return 'object';
  return rule.items === undefined && rule.prefixItems === undefined ? undefined : 'array';
}

function numberFor(rule: JsonObject): number {
  const step = numberOf(rule.multipleOf) ?? 1;
  const above = numberOf(rule.exclusiveMinimum);
  const below = numberOf(rule.exclusiveMaximum);
  const lowest = numberOf(rule.minimum) ?? (above === undefined ? undefined : above + step);
  const highest = numberOf(rule.maximum) ?? (below === undefined ? undefined : below - step);
  return Math.ceil((lowest ?? Math.min(1, highest ?? 1)) / step) * step;
}

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-01',
  time: '12:00:00Z',
  'date-time': '2026-01-01T12:00:00Z',
  duration: 'PT1H',
  email: 'someone@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

function textFor(rule: JsonObject, name: string): string {
  const formatted = typeof rule.format === 'string' ? FORMATS[rule.format] : undefined;
  if (formatted !== undefined) return formatted;
  const shortest = Math.min(numberOf(rule.minLength) ?? 0, MAX_TEXT);
  return name.padEnd(shortest, '.').slice(0, numberOf(rule.maxLength));
}

export function numberOf(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
export function objectOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
