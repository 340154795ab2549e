/** The state and running calls of the other gateways on a store, queried only when an administrator opens the page. */
import { createHash } from 'node:crypto';
import type { GatewayState, InFlight, InFlightQuery } from '../contracts/running.ts';
import type { Json } from '../plugin.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ClusterPeers, Poll } from './peers.ts';

const TOPIC = { look: 'core.gateway', inFlight: 'core.calls of gateway' } as const;

/** How long to wait for answers, and how long to reuse them. */
const ANSWER_MS = 1_000;
const KEPT_MS = 1_000;

/** The other gateways. */
export interface OtherGateways {
  /** Starts to answer the others. Until then this gateway counts as not answering. `own`: undefined in a command. */
  answer(own: OwnGateway | undefined): void;
  /** Their state, in order of their names. */
  look(): Promise<readonly GatewayState[]>;
  /** The running calls of each gateway that answers. */
  inFlight(query: InFlightQuery): Promise<readonly InFlight[]>;
}

/** The report of a gateway about itself. */
export interface OwnGateway {
  look(): GatewayState;
  inFlight(query: InFlightQuery): InFlight;
}

/** Identifies the text of gateway.yaml. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** A gateway that shares its store with no other. */
export const NO_OTHERS: OtherGateways = { answer() {}, look: async () => [], inFlight: async () => [] };

/** The other gateways of this process's cluster. */
export function createOtherGateways(peers: ClusterPeers, clock: Clock): OtherGateways {
  /** By query, the oldest first. */
  const cache = new Map<string, { readonly atMs: number; readonly poll: Promise<Poll> }>();

  /** However many administrators look at the same time, the others are queried at most once a second. */
  function poll(topic: string, message: Json): Promise<Poll> {
    const nowMs = clock.mono();
    for (const [question, { atMs }] of cache) {
      if (nowMs - atMs < KEPT_MS) break;
      cache.delete(question);
    }
    const question = `${topic} ${JSON.stringify(message)}`;
    let cached = cache.get(question);
    if (cached === undefined) {
      cached = { atMs: nowMs, poll: peers.poll(topic, message, ANSWER_MS) };
      cache.set(question, cached);
    }
    return cached.poll;
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
