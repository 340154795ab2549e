/** What the outcome of an attempt means: for its channel, for the next one, and in the words of the client's style. */

import { isObject } from '../bytes/fields.ts';
import { scanAnswer } from '../bytes/json-body.ts';
import type { LiveExchange } from '../call/live-exchange.ts';
import { coreErrors } from '../contracts/errors.ts';
import type { Attempt, FailureKind, Offer } from '../contracts/formats/call.ts';
import type { Json, JsonObject } from '../contracts/formats/json.ts';
import type { Vendor } from '../contracts/formats/vendor.ts';
import { GatewayError } from '../contracts/gateway-error.ts';
import { toGatewayError } from '../http/responses.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/logger.ts';
import { originOf } from '../runtime/unexpected.ts';
import { refusedField } from '../translation/quirks/refused-fields.ts';
import { withoutRequest } from '../translation/quotes.ts';
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
} from '../translation/vendor-errors.ts';
import { type AttemptResult, givesAway, quoted } from './attempt.ts';
import type { Conveyance } from './attempt-codec.ts';
import type { Parties, WholeAnswer } from './parties.ts';
import { delayIn, retryAfter, retryHeaders } from './retry-after.ts';

/** Vendor errors that the client can act on: they are sent to the client with the vendor's message. */
const CLIENTS_BUSINESS: ReadonlySet<number> = new Set([400, 404, 409, 413, 415, 422, 429, 503, 529]);
/** A vendor of another style uses these for its own limits; the message is meant for the operator. */
const WORDLESS: ReadonlySet<number> = new Set([429, 503, 529]);
/** A refusal about the key, the limits or the address is never taken for a context overflow. */
const NEVER_OVERFLOW: ReadonlySet<number> = new Set([401, 402, 403, 404, 429]);
/** `retry-after` for a client if a rate-limited vendor sends none. */
const USUAL_RETRY_MS = 1_000;

/** The failure of one target. */
export interface Failed {
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

/** An attempt without an answer of which the client could get anything. */
export type Unanswered = Extract<AttemptResult, { kind: 'status' | 'failed' }>;

/** The failure of an attempt that had no answer. */
export function judge(
  x: LiveExchange,
  attempt: Attempt,
  result: Unanswered,
  vendor: Vendor,
  conveyance: Conveyance,
  clock: Clock,
): Failed {
  if (result.kind === 'status') return judgeStatus(x, attempt, result, vendor, conveyance, clock);
  if (result.error !== undefined) return failedInside(x, attempt, result.error);
  return failedWith(attempt, result.failure, result.reason);
}

/** The failure of an attempt whose answer was read; undefined if there is none. */
export function judgeAnswer(x: LiveExchange, attempt: Attempt, answer: WholeAnswer | undefined): Failed | undefined {
  if (answer === undefined) return failedWith(attempt, 'broken', 'the answer does not have the requested format');
  if (answer.error === undefined) return undefined;
  if (!answer.error.refused) return failedInside(x, attempt, answer.error);
  const words = quoted(answer.error.message, attempt.offer.channel);
  const failed = failedWith(attempt, 'refused', undefined);
  return { ...failed, words, error: retold(400, words, attempt.offer), final: true };
}

/** The plugin of a vendor, or of a style, has failed to make the request: a mistake in its code, which another channel may not have. */
export async function failedInVendor(
  { x, offer }: Parties,
  attempt: Attempt,
  error: unknown,
  log: Log,
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
export function unwanted(
  { clientStyle, vendorStyle, offer }: Parties,
  result: AttemptResult,
  { body }: Conveyance,
): string | undefined {
  if (result.kind !== 'status' || !Buffer.isBuffer(body)) return undefined;
  const isRefused = result.status === 400 || result.status === 422;
  return isRefused ? refusedField(result.body, body, offer, clientStyle === vendorStyle) : undefined;
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
export function failedWith(attempt: Attempt, failure: FailureKind, reason: string | undefined): Failed {
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

/**
 * A vendor's refusal with all its members as they are, and those of our own errors that it lacks. Two are ours: the message, which does not name
 * the operator's account, and the code of an overflow, by which clients shorten the conversation.
 */
export function inOurForm(theirs: JsonObject, ours: JsonObject): JsonObject {
  const own = ours.error as JsonObject & { readonly message: string; readonly code: string };
  const vendorError = theirs.error as JsonObject;
  const { message, code } = own;
  const missing = Object.entries(own).filter(([name]) => !Object.hasOwn(vendorError, name));
  const isOverflow = code === coreErrors.context_length_exceeded.about.code;
  const error = { ...vendorError, ...Object.fromEntries(missing), message, ...(isOverflow && { code }) };
  return { ...theirs, ...ours, error };
}
