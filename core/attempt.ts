/** One try at one offer: sends, waits no longer than allowed, and relays a stream to the client event by event. */

import { answerHeaders } from './answers.ts';
import type { Clock } from './clock.ts';
import type { Attempt, FailureKind, Headers, Offer, Outcome, Usage } from './contracts/call.ts';
import type { StreamMeter, Style } from './contracts/style.ts';
import type { Channel } from './contracts/vendor.ts';
import type { Deadline, Deadlines } from './deadlines.ts';
import { GatewayError } from './errors.ts';
import { createEventSplitter, type EventSplitter } from './events.ts';
import { ClientLeft, type LiveExchange } from './exchange.ts';
import type { Log } from './log.ts';
import type { Pipeline } from './pipeline.ts';
import type { Known } from './plugin.ts';
import type { Upstream, UpstreamCall, UpstreamListener, UpstreamRequest } from './upstream.ts';
import { countedUsage } from './usage.ts';

/** What became of an attempt. */
export type AttemptResult =
  /** The stream was relayed to its end, good or bad; the client has been told and the exchange is concluded. */
  | { readonly kind: 'relayed' }
  /** A whole answer, read to its end; nothing of it has been written. */
  | { readonly kind: 'whole'; readonly body: Buffer }
  /** An answer with another status than 2xx; its body cut at 64 KiB. */
  | { readonly kind: 'status'; readonly status: number; readonly headers: Headers; readonly body: Buffer }
  /** No answer worth the name; nothing of it has been written. */
  | { readonly kind: 'failed'; readonly failure: FailureKind; readonly reason: string; readonly stale: boolean }
  /** The client left, or the gateway cut the exchange off, before anything was written. */
  | { readonly kind: 'stopped'; readonly error: Error };

/** What an attempt needs from the gateway. */
export interface AttemptTools {
  readonly upstream: Upstream;
  readonly deadlines: Deadlines;
  readonly clock: Clock;
  readonly onDisconnect: { readonly stream: 'cancel' | 'drain'; readonly whole: 'cancel' | 'drain' };
  readonly pipeline: Pipeline;
  readonly log: Log;
  /** Ends the exchange in the books; rejects where that could not be made durable. */
  conclude(x: LiveExchange, outcome: Outcome): Promise<void>;
}

/** More than this of an error is not read. */
const MAX_ERROR_BODY = 64 * 1_024;
/** More than this of a whole answer is not held. */
const MAX_ANSWER = 64 * 1_024 * 1_024;
/** No event of a conversation is longer. */
const MAX_EVENT = 1_024 * 1_024;
/** A vendor that thinks may send a comment now and then, but not for ever. */
const MAX_HELD_BYTES = 64 * 1_024;
const HEAD_MS = { stream: 60_000, whole: 600_000 } as const;
/** How long a client may leave its stream unread. */
const WRITE_STALL_MS = 120_000;
/** After this long without a byte to the client, a comment keeps the connection alive. */
const KEEP_ALIVE_MS = 15_000;
/** How long a vendor that has said everything may take to close its answer. */
const LINGER_MS = 5_000;

/** Begins to write down an attempt. */
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

/** Tells how an attempt went, once; before the exchange is settled, for its record names its attempts. */
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
    tools.log.warn('an attempt failed', { exchange: x.id, channel: channel.name, model, failure, status, reason });
  }
  tools.pipeline.attempted(x as LiveExchange & Known, attempt);
}

/** Makes one attempt. Never rejects. */
export function makeAttempt(
  x: LiveExchange,
  attempt: Attempt,
  request: UpstreamRequest,
  style: Style,
  hideUsage: boolean,
  tools: AttemptTools,
): Promise<AttemptResult> {
  return new Promise((resolve) => {
    new Delivery(x, attempt, style, hideUsage, tools, resolve).start(request);
  });
}

/** What is expected next; decides what a deadline, an end or a failure means. */
type State = 'head' | 'status' | 'whole' | 'stream' | 'done';

class Delivery implements UpstreamListener {
  readonly #x: LiveExchange;
  readonly #attempt: Attempt;
  readonly #channel: Channel;
  readonly #style: Style;
  readonly #hideUsage: boolean;
  readonly #tools: AttemptTools;
  readonly #resolve: (result: AttemptResult) => void;
  readonly #totalAtMs: number;
  /** Both made once it is known that a stream comes. */
  #splitter!: EventSplitter;
  #meter!: StreamMeter;
  #state: State = 'head';
  #call: UpstreamCall | undefined;
  #deadline: Deadline | undefined;
  #keepAlive: Deadline | undefined;
  #lingering: Deadline | undefined;
  #status = 0;
  #headers: Headers = {};
  #chunks: Buffer[] = [];
  #size = 0;
  /** Events held until the first one shows that the vendor really answers. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** The vendor's first word has gone to the client: from here on there is no other channel. */
  #committed = false;
  #stalled = false;

