/** Messages requests: validates what the gateway needs; the vendor validates the rest. */

import type { Origin } from '../../../core/contracts/formats/style.ts';
import { remembered } from '../../../core/contracts/formats/uses.ts';
import type { CallFacts, Headers, IngressRequest, Json, JsonBody, JsonObject, Patch } from '../../../core/plugin.ts';
import { checkKinds } from '../../../core/sdk.ts';
import {
  answerLimits,
  CARRIER,
  callId,
  exactJson,
  exactMember,
  hasOddCallIds,
  isMadeBy,
  isObject,
  SEALED,
  unpackOpaque,
} from '../../../core/translation/index.ts';
import { checkNumber, modelOf, serviceOf, wrong } from '../request-fields.ts';
import { barThread } from './client/decode-request.ts';
import { bound } from './fields/binding.ts';
import { allowedUses, spareUses } from './fields/hosted.ts';

const ROLES: readonly unknown[] = ['user', 'assistant', 'system'];

/** Types of the members that are not numbers; the vendor validates their values. */
const KINDS = {
  system: ['string', 'array'],
  top_k: ['number'],
  stop_sequences: ['array'],
  tools: ['array'],
  tool_choice: ['object'],
  thinking: ['object'],
} as const;

/** Reads the body. Refuses with 400 `invalid_request_error` and the field's name; `null` counts as omitted. */
export function readRequest(body: JsonBody, { headers }: Pick<IngressRequest, 'headers'>): CallFacts {
  checkVersion(headers);
  const model = modelOf(body.get('model'));
  checkMessages(body);
  const outputTokens = body.get('max_tokens');
  // 0 requests no answer: it only fills the vendor's cache.
  if (typeof outputTokens !== 'number' || !Number.isSafeInteger(outputTokens) || outputTokens < 0) {
    wrong('max_tokens', 'must be a whole number, the maximum number of output tokens');
  }
  checkKinds(body, KINDS);
  checkNumber(body.get('temperature'), 'temperature', 1);
  checkNumber(body.get('top_p'), 'top_p', 1);
  const stream = body.get('stream') ?? false;
  if (typeof stream !== 'boolean') wrong('stream', 'must be true or false');
  const uses = remembered(() => allowedUses(body, model));
  return {
    model,
    stream,
    // Streams of this style always report usage.
    asksUsage: true,
    bounds: {
      inputBytes: body.textBytes + (continuesThread(body) ? KEPT_BYTES : 0),
      media: body.media,
      outputTokens,
      choices: 1,
      // Read only if an answer costs more than was reserved.
      open() {
        return (
          uses() !== undefined ||
          ['container', 'mcp_servers', 'thread'].some((name) => body.has(name)) ||
          objectsIn(body.get('tools')).some(isHosted) ||
          isShortened(body.get('context_management'))
        );
      },
      uses: () => uses(),
      spare: remembered(() => spareUses(body, model)),
      service: serviceOf(body),
    },
  };
}

/** Input that the vendor keeps and adds is reserved as if it had so many bytes, a long conversation. */
const KEPT_BYTES = 128 * 1_024;

function continuesThread(body: JsonBody): boolean {
  return body.has('thread') && isObject(body.get('thread')) && body.holds('"previous_message_id"');
}

/** Every request of this style has an API version. Refuses with 400 one without. */
export function checkVersion(headers: Headers): void {
  const version = headers['anthropic-version'] ?? '';
  if (!isDate(version)) {
    wrong('anthropic-version', 'must be sent as a header, a date such as 2023-06-01');
  }
}

