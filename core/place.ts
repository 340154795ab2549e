/** What a gateway is among the processes of its machine: alone, the owner of workers, one of these, or a command that serves nobody. */
import type { Server } from 'node:http';
import type { Peers } from './contracts/peers.ts';
import type { Door } from './door.ts';
import type { ServerOptions } from './server.ts';

/** How it takes requests, and what its others have to be told. */
export interface Place {
  readonly role: 'alone' | 'owner' | 'worker' | 'command';
  /** Undefined: those that share its store, if any. */
  readonly peers: Peers | undefined;
  /** What its server does otherwise than that of a gateway alone. */
  readonly server: Pick<ServerOptions, 'forward' | 'servesWorkers'>;
  /** Has a server take requests. Resolves with the port where clients reach the gateway, when that may be told. */
  listen(server: Server): Promise<number>;
  /** This process serves from now on. */
  ready(): void;
  /** This process has taken its configuration over. `drainMs`: how long calls may still run in one that has to end. */
  reloaded(drainMs: number): Promise<void>;
  /** No more calls are taken. Resolves when the others have ended: whether they did so well. */
  stopping(drainMs: number): Promise<boolean>;
  /** Nobody is waited for any longer. */
  hurry(): void;
  /** Gives everything up that it holds. */
  close(): void;
}

const nothing = (): void => {};
const ALONE: Omit<Place, 'role' | 'listen' | 'close'> = {
  peers: undefined,
  server: {},
  ready: nothing,
  reloaded: async () => {},
  stopping: async () => true,
  hurry: nothing,
};

/** The place of a gateway that serves by itself at an address that was taken. */
export function placeAt(door: Door): Place {
  return {
    ...ALONE,
    role: 'alone',
    async listen(server) {
      await door.handOver(server);
      return door.port;
    },
    close: door.close,
  };
}

/** The place of a command. */
export const NOWHERE: Place = {
  ...ALONE,
  role: 'command',
  listen: () => Promise.reject(new Error('a gateway that was opened for a command has no address')),
  close: nothing,
};
