/** Tools that are called with free text, for vendors that know only functions: one text inside an object, and out of it again. */

import type { CustomTool, FunctionTool } from '../contracts/conversation.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { Losses } from '../contracts/style.ts';
import { isObject } from './fields.ts';
import { parsed } from './values.ts';

const SCHEMA: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
};

/** The function that stands for it. A grammar can no longer be enforced; the model is told of it in the description. */
export function wrapTool({ format, description, type: _, ...rest }: CustomTool, losses: Losses): FunctionTool {
  const grammar = grammarOf(format);
  if (format !== undefined && format.type !== 'text') losses.change('tools.format');
  const told = [description, grammar && `The input must follow this grammar:\n${grammar}`].filter(Boolean).join('\n\n');
  return { type: 'function', ...rest, ...(told !== '' && { description: told }), schema: SCHEMA };
}

/** Chat completions put the definition one level deeper than responses. */
function grammarOf(format: JsonObject | undefined): string | undefined {
  const definition = format?.definition ?? (isObject(format?.grammar) ? format.grammar.definition : undefined);
  return typeof definition === 'string' ? definition : undefined;
}

/** The function's arguments for a free text. */
export function wrapInput(input: string): string {
  return JSON.stringify({ input });
}

/**
 * The free text in what a model wrote as arguments. Models know some of these tools from elsewhere and take other words for the
 * only property (`patch`), or none at all.
 */
export function unwrapInput(text: string): string {
  const value = parsed(text);
  if (typeof value === 'string') return value;
  if (!isObject(value)) return text;
  const values = Object.values(value);
  const found = [value.input, value.patch, values.length === 1 ? values[0] : undefined];
  return found.find((candidate) => typeof candidate === 'string') ?? text;
}