/** `YYYY-MM-DD`, and a day of the calendar. */
function isDate(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** The summary of a compaction is an answer of its own, with the conversation as its input. */
function isShortened(management: Json | undefined): boolean {
  return isObject(management) && objectsIn(management.edits).some(({ type }) => String(type).startsWith('compact'));
}

/** The type of a vendor-side tool names it. */
function isHosted({ type }: JsonObject): boolean {
  return typeof type === 'string' && type !== 'custom';
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Sets the vendor's model name, and unpacks reasoning that was sealed for this channel. */
export function patchRequest(body: JsonBody, to: Patch): Readonly<Record<string, string | undefined>> {
  if (!to.quirks.threads && (body.get('thread') ?? null) !== null) barThread(to.warnings);
  const limits = answerLimits(body, ['max_tokens'], to);
  const changes: Record<string, string | undefined> = { ...limits };
  if (limits.max_tokens !== undefined) Object.assign(changes, fitThinking(body, Number(limits.max_tokens), to));
  if (body.get('model') !== to.model) changes.model = JSON.stringify(to.model);
  const isSealed = body.holds(SEALED);
  const hasOddIds = hasOddCallIds(body, 'tool_use_id', to.quirks.tools);
  if (hasOddIds || isSealed) {
    const sealed = exactMember(body, 'messages') as readonly JsonObject[];
    const messages = isSealed ? unsealedAll(sealed, to) : sealed;
    const named = hasOddIds ? withCallIds(messages, to) : messages;
    if (named !== sealed) changes.messages = exactJson(named);
    if (mustStopThinking(body.get('thinking'), sealed, messages)) {
      Object.assign(changes, withoutThinking(body.get('context_management')));
    }
  }
  if (to.isRevised && hasThoughts(body) && !('thinking' in changes)) {
    const said = body.get('thinking') ?? undefined;
    const thinking = bound(isObject(said) ? said : undefined, to.quirks.reasoning);
    if (thinking !== undefined && thinking !== said) changes.thinking = JSON.stringify(thinking);
  }
  return changes;
}

/** The member of a block that has the id of a call. */
const ID_MEMBERS: ReadonlyMap<Json | undefined, string> = new Map([
  ['tool_use', 'id'],
  ['tool_result', 'tool_use_id'],
]);

/** Calls that another vendor made may have ids that this one refuses. */
function withCallIds(messages: readonly JsonObject[], { quirks: { tools }, warnings }: Patch): readonly JsonObject[] {
  let changed = false;
  const own = messages.map((message) =>
    Array.isArray(message.content) ? { ...message, content: message.content.map(fitted) } : message,
  );
  function fitted(block: Json): Json {
    const name = isObject(block) ? ID_MEMBERS.get(block.type) : undefined;
    const id = name === undefined ? undefined : (block as JsonObject)[name];
    if (name === undefined || typeof id !== 'string' || callId(id, tools) === id) return block;
    changed = true;
    return { ...(block as JsonObject), [name]: callId(id, tools) };
  }
  if (!changed) return messages;
  warnings.change('messages.tool_calls.id', 'hint');
  return own;
}

/** Whether the history has reasoning; texts have no such bytes, because quotation marks in them are escaped. */
function hasThoughts(body: JsonBody): boolean {
  return body.holds('"signature"') || body.holds('"redacted_thinking"');
}

/** The minimum reasoning budget of this style. */
const LEAST_BUDGET = 1_024;

/** Reasoning is part of the output: its budget must be below the limit, and leaves a fifth of it for the answer. */
function fitThinking(body: JsonBody, limit: number, { warnings }: Patch): Readonly<Record<string, string | undefined>> {
  const thinking = body.get('thinking');
  if (!isObject(thinking) || typeof thinking.budget_tokens !== 'number' || thinking.budget_tokens < limit) return {};
  warnings.change('thinking', 'hint');
  const budget = Math.max(LEAST_BUDGET, Math.floor(limit * 0.8));
  if (budget < limit) return { thinking: JSON.stringify({ ...thinking, budget_tokens: budget }) };
  return withoutThinking(body.get('context_management'));
}

function withoutThinking(management: Json | undefined): Readonly<Record<string, string | undefined>> {
  return {
    thinking: undefined,
    ...(isObject(management) && { context_management: JSON.stringify(keepingThoughts(management)) }),
  };
}

/** Unpacks sealed data like `patchRequest`, for a parsed body. */
export function withoutSeals(body: JsonObject, by: Origin): JsonObject {
  if (!JSON.stringify(body.messages).includes(CARRIER)) return body;
  const sealed = objectsIn(body.messages);
  const messages = unsealedAll(sealed, by);
  if (!mustStopThinking(body.thinking, sealed, messages)) return { ...body, messages };
  const { thinking: _, context_management: management, ...rest } = body;
  return { ...rest, messages, ...(isObject(management) && { context_management: keepingThoughts(management) }) };
}

/** Context editing of reasoning is only allowed for a model that reasons. */
function keepingThoughts(management: JsonObject): JsonObject {
  const edits = objectsIn(management.edits).filter(({ type }) => !String(type).startsWith('clear_thinking'));
  return { ...management, edits };
}

/**
 * Models with a reasoning budget can continue after a tool result only if they get the reasoning of the call. Without
 * it, reasoning is turned off.
 */
function mustStopThinking(
  thinking: Json | undefined,
  before: readonly JsonObject[],
  after: readonly JsonObject[],
): boolean {
  return isObject(thinking) && thinking.type === 'enabled' && callsThoughtfully(before) && !callsThoughtfully(after);
}

/** True if the last turn has tool results, and the reasoning of their calls is there. */
function callsThoughtfully(messages: readonly JsonObject[]): boolean {
  const last = messages.findLast(({ role }) => role === 'assistant');
  const results = messages.at(-1);
  const waits = results?.role === 'user' && blocksOf(results).some(({ type }) => type === 'tool_result');
  const [first] = last === undefined ? [] : blocksOf(last);
  return waits && (first?.type === 'thinking' || first?.type === 'redacted_thinking');
}

function blocksOf({ content }: JsonObject): readonly JsonObject[] {
  return objectsIn(content);
}

function unsealedAll(messages: readonly JsonObject[], by: Origin): readonly JsonObject[] {
  return messages
    .map((message) => unsealed(message, by))
    .filter(({ content }) => !Array.isArray(content) || content.length > 0);
}

function unsealed(message: JsonObject, by: Origin): JsonObject {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  return { ...message, content: content.flatMap((block: Json) => opened(block, by)) };
}

/** Empty if the reasoning was sealed for another vendor, which would refuse it. */
function opened(block: Json, by: Origin): readonly Json[] {
  if (!isObject(block) || block.type !== 'thinking' || typeof block.signature !== 'string') return [block];
  const opaque = unpackOpaque(block.signature);
  if (opaque === undefined) return [block];
  if (opaque.style !== 'messages' || !isMadeBy(opaque, by)) return [];
  return opaque.kind === 'redacted'
    ? [{ type: 'redacted_thinking', data: opaque.value }]
    : [{ ...block, signature: opaque.value }];
}

function checkMessages(body: JsonBody): void {
  const messages = messagesOf(body);
  if (!Array.isArray(messages) || messages.length === 0) {
    wrong('messages', 'must be an array with at least one message');
  }
  for (const [i, message] of messages.entries()) {
    if (!isObject(message)) wrong(`messages[${i}]`, 'must be an object');
    if (!ROLES.includes(message.role)) wrong(`messages[${i}].role`, 'must be user, assistant or system');
  }
}

/** Maximum bytes of a body that may be in memory twice during its call: also as the parsed value, which a translation needs, too. */
const SHORT = 16 * 1_024;

/** Parses a larger body without keeping the value, so that a long conversation is not in memory twice. */
function messagesOf(body: JsonBody): Json | undefined {
  const span = body.members.get('messages');
  try {
    if (body.bytes.length <= SHORT) return (body.tree() as JsonObject).messages;
    return span && (JSON.parse(body.bytes.toString('utf8', span.start, span.end)) as Json);
  } catch {
    // Refuses with the reason.
    return body.get('messages');
  }
}
