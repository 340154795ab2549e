/** Delivers a call: asks one channel after another until one answers, and gives that answer to the client, once. */

import { answerHeaders, send } from './answers.ts';
import {
  type AttemptResult,
  type AttemptTools,
  beginAttempt,
  endAttempt,
  givesAway,
  makeAttempt,
  quoted,
} from './attempt.ts';
import type { Attempt, FailureKind, Headers, Json, Offer } from './contracts/call.ts';
import type { Style } from './contracts/style.ts';
import type { Channel, Dialect, Vendor } from './contracts/vendor.ts';
import { GatewayError } from './errors.ts';
import type { LiveExchange } from './exchange.ts';
import { scanAnswer } from './json.ts';
import type { Awaitable, Known } from './plugin.ts';
import type { UpstreamRequest } from './upstream.ts';
import { countedUsage } from './usage.ts';

/** What delivering needs from the gateway. */
export interface DeliverTools extends AttemptTools {
  readonly vendors: ReadonlyMap<string, Vendor>;
  /** Attempts per call, the first included. */
  readonly maxAttempts: number;
}

/** A vendor's no that the client can act on: it goes to the client as it is. */
const CLIENTS_BUSINESS: ReadonlySet<number> = new Set([400, 404, 409, 413, 415, 422, 429]);
/** What a client is asked to wait where a vendor at its limit does not say how long. */
const USUAL_RETRY_MS = 1_000;
/** How soon a kept connection shows that it is dead, when it is used. */
const STALE_MS = 1_000;
/** Longest wait that we pass on. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Delivers, or throws what the client is to be told. When it returns, the client has its answer and the exchange is
 * concluded.
 */
export async function deliver(x: LiveExchange & Known, offers: Iterable<Offer>, tools: DeliverTools): Promise<void> {
  let last: Failed | undefined;
  let tries = 0;
  for (const offer of offers) {
    if (x.stoppedBy !== undefined) throw x.stoppedBy;
    const outcome = await tryOffer(x, offer, tools);
    if (outcome === undefined) return;
    last = outcome;
    if (outcome.final || ++tries >= tools.maxAttempts || isLate(x, offer, tools)) break;
  }
  if (last === undefined) throw new GatewayError(503, 'no_channel', 'No channel for this model is available now.');
  // After a keep-alive there is no status left to relay: the error is told inside the stream.
  if (last.relay !== undefined && !x.response.headersSent) {
    await relayRefusal(x, last.relay, last.final ? 'refused' : 'failed', tools);
    return;
  }
  throw last.error;
}

/** Nobody else is asked for an answer that there is no time left to wait for. */
function isLate(x: LiveExchange, offer: Offer, { clock }: DeliverTools): boolean {
  return clock.mono() >= x.startedMono + offer.channel.timeout.totalMs;
}

/** An offer that came to nothing. */
interface Failed {
  /** What the client is told if no other offer works. */
  readonly error: GatewayError;
  /** The vendor's own words, where they may be told instead. */
  readonly relay?: VendorAnswer;
  /** The request itself is wrong: no other channel would like it better. */
  readonly final: boolean;
}

