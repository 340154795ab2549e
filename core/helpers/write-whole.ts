/** Writes a head and its body to a socket: requests to vendors, and whole answers to clients. */
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

const ROOM = 64 * 1_024;
/** The buffer for the next message. A socket that does not send all of it at once keeps it; then there is a new one. */
let outbox = Buffer.allocUnsafeSlow(ROOM);

/** Writes a head and a body in memory: in one write unless it is large. */
export function writeWhole(socket: Socket, head: string, body: Buffer | undefined): void {
  if (body === undefined) {
    socket.write(head, 'latin1');
    return;
  }
  const length = head.length + body.length;
  if (length > ROOM) {
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body);
    socket.uncork();
    return;
  }
  // TLS reports later whether the data was sent.
  const target = socket instanceof TLSSocket ? Buffer.allocUnsafe(length) : outbox;
  target.write(head, 0, 'latin1');
  body.copy(target, head.length);
  socket.write(target.subarray(0, length));
  if (target === outbox && socket.writableLength > 0) outbox = Buffer.allocUnsafeSlow(ROOM);
}
