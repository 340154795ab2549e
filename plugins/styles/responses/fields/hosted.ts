/** The vendor-side tools of this style: which of them a request allows, and how many uses a reply has. */

import { countUses, servedAs, toolName } from '../../../../core/contracts/formats/uses.ts';
import type { Json, JsonBody, JsonObject, ServedAs, UseBounds, Uses } from '../../../../core/plugin.ts';
import { isObject, member, objectsIn, tokensIn } from '../../../../core/translation/index.ts';
import { askedUses, boundsOfUses, declaredIn, spareTools, toolOf, toolsIn } from '../../search-members.ts';

/** Tools that the client runs. */
const CLIENTS = /^(function|custom|apply_patch|local_shell|computer(_.*)?)$/;

/** The names of its uses; none for a tool that the client runs. A namespace has those of its tools. */
function hostedNames(tool: JsonObject): readonly string[] {
  if (isNamespace(tool)) return toolsIn(tool.tools).flatMap(hostedNames);
  return hostedName(tool) ?? [];
}

function hostedName(tool: JsonObject): readonly string[] | undefined {
  const type = typeof tool.type === 'string' ? tool.type : '';
  if (type === 'shell') return isLocal(tool) ? undefined : ['code_execution'];
  const name = declaredIn(tool) ?? (CLIENTS.test(type) ? undefined : nameOf(type));
  return name === undefined ? undefined : [name];
}

/** Anything other than an object that says `local` is for the vendor to interpret. */
function isLocal({ environment = null }: JsonObject): boolean {
  return environment === null || (isObject(environment) && environment.type === 'local');
}

function nameOf(type: string): string {
  if (type.startsWith('web_search')) return 'web_search';
  return type === 'code_interpreter' ? 'code_execution' : toolName(type);
}

/** The vendor-side tools that a request allows; undefined if none. */
export function allowedUses(body: JsonBody, model: string): UseBounds | undefined {
  return usesOf([...toolsIn(body.get('tools')), ...laterTools(body)], body, model);
}

function usesOf(tools: readonly JsonObject[], body: JsonBody, model: string): UseBounds | undefined {
  const names = body.get('tool_choice') === 'none' ? [] : tools.flatMap(hostedNames);
  const most = tokensIn(body.get('max_tool_calls')) || undefined;
  return boundsOfUses([...[...new Set(names)].map((name) => [name, most] as const), ...askedUses(body, model)]);
}

/** Those in `tools` that it can do without. */
export function spareUses(body: JsonBody, model: string): readonly string[] {
  const others = [...toolsIn(body.get('tools')).filter(isNamespace), ...laterTools(body)];
  return spareTools(body, ownName, usesOf(others, body, model));
}

/** `Ingress.runs`. */
export function runs(tool: Json): string | undefined {
  return ownName(toolOf(tool));
}

/** A namespace is left as it is: it may have tools of the client. */
function ownName(tool: JsonObject): string | undefined {
  return isNamespace(tool) ? undefined : hostedName(tool)?.[0];
}

function isNamespace({ type = null }: JsonObject): boolean {
  return type === 'namespace';
}

/** Types of input items that add tools to those of the request. */
const ADDING = ['additional_tools', 'tool_search_output'];

/** The tools that input items add. The input is long, so it is read only if it has such an item. */
function laterTools(body: JsonBody): readonly JsonObject[] {
  if (!ADDING.some((type) => body.holds(`"${type}"`))) return [];
  return objectsIn({ input: body.get('input') ?? null }, 'input').flatMap((item) =>
    ADDING.includes(String(item.type)) ? toolsIn(item.tools) : [],
  );
}

/** The service options of a request, and those that a reply reports. */
export function serviceIn(value: Json | undefined): ServedAs | undefined {
  return servedAs({ tier: member(value, 'service_tier') });
}

const CALL = /^(.+)_call$/;
const CLIENT_CALLS: ReadonlySet<string> = new Set([
  ...['function', 'custom_tool', 'computer', 'local_shell', 'shell', 'apply_patch', 'tool_search'],
]);

/** The billable use that an item is the result of; undefined if none. */
function runIn(item: JsonObject): { readonly name: string; readonly once: string | undefined } | undefined {
  const tool = CALL.exec(typeof item.type === 'string' ? item.type : '')?.[1];
  if (tool === undefined || CLIENT_CALLS.has(tool) || item.status === 'failed') return undefined;
  // A search is billed, opening one of its results is not.
  const action = member(item.action, 'type');
  if (tool === 'web_search' && action !== undefined && action !== 'search') return undefined;
  const name = nameOf(tool);
  // Code runs in a container that is billed once, whatever the number of runs.
  return { name, once: name === 'code_execution' ? String(item.container_id) : undefined };
}

/** The uses in the items of a reply. */
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

/** The uses in a usage object; some vendors report them. */
export function reportedUses(usage: Json | undefined): Uses | undefined {
  const counts = member(usage, 'server_side_tool_usage_details');
  if (!isObject(counts)) return undefined;
  return Object.fromEntries(
    Object.entries(counts).flatMap(([name, count]) => {
      const tool = /^(.+)_calls$/.exec(name)?.[1];
      return tool === undefined ? [] : [[nameOf(tool), tokensIn(count)] as const];
    }),
  );
}

/** The items of a response, in any of its forms. */
export function usesInOutput(response: Json | undefined): Uses | undefined {
  return usesIn(objectsIn(response, 'output'));
}

/** Counts the uses in the items of a stream. */
export function followUses(): { see(item: Json | undefined): void; uses(): Uses | undefined } {
  const seen: JsonObject[] = [];
  return {
    see(item) {
      if (!isObject(item) || runIn(item) === undefined) return;
      const { type = '', status = null, action = null, container_id = null } = item;
      seen.push({ type, status, action, container_id });
    },
    uses: () => (seen.length === 0 ? undefined : usesIn(seen)),
  };
}
