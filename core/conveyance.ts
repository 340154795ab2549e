/** What goes to a vendor for one attempt, and how its answer becomes the client's: untouched where both speak one style. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { contentOf, fieldNames } from './content.ts';
import { coreErrors } from './contracts/errors.ts';
import type { JsonBody, JsonObject } from './contracts/json.ts';
import type { AnswerFacts, Losses, Patch, Relay, StreamRelay } from './contracts/style.ts';
import type { Attachments } from './contracts/vendor.ts';
import type { GatewayError } from './errors.ts';
import { fetchFor } from './fetched-media.ts';
import { fetchGuarded } from './guarded-fetch.ts';
import { scanAnswer } from './json.ts';
import { LARGE } from './letters.ts';
import { spliced } from './outline.ts';
import { createPlacing, formParcel, type Parcel, piecesParcel } from './parcel.ts';
import type { Awaitable } from './plugin.ts';
import { AnswerRefused, type Revisions } from './revising.ts';
import { fieldChanges, withFieldQuirks } from './translation/field-quirks.ts';
import { type CollectedLosses, collectLosses } from './translation/losses.ts';
import type { Parties, WholeAnswer } from './translation/parties.ts';
import { createRestorer, NOTHING_CHANGED, type Restorer } from './translation/restore.ts';
import {
  observedRelay,
  replyReader,
  reviseReply,
  type TranslatedRequest,
  translateAnswer,
  translateRequest,
} from './translation/translate.ts';
import { countedUsage } from './usage.ts';

/** One attempt's request, and the reading of its answer. */
export interface Conveyance {
  /** The vendor's body. */
  readonly body: Buffer | Parcel;
  /**
   * A whole answer for the client; undefined where the vendor's is not what was asked for. Where a stream was asked for, the
   * events of one. `type`: the vendor's content type.
   */
  whole(bytes: Buffer, type: string): Awaitable<WholeAnswer | undefined>;
  /** A stream for the client. */
  relay(): StreamRelay;
  /** The vendor's own words mean nothing to the client: it speaks another style, or spells this one in its own way. */
  readonly foreign: boolean;
  /** What could not be carried over so far; grows while the answer comes. Undefined where nothing is ever lost. */
  readonly losses: (() => readonly string[]) | undefined;
}

/**
 * Prepares an attempt. Throws a `GatewayError` where the request cannot be said in the vendor's style, or not without a loss
 * that the configuration does not allow.
 */
export function convey(parties: Parties): Conveyance | Promise<Conveyance> {
  const { clientStyle, vendorStyle, revisions, x } = parties;
  const isReplaced = x.call.conversation !== undefined;
  if (clientStyle === vendorStyle && revisions?.changes && !isReplaced) return revisable(parties);
  if (clientStyle !== vendorStyle || isReplaced) return translated(parties);
  return clientStyle.relay.outgoing === undefined ? untouched(parties) : withFiles(parties);
}

/** A request as it is, whose answer takes the way through the common form; refused if that has no room for it. */
function revisable(parties: Parties): Conveyance | Promise<Conveyance> {
  const { x } = parties;
  if (x.call.bounds.choices > 1) throw oneAnswerOnly();
  const content = contentOf(x);
  const make = (): Conveyance => {
    const barred = content.refusal();
    if (barred !== undefined) throw barred;
    return untouched(parties);
  };
  const decoding = content.conversation();
  return decoding instanceof Promise ? decoding.then(make) : make();
}

function oneAnswerOnly(): GatewayError {
  return coreErrors
    .unsupported_parameter(
      'Only one answer can be requested: plugins of this gateway revise answers. Leave `n` out, and send one prompt in a request.',
    )
    .with({ param: 'n' });
}

/** Whether we ask for a stream's usage on our own account. */
function asksUsage({ x, offer: { channel, quirks } }: Parties): boolean {
  return x.call.stream && !x.call.asksUsage && (quirks.stream.usage ?? channel.streamUsage) === 'include_usage';
}

