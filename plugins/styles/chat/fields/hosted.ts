/** Vendor-side searches of chat vendors: whether a request allows them, and how many a reply reports. */

import { toolName } from '../../../../core/contracts/formats/uses.ts';
import type { Json, JsonBody, JsonObject, UseBounds, Uses } from '../../../../core/plugin.ts';
import { isObject, member, tokensIn } from '../../../../core/translation/index.ts';
import { askedUses, boundsOfUses, declaredIn, mayAsk, spareTools, toolOf, toolsIn } from '../../search-members.ts';

/** Tools that the client runs. */
const CLIENTS: readonly (Json | undefined)[] = ['function', 'custom'];

/** The name of its uses; undefined for a tool that the client runs. */
function hostedName(tool: JsonObject): string | undefined {
  const { type } = tool;
  if (CLIENTS.includes(type)) return declaredIn(tool);
  if (typeof type !== 'string') return declaredIn(tool) ?? (isFunction(tool) ? undefined : toolName(''));
  const names = `${type} ${JSON.stringify(tool[type] ?? tool.function ?? '')}`;
  return names.includes('web_search') ? 'web_search' : toolName(type);
}

/** A function without its type; some clients omit it, and its wrapper. */
function isFunction(tool: JsonObject): boolean {
  return isObject(tool.function) || typeof tool.name === 'string';
}

/** Whether a request may allow vendor-side tools; searched in the bytes, without parsing. */
export function mayUse(body: JsonBody, model: string): boolean {
  return body.has('tools') || mayAsk(body, model);
}

/** The vendor-side tools that a request allows; undefined if none. */
export function allowedUses(body: JsonBody, model: string): UseBounds | undefined {
  const names = body.get('tool_choice') === 'none' ? [] : toolsIn(body.get('tools')).map(hostedName);
  const uses = names.filter((name) => name !== undefined).map((name) => [name, undefined] as const);
  return boundsOfUses([...uses, ...askedUses(body, model)]);
}

/** Those in `tools` that it can do without. */
export function spareUses(body: JsonBody, model: string): readonly string[] {
  return spareTools(body, hostedName, boundsOfUses(askedUses(body, model)));
}

/** `Ingress.runs`. */
export function runs(tool: Json): string | undefined {
  return hostedName(toolOf(tool));
}

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
