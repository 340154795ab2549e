/** Decodes and encodes tools and `tool_choice` of the responses style. */

import type { Json, JsonObject, Warnings } from '../../../../core/plugin.ts';
import type {
  CustomTool,
  Fields,
  FunctionTool,
  HostedTool,
  Tool,
  ToolChoice,
  WebSearch,
} from '../../../../core/translation/index.ts';
import { dropSearchExtras, given, isObject, readFields } from '../../../../core/translation/index.ts';
import { dropRest, required } from './content.ts';

const SEARCH = /^web_search(_preview)?(_\d{4}_\d{2}_\d{2})?$/;

/** A search without live web access: no other style has one, so it is not mapped to the shared web search. */
export const CACHED_SEARCH = 'cached_web_search';

/** The type of a tool search, and its name for vendors of other styles. */
export const CLIENT_SEARCH = 'tool_search';

/** Decodes the declared tools, flat and without duplicates; tools of a group have its name. */
export function readTools(declared: readonly Fields[], warnings: Warnings): readonly Tool[] {
  const tools = new Map<string, Tool>();
  for (const tool of declared.flatMap((each) => readTool(each, warnings))) {
    const name = tool.type === 'hosted' ? `${tool.name} ${JSON.stringify(tool.raw)}` : tool.name;
    const key = JSON.stringify([tool.type, tool.type === 'hosted' ? '' : (tool.namespace ?? ''), name]);
    if (!tools.has(key)) tools.set(key, tool);
  }
  return [...tools.values()];
}

function readTool(tool: Fields, warnings: Warnings, namespace?: string): readonly Tool[] {
  const type = required(tool, 'type');
  switch (type) {
    case 'function':
      return [
        given<FunctionTool>({
          type,
          name: required(tool, 'name'),
          namespace,
          description: tool.text('description'),
          schema: tool.object('parameters'),
          strict: tool.flag('strict'),
          extras: extrasOf(tool),
        }),
      ];
    case 'custom':
      return [
        given<CustomTool>({
          type,
          name: required(tool, 'name'),
          namespace,
          description: tool.text('description'),
          format: readFormat(tool, warnings),
          extras: extrasOf(tool),
        }),
      ];
    case 'namespace': {
      const group = required(tool, 'name');
      const tools = tool.each('tools').flatMap((each) => readTool(each, warnings, group));
      if (tool.get('description') !== undefined) warnings.drop('tools.description', 'hint');
      for (const name of Object.keys(tool.rest())) warnings.drop(`tools.${name}`);
      return tools;
    }
    case CLIENT_SEARCH: {
      const execution = tool.get('execution');
      if (execution !== 'client') return [hostedTool(tool, type, given<JsonObject>({ execution }))];
      return [
        given<FunctionTool>({
          type: 'function',
          name: CLIENT_SEARCH,
          description: tool.text('description'),
          schema: tool.object('parameters'),
          extras: extrasOf(tool),
        }),
      ];
    }
    default:
      return [hostedTool(tool, type)];
  }
}

/** Whether this request has a client-side tool search: for other vendors, it is a function. */
export function hasClientSearch({ tools }: JsonObject): boolean {
  const isSearch = (tool: Json): boolean =>
    isObject(tool) && tool.type === CLIENT_SEARCH && tool.execution === 'client';
  return Array.isArray(tools) && tools.some(isSearch);
}

/** A grammar is kept as it is; free text is the default of such a tool in every style. */
function readFormat(tool: Fields, warnings: Warnings): JsonObject | undefined {
  const format = tool.fields('format');
  if (format?.text('type') !== 'text') return tool.object('format');
  dropRest(format, 'tools.format', warnings);
  return { type: 'text' };
}

/**
 * `web_search` is supported in every style; other vendor-side tools are for vendors of this style only. `seen`: members
 * that were read already.
 */
function hostedTool(tool: Fields, type: string, seen?: JsonObject): HostedTool {
  const raw = { type, ...seen, ...tool.rest() };
  if (!SEARCH.test(type)) return { type: 'hosted', name: type, style: 'responses', raw };
  if (tool.flag('external_web_access') === false)
    return { type: 'hosted', name: CACHED_SEARCH, style: 'responses', raw };
  const filters = tool.fields('filters');
  const domains = (name: string): readonly string[] | undefined =>
    filters?.list(name)?.filter((domain) => typeof domain === 'string');
  const search = given<WebSearch>({
    contextSize: tool.text('search_context_size') as WebSearch['contextSize'],
    allowedDomains: domains('allowed_domains'),
    blockedDomains: domains('blocked_domains'),
    location: tool.object('user_location'),
    extras: searchExtras({ ...tool.rest(), ...filters?.rest() }),
  });
  return { type: 'hosted', name: 'web_search', style: 'responses', raw, search };
}

function searchExtras(extras: JsonObject): JsonObject | undefined {
  return Object.keys(extras).length === 0 ? undefined : extras;
}

function extrasOf(tool: Fields): JsonObject | undefined {
  const extras = tool.rest();
  return Object.keys(extras).length === 0 ? undefined : extras;
}

