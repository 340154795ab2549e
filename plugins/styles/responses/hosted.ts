/** The tools that vendors of this style run themselves: which a request allows, and how often an answer shows them run. */

import { countUses, servedAs, toolName } from '../../../core/contracts/uses.ts';
import type { Json, JsonBody, JsonObject, ServedAs, UseBounds, Uses } from '../../../core/plugin.ts';
import { isObject, member, objectsIn, tokensIn } from '../../../core/translation/index.ts';

/** Tools that the client runs. */
const CLIENTS = /^(function|custom|namespace|apply_patch|local_shell|computer(_.*)?)$/;

/** What its uses are called; undefined for a tool of the client's. */
function hostedName(tool: JsonObject): string | undefined {
  const type = typeof tool.type === 'string' ? tool.type : '';
  if (type === 'shell') return isLocal(tool) ? undefined : 'code_execution';
  return CLIENTS.test(type) ? undefined : nameOf(type);
}

function isLocal({ environment }: JsonObject): boolean {
  const kind = member(environment, 'type');
  return kind === undefined || kind === 'local';
}

function nameOf(type: string): string {
  if (type.startsWith('web_search')) return 'web_search';
  return type === 'code_interpreter' ? 'code_execution' : toolName(type);
}

/** What a request allows the vendor to run; undefined where that is nothing. */
export function usesAsked(body: JsonBody): UseBounds | undefined {
  const tools = body.get('tools');
  if (!Array.isArray(tools) || body.get('tool_choice') === 'none') return undefined;
  const names = tools.filter(isObject).flatMap((tool) => hostedName(tool) ?? []);
  const most = tokensIn(body.get('max_tool_calls')) || undefined;
  return names.length === 0 ? undefined : Object.fromEntries(names.map((name) => [name, most]));
}

/** How a request wants to be served, and how an answer says that it was. */
export function serviceIn(value: Json | undefined): ServedAs | undefined {
  return servedAs({ tier: member(value, 'service_tier') });
}

const CALL = /^(.+)_call$/;
const CLIENT_CALLS: ReadonlySet<string> = new Set([
  ...['function', 'custom_tool', 'computer', 'local_shell', 'shell', 'apply_patch', 'tool_search'],
]);

/** What an item shows to have been run; undefined where that is nothing that is sold by the use. */
function runIn(item: JsonObject): { readonly name: string; readonly once: string | undefined } | undefined {
  const tool = CALL.exec(typeof item.type === 'string' ? item.type : '')?.[1];
  if (tool === undefined || CLIENT_CALLS.has(tool) || item.status === 'failed') return undefined;
  // A search is sold, but not what is looked at of what it found.
  const action = member(item.action, 'type');
  if (tool === 'web_search' && action !== undefined && action !== 'search') return undefined;
  const name = nameOf(tool);
  // Code runs in a container that is sold once, however often.
  return { name, once: name === 'code_execution' ? String(item.container_id) : undefined };
}

/** What the items of an answer show to have been run. */
export function usesIn(items: readonly JsonObject[]): Uses | undefined {
  const containers = new Set<string>();
  return countUses(
    items.flatMap((item) => {
      const use = runIn(item);
      if (use === undefined || (use.once !== undefined && containers.has(use.once))) return [];
      if (use.once !== undefined) containers.add(use.once);
      return [use.name];
    }),
  );
}

/** What a usage counts itself; some vendors do. */
export function usesTold(usage: Json | undefined): Uses | undefined {
  const told = member(usage, 'server_side_tool_usage_details');
  if (!isObject(told)) return undefined;
  return Object.fromEntries(
    Object.entries(told).flatMap(([name, count]) => {
      const tool = /^(.+)_calls$/.exec(name)?.[1];
      return tool === undefined ? [] : [[nameOf(tool), tokensIn(count)] as const];
    }),
  );
}

/** The items of a response, in any of its forms. */
export function usesInOutput(response: Json | undefined): Uses | undefined {
  return usesIn(objectsIn(response, 'output'));
}

/** Follows the items of a stream. */
export function followUses(): { see(item: Json | undefined): void; uses(): Uses | undefined } {
  const seen: JsonObject[] = [];
  return {
    see(item) {
      if (!isObject(item) || runIn(item) === undefined) return;
      const { type = '', status = null, action = null, container_id = null } = item;
      seen.push({ type, status, action, container_id });
    },
    uses() {
      return seen.length === 0 ? undefined : usesIn(seen);
    },
  };
}
