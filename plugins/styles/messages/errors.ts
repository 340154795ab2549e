/** Events and errors of this style: encodes those for clients, and decodes errors of vendors. */
import { errorObject, type GatewayError, type Json, type JsonObject } from '../../../core/plugin.ts';
import {
  isObject,
  member,
  overflowTokens,
  readVendorError,
  type VendorError,
  vendorError,
} from '../../../core/translation/index.ts';

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** The error object of all styles, with the members that clients of this style need. */
export function errorBody(error: GatewayError, requestId: string): JsonObject {
  const type = TYPES[error.status] ?? (error.status < 500 ? 'invalid_request_error' : 'api_error');
  const details = detailsOf(error);
  const message = error.code === 'context_length_exceeded' ? tooLong(error.message) : error.message;
  return {
    type: 'error',
    error: { ...errorObject(error).error, message, type, ...(details && { details }) },
    request_id: requestId,
  };
}

/** What clients act on without reading the message: on the second, they send the whole conversation and no `thread`. */
function detailsOf({ code, param }: GatewayError): JsonObject | undefined {
  if (code.startsWith('QUOTA_')) return { error_code: code };
  if (code === 'unsupported_parameter' && param === 'thread') {
    return { error_code: 'thread_unsupported_request', unsupported: ['thread'] };
  }
}

/** The wording by which clients recognize a context overflow; the second covers prompt and answer together. */
const TOO_LONG = /prompt is too long|exceed context limit: \d+ \+ \d+ > \d+/i;

/** A context overflow in another vendor's wording. */
function tooLong(message: string): string {
  if (TOO_LONG.test(message)) return message;
  const tokens = overflowTokens(message);
  const what = tokens === undefined ? message : `${tokens.prompt} tokens > ${tokens.most} maximum`;
  return `prompt is too long: ${what}`;
}

/** The same as an event; no `message_stop` follows, so that a client does not mistake the truncated answer for a complete one. */
export function errorEvent(error: GatewayError, requestId: string): string {
  return event('error', errorBody(error, requestId));
}

/** A vendor's error in a reply or an event; undefined if there is none. */
export function errorIn(value: Json | undefined): VendorError | undefined {
  if (!isObject(value)) return undefined;
  const { error } = value;
  if (!isObject(error)) return value.type === 'error' ? readVendorError(error) : undefined;
  const { message, code, type, details } = error;
  return vendorError(
    message,
    [member(details, 'error_code'), code, type].find((word) => typeof word === 'string' && word !== ''),
  );
}

/** The whole event. Clients of this style ignore events without an `event` line. */
export function event(type: string, data: JsonObject = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
