/** What real vendors of each style refuse: unknown fields, results without calls, thoughts that they have not signed. */

import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import type { SpeechName } from '../speech.ts';
import type { VendorRequest } from '../vendors/fake-vendor.ts';
import { THOUGHT_SIGNATURE } from '../vendors/gemini-speech.ts';
import { SIGNATURE } from '../vendors/messages-speech.ts';
import { SEALED } from '../vendors/responses-speech.ts';

/** Why a vendor would refuse this request; undefined where it would answer. */
export function complaintAbout(style: SpeechName, request: VendorRequest, key: string): string | undefined {
  try {
    checkKey(style, request, key);
    RULES[style](request.json, request.path);
    return undefined;
  } catch (error) {
    if (error instanceof Complaint) return error.message;
    throw error;
  }
}

class Complaint extends Error {}

function must(holds: boolean, complaint: string): asserts holds {
  if (!holds) throw new Complaint(complaint);
}

function checkKey(style: SpeechName, { headers }: VendorRequest, key: string): void {
  const bearer = headers.authorization === `Bearer ${key}`;
  if (style === 'gemini') must(headers['x-goog-api-key'] === key, 'the key is not in x-goog-api-key');
  else if (style !== 'messages') must(bearer, 'the key is not a bearer token');
  else {
    must(headers['x-api-key'] === key || bearer, 'there is no key');
    must(/^\d{4}-\d\d-\d\d$/.test(headers['anthropic-version'] ?? ''), 'anthropic-version is missing');
  }
}

const RULES: Readonly<Record<SpeechName, (body: JsonObject, path: string) => void>> = {
  chat: chatRules,
  responses: responsesRules,
  messages: messagesRules,
  gemini: geminiRules,
};

const FIELDS: Readonly<Record<SpeechName, readonly string[]>> = {
  chat: `model messages audio frequency_penalty logit_bias logprobs top_logprobs max_completion_tokens max_tokens metadata
    modalities n parallel_tool_calls prediction presence_penalty prompt_cache_key reasoning_effort response_format
    safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools top_p user verbosity
    web_search_options`.split(/\s+/),
  responses: `model input instructions include max_output_tokens max_tool_calls metadata parallel_tool_calls
    previous_response_id store stream stream_options temperature top_p top_logprobs truncation text reasoning tools tool_choice
    prompt_cache_key safety_identifier user service_tier`.split(/\s+/),
  messages:
    `model max_tokens messages cache_control metadata output_config service_tier stop_sequences stream system thinking
    tool_choice tools temperature top_p top_k`.split(/\s+/),
  gemini: 'contents systemInstruction tools toolConfig safetySettings generationConfig'.split(' '),
};

function checkFields(style: SpeechName, body: JsonObject): void {
  for (const name of Object.keys(body)) must(FIELDS[style].includes(name), `unknown field ${name}`);
}

type List = readonly JsonObject[];

function list(value: Json | undefined, what: string): List {
  must(Array.isArray(value) && value.every(isObject), `${what} must be a list of objects`);
  return value as List;
}
function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
function isJsonObject(text: Json | undefined): boolean {
  try {
    return typeof text === 'string' && isObject(JSON.parse(text) as Json);
  } catch {
    return false;
  }
}
function same(left: readonly unknown[], right: readonly unknown[]): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
/** The indexes at which the list holds such entries, one after the other. */
function runFrom(entries: List, start: number, belongs: (entry: JsonObject) => boolean): List {
  let end = start;
  while (end < entries.length && belongs(entries[end]!)) end++;
  return entries.slice(start, end);
}

// ---- chat

