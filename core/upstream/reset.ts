/** Tells a connection that was reset from one that was closed. */
import type { Socket } from 'node:net';

/**
 * Whether the end that a socket has just told of was a reset. If data and a reset come together, libuv tells of an ordinary end; the
 * system knows better: such a socket has no peer any more. Nothing else asks for the peer's address, which node would remember.
 */
export function wasReset(socket: Socket): boolean {
  return socket.remoteAddress === undefined;
}
