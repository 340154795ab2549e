/** The tools of a conversation and the tool choice, as far as the model supports them. */

import type { StyleName } from '../../contracts/definitions.ts';
import type { Conversation, HostedTool, Tool, ToolChoice } from '../../contracts/formats/conversation.ts';
import type { JsonObject } from '../../contracts/formats/json.ts';
import type { Quirks } from '../../contracts/formats/quirks.ts';
import type { Warnings } from '../../contracts/formats/warnings.ts';
import { argumentsSchema, isStrict } from '../schema-forms.ts';
import { wrapTool } from './custom-tools.ts';
import { hasRootUnion, objectSchema } from './object-schema.ts';
import { flatName, type ToolNames } from './tool-names.ts';

/** The tool fields of a conversation, outside its turns. */
export type Tools = Pick<Conversation, 'tools' | 'toolChoice' | 'parallelToolCalls'>;

/** Context of a tool translation. */
export interface ToolsTarget {
  /** The vendor's style. */
  readonly style: StyleName;
  readonly quirks: Quirks['tools'];
}

/** Adapts them. Tools are declared first, so that `names` assigns their names before a call in the history does. */
export function fitTools(requested: Tools, to: ToolsTarget, names: ToolNames, warnings: Warnings): Tools {
  if (requested.tools.length === 0) return withoutTools(requested, warnings);
  const { quirks } = to;
  const declared = declare(requested, to, names, warnings);
  const tools = declared.map(({ tool }) => tool);
  if (tools.length === 0) return withoutTools(requested, warnings);
  let parallelToolCalls = requested.parallelToolCalls;
  if (parallelToolCalls !== undefined && !quirks.parallel_flag) {
    // Parallel calls are the default of models.
    warnings.drop('parallel_tool_calls', parallelToolCalls ? 'hint' : undefined);
    parallelToolCalls = undefined;
  }
  const toolChoice = requested.toolChoice && fitChoice(requested.toolChoice, declared, warnings);
  return { tools, toolChoice, parallelToolCalls };
}

function withoutTools({ toolChoice, parallelToolCalls }: Tools, warnings: Warnings): Tools {
  if (toolChoice !== undefined) warnings.drop('tool_choice', 'hint');
  if (parallelToolCalls !== undefined) warnings.drop('parallel_tool_calls', 'hint');
  return NO_TOOLS;
}

const NO_TOOLS: Tools = { tools: [], toolChoice: undefined, parallelToolCalls: undefined };

/** For a model whose reasoning forbids a forced call: the tools that it had to choose from become its only tools. */
export function withoutForce(fitted: Tools, warnings: Warnings): Tools {
  const { tools, toolChoice } = fitted;
  if (toolChoice?.mode !== 'required') return fitted;
  warnings.change('tool_choice');
  const only = toolChoice.only && new Set(toolChoice.only);
  return {
    ...fitted,
    tools: only === undefined ? tools : tools.filter(({ name }) => only.has(name)),
    toolChoice: { mode: 'auto' },
  };
}

/** A tool for the vendor, and the client's name for it. */
interface Declared {
  readonly tool: Tool;
  readonly name: string;
  readonly flat: string;
  readonly namespaced: boolean;
}

function declare(requested: Tools, to: ToolsTarget, names: ToolNames, warnings: Warnings): readonly Declared[] {
  const declared = new Map<string, Declared>();
  const unknown: HostedTool[] = [];
  for (const tool of requested.tools) {
    if (tool.type === 'hosted') {
      const isKnown = tool.name === 'web_search' ? to.quirks.web_search : tool.style === to.style;
      if (!isKnown) unknown.push(tool);
      else declared.set(`hosted ${tool.name}`, { tool, name: tool.name, flat: tool.name, namespaced: false });
      continue;
    }
    const wrapped = tool.type === 'custom' && !to.quirks.custom;
    const name = names.vendor(tool, wrapped);
    if (declared.has(name)) {
      // Vendors refuse duplicate names.
      warnings.drop(`tools.${tool.name}`);
      continue;
    }
    const { namespace, ...bare } = wrapped ? wrapTool(tool, warnings) : tool;
    declared.set(name, {
      tool: withoutStrict(fitSchema({ ...bare, name }, to.quirks, warnings), to.quirks, warnings),
      name: tool.name,
      flat: flatName(tool),
      namespaced: namespace !== undefined,
    });
  }
  giveUp(unknown, declared.size > 0, requested.toolChoice, warnings);
  return [...declared.values()];
}

