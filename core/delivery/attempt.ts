/** One upstream attempt at one target: sends the request, enforces deadlines, relays a stream event by event. */

import { createEventSplitter, type EventSplitter, unendedEvent } from '../bytes/event-splitter.ts';
import { isTooDeep } from '../bytes/json-text.ts';
import type { LiveExchange } from '../call/live-exchange.ts';
import type { Pipeline } from '../call/phases.ts';
import { AnswerRefused } from '../call/revision.ts';
import type { EndListener } from '../call/settlement.ts';
import type { Headers } from '../contracts/definitions.ts';
import { coreErrors } from '../contracts/errors.ts';
import type { Attempt, FailureKind, Offer, Outcome } from '../contracts/formats/call.ts';
import { type Channel, keyNameOf } from '../contracts/formats/channel.ts';
import type { EventKind, StreamRelay, Style } from '../contracts/formats/style.ts';
import type { Usage } from '../contracts/formats/usage.ts';
import type { Frames } from '../contracts/formats/vendor.ts';
import { GatewayError } from '../contracts/gateway-error.ts';
import { AnswerBody } from '../http/chunked-body.ts';
import { answerHeaders, ClientLeft, keepAliveOf } from '../http/responses.ts';
import type { Awaitable, Known } from '../plugin.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Deadline, Deadlines } from '../runtime/deadlines.ts';
import type { Log } from '../runtime/logger.ts';
import { isSecretName, SHORTEST_SECRET } from '../runtime/secrets.ts';
import { type Queue, queueOf } from '../runtime/stage.ts';
import { countedUsage, withUnsaid } from '../translation/conversation/count-usage.ts';
import { withoutRequest } from '../translation/quotes.ts';
import { isUnpaid, type VendorError } from '../translation/vendor-errors.ts';
import { warningHeader } from '../translation/warnings/warnings.ts';
import { createFrameSplitter, framesOf, recognized } from '../upstream/frame-splitter.ts';
import type { Breaking, Upstream, UpstreamCall, UpstreamListener, UpstreamRequest } from '../upstream/upstream.ts';
import type { Conveyance } from './attempt-codec.ts';

/** The outcome of an attempt. */
export type AttemptResult =
  /** The stream ended, successfully or not; the client has its end or an error, and the request has ended. */
  | { readonly kind: 'relayed' }
  /** A whole answer that was read completely; nothing of it has been sent. `type`: its content type. */
  | { readonly kind: 'whole'; readonly body: Buffer; readonly type: string }
  /** An answer with a status other than 2xx; its body is cut at 64 KiB. */
  | { readonly kind: 'status'; readonly status: number; readonly headers: Headers; readonly body: Buffer }
  /** No usable answer; nothing of it has been sent. `error`: the vendor's error from inside its stream. */
  | {
      readonly kind: 'failed';
      readonly failure: FailureKind;
      readonly reason: string;
      readonly how: Breaking;
      readonly error?: VendorError;
    }
  /** The client disconnected, or the gateway cut the request off, before anything was sent. */
  | { readonly kind: 'stopped'; readonly error: Error };

/** The gateway's services for an attempt. */
export interface AttemptTools {
  readonly upstream: Upstream;
  readonly deadlines: Deadlines;
  readonly clock: Clock;
  readonly onDisconnect: { readonly stream: 'cancel' | 'drain'; readonly whole: 'cancel' | 'drain' };
  readonly pipeline: Pipeline;
  readonly log: Log;
  /** Ends the request. */
  end(x: LiveExchange, outcome: Outcome, listener: EndListener): void;
  /** The same with a promise, which rejects if its settlement could not be made durable. */
  conclude(x: LiveExchange, outcome: Outcome): Promise<void>;
}

/** Limit for an error body. */
const MAX_ERROR_BODY = 64 * 1_024;
/** Limit for a whole answer: 2,048 vectors of 3,072 numbers need nearly as much as JSON. */
const MAX_ANSWER = 160 * 1_024 * 1_024;
/** Default limit for one event: some contain an image, or the complete answer again. */
const MAX_EVENT = 8 * 1_024 * 1_024;
/** A reasoning model may send comments before its answer, but not without limit. */
const MAX_HELD_BYTES = 64 * 1_024;
/** So many bytes show whether an answer is a stream. */
const MAX_START = 4 * 1_024;
/** Default time until a vendor begins its answer. */
const HEAD_MS = { stream: 60_000, whole: 600_000 } as const;
/** Time a client may stop reading its stream. */
const WRITE_STALL_MS = 120_000;
/** After this time without a byte to the client, a comment keeps the connection alive. */
const KEEP_ALIVE_MS = 15_000;
/** Time a vendor has to close its stream after the last event. */
const LINGER_MS = 5_000;

