/** Detects untrusted proxies in front of the gateway: all clients behind one have the same address. */
import { canonicalAddress } from '../helpers/address-list.ts';
import type { Log } from '../runtime/logger.ts';

/** Collects observations. */
export interface ProxyWatch {
  /** A request with `X-Forwarded-For` came from this untrusted peer. */
  note(peer: string, trusted: (ip: string) => boolean): void;
  /** The last address that such requests came from; undefined: none. */
  readonly untrusted: string | undefined;
}

/** Creates one per process, so that the log warns once. `noticed` is called with every new address. */
export function createProxyWatch(log: Pick<Log, 'warn'>, noticed: (address: string) => void = () => {}): ProxyWatch {
  let last: string | undefined;
  return {
    note(peer, trusted) {
      const address = canonicalAddress(peer.replace(/%.*$/, '')) ?? peer;
      if (address === last || trusted(address)) return;
      const isFirst = last === undefined;
      last = address;
      noticed(address);
      if (!isFirst) return;
      log.warn(
        'requests with X-Forwarded-For come from an address that listen.trustProxy does not name: if it is your proxy, name it there, or all users share its address in limits, address lists and logs',
        { peer: address },
      );
    },
    get untrusted() {
      return last;
    },
  };
}
