/** Whether the gateways on one store run with the same gateway.yaml: each has its own file, and takes it over when it sees it change. */
import { createHash } from 'node:crypto';
import type { Peers } from '../contracts/peers.ts';
import type { Json } from '../plugin.ts';

const TOPIC = 'core.configuration';

/** A gateway, and what it runs with. */
export interface RunningConfiguration {
  /** `HOST:PORT` */
  readonly gateway: string;
  /** See `digestOf`. */
  readonly digest: string;
}

/** What tells one text of gateway.yaml from another. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Answers the others, and finds the gateways that run with another configuration than this one: their names, in order. */
export function compareConfigurations(peers: Peers, own: () => RunningConfiguration): () => Promise<readonly string[]> {
  peers.on(TOPIC, () => ({ ...own() }) satisfies Json);
  return async () => {
    const others = (await peers.ask(TOPIC, null)) as unknown as readonly RunningConfiguration[];
    const { digest } = own();
    return others
      .filter((other) => other.digest !== digest)
      .map(({ gateway }) => gateway)
      .sort();
  };
}
