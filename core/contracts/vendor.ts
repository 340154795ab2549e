/** A vendor: what core must know to talk to one kind of upstream. Data, and two or three small functions. */
import type { Schema } from '../plugin.ts';
import type { Call, Headers, Offer, StyleName } from './call.ts';

/** One configured upstream. */
export interface Channel {
  readonly name: string;
  /** The name of a `Vendor`. */
  readonly vendor: string;
  /** Without a trailing slash: `https://api.example.com/v1`. */
  readonly url: string;
  /** The credential; empty where the vendor needs none. Never logged, never sent anywhere but to `url`. */
  readonly key: string;
  readonly weight: number;
  /** Channels of the lowest number are tried first. */
  readonly priority: number;
  readonly timeout: Timeouts;
  /** The styles this channel may be used for; undefined: all its vendor speaks. */
  readonly speaks: readonly StyleName[] | undefined;
  /** How its streams tell their usage: only when asked to, always, or never. */
  readonly streamUsage: 'include_usage' | 'always' | 'never';
  /** The vendor's own fields (`Vendor.options`). */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Limits of waiting, in milliseconds. */
export interface Timeouts {
  /** Until the connection stands. */
  readonly connectMs: number;
  /** Until the head of the answer; undefined: 60 s for a stream, 600 s for a whole answer. */
  readonly headMs: number | undefined;
  /** Between two pieces of the answer. */
  readonly idleMs: number;
  /** From the request to the end of the answer, all attempts together. */
  readonly totalMs: number;
}

/** One kind of upstream, as a plugin brings it. */
export interface Vendor {
  readonly name: string;
  /** Fields a channel of this vendor may have beside the usual ones. */
  readonly options?: Schema;
  /** Where a channel without `url` goes; asked when a call is made, so a vendor may learn it in `start`. */
  url?(): string;
  /** True where a channel needs no key. Otherwise a channel whose key is empty is off. */
  readonly keyless?: boolean;
  readonly speaks: Readonly<Partial<Record<StyleName, Dialect>>>;
  /** The styles a channel speaks that does not list any; undefined: all of `speaks`. */
  readonly defaultStyles?: readonly StyleName[];
  /**
   * What becomes of an answer that is no success, where this vendor means something else by its status than most do: it is the
   * client's business (`relay`), another channel is asked (`next`), or this credential has to cool down and another channel is
   * asked (`busy`). Undefined: the usual rule, by which 401, 402, 403, 404, 408 and 5xx ask the next and 429 and 529 are busy.
   */
  judge?(status: number, headers: Headers): 'relay' | 'next' | 'busy' | undefined;
  /** How a path that core does not understand is called there (`passthrough`); undefined: not offered. */
  credentials?(channel: Channel): Record<string, string>;
}

/** How one vendor spells one style. */
export interface Dialect {
  /** Below the channel's url: `/chat/completions`. */
  readonly path: string | ((call: Call, offer: Offer) => string);
  /** All headers but those of the body; nothing of the client's is sent unless it stands here. */
  headers(channel: Channel, call: Call): Record<string, string>;
  /**
   * Changes the body, last before sending. Without it the client's bytes go out with only the model's name exchanged;
   * with it the body is parsed and written anew.
   */
  // biome-ignore lint/suspicious/noExplicitAny: a vendor reads fields of a body that core does not describe
  request?(body: Record<string, any>, offer: Offer): Record<string, unknown>;
}
