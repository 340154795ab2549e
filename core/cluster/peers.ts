/** The peers of a process: of one on a shared store, which knows the members and delivers messages, or of one alone. */

import type { PeerListener, Peers } from '../contracts/peers.ts';
import type { JoinedProcess, Json, Membership, MembershipEvents, OpenStore, ProcessFacts } from '../plugin.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/logger.ts';

/** How long to wait for answers. */
const ANSWER_MS = 2_000;

/** The other processes of a shared store. */
export interface ClusterPeers extends Peers {
  /** Like `ask`, but waits at most `withinMs`, and lists the processes that did not answer. */
  poll(topic: string, message: Json, withinMs: number): Promise<Poll>;
  /** All processes on the store, as they were when they joined. Rejects if the store cannot be read. */
  processes(): Promise<readonly JoinedProcess[]>;
}

/** Answers of other processes. */
export interface Poll {
  readonly answers: readonly Json[];
  /** The epochs of the processes that did not answer: too slow, or an unknown topic. */
  readonly silent: readonly string[];
}

/** Messages between processes. */
type Envelope =
  | { readonly topic: string; readonly message: Json; readonly ask?: number }
  /** `answer`: absent if there is none. */
  | { readonly to: string; readonly of: number; readonly answer?: Json };

/** A pending query. */
interface PendingQuery {
  /** Processes that have not answered yet. */
  readonly missing: Set<string>;
  readonly answers: Map<string, Json>;
  done(): void;
}

/** Joins the cluster until the store is closed; calls `ended` if the cluster declares this process dead. */
export async function joinPeers(
  join: NonNullable<OpenStore['join']>,
  facts: ProcessFacts,
  { clock, log, ended }: { readonly clock: Clock; readonly log: Log; readonly ended: MembershipEvents['ended'] },
): Promise<ClusterPeers> {
  const { epoch } = facts;
  const listeners = new Map<string, PeerListener>();
  const leftListeners = new Set<(epoch: string) => void>();
  /** Processes that ended while another process led, not yet reported here. */
  const untold = new Set<string>();
  const pending = new Map<number, PendingQuery>();
  let lastAsked = 0;

  const leads = (): boolean => membership.isCurrent() && membership.members[0] === epoch;
  const others = (): readonly string[] => membership.members.filter((each) => each !== epoch);

  function left(epochs: readonly string[]): void {
    for (const each of epochs) {
      untold.add(each);
      for (const question of pending.values()) arrived(question, each);
    }
    tellOfLeft();
  }

  function tellOfLeft(): void {
    if (leftListeners.size === 0 || !leads()) return;
    for (const each of untold) {
      untold.delete(each);
      for (const listener of leftListeners) listener(each);
    }
  }

  function arrived({ missing, done }: PendingQuery, from: string): void {
    if (missing.delete(from) && missing.size === 0) done();
  }

  function send(envelope: Envelope, to?: string): void {
    membership
      .send(JSON.stringify(envelope), to)
      .catch((error: unknown) => log.warn('a message to the other processes was lost', { error }));
  }

  async function receive(body: string, from: string): Promise<void> {
    const envelope = JSON.parse(body) as Envelope;
    if ('to' in envelope) {
      const question = envelope.to === epoch ? pending.get(envelope.of) : undefined;
      if (question === undefined) return;
      if (envelope.answer !== undefined) question.answers.set(from, envelope.answer);
      arrived(question, from);
      return;
    }
    const { topic, message, ask } = envelope;
    let answer: Json | undefined;
    try {
      answer = await listeners.get(topic)?.(message, from);
    } catch (error) {
      log.warn('could not answer a message from another process', { topic, error });
    }
    if (ask !== undefined) send({ to: from, of: ask, ...(answer !== undefined && { answer }) }, from);
  }

  function ask(topic: string, message: Json, withinMs: number): Promise<ReadonlyMap<string, Json>> {
    const missing = new Set(others());
    if (missing.size === 0) return Promise.resolve(new Map());
    const number = ++lastAsked;
    return new Promise((resolve) => {
      const answers = new Map<string, Json>();
      const done = (): void => {
        cancel();
        pending.delete(number);
        resolve(answers);
      };
      const cancel = clock.after(withinMs, done);
      pending.set(number, { missing, answers, done });
      send({ topic, message, ask: number });
    });
  }

  // Messages may arrive while this process is still joining; they are handled after it has joined.
  const joining = join(facts, {
    left: (epochs) => void joining.then(() => left(epochs), unheard),
    message: (body, from) => void joining.then(() => receive(body, from), unheard),
    ended,
  });
  const membership: Membership = await joining;
  return {
    get count() {
      return Math.max(1, membership.members.length);
    },
    leads,
    alive: async () => new Set([...(await membership.look()), epoch]),
    onLeft(listener) {
      leftListeners.add(listener);
      tellOfLeft();
      return () => void leftListeners.delete(listener);
    },
    tell: (topic, message) => send({ topic, message }),
    ask: async (topic, message) => [...(await ask(topic, message, ANSWER_MS)).values()],
    async poll(topic, message, withinMs) {
      const before = others();
      const answers = await ask(topic, message, withinMs);
      const now = new Set(others());
      return {
        answers: [...answers.values()],
        silent: before.filter((each) => now.has(each) && !answers.has(each)),
      };
    },
    processes: () => membership.processes(),
    on: (topic, listener) => void listeners.set(topic, listener),
    owner: undefined,
  };
}

/** A process that could not join ignores messages; the error of joining is reported by the code that opens the store. */
function unheard(): void {}
