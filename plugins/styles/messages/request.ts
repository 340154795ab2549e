/** Messages requests: what is asked, checked as far as the gateway must understand it; everything else is the vendor's business. */

import { invalidField } from '../../../core/contracts/errors.ts';
import { remembered } from '../../../core/contracts/uses.ts';
import type { CallFacts, Headers, IngressRequest, Json, JsonBody, JsonObject, Patch } from '../../../core/plugin.ts';
import { checkKinds } from '../../../core/sdk.ts';
import { answerLimits, CARRIER, isObject, unpackOpaque } from '../../../core/translation/index.ts';
import { serviceIn, usesAsked } from './hosted.ts';

const ROLES: readonly unknown[] = ['user', 'assistant', 'system'];

/** What is no number has to be of these kinds; its values are the vendor's business. */
const KINDS = {
  system: ['string', 'array'],
  top_k: ['number'],
  stop_sequences: ['array'],
  tools: ['array'],
  tool_choice: ['object'],
  thinking: ['object'],
} as const;

/** What the body asks for. Refuses with 400 `invalid_request_error` and the field's name; `null` counts as left out. */
export function readRequest(body: JsonBody, { headers }: Pick<IngressRequest, 'headers'>): CallFacts {
  checkVersion(headers);
  const model = body.get('model');
  if (typeof model !== 'string' || model === '' || model.length > 256) {
    wrong('model', 'must be the name of a model, a string of 1 to 256 characters');
  }
  checkMessages(body);
  const outputTokens = body.get('max_tokens');
  // 0 asks for no answer: it only fills the vendor's cache.
  if (typeof outputTokens !== 'number' || !Number.isSafeInteger(outputTokens) || outputTokens < 0) {
    wrong('max_tokens', 'must be a whole number, the most tokens that the answer may have');
  }
  checkKinds(body, KINDS);
  checkNumber(body, 'temperature');
  checkNumber(body, 'top_p');
  const stream = body.get('stream') ?? false;
  if (typeof stream !== 'boolean') wrong('stream', 'must be true or false');
  const uses = remembered(() => usesAsked(body));
  return {
    model,
    stream,
    // Streams of this style always tell it.
    asksUsage: true,
    bounds: {
      inputBytes: body.textBytes,
      media: body.media,
      outputTokens,
      choices: 1,
      // Asked for only where an answer costs more than was thought.
      open() {
        return (
          ['container', 'mcp_servers'].some((name) => body.has(name)) ||
          objectsIn(body.get('tools')).some(isHosted) ||
          isShortened(body.get('context_management'))
        );
      },
      uses() {
        return uses();
      },
      service: serviceIn({
        service_tier: body.get('service_tier') ?? null,
        speed: body.get('speed') ?? null,
        inference_geo: body.get('inference_geo') ?? null,
      }),
    },
  };
}

/** Every request of this style says which version of it is meant. Refuses with 400 one that does not. */
export function checkVersion(headers: Headers): void {
  const version = headers['anthropic-version'] ?? '';
  if (!/^\d{4}-\d{2}-\d{2}$/.test(version)) {
    wrong('anthropic-version', 'must be sent as a header, a date such as 2023-06-01');
  }
}

/** What the vendor makes of a conversation to shorten it is an answer of its own, which has the conversation as its input. */
function isShortened(management: Json | undefined): boolean {
  return isObject(management) && objectsIn(management.edits).some(({ type }) => String(type).startsWith('compact'));
}

