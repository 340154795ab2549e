/** `POST /v1/messages/count_tokens` and `/v1/responses/input_tokens`: the input tokens of a request, counted by the vendor, otherwise estimated and marked as such. */

import { Catalog, type Model } from '../../../core/contracts/catalog.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import { keyNameOf } from '../../../core/contracts/formats/channel.ts';
import type { Conversation } from '../../../core/contracts/formats/conversation.ts';
import { Groups, reached } from '../../../core/contracts/groups.ts';
import { type Counting, Inspecting } from '../../../core/contracts/inspecting.ts';
import { Keys } from '../../../core/contracts/keys.ts';
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
  RouteAbout,
  Schema,
  Style,
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
  type Quirks,
  quirksOfModel,
  readFields,
  retell,
} from '../../../core/translation/index.ts';
import { responses } from '../responses/index.ts';
import { COUNTED, MESSAGES_HEADERS, messages } from './index.ts';
import { checkVersion, withoutSeals } from './request.ts';
import { estimateTokens } from './token-estimate.ts';

/** Editors call this after every change and prefer a quick estimate. */
const PATIENCE_MS = 5_000;

const MAX_MODEL = 256;

/** The body, for the description of the interface. */
const RESPONSES_COUNTED: Schema = {
  type: 'object',
  required: ['model'],
  properties: {
    model: { type: 'string', description: 'The name of a model.', examples: ['gpt-5'] },
    input: {
      description: 'The conversation: a text, or a list of items.',
      anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'object', additionalProperties: true } }],
      examples: ['Hello'],
    },
  },
  additionalProperties: true,
};

/** An endpoint that counts the tokens of requests of one style. */
interface Counted {
  readonly style: Style;
  readonly path: string;
  readonly about: Pick<RouteAbout, 'name' | 'headers' | 'request'>;
  /** Refuses what no request of the style may be. */
  check(request: ApiRequest): void;
  /** Validates the required members; the vendor validates the rest. */
  read(body: Json): JsonObject;
  /** The answer. */
  write(tokens: number): JsonObject;
  /** Its own count, for vendors that do not count. */
  estimate(body: JsonObject): number;
}

const OF_MESSAGES: Counted = {
  style: messages,
  path: '/v1/messages/count_tokens',
  about: { name: 'countTokens', headers: MESSAGES_HEADERS, request: COUNTED },
  check: ({ headers }) => checkVersion(headers),
  read: readCount,
  write: (tokens) => ({ input_tokens: tokens }),
  estimate: estimateTokens,
};

const OF_RESPONSES: Counted = {
  style: responses,
  path: '/v1/responses/input_tokens',
  about: { name: 'countInputTokens', request: RESPONSES_COUNTED },
  check: () => {},
  read: readResponsesCount,
  write: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
  // All text but for images and files, whose data is no text.
  estimate: (body) => estimateTokens({ messages: [{ role: 'user', content: textsOf(body) }] }),
};

/** The routes. Counting is free. */
export function countTokensRoutes(host: Host): readonly Route[] {
  return [countRoute(host, OF_MESSAGES), countRoute(host, OF_RESPONSES)];
}

function countRoute(host: Host, counted: Counted): Route {
  const { style, path, about } = counted;
  return {
    method: 'POST',
    path,
    access: ['key'],
    cors: true,
    about: {
      summary: `Counts the tokens of a ${style.name} request; an estimate is marked in the header x-turnpike-translation.`,
      ...about,
      tag: 'Models',
      credentials: ['key'],
      errors: ['invalid_request_error', 'invalid_json', 'model_not_found', 'content_refused', 'upstream_error'],
      answer: { type: 'object', required: ['input_tokens'], properties: { input_tokens: { type: 'integer' } } },
    },
    takes: 'scanned',
    async handle(request) {
      counted.check(request);
      const { path, headers, ip, holder, bytes } = request;
      const inspecting = host.find(Inspecting);
      if (inspecting === undefined || holder === undefined)
        return count(host, counted, request, uninspected(request.body));
      const own = { path, headers, ip, holder, style: style.name, bytes };
      return inspecting.count(own, (counting) => count(host, counted, request, counting));
    },
  };
}

/** Where nothing inspects contents. */
function uninspected(body: Json | undefined): Counting {
  return {
    body: { get: (name) => (isObject(body) ? body[name] : undefined), tree: () => body as Json },
    screen: () => undefined,
    inspect: () => undefined,
  };
}

