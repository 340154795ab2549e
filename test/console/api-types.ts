/**
 * The request and response types of `/api`, generated from the schemas that its routes are validated with, for the console. `scripts/console-sources.mjs`
 * keeps them.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compile } from 'json-schema-to-typescript';
import { stringify } from 'yaml';
import { CONSOLE_PIPELINE } from '../kit/console/console.ts';
import { startProcess } from '../kit/gateway/process.ts';

const METHODS = ['get', 'post', 'put', 'delete'] as const;

type Schema = Readonly<Record<string, unknown>>;
interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >;
}
/** The part of `GET /api/openapi.json` that is used here. */
interface Described {
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<(typeof METHODS)[number], Operation>>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The types, and a list of the operations, each with a hash of its types. */
export async function describedTypes(): Promise<{ readonly types: string; readonly list: string }> {
  const described = await description();
  const operations: Record<string, Schema> = {};
  for (const [path, methods] of Object.entries(described.paths)) {
    if (!path.startsWith('/api/')) continue;
    for (const method of METHODS) {
      const operation = methods[method];
      if (operation !== undefined) operations[`${method.toUpperCase()} ${path}`] = shapeOf(operation);
    }
  }
  const definitions = closed(described.components.schemas);
  const types = await compile({ ...closed(object(operations)), definitions }, 'Operations', {
    additionalProperties: false,
    bannerComment: '',
    enableConstEnums: false,
    format: false,
    unreachableDefinitions: false,
  });
  const list = Object.entries(closed(operations)).map(([name, shape]) => `${name} ${hashOf(shape, definitions)}\n`);
  return { types, list: list.join('') };
}

/** What a gateway with everything that ships for people and money says of its routes. */
async function description(): Promise<Described> {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-types-'));
  const file = join(dir, 'gateway.yaml');
  const store = { file: join(dir, 'turnpike.db') };
  writeFileSync(file, stringify({ listen: { host: '127.0.0.1', port: 0 }, store, pipeline: CONSOLE_PIPELINE }));
  const gateway = await startProcess(file);
  try {
    return (await (await fetch(`${gateway.url}/api/openapi.json`)).json()) as Described;
  } finally {
    await gateway.stop();
    rmSync(dir, { recursive: true });
  }
}

/** A hash of a schema with the definitions that it refers to, without what only describes it. */
function hashOf(shape: Schema, definitions: Readonly<Record<string, Schema>>): string {
  const textOf = (schema: unknown): string =>
    JSON.stringify(schema, (name, value) =>
      // A property of this name has a schema.
      (name === 'description' && typeof value === 'string') || (name === 'examples' && Array.isArray(value))
        ? undefined
        : value,
    );
  const texts = new Map([['', textOf(shape)]]);
  for (const text of texts.values())
    for (const [, name = ''] of text.matchAll(/"#\/definitions\/(\w+)"/g))
      if (!texts.has(name)) texts.set(name, textOf(definitions[name]));
  return createHash('sha256')
    .update(JSON.stringify([...texts].sort()))
    .digest('hex')
    .slice(0, 8);
}

function shapeOf({ parameters = [], requestBody, responses }: Operation): Schema {
  const named = (where: string): Schema | undefined => {
    const found = parameters.filter((parameter) => parameter.in === where);
    if (found.length === 0) return undefined;
    const properties = Object.fromEntries(found.map(({ name, schema }) => [name, schema]));
    return { type: 'object', properties, required: found.filter(({ required }) => required).map(({ name }) => name) };
  };
  const shape = {
    params: named('path'),
    search: named('query'),
    body: requestBody?.content['application/json']?.schema,
    data: dataOf(responses['200']?.content),
  };
  return object(Object.fromEntries(Object.entries(shape).filter(([, schema]) => schema !== undefined)));
}

/** The content of the envelope, or the whole body if there is none; a file is text. */
function dataOf(content: Readonly<Record<string, { readonly schema: Schema }>> | undefined): unknown {
  const schema = content?.['application/json']?.schema;
  if (schema === undefined) return { type: 'string' };
  const { success, data } = (schema.properties ?? {}) as Record<string, Schema>;
  return success?.const === true && data !== undefined ? data : schema;
}

function object(properties: Readonly<Record<string, unknown>>): Schema {
  return { type: 'object', additionalProperties: false, properties, required: Object.keys(properties) };
}

/** With references to the schema's definitions, and without keywords that do not affect the type. */
function closed<T>(value: T): T {
  if (Array.isArray(value)) return value.map((each) => closed(each)) as T;
  if (typeof value !== 'object' || value === null) return value;
  // A description next to a reference would make the generator copy the type under another name.
  if ('$ref' in value && 'description' in value) {
    const { $ref, description } = value;
    return { description, allOf: [closed({ $ref })] } as T;
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => {
      if (name === '$ref') return [[name, String(each).replace('#/components/schemas/', '#/definitions/')]];
      // With array limits, the generator would produce a union of tuples.
      if (['minItems', 'maxItems', 'default'].includes(name) && typeof each !== 'object') return [];
      return [[name, closed(each)]];
    }),
  ) as T;
}
