/** An error inside a stream of chat chunks. */
import { errorObject, type GatewayError, type JsonObject } from '../../../core/plugin.ts';

/** The error object as it stands in a stream: clients know a failure there by the type that its first vendor has for it. */
export function streamedError(error: GatewayError): JsonObject {
  const told = errorObject(error).error;
  return { error: { ...told, type: error.status >= 500 ? 'server_error' : told.type } };
}

/** One whole event; there is no `[DONE]` behind it, so that nobody takes a part for the whole. */
export function errorEvent(error: GatewayError): string {
  return `data: ${JSON.stringify(streamedError(error))}\n\n`;
}
