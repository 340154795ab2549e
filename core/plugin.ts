/** The one page a plugin author reads: what a plugin is, what parts it may play, what it gets from the gateway. */
import type { Clock } from './clock.ts';
import type { Account } from './contracts/accounts.ts';
import type { Attempt, Call, Headers, Json, JsonObject, Offer, Outcome, Usage } from './contracts/call.ts';
import type { Content, Inspection, Revision } from './contracts/content.ts';
import type { Holder } from './contracts/keys.ts';
import type { Peers } from './contracts/peers.ts';
import type { AccessToken, Session } from './contracts/sessions.ts';
import type { Style } from './contracts/style.ts';
import type { Channel, Vendor } from './contracts/vendor.ts';
import { sharedByCopies } from './copies.ts';
import type { Schema, Service } from './definitions.ts';
import type { GatewayError } from './errors.ts';
import type { Log } from './log.ts';
import type { Vault } from './vault.ts';

export { canonicalRange, createAddressList } from './address.ts';
export { BASE62, randomBase62 } from './base62.ts';
export { boundedMap } from './bounded.ts';
export { type Chore, createChore } from './chore.ts';
export type { Clock } from './clock.ts';
export { all, type Condition, condition, contains, either, mentions, readPage } from './conditions.ts';
export { nearest } from './config/nearest.ts';
export { checkValue } from './config/validator.ts';
export { byteSize, duration, durationMs, size } from './config/values.ts';
export type * from './contracts/call.ts';
export type * from './contracts/content.ts';
export type * from './contracts/conversation.ts';
export type * from './contracts/peers.ts';
export type * from './contracts/quirks.ts';
export type * from './contracts/style.ts';
export * from './contracts/uses.ts';
export type * from './contracts/vendor.ts';
export { type Schema, type Service, schema, service } from './definitions.ts';
export { errorObject, GatewayError, refuse } from './errors.ts';
export { CUT_SHORT, eventData, eventName, isClosed, isCutShort, isEndMark, patchedEvent } from './events.ts';
export { isPublicAddress } from './guarded-fetch.ts';
export { type JsonBody, knownJson, type ScanFacts, type Span, scanAnswer, scanJson } from './json.ts';
export { behindSpace, closingQuote, jsonTextLength } from './json-text.ts';
export { checkKinds } from './kinds.ts';
export type { Log } from './log.ts';
export { readName } from './names.ts';
export { listenPrivately } from './private-socket.ts';
export { isInScope, type Scope, scopeProperties } from './scope.ts';
export { starIn } from './star.ts';
export { addAmounts, checkedValue } from './store-values.ts';
export { table } from './table.ts';
export { startAhead, startThread, type Thread, type ThreadEvents } from './thread.ts';
export { argumentsOf } from './translation/arguments.ts';
export { CARRIER, packOpaque, UNSEALED, unpackOpaque } from './translation/carrier.ts';
export { overflowTokens } from './translation/context-overflow.ts';
export { dataUrl, type Media, readDataUrl } from './translation/data-url.ts';
export { describedSchema } from './translation/described-schema.ts';
export { type Fields, isObject, readFields } from './translation/fields.ts';
export { foldParts, partsOf } from './translation/fold.ts';
export { choosesHosted } from './translation/hosted-choice.ts';
export { dropSearchExtras, dropSummaryLength, isBlank, omitRest, omitUnsaid } from './translation/leftovers.ts';
export { answerLimits } from './translation/limits.ts';
export { isOneOf, layQuirks, quirksOfModel, quirksSchema } from './translation/quirks.ts';
export { retell } from './translation/retell.ts';
export { createTextRevision, Shifts, type TextFlow, type TextReviser } from './translation/text-revision.ts';
export { flatName } from './translation/tool-names.ts';
export { given, member, objectsIn, parsed, tokensIn } from './translation/values.ts';
export { readVendorError, type VendorError, vendorError } from './translation/vendor-errors.ts';
export { countedUsage, NO_TOKENS, withCountedOutput } from './usage.ts';
export type { Vault } from './vault.ts';

