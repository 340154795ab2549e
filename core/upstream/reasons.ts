/** How upstream calls fail: messages for administrators, without address or header; and requests that are not sent. */
import type { Socket } from 'node:net';
import type { OutgoingProxy } from './proxy.ts';
import type { UpstreamCall, UpstreamListener } from './upstream.ts';

export const NOT_HTTP = 'the answer is not HTTP';
export const HEAD_TOO_LARGE = 'the head of the answer is too large';
export const UPGRADED = 'the answer changes to another protocol';
export const CLOSED_EARLY = 'the connection was closed in the middle of the answer';
export const RESET = 'the connection was reset';
export const CONNECT_TIMEOUT = 'the connection took too long';
export const NOT_SENDABLE = 'the request contains a header or a path that cannot be sent';
export const BODY_FAILED = 'the body of the request could not be read';
export const LISTENER_FAILED = 'the gateway could not handle the answer';
export const STOPPED = 'the gateway is stopping';

/** The message if connecting, directly or through a proxy, took too long. */
export function timeoutReason(proxy: OutgoingProxy | undefined): string {
  return proxy === undefined ? CONNECT_TIMEOUT : `${CONNECT_TIMEOUT} through the proxy ${proxy.name}`;
}

/** A proxy opened no tunnel; the message is for administrators and names the proxy. */
export class TunnelFailed extends Error {}

/** The message for a connection error. */
export function reasonOf(error: Error): string {
  if (error instanceof TunnelFailed) return error.message;
  const code = (error as { code?: unknown }).code;
  if (typeof code !== 'string') return 'the connection failed';
  return REASONS[code] ?? `the connection failed (${code})`;
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: RESET,
  EPIPE: RESET,
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  UND_ERR_CONNECT_TIMEOUT: CONNECT_TIMEOUT,
  UND_ERR_DESTROYED: STOPPED,
  UND_ERR_SOCKET: CLOSED_EARLY,
  UND_ERR_HEADERS_OVERFLOW: HEAD_TOO_LARGE,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer is shorter than its declared length',
};

/**
 * Whether the end that a socket has just emitted was a reset. If data and a reset arrive together, libuv reports a
 * clean end, but such a socket has no peer address any more. No other code reads the peer's address, which node would
 * cache.
 */
export function wasReset(socket: Socket): boolean {
  return socket.remoteAddress === undefined;
}

/** A request that is not sent; its listener is called after `send` has returned. */
export class Refusal implements UpstreamCall {
  readonly sent = false;
  #aborted = false;

  constructor(listener: UpstreamListener, reason: string) {
    process.nextTick(() => {
      if (!this.#aborted) listener.fail('connect', reason, { stale: false, unsent: true });
    });
  }

  pause(): void {}
  resume(): void {}

  abort(): void {
    this.#aborted = true;
  }
}
