/** CORS: pages of other sites may make calls with a key, but never with a cookie. */
import type { ServerResponse } from 'node:http';
import type { Head } from './request-head.ts';
import { answerHeaders } from './responses.ts';

/** Origins whose pages may read answers; `*`: all. */
export type Origins = '*' | ReadonlySet<string>;

/** From the configured list: `*`, or `https://chat.example.com`. */
export function readOrigins(list: readonly string[]): Origins {
  return list.includes('*') ? '*' : new Set(list.map((origin) => new URL(origin).origin));
}

/** How long browsers may cache a preflight answer, in seconds; none allows more than two hours. */
const MAX_AGE_S = 7_200;

/** Allows the page to read the answer, if its origin is allowed. Headers set here are sent with any answer. */
export function shareWithPage(response: ServerResponse, { origin }: Head['headers'], origins: Origins): void {
  if (origin === undefined) return;
  if (origins !== '*') {
    // The answer depends on the origin.
    response.setHeader('vary', 'origin');
    if (!origins.has(origin)) return;
  }
  // Without `allow-credentials`, browsers hide answers to requests with cookies.
  response.setHeader('access-control-allow-origin', origins === '*' ? '*' : origin);
  response.setHeader('access-control-expose-headers', '*');
}

/** True for a preflight request. */
export function isPreflight({ method, headers }: Head): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/** Answers it, after `shareWithPage`: all methods and headers that clients use. */
export function answerPreflight(response: ServerResponse, id: string): void {
  const own = {
    'access-control-allow-methods': 'GET, POST, PUT, DELETE',
    // `*` does not include `authorization`.
    'access-control-allow-headers': 'authorization, *',
    'access-control-max-age': String(MAX_AGE_S),
  };
  response.writeHead(204, answerHeaders(id, {}, own)).end();
}
