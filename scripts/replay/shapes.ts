/** Checks whether a vendor of each style would accept a body, as far as the body alone shows. */
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import type { VendorStyle } from './folder.ts';
import { isObject, isSame, listOf, objectOf, objectsOf, parsed, textOf } from './json.ts';

/** Why a vendor of this style would refuse it, one line each. */
export function shapeFaults(style: VendorStyle, body: JsonObject): readonly string[] {
  const unknown = Object.keys(body).filter((name) => !FIELDS[style].has(name));
  return [...unknown.map((name) => `unknown field ${name}`), ...SHAPES[style](body)];
}

/** The fields that each vendor supports; two of them refuse any other. */
const FIELDS: Readonly<Record<VendorStyle, ReadonlySet<string>>> = {
  chat: new Set([
    ...[
      'model',
      'messages',
      'audio',
      'frequency_penalty',
      'presence_penalty',
      'logit_bias',
      'logprobs',
      'top_logprobs',
    ],
    ...['max_completion_tokens', 'max_tokens', 'metadata', 'modalities', 'moderation', 'n', 'parallel_tool_calls'],
    ...['prediction', 'prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention', 'reasoning_effort'],
    ...['response_format', 'safety_identifier', 'seed', 'service_tier', 'stop', 'store', 'stream', 'stream_options'],
    ...['temperature', 'tool_choice', 'tools', 'top_p', 'top_k', 'user', 'verbosity', 'web_search_options'],
    ...['reasoning', 'thinking', 'enable_thinking', 'thinking_budget'],
  ]),
  responses: new Set([
    ...['model', 'input', 'instructions', 'include', 'max_output_tokens', 'max_tool_calls', 'metadata'],
    ...[
      'parallel_tool_calls',
      'previous_response_id',
      'conversation',
      'store',
      'background',
      'stream',
      'stream_options',
    ],
    ...['temperature', 'top_p', 'top_logprobs', 'truncation', 'text', 'reasoning', 'tools', 'tool_choice', 'prompt'],
    ...['prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention', 'safety_identifier', 'user'],
    ...['service_tier', 'context_management', 'moderation'],
  ]),
  messages: new Set([
    ...['model', 'max_tokens', 'messages', 'cache_control', 'container', 'inference_geo', 'metadata', 'output_config'],
    ...['service_tier', 'speed', 'stop_sequences', 'stream', 'system', 'thinking', 'tool_choice', 'tools'],
    ...['temperature', 'top_p', 'top_k', 'context_management', 'mcp_servers'],
  ]),
  gemini: new Set([
    ...['contents', 'systemInstruction', 'tools', 'toolConfig', 'safetySettings', 'cachedContent', 'labels', 'store'],
    ...['serviceTier', 'generationConfig'],
  ]),
};

const SHAPES: Readonly<Record<VendorStyle, (body: JsonObject) => readonly string[]>> = {
  chat: chatFaults,
  responses: responsesFaults,
  messages: messagesFaults,
  gemini: geminiFaults,
};

/** Collects problems. */
function faultList(): { readonly faults: string[]; must(holds: boolean, otherwise: string): void } {
  const faults: string[] = [];
  return {
    faults,
    must(holds, otherwise) {
      if (!holds) faults.push(otherwise);
    },
  };
}

function chatFaults(body: JsonObject): readonly string[] {
  const { faults, must } = faultList();
  const messages = objectsOf(body.messages);
  must(messages.length > 0, 'no messages');
  let open: string[] = [];
  for (const [i, { role, content, tool_calls: calls, tool_call_id: id }] of messages.entries()) {
    const at = `messages[${i}]`;
    must(['system', 'developer', 'user', 'assistant', 'tool'].includes(textOf(role)), `${at}: role ${String(role)}`);
    must(
      typeof content === 'string' || Array.isArray(content) || (role === 'assistant' && calls !== undefined),
      `${at}: no content`,
    );
    for (const part of objectsOf(content)) {
      const isValid = ['text', 'refusal', 'image_url', 'input_audio', 'file', 'video_url'].includes(textOf(part.type));
      must(isValid, `${at}: a part of the type ${String(part.type)}`);
    }
    if (role === 'tool') {
      must(open.includes(textOf(id)), `${at}: the result of no call`);
      open = open.filter((call) => call !== id);
      continue;
    }
    must(open.length === 0, `${at}: a call before it has no result`);
    open = objectsOf(calls).map((call) => textOf(call.id));
    for (const { type, function: called } of objectsOf(calls)) {
      const isValid = type === 'custom' || isObject(parsed(textOf(objectOf(called).arguments)));
      must(isValid, `${at}: arguments that are no object`);
    }
  }
  for (const { type, function: declared } of objectsOf(body.tools)) {
    must(type === 'custom' || isObject(declared), `a tool of the type ${String(type)}`);
  }
  must(body.tool_choice === undefined || listOf(body.tools).length > 0, 'a tool choice without tools');
  return faults;
}

