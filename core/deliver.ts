/** Delivers a call: tries one channel after another until one answers, and sends that answer to the client, once. */

import { answerHeaders, errorIn, send, toGatewayError } from './answers.ts';
import {
  type AttemptResult,
  type AttemptTools,
  addWords,
  beginAttempt,
  EVENT_STREAM,
  endAttempt,
  givesAway,
  makeAttempt,
  noteWarnings,
  quoted,
  TRANSLATION,
} from './attempt.ts';
import { addHeaders, addQuery, isSignedAnew, mustSignAgain, signedHeaders, urlOf } from './channel-request.ts';
import type { Clock } from './clock.ts';
import type { Attempt, FailureKind, Offer } from './contracts/call.ts';
import { coreErrors } from './contracts/errors.ts';
import type { Json, JsonObject } from './contracts/json.ts';
import type { Style } from './contracts/style.ts';
import { type Channel, keyNameOf, type Vendor } from './contracts/vendor.ts';
import { type Conveyance, convey } from './conveyance.ts';
import { GatewayError } from './errors.ts';
import type { LiveExchange } from './exchange.ts';
import { acceptOf } from './frames.ts';
import { scanAnswer } from './json.ts';
import type { OutgoingProxies, OutgoingProxy } from './outgoing-proxy.ts';
import type { Awaitable, Known } from './plugin.ts';
import { type Revisions, revisionsOf } from './revising.ts';
import { originOf } from './runtime/unexpected.ts';
import { isObject } from './translation/fields.ts';
import type { Parties, WholeAnswer } from './translation/parties.ts';
import { withoutRequest } from './translation/quotes.ts';
import { type RefusedFields, refusedField } from './translation/refused-fields.ts';
import {
  faultOf,
  isContextOverflow,
  isOfOtherAccount,
  isUnpaid,
  overflowError,
  overloadedError,
  refusalIn,
  type VendorError,
  withoutAccounts,
} from './translation/vendor-errors.ts';
import { warningHeader } from './translation/warnings.ts';
import { delayIn, retryAfter, retryHeaders } from './upstream/retry-after.ts';
import type { UpstreamRequest } from './upstream.ts';
import { withUnsaid } from './usage.ts';

/** The gateway's services for delivery. */
export interface DeliverTools extends AttemptTools {
  readonly vendors: ReadonlyMap<string, Vendor>;
  readonly styles: ReadonlyMap<string, Style>;
  readonly proxies: OutgoingProxies;
  /** Members that vendors refused in translated requests. */
  readonly refusedFields: RefusedFields;
  /** Maximum attempts per call, the first included. */
  readonly maxAttempts: number;
}

/** Vendor errors that the client can act on: they are sent to the client with the vendor's message. */
const CLIENTS_BUSINESS: ReadonlySet<number> = new Set([400, 404, 409, 413, 415, 422, 429, 503, 529]);
/** A vendor of another style uses these for its own limits; the message is meant for the operator. */
const WORDLESS: ReadonlySet<number> = new Set([429, 503, 529]);
/** A refusal about the key, the limits or the address is never taken for a context overflow. */
const NEVER_OVERFLOW: ReadonlySet<number> = new Set([401, 402, 403, 404, 429]);
/** `retry-after` for a client if a rate-limited vendor sends none. */
const USUAL_RETRY_MS = 1_000;
/** A dead pooled connection fails within this time after its use. */
const STALE_MS = 1_000;

