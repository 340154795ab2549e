/** The listening address of a gateway: bound before anything is written, passed to the process that serves there. */
import { type AddressInfo, createServer, Server as NetServer } from 'node:net';
import type { Plan } from '../assembly/assemble.ts';
import { readListen } from '../config/core-sections.ts';
import type { ConfigFile } from '../config/file.ts';
import { throwIfWrong } from '../config/sections.ts';

/** A bound address. */
export interface Door {
  readonly host: string;
  readonly port: number;
  /** Lets a server accept connections there. */
  handOver(server: NetServer): Promise<void>;
  /** Releases it. */
  close(): void;
}

/** Binds the address of a plan; connections are refused as if no process listened. Throws `ConfigError`. */
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

/** Makes a server listen; rejects if it cannot. */
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
 * Accepts no more connections; resolves when the last has ended. `server.close` of HTTP would also end idle
 * connections, among them those whose complete answer is still being sent.
 */
export function stopListening(server: NetServer): Promise<void> {
  return new Promise((done) => NetServer.prototype.close.call(server, () => done()));
}

/** An address that cannot be bound is a mistake in the file. */
export function refuseAddress(error: unknown, file: ConfigFile): never {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') file.problem(['listen', 'port'], 'another process already listens on this port');
  else if (code === 'EACCES')
    file.problem(['listen', 'port'], 'this user may not listen on this port; ports below 1024 are for root');
  else if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    file.problem(['listen', 'host'], 'this machine has no such address');
  throwIfWrong(file);
  throw error;
}