  constructor(
    x: LiveExchange,
    attempt: Attempt,
    style: Style,
    hideUsage: boolean,
    tools: AttemptTools,
    resolve: (result: AttemptResult) => void,
  ) {
    this.#x = x;
    this.#attempt = attempt;
    this.#channel = attempt.offer.channel;
    this.#style = style;
    this.#hideUsage = hideUsage;
    this.#tools = tools;
    this.#resolve = resolve;
    this.#totalAtMs = x.startedMono + this.#channel.timeout.totalMs;
  }

  start(request: UpstreamRequest): void {
    const stream = this.#x.call.stream;
    const headMs = this.#channel.timeout.headMs ?? (stream ? HEAD_MS.stream : HEAD_MS.whole);
    this.#waitFor(headMs);
    if (stream) this.#keepAlive = this.#tools.deadlines.set(KEEP_ALIVE_MS, () => this.#sendKeepAlive());
    this.#call = this.#tools.upstream.send(request, this);
    this.#x.onStop((error) => this.#stop(error));
  }

  // ---- the vendor speaks

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
    if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity') {
      this.#fail('broken', 'the answer is compressed although it must not be');
    } else if (this.#x.call.stream) {
      if (type.startsWith('text/event-stream')) this.#expectStream();
      else this.#fail('broken', 'a stream was asked for and something else was answered');
    } else {
      this.#state = 'whole';
    }
  }

  data(chunk: Buffer): void {
    if (this.#state === 'done') return;
    this.#attempt.firstByteMs ??= this.#tools.clock.now() - this.#attempt.startedMs;
    if (this.#state === 'stream') {
      if (!this.#stalled) this.#waitFor(this.#channel.timeout.idleMs);
      try {
        this.#relay(chunk);
      } catch (error) {
        this.#styleFailed(error);
      }
      return;
    }
    this.#waitFor(this.#channel.timeout.idleMs);
    if (this.#state === 'status') {
      const room = MAX_ERROR_BODY - this.#size;
      this.#chunks.push(room < chunk.length ? chunk.subarray(0, room) : chunk);
      this.#size += chunk.length;
      if (this.#size >= MAX_ERROR_BODY) this.#finishStatus();
    } else if (this.#state === 'whole') {
      this.#chunks.push(chunk);
      this.#size += chunk.length;
      if (this.#size > MAX_ANSWER) this.#fail('broken', `the answer is larger than ${MAX_ANSWER} bytes`);
    }
  }

  end(): void {
    if (this.#lingering !== undefined) this.#tools.deadlines.clear(this.#lingering);
    if (this.#state === 'status') this.#finishStatus();
    else if (this.#state === 'whole') this.#done({ kind: 'whole', body: this.#body() });
    else if (this.#state === 'stream') this.#endStream();
    else if (this.#state === 'head') this.#fail('broken', 'the answer has no head');
  }

  fail(kind: FailureKind, reason: string, how: { readonly stale: boolean }): void {
    if (this.#lingering !== undefined) this.#tools.deadlines.clear(this.#lingering);
    if (this.#state === 'status') {
      // The status has said enough; that its explanation broke off changes nothing.
      this.#finishStatus();
    } else if (this.#state !== 'done') {
      this.#fail(kind, reason, how.stale);
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

  #expectStream(): void {
    this.#state = 'stream';
    this.#splitter = createEventSplitter({ maxBytes: MAX_EVENT });
    this.#meter = this.#style.meter({ hideUsage: this.#hideUsage });
  }

  #relay(chunk: Buffer): void {
    const events = this.#splitter.push(chunk);
    if (events === undefined) {
      this.#fail('broken', `an event is larger than ${MAX_EVENT} bytes`);
      return;
    }
    const out: Buffer[] = [];
    for (const event of events) {
      const kind = this.#meter.see(event);
      if (kind === 'pass') {
        out.push(event);
      } else if (kind === 'last') {
        this.#write(out);
        this.#finishStream(event);
        return;
      } else if (kind === 'error') {
        this.#write(out);
        this.#vendorGaveUp(event);
        return;
      }
    }
    this.#write(out);
  }

  /** Events to the client; the first real one commits us to this vendor. */
  #write(events: readonly Buffer[]): void {
    if (events.length === 0) return;
    if (!this.#committed) {
      this.#held.push(...events);
      for (const event of events) this.#heldBytes += event.length;
      if (!events.every(isComment)) this.#commit();
      else if (this.#heldBytes > MAX_HELD_BYTES) this.#fail('broken', 'the stream is nothing but comments');
      return;
    }
    this.#send(events.length === 1 ? events[0]! : Buffer.concat(events));
  }

  #commit(): void {
    this.#committed = true;
    const held = this.#held;
    this.#held = [];
    const x = this.#x;
    x.served = this.#attempt.offer;
    x.running = () => this.#usage();
    x.delivered = true;
    this.#sendHead();
    this.#send(Buffer.concat(held));
  }

  #sendHead(): void {
    const x = this.#x;
    if (x.response.headersSent || x.gone) return;
    x.status = 200;
    const own: Record<string, string> = {
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
    };
    // A keep-alive goes out before anybody knows who will serve.
    if (this.#committed) own['x-turnpike-channel'] = this.#channel.name;
    x.response.writeHead(200, answerHeaders(x.id, x.answerHeaders, own));
  }

  #send(bytes: Buffer | string): void {
    if (this.#x.gone) return;
    if (this.#keepAlive !== undefined) this.#keepAlive.atMs = this.#tools.clock.mono() + KEEP_ALIVE_MS;
    if (this.#x.response.write(bytes) || this.#stalled) return;
    // The client reads slower than the vendor writes: the vendor has to wait, and the client not for ever.
    this.#stalled = true;
    this.#call?.pause();
    this.#waitFor(WRITE_STALL_MS);
    this.#x.response.once('drain', () => this.#goOn());
  }

  /** The vendor may write again. */
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
    this.#send(this.#style.keepAlive);
  }

  #endStream(): void {
    try {
      this.#streamEnded();
    } catch (error) {
      this.#styleFailed(error);
    }
  }

  /** The vendor closed its stream without its last event. */
  #streamEnded(): void {
    const rest = this.#splitter.rest();
    if (rest.length > 0) {
      const kind = this.#meter.see(rest);
      if (kind === 'last') {
        this.#finishStream(rest);
        return;
      }
      if (kind === 'error') {
        this.#vendorGaveUp(rest);
        return;
      }
      if (kind === 'pass' && this.#meter.finished) this.#write([rest, Buffer.from('\n\n')]);
    }
    if (this.#meter.finished && this.#committed) {
      this.#x.note({ anomaly: 'the vendor left out the last event' });
      this.#finishStream(Buffer.from(this.#style.terminal));
    } else {
      this.#fail('broken', 'the stream ended before the answer did');
    }
  }

  /** The good ending: the books first, then the last bytes. */
  #finishStream(last: Buffer): void {
    if (!this.#committed) {
      this.#fail('broken', 'the stream is empty');
      return;
    }
    this.#settleStream('served', () => this.#x.response.end(last));
  }

  /** An error event of the vendor's. It is in the client's style already; it passes unless it would give something away. */
  #vendorGaveUp(event: Buffer): void {
    const error = this.#meter.error;
    if (!this.#committed) {
      this.#fail('broken', `the vendor answered with an error: ${quoted(error?.message, this.#channel)}`);
      return;
    }
    this.#attempt.failure = 'broken';
    this.#attempt.reason = quoted(error?.message, this.#channel);
    if (givesAway(event, this.#channel)) {
      this.#breakOff(new GatewayError(502, 'upstream_error', 'The vendor ended the answer with an error.'));
      return;
    }
    this.#settleStream('failed', () => this.#x.response.end(event));
  }

  /** The bad ending: the books, an error event, and no last chunk, so that nobody takes a part for the whole. */
  #breakOff(error: GatewayError): void {
    const { response } = this.#x;
    this.#settleStream('failed', () => {
      response.write(this.#style.errorEvent(error, this.#x.id), () => response.destroy());
    });
  }

  #settleStream(outcome: 'served' | 'failed' | 'aborted', then: () => void): void {
    const x = this.#x;
    const call = this.#call;
    x.usage = this.#usage();
    x.running = undefined;
    this.#stopWaiting();
    this.#state = 'done';
    // What comes behind the last event is not for anybody; a vendor that has said it all is left to close by itself.
    if (outcome === 'served') this.#lingering = this.#tools.deadlines.set(LINGER_MS, () => call?.abort());
    else call?.abort();
    endAttempt(x, this.#attempt, this.#tools);
    this.#tools
      // The client may have left a stream that is read to its end all the same.
      .conclude(x, outcome === 'served' && x.gone ? 'aborted' : outcome)
      .then(() => {
        if (!x.gone) then();
      })
      // Not in the books, or not to be spelt: the client must not believe it has everything.
      .catch(() => x.response.destroy())
      .finally(() => this.#resolve({ kind: 'relayed' }));
  }

  #usage(): Usage {
    return this.#meter.usage ?? countedUsage(this.#x.call.bounds, this.#meter.textLength);
  }

  // ---- endings that are not the vendor's

  #expired(): void {
    this.#deadline = undefined;
    if (this.#state === 'done') return;
    if (this.#stalled) {
      // It does not read, so it is as good as gone.
      this.#x.response.destroy();
      this.#x.leave();
      return;
    }
    if (this.#state === 'status') {
      // As where it breaks off: the status has said enough.
      this.#finishStatus();
      return;
    }
    const total = this.#tools.clock.mono() >= this.#totalAtMs;
    this.#fail(
      'timeout',
      total ? 'the call took too long' : `no ${this.#state === 'head' ? 'answer' : 'bytes'} in time`,
    );
  }

  /** The client left, or somebody cut the exchange off. */
  #stop(error: Error): void {
    if (this.#state === 'done') return;
    const left = error instanceof ClientLeft;
    const stream = this.#x.call.stream;
    if (left && this.#tools.onDisconnect[stream ? 'stream' : 'whole'] === 'drain') {
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
      this.#breakOff(error instanceof GatewayError ? error : new GatewayError(503, 'shutting_down', error.message));
    }
  }

  /** The vendor has begun to read what the client no longer wants answered: that much was used. */
  #countInput(): void {
    this.#x.served = this.#attempt.offer;
    this.#x.usage = countedUsage(this.#x.call.bounds, 0);
  }

  /** A bug of the style's says nothing about the vendor. */
  #styleFailed(error: unknown): void {
    this.#tools.log.error('a style failed', { style: this.#style.name, exchange: this.#x.id, error });
    this.#stop(new GatewayError(500, 'internal_error', 'The gateway could not read the answer.'));
  }

  #fail(failure: FailureKind, reason: string, stale = false): void {
    this.#call?.abort();
    if (!this.#committed) {
      this.#done({ kind: 'failed', failure, reason, stale });
      return;
    }
    this.#attempt.failure = failure;
    this.#attempt.reason = reason;
    const [status, code] = failure === 'timeout' ? [504, 'upstream_timeout'] : [502, 'upstream_broke_off'];
    this.#breakOff(new GatewayError(status as number, code as string, `The answer broke off: ${reason}.`));
  }

  #done(result: AttemptResult): void {
    this.#stopWaiting();
    this.#state = 'done';
    this.#resolve(result);
  }

  #waitFor(ms: number): void {
    const { clock, deadlines } = this.#tools;
    const leftMs = Math.min(ms, this.#totalAtMs - clock.mono());
    if (this.#deadline === undefined) this.#deadline = deadlines.set(leftMs, () => this.#expired());
    else this.#deadline.atMs = clock.mono() + leftMs;
  }

  #stopWaiting(): void {
    if (this.#deadline !== undefined) this.#tools.deadlines.clear(this.#deadline);
    if (this.#keepAlive !== undefined) this.#tools.deadlines.clear(this.#keepAlive);
    this.#deadline = undefined;
    this.#keepAlive = undefined;
    this.#x.onStop(undefined);
  }
}

function isComment(event: Buffer): boolean {
  return event[0] === 0x3a;
}

/** Whether bytes of a vendor's hold our credential or say where the channel goes. */
export function givesAway(bytes: Buffer, channel: Channel): boolean {
  const host = new URL(channel.url).host;
  const told = (text: string | Buffer): boolean =>
    (channel.key.length >= 8 && text.includes(channel.key)) || text.includes(host);
  // Some write JSON with its slashes escaped.
  return told(bytes) || (bytes.includes('\\/') && told(bytes.toString().replaceAll('\\/', '/')));
}

/** What a vendor said went wrong, short, for the records; not where it would give something away. */
export function quoted(text: string | undefined, channel: Channel): string {
  if (text === undefined) return 'without a reason';
  return givesAway(Buffer.from(text), channel) ? 'in words that are not to be repeated' : text.slice(0, 300);
}
