/**
 * Writes console/src/api/operations.ts: the request and response types of `/api`, generated from the schemas that its
 * routes are validated with. `npm run api-types`; a test checks that the file is current.
 */
import { writeFileSync } from 'node:fs';
import { compile } from 'json-schema-to-typescript';
import { formatted } from '../../scripts/formatted.ts';
import { CONSOLE_PIPELINE } from '../kit/console.ts';
import { startGateway } from '../kit/gateway.ts';

/** The file. */
export const FILE = 'console/src/api/operations.ts';
const HEAD = `/** What \`/api\` takes and answers, by method and path. Made by \`npm run api-types\`: change the schemas of the routes. */
// biome-ignore-all lint: made by a script
`;
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
export interface Described {
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<(typeof METHODS)[number], Operation>>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The text of that file. */
export async function apiTypes(described: Described): Promise<string> {
  const operations: Record<string, Schema> = {};
  for (const [path, methods] of Object.entries(described.paths)) {
    if (!path.startsWith('/api/')) continue;
    for (const method of METHODS) {
      const operation = methods[method];
      if (operation !== undefined) operations[`${method.toUpperCase()} ${path}`] = shapeOf(operation);
    }
  }
  const { schemas } = described.components;
  const text = await compile({ ...closed(object(operations)), definitions: closed(schemas) }, 'Operations', {
    additionalProperties: false,
    bannerComment: '',
    enableConstEnums: false,
    format: false,
    unreachableDefinitions: false,
  });
  return formatted(FILE, `${HEAD}${compact(text)}`);
}

/** One-line comments, and types without comments, on one line; the formatter breaks long ones. */
function compact(text: string): string {
  return text.replace(/\/\*\*\n\s*\* (.*)\n\s*\*\//g, '/** $1 */').replace(/\{\n(?!\s*\/\*\*)/g, '{ ');
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

if (process.argv[1]?.endsWith('api-types.ts')) {
  const gateway = await startGateway({ config: { pipeline: [...CONSOLE_PIPELINE] } });
  try {
    const described = (await (await fetch(`${gateway.url}/api/openapi.json`)).json()) as Described;
    writeFileSync(FILE, await apiTypes(described));
  } finally {
    await gateway.stop();
  }
}