/** Delivers, or throws the error for the client. On return, the client has its answer and the request has ended. */
export async function deliver(x: LiveExchange & Known, offers: Iterable<Offer>, tools: DeliverTools): Promise<void> {
  let last: Failed | undefined;
  let unsaid: GatewayError | undefined;
  let tries = 0;
  for (const offer of offers) {
    if (x.stoppedBy !== undefined) throw x.stoppedBy;
    const outcome = await tryOffer(x, offer, tools);
    if (outcome === undefined) return;
    if (outcome instanceof GatewayError) {
      // Targets that were not called do not count as attempts; and a vendor's error takes precedence over a translation
      // error.
      unsaid ??= outcome;
      continue;
    }
    // What another attempt may mend is said rather than what only the operator can, or another account of the vendor.
    const isLesser = isOperators(attemptOf(x)) || (outcome.ofAccount === true && last?.ofAccount !== true);
    if (last === undefined || outcome.final || !isLesser) last = outcome;
    if (outcome.final || ++tries >= tools.maxAttempts) break;
    // There is no time left to wait for another answer.
    if (tools.clock.mono() >= x.startedMono + offer.channel.timeout.totalMs) break;
  }
  if (last === undefined && unsaid !== undefined) throw unsaid;
  if (last === undefined) throw coreErrors.no_channel();
  // After a keep-alive the status is already sent: the error becomes an event of the stream.
  if (last.theirs !== undefined && !x.response.headersSent) {
    await relayRefusal(x, last, last.theirs, tools);
    return;
  }
  throw last.error;
}

/** The latest attempt. */
function attemptOf({ attempts }: LiveExchange): Attempt {
  return attempts.at(-1)!;
}

/** Whether the vendor does not accept the key, or its account cannot pay. */
function isOperators({ failure }: Attempt): boolean {
  return failure === 'credential';
}

/** The failure of one target. */
interface Failed {
  /** The error for the client if no other target works. */
  readonly error: GatewayError;
  /** The vendor's refusal in the client's style, which may have more details than `error`. */
  readonly theirs?: { readonly offer: Offer; readonly body: JsonObject };
  /** The request itself is invalid: no other channel is tried. */
  readonly final: boolean;
  /** The vendor's words, which may quote the request: for the reason of the attempt. */
  readonly words?: string;
  /** Invalid for this account only. If another one may answer later, its error is that of the call. */
  readonly ofAccount?: boolean;
}

/** Tries one target, again if a pooled connection was dead. Undefined: delivered. An error: it cannot be translated. */
function tryOffer(
  x: LiveExchange & Known,
  offer: Offer,
  tools: DeliverTools,
): Promise<Failed | GatewayError | undefined> {
  const known = tools.refusedFields.without(offer, offer.style === x.style!.name);
  const { vendor, parties } = partiesOf(x, known, tools, revisionsOf(x, tools.pipeline, tools.log));
  const attempt = beginAttempt(x, offer, tools.clock);
  return attemptOffer(parties, attempt, vendor, tools).then(
    (outcome) => {
      const words = outcome instanceof GatewayError ? outcome.message : outcome?.words;
      const adding = words === undefined ? undefined : addWords(x, attempt, words);
      const end = (): typeof outcome => {
        endAttempt(x, attempt, tools);
        return outcome;
      };
      return adding instanceof Promise ? adding.then(end) : end();
    },
    (error) => {
      // The client disconnected, or the gateway has a bug; neither is the channel's failure.
      attempt.cut = true;
      endAttempt(x, attempt, tools);
      throw error;
    },
  );
}

/** The participants of an attempt. */
export function partiesOf(
  x: LiveExchange & Known,
  offer: Offer,
  { vendors, styles, clock }: Pick<DeliverTools, 'vendors' | 'styles' | 'clock'>,
  revisions?: Revisions,
): { readonly vendor: Vendor; readonly parties: Parties } {
  const vendor = vendors.get(offer.channel.vendor);
  const vendorStyle = styles.get(offer.style);
  const dialect = vendor?.speaks[offer.style];
  if (vendor === undefined || vendorStyle === undefined || dialect === undefined) {
    throw new Error(`channel ${offer.channel.name} was offered for ${offer.style}, which its vendor does not support`);
  }
  return { vendor, parties: { x, offer, clientStyle: x.style!, vendorStyle, dialect, clock, revisions } };
}

