/** Plays one recorded answer to a client of one style, whole and in pieces, and reports what is wrong. */

import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import type { Script } from '../../test/kit/vendors/script.ts';
import { createRandom } from '../chaos/random.ts';
import { excusedInAnswer } from './allowances.ts';
import { askAgain, askAs, errorOf } from './asks.ts';
import type { ClientStyle, Got } from './client.ts';
import { differences, firstDifference } from './compare.ts';
import { isCompleted, isInOurForm } from './completed.ts';
import { conductFaults } from './conduct.ts';
import { eventsIn } from './event-stream.ts';
import { errorIn, fold } from './fold.ts';
import type { Folded } from './folded.ts';
import type { Recorded, VendorStyle } from './folder.ts';
import { brief, isObject, numberOf, objectOf, parsed, textOf } from './json.ts';
import { createFound, type Leaf, lostLeaves } from './leaves.ts';
import { type DecodedAnswer, type DecodedUsage, read } from './told.ts';
import { cutByChance, recordedScript, wholeScript } from './vendor-scripts.ts';
import type { Check, Finding } from './verdicts.ts';
import type { World } from './world.ts';

/** An exchange whose usage record is checked at the end. */
export interface Served {
  readonly id: string;
  readonly recorded: Recorded;
  readonly client: ClientStyle;
  readonly usage: DecodedUsage | undefined;
}

/** The result of a play. */
export interface PlayResult {
  readonly findings: readonly Finding[];
  readonly served: readonly Served[];
}

/** Plays it. The upstream must be used only by this exchange and client: a vendor's refusal opens its circuit. */
export async function checkAnswer(
  world: World,
  recorded: Recorded,
  client: ClientStyle,
  upstream: string,
  seed: number,
): Promise<PlayResult> {
  const findings: Finding[] = [];
  const served: Served[] = [];
  const add = (check: Check, result: Finding['result'], detail = ''): void => {
    const what = `${recorded.file}:${recorded.id}`;
    findings.push({ what, client, vendor: recorded.style, check, result, detail });
  };
  const judge = (check: Check, faults: readonly string[]): void => {
    if (faults.length === 0) add(check, 'ok');
    for (const fault of faults) add(check, 'failed', fault);
  };

  const isSame = client === recorded.style;
  const vendor = foldRecorded(recorded);
  const vendorAnswer = read(recorded.style, vendor.body);
  const asks = isSame ? askAgain(recorded, upstream) : askAs(client, vendorAnswer, recorded.stream, upstream);

  const play = async (script: Script, body: JsonObject): Promise<Got | undefined> => {
    world.answers(upstream, script);
    try {
      return await world.client.ask(client, body);
    } catch (error) {
      add('lives', 'failed', error instanceof Error ? error.message : String(error));
      return undefined;
    }
  };

  const script = recordedScript(recorded);
  const got = await play(script, asks);
  if (got === undefined) return { findings, served };
  const refusal = judgeStatus(recorded, vendor, vendorAnswer, got, world.asked(upstream) !== undefined);
  if (refusal !== undefined) {
    add('lives', refusal.result, refusal.detail);
    return { findings, served };
  }
  const brokeOff = recorded.stream && vendor.error === undefined ? fold(client, eventsIn(got.text)).error : undefined;
  if (!got.whole || brokeOff !== undefined) {
    // If the vendor's answer is truncated, or starts again, the gateway must end with an error.
    const message = brokeOff ?? fold(client, eventsIn(got.text)).error;
    const isRight = (!vendor.ended || vendor.torn) && message !== undefined;
    add('lives', isRight ? 'refused' : 'failed', `it was cut off: ${message ?? 'without a message'}`);
    return { findings, served };
  }
  add('lives', 'ok');
  if (recorded.status === 200 && vendor.error === undefined && !vendor.torn) {
    served.push({ id: got.id, recorded, client, usage: vendorAnswer.usage });
  }

  if (isSame) {
    // Additions must be reported.
    const isSaid =
      got.body.equals(recorded.body) ||
      (recorded.status === 200
        ? got.warnings.length > 0 && isCompleted(recorded.body, got.body, recorded.stream)
        : isInOurForm(recorded.body, got.body, got.id));
    judge('same', isSaid ? [] : [firstByte(recorded.body, got.body)]);
  } else if (recorded.status !== 200) {
    const [vendorMessage, seen] = [errorIn(recordedJson(recorded)) ?? '', errorOf(parsed(got.text))?.message ?? ''];
    // Messages about limits are for the operator and must not be forwarded.
    const words = recorded.status === 429 ? '' : vendorMessage.replaceAll(ACCOUNT_IDS, '$1-…');
    const isTold = seen !== '' && seen.includes(words);
    judge('others', isTold ? [] : [`the error ${brief(vendorMessage)} became ${brief(seen)}`]);
  } else if (!vendor.torn) {
    judge('others', await othersFaults(recorded, client, vendor, vendorAnswer, got));
  }
  if (!recorded.stream) return { findings, served };

  const cut = await play(cutByChance(script, createRandom(seed)), asks);
  if (cut === undefined) return { findings, served };
  const faults: string[] = [];
  if (masked(cut) !== masked(got)) {
    faults.push(`cut in pieces it is another: ${firstByte(Buffer.from(masked(got)), Buffer.from(masked(cut)))}`);
  }
  if (!isSame && vendor.error === undefined && vendor.ended && !vendor.torn) {
    const whole = await play(wholeScript(vendor.body), { ...asks, stream: false, ...withoutStreamOptions(client) });
    if (whole === undefined) return { findings, served };
    faults.push(...wholeFaults(client, got, whole));
  }
  judge('wholes', faults);
  return { findings, served };
}

