/** The services that a plugin gets from the gateway. */

import type { Agent } from 'node:http';
import type { Readable } from 'node:stream';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/logger.ts';

import type { Service } from './definitions.ts';
import type { Channel } from './formats/channel.ts';
import type { Json } from './formats/json.ts';
import type { Style } from './formats/style.ts';
import type { Vendor } from './formats/vendor.ts';
import type { ErrorAbout } from './gateway-error.ts';
import type { Peers } from './peers.ts';
import type { Guard, Route } from './route.ts';
import type { Store } from './store.ts';

/** The gateway's interface for a plugin. */
export interface Host {
  readonly store: Store;
  readonly log: Log;
  /** It stands still while a phase runs for the calls of a turn: what a plugin does synchronously takes no time by it. */
  readonly clock: Clock;
  /** Identifies this run of the process, so that leftovers of an earlier run can be recognized. */
  readonly boot: string;
  /** The other processes of this gateway or cluster. */
  readonly peers: Peers;
  /** The environment variables at the start. Configuration belongs in a section of gateway.yaml. */
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
  /** Encrypts secrets for the store. */
  readonly vault: Vault;
  /** State that survives a reload: created the first time, the same object after every reload. */
  lasting<T>(state: Lasting<T>): T;
  /**
   * Sends a vendor a small request that is not a call, at the gateway's expense (with `turnpike`'s own headers, the
   * vendor's `credentials` and signature, the channel's headers and query), and reads the whole answer. Rejects if no
   * answer comes in time.
   */
  ask(channel: Channel, question: Question): Promise<VendorReply>;
  /**
   * The same for an answer that arrives over time, such as an event stream: resolves with its head. The vendor is read as fast as the body is read,
   * and fails if the vendor breaks off or falls silent.
   */
  askStream(channel: Channel, question: Question): Promise<VendorStream>;
  /**
   * `fetch`, through the proxy of gateway.yaml or the environment if there is one: for requests to servers that the operator has chosen, except
   * vendors (`ask`).
   */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  /** The same for libraries that use `node:http` and `node:https`: creates an agent for requests to the server of this URL. */
  agent(url: string | URL): Agent;
  /**
   * Posts to a user-supplied URL: public addresses only, no redirects, ten seconds. Resolves with the status and
   * nothing else of the answer; rejects if the request could not be delivered.
   */
  post(url: string, body: string, headers?: Readonly<Record<string, string>>): Promise<number>;
  /**
   * Reports a configuration mistake at a path of gateway.yaml (`['channels', 0, 'vendor']`). The start or the reload
   * fails and lists all of them.
   */
  problem(path: readonly (string | number)[], message: string): void;
  /** Reports a warning at a path of gateway.yaml: it works, but is not advisable. `turnpike check` and the console show it. */
  warn(path: readonly (string | number)[], message: string): void;
}

/** An error of core or of a plugin. */
export interface KnownError extends ErrorAbout {
  /** The plugin that defines it, or `core`. */
  readonly owner: string;
}

/** A request to a vendor that is not a call: count tokens, delete a stored answer. */
export interface Question {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the channel's url, query included. */
  readonly path: string;
  /** The vendor's name for the model; required if the channel's url contains `{model}`. */
  readonly model?: string;
  /** In addition to those of the vendor's `credentials`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
}

/** Its answer. */
export interface VendorReply {
  readonly status: number;
  /** Undefined if it is not JSON. */
  readonly body: Json | undefined;
}

/** An answer that arrives over time. Its body must be read, or destroyed: that ends the request. */
export interface VendorStream {
  readonly status: number;
  readonly body: Readable;
}

/** State that outlives reloads. */
export interface Lasting<T> {
  /** Starts with the plugin's name: `quota.leases`. */
  readonly name: string;
  /** The version of the shape of `T`. Increase it with each change: older state is never used as a `T`. */
  readonly version: number;
  make(): T;
  /** Converts the state of another version. Without it, the old state is dropped, and `make` creates a new one. */
  migrate?(left: unknown, version: number): T;
}

/** Encrypts and decrypts secrets. */
export interface Vault {
  /** Encrypts a secret for its row `place` (`totp.secret 7`): for another one it cannot be decrypted. */
  seal(place: string, secret: string): string;
  /** Decrypts. Throws if it was sealed for another place or with another master key, or was changed. */
  open(place: string, sealed: string): string;
  /** Whether a text is sealed, with this master key or another one. */
  isSealed(text: string): boolean;
  /** A key for another purpose, the same in every process with this master key; 32 bytes. */
  derive(purpose: string): Buffer;
  /** An id of the master key that discloses nothing of it; 16 hexadecimal characters. */
  readonly keyId: string;
}
