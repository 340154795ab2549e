/** Chat requests: validates what the gateway needs; the vendor validates the rest. */

import { remembered, servedAs } from '../../../core/contracts/uses.ts';
import type { Bounds, CallFacts, Json, JsonBody, JsonObject, Patch } from '../../../core/plugin.ts';
import { checkKinds } from '../../../core/sdk.ts';
import { answerLimits, behindSpace, CARRIER, isObject } from '../../../core/translation/index.ts';
import { checkNumber, modelOf, wrong } from '../request-fields.ts';
import { allowedUses, mayUse } from './hosted.ts';
import { unsealed } from './thinking.ts';

/** Types of the members that are not numbers; the vendor validates their values. */
const KINDS = {
  tools: ['array'],
  tool_choice: ['string', 'object'],
  response_format: ['object'],
  reasoning_effort: ['string'],
  modalities: ['array'],
  audio: ['object'],
} as const;

/** Reads the body. Refuses with 400 `invalid_request_error` and the field's name; `null` counts as omitted. */
export function readRequest(body: JsonBody): CallFacts {
  const model = modelOf(body.get('model'));
  if (!holdsItems(body, 'messages')) wrong('messages', 'must be an array with at least one message');
  checkKinds(body, KINDS);
  checkNumber(body.get('temperature'), 'temperature', 2);
  checkNumber(body.get('top_p'), 'top_p', 1);
  const stream = given(body, 'stream') ?? false;
  if (typeof stream !== 'boolean') wrong('stream', 'must be true or false');
  const options = streamOptions(body);
  const limit = wholeNumber(body, 'max_completion_tokens');
  const olderLimit = wholeNumber(body, 'max_tokens');
  const choices = wholeNumber(body, 'n', 128) ?? 1;
  const bounds: Bounds = {
    inputBytes: body.textBytes,
    media: body.media,
    // Vendors differ in which of the two they apply, so the larger one is the bound.
    outputTokens:
      limit === undefined && olderLimit === undefined ? undefined : Math.max(limit ?? 0, olderLimit ?? 0) * choices,
    choices,
    open: () => false,
    service: servedAs({ tier: body.get('service_tier') }),
  };
  return {
    model,
    stream,
    asksUsage: options?.include_usage === true,
    bounds: mayUse(body, model) ? withUses(bounds, body, model) : bounds,
  };
}

/** The same bounds with the vendor-side tools. Tools are long, so they are read only if an answer costs more than was reserved. */
function withUses(bounds: Bounds, body: JsonBody, model: string): Bounds {
  const uses = remembered(() => allowedUses(body, model));
  return {
    ...bounds,
    open: () => body.has('plugins') || uses() !== undefined,
    uses,
  };
}

/**
 * Sets the vendor's model name, restores sealed reasoning, and requests usage. `stream_options` is among the changes
 * exactly if usage must be requested and the client did not.
 */
export function patchRequest(body: JsonBody, to: Patch): Readonly<Record<string, string | undefined>> {
  // Some vendors support only one of the two names, so the client's is kept.
  const usual = to.quirks.limits.max_tokens_field;
  const other = usual === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  const changes = patchCommon(body, to);
  return to.maxOutput === undefined ? changes : { ...changes, ...answerLimits(body, [usual, other], to) };
}

/** The same for a style that differs only in its limit. */
export function patchCommon(body: JsonBody, to: Patch): Readonly<Record<string, string | undefined>> {
  const changes: Record<string, string> = {};
  if (body.get('model') !== to.model) changes.model = JSON.stringify(to.model);
  if (to.askUsage && body.get('stream') === true) {
    const options = streamOptions(body);
    if (options?.include_usage !== true) changes.stream_options = JSON.stringify({ ...options, include_usage: true });
  }
  const isSealed = body.bytes.includes(CARRIER);
  const echoes = to.quirks.reasoning.echo !== 'none' && body.bytes.includes('"tool_calls"');
  if (isSealed || echoes) {
    const messages = body.get('messages');
    if (Array.isArray(messages)) {
      const own = isSealed ? messages.map((message: Json) => unsealed(message, to.channel)) : messages;
      const complete = echoes ? withReasoning(own, to) : own;
      if (complete !== messages) changes.messages = JSON.stringify(complete);
    }
  }
  return changes;
}

/** Models that require the reasoning of their tool calls refuse a history without it; many clients do not send it. */
function withReasoning(messages: readonly Json[], { quirks: { reasoning }, warnings }: Patch): readonly Json[] {
  const { field, echo_filler: filler } = reasoning;
  if (field === 'reasoning_details' || filler === '') return messages;
  const lacks = (message: Json): message is JsonObject =>
    isObject(message) && Array.isArray(message.tool_calls) && !message[field];
  if (!messages.some(lacks)) return messages;
  warnings.change('messages.reasoning', 'hint');
  return messages.map((message) => (lacks(message) ? { ...message, [field]: filler } : message));
}

function given(body: JsonBody, name: string): Json | undefined {
  return body.get(name) ?? undefined;
}

const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** Whether a member is a non-empty array, by its first bytes, without parsing what may be megabytes. */
function holdsItems(body: JsonBody, name: string): boolean {
  const span = body.members.get(name);
  if (span === undefined || body.bytes[span.start] !== OPEN_ARRAY) return false;
  return body.bytes[behindSpace(body.bytes, span.start + 1)] !== CLOSE_ARRAY;
}

function streamOptions(body: JsonBody): JsonObject | undefined {
  const options = given(body, 'stream_options');
  if (options === undefined || isObject(options)) return options;
  wrong('stream_options', 'must be an object, such as {"include_usage": true}');
}

function wholeNumber(body: JsonBody, name: string, highest: number = Number.MAX_SAFE_INTEGER): number | undefined {
  const value = given(body, name);
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= highest) return value;
  wrong(
    name,
    highest === Number.MAX_SAFE_INTEGER
      ? 'must be a whole number above 0'
      : `must be a whole number from 1 to ${highest}`,
  );
}
