/** Between two styles: a request into the vendor's, an answer or a stream into the client's, through the common form. */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Bounds, Usage } from '../contracts/call.ts';
import type { Conversation, Part } from '../contracts/conversation.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { Answering, Asked, EventKind, Origin, Spoken, StreamRelay } from '../contracts/style.ts';
import { scanAnswer } from '../json.ts';
import { countedUsage } from '../usage.ts';
import { adapt, type Restorer } from './adapt.ts';
import { withFieldQuirks } from './field-quirks.ts';
import { partsOf, textLengthOf } from './fold.ts';
import { limitAnswer } from './limits.ts';
import type { CollectedLosses } from './losses.ts';
import { fetchMedia } from './media.ts';
import type { Parties, WholeAnswer } from './parties.ts';
import { streamError } from './vendor-errors.ts';

/** A request in the vendor's style, and what must be undone in its answer. */
export interface TranslatedRequest {
  readonly body: JsonObject;
  readonly restore: Restorer;
}

/** The vendor's body for a request of another style; at once where nothing has to be fetched for it. */
export function translateRequest(
  parties: Parties,
  losses: CollectedLosses,
): TranslatedRequest | Promise<TranslatedRequest> {
  const { x, offer } = parties;
  const { asked, spoken } = halves(parties);
  const { quirks } = offer;
  const streamUsage = quirks.stream.usage ?? offer.channel.streamUsage;
  const { channel, model } = originOf(parties);
  const target = { channel, model, quirks, stream: x.call.stream, askUsage: streamUsage === 'include_usage' };
  const decoded = asked.decodeRequest(x.call.body.outline().tree as JsonObject, losses);
  const said = limitAnswer(decoded, x.outputLimit, quirks.limits, losses);
  const { conversation, restore } = adapt(said, offer.style, target, losses);
  const encode = (complete: Conversation): TranslatedRequest => ({
    body: withFieldQuirks(spoken.encodeRequest(complete, target, losses), quirks, losses),
    restore,
  });
  const complete = fetchMedia(conversation, quirks, losses, x);
  return complete instanceof Promise ? complete.then(encode) : encode(complete);
}

/** Reads the vendor's answer for a client of another style. */
export function translateAnswer(
  parties: Parties,
  restore: Restorer,
  losses: CollectedLosses,
): { whole(bytes: Buffer): WholeAnswer | undefined; relay(): StreamRelay } {
  const { x } = parties;
  const { asked, spoken } = halves(parties);
  const origin = originOf(parties);
  const answering = new AnswerTo(parties, losses);

  return {
    whole(bytes) {
      const body = scanAnswer(bytes);
      const facts = body && parties.spoken.answer(body, x.call);
      if (body === undefined || facts === undefined) return undefined;
      const usage = facts.usage ?? countedUsage(x.call.bounds, facts.textLength());
      if (facts.error !== undefined) return { body: bytes, usage, error: facts.error, value: () => ({}) };
      const reply = spoken.decodeReply(body.tree() as JsonObject, origin, losses);
      if (reply === undefined) return undefined;
      answering.named(reply.model);
      const complete = { ...restore.reply(reply), usage };
      if (!x.call.stream) {
        const value = asked.encodeReply(complete, answering);
        return { body: Buffer.from(JSON.stringify(value)), usage, error: undefined, value: () => value };
      }
      // The vendor did not do it in pieces, but the client waits for some.
      const writer = asked.encoder(answering);
      const events = partsOf(complete).map((part) => writer.write(part));
      return { body: Buffer.from(events.join('')), usage, error: undefined, value: () => writer.answer?.() };
    },
    relay() {
      const { overloadedStatus } = parties.asked;
      return createTranslator(asked, spoken, {
        origin,
        answering,
        restore,
        losses,
        overloadedStatus,
        bounds: x.call.bounds,
      });
    },
  };
}

/** A class, because there is one for every attempt: nothing but the facts is made for each. */
class AnswerTo implements Answering {
  readonly id: string;
  model: string;
  readonly createdMs: number;
  readonly asksUsage: boolean;
  readonly losses: CollectedLosses;
  readonly #parties: Parties;

  constructor(parties: Parties, losses: CollectedLosses) {
    const { x, offer } = parties;
    this.id = x.id;
    this.model = offer.model;
    this.createdMs = x.startedMs;
    this.asksUsage = x.call.asksUsage;
    this.losses = losses;
    this.#parties = parties;
  }

  /** Hears the vendor's name for the model. */
  named(name: string): void {
    if (name !== '') this.model = name;
  }

  now(): number {
    return this.#parties.clock.now();
  }

  get request(): JsonObject {
    const { call } = this.#parties.x;
    // As it came: what was filled in is not what the client said.
    return (call.earlier?.body ?? call.body).outline().tree as JsonObject;
  }

  get estimatedInput(): number {
    return countedUsage(this.#parties.x.call.bounds, 0).input;
  }
}

interface TranslatorOptions {
  readonly origin: Origin;
  readonly answering: AnswerTo;
  readonly restore: Restorer;
  readonly losses: CollectedLosses;
  /** As the client's style says it. */
  readonly overloadedStatus: number | undefined;
  /** For our own count, where the vendor does not tell. */
  readonly bounds: Bounds;
}

/** One stream: the vendor's events are read into parts, and the parts written as the client's events. */
function createTranslator(asked: Asked, spoken: Spoken, options: TranslatorOptions): StreamRelay {
  const reader = spoken.decoder(options.origin, options.losses);
  const writer = asked.encoder(options.answering);
  const restored = options.restore.parts();
  let events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void events.push(event) });
  let usage: Usage | undefined;
  let textLength = 0;
  let error: ReturnType<StreamRelay['error']>;
  let ended = false;

  function write(part: Part, out: (Buffer | string)[]): EventKind {
    if (ended) return 'hold';
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
        ended = true;
        // A style that always tells its usage gets our count where the vendor has none.
        if (usage === undefined)
          push(writer.write({ type: 'usage', usage: countedUsage(options.bounds, textLength) }), out);
        push(writer.write(part), out);
        return 'last';
      default:
        textLength += textLengthOf(part);
    }
    push(writer.write(part), out);
    return part.type === 'start' || part.type === 'usage' ? 'hold' : 'pass';
  }

  /** The weightiest of what the parts of one event mean. */
  function writeAll(parts: readonly Part[], out: (Buffer | string)[]): EventKind {
    let kind: EventKind = 'hold';
    for (const part of parts) for (const own of restored(part)) kind = weightier(kind, write(own, out));
    return kind;
  }

  /** The events that stand in these bytes; there is more than one where a vendor forgot a blank line. */
  function parse(bytes: Buffer): readonly EventSourceMessage[] {
    events = [];
    const text = bytes.toString('utf8');
    // A byte order mark is no part of the first line.
    parser.feed(text.startsWith('\uFEFF') ? text.slice(1) : text);
    return events;
  }

  return {
    see(event, out) {
      let kind: EventKind = 'hold';
      for (const { event: name, data } of parse(event))
        kind = weightier(kind, writeAll(reader.read({ name, data }), out));
      return kind;
    },
    close(out) {
      // A last event that came without its blank line, or whose blank line ends in a CR.
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
  return { channel: offer.channel.name, model: offer.model };
}

/** Whoever offers a translation has seen that both can be translated. */
function halves({ asked, spoken }: Parties): { readonly asked: Asked; readonly spoken: Spoken } {
  if (asked.asked === undefined || spoken.spoken === undefined) {
    throw new Error(`there is no translation from ${asked.name} to ${spoken.name}`);
  }
  return { asked: asked.asked, spoken: spoken.spoken };
}
