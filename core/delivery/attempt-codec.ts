/** The request of one attempt, and how its answer becomes the client's: unchanged in the same style, or translated. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { LARGE, spliced } from '../bytes/base64-ranges.ts';
import { type BodyStream, createPlacing, multipartStream, streamOfPieces } from '../bytes/body-stream.ts';
import { exactJson, exactTree, parseExactly } from '../bytes/exact.ts';
import { scanAnswer } from '../bytes/json-body.ts';
import { contentOf, fieldNames, oneAnswer, undecoded } from '../call/inspection.ts';
import { AnswerRefused, type Revisions } from '../call/revision.ts';
import { coreErrors } from '../contracts/errors.ts';
import { keyNameOf } from '../contracts/formats/channel.ts';
import type { JsonBody, JsonObject } from '../contracts/formats/json.ts';
import type { AnswerFacts, Patch, Relay, StreamRelay } from '../contracts/formats/style.ts';
import type { Attachments } from '../contracts/formats/vendor.ts';
import type { Warnings } from '../contracts/formats/warnings.ts';
import type { GatewayError } from '../contracts/gateway-error.ts';
import { fetchFor, fetchGuarded } from '../outgoing/guarded-fetch.ts';
import type { Awaitable } from '../plugin.ts';
import { createRestorer, NOTHING_CHANGED, type Restorer } from '../translation/adapt/restore.ts';
import { countedUsage } from '../translation/conversation/count-usage.ts';
import { fieldChanges, withFieldQuirks } from '../translation/quirks/field-quirks.ts';
import { type CollectedWarnings, collectWarnings } from '../translation/warnings/warnings.ts';
import type { Parties, WholeAnswer } from './parties.ts';
import {
  observedRelay,
  replyReader,
  reviseReply,
  type TranslatedRequest,
  translateAnswer,
  translateRequest,
} from './translate.ts';

/** The request of one attempt, and the decoder of its answer. */
export interface Conveyance {
  /** The vendor's body. */
  readonly body: Buffer | BodyStream;
  /** A whole answer, or its events, for the client; undefined if the vendor's (of content type `type`) is invalid. */
  whole(bytes: Buffer, type: string): Awaitable<WholeAnswer | undefined>;
  /** A stream for the client. */
  relay(): StreamRelay;
  /** The vendor's error messages mean nothing to the client, because it uses another style or dialect. */
  readonly foreign: boolean;
  /** The warnings so far; grows while the answer arrives. Undefined if there can be none. */
  readonly warnings: (() => readonly string[]) | undefined;
}

/** Prepares an attempt. Throws a `GatewayError` if the vendor's style, or strict mode, does not allow the request. */
export function convey(parties: Parties): Conveyance | Promise<Conveyance> {
  const { clientStyle, vendorStyle, revisions, x } = parties;
  const isReplaced = x.call.conversation !== undefined;
  if (x.call.operation !== undefined && (clientStyle !== vendorStyle || isReplaced || revisions?.changes)) {
    throw notOperated(parties);
  }
  if (clientStyle !== vendorStyle || isReplaced || mustTranslate(parties)) return translated(parties);
  if (revisions?.changes) return revisable(parties);
  return clientStyle.relay.outgoing === undefined ? untouched(parties) : withFiles(parties);
}

function mustTranslate({ x: { call }, clientStyle: { relay }, offer: { model, quirks } }: Parties): boolean {
  if (call.operation !== undefined || relay.mustTranslate === undefined) return false;
  return relay.mustTranslate(call.body, quirks, model !== call.model && call.earlier === undefined);
}

/** An operation has no common form: only a vendor of the style can do it, and no plugin can change what it says. */
function notOperated({ x, clientStyle, vendorStyle }: Parties): GatewayError {
  const why =
    clientStyle === vendorStyle
      ? 'plugins of this gateway change requests or answers of this model'
      : 'the vendor of this model has another API';
  return coreErrors.not_found(`POST ${x.path} is not available for the model '${x.call.model}': ${why}.`);
}