/** Sends the request and waits for the outcome. */
async function attemptOffer(
  parties: Parties,
  attempt: Attempt,
  vendor: Vendor,
  tools: DeliverTools,
): Promise<Failed | GatewayError | undefined> {
  const { x } = parties;
  let conveyance: Conveyance;
  try {
    const conveying = convey(parties);
    conveyance = conveying instanceof Promise ? await conveying : conveying;
  } catch (error) {
    // The client may have disconnected while an image was fetched.
    if (x.stoppedBy !== undefined) throw x.stoppedBy;
    if (!(error instanceof GatewayError)) return failedInVendor(parties, attempt, error, tools);
    // It does not mean that the channel is unhealthy, and another channel may accept the request.
    attempt.cut = true;
    return error;
  }
  if (x.stoppedBy !== undefined) throw x.stoppedBy;
  let request: UpstreamRequest;
  try {
    request = toUpstream(parties, attempt, conveyance.body, tools.proxies);
  } catch (error) {
    return failedInVendor(parties, attempt, error, tools);
  }
  const bare = request;
  if (vendor.sign !== undefined) {
    const signing = await signed(request, vendor, parties, tools);
    if (x.stoppedBy !== undefined) throw x.stoppedBy;
    if (signing instanceof Error) {
      return failedWith(attempt, 'credential', unsigned(signing, parties.offer.channel));
    }
    request = signing;
  }
  const { frames } = parties.dialect;
  let result = await makeAttempt(x, attempt, request, conveyance, frames, tools);
  if (result.kind === 'status' && mustSignAgain(vendor, result.status) && x.stoppedBy === undefined) {
    const signing = await signed(bare, vendor, parties, tools, true);
    if (x.stoppedBy === undefined && !(signing instanceof Error) && isSignedAnew(signing.headers, request.headers)) {
      request = signing;
      result = await makeAttempt(x, attempt, request, conveyance, frames, tools);
    }
  }
  const refused = result.kind === 'status' && (result.status === 400 || result.status === 404);
  const { earlier } = x.call;
  // For a client that has disconnected, a running attempt may finish, but no new one starts.
  if (x.stoppedBy !== undefined) return judge(x, attempt, result, vendor, conveyance, tools);
  if (refused && earlier?.channel === keyNameOf(parties.offer.channel)) {
    // The vendor may have deleted the earlier answer; the gateway still has it.
    x.call = { ...x.call, earlier: { ...earlier, channel: undefined } };
    return attemptOffer(parties, attempt, vendor, tools);
  }
  const field = unwanted(parties, result, conveyance);
  if (field !== undefined) {
    const offer = tools.refusedFields.add(parties.offer, field);
    return attemptOffer({ ...parties, offer }, attempt, vendor, tools);
  }
  if (result.kind === 'failed' && result.how.stale) {
    // A dead pooled connection fails at once; a later failure may mean that the vendor has processed the complete
    // request.
    const atOnce = tools.clock.now() - attempt.startedMs < STALE_MS;
    if (atOnce || result.how.unsent)
      result = await makeAttempt(x, attempt, { ...request, fresh: true }, conveyance, frames, tools);
  }
  return await judge(x, attempt, result, vendor, conveyance, tools);
}

/** The plugin of a vendor, or of a style, has failed to make the request: a mistake in its code, which another channel may not have. */
async function failedInVendor(
  { x, offer }: Parties,
  attempt: Attempt,
  error: unknown,
  { log }: DeliverTools,
): Promise<Failed> {
  const { name: channel, vendor } = offer.channel;
  const message = await withoutRequest(error instanceof Error ? error.message : String(error), x.call);
  const facts = { vendor, channel, exchange: x.id, error: { message } };
  log.error('the request to a vendor could not be made', { ...originOf(error), ...facts });
  attempt.cut = true;
  attempt.reason = `the plugin of the vendor ${vendor} failed`;
  return { error: toGatewayError(error), final: false };
}

/**
 * What the vendor refused by name although the client did not choose it for this vendor: an optional member of a translated request, or the
 * reasoning of another model. A client of the same style hears from the vendor itself what else it refuses.
 */
