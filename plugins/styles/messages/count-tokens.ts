/** `POST /v1/messages/count_tokens`: what a request would be counted as; the vendor's word, else an estimate that says so. */
import { Catalog, type Model } from '../../../core/contracts/catalog.ts';
import type { Conversation } from '../../../core/contracts/conversation.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import { Inspecting } from '../../../core/contracts/inspecting.ts';
import { type Holder, Keys } from '../../../core/contracts/keys.ts';
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

/** An editor asks after every change, and would rather have an estimate than wait. */
const PATIENCE_MS = 5_000;

const MAX_MODEL = 256;

/** The route. Counting is free. */
export function countTokensRoute(host: Host): Route {
  return {
    method: 'POST',
    path: '/v1/messages/count_tokens',
    access: ['key'],
    cors: true,
    about: {
      summary: 'Counts the tokens of a messages request; an estimate says so in the header x-turnpike-translation.',
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
        // The same words as for a model that does not exist: the key learns nothing about the others.
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

/** The conversation that plugins put in the place of the client's; undefined if it stays. Rejects if one refuses. */
function inspect(
  inspecting: Inspecting,
  model: string,
  body: JsonObject,
  { path, headers, ip, holder }: Caller & { readonly holder: Holder },
): Promise<Conversation | undefined> {
  return inspecting.inspect({ path, headers, ip, holder, style: messages.name, model, body });
}

/** The vendor's count, from the first channel whose vendor can tell; undefined where it does not, or not in time. */
async function askVendor(host: Host, model: Model, asked: Asked, caller: Caller): Promise<number | undefined> {
  const sources = model.from.toSorted((a, b) => a.channel.priority - b.channel.priority);
  for (const { channel, model: upstream } of sources) {
    const counter = counterOf(host, channel, upstream);
    if (counter === undefined) continue;
    const facts = { channel: channel.name, model: upstream };
    try {
      const reply = await inTime(host.clock, host.ask(channel, question(host, counter, asked, caller)));
      const good = reply.status >= 200 && reply.status < 300 && reply.body !== undefined;
      const counted = good ? counter.count.read(reply.body!) : undefined;
      // No request has no tokens: a vendor that says 0 has not counted.
      if (counted !== undefined && Number.isSafeInteger(counted) && counted > 0) return counted;
      host.log.debug('a vendor did not count tokens', { ...facts, status: reply.status });
    } catch (error) {
      host.log.debug('a vendor did not count tokens', { ...facts, error });
    }
    return undefined;
  }
  return undefined;
}

/** Who can count, and in which style it has to be asked. */
interface Counter {
  readonly channel: Channel;
  /** The vendor's name for the model. */
  readonly model: string;
  readonly vendor: Vendor;
  readonly style: StyleName;
  readonly dialect: Dialect;
  readonly count: TokenCount;
}

/** The first style in which this model's tokens can be counted there. */
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

/** What is to be counted: the client's request, and the conversation that a plugin put in the place of the one in it. */
interface Asked {
  readonly body: JsonObject;
  readonly replaced: Conversation | undefined;
}

/** Asks for what would be sent if this were a call. Throws where it could not be. */
function question(host: Host, counter: Counter, asked: Asked, caller: Caller): Question {
  const { channel, model, style, dialect, count } = counter;
  const isOwn = style === messages.name;
  const body = isOwn ? ownQuestion(host, counter, asked) : translated(host, counter, asked);
  return {
    method: 'POST',
    model,
    path: count.path(model),
    headers: dialect.headers(channel, undefined, isOwn ? caller : undefined),
    body: count.body?.(body, model) ?? body,
  };
}

/** Members of a request that are made of its conversation. */
const OF_CONVERSATION = ['system', 'messages', 'tools', 'tool_choice', 'thinking'];

function ownQuestion(host: Host, counter: Counter, asked: Asked): JsonObject {
  const { channel, model } = counter;
  if (asked.replaced === undefined) return withoutSeals({ ...asked.body, model }, channel.name);
  const encoded = translated(host, counter, asked);
  const body: Record<string, Json> = { ...asked.body, model };
  for (const name of OF_CONVERSATION) {
    if (encoded[name] === undefined) delete body[name];
    else body[name] = encoded[name];
  }
  return body;
}

function translated(
  host: Host,
  { channel, model, vendor, style }: Counter,
  { body: asked, replaced }: Asked,
): JsonObject {
  const spoken = host.styles().get(style);
  const quirks = layQuirks(spoken?.vendor?.quirks ?? {}, ...quirksOfModel(vendor.quirks, model), channel.quirks);
  const body = spoken && retell(asked, messages, spoken, { channel: channel.name, model, quirks }, replaced);
  if (body === undefined) throw new Error(`there is no translation from ${messages.name} to ${style}`);
  return body;
}

/** Rejects when the client has waited long enough. */
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

/** Checks what has to be there; the rest is the vendor's business. */
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