/** Now or later: whoever can answer at once need not make a promise. */
export type Awaitable<T> = T | Promise<T>;

/** A plugin: a name, its sections of gateway.yaml, its tables, what it needs and gives, its parts. */
// biome-ignore lint/complexity/noBannedTypes: `{}` is the type of a plugin without sections
export interface Plugin<S extends Sections = {}> {
  readonly name: string;
  /** The interface version it was written for. */
  readonly api: 1;
  /** Checked, and defaults filled in, before `create`. The key is the section's name in gateway.yaml. */
  readonly sections?: S;
  /** The tables it owns; brought up to date before `create`. */
  readonly migrations?: readonly Migration[];
  /** Services without which it cannot work; their providers are created first. */
  readonly needs?: readonly Service<unknown>[];
  /** Services it uses where some plugin provides them; there from `link` on, at the latest. */
  readonly wants?: readonly Service<unknown>[];
  readonly provides?: readonly Service<unknown>[];
  /** Makes the parts. No timers, no sockets, no side effects here: those belong in `start`. */
  create(host: Host, config: Config<S>): Awaitable<Parts>;
}
/** Sections of gateway.yaml by name, each with its schema. */
export type Sections = Readonly<Record<string, Schema>>;
/** What the sections hold, checked and with defaults. */
export type Config<S extends Sections> = { readonly [K in keyof S]: S[K] extends Schema<infer T> ? T : never };

/** Says that an object is a plugin, and lets the compiler check it. */
// biome-ignore lint/complexity/noBannedTypes: see `Plugin`
export function definePlugin<const S extends Sections = {}>(plugin: Plugin<S>): Plugin<S> {
  return plugin;
}

