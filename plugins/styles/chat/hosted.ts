/** Vendor-side searches of chat vendors: whether a request allows them, and how many a reply reports. */

import { toolName } from '../../../core/contracts/uses.ts';
import type { Json, JsonBody, JsonObject, UseBounds, Uses } from '../../../core/plugin.ts';
import { isObject, member, objectsIn, tokensIn } from '../../../core/translation/index.ts';

/** Tools that the client runs. */
const CLIENTS: readonly (Json | undefined)[] = ['function', 'custom', undefined];

/** The name of its uses; undefined for a tool that the client runs. */
function hostedName(tool: JsonObject): string | undefined {
  if (CLIENTS.includes(tool.type) || typeof tool.type !== 'string') return undefined;
  const names = `${tool.type} ${JSON.stringify(tool[tool.type] ?? tool.function ?? '')}`;
  return names.includes('web_search') ? 'web_search' : toolName(tool.type);
}

/** Members of a request that allow vendor-side tools. */
const ASKING = ['tools', 'plugins', 'web_search_options', 'enable_search', 'search_parameters'];
/** The suffix of a vendor's model names with search. */
const SEARCHING = ':online';

/** Whether a request may allow vendor-side tools; searched in the bytes, without parsing. */
export function mayUse(body: JsonBody, model: string): boolean {
  for (const name of ASKING) if (body.has(name)) return true;
  return model.endsWith(SEARCHING);
}

/** The vendor-side tools that a request allows; undefined if none. */
export function allowedUses(body: JsonBody, model: string): UseBounds | undefined {
  const tools = body.has('tools') ? body.get('tools') : undefined;
  const names =
    body.get('tool_choice') === 'none' || !Array.isArray(tools) ? [] : tools.filter(isObject).map(hostedName);
  const plugins = objectsIn({ plugins: body.get('plugins') ?? null }, 'plugins');
  const searches =
    isObject(body.get('web_search_options')) ||
    body.get('enable_search') === true ||
    model.endsWith(SEARCHING) ||
    plugins.some(({ id }) => id === 'web');
  const uses: [string, number | undefined][] = [...names, searches ? 'web_search' : undefined]
    .filter((name) => name !== undefined)
    .map((name) => [name, undefined]);
  const live = body.get('search_parameters');
  // For vendors that bill by results, the request limits their number.
  if (isObject(live) && live.mode !== 'off')
    uses.push(['web_source', tokensIn(live.max_search_results) || MAX_SOURCES]);
  return uses.length === 0 ? undefined : Object.fromEntries(uses);
}

const MAX_SOURCES = 20;

/** The uses that a usage object counts. */
export function reportedUses(usage: Json | undefined): Uses | undefined {
  const searches =
    member(member(usage, 'server_tool_use'), 'web_search_requests') ?? member(usage, 'num_search_queries');
  const sources = member(usage, 'num_sources_used');
  if (searches === undefined && sources === undefined) return undefined;
  return {
    ...(searches !== undefined && { web_search: tokensIn(searches) }),
    ...(sources !== undefined && { web_source: tokensIn(sources) }),
  };
}

/** A reply that cites the web has used a search; without a count, it is one. */
export const SEARCHED: Uses = { web_search: 1 };
/** The quotes make it unambiguous: inside a JSON string they would be escaped. */
export const CITED = Buffer.from('"url_citation"');
