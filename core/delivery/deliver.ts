/** Delivers a call: tries one channel after another until one answers, and sends that answer to the client, once. */

import type { LiveExchange } from '../call/live-exchange.ts';
import { type Revisions, revisionsOf } from '../call/revision.ts';
import type { EndListener } from '../call/settlement.ts';
import { coreErrors } from '../contracts/errors.ts';
import type { Attempt, Offer } from '../contracts/formats/call.ts';
import { type Channel, keyNameOf } from '../contracts/formats/channel.ts';
import type { JsonObject } from '../contracts/formats/json.ts';
import type { Style } from '../contracts/formats/style.ts';
import type { Vendor } from '../contracts/formats/vendor.ts';
import { GatewayError } from '../contracts/gateway-error.ts';
import { answerHeaders, answerLines, boundFlush, errorIn, send } from '../http/responses.ts';
import { type WrittenAnswer, writeAtOnce } from '../http/whole-answer.ts';
import {
  addHeaders,
  addQuery,
  isSignedAnew,
  mustSignAgain,
  signedHeaders,
  urlOf,
} from '../outgoing/channel-request.ts';
import type { Awaitable, Known } from '../plugin.ts';
import { withUnsaid } from '../translation/conversation/count-usage.ts';
import type { RefusedFields } from '../translation/quirks/refused-fields.ts';
import { warningHeader } from '../translation/warnings/warnings.ts';
import { acceptOf } from '../upstream/frame-splitter.ts';
import type { OutgoingProxies, OutgoingProxy } from '../upstream/proxy.ts';
import type { UpstreamRequest } from '../upstream/upstream.ts';
import {
  type AttemptOwner,
  type AttemptResult,
  type AttemptTools,
  addWords,
  beginAttempt,
  EVENT_STREAM,
  endAttempt,
  makeAttempt,
  noteWarnings,
  quoted,
  TRANSLATION,
} from './attempt.ts';
import { type Conveyance, convey } from './attempt-codec.ts';
import {
  type Failed,
  failedInVendor,
  failedWith,
  inOurForm,
  judge,
  judgeAnswer,
  type Unanswered,
  unwanted,
} from './judge-answer.ts';
import type { Parties, WholeAnswer } from './parties.ts';

/** The gateway's services for delivery. */
export interface DeliverTools extends AttemptTools {
  readonly vendors: ReadonlyMap<string, Vendor>;
  readonly styles: ReadonlyMap<string, Style>;
  readonly proxies: OutgoingProxies;
  /** Members that vendors refused in translated requests. */
  readonly refusedFields: RefusedFields;
  /** Maximum attempts per call, the first included. */
  readonly maxAttempts: number;
}

/** A dead pooled connection fails within this time after its use. */
const STALE_MS = 1_000;

/** Is told how a delivery ended. */
export interface Delivered {
  /** The client has its answer, and the request has ended. */
  delivered(): void;
  /** `error`: the error for the client. */
  failed(error: unknown): void;
}

/** Delivers: tries the targets in turn until one answers. */
export function deliver(
  x: LiveExchange & Known,
  offers: Iterable<Offer>,
  tools: DeliverTools,
  listener: Delivered,
): void {
  new Delivering(x, offers, tools, listener).next();
}

/** The targets of a call, in turn. */
class Delivering implements AttemptOwner, EndListener, WrittenAnswer {
  readonly #x: LiveExchange & Known;
  readonly #offers: Iterator<Offer>;
  readonly #tools: DeliverTools;
  readonly #listener: Delivered;
  #last: Failed | undefined;
  #unsaid: GatewayError | undefined;
  #tries = 0;
  // Of the present target.
  #offer!: Offer;
  #vendor!: Vendor;
  #parties!: Parties;
  #attempt!: Attempt;
  #conveyance!: Conveyance;
  #answer: WholeAnswer | undefined;
  #request!: UpstreamRequest;
  /** Without a signature. */
  #bare!: UpstreamRequest;
  /** Its request was signed again; it was sent again on a new connection. */
  #isSignedAgain = false;
  #isRepeated = false;
  #isOver = false;