const ACCOUNT_IDS = /\b(org|organization|proj|project|acct|account|user)-[A-Za-z0-9]{6,}/g;

/** Chat vendors refuse stream options without a stream. */
function withoutStreamOptions(client: ClientStyle): JsonObject {
  return client === 'chat' ? { stream_options: null } : {};
}

function foldRecorded(recorded: Recorded): Folded {
  if (recorded.stream) return fold(recorded.style, eventsIn(recorded.body.toString()));
  const value = recordedJson(recorded);
  return {
    body: objectOf(value),
    error: errorIn(value),
    ended: true,
    torn: false,
  };
}

function recordedJson(recorded: Recorded): Json | undefined {
  const value = parsed(recorded.body.toString());
  // One vendor wraps its errors in a list.
  return Array.isArray(value) ? (value as readonly Json[])[0] : value;
}

/** Statuses that are forwarded to the client; the others are between the vendor and the gateway. */
const CLIENTS_BUSINESS: ReadonlySet<number> = new Set([400, 404, 409, 413, 415, 422, 429]);

/** Undefined if the status is the recorded one and more checks follow. */
function judgeStatus(
  recorded: Recorded,
  vendor: Folded,
  vendorAnswer: DecodedAnswer,
  got: Got,
  wasAsked: boolean,
): { readonly result: 'refused' | 'failed'; readonly detail: string } | undefined {
  const error = errorOf(parsed(got.text));
  const outcome = `${got.status} ${brief(error?.message ?? got.text)}`;
  if (recorded.status !== 200) {
    // A request that the vendor refused may be refused earlier.
    const isOurs = !wasAsked && CLIENTS_BUSINESS.has(got.status) && error !== undefined;
    if (isOurs) return { result: 'refused', detail: outcome };
    if (error === undefined && recordedErrorIsProper(recorded))
      return { result: 'failed', detail: `no error: ${outcome}` };
    const tellable = CLIENTS_BUSINESS.has(recorded.status) && recordedErrorIsProper(recorded);
    if (tellable) {
      return got.status === recorded.status
        ? undefined
        : { result: 'failed', detail: `status ${recorded.status} became ${outcome}` };
    }
    return got.status >= 400
      ? { result: 'refused', detail: outcome }
      : { result: 'failed', detail: `status ${recorded.status} became ${outcome}` };
  }
  if (got.status === 200) return undefined;
  // If the vendor fails before any answer, only an error can be sent.
  const isAnswer = MAIN[recorded.style].some((name) => vendor.body[name] !== undefined);
  const isFault =
    vendor.error !== undefined ||
    vendorAnswer.stop === 'unfinished' ||
    vendorAnswer.stop === 'error' ||
    !vendor.ended ||
    !isAnswer;
  return isFault && error !== undefined && got.status >= 400
    ? { result: 'refused', detail: outcome }
    : { result: 'failed', detail: outcome };
}

/** A body without any of these is not an answer. */
const MAIN: Readonly<Record<VendorStyle, readonly string[]>> = {
  chat: ['choices'],
  responses: ['output'],
  messages: ['content'],
  gemini: ['candidates', 'promptFeedback', 'usageMetadata'],
};

function recordedErrorIsProper(recorded: Recorded): boolean {
  const { error } = objectOf(recordedJson(recorded));
  return isObject(error) && typeof error.message === 'string';
}

