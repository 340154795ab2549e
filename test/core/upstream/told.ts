/** The client on the clock of the machine, and what a listener of its calls is told. */
import { systemClock } from '../../../core/runtime/clock.ts';
import { openUpstream } from '../../../core/upstream/client.ts';
import type { Upstream, UpstreamCall, UpstreamListener, UpstreamRequest } from '../../../core/upstream/upstream.ts';

/** How a request ended; without the words that only people read where they do not matter. */
export type Ending =
  | 'end'
  | { readonly kind: string; readonly reason: string; readonly stale: boolean; readonly unsent: boolean };

/** What a listener was told, in order; the pieces of the body joined. */
export interface Told {
  readonly call: UpstreamCall;
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly heads: number;
  readonly body: string;
  readonly bytes: number;
  readonly ending: Ending | undefined;
  /** How often it was told of an end. */
  readonly endings: number;
  /** Resolves with its end. */
  readonly ended: Promise<Ending>;
}

/** Opens a client on the machine's own clock. */
export function open(): Upstream {
  return openUpstream(systemClock);
}

/** Sends a small call, or what `request` says, and keeps what the listener is told; `on` hears it, too. */
export function send(
  upstream: Upstream,
  request: Partial<UpstreamRequest> & Pick<UpstreamRequest, 'origin'>,
  on: Partial<UpstreamListener> = {},
): Told {
  const pieces: Buffer[] = [];
  let end: (ending: Ending) => void = () => {};
  const told: { -readonly [K in keyof Told]: Told[K] } = {
    call: undefined as never,
    status: undefined,
    headers: {},
    heads: 0,
    get body() {
      return Buffer.concat(pieces).toString();
    },
    bytes: 0,
    ending: undefined,
    endings: 0,
    ended: new Promise((resolve) => {
      end = resolve;
    }),
  };
  const finish = (ending: Ending): void => {
    told.ending = ending;
    told.endings++;
    end(ending);
  };
  told.call = upstream.send(
    {
      path: '/v1/chat/completions',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{"model":"m"}'),
      connectMs: 5_000,
      ...request,
    },
    {
      head(status, headers) {
        told.status = status;
        told.headers = headers;
        told.heads++;
        on.head?.(status, headers);
      },
      data(piece) {
        pieces.push(piece);
        told.bytes += piece.length;
        on.data?.(piece);
      },
      end() {
        finish('end');
        on.end?.();
      },
      fail(kind, reason, how) {
        finish({ kind, reason, ...how });
        on.fail?.(kind, reason, how);
      },
    },
  );
  return told;
}