/** The client's bytes with the vendor's name for the model, and the vendor's bytes as they come. */
function untouched(parties: Parties): Conveyance {
  const { x, offer, clientStyle, dialect } = parties;
  const { call } = x;
  const { channel, model, quirks } = offer;
  const losses = lossesOf(parties);
  // Who issued the earlier answer needs nothing but its name.
  const body = call.earlier?.channel === channel.name ? call.earlier.body : call.body;
  const to = {
    model,
    channel: channel.name,
    quirks,
    askUsage: asksUsage(parties),
    maxOutput: x.outputLimit,
    losses,
  };
  const changes = fieldChanges(body, patchOf(clientStyle.relay, body, to), quirks, losses);
  const sent =
    dialect.request !== undefined
      ? rewritten(JSON.parse(body.patched(changes).toString()), parties, losses)
      : body.bytes.length < LARGE
        ? body.patched(changes)
        : piecesParcel(body.pieces(changes));
  refuseLosses(parties, losses);
  return sameStyle(sent, parties, losses);
}

/** What the style changes in the client's body; by default, the name of the model. */
function patchOf({ patch }: Relay, body: JsonBody, to: Patch): ReturnType<NonNullable<Relay['patch']>> {
  if (patch !== undefined) return patch(body, to);
  return !body.has('model') || body.get('model') === to.model ? UNCHANGED : { model: JSON.stringify(to.model) };
}

const UNCHANGED = {};

/** The same for a request that may have files in it: its fields are said anew, its files are passed on. */
async function withFiles(parties: Parties): Promise<Conveyance> {
  const { x, offer, clientStyle, dialect } = parties;
  const { channel, model, quirks } = offer;
  const losses = lossesOf(parties);
  const fetch = parties.fetch ?? ((url: string, param: string) => fetchFor(x, url, param));
  const { base64, parcel } = createPlacing();
  const to = { model, channel: channel.name, quirks, askUsage: asksUsage(parties), losses, fetch, base64 };
  const { as, fields, files } = await clientStyle.relay.outgoing!(x.call, to);
  const said = withFieldQuirks(fields, quirks, losses);
  const spelled = dialect.request?.({ ...said }, offer, { list: files, base64 }, losses);
  refuseLosses(parties, losses);
  const isForm = spelled === undefined && as === 'form';
  return sameStyle(isForm ? formParcel(said, files) : parcel(spelled ?? said), parties, losses);
}

/** A body for a vendor of the client's own style, and how its answer is read. */
function sameStyle(body: Conveyance['body'], parties: Parties, losses: CollectedLosses): Conveyance {
  const { x, clientStyle, dialect, offer } = parties;
  const { call } = x;
  // Methods, for a function in their place is given its name by the loader each time, which takes longer than all the rest here.
  const plain: Conveyance = {
    body,
    whole(answer, type) {
      return call.answers === 'text' ? wholeText(answer, type, parties) : whole(answer, parties, losses);
    },
    relay() {
      return clientStyle.relay.stream!({ hideUsage: asksUsage(parties), call, losses });
    },
    foreign: dialect.answer !== undefined,
    losses: () => losses.all,
  };
  const { revisions } = parties;
  if (revisions?.changes) return { ...plain, ...writtenAnew(parties, losses) };
  const seen = revisions === undefined || call.bounds.choices > 1 ? plain : observed(plain, parties, revisions);
  if (!call.stream) return seen;
  // The common form knows one answer, not several side by side.
  if (call.bounds.choices > 1 || clientStyle.client === undefined || clientStyle.vendor === undefined) {
    if (clientStyle.relay.stream === undefined) throw streamsNothing();
    return { ...seen, whole: asEvents(seen, parties) };
  }
  // A stream that lacks something, or that its style does not relay, is written anew in the same style; and an answer that should have been a stream becomes one.
  if (offer.quirks.stream.rewrite || clientStyle.relay.stream === undefined) {
    const lost = lossesOf(parties);
    return { ...plain, ...writtenAnew(parties, lost), foreign: true, losses: () => lost.all };
  }
  return {
    ...seen,
    whole(answer) {
      return writtenAnew(parties, lossesOf(parties)).whole(answer);
    },
  };
}