function unwanted(
  { clientStyle, vendorStyle, offer }: Parties,
  result: AttemptResult,
  { body }: Conveyance,
): string | undefined {
  if (result.kind !== 'status' || !Buffer.isBuffer(body)) return undefined;
  const isRefused = result.status === 400 || result.status === 422;
  return isRefused ? refusedField(result.body, body, offer, clientStyle === vendorStyle) : undefined;
}

/** Undefined if the answer was delivered. Throws if no other channel may be tried. */
function judge(
  x: LiveExchange & Known,
  attempt: Attempt,
  result: AttemptResult,
  vendor: Vendor,
  conveyance: Conveyance,
  tools: DeliverTools,
): Awaitable<Failed | undefined> {
  switch (result.kind) {
    case 'relayed':
      return undefined;
    case 'stopped':
      throw result.error;
    case 'failed':
      return result.error === undefined
        ? failedWith(attempt, result.failure, result.reason)
        : failedInside(x, attempt, result.error);
    case 'status':
      return judgeStatus(x, attempt, result, vendor, conveyance, tools.clock);
    case 'whole':
      return judgeWhole(x, attempt, result, conveyance, tools);
  }
}

function judgeWhole(
  x: LiveExchange & Known,
  attempt: Attempt,
  { body, type }: Extract<AttemptResult, { kind: 'whole' }>,
  conveyance: Conveyance,
  tools: DeliverTools,
): Awaitable<Failed | undefined> {
  let reading: Awaitable<WholeAnswer | undefined>;
  try {
    reading = conveyance.whole(body, type);
  } catch (error) {
    reading = notJson(error);
  }
  if (!(reading instanceof Promise)) return judgeAnswer(x, attempt, reading, conveyance, tools);
  return reading.catch(notJson).then((answer) => judgeAnswer(x, attempt, answer, conveyance, tools));
}

/** Content that only looks like JSON fails when it is parsed. */
function notJson(error: unknown): undefined {
  if (!(error instanceof GatewayError)) throw error;
}

function judgeAnswer(
  x: LiveExchange & Known,
  attempt: Attempt,
  answer: WholeAnswer | undefined,
  conveyance: Conveyance,
  tools: DeliverTools,
): Awaitable<Failed | undefined> {
  if (answer === undefined) return failedWith(attempt, 'broken', 'the answer does not have the requested format');
  if (answer.error !== undefined) {
    if (!answer.error.refused) return failedInside(x, attempt, answer.error);
    const words = quoted(answer.error.message, attempt.offer.channel);
    const failed = failedWith(attempt, 'refused', undefined);
    return { ...failed, words, error: retold(400, words, attempt.offer), final: true };
  }
  x.usage = withUnsaid(answer.usage, x.call, attempt.offer, undefined);
  endAttempt(x, attempt, tools);
  if (answer.refusal !== undefined) {
    // The vendor generated it, so it is charged.
    x.served = attempt.offer;
    throw answer.refusal;
  }
  return deliverWhole(x, attempt.offer, answer, conveyance, tools);
}

/** Settles first, then sends the answer: no client gets an answer that is not recorded. */
function deliverWhole(
  x: LiveExchange,
  offer: Offer,
  answer: WholeAnswer,
  conveyance: Conveyance,
  tools: DeliverTools,
): Promise<undefined> {
  x.served = offer;
  x.status = 200;
  x.answered = answer.value;
  noteWarnings(x, conveyance);
  return tools.conclude(x, x.gone ? 'aborted' : 'served').then(() => sendWhole(x, offer, answer, conveyance));
}

function sendWhole(x: LiveExchange, offer: Offer, answer: WholeAnswer, conveyance: Conveyance): undefined {
  if (x.gone) return undefined;
  x.delivered = true;
  if (x.body !== undefined) {
    // Only keep-alives were sent so far.
    x.body.end(answer.body);
    return undefined;
  }
  const headers: Record<string, string> = {
    'content-type': answer.type ?? (x.call.stream ? EVENT_STREAM : 'application/json'),
    'x-turnpike-channel': offer.channel.name,
  };
  const warnings = conveyance.warnings?.() ?? [];
  if (warnings.length > 0) headers[TRANSLATION] = warningHeader(warnings);
  send(x.response, 200, answerHeaders(x.id, x.answerHeaders, headers), answer.body);
  return undefined;
}

