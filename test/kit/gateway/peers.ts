/** Processes that serve together, without processes: peers in memory, whose messages a test delays or loses, and which it lets die. */

import type { PeerListener, Peers } from '../../../core/contracts/peers.ts';
import type { Json } from '../../../core/plugin.ts';
import type { Clock } from '../../../core/runtime/clock.ts';
import { fakeClock } from './clock.ts';

/** Some processes that talk to each other. They are numbered from 0, and the first one that lives leads. */
export interface TestPeers {
  /** What each of them gets as `host.peers`. */
  readonly peers: readonly Peers[];
  /** Their epochs (`host.boot`), in the same order: `epoch-0`, or what they were given. */
  readonly epochs: readonly string[];
  /** One more; its number. */
  join(epoch?: string): number;
  /**
   * It has ended, or is given up for dead: what it sent or was sent is lost, nobody counts it any more, and who leads hears of it.
   * Objects of the test that belong to it still run, as those of a process that was frozen: they reach nobody.
   */
  kill(i: number): void;
  /** From now on what is sent to it or by it waits. */
  hold(i: number): void;
  /** Lets what waits go on, in its order. */
  release(i: number): void;
  /** Loses what waits. A question that is lost gets no answer. */
  lose(i: number): void;
}

/** How long `ask` waits. */
const ASK_MS = 2_000;

interface Process {
  readonly epoch: string;
  readonly listeners: Map<string, PeerListener>;
  readonly left: Set<(epoch: string) => void>;
  readonly peers: Peers;
  isAlive: boolean;
  isHeld: boolean;
}

interface Message {
  readonly from: Process;
  readonly to: Process;
  /** It has come. */
  arrive(): void;
  /** It is lost since one of the two is dead. */
  lost(): void;
}

/**
 * Makes `count` of them. `clock`: what the two seconds of `ask` go by; without it they never pass. `isOwned`: the first one is the owner, as
 * on one machine, and the others reach it by `owner`; in a cluster there is none.
 */
export function createPeers(
  count: number,
  { clock = fakeClock(), isOwned = false }: { readonly clock?: Clock; readonly isOwned?: boolean } = {},
): TestPeers {
  const processes: Process[] = [];
  /** What is under way, in the order in which it was sent. */
  let mail: Message[] = [];
  let isDelivering = false;

  const others = (self: Process): Process[] => processes.filter((each) => each !== self && each.isAlive);
  const leader = (): Process | undefined => processes.find(({ isAlive }) => isAlive);

  /** Delivers what does not wait, each turn of the event loop what was sent before it. */
  function deliver(): void {
    if (isDelivering) return;
    isDelivering = true;
    setImmediate(() => {
      isDelivering = false;
      const sent = mail;
      mail = sent.filter(({ from, to }) => from.isHeld || to.isHeld);
      for (const message of sent) {
        if (!mail.includes(message)) message.arrive();
      }
    });
  }

  function send(message: Message): void {
    if (message.from.isAlive && message.to.isAlive) {
      mail.push(message);
      deliver();
    } else message.lost();
  }

  /** What a listener makes of a message; the message and its answer are copied, as between processes. */
  async function hear(to: Process, topic: string, text: string, from: Process): Promise<Json | undefined> {
    const answer = await to.listeners.get(topic)?.(JSON.parse(text) as Json, from.epoch);
    return answer === undefined ? undefined : (JSON.parse(JSON.stringify(answer)) as Json);
  }

  function tell(from: Process, to: Process, topic: string, message: Json): void {
    const text = JSON.stringify(message);
    send({ from, to, arrive: () => void hear(to, topic, text, from).catch(() => {}), lost: () => {} });
  }

  /** Resolves with the answer; undefined where it gives none. Rejects where the listener does, or where one of the two is dead. */
  function ask(from: Process, to: Process, topic: string, message: Json): Promise<Json | undefined> {
    const text = JSON.stringify(message);
    return new Promise((resolve, reject) => {
      const lost = (): void => reject(new Error(`${to.epoch} does not answer ${from.epoch}`));
      const answer = (arrive: () => void): void => send({ from: to, to: from, arrive, lost });
      const heard = (): void => {
        hear(to, topic, text, from).then(
          (it) => answer(() => resolve(it)),
          (error) => answer(() => reject(error)),
        );
      };
      send({ from, to, arrive: heard, lost });
    });
  }

  /** Resolves with the answers there are when all have answered, or the time is over. */
  function askAll(self: Process, topic: string, message: Json): Promise<readonly Json[]> {
    const answers: Json[] = [];
    const all = others(self).map((to) =>
      ask(self, to, topic, message).then(
        (answer) => void (answer !== undefined && answers.push(answer)),
        () => {},
      ),
    );
    return new Promise((resolve) => {
      const stop = clock.after(ASK_MS, () => resolve([...answers]));
      void Promise.all(all).then(() => {
        stop();
        resolve([...answers]);
      });
    });
  }

  function join(epoch = `epoch-${processes.length}`): number {
    const owner = isOwned ? processes[0] : undefined;
    const self: Process = {
      epoch,
      listeners: new Map(),
      left: new Set(),
      isAlive: true,
      isHeld: false,
      peers: {
        get count() {
          return Math.max(processes.filter(({ isAlive }) => isAlive).length, 1);
        },
        leads: () => leader() === self,
        alive: async () => new Set(processes.filter(({ isAlive }) => isAlive).map((each) => each.epoch)),
        onLeft(listener) {
          self.left.add(listener);
          return () => void self.left.delete(listener);
        },
        tell(topic, message) {
          for (const to of others(self)) tell(self, to, topic, message);
        },
        ask: (topic, message) => askAll(self, topic, message),
        on: (topic, listener) => void self.listeners.set(topic, listener),
        owner: owner && {
          tell: (topic, message) => tell(self, owner, topic, message),
          ask: async (topic, message) => (await ask(self, owner, topic, message)) ?? null,
        },
      },
    };
    processes.push(self);
    return processes.length - 1;
  }

  /** Takes what concerns one process out of the mail. */
  function takeMail(i: number): Message[] {
    const self = processes[i]!;
    const taken = mail.filter(({ from, to }) => from === self || to === self);
    mail = mail.filter((message) => !taken.includes(message));
    return taken;
  }

  for (let i = 0; i < count; i++) join();
  return {
    get peers() {
      return processes.map(({ peers }) => peers);
    },
    get epochs() {
      return processes.map(({ epoch }) => epoch);
    },
    join,
    kill(i) {
      const self = processes[i]!;
      if (!self.isAlive) return;
      self.isAlive = false;
      for (const { lost } of takeMail(i)) lost();
      for (const hears of leader()?.left ?? []) hears(self.epoch);
    },
    hold(i) {
      processes[i]!.isHeld = true;
    },
    release(i) {
      processes[i]!.isHeld = false;
      deliver();
    },
    lose(i) {
      takeMail(i);
    },
  };
}
