/** Exchanges without a client: for calls that are only explained, and for requests that are no calls. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Clock } from './clock.ts';
import type { Style } from './contracts/style.ts';
import { LiveExchange } from './exchange.ts';
import type { Caller } from './plugin.ts';

/** An exchange of this style like any other. */
export function supposedExchange(
  style: Style,
  { path, headers: own, ip }: Pick<Caller, 'path' | 'headers' | 'ip'>,
  clock: Clock,
): LiveExchange {
  const headers = { ...style.ingress?.headers, ...own };
  const request = new IncomingMessage(new Socket());
  return new LiveExchange(
    {
      request,
      response: new ServerResponse(request),
      head: { method: 'POST', path, search: '', headers, length: undefined, hasBody: true },
      ip,
      style,
      passage: undefined,
    },
    clock,
  );
}
