/** Plays one recorded answer to a client of one style, whole and cut, and says what of it was not as it should be. */
import type { Json, JsonObject } from '../../core/contracts/json.ts';
import type { Script } from '../../test/kit/script.ts';
import { createRandom } from '../chaos/random.ts';
import { excusedInAnswer } from './allowances.ts';
import { askAgain, askAs, errorOf } from './asks.ts';
import type { ClientStyle, Got } from './client.ts';
import { differences, firstDifference } from './compare.ts';
import { isCompleted, isInOurForm } from './completed.ts';
import { conductFaults } from './conduct.ts';
import { eventsIn } from './event-stream.ts';
import { errorIn, type Folded, fold } from './fold.ts';
import type { Recorded, VendorStyle } from './folder.ts';
import { brief, isObject, numberOf, objectOf, parsed, textOf } from './json.ts';
import { createFound, type Leaf, lostLeaves } from './leaves.ts';
import { read, type Told, type ToldUsage } from './told.ts';
import { cutByChance, recordedScript, wholeScript } from './vendor-scripts.ts';
import type { Check, Verdict } from './verdicts.ts';
import type { World } from './world.ts';

/** An exchange whose books can be checked when all is over. */
export interface Served {
  readonly id: string;
  readonly recorded: Recorded;
  readonly client: ClientStyle;
  readonly usage: ToldUsage | undefined;
}

/** What a play found. */
export interface Findings {
  readonly verdicts: readonly Verdict[];
  readonly served: readonly Served[];
}

/** Plays it. The upstream must be this exchange's and this client's own: a vendor's refusal puts its channel to rest. */
export async function checkAnswer(
  world: World,
  recorded: Recorded,
  client: ClientStyle,
  upstream: string,
  seed: number,
): Promise<Findings> {
  const verdicts: Verdict[] = [];
  const served: Served[] = [];
  const add = (check: Check, result: Verdict['result'], detail = ''): void => {
    const what = `${recorded.file}:${recorded.id}`;
    verdicts.push({ what, client, vendor: recorded.style, check, result, detail });
  };
  const judge = (check: Check, faults: readonly string[]): void => {
    if (faults.length === 0) add(check, 'ok');
    for (const fault of faults) add(check, 'failed', fault);
  };

  const isSame = client === recorded.style;
  const vendor = foldRecorded(recorded);
  const said = read(recorded.style, vendor.body);
  const asks = isSame ? askAgain(recorded, upstream) : askAs(client, said, recorded.stream, upstream);

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
  if (got === undefined) return { verdicts, served };
  const refusal = judgeStatus(recorded, vendor, said, got, world.asked(upstream) !== undefined);
  if (refusal !== undefined) {
    add('lives', refusal.result, refusal.detail);
    return { verdicts, served };
  }
  const brokeOff = recorded.stream && vendor.error === undefined ? fold(client, eventsIn(got.text)).error : undefined;
  if (!got.whole || brokeOff !== undefined) {
    // Where the vendor breaks off, or begins anew, the gateway breaks off, and says so.
    const told = brokeOff ?? fold(client, eventsIn(got.text)).error;
    const isRight = (!vendor.ended || vendor.torn) && told !== undefined;
    add('lives', isRight ? 'refused' : 'failed', `it broke off: ${told ?? 'without a word'}`);
    return { verdicts, served };
  }
  add('lives', 'ok');
  if (recorded.status === 200 && vendor.error === undefined && !vendor.torn) {
    served.push({ id: got.id, recorded, client, usage: said.usage });
  }

  if (isSame) {
    // What is added must be named.
    const isSaid =
      got.body.equals(recorded.body) ||
      (recorded.status === 200
        ? got.losses.length > 0 && isCompleted(recorded.body, got.body, recorded.stream)
        : isInOurForm(recorded.body, got.body, got.id));
    judge('same', isSaid ? [] : [firstByte(recorded.body, got.body)]);
  } else if (recorded.status !== 200) {
    const [told, seen] = [errorIn(recordedJson(recorded)) ?? '', errorOf(parsed(got.text))?.message ?? ''];
    // Of limits a vendor talks to whoever pays it, and who that is is nobody's business.
    const words = recorded.status === 429 ? '' : told.replaceAll(ACCOUNT_IDS, '$1-…');
    const isTold = seen !== '' && seen.includes(words);
    judge('others', isTold ? [] : [`the error ${brief(told)} became ${brief(seen)}`]);
  } else if (!vendor.torn) {
    judge('others', await othersFaults(recorded, client, vendor, said, got));
  }
  if (!recorded.stream) return { verdicts, served };

  const cut = await play(cutByChance(script, createRandom(seed)), asks);
  if (cut === undefined) return { verdicts, served };
  const faults: string[] = [];
  if (masked(cut) !== masked(got)) {
    faults.push(`cut in pieces it is another: ${firstByte(Buffer.from(masked(got)), Buffer.from(masked(cut)))}`);
  }
  if (!isSame && vendor.error === undefined && vendor.ended && !vendor.torn) {
    const whole = await play(wholeScript(vendor.body), { ...asks, stream: false, ...withoutStreamOptions(client) });
    if (whole === undefined) return { verdicts, served };
    faults.push(...wholeFaults(client, got, whole));
  }
  judge('wholes', faults);
  return { verdicts, served };
}

const ACCOUNT_IDS = /\b(org|organization|proj|project|acct|account|user)-[A-Za-z0-9]{6,}/g;

