/** Members of a request, besides its list of tools, with which vendors of any style run something that they bill. */

import { toolName } from '../../core/contracts/formats/uses.ts';
import type { Json, JsonBody, JsonObject, UseBounds } from '../../core/plugin.ts';
import { isObject, member, SEARCHING, tokensIn } from '../../core/translation/index.ts';

/** The suffix of a vendor's model names with search. */
const ONLINE = ':online';

/** Whether a request may have one; searched in the bytes, without parsing. */
export function mayAsk(body: JsonBody, model: string): boolean {
  for (const name of SEARCHING) if (body.has(name)) return true;
  return model.endsWith(ONLINE);
}

/** What these members allow: each use, and its limit if there is one. */
export function askedUses(
  body: JsonBody,
  model: string,
): readonly (readonly [name: string, most: number | undefined])[] {
  const uses: (readonly [string, number | undefined])[] = [];
  for (const name of SEARCHING) {
    const value = body.get(name);
    if (!isOn(value)) continue;
    if (name === 'plugins') for (const plugin of inList(value)) uses.push([pluginName(plugin), undefined]);
    else if (name === 'search_parameters') uses.push(...liveSearches(value));
    else if (name === 'data_sources' || name === 'dataSources') uses.push(['data_sources', undefined]);
    else if (name === 'compound_custom') uses.push(...compoundTools(value));
    else uses.push(['web_search', undefined]);
  }
  if (model.endsWith(ONLINE)) uses.push(['web_search', undefined]);
  return uses;
}

/** Vendors read other values than `true`, too: 1, "true". */
function isOn(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value) && (value.enable === false || value.enabled === false)) return false;
  return value !== undefined && value !== null && value !== false && value !== 0 && value !== '' && value !== 'false';
}

/** A list, or the only entry of one. */
function inList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [value ?? null];
}

function pluginName(plugin: Json): string {
  const id = isObject(plugin) ? plugin.id : plugin;
  return id === 'web' ? 'web_search' : toolName(typeof id === 'string' ? id : '');
}

/** For vendors that bill by results, the request limits their number. */
function liveSearches(value: Json | undefined): readonly (readonly [string, number])[] {
  return inList(value).flatMap((live) => {
    const { mode = null, max_search_results: most } = isObject(live) ? live : {};
    return mode === 'off' || live === 'off' ? [] : [['web_source', tokensIn(most) || MAX_SOURCES] as const];
  });
}

/** The tools that a vendor's own agents may use; by default all. */
function compoundTools(value: Json | undefined): readonly (readonly [string, undefined])[] {
  const enabled = member(member(value, 'tools'), 'enabled_tools');
  return inList(enabled ?? 'web_search').map((tool) => [toolName(String(tool)), undefined] as const);
}

const MAX_SOURCES = 20;

/** No request needs so many tools of a vendor: further ones count as one without a name, and every call has a few prices to look up. */
const MOST_NAMES = 64;

/** The uses by name, with the sums of their limits; undefined if there are none. */
export function boundsOfUses(
  uses: readonly (readonly [name: string, most: number | undefined])[],
): UseBounds | undefined {
  if (uses.length === 0) return undefined;
  const bounds = new Map<string, number | undefined>();
  for (const [asked, most] of uses) {
    const name = bounds.has(asked) || bounds.size < MOST_NAMES ? asked : toolName('');
    const sum = bounds.has(name) ? bounds.get(name) : 0;
    bounds.set(name, sum === undefined || most === undefined ? undefined : sum + most);
  }
  return Object.fromEntries(bounds);
}

/** Names of a vendor-side tool that a tool declares by a member of this name, without a type: `{"google_search": {}}`. */
const DECLARED =
  /^(web|google|x|live|file|enterprise_web)_?search|^(url_?context|google_?maps|code_?(execution|interpreter)|retrieval|mcp)/i;

/** The vendor-side tool that a tool declares by one of its members; undefined if there is none. */
export function declaredIn(tool: JsonObject): string | undefined {
  const name = Object.keys(tool).find((each) => DECLARED.test(each));
  if (name === undefined) return undefined;
  return /^(web|google)_?search/i.test(name) ? 'web_search' : toolName(name);
}

/** The name of a tool's uses; undefined for one that the client runs. */
type NameOf = (tool: JsonObject) => string | undefined;

/** A list of tools. One that is no object, which some vendors accept, counts as a tool of this type. */
export function toolsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(toolOf) : [];
}

/** A tool as an object. */
export function toolOf(tool: Json): JsonObject {
  return isObject(tool) ? tool : { type: typeof tool === 'string' ? tool : toolName('') };
}

const MOST_SPARE = 16;

/**
 * The vendor-side tools in `tools` that a request can do without: the client runs others, and the request does not demand
 * these. `needed`: uses that it asks for in another member.
 */
export function spareTools(body: JsonBody, nameOf: NameOf, needed: UseBounds | undefined): readonly string[] {
  const choice = body.get('tool_choice') ?? null;
  if (isObject(choice) && !['auto', 'any', 'none'].includes(String(choice.type))) return [];
  const names = new Set(toolsIn(body.get('tools')).map(nameOf));
  // Without any other, the request is about these; and no client has so many.
  if (!names.delete(undefined) || names.size > MOST_SPARE) return [];
  // What is no tool of a known form is refused.
  names.delete(toolName(''));
  return [...names].filter((name) => name !== undefined && !Object.hasOwn(needed ?? {}, name)) as readonly string[];
}