/** The vendor refuses in the client's own style: the refusal is forwarded. */
async function relayRefusal(
  x: LiveExchange,
  { error, final }: Failed,
  { offer, body }: NonNullable<Failed['theirs']>,
  tools: DeliverTools,
): Promise<void> {
  x.status = error.status;
  await tools.conclude(x, final ? 'refused' : 'failed');
  if (x.gone) return;
  const own = { ...error.headers, 'content-type': 'application/json', 'x-turnpike-channel': offer.channel.name };
  const text = JSON.stringify(inOurForm(body, errorIn(x.style, error, x.id) as JsonObject));
  send(x.response, error.status, answerHeaders(x.id, x.answerHeaders, own), text);
}

/**
 * A vendor's refusal with all its members as they are, and those of our own errors that it lacks. Two are ours: the message, which does not name
 * the operator's account, and the code of an overflow, by which clients shorten the conversation.
 */
function inOurForm(theirs: JsonObject, ours: JsonObject): JsonObject {
  const own = ours.error as JsonObject & { readonly message: string; readonly code: string };
  const vendorError = theirs.error as JsonObject;
  const { message, code } = own;
  const missing = Object.entries(own).filter(([name]) => !Object.hasOwn(vendorError, name));
  const isOverflow = code === coreErrors.context_length_exceeded.about.code;
  const error = { ...vendorError, ...Object.fromEntries(missing), message, ...(isOverflow && { code }) };
  return { ...theirs, ...ours, error };
}

function judgeStatus(
  x: LiveExchange,
  attempt: Attempt,
  answer: Extract<AttemptResult, { kind: 'status' }>,
  vendor: Vendor,
  conveyance: Conveyance,
  clock: Clock,
): Failed {
  const { status, headers, body } = answer;
  const { offer } = attempt;
  const isBusy = status === 429 || status >= 500;
  attempt.retryAfterMs = retryAfter(headers, clock.now(), isBusy ? body : undefined);
  const vendorError = refusalIn(body);
  const words = vendorError === undefined || givesAway(body, offer.channel) ? undefined : vendorError.message;
  const why = `status ${status}`;
  const said = vendorError && { words: quoted(vendorError.message, offer.channel) };
  const theirs = words === undefined || conveyance.foreign ? undefined : errorObjectIn(body);
  if (vendorError !== undefined && isContextOverflow(vendorError) && !NEVER_OVERFLOW.has(status)) {
    const failed = { ...failedWith(attempt, 'refused', why), ...said };
    const field = isObject(theirs?.error) ? text(theirs.error.param) : '';
    const error = overflowError(words ?? 'The prompt is too long for the model.').with(
      field === '' ? {} : { param: field },
    );
    return { ...failed, error, ...(theirs && { theirs: { offer, body: theirs } }), final: true };
  }
  const verdict = vendor.judge?.(status, headers, body);
  const unpaid = verdict === undefined && status < 500 && vendorError !== undefined && isUnpaid(vendorError);
  const next = unpaid || (verdict === undefined ? asksNext(status) : verdict !== 'relay');
  const failure = unpaid
    ? 'credential'
    : verdict === 'busy'
      ? 'busy'
      : verdict === 'relay'
        ? 'refused'
        : failureOf(status, next);
  // Says nothing about the channel's health, but the account of another key or channel may have made the reasoning.
  const ofAccount = failure === 'refused' && vendorError !== undefined && isOfOtherAccount(vendorError);
  const failed = {
    ...failedWith(attempt, failure, unpaid ? `${why} (unpaid)` : why),
    ...said,
    final: !next && !ofAccount,
    ...(ofAccount && { ofAccount }),
  };
  if (unpaid) return failed;
  if (theirs !== undefined && CLIENTS_BUSINESS.has(status)) {
    return { ...failed, error: quotedError(attempt, status, theirs), theirs: { offer, body: theirs } };
  }
  // Both styles have a status for an overloaded vendor, which may differ.
  if (status === 503 || status === 529) {
    return {
      ...failed,
      error: overloadedError(x.style?.name === offer.style ? status : overloadedStatus(x), wished(attempt)),
    };
  }
  if (words === undefined || verdict === 'next' || WORDLESS.has(status) || !CLIENTS_BUSINESS.has(status)) return failed;
  return { ...failed, error: retold(status, words, offer) };
}