/** Plugins revise one answer. */
function refuseChoices({ call }: Parties['x']): void {
  if (call.bounds.choices > 1) throw oneAnswer('plugins of this gateway revise answers.');
}

/** Forwards the request as it is; the answer goes through the common form, and is refused if it has none. */
function revisable(parties: Parties): Conveyance | Promise<Conveyance> {
  const { x } = parties;
  refuseChoices(x);
  const content = contentOf(x);
  const make = (): Conveyance => {
    const barred = content.refusal();
    if (barred !== undefined) throw barred;
    return untouched(parties);
  };
  const decoding = content.conversation();
  return decoding instanceof Promise ? decoding.then(make) : make();
}

/** Whether the gateway requests a stream's usage itself. */
function asksUsage({ x, offer: { channel, quirks } }: Parties): boolean {
  return x.call.stream && !x.call.asksUsage && (quirks.stream.usage ?? channel.streamUsage) === 'include_usage';
}

/** Forwards the client's bytes with the vendor's name for the model, and the vendor's bytes as they arrive. */
function untouched(parties: Parties): Conveyance {
  const { x, offer, clientStyle, dialect } = parties;
  const { call } = x;
  const { channel, model, priced, quirks } = offer;
  const warnings = warningsOf(parties);
  // The channel that stored the earlier answer only needs its id.
  const body =
    call.earlier !== undefined && call.earlier.channel === keyNameOf(channel) ? call.earlier.body : call.body;
  const to = {
    model,
    channel: keyNameOf(channel),
    quirks,
    askUsage: asksUsage(parties),
    isRevised: parties.revisions?.changes === true || priced !== call.model,
    // An operation may not know the field.
    maxOutput: call.operation === undefined ? x.outputLimit : undefined,
    warnings,
  };
  const changes = fieldChanges(body, patchOf(clientStyle.relay, body, to), quirks, warnings);
  const sent =
    dialect.request !== undefined
      ? Buffer.from(spelled(parseExactly(body.patched(changes).toString()) as Members, parties, warnings))
      : body.bytes.length < LARGE
        ? body.patched(changes)
        : streamOfPieces(body.pieces(changes));
  refuseWarnings(parties, warnings);
  return sameStyle(sent, parties, warnings);
}

/** The style's changes to the client's body; default: the name of the model. */
function patchOf({ patch }: Relay, body: JsonBody, to: Patch): ReturnType<NonNullable<Relay['patch']>> {
  if (patch !== undefined) return patch(body, to);
  return !body.has('model') || body.get('model') === to.model ? UNCHANGED : { model: JSON.stringify(to.model) };
}

const UNCHANGED = {};

/** The same for a request that may have files: its fields are encoded again, its files are forwarded. */
async function withFiles(parties: Parties): Promise<Conveyance> {
  const { x, offer, clientStyle, dialect } = parties;
  const { channel, model, quirks } = offer;
  const warnings = warningsOf(parties);
  const fetch = parties.fetch ?? ((url: string, param: string) => fetchFor(x, url, param));
  const { base64, bodyStream } = createPlacing();
  const to = { model, channel: keyNameOf(channel), quirks, askUsage: asksUsage(parties), warnings, fetch, base64 };
  const { as, fields, files } = await clientStyle.relay.outgoing!(x.call, to);
  const body = withFieldQuirks(fields, quirks, warnings);
  const spelled = dialect.request?.({ ...body }, offer, { list: files, base64 }, warnings);
  refuseWarnings(parties, warnings);
  const isForm = spelled === undefined && as === 'form';
  return sameStyle(isForm ? multipartStream(body, files) : bodyStream(spelled ?? body), parties, warnings);
}