/** Starts the record of an attempt. */
export function beginAttempt(x: LiveExchange, offer: Offer, clock: Clock): Attempt {
  const attempt: Attempt = {
    offer,
    startedMs: clock.now(),
    endedMs: undefined,
    firstByteMs: undefined,
    status: undefined,
    failure: undefined,
    reason: undefined,
    retryAfterMs: undefined,
    cut: false,
  };
  x.attempts.push(attempt);
  return attempt;
}

/** Adds a vendor's words to the reason of an attempt, without what they quote of the request. Synchronous unless the request is large. */
export function addWords(x: LiveExchange, attempt: Attempt, words: string): Awaitable<void> {
  const { reason } = attempt;
  const add = (rest: string): void => {
    attempt.reason = reason === undefined ? rest : `${reason}: ${rest}`;
  };
  const rest = withoutRequest(words, x.call);
  return rest instanceof Promise ? rest.then(add) : add(rest);
}

/** Reports an attempt to the plugins, once; before settlement, because the usage record lists the attempts. */
export function endAttempt(
  x: LiveExchange,
  attempt: Attempt,
  tools: Pick<AttemptTools, 'clock' | 'log' | 'pipeline'>,
): void {
  if (attempt.endedMs !== undefined) return;
  attempt.endedMs = tools.clock.now();
  const { offer, failure, status, reason } = attempt;
  if (failure !== undefined && failure !== 'refused') {
    const { model, channel } = offer;
    tools.log.warn('an attempt failed', {
      exchange: x.id,
      channel: keyNameOf(channel),
      model,
      failure,
      status,
      reason,
    });
  }
  tools.pipeline.attempted(x as LiveExchange & Known, attempt);
}

/** Is told the result of an attempt, once, and never from within `makeAttempt`. */
export interface AttemptOwner {
  ended(result: AttemptResult): void;
}

/** Makes one attempt. `frames`: of the dialect. */
export function makeAttempt(
  x: LiveExchange,
  attempt: Attempt,
  request: UpstreamRequest,
  conveyance: Conveyance,
  frames: Frames | undefined,
  tools: AttemptTools,
  owner: AttemptOwner,
): void {
  new Delivery(x, attempt, conveyance, frames, tools, owner).start(request);
}

/** Attempts with something that arrived in this turn. */
const arrivals: Queue<Delivery> = queueOf('answers', (delivery) => delivery.act());

/** The next expected event, on which the meaning of a deadline, an end or a failure depends. */
type State = 'head' | 'status' | 'unknown' | 'whole' | 'stream' | 'done';

/** A running attempt: forwards the vendor's answer to the client, or ends so that another channel can be tried. */
class Delivery implements UpstreamListener, EndListener {
  readonly #x: LiveExchange;
  readonly #attempt: Attempt;
  readonly #channel: Channel;
  /** The client's style. */
  readonly #style: Style;
  readonly #conveyance: Conveyance;
  readonly #frames: Frames | undefined;
  readonly #tools: AttemptTools;
  readonly #owner: AttemptOwner;
  readonly #totalAtMs: number;
  /** Both are created when the answer turns out to be a stream. */
  #splitter!: EventSplitter;
  #stream!: StreamRelay;
  /** The content type that the client gets. */
  #type = EVENT_STREAM;
  #state: State = 'head';
  #call: UpstreamCall | undefined;
  #deadline: Deadline | undefined;
  #keepAlive: Deadline | undefined;
  #lingering: Deadline | undefined;
  #status = 0;
  #headers: Headers = {};
  #chunks: Buffer[] = [];
  #size = 0;
  /** Events held back until one proves that the vendor answers. */
  #held: Bytes[] = [];
  #heldBytes = 0;
  /** The first event was sent to the client: no other channel can be tried. */
  #committed = false;
  #stalled = false;
  /** Pieces of a stream that arrived in this turn, and how it ended behind them. */
  #arrived: Buffer[] = [];
  #ending: (() => void) | undefined;
  #isQueued = false;
  /** Events from the vendor that arrive while a piece waits for approval. */
  #behind: (() => void)[] | undefined;
  /** What is sent once the request is settled. */
  #lastWords: (() => void) | undefined;

