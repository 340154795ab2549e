/** For plugin authors: the parts of a plugin, and the gateway's services for it. Helpers: `sdk.ts`, `translation/`. */
import type { Entrant, Unidentified } from './contracts/caller.ts';
import type { Holder } from './contracts/identity.ts';
import './bytes/json-parse.ts';
import type { Command } from './contracts/command.ts';
import type { Awaitable, Schema, Service } from './contracts/definitions.ts';
import type { Diagnosis } from './contracts/diagnosis.ts';
import type { Exchange, Known, PassthroughRoute } from './contracts/exchange.ts';
import type { Attempt, Offer } from './contracts/formats/call.ts';
import type { Content, Inspection, Revision } from './contracts/formats/content.ts';
import type { JsonObject } from './contracts/formats/json.ts';
import type { Style } from './contracts/formats/style.ts';
import type { Vendor } from './contracts/formats/vendor.ts';
import type { ErrorTable } from './contracts/gateway-error.ts';
import type { Host } from './contracts/host.ts';
import type { Guard, Route, RouteEnd } from './contracts/route.ts';
import type { Invariant, Migration, Step } from './contracts/store.ts';

export * from './contracts/command.ts';
export {
  type Accepted,
  type Awaitable,
  type Members,
  type Schema,
  type Service,
  schema,
  service,
  typed,
} from './contracts/definitions.ts';
export type * from './contracts/diagnosis.ts';
export type * from './contracts/exchange.ts';
export type * from './contracts/formats/call.ts';
export type * from './contracts/formats/content.ts';
export type * from './contracts/formats/json.ts';
export type * from './contracts/formats/style.ts';
export type * from './contracts/formats/uses.ts';
export type * from './contracts/formats/vendor.ts';
export {
  type ErrorAbout,
  type ErrorMaker,
  type ErrorPlace,
  type ErrorRow,
  type ErrorTable,
  errorObject,
  GatewayError,
  refuse,
} from './contracts/gateway-error.ts';
export type * from './contracts/host.ts';
export type { Vault } from './contracts/host.ts';
export type * from './contracts/peers.ts';
export * from './contracts/route.ts';
export { type Slot, slot } from './contracts/slot.ts';
export * from './contracts/store.ts';
export type { Clock } from './runtime/clock.ts';
export type { Log } from './runtime/logger.ts';

/** A plugin: a name, its sections of gateway.yaml, its tables, its dependencies, its parts. */
// biome-ignore lint/complexity/noBannedTypes: `{}` is the type of a plugin without sections
export interface Plugin<S extends Sections = {}, P extends Parts = Parts> {
  readonly name: string;
  /**
   * The version of the interface that it was written for. 2 is the first that external plugins may rely on: within it,
   * members are added and none is removed or changes its meaning.
   */
  readonly api: 2;
  /** Validated, with defaults filled in, before `create`. The key is the section's name in gateway.yaml. */
  readonly sections?: S;
  /** The tables it owns; migrated before `create`. */
  readonly migrations?: readonly Migration[];
  /** Required services; their providers are created first. */
  readonly needs?: readonly Service<unknown>[];
  /** Optional services; available from `link` on, if a plugin provides them. */
  readonly wants?: readonly Service<unknown>[];
  readonly provides?: readonly Service<unknown>[];
  /** Its errors, created with `defineErrors`, for the API documentation. A code that another plugin uses is refused at load. */
  readonly errors?: ErrorTable;
  /** Creates the parts. No timers, no sockets, no side effects here: those belong in `start`. */
  create(host: Host, config: Config<S>): Awaitable<P>;
}

/** Sections of gateway.yaml by name, each with its schema. */
export type Sections = Readonly<Record<string, Schema>>;

/** The values of the sections, validated and with defaults. */
export type Config<S extends Sections> = { readonly [K in keyof S]: S[K] extends Schema<infer T> ? T : never };

/** Returns the plugin unchanged, and type-checks it: its members, those of its parts, and their types. */
// biome-ignore lint/complexity/noBannedTypes: see `Plugin`
export function definePlugin<const S extends Sections = {}, P extends object = Parts>(
  plugin: Plugin<S, Parts & P & NoOthers<P>>,
): Plugin<S> {
  return plugin;
}
/** Makes the compiler refuse unknown parts. */
type NoOthers<P> = P extends unknown ? { readonly [K in Exclude<keyof P, keyof Parts>]: never } : never;

/** The targets of a call, in the order of the plugins that have an opinion on it. Throws if one of them fails. */
export type Ordered = (offers: readonly Offer[]) => readonly Offer[];