/** The parts a plugin may play. Most play one or two. */
export interface Parts {
  // The nine phases, in the order they run.
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
   * list, and the last bytes of an answer leave only after it is durable.
   */
  settle?(x: Exchange): Awaitable<readonly Step[] | undefined>;
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

/** What a plugin gets from the gateway. */
export interface Host {
  readonly store: Store;
  readonly log: Log;
  readonly clock: Clock;
  /** Names this run of the process; whatever another run left open can be told by it. */
  readonly boot: string;
  /** The processes that serve together with this one. */
  readonly peers: Peers;
  /** The environment the gateway was started with. What is configured belongs into a section of gateway.yaml. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A service named in `needs`. */
  use<T>(service: Service<T>): T;
  /** A service named in `wants`, where somebody provides it. Ask when it is used, not in `create`. */
  find<T>(service: Service<T>): T | undefined;
  provide<T>(service: Service<T>, implementation: T): void;
  /** The vendors of all plugins, by name; complete from `start` on. */
  vendors(): ReadonlyMap<string, Vendor>;
  styles(): ReadonlyMap<string, Style>;
  /** The routes of all plugins; complete from `start` on. */
  routes(): readonly Route[];
  /** Seals what is a secret in the store. */
  readonly vault: Vault;
  /** Something that outlives a reload of the configuration: made the first time, the same object ever after. */
  lasting<T>(name: string, make: () => T): T;
  /**
   * Asks a vendor something beside a call: whole, small, at the gateway's expense (`turnpike`'s own headers and the vendor's
   * `credentials`). Rejects where no answer comes in time.
   */
  ask(channel: Channel, question: Question): Promise<VendorReply>;
  /**
   * Posts to an address that a person gave us: public addresses only, no redirects, ten seconds. Resolves with the status, and tells
   * nothing else of the answer; rejects where it could not be delivered.
   */
  post(url: string, body: string, headers?: Readonly<Record<string, string>>): Promise<number>;
  /** Reports a mistake at a place of gateway.yaml (`['channels', 0, 'vendor']`). The start or the reload fails, naming all of them. */
  problem(path: readonly (string | number)[], message: string): void;
}

/** A request to a vendor that is no call: how many tokens, delete what you keep. */
export interface Question {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the channel's url, query included. */
  readonly path: string;
  /** Beside those of the vendor's `credentials`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
}
/** What it answers. */
export interface VendorReply {
  readonly status: number;
  /** Undefined where it is not JSON. */
  readonly body: Json | undefined;
}

/** Whoever asks: the facts about a request that guards and authentication may read. */
export interface Caller {
  /** `POST`. */
  readonly method: string;
  /** Without the query; exactly as it came. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  /** The client's address: the socket's, or what a trusted proxy says. */
  readonly ip: string;
}

/** A request whose sender may still be taken in or not. */
interface Arriving extends Caller {
  /**
   * 26 characters, made by us, the first ten of them the time (milliseconds, base 32), so that ids are in its order. It is the
   * `x-request-id` and the id of the usage record.
   */
  readonly id: string;
  /** Undone last-in first-out at its end; of a call before `settle`. */
  defer(release: () => Awaitable<void>): void;
  /** A header of the answer, as long as the head has not left; refusals carry it, too. */
  header(name: string, value: string): void;
}

/** A request at the door: who sends it, and what its head says. A call, or a request for a route. */
export interface Entrant extends Arriving {
  readonly identity: Holder;
}

/** How a request for a route ended. */
export interface RouteEnd {
  readonly route: Route;
  readonly status: number;
  /** Of a refusal, as its answer had it; undefined where the route answered. */
  readonly code: string | undefined;
}

/** One client request and everything that became of it. */
export interface Exchange extends Arriving {
  readonly startedMs: number;
  /** The style asked for; undefined for a passage. */
  readonly style: Style | undefined;
  readonly passage: Passage | undefined;
  /** Fires when the client goes away or the gateway cuts the exchange off. */
  readonly signal: AbortSignal;
  readonly identity: Holder | undefined;
  /** Readable from `admit` on. */
  readonly call: Call;
  readonly attempts: readonly Attempt[];
  /** The offer that serves, once one does. */
  readonly served: Offer | undefined;
  /** What was used so far: the vendor's word, else our own count of what was delivered; undefined where nothing was. */
  readonly usage: Usage | undefined;
  /** True once a byte of the vendor's answer has gone to the client. */
  readonly delivered: boolean;
  /** Set before `settle`. */
  readonly outcome: Outcome | undefined;
  /**
   * The answer as the client got it, as a whole answer of its style, in `settle` of a call that was served. Undefined of an answer that is
   * no JSON, and of a stream unless `keepAnswer` was called or its style keeps answers anyway (responses); streams of images and of what was
   * heard have none.
   */
  answer(): JsonObject | undefined;
  /** Collects the answer of this call if it is streamed, for `answer`: called in `inspect` or `admit`. A stream of several answers (`n`) has none. */
  keepAnswer(): void;
  /** The status the client got, or would have got. */
  readonly status: number;
  /** Counts so many bytes as held in memory until its end, as its body is; refuses with 429 or 503 where that is too much. */
  hold(bytes: number): void;
  /** For the usage record. */
  note(facts: JsonObject): void;
  /** Names a field of the request that the gateway does not do as asked: the client finds it among the warnings, `store:dropped`. */
  drop(field: string): void;
  readonly notes: JsonObject;
  /**
   * Limits the answer to so many tokens, for each of its choices: every vendor that is asked from now on is told so, and the client
   * finds it among the warnings. A limit of the client's that is lower stays.
   */
  limitOutput(tokens: number): void;
  /**
   * Asks `look` before a piece of a stream leaves that answers something; `textLength`: the characters of the answer with it. Where it
   * makes a promise the piece waits for that, and so does the vendor; a rejection cuts the answer off before the piece.
   */
  watch(look: (textLength: number) => Promise<void> | undefined): void;
  /** Cuts a running answer off: an error event in the client's style, no good ending. */
  cut(error: Error): void;
}

/** An exchange whose sender has been identified. */
export interface Known extends Exchange {
  readonly identity: Holder;
}

/** An endpoint that is not a model call: `GET /v1/models`, the console's, metrics. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'any';
  /** `/v1/models/:id`; `:id` matches one segment, `:id*` the rest. */
  readonly path: string;
  /**
   * `none`: whatever comes is not looked at. `bytes`: of any type, exactly as it came, in `request.bytes`; for signed
   * notifications. Else JSON.
   */
  readonly takes?: 'none' | 'bytes';
  /** The largest body it takes, in bytes; else as large as a call's. */
  readonly maxBody?: number;
  /** Names of guards; all must agree. */
  readonly access: 'public' | readonly string[];
  /** A key's requests for it do not pass `enter`, so that no limit of the key counts them: for what costs next to nothing. */
  readonly uncounted?: boolean;
  /** Pages of other sites may call it from a browser, as they may make calls: only where a key counts and no cookie does. */
  readonly cors?: boolean;
  /** Checked, and defaults filled in, before `handle`; a wrong body is refused with 400. Without it any JSON object is taken. */
  readonly body?: Schema;
  /**
   * What the query may say: an object of strings, integers and booleans. Read, checked and with defaults in `request.asked`;
   * what it does not name is not looked at.
   */
  readonly search?: Schema;
  /** For the description of the interface; a route without is not described. */
  readonly about?: RouteAbout;
  /** A refusal as this route spells it; else the error object. */
  error?(error: GatewayError, requestId: string): Json;
  /** A value becomes JSON; `answer(…)` sets status, headers and other bodies. */
  handle(request: ApiRequest): Awaitable<unknown>;
}

/** What the description of the interface (OpenAPI) says of a route. */
export interface RouteAbout {
  /** One line. */
  readonly summary: string;
  /** The group it belongs to: `Keys`. */
  readonly tag: string;
  /** The body of the answer where all went well; a media type where that is not JSON. */
  readonly answer: Schema | string;
  /** Its status where that is not 200. */
  readonly status?: number;
  /** How its caller shows who it is; none of them: nobody needs to. */
  readonly credentials: readonly ('session' | 'accessToken' | 'key')[];
  /** Who else may not, and what else it wants, in sentences. */
  readonly notes?: string;
}

/** A request for a route, with what its guards found out. */
export interface ApiRequest extends Caller {
  readonly id: string;
  /** What the path's `:names` matched. */
  readonly params: Readonly<Record<string, string>>;
  /** Undefined where none was sent. */
  readonly body: Json | undefined;
  /** The body as it came, where the route takes `bytes`; else empty. */
  readonly bytes: Buffer;
  /** What the query says by the route's `search`; else empty. */
  readonly asked: JsonObject;
  /** Who the guards say it is. */
  readonly account: Account | undefined;
  readonly holder: Holder | undefined;
  readonly session: Session | undefined;
  readonly accessToken: AccessToken | undefined;
}

/** What guards find out about a caller. */
export interface Found {
  readonly account?: Account;
  readonly holder?: Holder;
  readonly session?: Session;
  readonly accessToken?: AccessToken;
}

/** Refuses, or says who it is. `found`: what the guards before it found out. */
export type Guard = (request: Caller, found: Found) => Awaitable<Found | undefined>;

/** An answer of a route with more than a JSON body. */
export class Answer {
  readonly status: number;
  readonly body: string | Buffer | undefined;
  readonly headers: AnswerHeaders;
  constructor(status: number, body: string | Buffer | undefined, headers: AnswerHeaders) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}
sharedByCopies(Answer, 'Answer');
/** Headers by lower-case name; a list is sent as several lines, as `set-cookie` needs. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;
/** Makes one; `body` goes out as it is, without a `content-type` unless `headers` names it. */
export function answer(status: number, body?: string | Buffer, headers: AnswerHeaders = {}): Answer {
  return new Answer(status, body, headers);
}

/**
 * A path prefix whose bytes core only carries, websockets included: authenticated, admitted and logged like a call, never
 * understood.
 */
export interface Passage {
  /** `/v1/files`; matches itself and everything below. */
  readonly prefix: string;
  /** Where it goes. The same answer however often it is asked for one exchange: the ledger reads the price of it. */
  target(x: Known): PassageTarget;
}
/** Where one request of a passage goes, with what, and for how much. */
export interface PassageTarget {
  readonly channel: Channel;
  /** The whole address, query included. */
  readonly url: URL;
  /** Everything that goes upstream beside the headers of the body. */
  readonly headers: Record<string, string>;
  /** Takes part in the ledger as this much per request; 0n is free. */
  readonly price: bigint;
}

/** A command of the command line. It runs inside the running gateway where there is one, else on its own. */
export interface Command {
  /** `key create`. */
  readonly name: string;
  /** One line for `turnpike help`. */
  readonly summary: string;
  /** `--name` and friends: what `node:util` `parseArgs` takes. */
  readonly options?: Readonly<Record<string, CommandOption>>;
  /** Words after the options: `['ID']`. */
  readonly positionals?: readonly string[];
  /** Returns what goes to standard output. A `GatewayError` becomes exit code 1, a `UsageError` 2. */
  run(request: CommandRequest): Awaitable<string>;
}
/** An option of a command, as `node:util` `parseArgs` takes it. */
export interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** What may follow it, for its help: `member|admin`. */
  readonly value?: string;
  /** It is for programs, and help does not show it. */
  readonly internal?: boolean;
}
/** A command line, understood. */
export interface CommandRequest {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
  /** What stood on standard input, where an option called `…-stdin` or the word `-` was given; else empty. */
  readonly stdin: string;
  /** The folder in which the command was called; absolute. Relative paths are meant from there. */
  readonly cwd: string;
  /** Adds a line to standard error: what a person should know, and a script that reads the result should not. */
  remark(line: string): void;
}
/** The command was called in a way it does not understand. */
export class UsageError extends Error {}
sharedByCopies(UsageError, 'UsageError');