/** `auto`, `none`, `required`, one tool, or some of them. */
export function readToolChoice(request: Fields, tools: readonly Tool[], warnings: Warnings): ToolChoice | undefined {
  const choice = request.get('tool_choice');
  if (choice === undefined) return undefined;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { mode: choice };
  if (!isObject(choice)) return request.wrong('tool_choice', 'must be "auto", "none", "required" or an object');
  const fields = readFields(choice, 'tool_choice');
  if (choice.type !== 'allowed_tools') return { mode: 'required', only: [chosenName(fields, tools, warnings)] };
  fields.get('type');
  const only = fields.each('tools').map((tool) => chosenName(tool, tools, warnings));
  const mode = fields.text('mode') === 'required' ? 'required' : 'auto';
  dropRest(fields, 'tool_choice', warnings);
  return { mode, only };
}

/** A vendor-side tool is identified by its type. */
function chosenName(tool: Fields, tools: readonly Tool[], warnings: Warnings): string {
  const type = tool.text('type');
  const name = tool.text('name');
  dropRest(tool, 'tool_choice', warnings);
  if (name !== undefined) return name;
  const word = type ?? required(tool, 'type');
  if (!SEARCH.test(word)) return word;
  const isCached = tools.some((each) => each.type === 'hosted' && each.name === CACHED_SEARCH);
  const isLive = tools.some((each) => each.type === 'hosted' && each.name === 'web_search');
  return isCached && !isLive ? CACHED_SEARCH : 'web_search';
}

/** Encodes tools for a vendor of this style. */
export function writeTools(
  tools: readonly Tool[],
  choice: ToolChoice | undefined,
  knowsStrict: boolean,
  warnings: Warnings,
): readonly JsonObject[] {
  const knowsSearch = tools.some(
    (tool) => tool.type === 'hosted' && tool.style === 'responses' && tool.name === 'tool_search',
  );
  return tools.flatMap((tool) => {
    if (tool.type === 'function') return [functionTool(tool, { knowsStrict, knowsSearch }, warnings)];
    if (tool.type === 'custom') {
      const { type, name, description, format } = tool;
      return [given<JsonObject>({ type, name, description, format, ...knownExtras(tool, knowsSearch, warnings) })];
    }
    const raw = vendorTool(tool, warnings);
    if (raw !== undefined) return [raw];
    const isForced = choice?.mode === 'required' && choice.only?.includes(tool.name) === true;
    if (isForced || tools.length === 1) {
      warnings.refuse('tools', `contain \`${tool.name}\`, which the vendor of this model does not support.`);
    }
    warnings.drop(`tools.${tool.name}`);
    return [];
  });
}

/** Function fields that are encoded here, whichever style they come from. */
const KNOWN = ['defer_loading', 'allowed_callers', 'output_schema', 'async'];

/** A deferred tool is declared at once if there is no tool search. */
function knownExtras({ extras = {} }: FunctionTool | CustomTool, knowsSearch: boolean, warnings: Warnings): JsonObject {
  const supported: Record<string, Json> = {};
  for (const [name, value] of Object.entries(extras)) {
    if (name === 'defer_loading' && !knowsSearch) warnings.drop('tools.defer_loading', 'hint');
    else if (KNOWN.includes(name)) supported[name] = value;
    else warnings.drop(`tools.${name}`);
  }
  return supported;
}

function functionTool(
  tool: FunctionTool,
  { knowsStrict, knowsSearch }: { readonly knowsStrict: boolean; readonly knowsSearch: boolean },
  warnings: Warnings,
): JsonObject {
  if (tool.cache !== undefined) warnings.drop('cache_control', 'hint');
  return given<JsonObject>({
    type: 'function',
    name: tool.name,
    description: tool.description,
    parameters: tool.schema ?? { type: 'object', properties: {} },
    // The default is true, which refuses schemas that were not written for it.
    strict: knowsStrict ? (tool.strict ?? false) : undefined,
    ...knownExtras(tool, knowsSearch, warnings),
  });
}

function vendorTool({ style, raw, search }: HostedTool, warnings: Warnings): JsonObject | undefined {
  if (style === 'responses') return raw;
  if (search === undefined) return undefined;
  dropSearchExtras(search, warnings);
  if (search.maxUses !== undefined) warnings.drop('tools.max_uses');
  if (search.blockedDomains !== undefined) warnings.drop('tools.blocked_domains');
  return given<JsonObject>({
    type: 'web_search',
    search_context_size: search.contextSize,
    filters: search.allowedDomains && { allowed_domains: search.allowedDomains },
    user_location: search.location && { type: 'approximate', ...search.location },
  });
}

/** Encodes `tool_choice` for these tools. */
export function writeToolChoice({ mode, only }: ToolChoice, tools: readonly Tool[]): Json {
  if (only === undefined || mode === 'none') return mode;
  const byName = new Map(tools.toReversed().map((tool) => [tool.name, tool]));
  const chosen = only.map((name) => {
    const tool = byName.get(name);
    return tool?.type === 'hosted'
      ? { type: tool.style === 'responses' ? (tool.raw.type ?? name) : name }
      : { type: tool?.type ?? 'function', name };
  });
  const [first] = chosen;
  if (first !== undefined && chosen.length === 1 && mode === 'required') return first;
  return { type: 'allowed_tools', mode, tools: chosen };
}
