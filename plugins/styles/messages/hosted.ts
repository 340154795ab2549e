/** The tools that vendors of this style run themselves: which a request allows, and how often an answer shows or tells them run. */

import { countUses, servedAs, toolName } from '../../../core/contracts/uses.ts';
import type { Json, JsonBody, JsonObject, ServedAs, UseBounds, Uses } from '../../../core/plugin.ts';
import { isObject, tokensIn } from '../../../core/translation/index.ts';

/** Tools that the client runs, although their schema is the vendor's. */
const CLIENTS = /^(custom|bash|text_editor|computer|memory)$/;

/** Tools of the vendor's have a type that says which one, most with the day of their version. */
function hostedName({ type }: JsonObject): string | undefined {
  if (typeof type !== 'string') return undefined;
  const base = type.replace(/_\d{8}$/, '');
  if (CLIENTS.test(base)) return undefined;
  if (base.startsWith('tool_search')) return 'tool_search';
  return base === 'mcp_toolset' ? 'mcp' : toolName(base);
}

/** What a request allows the vendor to run; undefined where that is nothing. */
export function usesAsked(body: JsonBody): UseBounds | undefined {
  const tools = body.get('tools');
  const choice = body.get('tool_choice');
  if (!Array.isArray(tools) || (isObject(choice) && choice.type === 'none')) return undefined;
  const uses = tools.filter(isObject).flatMap((tool) => {
    const name = hostedName(tool);
    return name === undefined ? [] : [[name, tokensIn(tool.max_uses) || undefined] as const];
  });
  return uses.length === 0 ? undefined : Object.fromEntries(uses);
}

/** How a request wants to be served, and how the usage of an answer says that it was. */
export function serviceIn(value: JsonObject): ServedAs | undefined {
  return servedAs({ tier: value.service_tier, speed: value.speed, region: value.inference_geo });
}

/** What a usage counts: `web_search_requests`, `web_fetch_requests`. */
export function usesTold({ server_tool_use: told }: JsonObject): Uses | undefined {
  if (!isObject(told)) return undefined;
  return Object.fromEntries(
    Object.entries(told).flatMap(([name, count]) => {
      const tool = /^(.+)_requests$/.exec(name)?.[1];
      return tool === undefined ? [] : [[toolName(tool), tokensIn(count)] as const];
    }),
  );
}

/** What a block shows to have been run. */
function runIn(block: Json | undefined): string | undefined {
  if (!isObject(block) || block.type !== 'server_tool_use' || typeof block.name !== 'string') return undefined;
  if (block.name.startsWith('tool_search')) return 'tool_search';
  return block.name.endsWith('code_execution') ? 'code_execution' : toolName(block.name);
}

/** What the blocks of an answer show to have been run. Code runs in one container, however often. */
export function usesIn(blocks: readonly Json[]): Uses | undefined {
  const uses = countUses(blocks.flatMap((block) => runIn(block) ?? []));
  return uses?.code_execution === undefined ? uses : { ...uses, code_execution: 1 };
}

/** Follows the blocks of a stream. */
export function followUses(): { see(block: Json | undefined): void; uses(): Uses | undefined } {
  const seen: JsonObject[] = [];
  return {
    see(block) {
      if (isObject(block) && runIn(block) !== undefined) seen.push({ type: 'server_tool_use', name: block.name ?? '' });
    },
    uses() {
      return seen.length === 0 ? undefined : usesIn(seen);
    },
  };
}