/** Something that must hold in the tables of a plugin. */
export interface Invariant {
  /** `used-is-sum-of-debits`. */
  readonly name: string;
  /** What breaks it, one line each; none: it holds. Reads one moment: all invariants of a run see the same snapshot. */
  check(read: Reader): Awaitable<readonly string[]>;
}

/** The reading half of a store. */
export interface Reader {
  one<T>(sql: string, ...params: readonly Value[]): Promise<T | undefined>;
  all<T>(sql: string, ...params: readonly Value[]): Promise<T[]>;
}

/** What a statement may be given, and what it gives back. Bind money as bigint; select it as text: `CAST(used AS TEXT)`. */
export type Value = null | number | bigint | string | Uint8Array;

/**
 * Durable state. Small on purpose: SQLite and PostgreSQL can both be behind it. Integers come back as numbers; one beyond
 * 2^53 is an error, never rounded. Beside what both databases have, statements may use two functions: `sha256_hex(text)`, the
 * SHA-256 of a text's UTF-8 as 64 hexadecimal characters, and `utf8_bytes(text)`, that UTF-8 as bytes, which come from the store without
 * being copied on the way; null of null.
 */
export interface Store extends Reader {
  /** One statement, durable when the promise resolves. Rows changed. */
  run(sql: string, ...params: readonly Value[]): Promise<number>;
  /**
   * A list of statements, all or none, with nothing of anybody else's between them. Resolves with the `must` that failed, or
   * undefined. With `when: 'ran'` it resolves as soon as the list has run, before it is durable: for what may be forgotten by
   * a crash as long as nobody was told otherwise. An empty list resolves when all that this process handed in before are durable.
   */
  atomic(steps: readonly Step[], when?: 'durable' | 'ran'): Promise<string | undefined>;
  /**
   * Age of the oldest waiting list in milliseconds (`Infinity` if the store cannot be written now), and how many wait. Known at once: for
   * what should not begin if its end could not be written.
   */
  pressure(): { readonly waiting: number; readonly oldestMs: number };
}
/** One step of an atomic list: a statement, or amounts that are added to a row. */
export type Step = Statement | Addition;
/** With `must`, changing no row undoes the whole list. */
export interface Statement {
  readonly sql: string;
  readonly params?: readonly Value[];
  readonly must?: string;
}
/**
 * Amounts that are added to one row. Those of all lists that share a commit are added up first, and the statement runs once for all
 * of them: a row that every call adds to costs one write a commit, not one a call. It may therefore run behind the statements of its
 * list, but never behind those of a list that adds nothing and was handed in later. The statements of a list that adds must neither read
 * nor change what is added to.
 */
