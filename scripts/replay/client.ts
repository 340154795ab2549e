/** A client of the gateway: sends one request, and waits for the whole answer with its trailers, but not for ever. */
import { Agent, request } from 'node:http';
import type { JsonObject } from '../../core/contracts/json.ts';
import type { VendorStyle } from './folder.ts';

/** The styles in which clients ask. */
export type ClientStyle = Exclude<VendorStyle, 'gemini'>;
export const CLIENT_STYLES: readonly ClientStyle[] = ['chat', 'responses', 'messages'];

/** What a client got. */
export interface Got {
  readonly status: number;
  readonly body: Buffer;
  readonly text: string;
  /** The exchange's id. */
  readonly id: string;
  /** `top_k:dropped`, from the header and from the trailer. */
  readonly losses: readonly string[];
  readonly contentType: string;
  /** False where the connection broke before the end. */
  readonly whole: boolean;
}

export interface Client {
  /** Fails where no answer begins, or where nothing ends in time. */
  ask(style: ClientStyle, body: JsonObject): Promise<Got>;
  close(): void;
}

const PATHS: Readonly<Record<ClientStyle, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
};
const TRANSLATION = 'x-turnpike-translation';

/** A client with a key. `patienceMs`: nothing takes longer on this machine; whoever does hangs. */
export function createClient(port: number, key: string, patienceMs = 20_000): Client {
  const agent = new Agent({ keepAlive: true });
  return {
    ask(style, body) {
      const bytes = Buffer.from(JSON.stringify(body));
      return new Promise((resolve, reject) => {
        const asked = request(
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
              const told = [response.headers[TRANSLATION], response.trailers[TRANSLATION]].flat();
              resolve({
                status: response.statusCode ?? 0,
                body: all,
                text: all.toString(),
                id: String(response.headers['x-request-id'] ?? ''),
                losses: [...new Set(told.flatMap((value) => value?.split(/, ?/) ?? []))],
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
          asked.destroy();
        }, patienceMs);
        asked.on('error', (error) => {
          clearTimeout(patience);
          reject(error);
        });
        asked.end(bytes);
      });
    },
    close: () => agent.destroy(),
  };
}
