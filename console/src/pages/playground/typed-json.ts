/** Validates JSON that users enter: tools and schemas. Pure. */

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

/** A function that the model can call. */
export interface Tool {
  readonly name: string;
  readonly description: string | undefined;
  /** A JSON schema. */
  readonly parameters: JsonObject;
}

/** The value, or the problem: invalid JSON (`parserMessage`: the browser's message), or another shape. */
export type Typed<T> =
  | { readonly value: T; readonly problem?: undefined }
  | {
      readonly value?: undefined;
      readonly problem: 'json' | 'list' | 'name' | 'object';
      readonly parserMessage?: string;
    };

/** True for an object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The tools; none if empty. Each can use the format of any of the three APIs. */
export function toolsIn(text: string): Typed<readonly Tool[]> {
  if (text.trim() === '') return { value: [] };
  const read = jsonIn(text);
  if (read.problem !== undefined) return read;
  const list = isObject(read.value) ? [read.value] : read.value;
  if (!Array.isArray(list) || !list.every(isObject)) return { problem: 'list' };
  const tools = list.map(toolOf);
  return tools.some(({ name }) => name === '') ? { problem: 'name' } : { value: tools };
}

function toolOf(definition: JsonObject): Tool {
  const tool = isObject(definition.function) ? definition.function : definition;
  const parameters = [tool.parameters, tool.input_schema].find(isObject) ?? { type: 'object', properties: {} };
  return {
    name: typeof tool.name === 'string' ? tool.name : '',
    description: typeof tool.description === 'string' ? tool.description : undefined,
    parameters,
  };
}

/** The schema; undefined if empty. */
export function schemaIn(text: string): Typed<JsonObject | undefined> {
  if (text.trim() === '') return { value: undefined };
  const read = jsonIn(text);
  if (read.problem !== undefined) return read;
  return isObject(read.value) ? { value: read.value } : { problem: 'object' };
}

function jsonIn(text: string): Typed<Json> {
  try {
    return { value: JSON.parse(text) as Json };
  } catch (error) {
    return { problem: 'json', parserMessage: error instanceof Error ? error.message : '' };
  }
}

/** Example tools. */
export const EXAMPLE_TOOLS = JSON.stringify(
  [
    {
      name: 'get_weather',
      description: 'The weather in a city now.',
      parameters: {
        type: 'object',
        properties: {
          city: { type: 'string' },
          unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
        },
        required: ['city'],
      },
    },
  ],
  null,
  2,
);

/** Example schema. */
export const EXAMPLE_SCHEMA = JSON.stringify(
  {
    type: 'object',
    properties: {
      answer: { type: 'string' },
      confidence: { type: 'number' },
    },
    required: ['answer', 'confidence'],
    additionalProperties: false,
  },
  null,
  2,
);