  constructor(x: LiveExchange & Known, offers: Iterable<Offer>, tools: DeliverTools, listener: Delivered) {
    this.#x = x;
    this.#offers = offers[Symbol.iterator]();
    this.#tools = tools;
    this.#listener = listener;
  }

  /** Tries the next target. */
  next(): void {
    const x = this.#x;
    const tools = this.#tools;
    try {
      const { done, value: offer } = this.#offers.next() as IteratorResult<Offer, undefined>;
      if (done === true) {
        this.#giveUp();
        return;
      }
      if (x.stoppedBy !== undefined) throw x.stoppedBy;
      const known = tools.refusedFields.without(offer, offer.style === x.style!.name);
      const { vendor, parties } = partiesOf(x, known, tools, revisionsOf(x, tools.pipeline, tools.log));
      this.#offer = offer;
      this.#vendor = vendor;
      this.#parties = parties;
      this.#attempt = beginAttempt(x, offer, tools.clock);
    } catch (error) {
      this.#end(error);
      return;
    }
    this.#convey();
  }

  /** Makes the vendor's request. */
  #convey(): void {
    this.#isSignedAgain = false;
    this.#isRepeated = false;
    let conveyance: Conveyance;
    try {
      const conveying = convey(this.#parties);
      if (conveying instanceof Promise) {
        this.#await(
          conveying,
          (conveyance) => this.#conveyed(conveyance),
          (error) => this.#unconveyed(error),
        );
        return;
      }
      conveyance = conveying;
    } catch (error) {
      this.#unconveyed(error);
      return;
    }
    this.#conveyed(conveyance);
  }

  #unconveyed(error: unknown): void {
    const { stoppedBy } = this.#x;
    // The client may have disconnected while an image was fetched.
    if (stoppedBy !== undefined) this.#broke(stoppedBy);
    else if (!(error instanceof GatewayError)) this.#failedInVendor(error);
    else {
      // It does not mean that the channel is unhealthy, and another channel may accept the request.
      this.#attempt.cut = true;
      this.#judged(error);
    }
  }

  #conveyed(conveyance: Conveyance): void {
    const { stoppedBy } = this.#x;
    if (stoppedBy !== undefined) {
      this.#broke(stoppedBy);
      return;
    }
    this.#conveyance = conveyance;
    try {
      this.#bare = toUpstream(this.#parties, this.#attempt, conveyance.body, this.#tools.proxies);
    } catch (error) {
      this.#failedInVendor(error);
      return;
    }
    if (this.#vendor.sign === undefined) this.#send(this.#bare);
    else this.#await(this.#sign(false), (signing) => this.#signed(signing));
  }

  /** The request with the vendor's signature; `refused`: the vendor did not accept the last one. */
  #sign(refused: boolean): Promise<UpstreamRequest | Error> {
    return signed(this.#bare, this.#vendor, this.#parties, this.#tools, refused);
  }

  #signed(signing: UpstreamRequest | Error): void {
    const { stoppedBy } = this.#x;
    if (stoppedBy !== undefined) this.#broke(stoppedBy);
    else if (!(signing instanceof Error)) this.#send(signing);
    else this.#judged(failedWith(this.#attempt, 'credential', unsigned(signing, this.#parties.offer.channel)));
  }

  #send(request: UpstreamRequest): void {
    this.#request = request;
    try {
      makeAttempt(this.#x, this.#attempt, request, this.#conveyance, this.#parties.dialect.frames, this.#tools, this);
    } catch (error) {
      this.#broke(error);
    }
  }

  ended(result: AttemptResult): void {
    if (this.#isOver) return;
    try {
      if (result.kind === 'relayed') this.#judged(undefined);
      else if (result.kind === 'whole') this.#read(result);
      else if (result.kind === 'stopped') throw result.error;
      else if (!this.#tryAgain(result))
        this.#judged(judge(this.#x, this.#attempt, result, this.#vendor, this.#conveyance, this.#tools.clock));
    } catch (error) {
      this.#broke(error);
    }
  }

  /** Sends a request to the same target again, if that may help. */
  #tryAgain(result: Unanswered): boolean {
    const x = this.#x;
    // For a client that has disconnected, a running attempt may finish, but no new one starts.
    if (this.#isRepeated || x.stoppedBy !== undefined) return false;
    if (result.kind === 'status' && !this.#isSignedAgain && mustSignAgain(this.#vendor, result.status)) {
      this.#isSignedAgain = true;
      this.#await(this.#sign(true), (signing) => {
        const isNew = !(signing instanceof Error) && isSignedAnew(signing.headers, this.#request.headers);
        if (isNew && x.stoppedBy === undefined) this.#send(signing);
        else this.ended(result);
      });
      return true;
    }
    const { earlier } = x.call;
    const { offer } = this.#parties;
    const refused = result.kind === 'status' && (result.status === 400 || result.status === 404);
    if (refused && earlier?.channel === keyNameOf(offer.channel)) {
      // The vendor may have deleted the earlier answer; the gateway still has it.
      x.call = { ...x.call, earlier: { ...earlier, channel: undefined } };
      this.#convey();
      return true;
    }
    const field = unwanted(this.#parties, result, this.#conveyance);
    if (field !== undefined) {
      this.#parties = { ...this.#parties, offer: this.#tools.refusedFields.add(offer, field) };
      this.#convey();
      return true;
    }
    if (result.kind !== 'failed' || !result.how.stale) return false;
    // A dead pooled connection fails at once; a later failure may mean that the vendor has processed the complete
    // request.
    const atOnce = this.#tools.clock.now() - this.#attempt.startedMs < STALE_MS;
    if (!atOnce && !result.how.unsent) return false;
    this.#isRepeated = true;
    this.#send({ ...this.#request, fresh: true });
    return true;
  }

  #read({ body, type }: Extract<AttemptResult, { kind: 'whole' }>): void {
    let reading: Awaitable<WholeAnswer | undefined>;
    try {
      reading = this.#conveyance.whole(body, type);
    } catch (error) {
      reading = notJson(error);
    }
    if (!(reading instanceof Promise)) this.#answered(reading);
    else {
      this.#await(reading.catch(notJson), (answer) => this.#answered(answer));
    }
  }

  /** Settles first, then sends the answer: no client gets an answer that is not recorded. */
  #answered(answer: WholeAnswer | undefined): void {
    const x = this.#x;
    const attempt = this.#attempt;
    const { offer } = attempt;
    const failed = judgeAnswer(x, attempt, answer);
    if (failed !== undefined) {
      this.#judged(failed);
      return;
    }
    const { usage, refusal, value } = answer!;
    x.usage = withUnsaid(usage, x.call, offer, undefined);
    endAttempt(x, attempt, this.#tools);
    x.served = offer;
    if (refusal !== undefined) {
      // The vendor generated it, so it is charged.
      this.#broke(refusal);
      return;
    }
    x.status = 200;
    x.answered = value;
    noteWarnings(x, this.#conveyance);
    this.#answer = answer;
    this.#tools.end(x, x.gone ? 'aborted' : 'served', this);
  }

  settled(): void {
    try {
      if (!this.#x.gone) this.#sendWhole(this.#answer!);
    } catch (error) {
      this.#broke(error);
      return;
    }
    this.#judged(undefined);
  }

  unsettled(error: unknown): void {
    this.#broke(error);
  }

  delayed(): void {
    boundFlush(this.#x.response, this.#tools.deadlines);
  }

  #sendWhole(answer: WholeAnswer): void {
    const x = this.#x;
    x.delivered = true;
    if (x.body !== undefined) {
      // Only keep-alives were sent so far.
      x.body.end(answer.body);
      return;
    }
    const contentType = answer.type ?? (x.call.stream ? EVENT_STREAM : 'application/json');
    const channel = this.#attempt.offer.channel.name;
    const warnings = this.#conveyance.warnings?.() ?? [];
    const lines = warnings.length > 0 ? undefined : answerLines(x.id, x.answerHeaders, contentType, channel);
    const nowMs = this.#tools.clock.now();
    if (lines !== undefined && writeAtOnce(x.response, 200, lines, answer.body, nowMs, this)) return;
    const headers: Record<string, string> = { 'content-type': contentType, 'x-turnpike-channel': channel };
    if (warnings.length > 0) headers[TRANSLATION] = warningHeader(warnings);
    send(x.response, 200, answerHeaders(x.id, x.answerHeaders, headers), answer.body);
  }

  /** Continues with the value of a promise. An error, also of `goOn`, ends the delivery. */
  #await<T>(promise: Promise<T>, goOn: (value: T) => void, failed = (error: unknown) => this.#broke(error)): void {
    promise.then(goOn, failed).catch((error: unknown) => this.#broke(error));
  }

  /** The plugin of a vendor, or of a style, has failed to make the request: a mistake in its code, which another channel may not have. */
  #failedInVendor(error: unknown): void {
    this.#await(failedInVendor(this.#parties, this.#attempt, error, this.#tools.log), (failed) => this.#judged(failed));
  }

  /** The client disconnected, or the gateway has a bug; neither is the channel's failure. */
  #broke(error: unknown): void {
    this.#attempt.cut = true;
    endAttempt(this.#x, this.#attempt, this.#tools);
    this.#end(error);
  }

  /** Undefined: delivered. An error: the request cannot be translated. */
  #judged(outcome: Failed | GatewayError | undefined): void {
    const words = outcome instanceof GatewayError ? outcome.message : outcome?.words;
    const adding = words === undefined ? undefined : addWords(this.#x, this.#attempt, words);
    if (!(adding instanceof Promise)) this.#tried(outcome);
    else this.#await(adding, () => this.#tried(outcome));
  }

  #tried(outcome: Failed | GatewayError | undefined): void {
    const x = this.#x;
    const tools = this.#tools;
    endAttempt(x, this.#attempt, tools);
    if (outcome === undefined) {
      this.#end();
      return;
    }
    if (outcome instanceof GatewayError) {
      // Targets that were not called do not count as attempts; and a vendor's error takes precedence over a translation
      // error.
      this.#unsaid ??= outcome;
      this.next();
      return;
    }
    const last = this.#last;
    // What another attempt may mend is said rather than what only the operator can, or another account of the vendor.
    const isLesser = this.#attempt.failure === 'credential' || (outcome.ofAccount === true && last?.ofAccount !== true);
    if (last === undefined || outcome.final || !isLesser) this.#last = outcome;
    const isOver =
      outcome.final ||
      ++this.#tries >= tools.maxAttempts ||
      // There is no time left to wait for another answer.
      tools.clock.mono() >= x.startedMono + this.#offer.channel.timeout.totalMs;
    if (isOver) this.#giveUp();
    else this.next();
  }

  #giveUp(): void {
    const x = this.#x;
    const last = this.#last;
    if (last === undefined) this.#end(this.#unsaid ?? coreErrors.no_channel());
    // After a keep-alive the status is already sent: the error becomes an event of the stream.
    else if (last.theirs === undefined || x.response.headersSent) this.#end(last.error);
    else {
      relayRefusal(x, last, last.theirs, this.#tools).then(
        () => this.#end(),
        (error) => this.#end(error),
      );
    }
  }

  #end(...error: readonly [error?: unknown]): void {
    if (this.#isOver) return;
    this.#isOver = true;
    try {
      this.#offers.return?.();
    } catch {
      // The plugin that routes cannot change a call that has ended.
    }
    if (error.length === 0) this.#listener.delivered();
    else this.#listener.failed(error[0]);
  }
}

