/** The catalog: which models there are, and what may serve them. Provided by the plugin `models`. */

import { service } from '../plugin.ts';
import type { Holder } from './keys.ts';
import type { Channel } from './vendor.ts';

/** One model under its public name. */
export interface Model {
  /** The public name. */
  readonly name: string;
  readonly free: boolean;
  /** Styles it answers; undefined: all its channels speak. */
  readonly only: readonly string[] | undefined;
  /** Where it may be had: channel and the channel's name for it. Channels that are off are not here. */
  readonly from: readonly { readonly channel: Channel; readonly model: string }[];
  /** Public names tried in turn when every channel above has failed. */
  readonly fallback: readonly string[];
  /** `price:` of its entry, unread. */
  readonly price: unknown;
  /** When the catalog first saw it, unix seconds; for model lists. */
  readonly created: number;
}

/** What is served here, as gateway.yaml says. */
export interface Catalog {
  /**
   * The model behind a public name, aliases followed; refuses with 404 `model_not_found`. Where a holder is given whose key may
   * call every model, the refusal suggests the nearest name.
   */
  require(name: string, holder?: Holder): Model;
  /** The model itself and every fallback that may serve in its place. */
  chain(name: string): readonly Model[];
  /** All public names, aliases among them, that can be called now. */
  names(): readonly string[];
  /** The channel of that name, whether or not it is off; undefined where there is none. */
  channel(name: string): Channel | undefined;
}
/** The service of that name. */
export const Catalog = service<Catalog>('catalog');