/** Its style forwards no streams, and this one cannot be translated. */
function streamsNothing(): GatewayError {
  return coreErrors
    .unsupported_parameter('`stream` must be false for this request: its API has no stream with more than one answer.')
    .with({ param: 'stream' });
}

/** An answer that is forwarded as it is, while plugins look at it. */
function observed(plain: Conveyance, parties: Parties, revisions: Revisions): Conveyance {
  return {
    ...plain,
    whole: observedWhole(plain, parties, revisions),
    relay: () => observedRelay(plain.relay(), parties, revisions),
  };
}

function observedWhole(plain: Conveyance, parties: Parties, revisions: Revisions): Conveyance['whole'] {
  const { offer, vendorStyle } = parties;
  return async (bytes, type) => {
    const answer = await plain.whole(bytes, type);
    if (answer === undefined || answer.error !== undefined) return answer;
    const origin = { channel: offer.channel.name, model: offer.model };
    const reply = replyReader(vendorStyle).decodeReply(answer.value()!, origin, collectLosses({}));
    if (reply === undefined) return answer;
    const seen = reviseReply({ ...reply, usage: answer.usage }, revisions);
    return seen instanceof AnswerRefused ? { ...answer, refusal: seen.refusal } : answer;
  };
}

/** An answer through the common form and back, in one style. */
function writtenAnew(parties: Parties, losses: CollectedLosses): ReturnType<typeof translateAnswer> {
  return translateAnswer(parties, createRestorer(NOTHING_CHANGED), losses);
}

/** A whole answer in JSON. At once where there is nothing to be finished. */
function whole(bytes: Buffer, parties: Parties, losses: CollectedLosses): Awaitable<WholeAnswer | undefined> {
  const { x, clientStyle, offer } = parties;
  const said = inStyle(bytes, parties);
  const facts = said && clientStyle.relay.answer(said, x.call);
  if (said === undefined || facts === undefined) return undefined;
  const answer = answerOf(said.bytes, facts, parties, () => said.tree() as JsonObject);
  if (clientStyle.relay.finish === undefined || facts.error !== undefined) return answer;
  const allowance = { bytes: MAX_FETCHED };
  const finishing = clientStyle.relay.finish(said, x.call, {
    usage: answer.usage,
    model: offer.model,
    losses,
    fetch: (url) => fetchGuarded(url, 'url', x.signal, allowance),
  });
  const finished = (better: Buffer | undefined): WholeAnswer =>
    better === undefined ? answer : { ...answer, body: better, value: () => scanAnswer(better)?.tree() as JsonObject };
  return finishing instanceof Promise ? finishing.then(finished) : finished(finishing);
}

/** The vendor's answer in the style that both speak, where the vendor spells it in its own way. */
function inStyle(bytes: Buffer, { x, offer, dialect }: Parties): JsonBody | undefined {
  const body = scanAnswer(bytes);
  if (dialect.answer === undefined || body === undefined) return body;
  const made = dialect.answer(body.tree() as JsonObject, offer, x.call);
  return made && scanAnswer(Buffer.from(JSON.stringify(made)));
}

/** What is fetched to finish one answer. */
const MAX_FETCHED = 64 * 1_024 * 1_024;

/** A whole answer that is no JSON. */
function wholeText(bytes: Buffer, type: string, parties: Parties): WholeAnswer | undefined {
  const { x, clientStyle } = parties;
  const facts = clientStyle.relay.text?.(bytes.toString('utf8'), x.call);
  if (facts === undefined) return undefined;
  const isText = /^(text\/(plain|vtt)|application\/x-subrip)(; ?charset=utf-8)?$/i.test(type);
  return {
    ...answerOf(bytes, facts, parties, () => undefined),
    type: isText ? type : 'text/plain; charset=utf-8',
  };
}

