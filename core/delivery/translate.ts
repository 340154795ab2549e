/** Translation through the common form: requests to the vendor's style, answers to the client's, even if the same. */

import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { exactJson, exactTree } from '../bytes/exact.ts';
import { scanAnswer } from '../bytes/json-body.ts';
import type { LiveExchange } from '../call/live-exchange.ts';
import { AnswerRefused, type Revisions } from '../call/revision.ts';
import { coreErrors } from '../contracts/errors.ts';
import type { Bounds } from '../contracts/formats/call.ts';
import { keyNameOf } from '../contracts/formats/channel.ts';
import type { Conversation, Part, Reply } from '../contracts/formats/conversation.ts';
import type { JsonObject } from '../contracts/formats/json.ts';
import type {
  Answering,
  EventKind,
  Origin,
  PartReader,
  Relay,
  StreamRelay,
  Style,
  StyleClient,
} from '../contracts/formats/style.ts';
import type { Usage } from '../contracts/formats/usage.ts';
import type { GatewayError } from '../contracts/gateway-error.ts';
import type { Clock } from '../runtime/clock.ts';
import { adapt } from '../translation/adapt/adapt.ts';
import { createRestorer, NOTHING_CHANGED, type Restorer } from '../translation/adapt/restore.ts';
import { countedUsage, withCountedOutput } from '../translation/conversation/count-usage.ts';
import { foldParts, partsOf, textLengthOf } from '../translation/conversation/fold.ts';
import { withFieldQuirks } from '../translation/quirks/field-quirks.ts';
import { limitAnswer } from '../translation/quirks/limits.ts';
import { fetchMedia } from '../translation/quirks/media.ts';
import { streamError } from '../translation/vendor-errors.ts';
import { encodeReported } from '../translation/warnings/unread-fields.ts';
import { type CollectedWarnings, collectWarnings } from '../translation/warnings/warnings.ts';
import type { Parties, WholeAnswer } from './parties.ts';

/** A request in the vendor's style, and what must be reverted in its answer. */
export interface TranslatedRequest {
  readonly body: JsonObject;
  readonly restore: Restorer;
}

/** The vendor's body for a request of another style; synchronous if nothing has to be fetched for it. */
export function translateRequest(
  parties: Parties,
  warnings: CollectedWarnings,
): TranslatedRequest | Promise<TranslatedRequest> {
  const { x, offer, vendorStyle } = parties;
  const client = clientHalf(parties);
  const vendor = vendorStyle.vendor ?? cannotTranslate(vendorStyle);
  const { quirks } = offer;
  const streamUsage = quirks.stream.usage ?? offer.channel.streamUsage;
  const { channel, model } = originOf(parties);
  const target = { channel, model, quirks, stream: x.call.stream, askUsage: streamUsage === 'include_usage' };
  const decoded = x.call.conversation ?? client.decodeRequest(x.call.body.outline().tree as JsonObject, warnings);
  const limited = limitAnswer(decoded, x.outputLimit, quirks.limits, warnings);
  const { conversation, restore } = adapt(limited, offer.style, target, warnings);
  const encode = (complete: Conversation): TranslatedRequest => ({
    body: withFieldQuirks(encodeReported(vendor, complete, target, warnings), quirks, warnings),
    restore,
  });
  const complete = fetchMedia(conversation, quirks, warnings, x);
  return complete instanceof Promise ? complete.then(encode) : encode(complete);
}

