/** Errors of this style: as vendors put them into answers and streams, and as events of our own. */
import type { GatewayError, Json, JsonObject } from '../../../core/plugin.ts';
import type { VendorError } from '../../../core/translation/index.ts';
import { member, readVendorError, vendorError } from '../../../core/translation/index.ts';

/** The error of a whole answer, or of the response that an event carries; undefined where it did not fail. */
export function failureOf(response: Json | undefined): VendorError | undefined {
  const error = member(response, 'error');
  if (error) return readVendorError(error);
  const status = member(response, 'status');
  if (status === 'cancelled') return vendorError('The vendor cancelled the answer.', status);
  return status === 'failed' ? vendorError(member(response, 'message'), status) : undefined;
}

/** One whole event. The name stands in a line of its own, and once more in the data: clients differ in which they read. */
export function eventText(type: string, sequence: number, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...fields })}\n\n`;
}

/**
 * One more piece of a text; nearly all events are such. `place`: the members that tell which text grows, as JSON without the
 * braces around it.
 */
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

/** An error where no response has begun. */
export function errorEvent(error: GatewayError, sequence = 0): string {
  return eventText('error', sequence, { code: error.code, message: error.message, param: error.param || null });
}

/** The end of a response that had begun. The codes are those that clients of this style know. */
export function failedEvent(response: JsonObject, error: GatewayError, sequence: number): string {
  const code =
    error.code === 'context_length_exceeded'
      ? error.code
      : error.status === 429
        ? 'rate_limit_exceeded'
        : 'server_error';
  return eventText('response.failed', sequence, {
    response: { ...response, status: 'failed', error: { code, message: error.message } },
  });
}
