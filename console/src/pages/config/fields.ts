/** The kinds of form fields, from the schema of gateway.yaml. */
import type { Schema } from './facts.ts';
import { isMembers, type Value } from './settings.ts';

/** A field of a form. */
export interface FieldKind {
  /**
   * `list`: of texts; `table`: of texts by name; `group`: a mapping with known members; `yaml`: anything else, written as YAML.
   */
  readonly kind: 'text' | 'number' | 'choice' | 'switch' | 'list' | 'table' | 'group' | 'yaml';
  readonly description: string | undefined;
  /** The values of a choice. */
  readonly options: readonly string[];
  /** The default as text; empty: none. */
  readonly usual: string;
  readonly example: string;
  readonly least: number | undefined;
  readonly most: number | undefined;
  readonly isWhole: boolean;
  /** The members of a group. */
  readonly members: Readonly<Record<string, Schema>>;
}

/** The pattern of references, which schemas allow in place of any text. */
const REFERENCE = '\\$\\{';

/** The alternatives of a schema, without those for references. */
function alternativesOf(schema: Schema): readonly Schema[] {
  return [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].filter(({ pattern }) => pattern !== REFERENCE);
}

/** The field for a member with this schema and this value. */
export function fieldOf(schema: Schema, value: Value | undefined): FieldKind {
  const others = alternativesOf(schema);
  // With one alternative, it is the schema. With several, only YAML can write them all.
  const main = others.length === 1 ? { ...others[0]!, ...schema } : schema;
  const types = (typeof main.type === 'string' ? [main.type] : (main.type ?? [])).filter((type) => type !== 'null');
  const options = 'const' in main ? [main.const] : (main.enum ?? []);
  const usual = main.default;
  return {
    kind: kindOf(main, types, options, others.length > 1, value),
    description: main.description,
    options: options.map(String),
    usual: usual === undefined || usual === null || typeof usual === 'object' ? '' : String(usual),
    example: main.examples === undefined ? '' : String(main.examples[0] ?? ''),
    least: main.minimum,
    most: main.maximum,
    isWhole: types.includes('integer'),
    members: main.properties ?? {},
  };
}

function kindOf(
  { properties, additionalProperties: more, items }: Schema,
  types: readonly string[],
  options: readonly unknown[],
  isOpen: boolean,
  value: Value | undefined,
): FieldKind['kind'] {
  if (isOpen) return 'yaml';
  if (options.length > 0) return typeof value === 'object' && value !== null ? 'yaml' : 'choice';
  const [type] = types;
  if (types.length !== 1 || type === undefined) return 'yaml';
  if (type === 'boolean') return typeof value === 'string' ? 'text' : 'switch';
  // A reference is written as text.
  if (type === 'number' || type === 'integer') return typeof value === 'string' ? 'text' : 'number';
  if (type === 'string') return typeof value === 'object' && value !== null ? 'yaml' : 'text';
  if (type === 'array') return items !== undefined && isTexts(items) && isListOfTexts(value) ? 'list' : 'yaml';
  if (properties !== undefined) return value === undefined || value === null || isMembers(value) ? 'group' : 'yaml';
  return typeof more === 'object' && isTexts(more) && isTableOfTexts(value) ? 'table' : 'yaml';
}

function isTexts(schema: Schema): boolean {
  const others = alternativesOf(schema);
  return (others.length === 1 ? others[0]! : schema).type === 'string';
}

function isListOfTexts(value: Value | undefined): boolean {
  return (
    value === undefined || value === null || (Array.isArray(value) && value.every((item) => typeof item !== 'object'))
  );
}

function isTableOfTexts(value: Value | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    (isMembers(value) && Object.values(value).every((one) => typeof one !== 'object'))
  );
}

/** The schema of the items of a section: of a list, or of a mapping with names of the operator's choice. */
export function itemSchemaOf(section: Schema | undefined): Schema {
  const more = section?.additionalProperties;
  const item = section?.items ?? (typeof more === 'object' ? more : {});
  // Prices: one rate card, or a list of them by date. Forms edit one.
  return item.properties === undefined && item.else !== undefined ? item.else : item;
}