/** Decodes the vendor's answer for a client of another style. */
export function translateAnswer(
  parties: Parties,
  restore: Restorer,
  warnings: CollectedWarnings,
): { whole(bytes: Buffer): WholeAnswer | undefined; relay(): StreamRelay } {
  const { x, revisions } = parties;
  const client = clientHalf(parties);
  const reader = replyReader(parties.vendorStyle);
  const origin = originOf(parties);
  const answering = new AnswerTo(x, parties.offer.model, parties.clock, warnings);
  if (revisions?.kept !== undefined) x.collected = () => collected(x, revisions, answering);

  return {
    whole(bytes) {
      const body = scanAnswer(bytes);
      const facts = body && parties.vendorStyle.relay.answer(body, x.call);
      if (body === undefined || facts === undefined) return undefined;
      const usage = facts.usage ?? countedUsage(x.call.bounds, facts.textLength());
      if (facts.error !== undefined) return { body: bytes, usage, error: facts.error, value: () => ({}) };
      const tree = exactTree(body) as JsonObject;
      const decodeReplies = parties.vendorStyle.vendor?.decodeReplies;
      if (x.call.bounds.choices > 1 && decodeReplies !== undefined && client.encodeReplies !== undefined) {
        const replies = decodeReplies(tree, origin, warnings);
        if (replies === undefined) return undefined;
        if (replies.length < x.call.bounds.choices) {
          const refusal = tooFew(replies.length, x.call.bounds.choices);
          return { body: bytes, usage, error: undefined, refusal, value: () => undefined };
        }
        answering.named(replies[0]!.model);
        const value = client.encodeReplies(
          replies.map((each) => ({ ...restore.reply(each), usage })),
          answering,
        );
        return { body: Buffer.from(exactJson(value)), usage, error: undefined, value: () => value };
      }
      const reply = reader.decodeReply(tree, origin, warnings);
      if (reply === undefined) return undefined;
      answering.named(reply.model);
      let complete: Reply = { ...restore.reply(reply), usage };
      if (revisions !== undefined) {
        const revised = reviseReply(complete, revisions);
        if (revised instanceof AnswerRefused) {
          return { body: bytes, usage, error: undefined, refusal: revised.refusal, value: () => undefined };
        }
        if (hasLogprobs(complete) && !hasLogprobs(revised)) warnings.omit('logprobs');
        complete = revised;
      }
      if (!x.call.stream) {
        const value = client.encodeReply(complete, answering);
        return { body: Buffer.from(exactJson(value)), usage, error: undefined, value: () => value };
      }
      // The vendor sent a whole answer, but the client requested a stream.
      const writer = client.createStreamEncoder(answering);
      const events = partsOf(complete).map((part) => writer.write(part));
      return { body: Buffer.from(events.join('')), usage, error: undefined, value: () => writer.answer?.() };
    },
    relay() {
      const overloadedStatus = parties.clientStyle.errors?.overloadedStatus;
      return createTranslator(client, reader.createStreamDecoder(origin, warnings), {
        answering,
        restore,
        overloadedStatus,
        bounds: x.call.bounds,
        revisions,
      });
    },
  };
}

/** Some models accept the number of answers, and return one. */
function tooFew(got: number, choices: number): GatewayError {
  return coreErrors
    .unsupported_parameter(`\`n\` must be 1 for this model: its vendor returned ${got} of ${choices} answers.`)
    .with({ param: 'n' });
}

/** A whole answer through the revisions, as parts. */
export function reviseReply(reply: Reply, revisions: Revisions): Reply | AnswerRefused {
  try {
    return foldParts(partsOf(reply).flatMap((part) => revisions.pass(part)))!;
  } catch (error) {
    if (error instanceof AnswerRefused) return error;
    throw error;
  }
}

function hasLogprobs({ blocks }: Reply): boolean {
  return blocks.some((block) => block.type === 'text' && block.logprobs !== undefined);
}

/** The revised parts as a whole answer for the client; undefined if it is incomplete. */
export function collected(
  x: LiveExchange,
  revisions: Revisions | undefined,
  answering: AnswerTo,
): JsonObject | undefined {
  const reply = revisions?.reply();
  return reply && x.style!.client!.encodeReply(reply, answering);
}

/** A class, because one is created for every attempt. */
export class AnswerTo implements Answering {
  readonly id: string;
  model: string;
  readonly createdMs: number;
  readonly asksUsage: boolean;
  readonly warnings: CollectedWarnings;
  readonly #x: LiveExchange;
  readonly #clock: Clock;

