/** The catalog of models and the channels that serve them. Provided by the plugin `models`. */

import { type StyleName, service } from './definitions.ts';
import type { FailureKind } from './formats/call.ts';
import type { Channel } from './formats/channel.ts';
import type { Quirks } from './formats/quirks.ts';
import type { Holder } from './identity.ts';

/** One model under its public name. */
export interface Model {
  /** The public name. */
  readonly name: string;
  /** The name of its entry in gateway.yaml: its own, or a pattern with `*` that matches it. */
  readonly entry: string;
  readonly free: boolean;
  /** Styles that clients can use; undefined: all that its channels support or can be translated. */
  readonly only: readonly string[] | undefined;
  /** The channels that serve it, with their name for it. Disabled channels are omitted. */
  readonly from: readonly {
    readonly channel: Channel;
    readonly model: string;
    /** Limits of input and output in tokens, if known. */
    readonly limits?: Pick<Quirks['limits'], 'context' | 'max_output'>;
    /** Whether clients of a style can use a vendor-side tool there, by the name of its use; undefined: unknown. */
    runs?(style: StyleName, use: string): boolean;
  }[];
  /** Fallbacks: public names tried in turn if every channel above has failed. */
  readonly fallback: readonly string[];
  /** `price:` of its entry, not parsed. */
  readonly price: unknown;
  /** When the catalog first saw it, unix seconds; for model lists. */
  readonly created: number;
}

/** The models of gateway.yaml. */
export interface Catalog {
  /**
   * The model of a public name, aliases resolved; refuses with 404 `model_not_found`. If `holder` has a key that may
   * call every model, the refusal suggests the nearest name.
   */
  require(name: string, holder?: Holder): Model;
  /** A public name that is served, the aliases that it stands for, and its model: the names in the order in which they lead there. */
  path(name: string): readonly string[];
  /** The model and its fallbacks. With a style: only those that support it; none if the model itself does not. */
  chain(name: string, style?: StyleName): readonly Model[];
  /** All public names, aliases included, that can be called now and that gateway.yaml spells out. */
  names(): readonly string[];
  /** The pattern entries (names with `*`) as models of that name; every matching name can be called, too. */
  patterns(): readonly Model[];
  /** Whether a name can be called now, spelled out in gateway.yaml or matched by a pattern. */
  serves(name: string): boolean;
  /** Whether gateway.yaml has the name, but all channels that could serve it are disabled. */
  isOff(name: string): boolean;
  /**
   * The channel of that name, disabled or not; undefined if there is none. Of several keys it has the first one, so that what a vendor stores is found
   * again; or the one that a name of `keyNameOf` means, if the channel still has it.
   */
  channel(name: string): Channel | undefined;
  /** The capabilities and health of a model; refuses (404) an unknown name. */
  facts(name: string): ModelFacts;
  /** The health of all channels, in the order of gateway.yaml. */
  channels(): readonly ChannelStatus[];
  /**
   * Sends a small test request to a channel at the gateway's expense: to one of its models, or the one of this public
   * name. Does not affect the channel's health. Refuses (404) an unknown channel or model.
   */
  probe(channel: string, model?: string): Promise<Probe>;
  /**
   * The names of models that the vendor lists at a channel, at most 5,000, sorted. Refuses (404) an unknown channel;
   * rejects with the reason if the vendor has no such list, or does not answer.
   */
  offered(channel: string): Promise<readonly string[]>;
}

/** The kind of output of a model. */
export type Purpose = 'chat' | 'embeddings' | 'images' | 'speech' | 'transcription';

/** Capabilities of a model in addition to text. */
export const ABILITIES = ['vision', 'tools', 'reasoning', 'structured_output', 'audio_input', 'audio_output'] as const;
/** One of them. */
export type Ability = (typeof ABILITIES)[number];

/** Known facts about a model, from its styles, its vendor and gateway.yaml. Nothing is guessed from its name. */
export interface ModelFacts {
  /** Styles that clients can use. `native`: the first channel uses the same style; otherwise the call is translated. */
  readonly styles: readonly { readonly name: StyleName; readonly native: boolean }[];
  /** The kind of output of these styles. If a channel supports any style, that is more than the model can do. */
  readonly asked: readonly Purpose[];
  /** The outputs of the model, if its vendor or gateway.yaml defines them; otherwise empty. */
  readonly meant: readonly Purpose[];
  /** The context window and the maximum output, in tokens; undefined: unknown. */
  readonly context: number | undefined;
  readonly maxOutput: number | undefined;
  /** For chat models; a missing capability is unknown. */
  readonly abilities: Readonly<Partial<Record<Ability, boolean>>>;
  /** `well`: all its channels are healthy. `degraded`: some are. `down`: neither it nor a fallback is available. */
  readonly health: 'well' | 'degraded' | 'down';
  readonly recent: RecentCalls;
}

/** The last 24 hours, as far back as this process remembers; in steps of an hour. */
export interface RecentCalls {
  /** Start of counting, unix milliseconds: a day ago, or the start of the process. */
  readonly sinceMs: number;
  /** Served and failed calls. Refused calls and those whose client disconnected before the answer are not counted. */
  readonly served: number;
  readonly failed: number;
  /** Time to first byte, milliseconds, precise to about a tenth; undefined: no call was served. */
  readonly p50FirstByteMs: number | undefined;
  readonly p95FirstByteMs: number | undefined;
  /** Last served call, unix milliseconds; undefined: none since the start of the process. */
  readonly lastServedMs: number | undefined;
}

/** Circuit state. `closed`: calls are sent. `open`: none until its pause is over. `half-open`: the next call decides. */
export type ChannelState = 'closed' | 'open' | 'half-open';

/** The state of a channel. Contains neither its key nor its address, because it is shown to users. */
export interface ChannelStatus {
  readonly name: string;
  readonly vendor: string;
  /** False if it needs a key and has none: it serves nothing. */
  readonly on: boolean;
  readonly weight: number;
  readonly priority: number;
  /** The state of its worst model. */
  readonly state: ChannelState;
  /** End of the open state, unix milliseconds; undefined unless `open`. */
  readonly untilMs: number | undefined;
  /** The last failure since the start, if any. `status`: the vendor's, if it answered. */
  readonly lastFailure:
    | { readonly kind: FailureKind; readonly status: number | undefined; readonly atMs: number }
    | undefined;
  /** Successful and failed attempts. */
  readonly recent: RecentCalls;
  /** Its keys, in order; empty ones are left out. */
  readonly keys: readonly KeyStatus[];
  /** The models it serves; empty if disabled. */
  readonly models: readonly {
    /** The public name. */
    readonly name: string;
    /** The channel's name for it. */
    readonly model: string;
    readonly state: ChannelState;
    /** Consecutive failures. */
    readonly failures: number;
  }[];
}

/** The state of a key of a channel. Contains nothing of the key itself. */
export interface KeyStatus {
  /** Its position in gateway.yaml, from 1. */
  readonly number: number;
  /** `paused`: the vendor has limited it. `refused`: the vendor does not accept it. Both end at `untilMs`. */
  readonly state: 'available' | 'paused' | 'refused';
  /** Unix milliseconds; undefined if it is available. */
  readonly untilMs: number | undefined;
}

/** The result of a test request. */
export interface Probe {
  readonly ok: boolean;
  /** The public name that was tested; undefined: only the model list was requested. */
  readonly model: string | undefined;
  /** The vendor's status; undefined if it did not answer. */
  readonly status: number | undefined;
  readonly latencyMs: number;
  /** A message for administrators. */
  readonly message: string;
}

/** The service `Catalog`. */
export const Catalog = service<Catalog>('catalog');