/** Items that are not translated from other styles, but may come from clients of the same style. */
const RESPONSE_ITEMS: ReadonlySet<string> = new Set([
  ...['message', 'function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output', 'reasoning'],
]);

function responsesFaults(body: JsonObject): readonly string[] {
  const { faults, must } = faultList();
  const calls = new Set<string>();
  must(typeof body.input === 'string' || listOf(body.input).length > 0, 'no input');
  for (const [i, item] of objectsOf(body.input).entries()) {
    const at = `input[${i}]`;
    const type = textOf(item.type) || 'message';
    must(RESPONSE_ITEMS.has(type), `${at}: an item of the type ${type}`);
    if (type === 'function_call' || type === 'custom_tool_call') calls.add(textOf(item.call_id));
    if (type.endsWith('_output')) must(calls.has(textOf(item.call_id)), `${at}: the result of no call`);
    if (type !== 'message') continue;
    const { role, content } = item;
    must(['system', 'developer', 'user', 'assistant'].includes(textOf(role)), `${at}: role ${String(role)}`);
    const isValid =
      role === 'assistant' ? ['output_text', 'refusal'] : ['input_text', 'input_image', 'input_file', 'input_audio'];
    for (const part of objectsOf(content)) {
      must(
        isValid.includes(textOf(part.type)),
        `${at}: a part of the type ${String(part.type)} of the ${String(role)}`,
      );
    }
  }
  for (const tool of objectsOf(body.tools)) {
    must(tool.type !== 'function' || typeof tool.name === 'string', 'a function without a name');
    must(tool.function === undefined, 'a tool is nested');
  }
  must(body.tool_choice === undefined || listOf(body.tools).length > 0, 'a tool choice without tools');
  return faults;
}

const MESSAGE_BLOCKS: ReadonlySet<string> = new Set([
  ...['text', 'image', 'document', 'search_result', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result'],
]);

function messagesFaults(body: JsonObject): readonly string[] {
  const { faults, must } = faultList();
  const messages = objectsOf(body.messages);
  must(typeof body.max_tokens === 'number', 'no max_tokens');
  must(messages.length > 0, 'no messages');
  must(messages[0]?.role !== 'assistant', 'the assistant speaks first');
  const blocksOf = (content: Json | undefined): readonly JsonObject[] =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content);
  let owed: string[] = [];
  for (const [i, { role, content }] of messages.entries()) {
    const at = `messages[${i}]`;
    const blocks = blocksOf(content);
    must(['user', 'assistant', 'system'].includes(textOf(role)), `${at}: role ${String(role)}`);
    must(role === 'system' || role !== messages[i - 1]?.role, `${at}: ${String(role)} speaks again`);
    must(blocks.length > 0, `${at}: no blocks`);
    const results = blocks.filter(({ type }) => type === 'tool_result').map((block) => textOf(block.tool_use_id));
    must(isSame([...owed].sort(), [...results].sort()), `${at}: results ${results} for calls ${owed}`);
    must(
      blocks.slice(0, results.length).every(({ type }) => type === 'tool_result'),
      `${at}: results stand behind`,
    );
    owed = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => textOf(id));
    for (const block of blocks) {
      const type = textOf(block.type);
      must(MESSAGE_BLOCKS.has(type), `${at}: a block of the type ${type}`);
      must(type !== 'text' || textOf(block.text).trim() !== '', `${at}: an empty text`);
      must(type !== 'tool_use' || isObject(block.input), `${at}: an input that is no object`);
      must(type !== 'tool_use' || /^[a-zA-Z0-9_-]+$/.test(textOf(block.id)), `${at}: the id ${String(block.id)}`);
      must(type !== 'thinking' || textOf(block.signature) !== '', `${at}: a thought without a signature`);
    }
  }
  for (const block of blocksOf(body.system)) must(textOf(block.text).trim() !== '', 'an empty system text');
  const thinking = objectOf(body.thinking);
  if (typeof thinking.budget_tokens === 'number') {
    must(thinking.budget_tokens < Number(body.max_tokens), 'the budget is not below max_tokens');
    must(body.temperature === undefined || body.temperature === 1, 'a temperature while thinking');
    must(!['any', 'tool'].includes(textOf(objectOf(body.tool_choice).type)), 'a forced tool while thinking');
  }
  must(body.tool_choice === undefined || listOf(body.tools).length > 0, 'a tool choice without tools');
  return faults;
}

