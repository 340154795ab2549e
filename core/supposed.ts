/** Simulated requests without a client: for explained calls, and for requests that are not calls. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Clock } from './clock.ts';
import type { Style } from './contracts/style.ts';
import { LiveExchange } from './exchange.ts';
import type { Caller } from './plugin.ts';

/** A simulated request of this style. */
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
