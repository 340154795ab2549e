/** An error inside a stream of chat chunks. */
import { errorObject, type GatewayError } from '../../../core/plugin.ts';

/** One whole event. No `[DONE]` follows, so that a client does not take the truncated answer for a complete one. */
export function errorEvent(error: GatewayError): string {
  return `data: ${JSON.stringify(errorObject(error))}\n\n`;
}
