/** The other gateways on one store: how each of them is doing and which calls run in it. They are asked when a person looks, and never otherwise. */
import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { GatewayState, InFlight, InFlightQuery } from '../contracts/running.ts';
import type { Json } from '../plugin.ts';
import type { ClusterPeers, Poll } from './peers.ts';

const TOPIC = { look: 'core.gateway', inFlight: 'core.calls of gateway' } as const;

/** How long answers are waited for, and for how long after a question its answers are used again. */
const ANSWER_MS = 1_000;
const KEPT_MS = 1_000;

/** The gateways beside this one. */
export interface OtherGateways {
  /** Answers the others from now on. Until then they find that this one does not answer. `own`: undefined if it is a command. */
  answer(own: OwnGateway | undefined): void;
  /** How they are doing, in the order of their names. */
  look(): Promise<readonly GatewayState[]>;
  /** The calls that run in each of them that answers. */
  inFlight(query: InFlightQuery): Promise<readonly InFlight[]>;
}

/** What a gateway tells the others of itself. */
export interface OwnGateway {
  look(): GatewayState;
  inFlight(query: InFlightQuery): InFlight;
}

/** What tells one text of gateway.yaml from another. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Those of a gateway that shares its store with no other one. */
export const NO_OTHERS: OtherGateways = { answer() {}, look: async () => [], inFlight: async () => [] };

/** Those beside this process in its cluster. */
export function createOtherGateways(peers: ClusterPeers, clock: Clock): OtherGateways {
  /** By what was asked, the oldest first. */
  const kept = new Map<string, { readonly atMs: number; readonly poll: Promise<Poll> }>();

  /** However many people look at the same time, the others are asked once a second. */
  function poll(topic: string, message: Json): Promise<Poll> {
    const nowMs = clock.mono();
    for (const [question, { atMs }] of kept) {
      if (nowMs - atMs < KEPT_MS) break;
      kept.delete(question);
    }
    const question = `${topic} ${JSON.stringify(message)}`;
    let found = kept.get(question);
    if (found === undefined) {
      found = { atMs: nowMs, poll: peers.poll(topic, message, ANSWER_MS) };
      kept.set(question, found);
    }
    return found.poll;
  }

  return {
    answer(own) {
      peers.on(TOPIC.look, () => (own?.look() ?? null) as Json);
      peers.on(TOPIC.inFlight, (query) => (own?.inFlight(query as unknown as InFlightQuery) ?? null) as Json);
    },
    async look() {
      const { answers, silent } = await poll(TOPIC.look, null);
      const answering = (answers as unknown as readonly (GatewayState | null)[]).filter((state) => state !== null);
      const missing = (silent.length === 0 ? [] : await peers.processes())
        .filter(({ epoch }) => silent.includes(epoch))
        .map(({ name, version, joinedMs }) => ({ name, version, startedMs: joinedMs, report: undefined }));
      return [...answering, ...missing].sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    async inFlight({ accountId, limit }) {
      const { answers } = await poll(TOPIC.inFlight, { limit, ...(accountId !== undefined && { accountId }) });
      return (answers as unknown as readonly (InFlight | null)[]).filter((calls) => calls !== null);
    },
  };
}