/** Content that only looks like JSON fails when it is parsed. */
function notJson(error: unknown): undefined {
  if (!(error instanceof GatewayError)) throw error;
}

/** The participants of an attempt. */
export function partiesOf(
  x: LiveExchange & Known,
  offer: Offer,
  { vendors, styles, clock }: Pick<DeliverTools, 'vendors' | 'styles' | 'clock'>,
  revisions?: Revisions,
): { readonly vendor: Vendor; readonly parties: Parties } {
  const vendor = vendors.get(offer.channel.vendor);
  const vendorStyle = styles.get(offer.style);
  const dialect = vendor?.speaks[offer.style];
  if (vendor === undefined || vendorStyle === undefined || dialect === undefined) {
    throw new Error(`channel ${offer.channel.name} was offered for ${offer.style}, which its vendor does not support`);
  }
  return { vendor, parties: { x, offer, clientStyle: x.style!, vendorStyle, dialect, clock, revisions } };
}

/** The vendor refuses in the client's own style: the refusal is forwarded. */
async function relayRefusal(
  x: LiveExchange,
  { error, final }: Failed,
  { offer, body }: NonNullable<Failed['theirs']>,
  tools: DeliverTools,
): Promise<void> {
  x.status = error.status;
  await tools.conclude(x, final ? 'refused' : 'failed');
  if (x.gone) return;
  const own = { ...error.headers, 'content-type': 'application/json', 'x-turnpike-channel': offer.channel.name };
  const text = JSON.stringify(inOurForm(body, errorIn(x.style, error, x.id) as JsonObject));
  send(x.response, error.status, answerHeaders(x.id, x.answerHeaders, own), text);
}

