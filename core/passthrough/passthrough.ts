/** Passthrough routes: requests that are forwarded as bytes, with the limits, deadlines and accounting of calls. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { scanJson } from '../bytes/json-body.ts';
import type { LiveExchange } from '../call/live-exchange.ts';
import { coreErrors } from '../contracts/errors.ts';
import type { Attempt, Call, FailureKind, Offer } from '../contracts/formats/call.ts';
import { GatewayError } from '../contracts/gateway-error.ts';
import { beginAttempt, endAttempt, givesAway } from '../delivery/attempt.ts';
import { type DeliverTools, unsigned } from '../delivery/deliver.ts';
import { errorOf, failureOf } from '../delivery/judge-answer.ts';
import { retryAfter, retryHeaders } from '../delivery/retry-after.ts';
import type { Head } from '../http/request-head.ts';
import { answerHeaders, ClientLeft, type SentHeaders, send } from '../http/responses.ts';
import { answerUnread, tooLarge } from '../incoming/read-body.ts';
import { addHeaders, addQuery, signedHeaders } from '../outgoing/channel-request.ts';
import type { Known, PassthroughRoute, PassthroughTarget } from '../plugin.ts';
import type { Deadline } from '../runtime/deadlines.ts';
import { USUAL } from '../translation/quirks/quirks.ts';
import type { OutgoingProxies } from '../upstream/proxy.ts';
import { TunnelFailed } from '../upstream/reasons.ts';
import type { OpaqueCall, OpaqueCarrier, OpaqueListener, OpaqueRequest } from './byte-proxy.ts';

/** A received request for a passthrough route. */
export interface Arrival {
  readonly head: Head;
  /** The client waits for `100 Continue` before it sends its body. */
  readonly expectsContinue: boolean;
  /** A larger body is cut off. */
  readonly maxBytes: number;
}

/** Limit for an error body. */
const MAX_ERROR_BODY = 64 * 1_024;
const HEAD_MS = 600_000;
/** Time a client may stop reading its answer. */
const WRITE_STALL_MS = 120_000;
/** Client headers that are forwarded, in addition to those that frame the body. */
const ASKED: readonly string[] = ['accept', 'content-encoding', 'content-type', 'range'];
/** Vendor headers that are forwarded. */
const ANSWERED: readonly string[] = [
  'accept-ranges',
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'etag',
  'last-modified',
];
const EMPTY = scanJson(Buffer.from('{}'));

/** The call of a passthrough request. Refuses what must not be forwarded. */
export function readPassthrough(
  passthrough: PassthroughRoute,
  { head, maxBytes }: Pick<Arrival, 'head' | 'maxBytes'>,
): Call {
  if (/%2f/i.test(head.path)) {
    throw coreErrors.invalid_path('An encoded slash (%2F) in the path cannot be forwarded.');
  }
  if (head.length !== undefined && head.length > maxBytes) throw tooLarge(maxBytes);
  return {
    style: passthrough.prefix,
    model: '',
    stream: false,
    asksUsage: false,
    body: EMPTY,
    bounds: { inputBytes: head.length ?? 0, media: 0, outputTokens: 0, choices: 1 },
  };
}

/** Forwards an admitted request and its answer, or throws the client's error. On return, the request has ended. */
export function forwardPassthrough(
  x: LiveExchange & Known,
  passthrough: PassthroughRoute,
  arrival: Arrival,
  opaque: OpaqueCarrier,
  tools: DeliverTools,
): Promise<void> {
  if (x.stoppedBy !== undefined) throw x.stoppedBy;
  const target = passthrough.target(x);
  return new Promise((resolve, reject) => {
    new Carriage(x, target, tools, resolve, reject).start(arrival, opaque);
  });
}

/** The target of a passthrough request, as attempts need it. */
export function offerOf({ channel }: PassthroughTarget): Offer {
  return { channel, model: '', style: '', quirks: USUAL, strict: false, priced: '' };
}

/** `refused`: the vendor refuses, and its error is read. `answering`: a success is being forwarded. */
type State = 'asking' | 'refused' | 'answering' | 'done';

class Carriage implements OpaqueListener {
  readonly #x: LiveExchange & Known;
  readonly #target: PassthroughTarget;
  readonly #tools: DeliverTools;
  readonly #resolve: () => void;
  readonly #reject: (error: unknown) => void;
  readonly #attempt: Attempt;
  readonly #totalAtMs: number;
  #state: State = 'asking';
  #call: OpaqueCall | undefined;
  #upload: Upload | undefined;
  #deadline: Deadline | undefined;
  #connected = false;
  /** The vendor reads the body more slowly than the client sends it. */
  #vendorStalls = false;
  /** The client reads the answer more slowly than the vendor sends it. */
  #clientStalls = false;
  #answer: IncomingMessage | undefined;
  /** Remaining bytes of the answer, if the vendor declared its length. */
  #left: number | undefined;
  /** Held-back bytes of the answer. */
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(
    x: LiveExchange & Known,
    target: PassthroughTarget,
    tools: DeliverTools,
    resolve: () => void,
    reject: (error: unknown) => void,
  ) {
    this.#x = x;
    this.#target = target;
    this.#tools = tools;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#attempt = beginAttempt(x, offerOf(target), tools.clock);
    this.#totalAtMs = x.startedMono + target.channel.timeout.totalMs;
  }

