/** Chat requests: validates what the gateway needs; the vendor validates the rest. */

import { remembered } from '../../../core/contracts/formats/uses.ts';
import type { Bounds, CallFacts, Json, JsonBody, JsonObject, Patch } from '../../../core/plugin.ts';
import { checkKinds } from '../../../core/sdk.ts';
import {
  answerLimits,
  behindSpace,
  effortAt,
  exactJson,
  exactMember,
  exactTree,
  isObject,
  member,
  type Quirks,
  SEALED,
} from '../../../core/translation/index.ts';
import { checkNumber, modelOf, serviceOf, wrong } from '../request-fields.ts';
import { hasInput, inChatForm, mayBeMixed } from './client/mixed-form.ts';
import { allowedUses, mayUse, spareUses } from './fields/hosted.ts';
import { unsealed } from './fields/thinking.ts';
import { messageSteps } from './vendor/own-messages.ts';

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
  if (!holdsItems(body, 'messages') && !hasInput(body)) wrong('messages', 'must be an array with at least one message');
  checkKinds(body, KINDS);
  checkNumber(body.get('temperature'), 'temperature', 2);
  checkNumber(body.get('top_p'), 'top_p', 1);
  const stream = given(body, 'stream') ?? false;
  if (typeof stream !== 'boolean') wrong('stream', 'must be true or false');
  const options = streamOptions(body);
  const limit = wholeNumber(body, 'max_completion_tokens');
  const olderLimit = wholeNumber(body, 'max_tokens') ?? wholeNumber(body, 'max_output_tokens');
  // Servers that know the second one make as many, and bill all of them.
  const choices = Math.max(wholeNumber(body, 'n', 128) ?? 1, wholeNumber(body, 'best_of', 128) ?? 1);
  const bounds: Bounds = {
    inputBytes: body.textBytes,
    media: body.media,
    // Vendors differ in which of the two they apply, so the larger one is the bound.
    outputTokens:
      limit === undefined && olderLimit === undefined ? undefined : Math.max(limit ?? 0, olderLimit ?? 0) * choices,
    choices,
    open: () => false,
    service: serviceOf(body),
  };
  return {
    model,
    stream,
    asksUsage: options?.include_usage === true,
    ...toolUseOf(body),
    bounds: mayUse(body, model) ? withUses(bounds, body, model) : bounds,
  };
}

/** Some models cannot reason and call tools in this style. */
function toolUseOf(body: JsonBody): Pick<CallFacts, 'toolUse'> {
  if (!holdsItems(body, 'tools') && !holdsItems(body, 'functions')) return NO_TOOLS;
  const effort = given(body, 'reasoning_effort') ?? member(body.get('reasoning'), 'effort');
  return { toolUse: effort === undefined ? 'unsaid' : effort === 'none' ? 'silent' : 'reasoning' };
}

const NO_TOOLS = {};

/** The same bounds with the vendor-side tools. Tools are long, so they are read only if an answer costs more than was reserved. */
function withUses(bounds: Bounds, body: JsonBody, model: string): Bounds {
  const uses = remembered(() => allowedUses(body, model));
  return {
    ...bounds,
    open: () => body.has('plugins') || uses() !== undefined,
    uses,
    spare: remembered(() => spareUses(body, model)),
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
  const form = mayBeMixed(body) ? changedForm(body) : {};
  const changes: Record<string, string | undefined> = textsOf(form);
  if (body.get('model') !== to.model) {
    changes.model = JSON.stringify(to.model);
    const effort = body.get('reasoning_effort') ?? undefined;
    const fitting = effortAt(effort, to.quirks.reasoning);
    if (fitting !== effort) {
      changes.reasoning_effort = JSON.stringify(fitting);
      to.warnings.change('reasoning_effort');
    }
  }
  if (to.askUsage && body.get('stream') === true) {
    const options = streamOptions(body);
    if (options?.include_usage !== true) changes.stream_options = JSON.stringify({ ...options, include_usage: true });
  }
  const steps = messageSteps(body, to);
  if (body.holds(SEALED)) steps.unshift((messages) => messages.map((message) => unsealed(message, to)));
  if (steps.length > 0) {
    const messages = form.messages ?? exactMember(body, 'messages');
    if (Array.isArray(messages)) {
      const own = steps.reduce<readonly Json[]>((all, step) => step(all), messages);
      if (own !== messages) changes.messages = exactJson(own);
    }
  }
  return changes;
}

/** Whether it has free-text tools, which this model only knows as functions: their calls must be restored in the answer. */
export function mustTranslate(body: JsonBody, { tools: { custom } }: Quirks): boolean {
  if (custom || !body.has('tools') || !body.holds('"custom"')) return false;
  const tools = body.get('tools');
  return Array.isArray(tools) && tools.some((tool: Json) => isObject(tool) && tool.type === 'custom');
}

/** The members that the form of this style has in place of those of a mixed one; undefined: none. */
function changedForm(body: JsonBody): Readonly<Record<string, Json | undefined>> {
  const sent = exactTree(body) as JsonObject;
  const form = inChatForm(sent);
  const names = new Set([...Object.keys(sent), ...Object.keys(form)]);
  return Object.fromEntries([...names].flatMap((name) => (form[name] === sent[name] ? [] : [[name, form[name]]])));
}

function textsOf(values: Readonly<Record<string, Json | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === undefined ? undefined : exactJson(value)]),
  );
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