function geminiFaults(body: JsonObject): readonly string[] {
  const { faults, must } = faultList();
  const contents = objectsOf(body.contents);
  must(contents.length > 0, 'no contents');
  must(contents[0]?.role !== 'model', 'the model speaks first');
  let owed: string[] = [];
  for (const [i, { role, parts }] of contents.entries()) {
    const at = `contents[${i}]`;
    must(role === 'user' || role === 'model', `${at}: role ${String(role)}`);
    must(role !== contents[i - 1]?.role, `${at}: ${String(role)} speaks again`);
    must(objectsOf(parts).length > 0, `${at}: no parts`);
    const names = (member: 'functionCall' | 'functionResponse'): string[] =>
      objectsOf(parts).flatMap((part) => (isObject(part[member]) ? [textOf(objectOf(part[member]).name)] : []));
    const results = names('functionResponse');
    must(isSame([...owed].sort(), [...results].sort()), `${at}: results ${results} for calls ${owed}`);
    owed = names('functionCall');
    for (const part of objectsOf(parts))
      must(
        GEMINI_PARTS.some((name) => part[name] !== undefined),
        `${at}: a part`,
      );
  }
  const { functionCallingConfig: config } = objectOf(body.toolConfig);
  must(config === undefined || listOf(body.tools).length > 0, 'a tool choice without tools');
  return faults;
}

const GEMINI_PARTS: readonly string[] = [
  ...['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse', 'executableCode', 'codeExecutionResult'],
  'thoughtSignature',
];

/** The tool choice of a body, independent of its style: `auto`, `none`, `required`, or the name of the tool. */
export function toolChoice(style: VendorStyle, body: JsonObject): string {
  if (style === 'gemini') {
    const { mode, allowedFunctionNames } = objectOf(objectOf(body.toolConfig).functionCallingConfig);
    const [name, second] = listOf(allowedFunctionNames);
    if (mode === 'ANY') return second === undefined && typeof name === 'string' ? name : 'required';
    return mode === 'NONE' ? 'none' : 'auto';
  }
  const choice = body.tool_choice ?? body.function_call;
  // One vendor of the chat style uses `any`.
  if (typeof choice === 'string') return choice === 'any' ? 'required' : choice;
  const { type, name, mode, function: called, custom, allowed_tools: allowed } = objectOf(choice);
  if (type === 'any') return 'required';
  if (type === 'none') return 'none';
  if (type === 'allowed_tools') return textOf(mode ?? objectOf(allowed).mode) || 'auto';
  return textOf(name ?? objectOf(called).name ?? objectOf(custom).name) || 'auto';
}

/** The functions that the model may call: the declared ones, or those that the choice allows. */
export function callable(style: VendorStyle, body: JsonObject): readonly string[] {
  if (style === 'gemini') {
    const { mode, allowedFunctionNames: only } = objectOf(objectOf(body.toolConfig).functionCallingConfig);
    const declared = objectsOf(body.tools).flatMap((tool) => objectsOf(tool.functionDeclarations));
    return declared
      .map(functionName)
      .filter((name) => mode !== 'ANY' || only === undefined || listOf(only).includes(name));
  }
  const declared = objectsOf(body.tools ?? body.functions).map(functionName);
  const { type, tools, allowed_tools: inner } = objectOf(body.tool_choice);
  if (type !== 'allowed_tools') return declared;
  const only = objectsOf(tools ?? objectOf(inner).tools).map(functionName);
  return declared.filter((name) => only.includes(name));
}

function functionName({ name, function: called, custom }: JsonObject): string {
  return textOf(name ?? objectOf(called).name ?? objectOf(custom).name);
}