/** Tools of the vendor's have a type that says which one. */
function isHosted({ type }: JsonObject): boolean {
  return typeof type === 'string' && type !== 'custom';
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The vendor's model name, and thoughts that were sealed for this very channel given back as it spelt them. */
export function patchRequest(body: JsonBody, to: Patch): Readonly<Record<string, string | undefined>> {
  const limits = answerLimits(body, ['max_tokens'], to);
  const changes: Record<string, string | undefined> = { ...limits };
  if (limits.max_tokens !== undefined) Object.assign(changes, fitThinking(body, Number(limits.max_tokens), to));
  if (body.get('model') !== to.model) changes.model = JSON.stringify(to.model);
  if (body.bytes.includes(CARRIER)) {
    const sealed = messagesOf(body) as readonly JsonObject[];
    const messages = unsealedAll(sealed, to.channel);
    changes.messages = JSON.stringify(messages);
    if (mustStopThinking(body.get('thinking'), sealed, messages)) {
      Object.assign(changes, withoutThinking(body.get('context_management')));
    }
  }
  return changes;
}

/** The fewest tokens that this style lets a model think with. */
const LEAST_BUDGET = 1_024;

/** What is thought is part of the answer: its budget has to be below the limit, and leaves a fifth of that for the words. */
function fitThinking(body: JsonBody, limit: number, { losses }: Patch): Readonly<Record<string, string | undefined>> {
  const thinking = body.get('thinking');
  if (!isObject(thinking) || typeof thinking.budget_tokens !== 'number' || thinking.budget_tokens < limit) return {};
  losses.change('thinking', 'hint');
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

/** What `patchRequest` does of seals, for a body that is a value. */
export function withoutSeals(body: JsonObject, channel: string): JsonObject {
  if (!JSON.stringify(body.messages).includes(CARRIER)) return body;
  const sealed = objectsIn(body.messages);
  const messages = unsealedAll(sealed, channel);
  if (!mustStopThinking(body.thinking, sealed, messages)) return { ...body, messages };
  const { thinking: _, context_management: management, ...rest } = body;
  return { ...rest, messages, ...(isObject(management) && { context_management: keepingThoughts(management) }) };
}

/** Which thoughts the vendor may forget can only be said of a model that thinks. */
function keepingThoughts(management: JsonObject): JsonObject {
  const edits = objectsIn(management.edits).filter(({ type }) => !String(type).startsWith('clear_thinking'));
  return { ...management, edits };
}

/**
 * Models that think by a budget go on after a tool's result only where they see what they thought when they called it. Where
 * that is left out, they have to go on without thinking.
 */
function mustStopThinking(
  thinking: Json | undefined,
  before: readonly JsonObject[],
  after: readonly JsonObject[],
): boolean {
  return isObject(thinking) && thinking.type === 'enabled' && callsThoughtfully(before) && !callsThoughtfully(after);
}

/** Whether the model is in the middle of its work, waiting for its tools, and what it thought when it called them is there. */
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

function unsealedAll(messages: readonly JsonObject[], channel: string): readonly JsonObject[] {
  return messages
    .map((message) => unsealed(message, channel))
    .filter(({ content }) => !Array.isArray(content) || content.length > 0);
}

function unsealed(message: JsonObject, channel: string): JsonObject {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  return { ...message, content: content.flatMap((block: Json) => opened(block, channel)) };
}

/** Nothing where a thought was sealed for somebody else: nobody else can open it, and a vendor refuses what it cannot. */
function opened(block: Json, channel: string): readonly Json[] {
  if (!isObject(block) || block.type !== 'thinking' || typeof block.signature !== 'string') return [block];
  const opaque = unpackOpaque(block.signature);
  if (opaque === undefined) return [block];
  if (opaque.style !== 'messages' || opaque.channel !== channel) return [];
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

/** Bytes of a body that may be held twice for as long as its call: once more as the value that a translation needs, too. */
const SHORT = 16 * 1_024;

/** Parsed for the moment: a body that keeps what it parsed would hold a long conversation twice. */
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

function checkNumber(body: JsonBody, name: string): void {
  const value = body.get(name) ?? undefined;
  if (value === undefined || (typeof value === 'number' && value >= 0 && value <= 1)) return;
  wrong(name, 'must be a number from 0 to 1');
}

function wrong(param: string, should: string): never {
  throw invalidField(param, should);
}
