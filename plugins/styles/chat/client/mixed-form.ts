/**
 * Requests that are partly in the form of the responses style, which some clients send to this endpoint: tools without the nested object,
 * `input` and `instructions` in place of `messages`, and empty lists as content. Vendors of this style accept none of them.
 */
import type { Json, JsonBody, JsonObject } from '../../../../core/plugin.ts';
import { behindSpace, closingQuote, isObject, jsonText, textOf } from '../../../../core/translation/index.ts';
import { wrong } from '../../request-fields.ts';

/** Whether a request has `input` in place of `messages`. */
export function hasInput(body: JsonBody): boolean {
  return (body.get('messages') ?? null) === null && (body.get('input') ?? null) !== null;
}

const EMPTY_CONTENT = ['"content":[]', '"content": []'];

/** Whether a request may be in a mixed form, by its bytes: parsing each would be too slow. */
export function mayBeMixed(body: JsonBody): boolean {
  return (
    hasFlatTools(body) ||
    (body.has('input') && hasInput(body)) ||
    (body.hasEmptyList && EMPTY_CONTENT.some((text) => body.holds(text)))
  );
}

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Whether an object of the list `tools` has a name of its own. */
function hasFlatTools({ bytes, members }: JsonBody): boolean {
  const span = members.get('tools');
  if (span === undefined || bytes[span.start] !== OPEN_ARRAY) return false;
  let depth = 0;
  for (let at = span.start; at < span.end; at++) {
    const byte = bytes[at]!;
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth--;
    else if (byte === QUOTE) {
      const end = closingQuote(bytes, at + 1);
      const isName = depth === 2 && bytes[behindSpace(bytes, end + 1)] === COLON;
      if (isName && bytes.toString('latin1', at + 1, end) === 'name') return true;
      at = end;
    }
  }
  return false;
}

/** Fields that are replaced: those that only the responses style has, and an empty `messages`. */
const MOVED = ['messages', 'input', 'instructions', 'reasoning', 'max_output_tokens', 'text', 'include', 'truncation'];

/** The same request in the form of this style; itself if it is in that already. */
export function inChatForm(body: JsonObject): JsonObject {
  const isItems = (body.messages ?? null) === null && (body.input ?? null) !== null;
  const plain = isItems ? fromItems(body) : body;
  const { messages, tools, tool_choice: choice } = plain;
  const own = {
    messages: Array.isArray(messages) && messages.some(isHollow) ? messages.map(withoutHollow) : messages,
    tools: Array.isArray(tools) && tools.some(isFlat) ? tools.map(nested) : tools,
    tool_choice: isObject(choice) && isFlat(choice) ? nested(choice) : choice,
  };
  const changed = Object.entries(own).filter(([name, value]) => value !== plain[name]);
  return changed.length === 0 ? plain : { ...plain, ...Object.fromEntries(changed as [string, Json][]) };
}

function isHollow(message: Json): message is JsonObject {
  return isObject(message) && Array.isArray(message.content) && message.content.length === 0;
}

function withoutHollow(message: Json): Json {
  if (!isHollow(message)) return message;
  return { ...message, content: message.role === 'assistant' && Array.isArray(message.tool_calls) ? null : '' };
}

function isFlat(tool: Json): tool is JsonObject {
  return (
    isObject(tool) &&
    (tool.type === 'function' || tool.type === 'custom') &&
    !isObject(tool[tool.type]) &&
    typeof tool.name === 'string'
  );
}

function nested(tool: Json): Json {
  if (!isFlat(tool)) return tool;
  const { type, cache_control: mark, ...rest } = tool;
  const inner = type === 'custom' ? { ...rest, ...(isObject(rest.format) && { format: grammar(rest.format) }) } : rest;
  return { type: type!, [String(type)]: inner, ...(mark !== undefined && { cache_control: mark }) };
}

function grammar(format: JsonObject): JsonObject {
  const { type, syntax, definition, ...rest } = format;
  if (type !== 'grammar' || syntax === undefined || definition === undefined) return format;
  return { type, grammar: { syntax, definition }, ...rest };
}

function fromItems(body: JsonObject): JsonObject {
  const { input, instructions, reasoning, max_output_tokens: limit, text } = body;
  const rest = Object.fromEntries(Object.entries(body).filter(([name]) => !MOVED.includes(name)));
  if ((body.previous_response_id ?? null) !== null) {
    wrong('previous_response_id', 'is not available here: send the request to /v1/responses');
  }
  const messages: JsonObject[] = textOf(instructions) === '' ? [] : [{ role: 'system', content: instructions! }];
  if (typeof input === 'string') messages.push({ role: 'user', content: input });
  else if (Array.isArray(input)) for (const [i, item] of input.entries()) addItem(item, i, messages);
  else wrong('input', 'must be a string or an array of items');
  if (messages.length === 0) wrong('messages', 'must be an array with at least one message');
  return {
    messages,
    ...(isObject(reasoning) && (reasoning.effort ?? null) !== null && { reasoning_effort: reasoning.effort! }),
    ...((limit ?? null) !== null && { max_completion_tokens: limit! }),
    ...(isObject(text) && fromText(text)),
    ...rest,
  };
}

function fromText({ verbosity, format }: JsonObject): JsonObject {
  const { type, ...schema } = isObject(format) ? format : {};
  return {
    ...((verbosity ?? null) !== null && { verbosity: verbosity! }),
    ...(type !== undefined && { response_format: type === 'json_schema' ? { type, json_schema: schema } : { type } }),
  };
}

function addItem(item: Json, i: number, messages: JsonObject[]): void {
  if (!isObject(item)) wrong(`input[${i}]`, 'must be an object');
  const id = textOf(item.call_id);
  switch (item.type ?? 'message') {
    case 'message':
      messages.push({ role: textOf(item.role), content: contentOf(item.content) });
      break;
    case 'function_call':
      addCall({ id, type: 'function', function: { name: item.name ?? '', arguments: argumentsOf(item) } }, messages);
      break;
    case 'custom_tool_call':
      addCall({ id, type: 'custom', custom: { name: item.name ?? '', input: item.input ?? '' } }, messages);
      break;
    case 'function_call_output':
    case 'custom_tool_call_output':
      messages.push({ role: 'tool', tool_call_id: id, content: contentOf(item.output) });
      break;
    case 'reasoning':
    case 'item_reference':
      break;
    default:
      wrong(`input[${i}].type`, 'is not available here: send the request to /v1/responses');
  }
}

function argumentsOf({ arguments: text = '' }: JsonObject): string {
  return typeof text === 'string' ? text : jsonText(text);
}

/** Calls of one answer are in one message. */
function addCall(call: JsonObject, messages: JsonObject[]): void {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') {
    messages.push({ role: 'assistant', content: null, tool_calls: [call] });
    return;
  }
  const calls = Array.isArray(last.tool_calls) ? (last.tool_calls as readonly Json[]) : [];
  messages[messages.length - 1] = { ...last, tool_calls: [...calls, call] };
}

function contentOf(content: Json | undefined): Json {
  return Array.isArray(content) ? content.map(partOf) : (content ?? '');
}

function partOf(part: Json): Json {
  if (!isObject(part)) return part;
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: part.text ?? '' };
    case 'input_image':
      return {
        type: 'image_url',
        image_url: { url: part.image_url ?? '', ...(part.detail && { detail: part.detail }) },
      };
    case 'input_file': {
      const { type: _, ...file } = part;
      return { type: 'file', file };
    }
    default:
      return part;
  }
}