/** The request for a vendor of the client's own style, and the decoder of its answer. */
function sameStyle(body: Conveyance['body'], parties: Parties, warnings: CollectedWarnings): Conveyance {
  const { x, clientStyle, dialect, offer } = parties;
  const { call } = x;
  // Methods instead of function properties: naming a function for each call costs more than everything else here.
  const plain: Conveyance = {
    body,
    whole(answer, type) {
      return call.answers === 'text' ? wholeText(answer, type, parties) : whole(answer, parties, warnings);
    },
    relay() {
      return clientStyle.relay.stream!({ hideUsage: asksUsage(parties), call, warnings });
    },
    foreign: dialect.answer !== undefined,
    warnings: () => warnings.all,
  };
  const { revisions } = parties;
  if (revisions?.changes) return { ...plain, ...writtenAnew(parties, warnings) };
  const seen = revisions === undefined || call.bounds.choices > 1 ? plain : observed(plain, parties, revisions);
  if (!call.stream) return seen;
  // The common form has one answer, not several.
  if (call.bounds.choices > 1 || clientStyle.client === undefined || clientStyle.vendor === undefined) {
    if (clientStyle.relay.stream === undefined) {
      // The style has no relay, and this request cannot be translated.
      throw coreErrors
        .unsupported_parameter('`stream` must be false for this request: its API cannot stream more than one answer.')
        .with({ param: 'stream' });
    }
    return { ...seen, whole: asEvents(seen, parties) };
  }
  // A stream that lacks something, or whose style cannot relay it, is encoded again in the same style; and a whole
  // answer to a stream request becomes a stream.
  if (offer.quirks.stream.rewrite || clientStyle.relay.stream === undefined) {
    const lost = warningsOf(parties);
    return { ...plain, ...writtenAnew(parties, lost), foreign: true, warnings: () => lost.all };
  }
  return {
    ...seen,
    whole(answer) {
      return writtenAnew(parties, warningsOf(parties)).whole(answer);
    },
  };
}

/** Forwards an answer unchanged while plugins look at it. */
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
    const origin = { channel: keyNameOf(offer.channel), model: offer.model };
    const reply = replyReader(vendorStyle).decodeReply(answer.value()!, origin, collectWarnings({}));
    if (reply === undefined) return answer;
    const seen = reviseReply({ ...reply, usage: answer.usage }, revisions);
    return seen instanceof AnswerRefused ? { ...answer, refusal: seen.refusal } : answer;
  };
}

/** Decodes an answer to the common form and encodes it again, in one style. */
function writtenAnew(parties: Parties, warnings: CollectedWarnings): ReturnType<typeof translateAnswer> {
  return translateAnswer(parties, createRestorer({ ...NOTHING_CHANGED, model: parties.offer.model }), warnings);
}

/** A whole JSON answer. Synchronous if nothing has to be fetched. */
function whole(bytes: Buffer, parties: Parties, warnings: CollectedWarnings): Awaitable<WholeAnswer | undefined> {
  const { x, clientStyle, offer } = parties;
  const reply = inStyle(bytes, parties);
  const facts = reply && clientStyle.relay.answer(reply, x.call);
  if (reply === undefined || facts === undefined) return undefined;
  const answer = answerOf(reply.bytes, facts, parties, () => reply.tree() as JsonObject);
  if (clientStyle.relay.finish === undefined || facts.error !== undefined) return answer;
  const allowance = { bytes: MAX_FETCHED };
  const finishing = clientStyle.relay.finish(reply, x.call, {
    usage: answer.usage,
    model: offer.model,
    warnings,
    fetch: (url) => fetchGuarded(url, 'url', x.signal, allowance),
  });
  const finished = (better: Buffer | undefined): WholeAnswer =>
    better === undefined ? answer : { ...answer, body: better, value: () => scanAnswer(better)?.tree() as JsonObject };
  return finishing instanceof Promise ? finishing.then(finished) : finished(finishing);
}

/** The vendor's answer in the shared style, if the vendor's dialect differs. */
function inStyle(bytes: Buffer, { x, offer, dialect }: Parties): JsonBody | undefined {
  const body = scanAnswer(bytes);
  if (dialect.answer === undefined || body === undefined) return body;
  const made = dialect.answer(exactTree(body) as JsonObject, offer, x.call);
  return made && scanAnswer(Buffer.from(exactJson(made)));
}

