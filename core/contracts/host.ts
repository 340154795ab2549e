/** What a plugin gets from the gateway. */
import type { Clock } from '../clock.ts';
import type { Service } from '../definitions.ts';
import type { ErrorAbout } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Vault } from '../vault.ts';
import type { Json } from './json.ts';
import type { Peers } from './peers.ts';
import type { Guard, Route } from './route.ts';
import type { Store } from './store.ts';
import type { Style } from './style.ts';
import type { Channel, Vendor } from './vendor.ts';

/** What a plugin gets from the gateway. */
export interface Host {
  readonly store: Store;
  readonly log: Log;
  readonly clock: Clock;
  /** Names this run of the process; whatever another run left open can be told by it. */
  readonly boot: string;
  /** The processes that serve together with this one. */
  readonly peers: Peers;
  /** The environment the gateway was started with. What is configured belongs into a section of gateway.yaml. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A service named in `needs`. */
  use<T>(service: Service<T>): T;
  /** A service named in `wants`; undefined if no plugin provides it. Call this when the service is used, not in `create`. */
  find<T>(service: Service<T>): T | undefined;
  provide<T>(service: Service<T>, implementation: T): void;
  /** The vendors of all plugins, by name; complete from `start` on. */
  vendors(): ReadonlyMap<string, Vendor>;
  styles(): ReadonlyMap<string, Style>;
  /** The routes of all plugins; complete from `start` on. */
  routes(): readonly Route[];
  /** The guards of all plugins, by name; complete from `start` on. */
  guards(): ReadonlyMap<string, Guard>;
  /** The errors of core and of all plugins of the pipeline, by their codes. */
  errors(): ReadonlyMap<string, KnownError>;
  /** Seals what is a secret in the store. */
  readonly vault: Vault;
  /** State that outlives a reload of the configuration: made the first time, the same object in every reload after it. */
  lasting<T>(state: Lasting<T>): T;
  /**
   * Asks a vendor something beside a call: whole, small, at the gateway's expense (`turnpike`'s own headers, the vendor's
   * `credentials` and signature, the channel's headers and query). Rejects if no answer comes in time.
   */
  ask(channel: Channel, question: Question): Promise<VendorReply>;
  /**
   * Posts to an address that a person gave us: public addresses only, no redirects, ten seconds. Resolves with the status, and tells
   * nothing else of the answer; rejects where it could not be delivered.
   */
  post(url: string, body: string, headers?: Readonly<Record<string, string>>): Promise<number>;
  /** Reports a mistake at a place of gateway.yaml (`['channels', 0, 'vendor']`). The start or the reload fails, naming all of them. */
  problem(path: readonly (string | number)[], message: string): void;
}

/** An error that this gateway can tell. */
export interface KnownError extends ErrorAbout {
  /** Whose table it is in: a plugin, or `core`. */
  readonly owner: string;
}

/** A request to a vendor that is no call: how many tokens, delete what you keep. */
export interface Question {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the channel's url, query included. */
  readonly path: string;
  /** The vendor's name for the model that it is about; a channel with `{model}` in its url takes no question without one. */
  readonly model?: string;
  /** Beside those of the vendor's `credentials`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
}

/** What it answers. */
export interface VendorReply {
  readonly status: number;
  /** Undefined where it is not JSON. */
  readonly body: Json | undefined;
}

/** State that outlives reloads. */
export interface Lasting<T> {
  /** Begins with the plugin's name: `quota.leases`. */
  readonly name: string;
  /** Of the shape of `T`. Increase it when the shape changes: what an older version has left is never taken for a `T`. */
  readonly version: number;
  make(): T;
  /** Makes a `T` of what another version has left. Without it, the old state is dropped, and `make` creates a new one. */
  migrate?(left: unknown, version: number): T;
}
