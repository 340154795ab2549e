/** The interface for plugin authors: what a plugin is, what it may do, and what the gateway gives it. Helpers are in `sdk.ts` and `translation/`. */
import type { Attempt, Offer } from './contracts/call.ts';
import type { Command } from './contracts/command.ts';
import type { Content, Inspection, Revision } from './contracts/content.ts';
import type { Entrant, Exchange, Known, Passage } from './contracts/exchange.ts';
import type { Host } from './contracts/host.ts';
import type { JsonObject } from './contracts/json.ts';
import type { Holder } from './contracts/keys.ts';
import type { Guard, Route, RouteEnd } from './contracts/route.ts';
import type { Invariant, Migration, Step } from './contracts/store.ts';
import type { Style } from './contracts/style.ts';
import type { Vendor } from './contracts/vendor.ts';
import type { Awaitable, Schema, Service } from './definitions.ts';
import type { ErrorTable } from './errors.ts';

export type { Clock } from './clock.ts';
export type * from './contracts/call.ts';
export * from './contracts/command.ts';
export type * from './contracts/content.ts';
export type * from './contracts/exchange.ts';
export type * from './contracts/host.ts';
export type * from './contracts/json.ts';
export type * from './contracts/peers.ts';
export * from './contracts/route.ts';
export * from './contracts/store.ts';
export type * from './contracts/style.ts';
export type * from './contracts/uses.ts';
export type * from './contracts/vendor.ts';
export { type Awaitable, type Schema, type Service, schema, service } from './definitions.ts';
export {
  type ErrorAbout,
  type ErrorMaker,
  type ErrorPlace,
  type ErrorRow,
  type ErrorTable,
  errorObject,
  GatewayError,
  refuse,
} from './errors.ts';
export type { Log } from './log.ts';
export { type Slot, slot } from './slot.ts';
export type { Vault } from './vault.ts';

/** A plugin: a name, its sections of gateway.yaml, its tables, what it needs and gives, its parts. */
// biome-ignore lint/complexity/noBannedTypes: `{}` is the type of a plugin without sections
export interface Plugin<S extends Sections = {}, P extends Parts = Parts> {
  readonly name: string;
  /**
   * The version of the interface that it was written for. 2 is the first that plugins outside the repository may rely on: within it, members are added
   * and none is removed or changes its meaning.
   */
  readonly api: 2;
  /** Checked, and defaults filled in, before `create`. The key is the section's name in gateway.yaml. */
  readonly sections?: S;
  /** The tables it owns; brought up to date before `create`. */
  readonly migrations?: readonly Migration[];
  /** Services without which it cannot work; their providers are created first. */
  readonly needs?: readonly Service<unknown>[];
  /** Services it uses where some plugin provides them; there from `link` on, at the latest. */
  readonly wants?: readonly Service<unknown>[];
  readonly provides?: readonly Service<unknown>[];
  /** The errors that it tells, made with `defineErrors`: for the descriptions of the interface. A code that another plugin has is refused at load. */
  readonly errors?: ErrorTable;
  /** Makes the parts. No timers, no sockets, no side effects here: those belong in `start`. */
  create(host: Host, config: Config<S>): Awaitable<P>;
}

/** Sections of gateway.yaml by name, each with its schema. */
export type Sections = Readonly<Record<string, Schema>>;

/** What the sections hold, checked and with defaults. */
export type Config<S extends Sections> = { readonly [K in keyof S]: S[K] extends Schema<infer T> ? T : never };

/** Returns the plugin as it is, and makes the compiler check it: its members, those of its parts, and their types. */
// biome-ignore lint/complexity/noBannedTypes: see `Plugin`
export function definePlugin<const S extends Sections = {}, P extends object = Parts>(
  plugin: Plugin<S, Parts & P & NoOthers<P>>,
): Plugin<S> {
  return plugin;
}
/** Makes the compiler refuse what is not a part. */
type NoOthers<P> = P extends unknown ? { readonly [K in Exclude<keyof P, keyof Parts>]: never } : never;

