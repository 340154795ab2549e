/** What the schema of gateway.yaml says of a key. */
import type { Path } from './marks.ts';

/** JSON Schema, as far as it is looked at. */
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

/** What is known of a key. */
export interface Facts {
  /** `known`: the schema names it. `own`: whoever writes the file chooses the name. `unknown`: nothing is called so here. */
  readonly kind: 'known' | 'own' | 'unknown';
  readonly description: string | undefined;
  /** `duration`, where what is written has a name. */
  readonly title: string | undefined;
  readonly types: readonly string[];
  /** Undefined: there is none. */
  readonly usual: string | undefined;
  readonly allowed: readonly string[];
  readonly examples: readonly string[];
  readonly least: number | undefined;
  readonly above: number | undefined;
  readonly most: number | undefined;
  readonly required: boolean;
}

/** Looks a path up. */
export function factsAt(schema: Schema, path: Path): Facts {
  let here = formsOf(schema);
  let above = here;
  let kind: Facts['kind'] = 'known';
  for (const step of path) {
    above = here;
    const named = typeof step === 'string' ? here.flatMap(({ properties = {} }) => own(properties, step)) : [];
    const others = here.flatMap(({ additionalProperties: more, items }) => {
      const rest = typeof step === 'number' ? items : more;
      return typeof rest === 'object' ? [rest] : [];
    });
    const isOpen = here.some(
      ({ additionalProperties: more, properties }) => properties !== undefined && more !== false,
    );
    kind = named.length > 0 || typeof step === 'number' ? 'known' : others.length > 0 || isOpen ? 'own' : 'unknown';
    here = (named.length > 0 ? named : others).flatMap(formsOf);
  }
  const last = path.at(-1);
  return {
    kind,
    description: first(here, ({ description }) => description),
    title: first(here, ({ title }) => title),
    types: [...new Set(here.flatMap(typesOf))],
    usual: first(here, (each) => ('default' in each ? written(each.default) : undefined)),
    allowed: unique(here.flatMap((each) => ('const' in each ? [each.const] : (each.enum ?? [])))),
    examples: unique(here.flatMap(({ examples = [] }) => examples)),
    least: first(here, ({ minimum }) => minimum),
    above: first(here, ({ exclusiveMinimum }) => exclusiveMinimum),
    most: first(here, ({ maximum }) => maximum),
    required: typeof last === 'string' && above.some(({ required = [] }) => required.includes(last)),
  };
}

/** A schema and all its alternatives. That a text may hold a reference instead goes without saying. */
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

/** A value as it is written in the file; an empty section or list says nothing. */
function written(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'object') return Object.keys(value).length === 0 ? undefined : JSON.stringify(value);
  return value === '' ? '""' : String(value);
}
