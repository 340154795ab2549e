/** A channel: one way to a vendor, with its address, keys and timeouts. */

import type { StyleName } from '../definitions.ts';
import type { SomeQuirks } from './quirks.ts';

/** One configured upstream. */
export interface Channel {
  readonly name: string;
  /** The name of a `Vendor`. */
  readonly vendor: string;
  /** Without a trailing slash: `https://api.example.com/v1`. `{model}` in its path is the vendor's name of a model. */
  readonly url: string;
  /** Headers of every request to it, by lower-case name; they replace those of the vendor. Undefined if there are none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Query parameters of every request to it; they replace those of the vendor. Undefined if there are none. */
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** The URL of the HTTP proxy for all requests to it, or `none`; undefined or empty: the usual one, if there is one. Never shown. */
  readonly proxy?: string | undefined;
  /** The credential; empty if the vendor needs none. Never logged, never sent anywhere but to `url`. */
  readonly key: string;
  /**
   * The position of `key` in the channel's list of keys, from 1; undefined if it has one. Each key of a list has a channel object of its own; all
   * other members are the same.
   */
  readonly keyNumber?: number | undefined;
  readonly weight: number;
  /** Channels with the lowest number are tried first. */
  readonly priority: number;
  readonly timeout: Timeouts;
  /** The styles this channel may be used for; undefined: the vendor's defaults (`Vendor.defaultStyles`). */
  readonly speaks: readonly StyleName[] | undefined;
  /** How its streams report usage: only on request, always, or never. */
  readonly streamUsage: 'include_usage' | 'always' | 'never';
  /** Quirks of its models that differ from the vendor's. */
  readonly quirks: SomeQuirks;
  /** The vendor's own fields (`Vendor.options`). */
  readonly options: Readonly<Record<string, unknown>>;
}

/**
 * Names the credential of a channel: what a vendor stores or seals for one key, no other key may be able to read. The name of the channel, for all
 * keys but the first with its position: `main`, `main#2`.
 */
export function keyNameOf({ name, keyNumber = 1 }: Pick<Channel, 'name' | 'keyNumber'>): string {
  return keyNumber === 1 ? name : `${name}#${keyNumber}`;
}

/** Timeouts in milliseconds. */
export interface Timeouts {
  /** Until the connection is established. */
  readonly connectMs: number;
  /** Until the head of the answer; default: 60 s for a stream, 600 s for a whole answer. */
  readonly headMs: number | undefined;
  /** Between two pieces of the answer. */
  readonly idleMs: number;
  /** From the request to the end of the answer, all attempts together. */
  readonly totalMs: number;
}
