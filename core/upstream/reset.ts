/** Distinguishes a reset connection from a closed one. */
import type { Socket } from 'node:net';

/**
 * Whether the end that a socket has just emitted was a reset. If data and a reset arrive together, libuv reports a
 * clean end, but such a socket has no peer address any more. No other code reads the peer's address, which node would
 * cache.
 */
export function wasReset(socket: Socket): boolean {
  return socket.remoteAddress === undefined;
}
