/** Explains a call without making it. Provided by core. */

import { type Awaitable, type StyleName, service } from './definitions.ts';
import type { Bounds } from './formats/call.ts';
import type { Json, JsonObject } from './formats/json.ts';
import type { UseBounds } from './formats/uses.ts';
import type { Holder } from './identity.ts';

/** A hypothetical call. */
export interface SupposedCall {
  /** Returns the holder of its key; an error it throws is shown as the client's. */
  holder(): Awaitable<Holder>;
  /** A style that clients can use; any other is refused (400). */
  readonly style: StyleName;
  /** JSON. */
  readonly body: Buffer;
  /** The client's address; without it, address rules are not checked. */
  readonly ip?: string;
}

/** How the call would be handled; after a refusal, later steps as far as they can be known. No secrets. */
export interface Decision {
  readonly who: { readonly key: Named; readonly account: Named } | undefined;
  readonly call:
    | ({ readonly style: string; readonly model: string; readonly stream: boolean } & KnownBounds)
    | undefined;
  readonly plugins: readonly {
    readonly plugin: string;
    readonly says: readonly string[];
    readonly facts?: JsonObject;
    readonly refusal?: Refusal;
  }[];
  /** In the order they would be tried. */
  readonly offers: readonly ExplainedOffer[];
  /** The error the client would get; undefined if a vendor would be called. */
  readonly refusal: (Refusal & { readonly body: Json }) | undefined;
}

/** The bounds of a call, fully computed. */
export interface KnownBounds extends Omit<Bounds, 'open' | 'uses'> {
  readonly open: boolean | undefined;
  readonly uses: UseBounds | undefined;
}

/** A named amount. */
export interface Named {
  readonly id: number;
  readonly name: string;
}

/** A refusal. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** One channel that may be tried, and the request it would get. */
export interface ExplainedOffer {
  readonly channel: string;
  /** The vendor's name for the model. */
  readonly model: string;
  /** The public model whose price applies. */
  readonly priced: string;
  /** The style used upstream. */
  readonly style: string;
  readonly state: string;
  /** False if it would be skipped in its current state. */
  readonly asked: boolean;
  /** Below the channel's url. */
  readonly path: string;
  /** If client and vendor use the same style: the members of the body that differ from the client's. */
  readonly changed?: readonly string[];
  /** The same for a body that may have files: it is encoded again; this is the result. */
  readonly written?: string;
  /** Warnings of the translation. */
  readonly warnings: readonly string[];
  /** URLs that would be fetched first; they are not fetched here. */
  readonly fetched: readonly string[];
  /** Why the request to this channel cannot be shown. */
  readonly refusal?: Refusal;
}

/** Makes every plugin involved in a call explain how it would handle it. */
export interface Explaining {
  /** Nothing is taken, reserved or written, and no vendor is called. */
  explain(call: SupposedCall): Promise<Decision>;
}
/** The service `Explaining`. */
export const Explaining = service<Explaining>('explaining');
