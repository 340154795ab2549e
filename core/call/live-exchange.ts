/** One client request and its state: headers that plugins set on its answer, and resources to release at its end. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { exactJson, exactMember } from '../bytes/exact.ts';
import { scanJson, UNLIMITED } from '../bytes/json-body.ts';
import type { Headers } from '../contracts/definitions.ts';
import type { Attempt, Call, Offer, Outcome } from '../contracts/formats/call.ts';
import type { Json, JsonBody, JsonObject } from '../contracts/formats/json.ts';
import type { Style } from '../contracts/formats/style.ts';
import type { Usage } from '../contracts/formats/usage.ts';
import type { Holder } from '../contracts/identity.ts';
import { Dictionary } from '../helpers/dictionary.ts';
import type { AnswerBody } from '../http/chunked-body.ts';
import type { Head } from '../http/request-head.ts';
import { ClientLeft } from '../http/responses.ts';
import type { Holding } from '../incoming/body-budgets.ts';
import type { Awaitable, Exchange, PassthroughRoute } from '../plugin.ts';
import type { Clock } from '../runtime/clock.ts';
import { newId } from '../runtime/ids.ts';
import type { Member } from '../runtime/registry.ts';
import { inWholes } from '../translation/conversation/count-usage.ts';
import { saneUsage } from '../translation/conversation/sane-usage.ts';
import type { Given } from './phases.ts';

/** The base of calls and of requests for routes. */
export class Entry {
  /** Answer headers set by plugins. */
  readonly answerHeaders: Record<string, string> = new Dictionary();
  /** State of plugins (slot.ts). */
  slots: unknown[] | undefined = undefined;
  #releases: (() => Awaitable<void>)[] | undefined;

  header(name: string, value: string): void {
    this.answerHeaders[name] = value;
  }

  defer(release: () => Awaitable<void>): void {
    this.#releases ??= [];
    this.#releases.push(release);
  }

  /** Runs deferred releases, last-in first-out, even if some fail. Synchronous if all of them are. */
  release(failed: (error: unknown) => void): Awaitable<void> {
    const releases = this.#releases;
    if (releases === undefined) return;
    this.#releases = undefined;
    return undo(releases, failed);
  }
}

function undo(releases: (() => Awaitable<void>)[], failed: (error: unknown) => void): Awaitable<void> {
  for (let release = releases.pop(); release !== undefined; release = releases.pop()) {
    try {
      const waiting = release();
      if (waiting instanceof Promise) return waiting.catch(failed).then(() => undo(releases, failed));
    } catch (error) {
      failed(error);
    }
  }
}

/** Known when the request begins. */
export interface Beginning {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly head: Head;
  readonly ip: string;
  readonly style: Style | undefined;
  readonly passthrough: PassthroughRoute | undefined;
  /** The parameters of the path; empty unless it has any. */
  readonly params?: Readonly<Record<string, string>> | undefined;
}

const NOTHING: JsonObject = Object.freeze({});
const NONE: readonly string[] = Object.freeze([]);
const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/** A request as core sees it: the plugins' interface, and the state behind it. */
export class LiveExchange extends Entry implements Exchange, Member {
  place = -1;
  readonly id: string;
  readonly startedMs: number;
  readonly startedMono: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly ip: string;
  readonly style: Style | undefined;
  readonly params: Readonly<Record<string, string>>;
  readonly passthrough: PassthroughRoute | undefined;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly attempts: Attempt[] = [];
  identity: Holder | undefined;
  served: Offer | undefined;
  delivered = false;
  outcome: Outcome | undefined;
  /** Its settlement has started. */
  ending = false;
  status = 0;
  notes: JsonObject = NOTHING;
  /** The memory budget of its body and other data; undefined if it has no body. */
  holding: Holding | undefined;
  /** Warnings about fields that the gateway changes or ignores. */
  dropped: readonly string[] = NONE;
  /** Tools of the request that are not sent. */
  leftOut: readonly string[] = NONE;
  /** True once the client has disconnected. */
  gone = false;
  /** The answer, if its head was sent before its length was known. */
  body: AnswerBody | undefined;
  /** Called for the pieces of a stream before they are sent. */
  look: ((textLength: number) => Promise<void> | undefined) | undefined;
  /** The maximum output tokens for vendors, for each choice; undefined: the client's limit. */
  outputLimit: number | undefined;
  /** The decoded request; set before `admit`. */
  #call: Call | undefined;
  /** Headers of plugins for an upstream attempt. */
  upstreamHeaders: ((attempt: Attempt) => Headers) | undefined;
  #search: string;
  #query: URLSearchParams | undefined;
  #abort: AbortController | undefined;
  #onStop: ((error: Error) => void) | undefined;
  #stoppedBy: Error | undefined;
  #reported: Usage | undefined;
  #usage: Usage | undefined;
  /** The meter of the running stream: usage so far. */
  running: (() => Usage | undefined) | undefined;
  /** Returns the client's whole answer. */
  answered: (() => JsonObject | undefined) | undefined;
  /** What its vendor goes on with after the end of the stream. */
  goesOn: (() => JsonObject | undefined) | undefined;
  /** The same for a stream that is collected for a plugin. */
  collected: (() => JsonObject | undefined) | undefined;
  /** A plugin needs the whole answer. */
  keepsAnswer = false;
  /** The answer that a plugin gives in place of a vendor. */
  given: Given | undefined;

