/** Custom tools (free-text input) for vendors that only support functions: the text is wrapped in an object. */

import { isObject } from '../../bytes/fields.ts';
import { parsed } from '../../bytes/values.ts';
import type { CustomTool, FunctionTool } from '../../contracts/formats/conversation.ts';
import type { JsonObject } from '../../contracts/formats/json.ts';
import type { Warnings } from '../../contracts/formats/warnings.ts';

const SCHEMA: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
};

/** The function that replaces it. A grammar cannot be enforced any more; it is added to the description. */
export function wrapTool({ format, description, type: _, ...rest }: CustomTool, warnings: Warnings): FunctionTool {
  const grammar = grammarOf(format);
  if (format !== undefined && format.type !== 'text') warnings.change('tools.format');
  const text = [description, grammar && `The input must follow this grammar:\n${grammar}`].filter(Boolean).join('\n\n');
  return { type: 'function', ...rest, ...(text !== '' && { description: text }), schema: SCHEMA };
}

/** Chat Completions nests the definition one level deeper than Responses. */
function grammarOf(format: JsonObject | undefined): string | undefined {
  const definition = format?.definition ?? (isObject(format?.grammar) ? format.grammar.definition : undefined);
  return typeof definition === 'string' ? definition : undefined;
}

/** The function's arguments for a free text. */
export function wrapInput(input: string): string {
  return JSON.stringify({ input });
}

/** The free text in a model's arguments. Some models name the only property otherwise (`patch`), or send no object. */
export function unwrapInput(text: string): string {
  const value = parsed(text);
  if (typeof value === 'string') return value;
  if (!isObject(value)) return text;
  const values = Object.values(value);
  const found = [value.input, value.patch, values.length === 1 ? values[0] : undefined];
  return found.find((candidate) => typeof candidate === 'string') ?? text;
}
