/** The peers of a process that serves alone. */
import type { Peers } from './contracts/peers.ts';

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