  constructor(beginning: Beginning, clock: Clock) {
    super();
    const { head } = beginning;
    this.startedMs = clock.now();
    this.startedMono = clock.mono();
    this.id = newId(this.startedMs);
    this.method = head.method;
    this.path = head.path;
    this.headers = head.headers;
    this.#search = head.search;
    this.ip = beginning.ip;
    this.style = beginning.style;
    this.params = beginning.params ?? NO_PARAMS;
    this.passthrough = beginning.passthrough;
    this.request = beginning.request;
    this.response = beginning.response;
    const idHeader = beginning.style?.ingress?.idHeader;
    if (idHeader !== undefined) this.answerHeaders[idHeader] = this.id;
  }

  override header(name: string, value: string): void {
    super.header(name, value);
    const alias = this.style?.ingress?.headerAliases?.[name];
    if (alias !== undefined) super.header(alias, value);
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.#search);
    return this.#query;
  }

  get call(): Call {
    if (this.#call === undefined) throw new Error('this request has no call: its body was not read; use `callIfRead`');
    return this.#call;
  }
  set call(call: Call) {
    this.#call = call;
  }
  get callIfRead(): Call | undefined {
    return this.#call;
  }

  get usage(): Usage | undefined {
    if (this.#usage !== undefined) return this.#usage;
    const { reported } = this;
    return reported && saneUsage(reported).usage;
  }
  set usage(usage: Usage | undefined) {
    this.#reported = inWholes(usage);
    this.#usage = this.#reported && saneUsage(this.#reported).usage;
  }
  get reported(): Usage | undefined {
    return this.#reported ?? inWholes(this.running?.());
  }

  get share(): number | undefined {
    if (this.given === undefined) return undefined;
    const { charge, share } = this.given.answer;
    return charge === 'nothing' ? 0 : share;
  }

  answer(): JsonObject | undefined {
    return this.outcome === 'served' ? (this.answered?.() ?? this.collected?.()) : undefined;
  }

  pending(): JsonObject | undefined {
    return this.goesOn?.();
  }

  keepAnswer(): void {
    this.keepsAnswer = true;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#stoppedBy !== undefined) this.#abort.abort();
    return this.#abort.signal;
  }

  /** The client disconnected. */
  leave(): void {
    this.gone = true;
    this.cut(new ClientLeft('the client left'));
  }

  hold(bytes: number): void {
    this.holding?.take(bytes);
  }

  drop(field: string): void {
    this.dropped = [...this.dropped, field];
  }

  addUpstreamHeaders(make: (attempt: Attempt) => Headers): void {
    const earlier = this.upstreamHeaders;
    this.upstreamHeaders = earlier === undefined ? make : (attempt) => ({ ...earlier(attempt), ...make(attempt) });
  }

  note(facts: JsonObject): void {
    this.notes = this.notes === NOTHING ? facts : { ...this.notes, ...facts };
  }

  limitOutput(tokens: number): void {
    this.outputLimit = tokens;
    const { bounds } = this.call;
    const outputTokens = tokens * bounds.choices;
    // If the client's own limit is lower, it remains the bound.
    if (bounds.outputTokens !== undefined && bounds.outputTokens <= outputTokens) return;
    this.call = { ...this.call, bounds: { ...bounds, outputTokens } };
  }

  leaveOut(uses: readonly string[]): void {
    const { call } = this;
    const isKept = (tool: Json): boolean => !uses.includes(this.style?.ingress?.runs?.(tool) ?? '');
    const without = (body: JsonBody): JsonBody => {
      const tools = exactMember(body, 'tools') as readonly Json[];
      return scanJson(body.patched({ tools: exactJson(tools.filter(isKept)) }), UNLIMITED);
    };
    const { bounds, conversation, earlier } = call;
    const kept = Object.entries(bounds.uses?.() ?? {}).filter(([name]) => !uses.includes(name));
    this.call = {
      ...call,
      body: without(call.body),
      bounds: { ...bounds, uses: () => (kept.length === 0 ? undefined : Object.fromEntries(kept)) },
      ...(earlier !== undefined && { earlier: { ...earlier, body: without(earlier.body) } }),
      ...(conversation !== undefined && {
        conversation: {
          ...conversation,
          tools: conversation.tools.filter((tool) => tool.type !== 'hosted' || isKept(tool.raw)),
        },
      }),
    };
    this.leftOut = uses;
  }

  watch(look: (textLength: number) => Promise<void> | undefined): void {
    this.look = look;
  }

  cut(error: Error): void {
    this.#stoppedBy ??= error;
    this.#onStop?.(error);
    this.#abort?.abort();
  }

  /** Registers a callback for the end of the client or a cut of the request; called at once if that has happened. */
  onStop(stop: ((error: Error) => void) | undefined): void {
    this.#onStop = stop;
    if (stop !== undefined && this.#stoppedBy !== undefined) stop(this.#stoppedBy);
  }

  /** Why no further work should start; undefined if it may. */
  get stoppedBy(): Error | undefined {
    return this.#stoppedBy;
  }
}
