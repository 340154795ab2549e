/** The catalog: which models there are, and what may serve them. Provided by the plugin `models`. */

import { service } from '../definitions.ts';
import type { FailureKind, StyleName } from './call.ts';
import type { Holder } from './keys.ts';
import type { Quirks } from './quirks.ts';
import type { Channel } from './vendor.ts';

/** One model under its public name. */
export interface Model {
  /** The public name. */
  readonly name: string;
  /** The name of its entry in gateway.yaml: its own, or one with a `*` that stands for it. */
  readonly entry: string;
  readonly free: boolean;
  /** Styles it answers on; undefined: all that its channels speak, and all that can be translated. */
  readonly only: readonly string[] | undefined;
  /** Where it may be had: channel and the channel's name for it. Channels that are off are not here. */
  readonly from: readonly {
    readonly channel: Channel;
    readonly model: string;
    /** How long questions and answers may be there, in tokens, where that is known. */
    readonly limits?: Pick<Quirks['limits'], 'context' | 'max_output'>;
    /** Whether a tool that a vendor runs, by the name of its use, is offered there to clients of a style; undefined: nobody knows. */
    runs?(style: StyleName, use: string): boolean;
  }[];
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
  /**
   * The model itself and every fallback that may serve in its place. For a style: those of them that answer on it; none where the
   * model itself does not.
   */
  chain(name: string, style?: StyleName): readonly Model[];
  /** All public names, aliases among them, that can be called now and that gateway.yaml spells out. */
  names(): readonly string[];
  /** The entries whose name has a `*`, as models of that name; whatever name one of them stands for can be called, too. */
  patterns(): readonly Model[];
  /** Whether a name can be called now, be it spelled out in gateway.yaml or not. */
  serves(name: string): boolean;
  /** The channel of that name, whether or not it is off; undefined where there is none. */
  channel(name: string): Channel | undefined;
  /** What a model can do and how it does, as far as that is known; refuses (404) a name that is unknown. */
  facts(name: string): ModelFacts;
  /** How all channels do, in the order of gateway.yaml. */
  channels(): readonly ChannelStatus[];
  /**
   * Asks a channel something small, at the gateway's expense: one of its models, or the one of this public name. It says nothing
   * about how the channel does. Refuses (404) a channel that there is not, and a model that is not there.
   */
  probe(channel: string, model?: string): Promise<Probe>;
}

/** What a model is for. */
export type Purpose = 'chat' | 'embeddings' | 'images' | 'speech' | 'transcription';

/** What a model may be able to do, beside answering with text. */
export const ABILITIES = ['vision', 'tools', 'reasoning', 'structured_output', 'audio_input', 'audio_output'] as const;
/** One of them. */
export type Ability = (typeof ABILITIES)[number];

/** What is known of a model: by its styles, and by what its vendor and gateway.yaml say of it. Nothing is guessed by its name. */
export interface ModelFacts {
  /** Styles that clients may ask it in. `native`: where it is served first it is asked in the same style; else the call is translated. */
  readonly styles: readonly { readonly name: StyleName; readonly native: boolean }[];
  /** What these styles are for. Of a channel that takes any style, that is more than the model can do. */
  readonly asked: readonly Purpose[];
  /** What it is for, where its vendor or gateway.yaml tells; else empty. */
  readonly meant: readonly Purpose[];
  /** The context window and the longest answer, in tokens; undefined: nobody knows. */
  readonly context: number | undefined;
  readonly maxOutput: number | undefined;
  /** Of a model that is for chat; what is not here is not known. */
  readonly abilities: Readonly<Partial<Record<Ability, boolean>>>;
  /** `well`: all its channels are. `degraded`: some are. `down`: neither it nor a fallback can be asked as things stand. */
  readonly health: 'well' | 'degraded' | 'down';
  readonly recent: RecentCalls;
}

/** What the last 24 hours were like, as far back as this process remembers; in steps of an hour. */
export interface RecentCalls {
  /** Counting began then, unix milliseconds: a day ago, or when the process began. */
  readonly sinceMs: number;
  /** Those that were answered, and those that failed. What was refused, or left by its client before it was answered, is not here. */
  readonly served: number;
  readonly failed: number;
  /** From the beginning of the call to the first byte of its answer, milliseconds, to about a tenth; undefined: none was answered. */
  readonly p50FirstByteMs: number | undefined;
  readonly p95FirstByteMs: number | undefined;
  /** When it was answered last, unix milliseconds; undefined: not since the process began. */
  readonly lastServedMs: number | undefined;
}

/** `closed`: calls go there. `open`: none does for a while. `half-open`: the next one shows whether it is well again. */
export type ChannelState = 'closed' | 'open' | 'half-open';

/** How a channel does. Neither its key nor its address is here: this is shown. */
export interface ChannelStatus {
  readonly name: string;
  readonly vendor: string;
  /** False where it needs a key and has none: it serves nothing. */
  readonly on: boolean;
  readonly weight: number;
  readonly priority: number;
  /** That of the model which does worst there. */
  readonly state: ChannelState;
  /** Until when no call goes there, unix milliseconds; undefined unless it is `open`. */
  readonly untilMs: number | undefined;
  /** What went wrong last, if anything did since the start. `status`: the vendor's, where it answered. */
  readonly lastFailure:
    | { readonly kind: FailureKind; readonly status: number | undefined; readonly atMs: number }
    | undefined;
  /** Its attempts: those that went well and those that failed. */
  readonly recent: RecentCalls;
  /** What it serves; nothing where it is off. */
  readonly models: readonly {
    /** The public name. */
    readonly name: string;
    /** The channel's own name for it. */
    readonly model: string;
    readonly state: ChannelState;
    /** In a row, up to now. */
    readonly failures: number;
  }[];
}

/** What became of a small question. */
export interface Probe {
  readonly ok: boolean;
  /** The public name that was asked for; undefined: only for the list of models. */
  readonly model: string | undefined;
  /** The vendor's; undefined where it did not answer. */
  readonly status: number | undefined;
  readonly latencyMs: number;
  /** A sentence of ours, for administrators. */
  readonly message: string;
}

/** The service of that name. */
export const Catalog = service<Catalog>('catalog');
