/** The demo vendor's own server: an upstream on the loopback address, like any other but that it lives in this process. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock, Json, JsonObject } from '../../../core/plugin.ts';
import { complete } from './chat.ts';
import { chatBody, chatEvents } from './wire.ts';

/** A server that is opened and closed with the gateway. */
export interface DemoServer {
  /** Takes a free port. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** `http://127.0.0.1:PORT/v1`; empty before `start`. */
  url(): string;
}

/** Makes it; it listens between `start` and `stop`. */
export function createDemoServer(clock: Clock): DemoServer {
  let server: Server | undefined;
  let answers = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
      send(response, 404, failure(`There is nothing at ${request.method} ${request.url}.`));
      return;
    }
    const body = await readObject(request);
    if (body === undefined) {
      send(response, 400, failure('The body must be a JSON object.'));
      return;
    }
    const head = {
      id: `chatcmpl-demo-${++answers}`,
      created: Math.floor(clock.now() / 1_000),
      model: String(body.model),
    };
    const completion = complete(body);
    if (body.stream === true) stream(response, chatEvents(head, completion, asksUsage(body)));
    else send(response, 200, chatBody(head, completion));
  }

  return {
    async start() {
      const opened = createServer((request, response) => {
        // Whoever leaves before the answer gets none; there is nobody to tell.
        answer(request, response).catch(() => response.destroy());
      });
      await new Promise<void>((resolve, reject) => {
        opened.once('error', reject);
        opened.listen(0, '127.0.0.1', resolve);
      });
      server = opened;
    },
    async stop() {
      const closing = server;
      if (closing === undefined) return;
      server = undefined;
      await new Promise((resolve) => {
        closing.close(resolve);
        closing.closeAllConnections();
      });
    },
    url: () => (server === undefined ? '' : `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`),
  };
}

async function readObject(request: IncomingMessage): Promise<JsonObject | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Json;
    return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

function asksUsage(body: JsonObject): boolean {
  return (body.stream_options as JsonObject | null | undefined)?.include_usage === true;
}

function send(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** One write per event, as a vendor does who makes one word after the other. */
function stream(response: ServerResponse, events: Iterable<string>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  for (const event of events) response.write(event);
  response.end();
}

function failure(message: string): Json {
  return { error: { message, type: 'invalid_request_error', param: '', code: 'invalid_request_error' } };
}
