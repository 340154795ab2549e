/** The description of a key from the schema of gateway.yaml. */
import type { Path } from './marks.ts';

/** The parts of JSON Schema that are used. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly then?: Schema;
  readonly else?: Schema;
}

/** The description of a key. */
export interface Facts {
  /** `known`: in the schema. `own`: a name that the author of the file chooses. `unknown`: not in the schema. */
  readonly kind: 'known' | 'own' | 'unknown';
  readonly description: string | undefined;
  /** The name of the format, such as `duration`. */
  readonly title: string | undefined;
  readonly types: readonly string[];
  /** Undefined: no default. */
  readonly defaultValue: string | undefined;
  readonly allowed: readonly string[];
  readonly examples: readonly string[];
  readonly least: number | undefined;
  readonly above: number | undefined;
  readonly most: number | undefined;
  readonly required: boolean;
}

/** Finds a path in the schema. */
export function factsAt(schema: Schema, path: Path): Facts {
  let schemas = formsOf(schema);
  let above = schemas;
  let kind: Facts['kind'] = 'known';
  for (const step of path) {
    above = schemas;
    const named = typeof step === 'string' ? schemas.flatMap(({ properties = {} }) => own(properties, step)) : [];
    const others = schemas.flatMap(({ additionalProperties: more, items }) => {
      const additional = typeof step === 'number' ? items : more;
      return typeof additional === 'object' ? [additional] : [];
    });
    const isOpen = schemas.some(
      ({ additionalProperties: more, properties }) => properties !== undefined && more !== false,
    );
    kind = named.length > 0 || typeof step === 'number' ? 'known' : others.length > 0 || isOpen ? 'own' : 'unknown';
    schemas = (named.length > 0 ? named : others).flatMap(formsOf);
  }
  const last = path.at(-1);
  return {
    kind,
    description: first(schemas, ({ description }) => description),
    title: first(schemas, ({ title }) => title),
    types: [...new Set(schemas.flatMap(typesOf))],
    defaultValue: first(schemas, (each) => ('default' in each ? written(each.default) : undefined)),
    allowed: unique(schemas.flatMap((each) => ('const' in each ? [each.const] : (each.enum ?? [])))),
    examples: unique(schemas.flatMap(({ examples = [] }) => examples)),
    least: first(schemas, ({ minimum }) => minimum),
    above: first(schemas, ({ exclusiveMinimum }) => exclusiveMinimum),
    most: first(schemas, ({ maximum }) => maximum),
    required: typeof last === 'string' && above.some(({ required = [] }) => required.includes(last)),
  };
}

/** A schema and all its alternatives. References in place of texts are allowed everywhere and left out. */
function formsOf(schema: Schema): readonly Schema[] {
  const { anyOf = [], oneOf = [], allOf = [], then, else: otherwise } = schema;
  const others = [
    ...anyOf,
    ...oneOf,
    ...allOf,
    ...(then === undefined ? [] : [then]),
    ...(otherwise === undefined ? [] : [otherwise]),
  ];
  return [schema, ...others.filter(({ pattern }) => pattern !== '\\$\\{').flatMap(formsOf)];
}

function own(properties: Readonly<Record<string, Schema>>, name: string): readonly Schema[] {
  return Object.hasOwn(properties, name) ? [properties[name]!] : [];
}

function typesOf({ type = [] }: Schema): readonly string[] {
  return (typeof type === 'string' ? [type] : type).filter((name) => name !== 'null');
}

function first<T>(schemas: readonly Schema[], of: (schema: Schema) => T | undefined): T | undefined {
  for (const schema of schemas) {
    const value = of(schema);
    if (value !== undefined) return value;
  }
  return undefined;
}

function unique(values: readonly unknown[]): readonly string[] {
  return [...new Set(values.map(written).filter((value) => value !== undefined))];
}

/** A value as YAML; empty for an empty section or list. */
function written(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'object') return Object.keys(value).length === 0 ? undefined : JSON.stringify(value);
  return value === '' ? '""' : String(value);
}