  /** `model`: its name until the answer contains one. */
  constructor(x: LiveExchange, model: string, clock: Clock, warnings: CollectedWarnings) {
    this.id = x.id;
    this.model = model;
    this.createdMs = x.startedMs;
    this.asksUsage = x.call.asksUsage;
    this.warnings = warnings;
    this.#x = x;
    this.#clock = clock;
  }

  /** Called with the vendor's name for the model. */
  named(name: string): void {
    if (name !== '') this.model = name;
  }

  now(): number {
    return this.#clock.now();
  }

  get request(): JsonObject {
    const { call } = this.#x;
    // The original, because missing values were filled in.
    return (call.earlier?.body ?? call.body).outline().tree as JsonObject;
  }

  get estimatedInput(): number {
    return countedUsage(this.#x.call.bounds, 0).input;
  }
}

interface TranslatorOptions {
  readonly answering: AnswerTo;
  readonly restore: Restorer;
  /** As the client's style encodes it. */
  readonly overloadedStatus: number | undefined;
  /** For our own count, if the vendor reports no usage. */
  readonly bounds: Bounds;
  readonly revisions: Revisions | undefined;
}

/** One stream: the vendor's events are decoded to parts, and the parts encoded as the client's events. */
function createTranslator(client: StyleClient, reader: PartReader, options: TranslatorOptions): StreamRelay {
  const { revisions } = options;
  const writer = client.createStreamEncoder(options.answering);
  const restored = options.restore.parts();
  const parse = createEventParser();
  let usage: Usage | undefined;
  let textLength = 0;
  let error: ReturnType<StreamRelay['error']>;
  let ended = false;
  /** The vendor sends log probabilities, which a plugin that changes the text removes. */
  let hadLogprobs = false;

  function write(part: Part, out: (Buffer | string)[]): EventKind {
    if (ended) return 'hold';
    const before = out.length;
    switch (part.type) {
      case 'ping':
        return 'hold';
      case 'error':
        ended = true;
        error = { message: part.message, code: part.code };
        out.push(writer.fail(streamError(error, options.overloadedStatus), options.answering.id));
        return 'error';
      case 'start':
        options.answering.named(part.model);
        break;
      case 'usage':
        usage = part.usage;
        break;
      case 'finish':
        // A style that always reports usage gets our count if the vendor reports none.
        if (usage === undefined) show({ type: 'usage', usage: countedUsage(options.bounds, textLength) }, out);
        show(part, out);
        ended = true;
        return 'last';
      default:
        // Everything the vendor generated counts, even if a part of it is not shown.
        textLength += textLengthOf(part);
    }
    show(part, out);
    if (revisions?.isCut) {
      ended = true;
      return 'last';
    }
    // While plugins hold everything back, another channel could still be tried.
    const isHeld = revisions?.changes === true && out.length === before;
    return part.type === 'start' || part.type === 'usage' || isHeld ? 'hold' : 'pass';
  }

  function show(part: Part, out: (Buffer | string)[]): void {
    if (revisions === undefined) {
      push(writer.write(part), out);
      return;
    }
    if (part.type === 'delta') hadLogprobs ||= part.logprobs !== undefined;
    for (const own of revisions.pass(part)) {
      if (own.type === 'delta' && hadLogprobs && own.logprobs === undefined)
        options.answering.warnings.omit('logprobs');
      if (own.type === 'finish' && part.type !== 'finish') {
        // The vendor has not reported usage for an answer that a plugin ended.
        usage = usage === undefined ? countedUsage(options.bounds, textLength) : withCountedOutput(usage, textLength);
        push(writer.write({ type: 'usage', usage }), out);
      }
      push(writer.write(own), out);
    }
  }

  /** The most significant meaning of the parts of one event. */
  function writeAll(parts: readonly Part[], out: (Buffer | string)[]): EventKind {
    let kind: EventKind = 'hold';
    for (const part of parts) for (const own of restored(part)) kind = weightier(kind, write(own, out));
    return kind;
  }

  return {
    see(event, out) {
      let kind: EventKind = 'hold';
      for (const { event: name, data } of parse(event))
        kind = weightier(kind, writeAll(reader.read({ name, data }), out));
      return kind;
    },
    close(out) {
      // A last event without its blank line, or whose blank line ends in a CR.
      for (const { event: name, data } of parse(LINE_ENDS)) writeAll(reader.read({ name, data }), out);
      if (!ended) writeAll(reader.close(), out);
      return ended && error === undefined ? 'whole' : 'broken';
    },
    fail: (failure, requestId) => writer.fail(failure, requestId),
    usage() {
      return usage;
    },
    uses() {
      return reader.uses?.();
    },
    textLength() {
      return textLength;
    },
    error() {
      return error;
    },
    answer() {
      return writer.answer?.();
    },
    isCut() {
      return revisions?.isCut === true;
    },
  };
}

/** Decodes the events in some bytes; there are several if a vendor omitted a blank line. */
function createEventParser(): (bytes: Buffer) => readonly EventSourceMessage[] {
  let events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void events.push(event) });
  return (bytes) => {
    events = [];
    const text = bytes.toString('utf8');
    // A byte order mark is not part of the first line.
    parser.feed(text.startsWith('\uFEFF') ? text.slice(1) : text);
    return events;
  };
}

