/** What would become of a call that nobody makes. Provided by core. */
import { type Awaitable, service } from '../definitions.ts';
import type { Bounds, StyleName } from './call.ts';
import type { Json, JsonObject } from './json.ts';
import type { Holder } from './keys.ts';
import type { UseBounds } from './uses.ts';

/** A call that nobody makes. */
export interface SupposedCall {
  /** Whose key it comes with; what it throws is what the client would be told. */
  holder(): Awaitable<Holder>;
  /** One that clients can ask in; any other is refused (400). */
  readonly style: StyleName;
  /** JSON. */
  readonly body: Buffer;
  /** Where it comes from; without it, that is not looked at. */
  readonly ip?: string;
}

/** What would become of a call; what comes after a refusal is told as far as it can be known. No secrets in it. */
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
  /** In the order in which they would be asked. */
  readonly offers: readonly ExplainedOffer[];
  /** What the client would be told; undefined where a vendor would be asked. */
  readonly refusal: (Refusal & { readonly body: Json }) | undefined;
}

/** The bounds of a call with everything worked out. */
export interface KnownBounds extends Omit<Bounds, 'open' | 'uses'> {
  readonly open: boolean | undefined;
  readonly uses: UseBounds | undefined;
}

/** Something with a number and a name. */
export interface Named {
  readonly id: number;
  readonly name: string;
}

/** A no. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** One channel that may be asked, and what it would get. */
export interface ExplainedOffer {
  readonly channel: string;
  /** The vendor's name for the model. */
  readonly model: string;
  /** The public model whose price applies. */
  readonly priced: string;
  /** The style spoken there. */
  readonly style: string;
  readonly state: string;
  /** False where it is passed over as things stand. */
  readonly asked: boolean;
  /** Below the channel's url. */
  readonly path: string;
  /** Where client and vendor speak one style: the members of the body that are not the client's. */
  readonly changed?: readonly string[];
  /** The same where the body has files in it: it is written anew, and this is what it becomes. */
  readonly written?: string;
  /** What cannot be carried over. */
  readonly losses: readonly string[];
  /** Addresses that would be fetched first; what is behind them is not looked at. */
  readonly fetched: readonly string[];
  /** Why it cannot be said there. */
  readonly refusal?: Refusal;
}

/** Asks everybody who has a say in a call what it would be. */
export interface Explaining {
  /** Nothing is taken, held or written, and no vendor is sent the call. */
  explain(call: SupposedCall): Promise<Decision>;
}
/** The service of that name. */
export const Explaining = service<Explaining>('explaining');