/** A vendor-side tool is dropped if there are others; refused if the request needs it. */
function giveUp(
  tools: readonly HostedTool[],
  others: boolean,
  choice: ToolChoice | undefined,
  warnings: Warnings,
): void {
  const names = new Set(tools.map(({ name }) => name));
  const only = choice?.only ?? [];
  const forced = choice?.mode === 'required' && only.length > 0 && only.every((name) => names.has(name));
  for (const name of names) {
    if (choice?.mode === 'none') warnings.drop(`tools.${name}`, 'hint');
    else if (others && !forced) warnings.drop(`tools.${name}`);
    else warnings.refuse(`tools.${name}`, 'is not available for this model.');
  }
}

/** The schema in the form that vendors accept, and without a union at its top level if the vendor would refuse it. */
function fitSchema(given: Tool, { root_union: taken }: Quirks['tools'], warnings: Warnings): Tool {
  if (given.type !== 'function' || given.schema === undefined) return given;
  const schema = argumentsSchema(given.schema);
  const tool = schema === given.schema ? given : { ...given, schema };
  if (taken || !hasRootUnion(schema)) return tool;
  warnings.change('tools.parameters');
  // Calls that match the flattened schema may not match the client's.
  if (tool.strict === true) warnings.drop('tools.strict');
  const { strict: _, ...rest } = tool;
  return { ...rest, schema: objectSchema(schema) };
}

function withoutStrict(tool: Tool, { strict: known, strict_required: all }: Quirks['tools'], warnings: Warnings): Tool {
  if (tool.type !== 'function' || tool.strict === undefined) return tool;
  if (known) {
    if (!all || !tool.strict || isStrict(tool.schema ?? NO_ARGUMENTS)) return tool;
    warnings.change('tools.strict', 'hint');
    return { ...tool, strict: false };
  }
  warnings.drop('tools.strict', tool.strict ? undefined : 'hint');
  const { strict: _, ...rest } = tool;
  return rest;
}

const NO_ARGUMENTS: JsonObject = { type: 'object', properties: {}, additionalProperties: false };

/**
 * Tool choices have no namespaces. If no tool of a list is left, the list is removed, because an empty list would allow
 * no tool; and a call that the client did not force must not be forced.
 */
function fitChoice(choice: ToolChoice, declared: readonly Declared[], warnings: Warnings): ToolChoice {
  const { mode, only } = choice;
  if (only === undefined) return choice;
  const plain = byName(declared.filter(({ namespaced }) => !namespaced).map((tool) => [tool.name, tool]));
  const flat = byName(declared.map((tool) => [tool.flat, tool]));
  const bare = byName(declared.map((tool) => [tool.name, tool]));
  const meant = [...new Set(only)].map((name) => plain.get(name) ?? flat.get(name) ?? bare.get(name) ?? []);
  const left = [...new Set(meant.flat().map(({ tool }) => tool.name))];
  if (left.length === 0) {
    warnings.change('tool_choice');
    return { mode: mode === 'required' ? 'auto' : mode };
  }
  if (meant.some((found) => found.length === 0)) warnings.change('tool_choice', 'hint');
  return { mode, only: left };
}

function byName(tools: readonly (readonly [name: string, tool: Declared])[]): ReadonlyMap<string, readonly Declared[]> {
  const found = new Map<string, Declared[]>();
  for (const [name, tool] of tools) {
    const same = found.get(name);
    if (same === undefined) found.set(name, [tool]);
    else same.push(tool);
  }
  return found;
}

/** Whether all selected tools are vendor-side. Then no function may be forced instead. */
export function choosesHosted(tools: readonly Tool[], choice: ToolChoice | undefined): boolean {
  if (choice?.only === undefined || choice.mode === 'none') return false;
  const names = new Set(choice.only);
  const chosen = tools.filter(({ name }) => names.has(name));
  return chosen.length > 0 && chosen.every(({ type }) => type === 'hosted');
}