interface VendorAnswer {
  readonly offer: Offer;
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** One offer, with one fresh try where a kept connection died as it was used. Undefined: delivered. */
async function tryOffer(x: LiveExchange & Known, offer: Offer, tools: DeliverTools): Promise<Failed | undefined> {
  const style = x.style!;
  const vendor = tools.vendors.get(offer.channel.vendor);
  const dialect = vendor?.speaks[style.name];
  if (vendor === undefined || dialect === undefined) {
    throw new Error(`channel ${offer.channel.name} was offered for ${style.name}, which its vendor does not speak`);
  }
  const attempt = beginAttempt(x, offer, tools.clock);
  try {
    return await attemptOffer(x, attempt, vendor, dialect, tools);
  } catch (error) {
    // The client left, or we have a bug; the channel has no part in either.
    attempt.cut = true;
    throw error;
  } finally {
    endAttempt(x, attempt, tools);
  }
}

/** Sends it, and sees what comes. */
async function attemptOffer(
  x: LiveExchange & Known,
  attempt: Attempt,
  vendor: Vendor,
  dialect: Dialect,
  tools: DeliverTools,
): Promise<Failed | undefined> {
  const { offer } = attempt;
  const style = x.style!;
  const hideUsage = asksUsage(x, offer);
  const request = toUpstream(x, offer, style, dialect, hideUsage);
  let result = await makeAttempt(x, attempt, request, style, hideUsage, tools);
  // A kept connection that died does so at once; whoever took longer may have worked on the request.
  const atOnce = tools.clock.now() - attempt.startedMs < STALE_MS;
  if (result.kind === 'failed' && result.stale && atOnce) {
    result = await makeAttempt(x, attempt, { ...request, fresh: true }, style, hideUsage, tools);
  }
  return judge(x, attempt, result, vendor, style, tools);
}

/** Undefined where the answer was delivered. Throws where nothing more is to be done. */
function judge(
  x: LiveExchange & Known,
  attempt: Attempt,
  result: AttemptResult,
  vendor: Vendor,
  style: Style,
  tools: DeliverTools,
): Awaitable<Failed | undefined> {
  switch (result.kind) {
    case 'relayed':
      return undefined;
    case 'stopped':
      throw result.error;
    case 'failed':
      return failedWith(attempt, result.failure, result.reason);
    case 'status':
      return judgeStatus(attempt, result, vendor);
    case 'whole': {
      const body = scanAnswer(result.body);
      const facts = body === undefined ? undefined : style.answer(body);
      if (facts === undefined) return failedWith(attempt, 'broken', 'the answer is not what was asked for');
      if (facts.error !== undefined)
        return failedWith(
          attempt,
          'broken',
          `an error in a success: ${quoted(facts.error.message, attempt.offer.channel)}`,
        );
      x.usage = facts.usage ?? countedUsage(x.call.bounds, facts.textLength);
      endAttempt(x, attempt, tools);
      return deliverWhole(x, attempt.offer, result.body, tools);
    }
  }
}

/** The books first, then the answer: nobody gets what is not written down. */
async function deliverWhole(x: LiveExchange, offer: Offer, body: Buffer, tools: DeliverTools): Promise<undefined> {
  x.served = offer;
  x.status = 200;
  await tools.conclude(x, x.gone ? 'aborted' : 'served');
  if (x.gone) return undefined;
  x.delivered = true;
  const headers = { 'content-type': 'application/json', 'x-turnpike-channel': offer.channel.name };
  send(x.response, 200, answerHeaders(x.id, x.answerHeaders, headers), body);
  return undefined;
}

/** The vendor says no, and the client should hear it. */
async function relayRefusal(
  x: LiveExchange,
  { offer, status, headers, body }: VendorAnswer,
  outcome: 'refused' | 'failed',
  tools: DeliverTools,
): Promise<void> {
  x.status = status;
  await tools.conclude(x, outcome);
  if (x.gone) return;
  const own: Record<string, string> = { 'content-type': 'application/json', 'x-turnpike-channel': offer.channel.name };
  const retryAfterMs = retryAfter(headers);
  if (status === 429) Object.assign(own, retryHeaders(retryAfterMs ?? USUAL_RETRY_MS));
  send(x.response, status, answerHeaders(x.id, x.answerHeaders, own), body);
}

function judgeStatus(attempt: Attempt, answer: Extract<AttemptResult, { kind: 'status' }>, vendor: Vendor): Failed {
  const { status, headers, body } = answer;
  const { offer } = attempt;
  attempt.retryAfterMs = retryAfter(headers);
  const verdict = vendor.judge?.(status, headers);
  const next = verdict === undefined ? asksNext(status) : verdict !== 'relay';
  const failure = verdict === 'busy' ? 'busy' : verdict === 'relay' ? 'refused' : failureOf(status, next);
  const failed = failedWith(attempt, failure, `status ${status}`);
  const said = scanAnswer(body);
  const tellable = CLIENTS_BUSINESS.has(status) && isErrorObject(said?.get('error')) && !givesAway(body, offer.channel);
  const final = !next;
  return tellable ? { ...failed, relay: { offer, status, headers, body }, final } : { ...failed, final };
}

/** Whether clients will find a message in it. */
function isErrorObject(error: Json | undefined): boolean {
  return typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string';
}

/** Statuses that say something about the channel and nothing about the request. */
function asksNext(status: number): boolean {
  return (
    status >= 500 ||
    status < 400 ||
    status === 401 ||
    status === 402 ||
    status === 403 ||
    status === 404 ||
    status === 408 ||
    status === 429
  );
}

export function failureOf(status: number, next: boolean): FailureKind {
  if (status === 429 || status === 529) return 'busy';
  if (status === 401 || status === 402 || status === 403) return 'credential';
  return next ? 'status' : 'refused';
}

/** Notes why the attempt failed, and says what the client is told should it be the last. */
function failedWith(attempt: Attempt, failure: FailureKind, reason: string): Failed {
  attempt.failure = failure;
  attempt.reason = reason;
  return { error: errorOf(failure, attempt), final: false };
}

export function errorOf(failure: FailureKind, attempt: Attempt): GatewayError {
  switch (failure) {
    case 'connect':
      return new GatewayError(502, 'upstream_unreachable', 'The vendor could not be reached.');
    case 'timeout':
      return new GatewayError(504, 'upstream_timeout', 'The vendor did not answer in time.');
    case 'broken':
      return new GatewayError(502, 'bad_upstream_response', 'The vendor did not answer properly.');
    case 'busy':
      return new GatewayError(429, 'rate_limit_exceeded', 'The vendor is at its limit. Try again later.', {
        headers: retryHeaders(attempt.retryAfterMs ?? USUAL_RETRY_MS),
      });
    case 'refused':
      return new GatewayError(
        attempt.status === 413 ? 413 : 400,
        'invalid_request_error',
        `The vendor refused the request (status ${attempt.status}).`,
      );
    case 'credential':
    case 'status':
      return new GatewayError(502, 'upstream_error', 'The vendor could not answer.');
  }
}

/** What the vendor gets of the client's request. */
function toUpstream(x: LiveExchange, offer: Offer, style: Style, dialect: Dialect, askUsage: boolean): UpstreamRequest {
  const { call } = x;
  const { channel } = offer;
  const { origin, path } = addressOf(
    channel,
    typeof dialect.path === 'string' ? dialect.path : dialect.path(call, offer),
  );
  let body = call.body.patched(style.patch(call.body, { model: offer.model, askUsage }));
  if (dialect.request !== undefined) {
    body = Buffer.from(JSON.stringify(dialect.request(JSON.parse(body.toString()) as Record<string, unknown>, offer)));
  }
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: call.stream ? 'text/event-stream' : 'application/json',
    // What is compressed cannot be metered.
    'accept-encoding': 'identity',
    'user-agent': 'turnpike',
    ...dialect.headers(channel, call),
  };
  return { origin, path, headers, body, connectMs: channel.timeout.connectMs };
}