export interface Addition {
  readonly to: Sum;
  /** As many as `to.sql` takes in front of its `params`; added up place by place. */
  readonly adds: readonly (bigint | number)[];
}
/** A row that amounts are added to. Made once and kept: additions are folded where they are to the same object. */
export interface Sum {
  /** Takes the amounts first, and then `params`: `UPDATE t SET n = n + ? WHERE id = ?`. */
  readonly sql: string;
  readonly params: readonly Value[];
  /** With it, changing no row undoes the list. */
  readonly must?: string;
}

/** A step as one statement, added up with nothing. */
export function statementOf(step: Step): Statement {
  if (!('to' in step)) return step;
  const { sql, params, must } = step.to;
  return { sql, params: [...step.adds, ...params], ...(must !== undefined && { must }) };
}
/** Forward only. Each runs in a transaction of its own. */
export interface Migration {
  readonly id: number;
  readonly title: string;
  readonly sql: readonly string[];
  /**
   * The oldest version that can work on the tables after this migration, named by the last migration of this owner that it knows; 0: every
   * one. An expanding migration (a new table, index, or column with a default) names the one before it; a contracting one (a column or table
   * that is removed) the first version that no longer uses what it removes. Versions from there on may run, start and reload beside it.
   * Without it, no version that does not know this migration may.
   */
  readonly compatibleFrom?: number;
}

