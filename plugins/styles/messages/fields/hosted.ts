/** The vendor-side tools of this style: which of them a request allows, and how many uses a reply has or reports. */

import { countUses, servedAs, toolName } from '../../../../core/contracts/formats/uses.ts';
import type { Json, JsonBody, JsonObject, ServedAs, UseBounds, Uses } from '../../../../core/plugin.ts';
import { isObject, objectsIn, tokensIn } from '../../../../core/translation/index.ts';
import { askedUses, boundsOfUses, declaredIn, spareTools, toolOf, toolsIn } from '../../search-members.ts';

/** Tools that the client runs, although the vendor defines their schema. */
const CLIENTS = /^(custom|bash|text_editor|computer|memory)$/;

/** The type of a vendor-side tool names it; most have the date of their version. */
function hostedName(tool: JsonObject): string | undefined {
  const { type } = tool;
  if (typeof type !== 'string') return declaredIn(tool) ?? (typeof tool.name === 'string' ? undefined : toolName(''));
  const base = type.replace(/_\d{8}$/, '');
  if (CLIENTS.test(base)) return undefined;
  if (base.startsWith('tool_search')) return 'tool_search';
  return base === 'mcp_toolset' ? 'mcp' : toolName(base);
}

/** The vendor-side tools that a request allows; undefined if none. */
export function allowedUses(body: JsonBody, model: string): UseBounds | undefined {
  return usesOf([...toolsIn(body.get('tools')), ...laterTools(body)], body, model);
}

function usesOf(tools: readonly JsonObject[], body: JsonBody, model: string): UseBounds | undefined {
  const choice = body.get('tool_choice');
  const isOff = isObject(choice) && choice.type === 'none';
  const uses = (isOff ? [] : tools).flatMap((tool) => {
    const name = hostedName(tool);
    return name === undefined ? [] : [[name, tokensIn(tool.max_uses) || undefined] as const];
  });
  return boundsOfUses([...uses, ...askedUses(body, model)]);
}

/** Those in `tools` that it can do without. */
export function spareUses(body: JsonBody, model: string): readonly string[] {
  return spareTools(body, hostedName, usesOf(laterTools(body), body, model));
}

/** `Ingress.runs`. */
export function runs(tool: Json): string | undefined {
  return hostedName(toolOf(tool));
}

/** The tools that the conversation adds (`tool_addition`). It is long, so it is read only if it has such a block. */
function laterTools(body: JsonBody): readonly JsonObject[] {
  if (!body.holds('"tool_addition"')) return [];
  const messages = objectsIn({ messages: body.get('messages') ?? null }, 'messages');
  return messages
    .flatMap((message) => objectsIn(message, 'content'))
    .flatMap(({ type, tool = null }) => (type === 'tool_addition' && isObject(tool) ? [tool] : []));
}

/** The service options of a request, and those that the usage of a reply reports. */
export function serviceIn(value: JsonObject): ServedAs | undefined {
  return servedAs({ tier: value.service_tier, speed: value.speed, region: value.inference_geo });
}

/** The uses in a usage object: `web_search_requests`, `web_fetch_requests`. */
export function reportedUses({ server_tool_use: counts }: JsonObject): Uses | undefined {
  if (!isObject(counts)) return undefined;
  return Object.fromEntries(
    Object.entries(counts).flatMap(([name, count]) => {
      const tool = /^(.+)_requests$/.exec(name)?.[1];
      return tool === undefined ? [] : [[toolName(tool), tokensIn(count)] as const];
    }),
  );
}

/** The use that a block is the result of. */
function runIn(block: Json | undefined): string | undefined {
  if (!isObject(block) || block.type !== 'server_tool_use' || typeof block.name !== 'string') return undefined;
  if (block.name.startsWith('tool_search')) return 'tool_search';
  return block.name.endsWith('code_execution') ? 'code_execution' : toolName(block.name);
}

/** The uses in the blocks of a reply. Code runs in one container, whatever the number of runs. */
export function usesIn(blocks: readonly Json[]): Uses | undefined {
  const uses = countUses(blocks.flatMap((block) => runIn(block) ?? []));
  return uses?.code_execution === undefined ? uses : { ...uses, code_execution: 1 };
}

/** Counts the uses in the blocks of a stream. */
export function followUses(): { see(block: Json | undefined): void; uses(): Uses | undefined } {
  const seen: JsonObject[] = [];
  return {
    see(block) {
      if (isObject(block) && runIn(block) !== undefined) seen.push({ type: 'server_tool_use', name: block.name ?? '' });
    },
    uses: () => (seen.length === 0 ? undefined : usesIn(seen)),
  };
}