function chatRules(body: JsonObject): void {
  checkFields('chat', body);
  const messages = list(body.messages, 'messages');
  must(messages.length > 0, 'messages is empty');
  let answered = 0;
  for (const [i, message] of messages.entries()) {
    const { role, content, tool_calls: made } = message;
    must(['system', 'developer', 'user', 'assistant', 'tool'].includes(String(role)), `messages[${i}].role`);
    if (role === 'tool') {
      must(i < answered, `messages[${i}]: a tool message must follow a message with tool_calls`);
      continue;
    }
    must(typeof content === 'string' || Array.isArray(content) || made !== undefined, `messages[${i}].content`);
    if (made === undefined) continue;
    const calls = list(made, `messages[${i}].tool_calls`);
    must(calls.length > 0, `messages[${i}].tool_calls is empty`);
    for (const { type, function: called } of calls) {
      must(type === 'function' && isObject(called), `messages[${i}].tool_calls.type`);
      must(/^[\w-]{1,64}$/.test(String(called.name)), `messages[${i}].tool_calls.function.name`);
      must(isJsonObject(called.arguments), `messages[${i}].tool_calls.function.arguments`);
    }
    const results = runFrom(messages, i + 1, (next) => next.role === 'tool');
    const ids = calls.map(({ id }) => String(id));
    const said = results.map(({ tool_call_id }) => String(tool_call_id));
    must(same(ids.toSorted(), said.toSorted()), `messages[${i}]: its calls ${ids} are answered by ${said}`);
    answered = i + 1 + results.length;
  }
  for (const tool of body.tools === undefined ? [] : list(body.tools, 'tools')) {
    must(tool.type === 'function' && isObject(tool.function), 'tools.type');
    must(isObject(tool.function.parameters), 'tools.function.parameters');
  }
}

// ---- responses

const PARTS: Readonly<Record<string, readonly string[]>> = {
  user: ['input_text', 'input_image', 'input_file', 'input_audio'],
  system: ['input_text'],
  developer: ['input_text'],
  assistant: ['output_text', 'refusal'],
};

function responsesRules(body: JsonObject): void {
  checkFields('responses', body);
  const items = typeof body.input === 'string' ? [] : list(body.input, 'input');
  const called = items.flatMap(({ type, call_id: call, id }) => {
    if (type === 'item_reference') return String(id).startsWith('fc_') ? [`call_${String(id).slice(3)}`] : [];
    return type === 'function_call' ? [String(call)] : [];
  });
  const answered = items.filter(({ type }) => type === 'function_call_output').map(({ call_id }) => String(call_id));
  if (body.previous_response_id === undefined || body.previous_response_id === null) {
    must(same(called.toSorted(), answered.toSorted()), `the calls ${called} have the outputs ${answered}`);
  } else must(/^resp_vendor\d+$/.test(String(body.previous_response_id)), 'previous_response_id not found');
  for (const [i, item] of items.entries()) {
    const { type = 'message', role, content } = item;
    switch (type) {
      case 'message':
        must(String(role) in PARTS, `input[${i}].role`);
        for (const part of typeof content === 'string' ? [] : list(content, `input[${i}].content`)) {
          must(PARTS[String(role)]!.includes(String(part.type)), `input[${i}].content: ${part.type} said by ${role}`);
        }
        break;
      case 'function_call':
        must(isJsonObject(item.arguments) && typeof item.name === 'string', `input[${i}].arguments`);
        break;
      case 'function_call_output':
        must(typeof item.output === 'string' || Array.isArray(item.output), `input[${i}].output`);
        break;
      case 'reasoning':
        must(Array.isArray(item.summary), `input[${i}].summary`);
        must((item.encrypted_content ?? SEALED) === SEALED, `input[${i}].encrypted_content cannot be verified`);
        must(i + 1 < items.length, `input[${i}]: reasoning without what follows from it`);
        break;
      case 'item_reference':
        must(/^(rs_vendor1|msg_vendor1|fc_\w+)$/.test(String(item.id)), `input[${i}]: no item ${item.id}`);
        break;
      default:
        must(false, `input[${i}].type ${type}`);
    }
  }
  for (const tool of body.tools === undefined ? [] : list(body.tools, 'tools')) {
    must(tool.type === 'function' && typeof tool.name === 'string' && isObject(tool.parameters), 'tools');
  }
}

// ---- messages

