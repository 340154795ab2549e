/** The peers of a process that serves alone. */
import type { Peers } from './contracts/peers.ts';

/** A process of the epoch `boot` that has no others beside it. */
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
