/** Decodes the tools of a request, and `tool_choice`. */

import type { Json, JsonObject, Warnings } from '../../../../core/plugin.ts';
import {
  type Fields,
  type FunctionTool,
  type HostedTool,
  isObject,
  objectsIn,
  readFields,
  type Tool,
  type ToolChoice,
  type WebSearch,
} from '../../../../core/translation/index.ts';
import { dropRest, readCacheHint } from '../fields/leftovers.ts';

/**
 * Decodes the tools. Vendor-defined tools, some of which the vendor runs, have a type with a date:
 * `web_search_20250305`, `bash_20250124`.
 */
export function decodeTools(fields: Fields, warnings: Warnings): readonly Tool[] {
  const tools = (fields.list('tools') ?? []).map((value, i) => {
    const tool = readFields(value, `${fields.at('tools')}[${i}]`);
    const type = tool.text('type') ?? 'custom';
    return type === 'custom' ? decodeFunction(tool, warnings) : decodeHosted(type, value as JsonObject);
  });
  return [...tools, ...addedTools(fields, tools, warnings)];
}

/** Functions that the conversation adds (`tool_addition`): other vendors know only tools of the whole request. */
function addedTools(fields: Fields, tools: readonly Tool[], warnings: Warnings): readonly Tool[] {
  const added = (fields.list('messages') ?? [])
    .flatMap((message) => objectsIn(message, 'content'))
    .flatMap(({ type, tool }) =>
      type === 'tool_addition' && isObject(tool) && isObject(tool.input_schema) ? [tool] : [],
    );
  const names = new Set(tools.map(({ name }) => name));
  return added
    .map((tool) => decodeFunction(readFields(tool, 'messages.tool_addition.tool'), warnings))
    .filter(({ name }) => !names.has(name) && names.add(name));
}

function decodeFunction(tool: Fields, warnings: Warnings): FunctionTool {
  tool.get('type');
  const name = tool.text('name') ?? tool.wrong('name', 'must be a string');
  const description = tool.text('description');
  const schema = tool.object('input_schema');
  const strict = tool.flag('strict');
  const cache = readCacheHint(tool, warnings);
  const extras = tool.rest();
  return {
    type: 'function',
    name,
    ...(description !== undefined && { description }),
    ...(schema !== undefined && { schema }),
    ...(strict !== undefined && { strict }),
    ...cache,
    ...(Object.keys(extras).length > 0 && { extras }),
  };
}

function decodeHosted(type: string, raw: JsonObject): HostedTool {
  if (!type.startsWith('web_search_')) return { type: 'hosted', name: type, style: 'messages', raw };
  return { type: 'hosted', name: 'web_search', style: 'messages', raw, search: decodeSearch(raw) };
}

function decodeSearch(raw: JsonObject): WebSearch {
  const {
    type: _,
    name: __,
    max_uses: maxUses,
    allowed_domains: allowed,
    blocked_domains: blocked,
    user_location: location,
    ...extras
  } = raw;
  return {
    ...(typeof maxUses === 'number' && { maxUses }),
    ...(Array.isArray(allowed) && { allowedDomains: texts(allowed) }),
    ...(Array.isArray(blocked) && { blockedDomains: texts(blocked) }),
    ...(isObject(location) && { location }),
    ...(Object.keys(extras).length > 0 && { extras }),
  };
}

function texts(list: readonly Json[]): readonly string[] {
  return list.filter((item) => typeof item === 'string');
}

const MODES: ReadonlyMap<string, ToolChoice['mode']> = new Map([
  ['auto', 'auto'],
  ['any', 'required'],
  ['none', 'none'],
]);

/** Decodes which tools may be called, and whether several at once. */
export function decodeToolChoice(
  fields: Fields,
  warnings: Warnings,
): { readonly toolChoice: ToolChoice | undefined; readonly parallelToolCalls: boolean | undefined } {
  const choice = fields.fields('tool_choice');
  if (choice === undefined) return { toolChoice: undefined, parallelToolCalls: undefined };
  const type = choice.text('type') ?? choice.wrong('type', 'must be a string');
  const disabled = choice.flag('disable_parallel_tool_use');
  const toolChoice = decodeMode(choice, type);
  dropRest(choice, 'tool_choice', warnings);
  return { toolChoice, parallelToolCalls: disabled === undefined ? undefined : !disabled };
}

function decodeMode(choice: Fields, type: string): ToolChoice {
  if (type === 'tool') {
    return { mode: 'required', only: [choice.text('name') ?? choice.wrong('name', 'must be a string')] };
  }
  const mode = MODES.get(type);
  return mode === undefined ? choice.wrong('type', 'must be auto, any, tool or none') : { mode };
}