/** The path below the channel's url. */
export function pathOf({ x, offer, dialect }: Parties): string {
  const path = typeof dialect.path === 'string' ? dialect.path : dialect.path(x.call, offer, x);
  return x.call.operation === undefined ? path : path + x.call.operation;
}

/** The upstream request. */
function toUpstream(
  parties: Parties,
  attempt: Attempt,
  body: Conveyance['body'],
  proxies: OutgoingProxies,
): UpstreamRequest {
  const { x, offer, clientStyle, vendorStyle, dialect } = parties;
  const { call } = x;
  const { channel } = offer;
  const { origin, path, proxy } = addressOf(channel, urlOf(channel, offer.model) + pathOf(parties), proxies);
  const headers: Record<string, string> = {
    'content-type': Buffer.isBuffer(body) ? 'application/json' : body.contentType,
    accept: call.stream ? acceptOf(dialect.frames) : call.answers === undefined ? 'application/json' : '*/*',
    // Compressed answers cannot be metered.
    'accept-encoding': 'identity',
    'user-agent': 'turnpike',
    ...dialect.headers(channel, call, clientStyle === vendorStyle ? x : undefined, offer.quirks),
  };
  if (x.upstreamHeaders !== undefined) addHeaders(headers, x.upstreamHeaders(attempt));
  addHeaders(headers, channel.headers);
  return { origin, path, headers, body, proxy, connectMs: channel.timeout.connectMs };
}