/** A driver that `store:` can name. */
export interface StoreDriver {
  /** The section `store` of gateway.yaml as it wants it, `driver` included; without it, that is `driver` and `file`. */
  readonly section?: Schema;
  /** It is a server that several processes may use at once, and that is backed up with its own tools: what to do instead of `turnpike backup` and `restore`. */
  readonly server?: { readonly backup: string };
  /** Told that a store will be opened soon: starts what takes its time, and touches no file. */
  prepare?(): void;
  /**
   * Opens the store, and makes an empty one if there is none. Throws `StoreInUse` if another process has it. Throws `StoreMissing`, and
   * makes nothing, if there is none and `mustExist` is set, or if what is left proves that there was one. With `shared`, other processes of
   * this machine can attach to it.
   */
  open(options: StoreOpening): Promise<OpenStore>;
  /**
   * Opens a store that another process of this machine has open with `shared`. What is read comes from the file, what is written goes through
   * that process; when that ends, nothing can be written any more. Without it, `listen.workers` cannot be used with this driver.
   */
  attach?(options: {
    readonly file: string;
    readonly socket: string;
    /** What `StoreSharing.left` is told. */
    readonly name: string;
    readonly log: Log;
  }): Promise<OpenStore>;
  /**
   * Puts a backup in the place of the store, once it is proven sound. Throws `StoreInUse`. Resolves with the path that what was there
   * is kept under; undefined if there was nothing. Every driver has it that is no server.
   */
  restore?(options: { readonly from: string; readonly file: string; readonly log: Log }): Promise<string | undefined>;
}
/** What a store is opened with. */
export interface StoreOpening {
  /** The database; of a server, what files of the gateway are named after that others keep beside their database. */
  readonly file: string;
  /** The section `store`, checked. A driver that wants nothing but a file does without. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly log: Log;
  readonly mustExist?: boolean;
  /** Other processes of this machine may attach to it; of a driver with `attach`. */
  readonly shared?: StoreSharing;
}
/** How other processes of this machine attach to an open store. */
export interface StoreSharing {
  /** The path of the unix socket where they reach the process that writes. Only its user may connect. */
  readonly socket: string;
  /** A process that had attached under this name has closed its connection, or has died, and everything that it handed in was run. */
  left(name: string): void;
}
/** A store, and what only core does with it. */
export interface OpenStore extends Store {
  /** Reads one moment: everything inside sees the same snapshot. */
  snapshot<T>(read: (reader: Reader) => Promise<T>): Promise<T>;
  /** Its tables, but for those that the driver has for itself. */
  tables(): Promise<readonly StoreTable[]>;
  /** After rows were written with the numbers they had elsewhere: new ones get higher numbers. Without it, they do anyway. */
  rowsLoaded?(): Promise<void>;
  /** A consistent copy, while running. A server has its own ways. */
  backup?(file: string): Promise<void>;
  /**
   * Does something while no other process that has this store open does it: making tables, a first start. Without it, no other process can have
   * it open.
   */
  exclusively?<T>(work: () => Promise<T>): Promise<T>;
  /** How much room it takes and where it lies has; without it, or where it resolves with undefined, nobody can tell. */
  room?(): Promise<StoreRoom | undefined>;
  /**
   * Joins the processes that have this store open. From then on nothing is written for who was given up, and `pressure` says so when this process
   * can no longer be sure that it is a member; `close` leaves. Without it, no other process can have the store open.
   */
  join?(facts: ProcessFacts, events: MembershipEvents): Promise<Membership>;
  close(): Promise<void>;
}
/** A table as it stands in the store. */
export interface StoreTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly isInteger: boolean }[];
  /** The columns of its primary key, in their order. */
  readonly key: readonly string[];
  /** Which column refers to which column of which table. */
  readonly references: readonly { readonly column: string; readonly table: string; readonly to: string }[];
}
/** A process that joins others on one store. */
export interface ProcessFacts {
  /** `host.boot`. */
  readonly epoch: string;
  /** What people call it: its machine. */
  readonly name: string;
  readonly version: string;
  /** A digest of its gateway.yaml. */
  readonly config: string;
}
/** What a member hears. */
export interface MembershipEvents {
  /** These have left, or were given up; everything they wrote is in the store. */
  left(epochs: readonly string[]): void;
  /** What another one has sent; messages of one process come in their order. */
  message(body: string, from: string): void;
  /** The others have given this process up. It can do nothing but end. */
  ended(error: Error): void;
}
/** Membership among the processes of one store. */
export interface Membership {
  /** The epochs of all, this one included, in the order in which they joined; as of the last look. */
  readonly members: readonly string[];
  /** Whether the others still wait for this one; asked of whatever only one may do. */
  isCurrent(): boolean;
  /** Gives up those whose time has passed, and says who is left. */
  look(): Promise<readonly string[]>;
  /** To all others, at most once. */
  send(body: string): Promise<void>;
  leave(): Promise<void>;
}
/** Room on a disk, in bytes. */
export interface StoreRoom {
  /** Of the database. */
  readonly file: number;
  /** Of its log: what was written and is not in the file yet. */
  readonly log: number;
  /** What is left on its disk, for this user. */
  readonly free: number;
  /** All that the disk has. */
  readonly disk: number;
}
/** Another process holds the store. Exit code 73. */
export class StoreInUse extends Error {}
sharedByCopies(StoreInUse, 'StoreInUse');
/** There is no store, or a part of it is missing. The message says what. */
export class StoreMissing extends Error {}
sharedByCopies(StoreMissing, 'StoreMissing');
/** The store cannot be written now: disk full, read-only, failed sync. Calls are refused with 503. */
export class StoreUnavailable extends Error {}
sharedByCopies(StoreUnavailable, 'StoreUnavailable');