function messagesRules(body: JsonObject): void {
  checkFields('messages', body);
  const { max_tokens: limit, thinking } = body;
  must(Number.isInteger(limit) && Number(limit) > 0, 'max_tokens: Field required');
  const thinks = isObject(thinking) && (thinking.type === 'enabled' || thinking.type === 'adaptive');
  if (thinks && thinking.type === 'enabled') {
    const budget = Number(thinking.budget_tokens);
    must(budget >= 1_024 && budget < Number(limit), `thinking.budget_tokens ${budget} with max_tokens ${limit}`);
  }
  const forced = isObject(body.tool_choice) && ['any', 'tool'].includes(String(body.tool_choice.type));
  must(!(thinks && forced), 'Thinking may not be enabled when tool_choice forces tool use');
  const messages = list(body.messages, 'messages');
  must(messages[0]?.role === 'user', 'messages: first message must use the user role');
  const turns = messages.map(({ content }, i) => {
    must(typeof content !== 'string' || content !== '', `messages.${i}.content is empty`);
    return typeof content === 'string' ? [{ type: 'text', text: content }] : list(content, `messages.${i}.content`);
  });
  for (const [i, blocks] of turns.entries()) {
    for (const block of blocks) checkBlock(block, `messages.${i}.content`);
    const made = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => String(id));
    const after = runFrom(turns[i + 1] ?? [], 0, ({ type }) => type === 'tool_result');
    const answered = after.map(({ tool_use_id }) => String(tool_use_id));
    must(
      same(made.toSorted(), answered.toSorted()),
      `messages.${i}: tool_use ids ${made} with tool_result blocks ${answered} immediately after`,
    );
    if (thinks && made.length > 0 && i === turns.length - 2) {
      must(blocks[0]?.type === 'thinking', `messages.${i}.content.0: Expected thinking, but found ${blocks[0]?.type}`);
    }
  }
  for (const tool of body.tools === undefined ? [] : list(body.tools, 'tools')) {
    must(isObject(tool.input_schema) && tool.input_schema.type === 'object', 'tools.input_schema');
    must(/^[\w-]{1,128}$/.test(String(tool.name)), 'tools.name');
  }
}

function checkBlock(block: JsonObject, where: string): void {
  switch (block.type) {
    case 'text':
      must(typeof block.text === 'string' && block.text !== '', `${where}: text content blocks must be non-empty`);
      break;
    case 'thinking':
      must(block.signature === SIGNATURE, `${where}: Invalid signature in thinking block`);
      break;
    case 'tool_use':
      must(/^[\w-]+$/.test(String(block.id)) && isObject(block.input), `${where}: tool_use`);
      break;
    case 'tool_result':
      must(
        block.content === undefined || typeof block.content === 'string' || Array.isArray(block.content),
        `${where}: tool_result`,
      );
      break;
    default:
      must(['image', 'document'].includes(String(block.type)), `${where}: ${block.type}`);
  }
}

// ---- the third style

/** Says that a thought is lost, and asks not to look for it. */
const BYPASSES = ['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go'];

function geminiRules(body: JsonObject, path: string): void {
  checkFields('gemini', body);
  const contents = list(body.contents, 'contents');
  must(contents[0]?.role === 'user', 'contents[0].role');
  for (const [i, { role, parts }] of contents.entries()) {
    must(role === 'user' || role === 'model', `contents[${i}].role`);
    must(role !== contents[i - 1]?.role, `contents[${i}]: two turns of ${role}`);
    const said = list(parts, `contents[${i}].parts`);
    must(said.length > 0, `contents[${i}].parts is empty`);
    for (const part of said) {
      const kinds = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'].filter(
        (kind) => kind in part,
      );
      must(kinds.length === 1, `contents[${i}].parts: one kind each`);
      const signed = part.thoughtSignature ?? THOUGHT_SIGNATURE;
      must([THOUGHT_SIGNATURE, ...BYPASSES].includes(String(signed)), `contents[${i}]: bad thought signature`);
    }
    const calls = pieces(said, 'functionCall');
    const results = pieces(list(contents[i + 1]?.parts ?? [], 'parts'), 'functionResponse');
    for (const { args } of calls) must(isObject(args ?? {}), `contents[${i}]: args`);
    for (const { response } of results) must(isObject(response), `contents[${i + 1}]: response`);
    must(
      same(
        calls.map(({ name, id }) => [name, id]),
        results.map(({ name, id }) => [name, id]),
      ),
      `contents[${i}]: as many function responses as function calls, of the same names`,
    );
    if (calls.length > 0 && /gemini-3/.test(path)) {
      const first = said.find((part) => 'functionCall' in part);
      must(first?.thoughtSignature !== undefined, `contents[${i}]: Function call is missing a thought_signature`);
    }
  }
  for (const tool of body.tools === undefined ? [] : list(body.tools, 'tools')) {
    for (const { name } of list(tool.functionDeclarations, 'tools.functionDeclarations')) {
      must(/^[a-zA-Z_][\w.:-]{0,63}$/.test(String(name)), 'tools.functionDeclarations.name');
    }
  }
}

function pieces(parts: List, kind: string): List {
  return parts.map((part) => part[kind]).filter(isObject);
}
