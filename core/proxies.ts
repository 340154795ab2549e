/** Proxies before the gateway that it does not trust: everybody who comes through one of them has the same address. */
import { canonicalAddress } from './address.ts';
import type { Log } from './log.ts';

/** Notices them. */
export interface ProxyWatch {
  /** A request that says it was forwarded came from this peer. */
  note(peer: string, trusted: (ip: string) => boolean): void;
  /** The address that such requests came from last; undefined: from none. */
  readonly untrusted: string | undefined;
}

/** Makes it; one for the process, so that the log says it once. `noticed` hears of every address that is another one than the last. */
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
