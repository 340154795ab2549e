/** Encodes tools and `tool_choice` for a vendor of this style. */

import type { JsonObject, Warnings } from '../../../../core/plugin.ts';
import type {
  Conversation,
  CustomTool,
  FunctionTool,
  HostedTool,
  Quirks,
  Tool,
} from '../../../../core/translation/index.ts';
import { canBeClosed, dropSearchExtras } from '../../../../core/translation/index.ts';
import type { CacheMarks } from '../fields/cache-marks.ts';
import { plainSchema } from '../fields/plain-schema.ts';

/** The members `tools` and `tool_choice`, if there are any. */
export function encodeTools(
  { tools, toolChoice, parallelToolCalls }: Conversation,
  quirks: Quirks,
  marks: CacheMarks,
  warnings: Warnings,
): JsonObject {
  const only = toolChoice?.only;
  // A single tool can be forced by name; for several, the list of tools is reduced.
  const named = toolChoice?.mode === 'required' && only?.length === 1 ? only[0] : undefined;
  const names = new Set(only);
  const chosen = only === undefined || named !== undefined ? tools : tools.filter(({ name }) => names.has(name));
  const left = chosen.length > 0 ? chosen : tools;
  if (left.length < tools.length) warnings.change('tool_choice', 'hint');
  const written = left.flatMap((tool) =>
    encodeTool(tool, quirks, warnings).map((body) => ({ ...body, ...marks.on(tool) })),
  );
  if (written.length === 0) return {};
  const mode = toolChoice?.mode;
  const type = named !== undefined ? 'tool' : mode === 'required' ? 'any' : mode;
  const single = parallelToolCalls === false && type !== 'none';
  if (type === undefined && !single) return { tools: written };
  return {
    tools: written,
    tool_choice: {
      type: type ?? 'auto',
      ...(named !== undefined && { name: named }),
      ...(single && { disable_parallel_tool_use: true }),
    },
  };
}

function encodeTool(tool: Tool, quirks: Quirks, warnings: Warnings): readonly JsonObject[] {
  switch (tool.type) {
    case 'function':
      return [encodeFunction(tool, quirks, warnings)];
    case 'custom':
      return [encodeCustom(tool, warnings)];
    case 'hosted':
      return encodeHosted(tool, quirks, warnings);
  }
}

function encodeFunction(tool: FunctionTool, quirks: Quirks, warnings: Warnings): JsonObject {
  const { name, description, schema, extras = {} } = tool;
  for (const field of Object.keys(extras)) warnings.drop(`tools.${field}`, HARMLESS.has(field) ? 'hint' : undefined);
  const input: JsonObject = { type: 'object', properties: {}, ...schema };
  const strict = tool.strict === true && quirks.tools.strict && canBeClosed(input);
  if (tool.strict === true && !strict) warnings.drop('tools.strict');
  const { schema: enforced, weaker } = strict ? plainSchema(input) : { schema: input, weaker: false };
  if (weaker) warnings.change('tools.strict');
  return {
    name,
    ...(description !== undefined && description !== '' && { description }),
    input_schema: { ...enforced, type: 'object' },
    ...(strict && { strict }),
  };
}

/** Metadata of a tool that the model does not see. */
const HARMLESS: ReadonlySet<string> = new Set(['defer_loading', 'output_schema', 'eager_input_streaming']);

/** A tool with free-text input becomes a function with one text parameter. */
function encodeCustom({ name, description }: CustomTool, warnings: Warnings): JsonObject {
  warnings.change('tools.custom');
  const schema = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] };
  return { name, ...(description !== undefined && { description }), input_schema: schema };
}

/** Options of a search that limit how much it reads, which some clients rely on. */
const USES = { low: 1, medium: 5, high: 10 } as const;

function encodeHosted(tool: HostedTool, quirks: Quirks, warnings: Warnings): readonly JsonObject[] {
  if (tool.style === 'messages') return [tool.raw];
  if (tool.name !== 'web_search' || !quirks.tools.web_search) {
    warnings.drop(`tools.${tool.name}`);
    return [];
  }
  const { contextSize, allowedDomains, blockedDomains, location } = tool.search ?? {};
  dropSearchExtras(tool.search ?? {}, warnings);
  const maxUses = tool.search?.maxUses ?? (contextSize && USES[contextSize]);
  // The vendor accepts one of the two lists.
  const domains =
    allowedDomains === undefined ? { blocked_domains: blockedDomains } : { allowed_domains: allowedDomains };
  if (allowedDomains !== undefined && blockedDomains !== undefined) warnings.drop('tools.blocked_domains');
  return [
    {
      type: 'web_search_20250305',
      name: 'web_search',
      ...(maxUses !== undefined && { max_uses: maxUses }),
      ...(JSON.parse(JSON.stringify(domains)) as JsonObject),
      ...(location !== undefined && { user_location: location }),
    },
  ];
}