  constructor(
    x: LiveExchange,
    attempt: Attempt,
    conveyance: Conveyance,
    frames: Frames | undefined,
    tools: AttemptTools,
    owner: AttemptOwner,
  ) {
    this.#x = x;
    this.#attempt = attempt;
    this.#channel = attempt.offer.channel;
    this.#style = x.style!;
    this.#conveyance = conveyance;
    this.#frames = frames;
    this.#tools = tools;
    this.#owner = owner;
    this.#totalAtMs = x.startedMono + this.#channel.timeout.totalMs;
  }

  start(request: UpstreamRequest): void {
    const stream = this.#x.call.stream;
    const headMs = this.#channel.timeout.headMs ?? (stream ? HEAD_MS.stream : HEAD_MS.whole);
    this.#waitFor(headMs);
    if (stream) this.#keepAlive = this.#tools.deadlines.set(KEEP_ALIVE_MS, () => this.#sendKeepAlive());
    try {
      this.#call = this.#tools.upstream.send(request, this);
    } catch (error) {
      this.#stopWaiting();
      this.#state = 'done';
      throw error;
    }
    this.#x.onStop((error) => this.#stop(error));
  }

  // ---- vendor events

  head(status: number, headers: Headers): void {
    if (this.#state !== 'head') return;
    this.#attempt.status = status;
    this.#status = status;
    this.#headers = headers;
    this.#waitFor(this.#channel.timeout.idleMs);
    if (status < 200 || status > 299) {
      this.#state = 'status';
      return;
    }
    const type = headers['content-type'] ?? '';
    if ((headers['content-encoding']?.toLowerCase() ?? 'identity') !== 'identity') {
      this.#fail('broken', 'the answer is compressed although it must not be');
    } else if (this.#x.call.stream) {
      this.#expectAnyStream(type);
    } else if (this.#x.call.answers === 'bytes') {
      const own = this.#style.relay.bytesType?.(type, this.#x.call);
      if (own === undefined) this.#fail('broken', 'the answer does not have the requested format');
      else this.#expectBytes(own);
    } else {
      this.#state = 'whole';
    }
  }

  data(chunk: Buffer): void {
    if (this.#state === 'done') return;
    this.#attempt.firstByteMs ??= this.#tools.clock.now() - this.#attempt.startedMs;
    if (this.#state === 'stream' || this.#state === 'unknown') {
      this.#arrived.push(chunk);
      this.#queue();
      return;
    }
    this.#waitFor(this.#channel.timeout.idleMs);
    if (this.#state === 'status') {
      const room = MAX_ERROR_BODY - this.#size;
      this.#chunks.push(room < chunk.length ? chunk.subarray(0, room) : chunk);
      this.#size += chunk.length;
      if (this.#size >= MAX_ERROR_BODY) this.#finishStatus();
    } else if (this.#state === 'whole') this.#keep(chunk);
  }

  end(): void {
    this.#ending = () => this.#ended();
    this.#queue();
  }

  fail(kind: FailureKind, reason: string, how: Breaking): void {
    this.#ending = () => this.#failed(kind, reason, how);
    this.#queue();
  }

  #queue(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    arrivals.add(this);
  }

  /** Relays what has arrived in this turn, in a row with all other answers. */
  act(): void {
    this.#isQueued = false;
    const arrived = this.#arrived;
    const ending = this.#ending;
    this.#ending = undefined;
    if (arrived.length > 0) this.#arrived = [];
    try {
      for (let i = 0; i < arrived.length; i++) this.#take(arrived[i]!);
      ending?.();
    } catch (error) {
      this.#styleFailed(error);
    }
  }

  #take(chunk: Buffer): void {
    if (this.#state === 'done') return;
    if (this.#behind !== undefined) {
      this.#behind.push(() => this.#take(chunk));
      return;
    }
    if (!this.#stalled) this.#waitFor(this.#channel.timeout.idleMs);
    if (this.#state === 'unknown') this.#recognize(chunk);
    else if (this.#state === 'whole') this.#keep(chunk);
    else this.#split(chunk);
  }

  /** A piece of a whole answer. */
  #keep(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size > MAX_ANSWER) this.#fail('broken', `the answer is larger than ${MAX_ANSWER} bytes`);
  }

  #ended(): void {
    if (this.#behind !== undefined) {
      this.#behind.push(() => this.#ended());
      return;
    }
    if (this.#lingering !== undefined) this.#tools.deadlines.clear(this.#lingering);
    if (this.#state === 'status') this.#finishStatus();
    else if (this.#state === 'whole')
      this.#done({ kind: 'whole', body: this.#body(), type: this.#headers['content-type'] ?? '' });
    else if (this.#state === 'stream') this.#endStream();
    else if (this.#state === 'unknown') this.#fail('broken', NO_STREAM);
    else if (this.#state === 'head') this.#fail('broken', 'the answer has no head');
  }

  #failed(kind: FailureKind, reason: string, how: Breaking): void {
    if (this.#behind !== undefined) {
      this.#behind.push(() => this.#failed(kind, reason, how));
      return;
    }
    if (this.#lingering !== undefined) this.#tools.deadlines.clear(this.#lingering);
    if (this.#state === 'status') {
      // The status is enough; an error body may be truncated.
      this.#finishStatus();
    } else if (this.#state !== 'done') {
      this.#fail(kind, reason, how, true);
    }
  }

  // ---- whole answers

  #body(): Buffer {
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
  }

  #finishStatus(): void {
    const result = { kind: 'status', status: this.#status, headers: this.#headers, body: this.#body() } as const;
    this.#call?.abort();
    this.#done(result);
  }

  // ---- streams

  #expectStream(splitter = createEventSplitter({ maxBytes: this.#maxEvent })): void {
    this.#state = 'stream';
    this.#splitter = splitter;
    this.#stream = this.#conveyance.relay();
  }

  /** A stream was requested. The content type of other frames decides; otherwise the first bytes do. */
  #expectAnyStream(type: string): void {
    const splitter = createFrameSplitter(this.#frames, type, this.#maxEvent);
    if (splitter !== undefined) this.#expectStream(splitter);
    else this.#state = 'unknown';
  }

  /** Clients of vendors do not look at the content type, so relays often send a wrong one. */
  #recognize(chunk: Buffer): void {
    this.#chunks.push(chunk);
    const start = this.#body();
    const found = recognized(start, this.#headers['content-type'] ?? '', this.#frames);
    if (found === 'open' && start.length < MAX_START) return;
    if (found === 'open' || found === 'other') {
      this.#fail('broken', NO_STREAM);
      return;
    }
    this.#chunks = [];
    // Some vendors always send a whole answer.
    if (found === 'json') this.#state = 'whole';
    else this.#expectStream(framesOf(this.#frames, this.#maxEvent));
    this.#take(start);
  }

  get #maxEvent(): number {
    return this.#style.relay.maxEventBytes ?? MAX_EVENT;
  }

  #expectBytes(type: string): void {
    this.#type = type;
    this.#expectStream(UNSPLIT);
  }

  #split(chunk: Buffer): void {
    const events = this.#splitter.push(chunk);
    if (events !== undefined) {
      this.#relay(events);
      return;
    }
    const fault = this.#splitter.fault?.();
    this.#fail(
      'broken',
      fault === undefined ? `an event is larger than ${this.#maxEvent} bytes` : quoted(fault, this.#channel),
    );
  }

  /** Forwards complete events to the client. An event that ends the stream, successfully or not, ends the attempt. */
  #relay(events: readonly Buffer[]): void {
    const out: Bytes[] = [];
    let begun = this.#committed;
    for (let i = 0; i < events.length; i++) {
      const event = events[i]!;
      const before = out.length;
      const kind = this.#isUnreadable(event) ? 'broken' : this.#see(event, out, begun);
      if (kind !== 'hold' && kind !== 'pass') {
        const ending = out.splice(before);
        this.#write(out, begun);
        // The attempt ended while a piece was waiting.
        if (this.#state === 'done') return;
        if (kind === 'last') this.#finishStream(ending);
        else if (kind === 'error') this.#vendorGaveUp(ending);
        else this.#fail('broken', 'an event of the stream cannot be decoded');
        return;
      }
      const waiting = kind === 'pass' ? this.#lookAtIt() : undefined;
      if (waiting !== undefined) {
        const piece = out.splice(before);
        this.#write(out, begun);
        this.#waitToPass(waiting, () => {
          this.#write(piece, true);
          this.#relay(events.slice(i + 1));
        });
        return;
      }
      begun ||= kind === 'pass';
    }
    this.#write(out, begun);
  }

  /** Sends what a plugin approved before it refused what follows. */
  #see(event: Buffer, out: Bytes[], begun: boolean): EventKind {
    try {
      return this.#stream.see(event, out);
    } catch (error) {
      if (error instanceof AnswerRefused) this.#write(out, begun);
      throw error;
    }
  }

  /** Events are JSON, which styles cannot decode if it is nested too deeply; raw bytes are not checked. */
  #isUnreadable(event: Buffer): boolean {
    return this.#splitter !== UNSPLIT && isTooDeep(event);
  }

  #lookAtIt(): Promise<void> | undefined {
    const x = this.#x;
    if (x.look === undefined) return undefined;
    this.#serve();
    return x.look(this.#stream.textLength());
  }

  /** Pauses the vendor until a piece is approved; a refused piece is not sent. */
  #waitToPass(waiting: Promise<void>, pass: () => void): void {
    this.#behind = [];
    this.#call?.pause();
    const goOn = (): void => {
      const behind = this.#behind ?? [];
      this.#behind = undefined;
      if (this.#state === 'done') return;
      try {
        pass();
      } catch (error) {
        this.#styleFailed(error);
      }
      // A queued piece may have to wait too, and then all after it.
      for (const next of behind) {
        const still = this.#behind as (() => void)[] | undefined;
        if (still === undefined) next();
        else still.push(next);
      }
      if (this.#behind === undefined && !this.#stalled) this.#call?.resume();
    };
    waiting.then(goOn, (error) => {
      this.#behind = undefined;
      this.#stop(error);
    });
  }

  /** Forwards events to the client; held back until the vendor answers (`begun`), which makes this channel final. */
  #write(events: readonly Bytes[], begun: boolean): void {
    if (this.#committed) {
      if (events.length > 0) this.#send(joined(events));
      return;
    }
    this.#held.push(...events);
    for (const event of events) this.#heldBytes += event.length;
    if (begun) this.#commit();
    else if (this.#heldBytes > MAX_HELD_BYTES)
      this.#fail('broken', 'the stream has too many events before its first part');
  }

  #commit(): void {
    this.#committed = true;
    const held = this.#held;
    this.#held = [];
    this.#serve();
    this.#x.delivered = true;
    this.#sendHead();
    if (held.length > 0) this.#send(joined(held));
  }

  /** From here on the serving target and its usage so far are known. */
  #serve(): void {
    const x = this.#x;
    if (x.running !== undefined) return;
    x.served = this.#attempt.offer;
    x.running = () => this.#complete(this.#usage());
  }

