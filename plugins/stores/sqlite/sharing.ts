/**
 * The unix socket of the writing thread. Other processes send their lists there directly, not through the main thread of the store's owner.
 */
import { createServer, type Socket } from 'node:net';
import { listenPrivately } from '../../../core/sdk.ts';
import { createSender, type Sent } from './batch.ts';
import { frame, readFrames } from './frames.ts';
import type { Batch, FromWriter, Joining } from './wire.ts';

/** An open socket. */
export interface Sharing {
  /** Sends to all joined processes. */
  tell(message: FromWriter): void;
  /** Accepts no more processes, and disconnects the joined ones. */
  close(): void;
}

/** Listens at `path`. `take` runs what is sent; `left` is called for each process that disconnected, after everything it sent has run. */
export async function share(path: string, take: (sent: Sent) => void, left: (name: string) => void): Promise<Sharing> {
  const sockets = new Set<Socket>();
  const joined = new Map<Socket, (message: FromWriter) => void>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const post = (message: FromWriter): void => void socket.write(frame(message));
    let name: string | undefined;
    const from = createSender(post);
    const read = readFrames((message) => {
      if (name !== undefined) return take({ from, batch: checked(message as Batch) });
      name = (message as Joining).join;
      joined.set(socket, post);
      post({ kind: 'open' });
    });
    socket.on('data', (piece) => {
      try {
        read(piece);
      } catch {
        // Invalid data does not come from one of our processes.
        socket.destroy();
      }
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      joined.delete(socket);
      if (name !== undefined) left(name);
    });
  });
  await listenPrivately(server, path);
  return {
    tell(message) {
      for (const post of joined.values()) post(message);
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Throws for invalid batches. */
function checked(batch: Batch): Batch {
  if (Array.isArray(batch.texts) && Array.isArray(batch.lists)) return batch;
  throw new TypeError('it is not a batch');
}