/** The same with the vendor's signature; the error if that failed. */
function signed(
  request: UpstreamRequest,
  vendor: Vendor,
  { x, offer: { channel } }: Parties,
  { clock }: DeliverTools,
  refused = false,
): Promise<UpstreamRequest | Error> {
  const url = new URL(request.origin + request.path);
  const { method = 'POST', headers, body } = request;
  return signedHeaders(vendor, channel, { method, url, headers, body }, { clock, signal: x.signal }, refused).then(
    (all) => ({ ...request, headers: all }),
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
}

/** The failure of an attempt that could not be signed. */
export function unsigned(error: Error, channel: Channel): string {
  return `the request could not be signed: ${quoted(error.message, channel)}`;
}

/** A parsed upstream URL. */
interface Address {
  readonly url: string;
  readonly origin: string;
  readonly path: string;
  readonly proxy: OutgoingProxy | undefined;
}
/** The last URL of each channel: parsing is too expensive for every call, and URLs rarely change. */
const lastAddresses = new WeakMap<Channel, Address>();

function addressOf(channel: Channel, url: string, proxies: OutgoingProxies): Address {
  let address = lastAddresses.get(channel);
  if (address?.url !== url) {
    const whole = new URL(url);
    addQuery(whole, channel);
    const proxy = proxies.for(whole, channel.proxy);
    address = { url, origin: whole.origin, path: whole.pathname + whole.search, proxy };
    lastAddresses.set(channel, address);
  }
  return address;
}
