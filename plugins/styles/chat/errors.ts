/** An error inside a stream of chat chunks. */
import { errorObject, type GatewayError } from '../../../core/plugin.ts';

/** One whole event; there is no `[DONE]` behind it, so that nobody takes a part for the whole. */
export function errorEvent(error: GatewayError): string {
  return `data: ${JSON.stringify(errorObject(error))}\n\n`;
}