function answerOf(
  body: Buffer,
  facts: AnswerFacts,
  { x: { call } }: Parties,
  value: WholeAnswer['value'],
): WholeAnswer {
  const usage = facts.usage ?? countedUsage(call.bounds, facts.textLength());
  return { body, usage, error: facts.error, value };
}

/** Whoever waits for a stream gets a whole answer as events, or has no use for it but for the error in it. */
function asEvents({ whole: plain }: Pick<Conveyance, 'whole'>, { x, clientStyle }: Parties): Conveyance['whole'] {
  return async (bytes, type) => {
    const answer = await plain(bytes, type);
    if (answer === undefined || answer.error !== undefined) return answer;
    const said = scanAnswer(answer.body);
    const events = said && clientStyle.relay.streamed?.(said, x.call);
    return events === undefined ? undefined : { ...answer, body: Buffer.from(events) };
  };
}

/** Begins to collect what cannot be carried over, by the client's names. */
function lossesOf({ clientStyle, x }: Parties): CollectedLosses {
  const losses = collectLosses(fieldNames(clientStyle, x.call.body));
  for (const field of x.dropped) losses.drop(field, 'hint');
  return losses;
}

/** Everything in the common form between; at once where the body is small and nothing has to be fetched. */
function translated(parties: Parties): Conveyance | Promise<Conveyance> {
  const losses = lossesOf(parties);
  const { call, content } = parties.x;
  // It was decoded before a plugin replaced it, and what could not be decoded is lost all the same.
  if (call.conversation !== undefined && content?.losses !== undefined) losses.add(content.losses);
  const unfolding = call.body.unfold();
  if (unfolding !== undefined) return translatedInTurns(unfolding, parties, losses);
  const translating = translateRequest(parties, losses);
  if (translating instanceof Promise) return translating.then((request) => written(request, parties, losses));
  return written(translating, parties, losses);
}

/** The same for a large body, with the turns of others in between. */
async function translatedInTurns(
  unfolding: Promise<void>,
  parties: Parties,
  losses: CollectedLosses,
): Promise<Conveyance> {
  await unfolding;
  const { body, restore } = await translateRequest(parties, losses);
  await nextTurn();
  const text = spelled(body as Record<string, unknown>, parties, losses);
  await nextTurn();
  return otherStyle(text, restore, parties, losses);
}

function written({ body, restore }: TranslatedRequest, parties: Parties, losses: CollectedLosses): Conveyance {
  return otherStyle(spelled(body as Record<string, unknown>, parties, losses), restore, parties, losses);
}

/** A request that was translated, and how its answer is read. That lives as long as the call, and what stands here with it. */
function otherStyle(text: string, restore: Restorer, parties: Parties, losses: CollectedLosses): Conveyance {
  const body = spliced(text, parties.x.call.body.outline().bytesOf);
  refuseLosses(parties, losses);
  const { whole, relay } = translateAnswer(parties, restore, losses);
  return { body, whole, relay, foreign: parties.clientStyle !== parties.vendorStyle, losses: () => losses.all };
}

/** A loss that changes the answer is refused where model or key are strict about it. */
function refuseLosses({ offer }: Parties, losses: CollectedLosses): void {
  const serious = offer.strict ? losses.serious : [];
  const [first] = serious;
  if (first === undefined) return;
  throw coreErrors.translation_refused(serious).with({ param: first.slice(0, first.lastIndexOf(':')) });
}

function rewritten(body: Record<string, unknown>, parties: Parties, losses: Losses): Buffer {
  return Buffer.from(spelled(body, parties, losses));
}

function spelled(body: Record<string, unknown>, { dialect, offer }: Parties, losses: Losses): string {
  return JSON.stringify(dialect.request?.(body, offer, NO_FILES, losses) ?? body);
}

const NO_FILES: Attachments = {
  list: [],
  base64() {
    throw new Error('there are no files in this request');
  },
};
