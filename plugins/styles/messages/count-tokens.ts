/** `POST /v1/messages/count_tokens`: the input tokens of a request, counted by the vendor, otherwise estimated and marked as such. */
import { Catalog, type Model } from '../../../core/contracts/catalog.ts';
import type { Conversation } from '../../../core/contracts/conversation.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import { Inspecting } from '../../../core/contracts/inspecting.ts';
import { type Holder, Keys } from '../../../core/contracts/keys.ts';
import { keyNameOf } from '../../../core/contracts/vendor.ts';
import type {
  ApiRequest,
  Caller,
  Channel,
  Clock,
  Dialect,
  Host,
  Json,
  JsonObject,
  Question,
  Route,
  StyleName,
  TokenCount,
  Vendor,
} from '../../../core/plugin.ts';
import { answer } from '../../../core/plugin.ts';
import {
  type Fields,
  isObject,
  isOneOf,
  layQuirks,
  quirksOfModel,
  readFields,
  retell,
} from '../../../core/translation/index.ts';
import { messages } from './index.ts';
import { checkVersion, withoutSeals } from './request.ts';
import { estimateTokens } from './token-estimate.ts';

/** Editors call this after every change and prefer a quick estimate. */
const PATIENCE_MS = 5_000;

const MAX_MODEL = 256;

/** Creates the route. Counting is free. */
export function countTokensRoute(host: Host): Route {
  return {
    method: 'POST',
    path: '/v1/messages/count_tokens',
    access: ['key'],
    cors: true,
    about: {
      summary: 'Counts the tokens of a messages request; an estimate is marked in the header x-turnpike-translation.',
      tag: 'Models',
      credentials: ['key'],
      errors: ['invalid_request_error', 'invalid_json', 'model_not_found', 'content_refused', 'upstream_error'],
      answer: { type: 'object', required: ['input_tokens'], properties: { input_tokens: { type: 'integer' } } },
    },
    async handle(request) {
      const { model: name, body } = readCount(request);
      const model = host.find(Catalog)?.require(name, request.holder);
      const { holder } = request;
      if (holder !== undefined && host.find(Keys)?.allows(holder.key, name) === false) {
        // The same message as for a model that does not exist, so that other models are not revealed.
        throw coreErrors.model_not_found(`There is no model '${name}'.`);
      }
      const inspecting = host.find(Inspecting);
      const replaced = holder && inspecting && (await inspect(inspecting, name, body, { ...request, holder }));
      const counted = model && (await askVendor(host, model, { body, replaced }, request));
      if (counted !== undefined) return { input_tokens: counted };
      return answer(200, JSON.stringify({ input_tokens: estimateTokens(body) }), {
        'content-type': 'application/json',
        'x-turnpike-translation': 'input_tokens:estimated',
      });
    },
  };
}

/** The conversation that plugins put in place of the client's; undefined if unchanged. Rejects if a plugin refuses. */
function inspect(
  inspecting: Inspecting,
  model: string,
  body: JsonObject,
  { path, headers, ip, holder }: Caller & { readonly holder: Holder },
): Promise<Conversation | undefined> {
  return inspecting.inspect({ path, headers, ip, holder, style: messages.name, model, body });
}

/** The count of the first channel whose vendor can count; undefined if it fails or takes too long. */
async function askVendor(host: Host, model: Model, request: CountRequest, caller: Caller): Promise<number | undefined> {
  const sources = model.from.toSorted((a, b) => a.channel.priority - b.channel.priority);
  for (const { channel, model: upstream } of sources) {
    const counter = counterOf(host, channel, upstream);
    if (counter === undefined) continue;
    const facts = { channel: channel.name, model: upstream };
    try {
      const reply = await inTime(host.clock, host.ask(channel, countQuestion(host, counter, request, caller)));
      const good = reply.status >= 200 && reply.status < 300 && reply.body !== undefined;
      const counted = good ? counter.count.read(reply.body!) : undefined;
      // Every request has tokens: 0 means that the vendor did not count.
      if (counted !== undefined && Number.isSafeInteger(counted) && counted > 0) return counted;
      host.log.debug('the vendor did not count tokens', { ...facts, status: reply.status });
    } catch (error) {
      host.log.debug('the vendor did not count tokens', { ...facts, error });
    }
    return undefined;
  }
  return undefined;
}