  start(arrival: Arrival, opaque: OpaqueCarrier): void {
    const { channel } = this.#target;
    const { clock, vendors } = this.#tools;
    const request = requestOf(arrival.head, this.#target, this.#tools.proxies);
    const vendor = vendors.get(channel.vendor);
    if (vendor?.sign === undefined) {
      this.#send(request, arrival, opaque);
      return;
    }
    this.#x.onStop((error) => this.#stop(error));
    const body = arrival.head.hasBody ? 'arriving' : undefined;
    signedHeaders(vendor, channel, { ...request, body }, { clock, signal: this.#x.signal }).then(
      (headers) => this.#send({ ...request, headers }, arrival, opaque),
      (error) => this.#unsigned(error),
    );
  }

  #send(sent: OpaqueRequest, { head, expectsContinue, maxBytes }: Arrival, opaque: OpaqueCarrier): void {
    if (this.#state === 'done') return;
    const { request, response } = this.#x;
    const { connectMs } = this.#target.channel.timeout;
    this.#deadline = this.#tools.deadlines.set(connectMs, () => this.#expired());
    if (head.hasBody) {
      this.#upload = new Upload(request, maxBytes, {
        tooLarge: () => this.#stop(tooLarge(maxBytes)),
        stalled: (yes) => {
          this.#vendorStalls = yes;
          this.#waitForHead();
        },
      });
    }
    try {
      frame(sent.headers, head);
      this.#call = opaque.web(sent, this.#upload, this);
    } catch {
      this.#fail('broken', 'the request could not be sent');
      return;
    }
    // Not earlier: a client that waits for `100 Continue` never sends a body that would be refused.
    if (expectsContinue) response.writeContinue();
    this.#x.onStop((error) => this.#stop(error));
  }

  // ---- the vendor

  connected(): void {
    this.#connected = true;
    this.#waitForHead();
  }

