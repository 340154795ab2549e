/** Chat requests: what is asked, checked as far as the gateway must understand it; everything else is the vendor's business. */

import { invalidField } from '../../../core/contracts/errors.ts';
import { remembered, servedAs } from '../../../core/contracts/uses.ts';
import type { Bounds, CallFacts, Json, JsonBody, JsonObject, Patch } from '../../../core/plugin.ts';
import { checkKinds } from '../../../core/sdk.ts';
import { answerLimits, behindSpace, CARRIER, isObject } from '../../../core/translation/index.ts';
import { mayUse, usesAsked } from './hosted.ts';
import { unsealed } from './thinking.ts';

/** What is no number has to be of these kinds; its values are the vendor's business. */
const KINDS = {
  tools: ['array'],
  tool_choice: ['string', 'object'],
  response_format: ['object'],
  reasoning_effort: ['string'],
  modalities: ['array'],
  audio: ['object'],
} as const;

/** What the body asks for. Refuses with 400 `invalid_request_error` and the field's name; `null` counts as left out. */
export function readRequest(body: JsonBody): CallFacts {
  const model = body.get('model');
  if (typeof model !== 'string' || model === '' || model.length > 256) {
    wrong('model', 'must be the name of a model, a string of 1 to 256 characters');
  }
  if (!holdsItems(body, 'messages')) wrong('messages', 'must be an array with at least one message');
  checkKinds(body, KINDS);
  checkNumber(body, 'temperature', 2);
  checkNumber(body, 'top_p', 1);
  const stream = given(body, 'stream') ?? false;
  if (typeof stream !== 'boolean') wrong('stream', 'must be true or false');
  const options = streamOptions(body);
  const limit = wholeNumber(body, 'max_completion_tokens');
  const olderLimit = wholeNumber(body, 'max_tokens');
  const choices = wholeNumber(body, 'n', 128) ?? 1;
  const bounds: Bounds = {
    inputBytes: body.textBytes,
    media: body.media,
    // Vendors differ in which of the two they obey, so the larger one is the bound.
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

/** The same bounds with what the vendor may run; tools are long, and read only where an answer costs more than was thought. */
function withUses(bounds: Bounds, body: JsonBody, model: string): Bounds {
  const uses = remembered(() => usesAsked(body, model));
  return {
    ...bounds,
    open() {
      return body.has('plugins') || uses() !== undefined;
    },
    uses() {
      return uses();
    },
  };
}

/**
 * The vendor's model name, the thoughts as the vendor sealed them, and the wish for usage. `stream_options` is among the changes
 * exactly where the usage has to be asked for and the client did not.
 */
export function patchRequest(body: JsonBody, to: Patch): Readonly<Record<string, string | undefined>> {
  // Some vendors know only one of the two, so what the client says stays where it says it.
  const usual = to.quirks.limits.max_tokens_field;
  const other = usual === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  const changes = patchCommon(body, to);
  return to.maxOutput === undefined ? changes : { ...changes, ...answerLimits(body, [usual, other], to) };
}

/** The same for a style whose requests differ in nothing of this but their limit. */
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
      const complete = echoes ? withThoughts(own, to) : own;
      if (complete !== messages) changes.messages = JSON.stringify(complete);
    }
  }
  return changes;
}

/** Models that want the reasoning of their tool calls back refuse a history without it; many clients do not send it. */
function withThoughts(messages: readonly Json[], { quirks: { reasoning }, losses }: Patch): readonly Json[] {
  const { field, echo_filler: filler } = reasoning;
  if (field === 'reasoning_details' || filler === '') return messages;
  const lacks = (message: Json): message is JsonObject =>
    isObject(message) && Array.isArray(message.tool_calls) && !message[field];
  if (!messages.some(lacks)) return messages;
  losses.change('messages.reasoning', 'hint');
  return messages.map((message) => (lacks(message) ? { ...message, [field]: filler } : message));
}

function given(body: JsonBody, name: string): Json | undefined {
  return body.get(name) ?? undefined;
}

const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** Whether a member is an array that is not empty; tells by its first bytes, without parsing what may be megabytes. */
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

function checkNumber(body: JsonBody, name: string, highest: number): void {
  const value = given(body, name);
  if (value === undefined || (typeof value === 'number' && value >= 0 && value <= highest)) return;
  wrong(name, `must be a number from 0 to ${highest}`);
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

function wrong(param: string, should: string): never {
  throw invalidField(param, should);
}
