/** The unix socket of the writing thread: other processes hand their lists in there, past the main thread of the one that owns the store. */
import { createServer, type Socket } from 'node:net';
import { listenPrivately } from '../../../core/sdk.ts';
import { createSender, type Sent } from './batch.ts';
import { frame, readFrames } from './frames.ts';
import type { Batch, FromWriter, Joining } from './wire.ts';

/** What is open there. */
export interface Sharing {
  /** To all who have joined. */
  tell(message: FromWriter): void;
  /** Takes nobody in any more, and sends away who is there. */
  close(): void;
}

/** Listens at `path`. `take` runs what is sent; `left` hears of each process that has gone, after it has taken all of it. */
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
        // Whatever speaks like that is none of ours.
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

/** Throws for what is no batch. */
function checked(batch: Batch): Batch {
  if (Array.isArray(batch.texts) && Array.isArray(batch.lists)) return batch;
  throw new TypeError('it is no batch');
}