/** Files fetched to finish one answer. */
const MAX_FETCHED = 64 * 1_024 * 1_024;

/** A whole answer that is not JSON. */
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

/** If the client requested a stream, a whole answer becomes events; without them only its error is used. */
function asEvents({ whole: plain }: Pick<Conveyance, 'whole'>, { x, clientStyle }: Parties): Conveyance['whole'] {
  return async (bytes, type) => {
    const answer = await plain(bytes, type);
    if (answer === undefined || answer.error !== undefined) return answer;
    const reply = scanAnswer(answer.body);
    const events = reply && clientStyle.relay.streamed?.(reply, x.call);
    return events === undefined ? undefined : { ...answer, body: Buffer.from(events) };
  };
}

/** Collects warnings, by the client's names. */
function warningsOf({ clientStyle, x }: Parties): CollectedWarnings {
  const warnings = collectWarnings(fieldNames(clientStyle, x.call.body));
  for (const field of x.dropped) warnings.drop(field, 'hint');
  for (const use of x.leftOut) warnings.leave(`tools.${use}`);
  return warnings;
}

/** Translates through the common form; synchronous if the body is small and nothing has to be fetched. */
function translated(parties: Parties): Conveyance | Promise<Conveyance> {
  const warnings = warningsOf(parties);
  const { call } = parties.x;
  if (parties.revisions?.changes) refuseChoices(parties.x);
  // It was decoded before a plugin replaced it; the warnings of decoding still apply.
  const before = call.conversation === undefined ? undefined : undecoded(parties.x);
  if (before !== undefined) warnings.add(before);
  const unfolding = call.body.unfold();
  if (unfolding !== undefined) return translatedInTurns(unfolding, parties, warnings);
  const translating = translateRequest(parties, warnings);
  if (translating instanceof Promise) return translating.then((request) => written(request, parties, warnings));
  return written(translating, parties, warnings);
}

/** The same for a large body, yielding to other requests in between. */
async function translatedInTurns(
  unfolding: Promise<void>,
  parties: Parties,
  warnings: CollectedWarnings,
): Promise<Conveyance> {
  await unfolding;
  const { body, restore } = await translateRequest(parties, warnings);
  await nextTurn();
  const text = spelled(body as Members, parties, warnings);
  await nextTurn();
  return otherStyle(text, restore, parties, warnings);
}

function written({ body, restore }: TranslatedRequest, parties: Parties, warnings: CollectedWarnings): Conveyance {
  return otherStyle(spelled(body as Members, parties, warnings), restore, parties, warnings);
}

/** A translated request, and the decoder of its answer. It and everything it references live as long as the call. */
function otherStyle(text: string, restore: Restorer, parties: Parties, warnings: CollectedWarnings): Conveyance {
  const body = spliced(text, parties.x.call.body.outline().bytesOf);
  refuseWarnings(parties, warnings);
  const { whole, relay } = translateAnswer(parties, restore, warnings);
  return { body, whole, relay, foreign: parties.clientStyle !== parties.vendorStyle, warnings: () => warnings.all };
}

/** In strict mode of the model or key, a warning that changes the answer refuses the call. */
function refuseWarnings({ offer }: Parties, warnings: CollectedWarnings): void {
  const serious = offer.strict ? warnings.serious : [];
  const [first] = serious;
  if (first === undefined) return;
  throw coreErrors.translation_refused(serious).with({ param: first.slice(0, first.lastIndexOf(':')) });
}

type Members = Record<string, unknown>;

function spelled(body: Members, { dialect, offer }: Parties, warnings: Warnings): string {
  return exactJson(dialect.request?.(body, offer, NO_FILES, warnings) ?? body);
}

const NO_FILES: Attachments = {
  list: [],
  base64() {
    throw new Error('there are no files in this request');
  },
};
