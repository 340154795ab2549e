/** `host.peers` of the owner and of its workers, over their links. Workers reach each other through the owner. */

import type { PeerListener, Peers } from '../contracts/peers.ts';
import type { Json } from '../plugin.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/logger.ts';
import type { Link } from './link.ts';

/** How long `ask` waits for answers. */
const ASK_MS = 2_000;
/** Additional time a worker waits for the answers that the owner collects: a late one must not lose those that came. */
const GATHER_MS = 500;

/** Messages between peers on a link; all except the last with `[topic, message, epoch of the sender]`. */
const TOPIC = {
  tell: 'peers.tell',
  ask: 'peers.ask',
  /** Worker to owner: for all others, the owner included. */
  tellOthers: 'peers.tell others',
  askOthers: 'peers.ask others',
  alive: 'peers.alive',
} as const;

/** The listeners of one process. */
interface Listeners {
  on: Peers['on'];
  /** Calls the listener of a topic and logs its errors. Rejects if there is none and an answer is expected. */
  hear(envelope: Envelope, asks: boolean): Promise<Json>;
}

function createListeners(log: Log): Listeners {
  const listeners = new Map<string, PeerListener>();
  return {
    on: (topic, listener) => void listeners.set(topic, listener),
    async hear([topic, message, epoch], asks) {
      const listener = listeners.get(topic);
      if (listener === undefined && asks) throw new Error(`no process listens to ${topic}`);
      try {
        return (await listener?.(message, epoch)) ?? null;
      } catch (error) {
        log.error('could not handle a message from another process', { topic, error });
        throw error;
      }
    },
  };
}

/** The answers that come in time; failures are omitted. */
function gather(answers: readonly Promise<Json>[], clock: Clock): Promise<readonly Json[]> {
  return new Promise((resolve) => {
    const given: Json[] = [];
    const cancel = clock.after(ASK_MS, () => resolve(given));
    Promise.allSettled(answers.map(async (answer) => given.push(await answer))).then(() => {
      cancel();
      resolve(given);
    });
  });
}

/** The owner's side. */
export interface OwnerPeers {
  readonly peers: Peers;
  /** A worker has joined the store: it counts as alive, and receives messages. */
  joined(epoch: string, link: Link): void;
  /** Handles a worker's message; undefined if it is not for peers. */
  handle(topic: string, message: Json): Promise<Json> | undefined;
  /** The process of a worker has ended. */
  exited(epoch: string): void;
  /** Everything that a worker had submitted to the store was run. */
  settled(epoch: string): void;
}

/** The peers of an owner of the epoch `boot` that has `count` workers. */
export function createOwnerPeers(boot: string, count: number, { clock, log }: PeersTools): OwnerPeers {
  const links = new Map<string, Link>();
  const alive = new Set([boot]);
  /** Workers of which one of the two ends is known. */
  const leaving = new Map<string, 'exited' | 'settled'>();
  const listeners = new Set<(epoch: string) => void>();
  const { on, hear } = createListeners(log);

  const others = (epoch: string): Link[] => [...links].flatMap(([other, link]) => (other === epoch ? [] : [link]));
  function tellOthers(topic: string, message: Json, epoch: string): void {
    for (const link of others(epoch)) link.tell(TOPIC.tell, [topic, message, epoch]);
  }
  const askOthers = (topic: string, message: Json, epoch: string): Promise<Json>[] =>
    others(epoch).map((link) => link.ask(TOPIC.ask, [topic, message, epoch]));

  /** It has left when its process has ended and its writes have run, in any order. */
  function leave(epoch: string, end: 'exited' | 'settled'): void {
    const before = leaving.get(epoch);
    if (before === undefined || before === end) {
      leaving.set(epoch, end);
      return;
    }
    leaving.delete(epoch);
    alive.delete(epoch);
    for (const listener of [...listeners]) {
      try {
        listener(epoch);
      } catch (error) {
        log.error('the cleanup after a worker ended failed', { error });
      }
    }
  }

  return {
    peers: {
      count,
      leads: () => true,
      alive: async () => new Set(alive),
      onLeft(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      tell: (topic, message) => tellOthers(topic, message, boot),
      ask: (topic, message) => gather(askOthers(topic, message, boot), clock),
      on,
      owner: undefined,
    },
    joined(epoch, link) {
      alive.add(epoch);
      links.set(epoch, link);
    },
    handle(topic, payload) {
      if (topic === TOPIC.alive) return Promise.resolve([...alive]);
      if (!isAboutPeers(topic)) return undefined;
      const envelope = payload as Envelope;
      const asks = topic === TOPIC.ask || topic === TOPIC.askOthers;
      const heard = hear(envelope, asks);
      if (topic === TOPIC.tellOthers) tellOthers(...envelope);
      if (topic !== TOPIC.askOthers) return heard;
      return gather([heard, ...askOthers(...envelope)], clock) as Promise<Json[]>;
    },
    exited(epoch) {
      links.delete(epoch);
      leave(epoch, 'exited');
    },
    settled: (epoch) => leave(epoch, 'settled'),
  };
}

/** A worker's side. */
export interface WorkerPeers {
  readonly peers: Peers;
  /** Handles the owner's message; undefined if it is not for peers. */
  handle(topic: string, message: Json): Promise<Json> | undefined;
}

/** The peers of a worker of the epoch `boot`, one of `count`, on its link to the owner. */
export function createWorkerPeers(boot: string, count: number, link: Link, { clock, log }: PeersTools): WorkerPeers {
  const { on, hear } = createListeners(log);
  const all = async (topic: string, message: Json): Promise<Json> =>
    link.ask(TOPIC.askOthers, [topic, message, boot]).catch(() => []);
  return {
    peers: {
      count,
      leads: () => false,
      alive: async () => new Set((await link.ask(TOPIC.alive, null)) as string[]),
      // The owner leads as long as there is a worker.
      onLeft: () => () => {},
      tell: (topic, message) => link.tell(TOPIC.tellOthers, [topic, message, boot]),
      ask: (topic, message) =>
        new Promise((resolve) => {
          const cancel = clock.after(ASK_MS + GATHER_MS, () => resolve([]));
          all(topic, message).then((answers) => {
            cancel();
            resolve(answers as Json[]);
          });
        }),
      on,
      owner: {
        tell: (topic, message) => link.tell(TOPIC.tell, [topic, message, boot]),
        ask: (topic, message) => link.ask(TOPIC.ask, [topic, message, boot]),
      },
    },
    handle(topic, payload) {
      return isAboutPeers(topic) ? hear(payload as Envelope, topic === TOPIC.ask) : undefined;
    },
  };
}

/** Options of peers. */
export interface PeersTools {
  readonly clock: Clock;
  readonly log: Log;
}

type Envelope = [topic: string, message: Json, epoch: string];

function isAboutPeers(topic: string): boolean {
  return topic.startsWith('peers.');
}