/** A channel whose vendor can count, and the style of its endpoint. */
interface Counter {
  readonly channel: Channel;
  /** The vendor's model name. */
  readonly model: string;
  readonly vendor: Vendor;
  readonly style: StyleName;
  readonly dialect: Dialect;
  readonly count: TokenCount;
}

/** The first style in which the vendor can count tokens of this model. */
function counterOf(host: Host, channel: Channel, model: string): Counter | undefined {
  const vendor = host.vendors().get(channel.vendor);
  if (vendor === undefined) return undefined;
  for (const style of channel.speaks ?? vendor.defaultStyles ?? Object.keys(vendor.speaks)) {
    const dialect = vendor.speaks[style];
    if (dialect?.count === undefined || !isOneOf(dialect.models, model)) continue;
    return { channel, model, vendor, style, dialect, count: dialect.count };
  }
  return undefined;
}

/** The request to count, with the conversation of a plugin in place of its own. */
interface CountRequest {
  readonly body: JsonObject;
  readonly replaced: Conversation | undefined;
}

/** Sends what a call would send. Throws if it cannot be encoded. */
function countQuestion(host: Host, counter: Counter, request: CountRequest, caller: Caller): Question {
  const { channel, model, style, dialect, count } = counter;
  const isOwn = style === messages.name;
  const body = isOwn ? sameStyleQuestion(host, counter, request) : translated(host, counter, request);
  return {
    method: 'POST',
    model,
    path: count.path(model),
    headers: dialect.headers(channel, undefined, isOwn ? caller : undefined),
    body: count.body?.(body, model) ?? body,
  };
}

/** Members of a request that come from its conversation. */
const OF_CONVERSATION = ['system', 'messages', 'tools', 'tool_choice', 'thinking'];

function sameStyleQuestion(host: Host, counter: Counter, request: CountRequest): JsonObject {
  const { channel, model } = counter;
  if (request.replaced === undefined) return withoutSeals({ ...request.body, model }, keyNameOf(channel));
  const encoded = translated(host, counter, request);
  const body: Record<string, Json> = { ...request.body, model };
  for (const name of OF_CONVERSATION) {
    if (encoded[name] === undefined) delete body[name];
    else body[name] = encoded[name];
  }
  return body;
}

function translated(
  host: Host,
  { channel, model, vendor, style }: Counter,
  { body: request, replaced }: CountRequest,
): JsonObject {
  const spoken = host.styles().get(style);
  const quirks = layQuirks(spoken?.vendor?.quirks ?? {}, ...quirksOfModel(vendor.quirks, model), channel.quirks);
  const body = spoken && retell(request, messages, spoken, { channel: keyNameOf(channel), model, quirks }, replaced);
  if (body === undefined) throw new Error(`there is no translation from ${messages.name} to ${style}`);
  return body;
}

/** Rejects after the time limit. */
async function inTime<T>(clock: Clock, work: Promise<T>): Promise<T> {
  let cancel = (): void => {};
  const late = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(PATIENCE_MS, () => reject(new Error('no answer in time')));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}

/** Validates the required members; the vendor validates the rest. */
function readCount(request: ApiRequest): { readonly model: string; readonly body: JsonObject } {
  checkVersion(request.headers);
  const fields: Fields = readFields(request.body, '');
  const model = fields.text('model');
  if (model === undefined || model === '' || model.length > MAX_MODEL) {
    fields.wrong('model', `must be the name of a model, a string of 1 to ${MAX_MODEL} characters`);
  }
  const turns = fields.each('messages');
  if (turns.length === 0) fields.wrong('messages', 'must be an array with at least one message');
  for (const message of turns) {
    if (message.text('role') === undefined) message.wrong('role', 'must be user or assistant');
    if (message.get('content') === undefined) message.wrong('content', TEXT_OR_BLOCKS);
    checkContent(message, 'content');
  }
  checkContent(fields, 'system');
  fields.each('tools');
  fields.object('tool_choice');
  fields.object('thinking');
  return { model, body: request.body as JsonObject };
}

const TEXT_OR_BLOCKS = 'must be a string, or an array of content blocks';

function checkContent(fields: Fields, name: string): void {
  const content = fields.get(name);
  if (content === undefined || typeof content === 'string') return;
  if (!Array.isArray(content) || !content.every(isObject)) fields.wrong(name, TEXT_OR_BLOCKS);
}
