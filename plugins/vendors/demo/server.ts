/** The demo vendor's server: an upstream on the loopback address, in this process. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import type { Clock, Json, JsonObject } from '../../../core/plugin.ts';
import { answerSpeech, answerTranscription, answerTranslation } from './audio-endpoint.ts';
import { complete } from './chat.ts';
import { answerEmbeddings } from './embeddings-endpoint.ts';
import type { Answerer, DemoAnswer, DemoRequest } from './endpoint.ts';
import { readForm } from './form.ts';
import { answerEdits, answerImages } from './images-endpoint.ts';
import { chatBody, chatEvents } from './wire.ts';

/** Answers with the demo model's reply, streamed or not. */
const answerChat: Answerer = ({ body }, { id, created }) => {
  const head = { id: `chatcmpl-${id}`, created, model: String(body.model) };
  const completion = complete(body);
  if (body.stream === true) {
    const events = chatEvents(head, completion, asksUsage(body));
    return { status: 200, type: 'text/event-stream; charset=utf-8', body: events };
  }
  return { status: 200, type: 'application/json', body: JSON.stringify(chatBody(head, completion)) };
};

function asksUsage(body: JsonObject): boolean {
  return (body.stream_options as JsonObject | null | undefined)?.include_usage === true;
}

/** Endpoints by path. */
const ANSWERERS: Readonly<Record<string, Answerer>> = {
  '/v1/chat/completions': answerChat,
  '/v1/embeddings': answerEmbeddings,
  '/v1/images/generations': answerImages,
  '/v1/images/edits': answerEdits,
  '/v1/audio/speech': answerSpeech,
  '/v1/audio/transcriptions': answerTranscription,
  '/v1/audio/translations': answerTranslation,
};

/** Creates the server; it listens between `start` and `stop`. */
export function createDemoServer(clock: Clock) {
  let server: Server | undefined;
  let answers = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answerer = ANSWERERS[request.url ?? ''];
    if (request.method !== 'POST' || answerer === undefined) {
      await send(response, failure(404, `There is nothing at ${request.method} ${request.url}.`));
      return;
    }
    const query = await readRequest(request);
    if (query === undefined) {
      await send(response, failure(400, 'The body must be a JSON object, or a form.'));
      return;
    }
    await send(response, await answerer(query, { id: `demo-${++answers}`, created: Math.floor(clock.now() / 1_000) }));
  }

  return {
    /** Listens on a free port. */
    async start(): Promise<void> {
      const opened = createServer((request, response) => {
        // The gateway has disconnected, so no reply can be sent.
        answer(request, response).catch(() => response.destroy());
      });
      await new Promise<void>((resolve, reject) => {
        opened.once('error', reject);
        // With several worker processes, each has its own server.
        opened.listen({ port: 0, host: '127.0.0.1', exclusive: true }, resolve);
      });
      server = opened;
    },
    async stop(): Promise<void> {
      const closing = server;
      if (closing === undefined) return;
      server = undefined;
      await new Promise((resolve) => {
        closing.close(resolve);
        closing.closeAllConnections();
      });
    },
    /** `http://127.0.0.1:PORT/v1`; empty before `start`. */
    url: (): string => (server === undefined ? '' : `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`),
  };
}

/** A JSON object, or a multipart body; undefined for anything else. */
async function readRequest(request: IncomingMessage): Promise<DemoRequest | undefined> {
  try {
    const type = request.headers['content-type'] ?? '';
    if (type.startsWith('multipart/form-data')) return await readForm(request, type);
    const length = Number(request.headers['content-length']);
    const body = await (length > LARGE ? oneByOne(() => readJson(request, length)) : readJson(request, length));
    return isObject(body) ? { body, files: [] } : undefined;
  } catch {
    return undefined;
  }
}

/** Requests of at least this many bytes wait for each other, because this server shares its memory with the gateway. */
const LARGE = 1_024 * 1_024;
let reading: Promise<unknown> = Promise.resolve();

function oneByOne<T>(read: () => Promise<T>): Promise<T> {
  const mine = reading.then(read);
  reading = mine.catch(() => {});
  return mine;
}

async function readJson(request: IncomingMessage, length: number): Promise<Json> {
  const text = await textOf(request, length);
  // Other tasks of this process get a turn between large chunks.
  await setImmediate();
  return JSON.parse(text) as Json;
}

/** The gateway always sends `content-length`. */
async function textOf(request: IncomingMessage, length: number): Promise<string> {
  const bytes = Buffer.allocUnsafeSlow(length);
  let size = 0;
  for await (const chunk of request) {
    bytes.set(chunk as Buffer, size);
    size += (chunk as Buffer).length;
  }
  await setImmediate();
  return bytes.toString();
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sends the pieces one by one, like a vendor that generates word after word. */
async function send(response: ServerResponse, { status, type, body }: DemoAnswer): Promise<void> {
  response.writeHead(status, { 'content-type': type });
  if (typeof body === 'string') response.end(body);
  else await pipeline(inTurns(body), response);
}

/** Images and vectors take a while; other tasks of this process get a turn between two of them. */
async function* inTurns<T>(pieces: Iterable<T>): AsyncGenerator<T> {
  for (const piece of pieces) {
    yield piece;
    await setImmediate();
  }
}

function failure(status: number, message: string): DemoAnswer {
  const error = { message, type: 'invalid_request_error', param: '', code: 'invalid_request_error' };
  return { status, type: 'application/json', body: JSON.stringify({ error }) };
}
