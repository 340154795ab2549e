/** Calls from pages of other sites (CORS): whoever holds a key may use it from wherever they are, a cookie nowhere but here. */
import type { ServerResponse } from 'node:http';
import { answerHeaders } from './answers.ts';
import type { Head } from './head.ts';

/** Origins whose pages may read what is answered them; `*`: all. */
export type Origins = '*' | ReadonlySet<string>;

/** From the list in the file: `*`, or `https://chat.example.com`. */
export function readOrigins(list: readonly string[]): Origins {
  return list.includes('*') ? '*' : new Set(list.map((origin) => new URL(origin).origin));
}

/** How long a browser need not ask again, in seconds; more than two hours none believes. */
const MAX_AGE_S = 7_200;

/** Has the browser show the answer to the page that asks, if that may. Set here, it comes out with whatever else is written. */
export function shareWithPage(response: ServerResponse, { origin }: Head['headers'], origins: Origins): void {
  if (origin === undefined) return;
  if (origins !== '*') {
    // What is answered to one page is nothing for another.
    response.setHeader('vary', 'origin');
    if (!origins.has(origin)) return;
  }
  // Without `allow-credentials`, a browser shows nothing of what it has sent a cookie for.
  response.setHeader('access-control-allow-origin', origins === '*' ? '*' : origin);
  response.setHeader('access-control-expose-headers', '*');
}

/** True of the question that a browser puts before a page's request. */
export function isPreflight({ method, headers }: Head): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/** Answers it, after `shareWithPage`: any method, and whatever headers clients send. */
export function answerPreflight(response: ServerResponse, id: string): void {
  const own = {
    'access-control-allow-methods': 'GET, POST, PUT, DELETE',
    // `*` does not stand for the first.
    'access-control-allow-headers': 'authorization, *',
    'access-control-max-age': String(MAX_AGE_S),
  };
  response.writeHead(204, answerHeaders(id, {}, own)).end();
}
