/** A client of the gateway: sends one request, and waits for the whole answer with its trailers, with a timeout. */
import { Agent, request } from 'node:http';
import type { JsonObject } from '../../core/contracts/formats/json.ts';
import type { VendorStyle } from './folder.ts';

/** The client styles. */
export type ClientStyle = Exclude<VendorStyle, 'gemini'>;
export const CLIENT_STYLES: readonly ClientStyle[] = ['chat', 'responses', 'messages'];

/** The answer. */
export interface Got {
  readonly status: number;
  readonly body: Buffer;
  readonly text: string;
  /** The request id. */
  readonly id: string;
  /** `top_k:dropped`, from the header and from the trailer. */
  readonly warnings: readonly string[];
  readonly contentType: string;
  /** False if the connection was closed early. */
  readonly whole: boolean;
}

export interface Client {
  /** Rejects if no answer starts, or does not end in time. */
  ask(style: ClientStyle, body: JsonObject): Promise<Got>;
  close(): void;
}

const PATHS: Readonly<Record<ClientStyle, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
};
const TRANSLATION = 'x-turnpike-translation';

/** A client with a key. `patienceMs`: the timeout. */
export function createClient(port: number, key: string, patienceMs = 20_000): Client {
  const agent = new Agent({ keepAlive: true });
  return {
    ask(style, body) {
      const bytes = Buffer.from(JSON.stringify(body));
      return new Promise((resolve, reject) => {
        const clientRequest = request(
          {
            agent,
            host: '127.0.0.1',
            port,
            method: 'POST',
            path: PATHS[style],
            headers: {
              authorization: `Bearer ${key}`,
              'content-type': 'application/json',
              'content-length': bytes.length,
              ...(style === 'messages' && { 'anthropic-version': '2023-06-01' }),
            },
          },
          (response) => {
            const pieces: Buffer[] = [];
            const finish = (whole: boolean): void => {
              clearTimeout(patience);
              const all = Buffer.concat(pieces);
              const warnings = [response.headers[TRANSLATION], response.trailers[TRANSLATION]].flat();
              resolve({
                status: response.statusCode ?? 0,
                body: all,
                text: all.toString(),
                id: String(response.headers['x-request-id'] ?? ''),
                warnings: [...new Set(warnings.flatMap((value) => value?.split(/, ?/) ?? []))],
                contentType: String(response.headers['content-type'] ?? ''),
                whole,
              });
            };
            response.on('data', (piece: Buffer) => pieces.push(piece));
            response.on('error', () => finish(false));
            response.on('end', () => finish(true));
          },
        );
        const patience = setTimeout(() => {
          reject(new Error(`no end after ${patienceMs} ms`));
          clientRequest.destroy();
        }, patienceMs);
        clientRequest.on('error', (error) => {
          clearTimeout(patience);
          reject(error);
        });
        clientRequest.end(bytes);
      });
    },
    close: () => agent.destroy(),
  };
}