/** A url as it is asked for. */
interface Address {
  readonly url: string;
  readonly origin: string;
  readonly path: string;
}
/** Where a channel was last asked: reading a url costs more than a call should pay for what rarely changes. */
const lastAddresses = new WeakMap<Channel, Address>();

function addressOf(channel: Channel, below: string): Address {
  const url = channel.url + below;
  let address = lastAddresses.get(channel);
  if (address?.url !== url) {
    const { origin, pathname, search } = new URL(url);
    address = { url, origin, path: pathname + search };
    lastAddresses.set(channel, address);
  }
  return address;
}

/** Whether we ask for a stream's usage on our own account. */
function asksUsage(x: LiveExchange, offer: Offer): boolean {
  return x.call.stream && !x.call.asksUsage && offer.channel.streamUsage === 'include_usage';
}

/** The vendor's wish to be left alone, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function retryAfter(headers: Headers): number | undefined {
  const ms = Number.parseFloat(headers['retry-after-ms'] ?? '');
  if (Number.isFinite(ms) && ms >= 0) return Math.min(ms, MAX_RETRY_AFTER_MS);
  const text = headers['retry-after'];
  if (text === undefined) return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(text)
    ? Number(text)
    : (Date.parse(text) - Date.parse(headers.date ?? '')) / 1_000;
  if (!Number.isFinite(seconds) || seconds < 0) return undefined;
  return Math.min(seconds * 1_000, MAX_RETRY_AFTER_MS);
}

export function retryHeaders(ms: number): Record<string, string> {
  const capped = Math.min(Math.max(ms, 1), MAX_RETRY_AFTER_MS);
  return { 'retry-after': String(Math.ceil(capped / 1_000)), 'retry-after-ms': String(Math.ceil(capped)) };
}