/** An attempt whose answer is an error of the vendor, or whose stream fails before a part of it was sent. */
function failedInside(x: LiveExchange, attempt: Attempt, error: VendorError): Failed {
  const words = quoted(error.message, attempt.offer.channel);
  const failed = (failure: FailureKind): Failed => ({
    ...failedWith(attempt, failure, 'an error in a success'),
    words,
  });
  switch (faultOf(error)) {
    case 'overflow':
      return { ...failed('refused'), error: overflowError(words), final: true };
    case 'unpaid':
      return failed('credential');
    case 'limited':
      attempt.retryAfterMs = delayIn(error.message);
      return failed('busy');
    case 'overloaded':
      return { ...failed('busy'), error: overloadedError(overloadedStatus(x)) };
    default:
      return {
        ...failed('broken'),
        error: coreErrors.bad_upstream_response(`The vendor failed: ${withoutAccounts(words)}`),
      };
  }
}

/** The status for an overloaded vendor in the client's style. */
function overloadedStatus({ style }: LiveExchange): number {
  return style?.errors?.overloadedStatus ?? 503;
}

/** A refusal whose message clients of its style can find; undefined if there is none. */
function errorObjectIn(body: Buffer): JsonObject | undefined {
  const value = scanAnswer(body)?.tree();
  return isObject(value) && isObject(value.error) && typeof value.error.message === 'string' ? value : undefined;
}

/** The vendor's refusal as one of our errors, for records and for clients of other styles. */
function quotedError(attempt: Attempt, status: number, { error }: JsonObject): GatewayError {
  const { message, code, param } = error as JsonObject;
  const headers = status === 429 ? retryHeaders(attempt.retryAfterMs ?? USUAL_RETRY_MS) : wished(attempt);
  return new GatewayError(status, text(code), withoutAccounts(String(message)), { param: text(param), headers });
}