/** Differences in the answer for a client of another style, and omissions without a warning. */
function othersFaults(
  recorded: Recorded,
  client: ClientStyle,
  vendor: Folded,
  vendorAnswer: DecodedAnswer,
  got: Got,
): readonly string[] {
  if (vendorAnswer.stop === 'unfinished') return ['a truncated answer is reported as complete'];
  const events = recorded.stream ? eventsIn(got.text) : [];
  const seen = recorded.stream
    ? fold(client, events)
    : { body: objectOf(parsed(got.text)), error: undefined, ended: true };
  if (vendor.error !== undefined) {
    return errorFaults(vendor.error, seen.error ?? errorOf(seen.body)?.message);
  }
  const faults = recorded.stream ? conductFaults(client, events).map((fault) => `stream: ${fault}`) : [];
  if (recorded.stream && !got.contentType.startsWith('text/event-stream'))
    faults.push(`not a stream: ${got.contentType}`);
  const lost = lostLeaves(vendor.body, createFound(seen.body), got.warnings, excusedInAnswer(recorded.style));
  // Of the envelope one line is enough.
  const places = new Map(lost.map((leaf) => [BESIDE.test(leaf.path) ? leaf.members[0]! : placeOf(leaf), leaf]));
  return [
    ...faults,
    ...(seen.ended ? [] : ['it has no end']),
    ...differences(vendorAnswer, read(client, seen.body), recorded.style, client),
    ...[...places].map(
      ([place, { value, types }]) =>
        `lost: ${place} of ${types.at(-1) ?? 'it'}: ${brief(value, 40)} [${got.warnings.join(', ')}]`,
    ),
  ];
}

/** An error inside a stream: clients get the vendor's words, unless these concern the operator's account. */
function errorFaults(theirs: string, seen: string | undefined): readonly string[] {
  if (seen === undefined || seen === '') return [`the vendor's error is not reported: ${brief(theirs)}`];
  const words = theirs.replaceAll(ACCOUNT_IDS, '$1-…').slice(0, MAX_WORDS);
  return seen.includes(words) || OPERATORS.test(theirs) ? [] : [`the error ${brief(theirs)} became ${brief(seen)}`];
}

/** Longer messages may be shortened. */
const MAX_WORDS = 200;
/** Words about the operator's account, which the gateway replaces by its own. */
const OPERATORS = /credit|billing|quota|balance|overloaded/i;

/** Outside of the content. */
const BESIDE = /^(?!choices|output|content|candidates)/;

/** The path of a leaf without list positions: `content[].text`. */
function placeOf({ path }: Leaf): string {
  return path.replaceAll(/\[\d+\]/g, '[]');
}

/** A stream must equal the whole answer. */
function wholeFaults(client: ClientStyle, stream: Got, whole: Got): readonly string[] {
  if (whole.status !== 200) return [`as a whole answer: ${whole.status} ${brief(whole.text)}`];
  const one = comparable(fold(client, eventsIn(masked(stream))).body);
  const differs = firstDifference(one, comparable(objectOf(parsed(masked(whole)))));
  const faults = differs === undefined ? [] : [`folded it is not the whole: ${differs}`];
  const [lost, alsoLost] = [[...stream.warnings].sort().join(), [...whole.warnings].sort().join()];
  if (lost !== alsoLost) faults.push(`the stream lost [${lost}], the whole lost [${alsoLost}]`);
  return faults;
}

/** The content, without ids and times. */
function masked({ text, id }: Got): string {
  return text.replaceAll(id, 'ID').replaceAll(/"(created|created_at|completed_at)":\d+/g, '"$1":0');
}

/**
 * Without empty values: null, empty texts, lists and objects. Arguments are compared as JSON, because a vendor that
 * streams them as text has an object in a whole answer; the service tier is reported at different moments, log
 * probabilities with fewer digits.
 */
function comparable(value: Json): Json | undefined {
  if (value === null || value === '') return undefined;
  if (Array.isArray(value)) {
    const items = (value as readonly Json[]).flatMap((item) => comparable(item) ?? []);
    return items.length === 0 ? undefined : items;
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).flatMap(([name, item]) => {
    if (name === 'service_tier') return [];
    if (name === 'logprob') return [[name, Math.round(numberOf(item) * 1_000) + 0] as const];
    const kept = comparable(name === 'arguments' ? (parsed(textOf(item)) ?? item) : item);
    return kept === undefined ? [] : [[name, kept] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** The first different byte. */
function firstByte(expected: Buffer, got: Buffer): string {
  let at = 0;
  while (at < expected.length && expected[at] === got[at]) at++;
  const piece = (bytes: Buffer): string => brief(bytes.subarray(Math.max(0, at - 20), at + 60).toString(), 100);
  return `byte ${at}: ${piece(expected)} became ${piece(got)}`;
}
