/**
 * The processes that serve together on one store: the workers of one machine (`listen.workers`), or the gateways of a cluster. Provided by
 * core to every plugin as `host.peers`.
 *
 * On one machine the first process is the owner: it has the store's lock, keeps what is in memory once for all (counters), answers
 * every route, and runs commands and chores. The others are its workers: they serve calls and passthrough routes.
 */
import type { Awaitable } from './definitions.ts';
import type { Json } from './formats/json.ts';

/** Handles a message of the process `epoch`. If it throws, the error is logged and the sender gets no answer. */
export type PeerListener = (message: Json, epoch: string) => Awaitable<Json | undefined>;

/** The other processes. A process that serves alone leads, its `tell` does nothing, `ask` resolves with no answers. */
export interface Peers {
  /** How many processes serve calls now, at least 1. */
  readonly count: number;
  /**
   * True in the one process that does work that must be done once: background tasks, mail, recovery, the first start.
   * It may change while the process runs, so check it each time. `createChore` does so itself.
   */
  leads(): boolean;
  /**
   * The epochs (`host.boot`) of the processes that are alive, this one included: their leases must not be taken over. A process is
   * among them before its plugins start.
   */
  alive(): Promise<ReadonlySet<string>>;
  /** Called in the leading process when another one and its writes have ended. Returns a function that stops this. */
  onLeft(listener: (epoch: string) => void): () => void;
  /** Sends to all others, at most once; messages of one process arrive in their order. */
  tell(topic: string, message: Json): void;
  /** Sends to all others and resolves with the answers that came within two seconds, in any order. Never rejects. */
  ask(topic: string, message: Json): Promise<readonly Json[]>;
  /** Listens to one topic; a later listener of the same topic takes the place of the earlier one, as after a reload. */
  on(topic: string, listener: PeerListener): void;
  /** The process that owns the store; undefined in the owner itself, in a process alone, and in a cluster without one. */
  readonly owner: PeerOwner | undefined;
}

/** How a worker reaches the owner. Messages of one turn of the event loop are sent together. */
export interface PeerOwner {
  tell(topic: string, message: Json): void;
  /** Resolves with the result of the owner's listener; null for undefined. Rejects if it failed or has ended. */
  ask(topic: string, message: Json): Promise<Json>;
}

/** A single process of the epoch `boot`, without peers. */
export function aloneOf(boot: string): Peers {
  const self: ReadonlySet<string> = new Set([boot]);
  return {
    count: 1,
    leads: () => true,
    alive: async () => self,
    onLeft: () => () => {},
    tell: () => {},
    ask: async () => [],
    on: () => {},
    owner: undefined,
  };
}