/** Chat vendors refuse options of a stream where there is none. */
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

/** Statuses that the client hears as the vendor said them; the others are between the vendor and us. */
const CLIENTS_BUSINESS: ReadonlySet<number> = new Set([400, 404, 409, 413, 415, 422, 429]);

/** Undefined where the status is the recorded one and there is more to look at. */
function judgeStatus(
  recorded: Recorded,
  vendor: Folded,
  said: Told,
  got: Got,
  wasAsked: boolean,
): { readonly result: 'refused' | 'failed'; readonly detail: string } | undefined {
  const error = errorOf(parsed(got.text));
  const told = `${got.status} ${brief(error?.message ?? got.text)}`;
  if (recorded.status !== 200) {
    // What the vendor refused need not come so far.
    const isOurs = !wasAsked && CLIENTS_BUSINESS.has(got.status) && error !== undefined;
    if (isOurs) return { result: 'refused', detail: told };
    if (error === undefined && recordedErrorIsProper(recorded))
      return { result: 'failed', detail: `no error: ${told}` };
    const tellable = CLIENTS_BUSINESS.has(recorded.status) && recordedErrorIsProper(recorded);
    if (tellable) {
      return got.status === recorded.status
        ? undefined
        : { result: 'failed', detail: `status ${recorded.status} became ${told}` };
    }
    return got.status >= 400
      ? { result: 'refused', detail: told }
      : { result: 'failed', detail: `status ${recorded.status} became ${told}` };
  }
  if (got.status === 200) return undefined;
  // Where the vendor gives up before it has said anything there is nothing but an error to tell.
  const isAnswer = MAIN[recorded.style].some((name) => vendor.body[name] !== undefined);
  const isFault =
    vendor.error !== undefined || said.stop === 'unfinished' || said.stop === 'error' || !vendor.ended || !isAnswer;
  return isFault && error !== undefined && got.status >= 400
    ? { result: 'refused', detail: told }
    : { result: 'failed', detail: told };
}

/** Without any of these a body is no answer. */
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

/** What a client of another style reads wrongly, and what it does not get and is not told about. */
function othersFaults(
  recorded: Recorded,
  client: ClientStyle,
  vendor: Folded,
  said: Told,
  got: Got,
): readonly string[] {
  if (said.stop === 'unfinished') return ['an answer that is not over looks as if it were'];
  const events = recorded.stream ? eventsIn(got.text) : [];
  const seen = recorded.stream
    ? fold(client, events)
    : { body: objectOf(parsed(got.text)), error: undefined, ended: true };
  if (vendor.error !== undefined) {
    return seen.error === undefined && errorOf(seen.body) === undefined
      ? [`the vendor's error is not told: ${brief(vendor.error)}`]
      : [];
  }
  const faults = recorded.stream ? conductFaults(client, events).map((fault) => `stream: ${fault}`) : [];
  if (recorded.stream && !got.contentType.startsWith('text/event-stream'))
    faults.push(`not a stream: ${got.contentType}`);
  const lost = lostLeaves(vendor.body, createFound(seen.body), got.losses, excusedInAnswer(recorded.style));
  // Of what stands beside the content one line is enough.
  const places = new Map(lost.map((leaf) => [BESIDE.test(leaf.path) ? leaf.members[0]! : placeOf(leaf), leaf]));
  return [
    ...faults,
    ...(seen.ended ? [] : ['it has no end']),
    ...differences(said, read(client, seen.body), recorded.style, client),
    ...[...places].map(
      ([place, { value, types }]) =>
        `lost: ${place} of ${types.at(-1) ?? 'it'}: ${brief(value, 40)} [${got.losses.join(', ')}]`,
    ),
  ];
}

/** Outside of what the vendor said. */
const BESIDE = /^(?!choices|output|content|candidates)/;

/** Where a leaf stands, in whatever list: `content[].text`. */
function placeOf({ path }: Leaf): string {
  return path.replaceAll(/\[\d+\]/g, '[]');
}

/** Streams equal wholes. */
function wholeFaults(client: ClientStyle, stream: Got, whole: Got): readonly string[] {
  if (whole.status !== 200) return [`as a whole answer: ${whole.status} ${brief(whole.text)}`];
  const one = comparable(fold(client, eventsIn(masked(stream))).body);
  const differs = firstDifference(one, comparable(objectOf(parsed(masked(whole)))));
  const faults = differs === undefined ? [] : [`folded it is not the whole: ${differs}`];
  const [lost, alsoLost] = [[...stream.losses].sort().join(), [...whole.losses].sort().join()];
  if (lost !== alsoLost) faults.push(`the stream lost [${lost}], the whole lost [${alsoLost}]`);
  return faults;
}

/** What it says, without what names the exchange and its time. */
function masked({ text, id }: Got): string {
  return text.replaceAll(id, 'ID').replaceAll(/"(created|created_at|completed_at)":\d+/g, '"$1":0');
}

/**
 * Without what says nothing: null, and empty texts, lists and objects. Arguments are compared as what they say, since a vendor
 * that streams them as text has them as an object in a whole answer; and which tier served is told at another moment, log
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

/** Where the bytes part. */
function firstByte(wanted: Buffer, got: Buffer): string {
  let at = 0;
  while (at < wanted.length && wanted[at] === got[at]) at++;
  const piece = (bytes: Buffer): string => brief(bytes.subarray(Math.max(0, at - 20), at + 60).toString(), 100);
  return `byte ${at}: ${piece(wanted)} became ${piece(got)}`;
}
