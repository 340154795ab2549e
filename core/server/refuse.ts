/** Refuses requests: the error in the form of the client, whether its body was read or not. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayError } from '../contracts/gateway-error.ts';
import { answerHeaders, ClientLeft, type ErrorFormat, errorBody, send, toGatewayError } from '../http/responses.ts';
import { answerUnread, isRead } from '../incoming/read-body.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/logger.ts';
import { originOf } from '../runtime/unexpected.ts';

/** The error for the client; internal details are in the log, under the same id. */
export function clientError(error: unknown, id: string, log: Log): GatewayError {
  const refusal = toGatewayError(error);
  if (refusal.status === 500 && !(error instanceof ClientLeft))
    log.error('a request failed', { ...originOf(error), request: id, error });
  // The client can only retry; the operator can make room.
  if (refusal.code === 'spool_unavailable') log.error('an upload could not be stored', { request: id, error });
  return refusal;
}

/** Answers with an error, unless an answer has begun: then the connection is closed. */
export function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  error: GatewayError,
  style: ErrorFormat | undefined,
  id: string,
  after: Clock['after'],
  extra: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  // Every 401 says how to authenticate (RFC 9110, 11.6.1).
  const how = error.status === 401 ? { 'www-authenticate': 'Bearer' } : {};
  const headers = answerHeaders(id, { ...extra, ...how, ...error.headers }, { 'content-type': 'application/json' });
  const body = errorBody(error, style, id);
  if (isRead(request)) send(response, error.status, headers, body);
  else answerUnread(request, response, { status: error.status, headers, body }, after);
}
