/** What vendors of this style search by themselves: whether a request allows it, and how often an answer tells that they did. */

import { toolName } from '../../../core/contracts/uses.ts';
import type { Json, JsonBody, JsonObject, UseBounds, Uses } from '../../../core/plugin.ts';
import { isObject, member, objectsIn, tokensIn } from '../../../core/translation/index.ts';

/** Tools that the client runs. */
const CLIENTS: readonly (Json | undefined)[] = ['function', 'custom', undefined];

/** What its uses are called; undefined for a tool of the client's. */
function hostedName(tool: JsonObject): string | undefined {
  if (CLIENTS.includes(tool.type) || typeof tool.type !== 'string') return undefined;
  const names = `${tool.type} ${JSON.stringify(tool[tool.type] ?? tool.function ?? '')}`;
  return names.includes('web_search') ? 'web_search' : toolName(tool.type);
}

/** Where a request says what the vendor may run. */
const ASKING = ['tools', 'plugins', 'web_search_options', 'enable_search', 'search_parameters'];
/** How a vendor's name for a model that searches ends. */
const SEARCHING = ':online';

/** Whether a request may allow the vendor to run anything; tells without parsing. */
export function mayUse(body: JsonBody, model: string): boolean {
  for (const name of ASKING) if (body.has(name)) return true;
  return model.endsWith(SEARCHING);
}

/** What a request allows the vendor to run; undefined where that is nothing. */
export function usesAsked(body: JsonBody, model: string): UseBounds | undefined {
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
  // Where it is sold by what is found, a request says how much that may be.
  if (isObject(live) && live.mode !== 'off')
    uses.push(['web_source', tokensIn(live.max_search_results) || MOST_SOURCES]);
  return uses.length === 0 ? undefined : Object.fromEntries(uses);
}

const MOST_SOURCES = 20;

/** What a usage counts. */
export function usesTold(usage: Json | undefined): Uses | undefined {
  const searches =
    member(member(usage, 'server_tool_use'), 'web_search_requests') ?? member(usage, 'num_search_queries');
  const sources = member(usage, 'num_sources_used');
  if (searches === undefined && sources === undefined) return undefined;
  return {
    ...(searches !== undefined && { web_search: tokensIn(searches) }),
    ...(sources !== undefined && { web_source: tokensIn(sources) }),
  };
}

/** An answer that cites the web has searched it; without a count that is one search. */
export const SEARCHED: Uses = { web_search: 1 };
/** With its quotes it can be no word of a text: those have backslashes before them. */
export const CITED = Buffer.from('"url_citation"');
