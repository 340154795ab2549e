/** The role of a process on its machine: single gateway, owner of workers, worker, or command. */
import type { Server } from 'node:http';
import type { Peers } from '../contracts/peers.ts';
import type { Door } from './listen-address.ts';
import type { ServerOptions } from './server.ts';

/** How it accepts requests, and what it reports to the other processes. */
export interface ProcessRole {
  readonly role: 'alone' | 'owner' | 'worker' | 'command';
  /** Undefined: the processes that share its store, if any. */
  readonly peers: Peers | undefined;
  /** Differences of its server from that of a single gateway. */
  readonly server: Pick<ServerOptions, 'forward' | 'servesWorkers'>;
  /** Makes a server accept requests. Resolves with the port for clients, if known. */
  listen(server: Server): Promise<number>;
  /** Called when this process serves. */
  ready(): void;
  /** Called when this process has loaded its configuration. `drainMs`: drain time of the previous one. */
  reloaded(drainMs: number): Promise<void>;
  /** Stops accepting calls. Resolves when the other processes have ended, with their success. */
  stopping(drainMs: number): Promise<boolean>;
  /** Called when waiting ends. */
  hurry(): void;
  /** Releases everything it holds. */
  close(): void;
}

const nothing = (): void => {};
const ALONE: Omit<ProcessRole, 'role' | 'listen' | 'close'> = {
  peers: undefined,
  server: {},
  ready: nothing,
  reloaded: async () => {},
  stopping: async () => true,
  hurry: nothing,
};

/** The role of a gateway that serves alone at a bound address. */
export function roleAt(door: Door): ProcessRole {
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

/** The role of a command. */
export const COMMAND_ROLE: ProcessRole = {
  ...ALONE,
  role: 'command',
  listen: () => Promise.reject(new Error('a gateway that was opened for a command has no address')),
  close: nothing,
};
