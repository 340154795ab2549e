/**
 * Requests for routes that come to a worker: the owner answers them, and they look there as if they had come to it. A header that a worker
 * puts before those of the client says where the client is and which HTTP it speaks.
 */
import { Agent, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { SentHeaders } from '../answers.ts';
import { CORE_PATHS } from '../assembly.ts';
import { answerUnread, isRead } from '../body.ts';
import type { Clock } from '../clock.ts';
import { coreErrors } from '../contracts/errors.ts';
import type { GatewayError } from '../errors.ts';
import { ClientLeft } from '../exchange.ts';
import type { Head } from '../head.ts';

const HOP = 'x-turnpike-hop';
/** What all that may take of the owner's limits, beside what clients may send. */
export const HOP_ROOM = { bytes: 1_024, headers: 4 } as const;

/** They are about the client's connection, and go under another name: to the one between the two processes they mean nothing. */
const OF_CONNECTION: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'proxy-connection', 'upgrade']);
const RENAMED = `${HOP}-`;
/** What every server says by itself of its answers. */
const OF_SERVER: ReadonlySet<string> = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding']);

/** Shorter than the owner keeps a connection, so that it closes none as it is used. */
const IDLE_MS = 4_000;

/** What a worker answers by itself. */
const OWN: ReadonlySet<string> = new Set(Object.values(CORE_PATHS));

/** Has the owner answer requests for routes. */
export interface Forward {
  /**
   * Resolves when the client has its answer, or a connection that broke off; rejects with what it is to be told. Undefined for what a
   * worker answers by itself.
   */
  route(request: IncomingMessage, response: ServerResponse, head: Head): Promise<void> | undefined;
  close(): void;
}

/** Makes it for the worker of an owner that listens at `socketPath`. */
export function createForward(socketPath: string, clock: Clock): Forward {
  const agent = new Agent({ keepAlive: true, scheduling: 'lifo', timeout: IDLE_MS });

  function pass(request: IncomingMessage, response: ServerResponse, { hasBody }: Head): Promise<void> {
    return new Promise((resolve, reject) => {
      const { method, url } = request;
      const sent = ask({ socketPath, agent, method, path: url, headers: wrap(request) });
      let answered = false;
      // Once there is an answer, or nobody who waits for one, what becomes of the request is told by that.
      sent.on('error', (error) => {
        if (!answered) reject(response.destroyed ? new ClientLeft('the client left', { cause: error }) : unreachable());
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
      // The owner may refuse what it is not to read, or say that it may come.
      if (hasBody) sent.flushHeaders();
      request.pipe(sent);
    });
  }

  return {
    route: (request, response, head) => (OWN.has(head.path) ? undefined : pass(request, response, head)),
    close: () => agent.destroy(),
  };
}

/** The client's headers behind the one of the worker. */
function wrap({ rawHeaders, httpVersion, socket }: IncomingMessage): string[] {
  const headers = [HOP, `${httpVersion} ${socket.remoteAddress ?? ''}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    headers.push(OF_CONNECTION.has(name.toLowerCase()) ? `${RENAMED}${name}` : name, rawHeaders[i + 1]!);
  }
  return headers;
}

/** Takes what is the worker's out of a request, which then is the client's again. Returns the address at the other end of its connection. */
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
  // What was set for an answer of our own stands in the owner's, too.
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  if (!isRead(request)) {
    answerUnread(request, response, { status, headers, body: await buffer(answer) }, clock.after);
    return;
  }
  // The owner has not read the request to its end, and does not serve another one on that connection.
  if (answer.headers.connection === 'close') headers.push('connection', 'close');
  response.writeHead(status, headers);
  await new Promise<void>((resolve, reject) => {
    answer.on('error', reject);
    response.on('close', resolve);
    response.on('finish', resolve);
    answer.pipe(response);
  });
}

function unreachable(): GatewayError {
  return coreErrors.shutting_down('The gateway is not answering at the moment.');
}
