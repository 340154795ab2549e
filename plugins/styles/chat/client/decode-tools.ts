/** Decodes the tools of a chat request, and `tool_choice`. */

import type { Json, JsonObject, Warnings } from '../../../../core/plugin.ts';
import {
  type Fields,
  isObject,
  type Tool,
  type ToolChoice,
  type WebSearch,
} from '../../../../core/translation/index.ts';
import { readCache } from '../fields/cache.ts';
import { dropRest } from '../fields/leftovers.ts';

/** The tool options of a request. */
export interface ToolsAsked {
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | undefined;
  readonly parallelToolCalls: boolean | undefined;
}

/** Decodes `tools`, `tool_choice` and the legacy `functions` and `function_call`. */
export function decodeTools(body: Fields, warnings: Warnings): ToolsAsked {
  const functions = body.each('functions');
  const options = body.object('web_search_options');
  const parallel = body.flag('parallel_tool_calls');
  return {
    tools: [
      ...body.each('tools').map((tool) => readTool(tool, warnings)),
      ...functions.map((tool) => readFunction(tool)),
      ...(options === undefined
        ? []
        : [{ type: 'hosted', name: 'web_search', style: 'chat', raw: options, search: readSearch(options) } as const]),
    ],
    toolChoice: readChoice(body.get('tool_choice') ?? body.get('function_call'), body, warnings),
    // Legacy clients read one call only.
    parallelToolCalls: functions.length > 0 ? false : parallel,
  };
}

/** True for a legacy client: it supports functions only, and reads `function_call`. */
export function knowsFunctionsOnly(request: JsonObject): boolean {
  return Array.isArray(request.functions) && (request.tools ?? null) === null;
}

function readTool(tool: Fields, warnings: Warnings): Tool {
  const type = tool.text('type') ?? 'function';
  if (type === 'function') {
    const inner = tool.fields('function') ?? tool.wrong('function', 'must be an object');
    const mark = readCache(tool, warnings);
    return { ...readFunction(inner, tool.rest()), ...mark };
  }
  if (type === 'custom') {
    const inner = tool.fields('custom') ?? tool.wrong('custom', 'must be an object');
    const description = inner.text('description');
    const format = readFormat(inner, warnings);
    const custom = {
      type: 'custom',
      name: inner.text('name') ?? inner.wrong('name', 'must be a string'),
      ...(description !== undefined && { description }),
      ...(format !== undefined && { format }),
    } as const;
    for (const fields of [inner, tool]) dropRest(fields, 'tools', warnings);
    return custom;
  }
  const raw: JsonObject = { type, ...tool.rest() };
  // `web_search`, `web_search_preview`, with or without a router's prefix.
  const isSearch = /(^|:)web_search(_|$)/.test(type);
  const { parameters, ...outer } = raw;
  return isSearch
    ? {
        type: 'hosted',
        name: 'web_search',
        style: 'chat',
        raw,
        search: readSearch(isObject(parameters) ? { ...outer, ...parameters } : raw),
      }
    : { type: 'hosted', name: type, style: 'chat', raw };
}

/** Free text, or a grammar. The members of the grammar may be next to its type, as in the responses style. */
function readFormat(tool: Fields, warnings: Warnings): JsonObject | undefined {
  const fields = tool.fields('format');
  if (fields === undefined) return undefined;
  if (fields.text('type') === 'text') {
    dropRest(fields, 'tools.format', warnings);
    return { type: 'text' };
  }
  const { grammar, ...format } = tool.object('format')!;
  return isObject(grammar) ? { ...format, ...grammar } : format;
}

function readFunction(fields: Fields, outer: JsonObject = {}): Tool {
  const description = fields.text('description');
  const schema = fields.object('parameters');
  const strict = fields.flag('strict');
  const tool = {
    type: 'function',
    name: fields.text('name') ?? fields.wrong('name', 'must be a string'),
    ...(description !== undefined && { description }),
    ...(schema !== undefined && { schema }),
    ...(strict !== undefined && { strict }),
  } as const;
  const extras = { ...outer, ...fields.rest() };
  return Object.keys(extras).length === 0 ? tool : { ...tool, extras };
}

function readSearch(options: JsonObject): WebSearch {
  const { type: _, search_context_size: size, max_uses: uses, user_location: place, ...others } = options;
  const { location, ...beside } = readPlace(place);
  const extras = { ...others, ...beside };
  return {
    ...((size === 'low' || size === 'medium' || size === 'high') && { contextSize: size }),
    ...(typeof uses === 'number' && { maxUses: uses }),
    ...(location !== undefined && { location }),
    ...(Object.keys(extras).length > 0 && { extras }),
  };
}

/** The user's location. One notation has it in a nested object; other members are not a location. */
function readPlace(place: Json | undefined): { readonly location?: JsonObject; readonly user_location?: JsonObject } {
  if (!isObject(place)) return {};
  const { type: _, approximate, ...others } = place;
  if (!isObject(approximate)) return { location: { type: 'approximate', ...place } };
  const location = { type: 'approximate', ...approximate };
  return Object.keys(others).length === 0 ? { location } : { location, user_location: others };
}

const MODES = { auto: 'auto', none: 'none', required: 'required', any: 'required' } as const;

function readChoice(choice: Json | undefined, body: Fields, warnings: Warnings): ToolChoice | undefined {
  if (choice === undefined) return undefined;
  const name = body.get('tool_choice') === undefined ? 'function_call' : 'tool_choice';
  if (typeof choice === 'string') {
    // Some clients write the words of another vendor: `ANY`, `VALIDATED`.
    const word = choice.toLowerCase();
    if (word === 'validated') {
      warnings.change('tool_choice', 'hint');
      return { mode: 'auto', validated: true };
    }
    return Object.hasOwn(MODES, word)
      ? { mode: MODES[word as keyof typeof MODES] }
      : body.wrong(name, 'must be auto, none or required, or name a tool');
  }
  const fields = body.fields(name) ?? body.wrong(name, 'must be a string or an object');
  if (fields.text('type') === 'allowed_tools') {
    const allowed = fields.fields('allowed_tools') ?? fields.wrong('allowed_tools', 'must be an object');
    const only = allowed.each('tools').map((tool) => nameIn(tool, name, warnings));
    const mode = allowed.text('mode') === 'required' ? 'required' : 'auto';
    for (const each of [allowed, fields]) dropRest(each, name, warnings);
    return { mode, only };
  }
  return { mode: 'required', only: [nameIn(fields, name, warnings)] };
}

/** The tool named by `{type, function: {name}}`, by the bare name in `function_call`, or by the type of a vendor-side tool. */
function nameIn(fields: Fields, place: string, warnings: Warnings): string {
  const [named, custom] = [fields.fields('function'), fields.fields('custom')];
  const inner = named ?? custom ?? fields;
  const type = fields.text('type');
  const isHosted = type !== undefined && type !== 'function' && type !== 'custom';
  const name = inner.text('name') ?? (isHosted ? type : inner.wrong('name', 'must be a string'));
  for (const each of new Set([inner, fields])) dropRest(each, place, warnings);
  return name;
}