  answered(answer: IncomingMessage): void {
    // An answer that is no longer needed may still fail; that error must have a listener.
    answer.on('error', () => this.failed());
    if (this.#state !== 'asking') {
      answer.destroy();
      return;
    }
    answer.on('close', () => this.failed());
    const status = answer.statusCode ?? 0;
    this.#answer = answer;
    this.#attempt.status = status;
    this.#attempt.retryAfterMs = retryAfter(flat(answer), this.#tools.clock.now());
    this.#waitFor(this.#target.channel.timeout.idleMs);
    const nonsense = whyNotRelayed(answer);
    if (nonsense !== undefined) {
      this.#fail('broken', nonsense);
      return;
    }
    if (status >= 300) {
      this.#attempt.failure = failureOf(status, status >= 500);
      this.#attempt.reason = `status ${status}`;
      if (this.#attempt.failure === 'credential') {
        this.#fail('credential', this.#attempt.reason);
        return;
      }
      this.#state = 'refused';
    } else {
      this.#state = 'answering';
      const length = answer.headers['content-length'];
      this.#left = length === undefined ? undefined : Number(length);
    }
    answer.on('data', (chunk: Buffer) => this.#read(chunk));
    answer.on('end', () => {
      if (!answer.complete) this.failed();
      else if (this.#state === 'refused') this.#relayRefusal();
      else if (this.#state === 'answering') this.#finish();
    });
  }

  failed(error?: Error): void {
    if (!this.#connected) this.#fail('connect', connectFailure(error));
    else if (this.#answer === undefined) this.#fail('broken', 'the connection was closed before the answer');
    else this.#fail('broken', 'the connection was closed in the middle of the answer');
  }

  // ---- the answer

  #read(chunk: Buffer): void {
    if (this.#state !== 'refused' && this.#state !== 'answering') return;
    this.#attempt.firstByteMs ??= this.#tools.clock.now() - this.#attempt.startedMs;
    this.#waitFor(this.#target.channel.timeout.idleMs);
    if (this.#left !== undefined) this.#left -= chunk.length;
    // An error is forwarded completely or not at all; the last bytes of a success wait for settlement.
    if (this.#state === 'refused' || (this.#left !== undefined && this.#left <= 0)) this.#hold(chunk);
    else this.#write(chunk);
  }

  #hold(chunk: Buffer): void {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#state === 'refused' && this.#heldBytes > MAX_ERROR_BODY) this.#fail('broken', 'the error is too long');
  }

  #write(chunk: Buffer): void {
    const { response } = this.#x;
    this.#x.served = this.#attempt.offer;
    this.#x.delivered = true;
    this.#sendHead();
    if (response.write(chunk) || this.#clientStalls) return;
    // The client reads more slowly than the vendor writes: pause the vendor, and limit how long the client may stall.
    this.#clientStalls = true;
    this.#answer?.pause();
    this.#waitFor(WRITE_STALL_MS);
    response.once('drain', () => {
      this.#clientStalls = false;
      this.#waitFor(this.#target.channel.timeout.idleMs);
      this.#answer?.resume();
    });
  }

  /** The head is sent with the first bytes of the body, so that a vendor failure before can still become an error. */
  #sendHead(): void {
    const { response } = this.#x;
    if (response.headersSent) return;
    this.#x.status = this.#attempt.status!;
    response.writeHead(this.#x.status, this.#answeredHeaders());
  }

  #answeredHeaders(): SentHeaders {
    const own: Record<string, string> = { 'x-turnpike-channel': this.#target.channel.name };
    const theirs = flat(this.#answer!);
    for (const name of ANSWERED) {
      if (theirs[name] !== undefined) own[name] = theirs[name].replace(/[^\t\x20-\x7e\x80-\xff]/g, '?');
    }
    if (this.#attempt.status === 204) delete own['content-length'];
    if (this.#attempt.retryAfterMs !== undefined) Object.assign(own, retryHeaders(this.#attempt.retryAfterMs));
    return answerHeaders(this.#x.id, this.#x.answerHeaders, own);
  }

  // ---- ends

  /** Successful end: settle first, then send the last bytes. */
  #finish(): void {
    const x = this.#x;
    x.served = this.#attempt.offer;
    x.status = this.#attempt.status!;
    this.#end();
    this.#tools.conclude(x, 'served').then(
      () => {
        if (!x.gone) {
          x.delivered = true;
          this.#sendHead();
          x.response.end(Buffer.concat(this.#held));
          // The rest of the client's body must be drained before the connection can be reused.
          x.request.resume();
        }
        this.#resolve();
      },
      (error: unknown) => this.#giveUp(error),
    );
  }

  /** The vendor refuses: forward its error. */
  #relayRefusal(): void {
    const x = this.#x;
    const { status } = this.#attempt;
    const body = Buffer.concat(this.#held);
    if (givesAway(body, this.#target.channel)) {
      this.#fail('broken', 'the error contains internal data');
      return;
    }
    x.status = status!;
    this.#end();
    this.#tools.conclude(x, this.#attempt.failure === 'refused' ? 'refused' : 'failed').then(
      () => {
        const answer = { status: status!, headers: this.#answeredHeaders(), body };
        if (!x.gone && x.request.complete) send(x.response, answer.status, answer.headers, body);
        else if (!x.gone) answerUnread(x.request, x.response, answer, this.#tools.clock.after);
        this.#resolve();
      },
      (error: unknown) => this.#giveUp(error),
    );
  }

  /** Not settled: the client must not mistake the answer for a complete one. */
  #giveUp(error: unknown): void {
    if (!this.#x.response.headersSent) {
      this.#reject(error);
      return;
    }
    this.#x.response.destroy();
    this.#resolve();
  }

  /** The vendor did not sign the request, or cannot sign one while its body arrives. */
  #unsigned(error: Error): void {
    if (this.#state === 'done') return;
    if (error instanceof GatewayError) this.#stop(error);
    else this.#fail('credential', unsigned(error, this.#target.channel));
  }

  #fail(failure: FailureKind, reason: string): void {
    if (this.#state === 'done') return;
    this.#attempt.failure ??= failure;
    this.#attempt.reason ??= reason;
    this.#breakOff(errorOf(this.#attempt.failure, this.#attempt), 'failed');
  }

  /** The client disconnected, sent too much, or the request was cut off. */
  #stop(error: Error): void {
    if (this.#state === 'done') return;
    this.#attempt.cut = true;
    this.#breakOff(error, error instanceof ClientLeft ? 'aborted' : 'failed');
  }

  /** Failed end: an error, or after the head a closed connection: no client mistakes the answer for a complete one. */
  #breakOff(error: Error, outcome: 'failed' | 'aborted'): void {
    const { response } = this.#x;
    this.#end();
    if (!response.headersSent) {
      this.#reject(error);
      return;
    }
    const close = (): void => {
      response.destroy();
      this.#resolve();
    };
    this.#tools.conclude(this.#x, outcome).then(close, close);
  }

  /** Ignores all later events. */
  #end(): void {
    this.#state = 'done';
    if (this.#deadline !== undefined) this.#tools.deadlines.clear(this.#deadline);
    this.#deadline = undefined;
    this.#x.onStop(undefined);
    this.#upload?.destroy();
    this.#call?.abort();
    endAttempt(this.#x, this.#attempt, this.#tools);
  }

  // ---- deadlines

  #waitFor(ms: number): void {
    if (this.#deadline !== undefined) this.#deadline.atMs = Math.min(this.#tools.clock.mono() + ms, this.#totalAtMs);
  }

  /** The server watches slow clients; here the vendor must read the body and answer in time. */
  #waitForHead(): void {
    if (!this.#connected || this.#state !== 'asking') return;
    const { idleMs, headMs } = this.#target.channel.timeout;
    if (this.#upload === undefined || this.#upload.readableEnded) this.#waitFor(headMs ?? HEAD_MS);
    else this.#waitFor(this.#vendorStalls ? idleMs : Number.POSITIVE_INFINITY);
  }

  #expired(): void {
    this.#deadline = undefined;
    if (this.#clientStalls) this.#stop(new ClientLeft('the client does not read'));
    else if (!this.#connected) this.#fail('connect', 'the connection took too long');
    else if (this.#tools.clock.mono() >= this.#totalAtMs) this.#fail('timeout', 'the call took too long');
    else this.#fail('timeout', `no ${this.#state === 'asking' ? 'answer' : 'bytes'} in time`);
  }
}

/** Callbacks of an upload. */
interface UploadWatcher {
  readonly tooLarge: () => void;
  /** Whether the vendor blocks the client; also called when the body is complete. */
  readonly stalled: (yes: boolean) => void;
}

/** The client's body: limited, and read no faster than the vendor accepts it. */
class Upload extends Readable {
  readonly #source: IncomingMessage;
  readonly #watcher: UploadWatcher;
  readonly #take: (chunk: Buffer) => void;
  readonly #finish = (): void => {
    this.push(null);
  };

  constructor(source: IncomingMessage, maxBytes: number, watcher: UploadWatcher) {
    super();
    let size = 0;
    this.#source = source;
    this.#watcher = watcher;
    this.#take = (chunk) => {
      size += chunk.length;
      if (size > maxBytes) {
        watcher.tooLarge();
      } else if (!this.push(chunk)) {
        source.pause();
        watcher.stalled(true);
      }
    };
    source.on('data', this.#take).on('end', this.#finish);
    this.on('end', () => watcher.stalled(false));
  }

  override _read(): void {
    this.#watcher.stalled(false);
    this.#source.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#source.off('data', this.#take).off('end', this.#finish);
    this.#source.pause();
    done(error);
  }
}

/** All upstream headers except those that frame the body. */
function requestOf(head: Head, target: PassthroughTarget, proxies: OutgoingProxies): OpaqueRequest {
  const headers: Record<string, string> = {
    'user-agent': 'turnpike',
    // Accepted encodings of the client are not forwarded.
    'accept-encoding': 'identity',
  };
  for (const name of ASKED) if (head.headers[name] !== undefined) headers[name] = head.headers[name];
  Object.assign(headers, target.headers);
  addHeaders(headers, target.channel.headers);
  const url = addressOf(target);
  return { method: head.method, url, headers, proxy: proxies.for(url, target.channel.proxy) };
}

/** The target URL: the passthrough address with the channel's query parameters. */
export function addressOf({ url, channel }: PassthroughTarget): URL {
  if (channel.query === undefined) return url;
  const whole = new URL(url);
  addQuery(whole, channel);
  return whole;
}

/** Adds the headers that frame the body. */
function frame(headers: Record<string, string>, head: Head): void {
  if (head.hasBody && head.length === undefined) headers['transfer-encoding'] = 'chunked';
  else if (head.method === 'POST' || head.method === 'PUT') headers['content-length'] = String(head.length ?? 0);
}

/** Why a connection failed; names the proxy if that was the reason. */
export function connectFailure(error: Error | undefined): string {
  return error instanceof TunnelFailed ? error.message : 'the connection failed';
}

/** Why an answer is invalid; undefined if it may be forwarded. */
function whyNotRelayed({ statusCode = 0, headers }: IncomingMessage): string | undefined {
  if (statusCode < 200 || (statusCode >= 300 && statusCode < 400) || statusCode === 407) return `status ${statusCode}`;
  if (/^\s*(text\/html|application\/xhtml)/i.test(headers['content-type'] ?? '')) return 'the answer is an HTML page';
  return undefined;
}

/** The headers of an answer; node has joined repeated ones wherever we look. */
function flat({ headers }: IncomingMessage): Record<string, string> {
  const result: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(headers)) if (typeof value === 'string') result[name] = value;
  return result;
}
