/** The address that a gateway answers at: taken before anything is written, and handed on to whoever serves there. */
import { type AddressInfo, createServer, Server as NetServer } from 'node:net';
import type { Plan } from './assembly.ts';
import { readListen } from './config/core-sections.ts';
import type { ConfigFile } from './config/file.ts';
import { throwIfWrong } from './config/sections.ts';

/** An address that was taken. */
export interface Door {
  readonly host: string;
  readonly port: number;
  /** Has a server answer there. */
  handOver(server: NetServer): Promise<void>;
  /** Gives it up. */
  close(): void;
}

/**
 * Takes the address that a plan names, without answering there yet: whoever comes too early is turned away, as if nobody
 * listened. Throws `ConfigError` if it cannot be had.
 */
export async function takeAddress({ file, values }: Plan): Promise<Door> {
  const { host, port } = readListen(values.listen);
  const door = createServer((socket) => socket.destroy());
  await listening(door, () => door.listen(port, host)).catch((error: unknown) => refuseAddress(error, file));
  let isOurs = true;
  return {
    host,
    port: (door.address() as AddressInfo).port,
    async handOver(server) {
      await listening(server, () => server.listen(door));
      isOurs = false;
    },
    close() {
      if (isOurs) door.close();
      isOurs = false;
    },
  };
}

/** Has a server listen; rejects if it cannot. */
export function listening(server: NetServer, listen: () => void): Promise<void> {
  return new Promise((done, failed) => {
    server.once('error', failed);
    server.once('listening', () => {
      server.off('error', failed);
      done();
    });
    listen();
  });
}

/**
 * Takes no more connections; resolves when the last has ended. `server.close` of HTTP would also end those that count as idle,
 * among them those whose answer is complete but still on its way.
 */
export function stopListening(server: NetServer): Promise<void> {
  return new Promise((done) => NetServer.prototype.close.call(server, () => done()));
}

/** An address that cannot be had is a mistake of the file. */
export function refuseAddress(error: unknown, file: ConfigFile): never {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') file.problem(['listen', 'port'], 'another process listens there already');
  else if (code === 'EACCES')
    file.problem(['listen', 'port'], 'this user may not listen there; ports below 1024 are for root');
  else if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    file.problem(['listen', 'host'], 'this machine has no such address');
  throwIfWrong(file);
  throw error;
}