  #sendHead(): void {
    const x = this.#x;
    if (x.response.headersSent || x.gone) return;
    x.status = 200;
    const own: Record<string, string> = { 'content-type': this.#type, 'x-accel-buffering': 'no' };
    // A keep-alive was sent before the serving channel was known.
    if (this.#committed) own['x-turnpike-channel'] = this.#channel.name;
    if (this.#conveyance.warnings !== undefined) {
      if (this.#committed) {
        const warnings = this.#conveyance.warnings();
        if (warnings.length > 0) own[TRANSLATION] = warningHeader(warnings);
      }
      // Warnings that come after the head are sent in the trailer, which HTTP/1.0 does not have.
      if (x.request.httpVersion !== '1.0') own.trailer = TRANSLATION;
    }
    x.response.writeHead(200, answerHeaders(x.id, x.answerHeaders, own));
    x.body = new AnswerBody(x.response);
  }

  #send(bytes: Buffer | string): void {
    if (this.#x.gone) return;
    if (this.#keepAlive !== undefined) this.#keepAlive.atMs = this.#tools.clock.mono() + KEEP_ALIVE_MS;
    if (this.#x.body!.write(bytes) || this.#stalled) return;
    // The client reads more slowly than the vendor writes: pause the vendor, and limit how long the client may stall.
    this.#stalled = true;
    this.#call?.pause();
    this.#waitFor(WRITE_STALL_MS);
    this.#x.response.once('drain', () => this.#goOn());
  }

  /** Resumes the vendor. */
  #goOn(): void {
    this.#stalled = false;
    if (this.#state === 'done') return;
    this.#waitFor(this.#channel.timeout.idleMs);
    this.#call?.resume();
  }

  #sendKeepAlive(): void {
    if (this.#state === 'done') return;
    this.#keepAlive = this.#tools.deadlines.set(KEEP_ALIVE_MS, () => this.#sendKeepAlive());
    if (this.#stalled) return;
    this.#sendHead();
    this.#send(keepAliveOf(this.#style));
  }

  #endStream(): void {
    try {
      this.#streamEnded();
    } catch (error) {
      this.#styleFailed(error);
    }
  }

  /** The vendor closed its stream. */
  #streamEnded(): void {
    const rest = unendedEvent(this.#splitter.rest());
    if (rest !== undefined) this.#relay([rest]);
    if (this.#behind === undefined) this.#closeStream();
    else this.#behind.push(() => this.#closeStream());
  }

  #closeStream(): void {
    if (this.#state !== 'stream') return;
    const out: Bytes[] = [];
    const how = this.#stream.close(out);
    if (how === 'broken') {
      this.#fail('broken', 'the stream ended before the answer was complete');
      return;
    }
    if (how === 'untidy') this.#x.note({ anomaly: 'the vendor omitted the last event' });
    this.#finishStream(out);
  }

  /** Successful end: settle first, then send the last bytes. */
  #finishStream(last: readonly Bytes[]): void {
    // An answer may be empty.
    if (!this.#committed) this.#commit();
    this.#settleStream('served', () => {
      const warnings = this.#conveyance.warnings?.() ?? [];
      this.#x.body!.end(joined(last), warnings.length > 0 ? { [TRANSLATION]: warningHeader(warnings) } : undefined);
    });
  }

  /** An error event of the vendor in the client's style; it is forwarded unless it would disclose a secret. */
  #vendorGaveUp(event: readonly Bytes[]): void {
    const error = this.#stream.error();
    if (!this.#committed) {
      this.#call?.abort();
      const reason = 'the vendor answered with an error';
      this.#done({ kind: 'failed', failure: 'broken', reason, how: NOT_AGAIN, ...(error && { error }) });
      return;
    }
    this.#attempt.failure = 'broken';
    const words = quoted(error?.message, this.#channel);
    const end = (): void => {
      const bytes = joined(event);
      if (givesAway(Buffer.from(bytes), this.#channel) || (error !== undefined && isUnpaid(error)))
        this.#breakOff(coreErrors.upstream_error('The vendor ended the answer with an error.'));
      else if (event.length === 0) this.#breakOff(coreErrors.upstream_error(words));
      else this.#settleStream('failed', () => this.#x.body!.end(bytes));
    };
    const adding = addWords(this.#x, this.#attempt, words);
    if (adding instanceof Promise) this.#waitToPass(adding, end);
    else end();
  }

  /** Failed end: settle, send an error event and no last chunk: no client takes a truncated answer for complete. */
  #breakOff(error: GatewayError): void {
    this.#settleStream('failed', () => this.#tell(error));
  }

  /** Ends the client's stream early, behind what was sent. */
  #cut(): void {
    this.#x.body!.write('', () => this.#x.response.destroy());
  }

  #tell(error: GatewayError): void {
    const { response, body, id } = this.#x;
    const events = this.#stream.fail(error, id);
    // A byte stream has no error events: it only ends early.
    if (events === '') response.destroy();
    else body!.write(events, () => response.destroy());
  }

  #settleStream(outcome: 'served' | 'failed' | 'aborted', then: () => void): void {
    const x = this.#x;
    const call = this.#call;
    x.usage = this.#complete(
      outcome === 'served' ? (this.#stream.usage() ?? this.#usage()) : this.#unfinished(outcome === 'aborted'),
    );
    x.running = undefined;
    noteWarnings(x, this.#conveyance);
    if (outcome === 'served') x.answered = () => this.#stream.answer?.();
    else x.goesOn = () => this.#stream.pending?.();
    this.#stopWaiting();
    this.#state = 'done';
    // Data after the last event is ignored; the vendor has some time to close its stream.
    if (outcome === 'served' && this.#stream.isCut?.() !== true)
      this.#lingering = this.#tools.deadlines.set(LINGER_MS, () => call?.abort());
    else call?.abort();
    endAttempt(x, this.#attempt, this.#tools);
    this.#lastWords = then;
    // The client may have disconnected while its stream is read to the end.
    this.#tools.end(x, outcome === 'served' && x.gone ? 'aborted' : outcome, this);
  }

  settled(): void {
    try {
      if (!this.#x.gone) this.#lastWords!();
    } catch (error) {
      this.unsettled(error);
      return;
    }
    this.#owner.ended({ kind: 'relayed' });
  }

  /** Not paid, not settled, or not encodable: the client must not take the answer for complete. */
  unsettled(error: unknown): void {
    try {
      if (error instanceof GatewayError && !this.#x.gone) this.#tell(error);
      else this.#x.response.destroy();
    } catch {
      this.#x.response.destroy();
    }
    this.#owner.ended({ kind: 'relayed' });
  }

  /** Usage of a truncated answer. */
  #unfinished(left: boolean): Usage {
    return this.#stream.unfinished?.(left ? 'left' : 'broken') ?? this.#usage();
  }

  /** Usage so far; for a truncated stream at least what was delivered: some vendors report usage too early. */
  #usage(): Usage {
    const reported = this.#stream.usage();
    const counted = countedUsage(this.#x.call.bounds, this.#stream.textLength());
    if (reported === undefined) return counted;
    return reported.output < counted.output ? { ...reported, output: counted.output, estimated: true } : reported;
  }

  // ---- ends that the vendor did not cause

  #expired(): void {
    this.#deadline = undefined;
    if (this.#state === 'done') return;
    if (this.#stalled) {
      // A client that does not read is treated as disconnected.
      this.#x.response.destroy();
      this.#x.leave();
      return;
    }
    if (this.#state === 'status') {
      // As for a truncated error body: the status is enough.
      this.#finishStatus();
      return;
    }
    const total = this.#tools.clock.mono() >= this.#totalAtMs;
    this.#fail(
      'timeout',
      total ? 'the call took too long' : `no ${this.#state === 'head' ? 'answer' : 'bytes'} in time`,
      NOT_AGAIN,
      true,
    );
  }

  /** The client disconnected, or the request was cut off. */
  #stop(error: Error): void {
    if (this.#state === 'done') return;
    const left = error instanceof ClientLeft;
    const { stream, answers } = this.#x.call;
    if (left && this.#tools.onDisconnect[stream || answers === 'bytes' ? 'stream' : 'whole'] === 'drain') {
      if (this.#stalled) this.#goOn();
      return;
    }
    this.#attempt.cut = true;
    if (!this.#committed) {
      if (left && this.#call?.sent) this.#countInput();
      this.#call?.abort();
      this.#done({ kind: 'stopped', error });
    } else if (left) {
      this.#settleStream('aborted', () => this.#x.response.destroy());
    } else {
      this.#breakOff(error instanceof GatewayError ? error : coreErrors.shutting_down(error.message));
    }
  }

  /** The vendor has begun to process the input of a client that disconnected: charge it. */
  #countInput(): void {
    this.#x.served = this.#attempt.offer;
    const stream = this.#state === 'stream' ? this.#stream : this.#conveyance.relay();
    const textLength = stream.textLength();
    this.#x.usage = this.#complete(stream.unfinished?.('left') ?? countedUsage(this.#x.call.bounds, textLength));
  }

  #complete(usage: Usage): Usage {
    const stream = this.#stream as StreamRelay | undefined;
    return withUnsaid(usage, this.#x.call, this.#attempt.offer, stream?.uses?.());
  }

  /** A bug in a style, or a plugin that refuses the answer, is not the vendor's failure. */
  #styleFailed(error: unknown): void {
    if (error instanceof AnswerRefused) {
      this.#refuseAnswer(error.refusal);
      return;
    }
    this.#tools.log.error('a style failed', { style: this.#style.name, exchange: this.#x.id, error });
    this.#stop(coreErrors.internal_error('The gateway could not decode the answer.'));
  }

  /** The output that the vendor produced so far is charged whether or not it was sent. */
  #refuseAnswer(refusal: GatewayError): void {
    if (this.#state === 'done') return;
    const x = this.#x;
    this.#attempt.cut = true;
    if (this.#committed) {
      x.note({ code: refusal.code });
      this.#breakOff(refusal);
      return;
    }
    x.served = this.#attempt.offer;
    x.usage = this.#complete(this.#unfinished(false));
    x.running = undefined;
    this.#call?.abort();
    this.#done({ kind: 'stopped', error: refusal });
  }

  /** `isCut`: the vendor's answer was cut, not ended too early: its connection broke off, or it is silent. */
  #fail(failure: FailureKind, reason: string, how = NOT_AGAIN, isCut = false): void {
    this.#call?.abort();
    if (!this.#committed) {
      this.#done({ kind: 'failed', failure, reason, how });
      return;
    }
    this.#attempt.failure = failure;
    this.#attempt.reason = reason;
    const error = coreErrors.upstream_broke_off(reason);
    // An HTTP/1.0 client could not tell a cut answer from a complete one.
    const isSeen = this.#x.body?.isFramed === true;
    if (isCut && isSeen && this.#x.style?.errors?.cutsWithVendor === true)
      this.#settleStream('failed', () => this.#cut());
    else this.#breakOff(failure === 'timeout' ? coreErrors.upstream_timeout(error.message) : error);
  }

  #done(result: AttemptResult): void {
    this.#stopWaiting();
    this.#state = 'done';
    this.#owner.ended(result);
  }

  #waitFor(ms: number): void {
    const { clock, deadlines } = this.#tools;
    const now = clock.mono();
    const atMs = Math.min(now + ms, this.#totalAtMs);
    if (this.#deadline === undefined) this.#deadline = deadlines.set(atMs - now, () => this.#expired());
    else this.#deadline.atMs = atMs;
  }

  #stopWaiting(): void {
    if (this.#deadline !== undefined) this.#tools.deadlines.clear(this.#deadline);
    if (this.#keepAlive !== undefined) this.#tools.deadlines.clear(this.#keepAlive);
    this.#deadline = undefined;
    this.#keepAlive = undefined;
    this.#x.onStop(undefined);
  }
}

/** Raw bytes are forwarded as they arrive. */
const UNSPLIT: EventSplitter = { push: (chunk) => [chunk], rest: () => NO_BYTES };
const NO_BYTES = Buffer.alloc(0);
const NO_STREAM = 'the answer is not the requested stream';
const NOT_AGAIN: Breaking = { stale: false, unsent: false };

/** Bytes written to a client: the vendor's, or our own events. */
type Bytes = Buffer | string;

/** The header, or the trailer, that lists translation warnings. */
export const TRANSLATION = 'x-turnpike-translation';
/** The content type of streams of events. */
export const EVENT_STREAM = 'text/event-stream; charset=utf-8';

function joined(pieces: readonly Bytes[]): Bytes {
  if (pieces.length === 1) return pieces[0]!;
  if (pieces.every((piece) => typeof piece === 'string')) return pieces.join('');
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
}

/** Records translation warnings. */
export function noteWarnings(x: LiveExchange, { warnings }: Pick<Conveyance, 'warnings'>): void {
  const all = warnings?.() ?? [];
  if (all.length > 0) x.note({ translation: all });
}

/** True if bytes of a vendor contain one of our credentials or the address of the channel. */
export function givesAway(bytes: Buffer, channel: Channel): boolean {
  const host = new URL(channel.url).host;
  const secrets = [channel.key, ...secretsIn(channel.headers), ...secretsIn(channel.query)];
  const contains = (text: string | Buffer): boolean =>
    secrets.some((secret) => secret.length >= SHORTEST_SECRET && text.includes(secret)) || text.includes(host);
  // Some encoders escape the slashes of JSON.
  return contains(bytes) || (bytes.includes('\\/') && contains(bytes.toString().replaceAll('\\/', '/')));
}

/** The values of headers and query parameters whose names indicate a secret. */
function secretsIn(fields: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.keys(fields).flatMap((name) => (isSecretName(name) ? [fields[name]!] : []));
}

/** A short form of a vendor's error message for usage records; replaced if it would disclose a secret. */
export function quoted(text: string | undefined, channel: Channel): string {
  if (text === undefined) return 'without a reason';
  return givesAway(Buffer.from(text), channel) ? 'in words that are not to be repeated' : text.slice(0, 300);
}