/** The parts a plugin may play. Most play one or two. */
export interface Parts {
  // The nine phases, in the order they run. One that has not answered after 30 s has failed: the log names it, and the call ends with an error.
  /** Who is calling? The first answer wins; none: 401. */
  authenticate?(x: Exchange): Awaitable<Holder | undefined>;
  /**
   * May this request come in? All in turn, from its head alone: no byte of its body has been read, and nothing it refers to. Asked
   * of calls and of routes that a key asks for. `refuse` stops. May take, and give back with `defer`.
   */
  enter?(x: Entrant): Awaitable<void>;
  /**
   * What is in this call? All in turn, before anything is admitted that depends on its size; also of requests whose tokens are only counted.
   * `refuse` stops it; what is returned replaces the content, or answers the call in place of a vendor. Calls of a passage have no content
   * that could be read, and are not inspected.
   */
  inspect?(x: Known, content: Content): Awaitable<Inspection | undefined>;
  /** May this call go ahead? All in turn; `refuse` stops. May take, and give back with `defer`. */
  admit?(x: Known): Awaitable<void>;
  /** Which channels can serve it? The first answer wins; none: 404. Offers are pulled one at a time, after the last has failed. */
  route?(x: Known): Awaitable<Iterable<Offer> | undefined>;
  /** How did that channel do? All, after each attempt; synchronous. A throw is logged and ignored. */
  attempted?(x: Known, attempt: Attempt): void;
  /**
   * Follows an answer, whole or streamed: for each attempt before it is made, the last plugin of the pipeline first. Undefined: it has
   * nothing to do with this one, which costs nothing then. Calls of styles whose answers have no common form are not revised: embeddings,
   * images, audio.
   */
  revise?(x: Known): Revision | undefined;
  /**
   * Can the answer be paid? Asked once of an answer that ends well, when what it used is known and before its last bytes leave.
   * `refuse` withholds them: the client is told why, and `settle` follows with an outcome that is not `served`.
   */
  pay?(x: Known): Awaitable<void>;
  /**
   * What was used, what do we keep? All, exactly once, whatever happened. The steps of all plugins are written as one atomic
   * list, and the last bytes of an answer leave only after it is durable. If an `essential` plugin fails in it, nothing is written and the
   * call does not end well. If another one throws, does not answer in time, or returns steps that the store refuses, it is named in the log,
   * and the call ends without its steps.
   */
  settle?(x: Exchange): Awaitable<readonly Step[] | undefined>;
  /** Its steps of `settle` are part of the books: no call ends well without them. */
  readonly essential?: boolean;
  /**
   * What `settle` said could not be written, and will not be: nothing of it is in the books, and the client got no good ending. All that were asked;
   * synchronous. A throw is logged and ignored.
   */
  unsettled?(x: Exchange): void;

  /** What was a key's request for a route answered? All, once each is over; synchronous. A throw is logged and ignored. */
  answered?(x: Entrant, end: RouteEnd): void;

  // Capabilities.
  readonly styles?: readonly Style[];
  readonly vendors?: readonly Vendor[];
  readonly routes?: readonly Route[];
  /** Who may call which route. */
  readonly guards?: Readonly<Record<string, Guard>>;
  readonly passages?: readonly Passage[];
  readonly commands?: readonly Command[];
  /** What must hold in the tables it owns; `turnpike reconcile` asks. */
  readonly invariants?: readonly Invariant[];
  /**
   * What it keeps sealed with `host.vault`, for `turnpike recover --without-master-key`: how much of it there is, and the steps that give
   * it up. Called before `start`; nothing can be opened any more. Every plugin that seals something has this.
   */
  surrender?(): Awaitable<readonly Surrender[]>;
  /** Lines for `turnpike check`: what it found in its sections. Warnings begin with `warning: `. */
  report?(): readonly string[];
  /**
   * What would it do with this call? For `turnpike explain`: nothing is taken, held or written. What it throws is what the
   * client would be told; what was said before is shown all the same.
   */
  explain?(x: Known): Iterable<Explanation> | AsyncIterable<Explanation>;

  // Lifecycle.
  /**
   * Every plugin is created: vendors, styles and services are complete. The last chance to report problems with gateway.yaml;
   * no side effects, for `turnpike check` comes this far, too.
   */
  link?(): void;
  /** After every plugin is created, before listening. */
  start?(): Awaitable<void>;
  /** After the last exchange has settled, in reverse order. */
  stop?(): Awaitable<void>;
}

/** Secrets that are lost with their master key. */
export interface Surrender {
  /** What is lost, and what follows from it: `3 authenticators: their accounts sign in with the password alone`. */
  readonly what: string;
  readonly steps: readonly Step[];
}

/** What a plugin says about a call: a line for people, facts for programs, or an offer that `route` would make, in its place among them. */
export type Explanation = string | Stated | Offering;

/** Facts for programs. */
export interface Stated {
  readonly facts: JsonObject;
}

/** An offer that would be made. */
export interface Offering {
  readonly offer: Offer;
  /** For people: `well`. */
  readonly state: string;
  /** False where it would be passed over as things stand. */
  readonly asked: boolean;
}