async function count(
  host: Host,
  { style, read, write, estimate }: Counted,
  request: ApiRequest,
  { body: scanned, screen, inspect }: Counting,
): Promise<unknown> {
  const { holder } = request;
  const name = modelIn(scanned);
  const model = host.find(Catalog)?.require(name, holder);
  const groups = holder && host.find(Groups);
  const reach = holder && groups?.reachOf(holder, name);
  const isReached = groups === undefined || reach !== undefined;
  if (holder !== undefined && (!isReached || host.find(Keys)?.allows(holder.key, name) === false)) {
    // The same message as for a model that does not exist, so that other models are not revealed.
    throw coreErrors.model_not_found(`There is no model '${name}'.`);
  }
  const screening = screen(name);
  if (screening !== undefined) await screening;
  const body = read(scanned.tree());
  const inspecting = inspect();
  const replaced = inspecting instanceof Promise ? await inspecting : inspecting;
  const counted = model && (await askVendor(host, reached(model.from, reach), { style, body, replaced }, request));
  if (counted !== undefined) return write(counted);
  return answer(200, JSON.stringify(write(estimate(body))), {
    'content-type': 'application/json',
    'x-turnpike-translation': 'input_tokens:estimated',
  });
}

/** The count of the first channel whose vendor can count; undefined if it fails or takes too long. */
async function askVendor(
  host: Host,
  from: Model['from'],
  request: CountRequest,
  caller: Caller,
): Promise<number | undefined> {
  const sources = from.toSorted((a, b) => a.channel.priority - b.channel.priority);
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
  /** The client's. */
  readonly style: Style;
  readonly body: JsonObject;
  readonly replaced: Conversation | undefined;
}

/** Sends what a call would send. Throws if it cannot be encoded. */
function countQuestion(host: Host, counter: Counter, request: CountRequest, caller: Caller): Question {
  const { channel, model, style, dialect, count } = counter;
  const isOwn = style === request.style.name;
  const body = isOwn ? sameStyleQuestion(host, counter, request) : translated(host, counter, request);
  return {
    method: 'POST',
    model,
    path: count.path(model),
    headers: dialect.headers(channel, undefined, isOwn ? caller : undefined, quirksFor(host, counter)),
    body: count.body?.(body, model) ?? body,
  };
}

/** Members of a request that come from its conversation. */
const OF_CONVERSATION = [
  'system',
  'messages',
  'tools',
  'tool_choice',
  'thinking',
  'input',
  'instructions',
  'reasoning',
];

function sameStyleQuestion(host: Host, counter: Counter, request: CountRequest): JsonObject {
  const { channel, model } = counter;
  if (request.replaced === undefined) {
    const body = { ...request.body, model };
    return request.style === messages ? withoutSeals(body, { channel: keyNameOf(channel), model }) : body;
  }
  const encoded = translated(host, counter, request);
  const body: Record<string, Json> = { ...request.body, model };
  for (const name of OF_CONVERSATION) {
    if (encoded[name] === undefined) delete body[name];
    else body[name] = encoded[name];
  }
  return body;
}

function quirksFor(host: Host, { channel, model, vendor, style }: Counter): Quirks {
  const ofStyle = host.styles().get(style)?.vendor?.quirks ?? {};
  return layQuirks(ofStyle, ...quirksOfModel(vendor.quirks, model, style), channel.quirks);
}

function translated(
  host: Host,
  counter: Counter,
  { style: clientStyle, body: request, replaced }: CountRequest,
): JsonObject {
  const { channel, model, style } = counter;
  const spoken = host.styles().get(style);
  const quirks = quirksFor(host, counter);
  const body = spoken && retell(request, clientStyle, spoken, { channel: keyNameOf(channel), model, quirks }, replaced);
  if (body === undefined) throw new Error(`there is no translation from ${clientStyle.name} to ${style}`);
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

/** The requested model. */
function modelIn(body: Counting['body']): string {
  const model = body.get('model');
  if (typeof model !== 'string' || model === '' || model.length > MAX_MODEL) {
    return readFields(body.tree(), '').wrong(
      'model',
      `must be the name of a model, a string of 1 to ${MAX_MODEL} characters`,
    );
  }
  return model;
}

/** Validates the required members; the vendor validates the rest. */
function readCount(body: Json): JsonObject {
  const fields: Fields = readFields(body, '');
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
  return body as JsonObject;
}

/** The vendor validates the rest. */
function readResponsesCount(body: Json): JsonObject {
  const fields: Fields = readFields(body, '');
  for (const name of ['previous_response_id', 'conversation']) {
    if (fields.get(name) !== undefined)
      fields.wrong(name, 'is not supported here: send the whole conversation in `input`');
  }
  const input = fields.get('input');
  if (input !== undefined && typeof input !== 'string' && !Array.isArray(input)) {
    fields.wrong('input', 'must be a string or an array');
  }
  return body as JsonObject;
}

/** The texts of a request, without the data of images and files. */
function textsOf(body: JsonObject): string {
  return JSON.stringify(body, (name, value: Json) => (typeof value === 'string' && DATA.has(name) ? '' : value));
}

const DATA: ReadonlySet<string> = new Set(['model', 'image_url', 'file_data', 'encrypted_content']);

const TEXT_OR_BLOCKS = 'must be a string, or an array of content blocks';

function checkContent(fields: Fields, name: string): void {
  const content = fields.get(name);
  if (content === undefined || typeof content === 'string') return;
  if (!Array.isArray(content) || !content.every(isObject)) fields.wrong(name, TEXT_OR_BLOCKS);
}