/** A stream that is forwarded as bytes, while plugins look at its parts. */
export function observedRelay(relay: StreamRelay, parties: Parties, revisions: Revisions): StreamRelay {
  const warnings = collectWarnings({});
  const reader = replyReader(parties.vendorStyle).createStreamDecoder(originOf(parties), warnings);
  const restored = createRestorer({ ...NOTHING_CHANGED, model: parties.offer.model }).parts();
  const parse = createEventParser();
  const { x } = parties;
  const answering = new AnswerTo(x, parties.offer.model, parties.clock, warnings);
  if (revisions.kept !== undefined) x.collected = () => collected(x, revisions, answering);

  function look(parts: readonly Part[]): void {
    for (const part of parts) {
      if (part.type === 'start') answering.named(part.model);
      for (const own of restored(part)) revisions.pass(own);
    }
  }
  function lookAt(bytes: Buffer): void {
    for (const { event: name, data } of parse(bytes)) look(reader.read({ name, data }));
  }

  return {
    see(event, out) {
      const kind = relay.see(event, out);
      if (kind !== 'error' && kind !== 'broken') lookAt(event);
      if (kind === 'last') look(reader.close());
      return kind;
    },
    close(out) {
      const how = relay.close(out);
      if (how !== 'broken') {
        lookAt(LINE_ENDS);
        look(reader.close());
      }
      return how;
    },
    fail: (error, requestId) => relay.fail(error, requestId),
    usage: () => relay.usage(),
    uses: () => relay.uses?.(),
    textLength: () => relay.textLength(),
    error: () => relay.error(),
    answer: () => relay.answer?.(),
    pending: () => relay.pending?.(),
    ...(relay.unfinished !== undefined && { unfinished: (how) => relay.unfinished!(how) }),
  };
}

const LINE_ENDS = Buffer.from('\n\n\n');

const WEIGHTS: Readonly<Record<EventKind, number>> = { hold: 0, pass: 1, last: 2, error: 3, broken: 4 };

function weightier(a: EventKind, b: EventKind): EventKind {
  return WEIGHTS[a] >= WEIGHTS[b] ? a : b;
}

function push(text: string, out: (Buffer | string)[]): void {
  if (text !== '') out.push(text);
}

function originOf({ offer }: Parties): Origin {
  return { channel: keyNameOf(offer.channel), model: offer.model };
}

/** The catalog offers a translation only between styles with these functions, and only such replies are revised. */
function clientHalf({ clientStyle }: Parties): StyleClient {
  return clientStyle.client ?? cannotTranslate(clientStyle);
}

/** The decoder for replies of a style. */
export function replyReader(style: Style): NonNullable<Relay['reader']> {
  return style.vendor ?? style.relay.reader ?? cannotTranslate(style);
}

function cannotTranslate({ name }: Style): never {
  throw new Error(`the style ${name} cannot be translated`);
}
