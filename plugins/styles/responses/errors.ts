/** Errors of this style: decodes those of vendors in replies and streams, and encodes our own as events. */
import type { GatewayError, Json, JsonObject } from '../../../core/plugin.ts';
import { member, objectsIn, readVendorError, type VendorError, vendorError } from '../../../core/translation/index.ts';

/** The error of a whole reply, or of the response in an event; undefined if it did not fail. */
export function failureOf(response: Json | undefined): VendorError | undefined {
  const error = member(response, 'error');
  if (error) return readVendorError(error);
  const status = member(response, 'status');
  if (status === 'cancelled') return vendorError('The vendor cancelled the answer.', status);
  return status === 'failed' ? vendorError(member(response, 'message'), status) : undefined;
}

/** One whole event. Its type is in the `event` line and in the data: clients differ in which they read. */
export function eventText(type: string, sequence: number, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...fields })}\n\n`;
}

/** A delta of a text, as nearly all events are. `place`: the members that identify the text, as JSON without braces. */
export function deltaText(
  type: string,
  sequence: number,
  place: string,
  delta: string,
  logprobs?: readonly Json[],
): string {
  const more = logprobs === undefined ? '' : `,"logprobs":${JSON.stringify(logprobs)}`;
  return `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence},${place},"delta":${JSON.stringify(delta)}${more}}\n\n`;
}

/** An error before the start of a response. */
export function errorEvent(error: GatewayError, sequence = 0): string {
  return eventText('error', sequence, { code: error.code, message: error.message, param: error.param || null });
}

/**
 * The end of a response that had started. The codes are those that clients of this style know. Items that are not
 * complete are left out: clients would parse the arguments of a call that has none yet.
 */
export function failedEvent(response: JsonObject, error: GatewayError, sequence: number): string {
  const code =
    error.code === 'context_length_exceeded'
      ? error.code
      : error.status === 429
        ? 'rate_limit_exceeded'
        : 'server_error';
  const output = objectsIn(response, 'output').filter(({ status }) => status !== 'in_progress');
  return eventText('response.failed', sequence, {
    response: { ...response, output, status: 'failed', error: { code, message: error.message } },
  });
}