function text(value: Json | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The vendor's `retry-after`, if any. */
function wished({ retryAfterMs }: Attempt): Readonly<Record<string, string>> {
  return retryAfterMs === undefined ? {} : retryHeaders(retryAfterMs);
}

/** The error of a vendor of another style, in the client's style. */
function retold(status: number, message: string, offer: Offer): GatewayError {
  const { request_too_large, invalid_request_error } = coreErrors;
  const make = status === 413 ? request_too_large : invalid_request_error;
  return make(withoutAccounts(message)).with({ status, headers: refuser(offer) });
}

/** The refusing vendor, as for an answer. */
function refuser({ channel }: Offer): Readonly<Record<string, string>> {
  return { 'x-turnpike-channel': channel.name };
}

/** Statuses that concern the channel, not the request. */
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

/** The class of a failed attempt with this status. `next`: another channel is tried. */
export function failureOf(status: number, next: boolean): FailureKind {
  if (status === 429 || status === 529) return 'busy';
  if (status === 401 || status === 402 || status === 403) return 'credential';
  return next ? 'status' : 'refused';
}

/** Records why the attempt failed, and returns the error for the client if it is the last attempt. */
function failedWith(attempt: Attempt, failure: FailureKind, reason: string | undefined): Failed {
  attempt.failure = failure;
  attempt.reason = reason;
  return { error: errorOf(failure, attempt), final: false };
}

/** The message for the client if the vendor's own message is not shown. */
export function errorOf(failure: FailureKind, attempt: Attempt): GatewayError {
  switch (failure) {
    case 'connect':
      return coreErrors.upstream_unreachable();
    case 'timeout':
      return coreErrors.upstream_timeout();
    case 'broken':
      return coreErrors.bad_upstream_response();
    case 'busy':
      return coreErrors
        .rate_limit_exceeded('The vendor is at its limit. Try again later.')
        .with({ headers: retryHeaders(attempt.retryAfterMs ?? USUAL_RETRY_MS) });
    case 'refused':
      return coreErrors.invalid_request_error(`The vendor refused the request (status ${attempt.status}).`).with({
        status: CLIENTS_BUSINESS.has(attempt.status ?? 0) ? attempt.status! : 400,
        headers: refuser(attempt.offer),
      });
    case 'credential':
      return coreErrors.upstream_error(OPERATORS).with({ headers: { 'x-should-retry': 'false' } });
    case 'status':
      return coreErrors.upstream_error();
  }
}

/** Clients would retry for minutes, and show words of the vendor that are meant for its customer. */
const OPERATORS =
  "The gateway's account at the vendor cannot be used. Trying again does not help. Tell the administrator of the gateway.";

/** The path below the channel's url. */
export function pathOf({ x, offer, dialect }: Parties): string {
  const path = typeof dialect.path === 'string' ? dialect.path : dialect.path(x.call, offer, x);
  return x.call.operation === undefined ? path : path + x.call.operation;
}

/** The upstream request. */
function toUpstream(
  parties: Parties,
  attempt: Attempt,
  body: Conveyance['body'],
  proxies: OutgoingProxies,
): UpstreamRequest {
  const { x, offer, clientStyle, vendorStyle, dialect } = parties;
  const { call } = x;
  const { channel } = offer;
  const { origin, path, proxy } = addressOf(channel, urlOf(channel, offer.model) + pathOf(parties), proxies);
  const headers: Record<string, string> = {
    'content-type': Buffer.isBuffer(body) ? 'application/json' : body.contentType,
    accept: call.stream ? acceptOf(dialect.frames) : call.answers === undefined ? 'application/json' : '*/*',
    // Compressed answers cannot be metered.
    'accept-encoding': 'identity',
    'user-agent': 'turnpike',
    ...dialect.headers(channel, call, clientStyle === vendorStyle ? x : undefined, offer.quirks),
  };
  if (x.upstreamHeaders !== undefined) addHeaders(headers, x.upstreamHeaders(attempt));
  addHeaders(headers, channel.headers);
  return { origin, path, headers, body, proxy, connectMs: channel.timeout.connectMs };
}

/** The same with the vendor's signature; the error if that failed. */
function signed(
  request: UpstreamRequest,
  vendor: Vendor,
  { x, offer: { channel } }: Parties,
  { clock }: DeliverTools,
  refused = false,
): Promise<UpstreamRequest | Error> {
  const url = new URL(request.origin + request.path);
  const { method = 'POST', headers, body } = request;
  return signedHeaders(vendor, channel, { method, url, headers, body }, { clock, signal: x.signal }, refused).then(
    (all) => ({ ...request, headers: all }),
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
}

/** The failure of an attempt that could not be signed. */
export function unsigned(error: Error, channel: Channel): string {
  return `the request could not be signed: ${quoted(error.message, channel)}`;
}

/** A parsed upstream URL. */
interface Address {
  readonly url: string;
  readonly origin: string;
  readonly path: string;
  readonly proxy: OutgoingProxy | undefined;
}
/** The last URL of each channel: parsing is too expensive for every call, and URLs rarely change. */
const lastAddresses = new WeakMap<Channel, Address>();

function addressOf(channel: Channel, url: string, proxies: OutgoingProxies): Address {
  let address = lastAddresses.get(channel);
  if (address?.url !== url) {
    const whole = new URL(url);
    addQuery(whole, channel);
    const proxy = proxies.for(whole, channel.proxy);
    address = { url, origin: whole.origin, path: whole.pathname + whole.search, proxy };
    lastAddresses.set(channel, address);
  }
  return address;
}
