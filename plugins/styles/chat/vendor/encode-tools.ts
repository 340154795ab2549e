/** Encodes tools and `tool_choice` for a chat request. */

import type { Json, JsonObject } from '../../../../core/plugin.ts';
import type { Conversation, HostedTool, Tool, ToolChoice } from '../../../../core/translation/index.ts';
import { choosesHosted, dropSearchExtras } from '../../../../core/translation/index.ts';
import { writeCache } from '../fields/cache.ts';
import type { Writing } from './encode-content.ts';

/** The members `tools`, `tool_choice`, `parallel_tool_calls` and `web_search_options`, if they are needed. */
export function writeTools(conversation: Conversation, writing: Writing): JsonObject {
  const { quirks, warnings } = writing;
  const { toolChoice, parallelToolCalls } = conversation;
  const offered = allowed(conversation.tools, toolChoice);
  if (toolChoice?.mode === 'required' && choosesHosted(conversation.tools, toolChoice)) warnings.change('tool_choice');
  else if (offered.length < conversation.tools.length) warnings.change('tool_choice', 'hint');
  const tools: JsonObject[] = [];
  let search: JsonObject = {};
  for (const tool of offered) {
    if (tool.type !== 'hosted') tools.push(writeTool(tool, writing));
    else if (tool.name === 'web_search') search = writeSearch(tool, writing);
    else if (tool.style === 'chat') tools.push(tool.raw);
    else warnings.drop(`tools.${tool.name}`);
  }
  // Some vendors refuse an empty list, others a choice without a list. Some require the list if the history has calls.
  if (tools.length === 0) return { ...(quirks.tools.empty_array_ok && hasCalls(conversation) && { tools }), ...search };
  return {
    tools,
    ...(toolChoice !== undefined && { tool_choice: writeChoice(toolChoice, tools) }),
    // Parallel calls are the default everywhere.
    ...(parallelToolCalls === false && { parallel_tool_calls: false }),
    ...search,
  };
}

function hasCalls({ turns }: Conversation): boolean {
  return turns.some(({ blocks }) => blocks.some(({ type }) => type === 'toolCall'));
}

/**
 * Few servers support a list of allowed tools; for the others, the list of tools is reduced. If none of the allowed
 * tools exists, all tools are sent. A single tool can be forced, except a web search, which is not a tool in chat.
 */
function allowed(tools: readonly Tool[], choice: ToolChoice | undefined): readonly Tool[] {
  if (choice?.only === undefined) return tools;
  if (choice.mode === 'required' && choice.only.length === 1 && !choosesHosted(tools, choice)) return tools;
  const only = new Set(choice.only);
  const chosen = tools.filter(({ name }) => only.has(name));
  return chosen.length === 0 ? tools : chosen;
}

function writeTool(tool: Exclude<Tool, HostedTool>, { quirks, warnings }: Writing): JsonObject {
  for (const name of Object.keys(tool.extras ?? {})) warnings.drop(`tools.${name}`, 'hint');
  const { name, description } = tool;
  const described = { name, ...(description !== undefined && { description }) };
  if (tool.type === 'custom') {
    return { type: 'custom', custom: { ...described, ...(tool.format && { format: nestedGrammar(tool.format) }) } };
  }
  const hint = quirks.cache.hint === 'cache_control' ? 'cache_control' : 'none';
  return {
    type: 'function',
    function: {
      ...described,
      parameters: tool.schema ?? { type: 'object', properties: {} },
      ...(tool.strict !== undefined && { strict: tool.strict }),
    },
    ...writeCache(tool.cache, hint, warnings),
  };
}

/** In the responses style, the two members of a grammar are next to its type; in chat, they are in a nested object. */
function nestedGrammar({ type = 'grammar', syntax, definition, ...rest }: JsonObject): JsonObject {
  if (syntax === undefined || definition === undefined) return { type, ...rest };
  return { type, grammar: { syntax, definition }, ...rest };
}

function writeChoice({ mode, only }: ToolChoice, tools: readonly JsonObject[]): Json {
  const name = only?.[0];
  if (mode !== 'required' || name === undefined || only?.length !== 1) return mode;
  const isCustom = tools.some(({ custom }) => (custom as JsonObject | undefined)?.name === name);
  return isCustom ? { type: 'custom', custom: { name } } : { type: 'function', function: { name } };
}

function writeSearch({ search = {} }: HostedTool, { warnings }: Writing): JsonObject {
  dropSearchExtras(search, warnings);
  const { contextSize, location, maxUses, allowedDomains, blockedDomains } = search;
  if (maxUses !== undefined) warnings.drop('web_search_options.max_uses');
  if (allowedDomains !== undefined) warnings.drop('web_search_options.allowed_domains');
  if (blockedDomains !== undefined) warnings.drop('web_search_options.blocked_domains');
  const { type: _, ...place } = location ?? {};
  return {
    web_search_options: {
      ...(contextSize !== undefined && { search_context_size: contextSize }),
      ...(location !== undefined && { user_location: { type: 'approximate', approximate: place } }),
    },
  };
}
