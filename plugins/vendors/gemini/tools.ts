/** Encodes tools and `tool_choice`. */

import type { JsonObject, Target, Warnings } from '../../../core/plugin.ts';
import type {
  Conversation,
  CustomTool,
  FunctionTool,
  HostedTool,
  ToolChoice,
} from '../../../core/translation/index.ts';
import { choosesHosted, dropSearchExtras } from '../../../core/translation/index.ts';
import { searchesBesideTools } from './quirks.ts';

/** The tool members of a request. */
export interface ToolFields {
  readonly tools?: readonly JsonObject[];
  readonly toolConfig?: JsonObject;
}

/** Fields of a tool that the model does not need. */
const HINTS = ['defer_loading', 'eager_input_streaming'];

/** Encodes the tools of a conversation. */
export function encodeTools(conversation: Conversation, to: Target, warnings: Warnings): ToolFields {
  const { toolChoice } = conversation;
  if (conversation.tools.length === 0) return {};
  const own = conversation.tools.filter((tool) => tool.type !== 'hosted');
  const hosted = conversation.tools.filter((tool) => tool.type === 'hosted');
  const isSearch = choosesHosted(conversation.tools, toolChoice);
  const offered = isSearch ? [] : offeredTools(own, toolChoice);
  const functions = offered.map((tool) => declaration(tool, warnings));
  const search = encodeSearch(hosted, functions.length > 0, to, warnings);
  const others = hosted.filter((tool) => tool.style === 'gemini' && tool.search === undefined).map(({ raw }) => raw);
  const beside = [...(search === undefined ? [] : [search]), ...others];
  const tools = [...(functions.length > 0 ? [{ functionDeclarations: functions }] : []), ...beside];
  // Only functions can be forced.
  if (isSearch) warnings.change('tool_choice', toolChoice?.mode === 'auto' ? 'hint' : undefined);
  if (tools.length === 0) return {};
  const calling = functions.length === 0 ? undefined : callingOf(toolChoice, functions);
  if (!isSearch && functions.length === 0 && toolChoice !== undefined && toolChoice.mode !== 'auto')
    warnings.drop('tool_choice');
  const toolConfig: JsonObject = {
    ...(calling !== undefined && { functionCallingConfig: calling }),
    ...(functions.length > 0 && beside.length > 0 && { includeServerSideToolInvocations: true }),
  };
  return { tools, ...(Object.keys(toolConfig).length > 0 && { toolConfig }) };
}

/** With the mode AUTO, the vendor ignores the list of allowed names, so only these tools are sent. */
function offeredTools(
  tools: readonly (FunctionTool | CustomTool)[],
  choice: ToolChoice | undefined,
): readonly (FunctionTool | CustomTool)[] {
  if (choice?.mode !== 'auto' || choice.only === undefined) return tools;
  const only = new Set(choice.only);
  const left = tools.filter(({ name }) => only.has(name));
  return left.length > 0 ? left : tools;
}

function declaration(tool: FunctionTool | CustomTool, warnings: Warnings): JsonObject {
  for (const name of Object.keys(tool.extras ?? {})) {
    warnings.drop(`tools.${name}`, HINTS.includes(name) ? 'hint' : undefined);
  }
  if (tool.type === 'function' && tool.cache !== undefined) warnings.drop('tools.cache_control', 'hint');
  const { name, description } = tool;
  return {
    name,
    ...(description !== undefined && description !== '' && { description }),
    ...parametersOf(tool),
  };
}

function parametersOf(tool: FunctionTool | CustomTool): JsonObject {
  if (tool.type === 'custom') {
    return {
      parametersJsonSchema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
    };
  }
  const { schema } = tool;
  if (schema === undefined || Object.keys(schema).length === 0) return {};
  return { parametersJsonSchema: schema };
}

/** Options of a search have no equivalent. */
function encodeSearch(
  hosted: readonly HostedTool[],
  besideFunctions: boolean,
  to: Target,
  warnings: Warnings,
): JsonObject | undefined {
  const search = hosted.find((tool) => tool.search !== undefined)?.search;
  if (search === undefined) return undefined;
  if (besideFunctions && !searchesBesideTools(to.model)) {
    warnings.drop('tools.web_search');
    return undefined;
  }
  dropSearchExtras(search, warnings);
  if (search.contextSize !== undefined) warnings.drop('tools.search_context_size', 'hint');
  if (search.location !== undefined) warnings.drop('tools.user_location');
  if (search.maxUses !== undefined) warnings.drop('tools.max_uses');
  if (search.allowedDomains !== undefined) warnings.drop('tools.allowed_domains');
  if (search.blockedDomains !== undefined) warnings.drop('tools.blocked_domains');
  return { googleSearch: {} };
}

function callingOf(choice: ToolChoice | undefined, functions: readonly JsonObject[]): JsonObject | undefined {
  switch (choice?.mode) {
    case 'none':
      return { mode: 'NONE' };
    case 'required': {
      const names = functions.map(({ name }) => name!);
      const chosen = new Set(choice.only);
      const only = names.filter((name) => chosen.has(String(name)));
      return { mode: 'ANY', ...(only.length > 0 && { allowedFunctionNames: only }) };
    }
    default:
      return choice?.validated === true ? { mode: 'VALIDATED' } : undefined;
  }
}