/** The parts a plugin may have. Most have one or two. */
export interface Parts {
  // The phases, in order. A plugin that has not answered after 30 s has failed: the log names it, and the call ends
  // with an error.
  /**
   * Who is calling? The first result wins; none: 401. Asked for calls, and for requests for routes that need a key: lists of models, token counts,
   * stored responses.
   */
  authenticate?(x: Unidentified): Awaitable<Holder | undefined>;
  /**
   * May this request enter? All in turn, from its head alone: neither its body nor anything it refers to has been read.
   * Called for calls and for requests with a key for routes. `refuse` stops. May take resources, and release them with
   * `defer`.
   */
  enter?(x: Entrant): Awaitable<void>;
  /**
   * May anything be done for this call? All in turn, from its model and its size as it was sent, before `inspect`. `refuse` stops. For what is
   * cheap to decide, so that callers cannot cause work that they could never pay. May take resources, and release them with `defer`.
   */
  screen?(x: Known, about: Screening): Awaitable<void>;
  /**
   * What is in this call? All in turn, before anything is admitted that depends on its size; also for requests whose
   * tokens are only counted. `refuse` stops it; the result replaces the content, or answers the call in place of a
   * vendor. Passthrough requests are not inspected.
   */
  inspect?(x: Known, content: Content): Awaitable<Inspection | undefined>;
  /** May this call proceed? All in turn; `refuse` stops. May take resources, and release them with `defer`. */
  admit?(x: Known): Awaitable<void>;
  /**
   * Which channels can serve it? The first result wins; none: 404. The next target is requested if one has failed. `ordered` asks `order` of all plugins:
   * called once, with all candidates.
   */
  route?(x: Known, ordered: Ordered): Awaitable<Iterable<Offer> | undefined>;
  /**
   * In which order are the targets tried, and which are not? All in turn, each with the result of the one before it; synchronous. Returns the same
   * objects, in its order, without those that must not be used; undefined: as they are. Health, retries and the limits of the caller's key still apply
   * to them. Also asked by `turnpike explain`: no side effects.
   */
  order?(x: Known, offers: readonly Offer[]): readonly Offer[] | undefined;
  /** Reports an attempt. All, after each attempt; synchronous. An error is logged and ignored. */
  attempted?(x: Known, attempt: Attempt): void;
  /**
   * Follows an answer, whole or streamed: called before each attempt, the last plugin of the pipeline first. Undefined:
   * not needed for this answer, which then has no extra cost. Not called for styles whose answers have no common form:
   * embeddings, images, audio.
   */
  revise?(x: Known): Revision | undefined;
  /**
   * Can the answer be paid? Called once for an answer that ends successfully, when its usage is known and before its
   * last bytes are sent. `refuse` withholds them: the client gets the error, and `settle` follows with an outcome other
   * than `served`.
   */
  pay?(x: Known): Awaitable<void>;
  /**
   * Settles a request: returns the steps to write. All, exactly once, whatever happened. The steps of all plugins are
   * written as one atomic list, and the last bytes of an answer are sent only after it is durable. If an `essential`
   * plugin fails in it, nothing is written and the call fails. If another one throws, does not answer in time, or
   * returns steps that the store refuses, it is named in the log, and the call ends without its steps.
   */
  settle?(x: Exchange): Awaitable<readonly Step[] | undefined>;
  /** Its steps of `settle` are required: no call ends successfully without them. */
  readonly essential?: boolean;
  /**
   * The steps of `settle` could not be written and will not be: the store is unchanged, and the client did not get the
   * end of its answer. Called for all plugins whose `settle` was called; synchronous. An error is logged and ignored.
   */
  unsettled?(x: Exchange): void;

  /** Reports the answer to a key's request for a route. All, once each is over; synchronous. Errors are only logged. */
  answered?(x: Entrant, end: RouteEnd): void;

  // Capabilities.
  readonly styles?: readonly Style[];
  readonly vendors?: readonly Vendor[];
  readonly routes?: readonly Route[];
  /** Who may call which route. */
  readonly guards?: Readonly<Record<string, Guard>>;
  readonly passthroughRoutes?: readonly PassthroughRoute[];
  /**
   * Prefixes of paths that clients use instead of another, with parameters as in a route: `{ '/vendor/:model': '/v1' }`. Where nothing is served below
   * the first, what is below the second is.
   */
  readonly pathAliases?: Readonly<Record<string, string>>;
  readonly commands?: readonly Command[];
  /** Invariants of the tables it owns; `turnpike reconcile` checks them. */
  readonly invariants?: readonly Invariant[];
  /**
   * Its secrets sealed with `host.vault`, for `turnpike recover --without-master-key`: their number, and the steps that
   * delete them. Called before `start`; nothing can be decrypted any more. Required of every plugin that seals
   * something.
   */
  surrender?(): Awaitable<readonly Surrender[]>;
  /** Lines for `turnpike check` about its sections. Warnings begin with `warning: `. */
  report?(): readonly string[];
  /**
   * How would it handle this call? For `turnpike explain`: nothing is taken, reserved or written. An error it throws is
   * shown as the client's, after the earlier statements.
   */
  explain?(x: Known): Iterable<Explanation> | AsyncIterable<Explanation>;

  /**
   * For `turnpike doctor`: whether what it depends on outside the gateway works (vendors, mail servers), at no cost if
   * possible. Called after `link` on plugins that do not serve: without `start`, and without a store. An error it throws
   * is a problem of the plugin, and so is an answer that takes more than 20 seconds.
   */
  diagnose?(): Awaitable<readonly Diagnosis[]>;

  // Lifecycle.
  /**
   * Every plugin is created: vendors, styles and services are complete. The last chance to report problems with
   * gateway.yaml; no side effects, because `turnpike check` runs this, too.
   */
  link?(): void;
  /** After every plugin is created, before listening. */
  start?(): Awaitable<void>;
  /** After the last request has settled, in reverse order. */
  stop?(): Awaitable<void>;
}

/** What a call is screened for. */
export interface Screening {
  /** `count`: only the tokens of the request are counted. */
  readonly purpose: 'call' | 'count';
  /** A plugin inspects the content. */
  readonly isInspected: boolean;
}

/** Secrets that are lost with their master key. */
export interface Surrender {
  /** The lost data, and the consequence: `3 authenticators: their accounts sign in with the password alone`. */
  readonly what: string;
  readonly steps: readonly Step[];
}

/** A plugin's statement about a call: a line of text, data for programs, or a target that `route` would return. */
export type Explanation = string | Stated | Offering;

/** Facts for programs. */
export interface Stated {
  readonly facts: JsonObject;
}

/** A target. */
export interface Offering {
  readonly offer: Offer;
  /** Its state as text: `well`. */
  readonly state: string;
  /** False if it would be skipped in its current state. */
  readonly asked: boolean;
}
