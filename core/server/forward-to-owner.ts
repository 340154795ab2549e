/**
 * Requests for routes in a worker: the owner answers them, as if they had arrived there. A header that a worker adds
 * first contains the client's address and HTTP version.
 */

import { Agent, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { coreErrors } from '../contracts/errors.ts';
import type { Head } from '../http/request-head.ts';
import { ClientLeft, type SentHeaders } from '../http/responses.ts';
import { CORE_PATHS } from '../http/router.ts';
import { answerUnread, isRead } from '../incoming/read-body.ts';
import type { Clock } from '../runtime/clock.ts';

const HOP = 'x-turnpike-hop';
/** The size of that header, which adds to the owner's limits for client headers. */
export const HOP_ROOM = { bytes: 1_024, headers: 4 } as const;

/** Headers about the client's connection, renamed: they mean nothing for the connection between the two processes. */
const OF_CONNECTION: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'proxy-connection', 'upgrade']);
const RENAMED = `${HOP}-`;
/** Headers that every server adds to its answers itself. */
const OF_SERVER: ReadonlySet<string> = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding']);

/** Shorter than the owner's keep-alive, so that it closes no connection while it is being used. */
const IDLE_MS = 4_000;

/** Routes that a worker answers itself. */
const OWN: ReadonlySet<string> = new Set(Object.values(CORE_PATHS));

/** Forwards requests for routes to the owner. */
export interface Forward {
  /** Resolves when the client has its answer; rejects with its error. Undefined for routes that a worker answers. */
  route(request: IncomingMessage, response: ServerResponse, head: Head): Promise<void> | undefined;
  close(): void;
}

/** Creates it for the worker of an owner that listens at `socketPath`. */
export function createForward(socketPath: string, clock: Clock): Forward {
  const agent = new Agent({ keepAlive: true, scheduling: 'lifo', timeout: IDLE_MS });

  function pass(request: IncomingMessage, response: ServerResponse, { hasBody }: Head): Promise<void> {
    return new Promise((resolve, reject) => {
      const { method, url } = request;
      const sent = ask({ socketPath, agent, method, path: url, headers: wrap(request) });
      let answered = false;
      // Once there is an answer, or the client has disconnected, that decides what happens to the request.
      sent.on('error', (error) => {
        if (answered) return;
        if (response.destroyed) reject(new ClientLeft('the client left', { cause: error }));
        else reject(coreErrors.shutting_down('The gateway is not responding right now.'));
      });
      sent.on('continue', () => response.writeContinue());
      sent.on('response', (answer) => {
        answered = true;
        request.unpipe(sent);
        giveBack(answer, request, response, clock).then(resolve, () => {
          response.destroy();
          resolve();
        });
      });
      response.on('close', () => {
        if (!response.writableFinished) sent.destroy();
      });
      // The owner may refuse the body, or send `100 Continue`.
      if (hasBody) sent.flushHeaders();
      request.pipe(sent);
    });
  }

  return {
    route: (request, response, head) => (OWN.has(head.path) ? undefined : pass(request, response, head)),
    close: () => agent.destroy(),
  };
}

/** The worker's header, then the client's. */
function wrap({ rawHeaders, httpVersion, socket }: IncomingMessage): string[] {
  const headers = [HOP, `${httpVersion} ${socket.remoteAddress ?? ''}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    headers.push(OF_CONNECTION.has(name.toLowerCase()) ? `${RENAMED}${name}` : name, rawHeaders[i + 1]!);
  }
  return headers;
}

/** Removes the worker's header from a request. Returns the client's address. */
export function unwrap(request: IncomingMessage): string {
  const [first, value = '', ...rawHeaders] = request.rawHeaders;
  if (first !== HOP) throw coreErrors.bad_request('Only workers of this gateway may connect here.');
  request.rawHeaders = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const renamed = name.startsWith(RENAMED) ? name.slice(RENAMED.length) : undefined;
    if (OF_CONNECTION.has(name.toLowerCase())) continue;
    const isBack = renamed !== undefined && OF_CONNECTION.has(renamed.toLowerCase());
    request.rawHeaders.push(isBack ? renamed : name, rawHeaders[i + 1]!);
  }
  const space = value.indexOf(' ');
  request.httpVersion = value.slice(0, space);
  return value.slice(space + 1);
}

async function giveBack(
  answer: IncomingMessage,
  request: IncomingMessage,
  response: ServerResponse,
  clock: Clock,
): Promise<void> {
  const { statusCode: status = 0, rawHeaders } = answer;
  const headers: SentHeaders = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (!OF_SERVER.has(rawHeaders[i]!.toLowerCase())) headers.push(rawHeaders[i]!, rawHeaders[i + 1]!);
  }
  // Headers set for an answer of this process are in the owner's, too.
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  if (!isRead(request)) {
    answerUnread(request, response, { status, headers, body: await buffer(answer) }, clock.after);
    return;
  }
  // The owner has not read the whole request, and will not serve another one on that connection.
  if (answer.headers.connection === 'close') headers.push('connection', 'close');
  response.writeHead(status, headers);
  await new Promise<void>((resolve, reject) => {
    answer.on('error', reject);
    response.on('close', resolve);
    response.on('finish', resolve);
    answer.pipe(response);
  });
}
