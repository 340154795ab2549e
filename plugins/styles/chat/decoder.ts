/** Reads the stream of a chat vendor. */

import type { Json, JsonObject, Losses, Origin, PartReader, Usage } from '../../../core/plugin.ts';
import type { Block, Opaque, Part, VendorError } from '../../../core/translation/index.ts';
import {
  CUT_SHORT,
  isCutShort,
  isEndMark,
  isObject,
  omitRest,
  parsed,
  readVendorError,
  textOf,
  withCountedOutput,
} from '../../../core/translation/index.ts';
import { createCallReader } from './call-reader.ts';
import { failureIn, readFinish } from './finish.ts';
import { SEARCHED } from './hosted.ts';
import { readAnnotation, readImage } from './media.ts';
import { BODY, CHOICE, MESSAGE, omitFromLogprobs, PART } from './members.ts';
import { detailOpaque, detailText, thinkingText } from './thinking.ts';
import { errorIn, isPlaceholder, usageIn } from './usage.ts';

const EMPTY = {
  text: { type: 'text', text: '' },
  refusal: { type: 'refusal', text: '' },
  thinking: { type: 'thinking', text: '' },
} as const satisfies Record<string, Block>;

/** A kind of block that grows by text, of which one is open at most; calls are open beside it. */
type Growing = keyof typeof EMPTY;

/** One stream. The answer is whole at `[DONE]`, or where the vendor closes after a `finish_reason`: usage may stand between. */
export function createStreamDecoder(from: Origin, losses: Losses): PartReader {
  let out: Part[] = [];
  let started = false;
  /** The chunk that began it: it says which answer this is. */
  let first: JsonObject = {};
  /** The index of the choice that is read. */
  let chosen: number | undefined;
  /** A choice has come, be it empty. */
  let answered = false;
  let done = false;
  let keys = 0;
  let open: { readonly key: number; readonly kind: Growing; readonly base: number } | undefined;
  let contentLength = 0;
  let refused = false;
  let cited = false;
  let audio: number | undefined;
  let usage: Usage | undefined;
  /** Characters so far, and how many of them had come when the usage was told. */
  let length = 0;
  let toldAt = 0;
  let reason: Json | undefined;
  let stopped: Json | undefined;
  /** What was named as lost, for most events have the same members. */
  const omitted = new Set<string>();
  const newKey = (): number => keys++;
  const calls = createCallReader(from, losses, {
    newKey,
    push(part) {
      if (part.type === 'blockStart') shut();
      else if (part.type === 'delta') length += part.text.length;
      out.push(part);
    },
    answer: () => first,
  });

  function begin(value: JsonObject): void {
    if (started) return;
    started = true;
    first = value;
    const tier = textOf(value.service_tier);
    const about = { id: textOf(value.id), model: textOf(value.model) || from.model };
    out.push({ type: 'start', ...about, ...(tier !== '' && { serviceTier: tier }) });
  }

  /** Ends the open text, refusal or thought. */
  function shut(): void {
    if (open !== undefined) out.push({ type: 'blockEnd', key: open.key });
    open = undefined;
  }

  /** The open block of this kind; begun where another kind was open. */
  function into(kind: Growing): number {
    if (open?.kind !== kind) {
      shut();
      open = { key: newKey(), kind, base: contentLength };
      out.push({ type: 'blockStart', key: open.key, block: EMPTY[kind] });
    }
    return open.key;
  }

  /** Nothing is said by an empty text, unless it has log probabilities: it neither begins a block nor ends another. */
  function say(kind: Growing, text: string, logprobs: readonly Json[] = []): void {
    if (text === '' && logprobs.length === 0) return;
    const key = into(kind);
    out.push({ type: 'delta', key, text, ...(logprobs.length > 0 && { logprobs }) });
    length += text.length;
    if (kind === 'text') contentLength += text.length;
    else if (kind === 'refusal') refused = true;
  }

  /** What belongs to a thought comes at its end. */
  function seal(opaque: Opaque): void {
    out.push({ type: 'opaque', key: into('thinking'), opaque });
    shut();
  }

  function think(delta: JsonObject): void {
    const text = textOf(delta.reasoning_content) || textOf(delta.reasoning);
    say('thinking', text);
    if (!Array.isArray(delta.reasoning_details)) return;
    for (const detail of delta.reasoning_details) {
      if (!isObject(detail)) continue;
      // The same words stand in `reasoning` where there is one.
      if (text === '') say('thinking', detailText(detail));
      const opaque = detailOpaque(detail, from.channel);
      if (opaque !== undefined) seal(opaque);
    }
  }

  function readPart(part: Json): void {
    if (!isObject(part)) {
      losses.omit('content');
      return;
    }
    if (part.type === 'text' || part.type === 'thinking') omitRest(part, PART, losses, omitted);
    if (part.type === 'text') say('text', textOf(part.text));
    else if (part.type === 'thinking') say('thinking', thinkingText(part.thinking ?? null));
    else if (!show(part)) losses.omit(textOf(part.type) || 'content');
  }

  /** An image comes whole. */
  function show(entry: Json): boolean {
    const block = readImage(entry, losses);
    if (block === undefined) return false;
    shut();
    const key = newKey();
    out.push({ type: 'blockStart', key, block }, { type: 'blockEnd', key });
    return true;
  }

  function cite(entry: Json): void {
    const citation = readAnnotation(entry, open?.base ?? 0, losses);
    if (citation === undefined) return;
    cited = true;
    if (open?.kind === 'text') out.push({ type: 'citation', key: open.key, citation });
    else losses.omit('citations');
  }

  function hear({ id, data, transcript, expires_at: expiresAt }: JsonObject): void {
    if (audio === undefined) {
      if (textOf(id) === '' && textOf(data) === '' && textOf(transcript) === '') return;
      shut();
      audio = newKey();
      const block = { type: 'audio', data: '', format: 'pcm16', ...(typeof id === 'string' && { id }) } as const;
      const until = typeof expiresAt === 'number' ? { expiresAt } : {};
      out.push({ type: 'blockStart', key: audio, block: { ...block, ...until } });
    }
    if (typeof data === 'string' && data !== '') out.push({ type: 'delta', key: audio, text: data });
    if (typeof transcript === 'string' && transcript !== '') {
      out.push({ type: 'transcript', key: audio, text: transcript });
    }
  }

  function readDelta(delta: JsonObject, choice: JsonObject): void {
    omitRest(delta, MESSAGE, losses, omitted);
    think(delta);
    const { content } = delta;
    const likelihoods = isObject(choice.logprobs) ? choice.logprobs.content : undefined;
    const logprobs: readonly Json[] = Array.isArray(likelihoods) ? likelihoods : [];
    if (typeof content === 'string') {
      say('text', content, logprobs);
    } else {
      if (Array.isArray(content)) content.forEach(readPart);
      if (logprobs.length > 0) losses.omit('logprobs');
    }
    say('refusal', textOf(delta.refusal));
    if (Array.isArray(delta.annotations)) delta.annotations.forEach(cite);
    if (Array.isArray(delta.images)) {
      for (const entry of delta.images) if (!show(entry)) losses.omit('images');
    }
    if (isObject(delta.audio)) hear(delta.audio);
    if (Array.isArray(delta.tool_calls)) delta.tool_calls.forEach(calls.read);
    if (isObject(delta.function_call)) calls.readFunction(delta.function_call);
  }

  /** Pieces of several answers may come one between the others; the one that comes first is read, whatever its index. */
  function isMine(choice: Json): boolean {
    if (!isObject(choice) || typeof choice.index !== 'number') return true;
    chosen ??= choice.index;
    return choice.index === chosen;
  }

  function readChunk(value: JsonObject): void {
    const choices = Array.isArray(value.choices) ? value.choices : [];
    const choice = choices.find(isMine);
    // Only one was asked for.
    if (choices.some((other) => !isMine(other))) losses.omit('choices');
    omitRest(value, BODY, losses, omitted);
    if (choice !== undefined) {
      answered = true;
      begin(value);
    }
    if (isObject(choice)) {
      const failure = errorIn(choice);
      if (failure !== undefined) {
        fail(failure);
        return;
      }
      omitRest(choice, CHOICE, losses, omitted);
      omitFromLogprobs(choice.logprobs, losses);
      // A stream of one piece, from a server that does not stream.
      const delta = choice.delta ?? (keys === 0 ? choice.message : undefined);
      if (isObject(delta)) readDelta(delta, choice);
      reason = choice.finish_reason || reason;
      stopped = choice.stop_reason ?? stopped;
    }
    if (!value.usage && !value.x_groq && !(isObject(choice) && choice.usage)) return;
    const counted = usageIn(value);
    // The last word counts, but some send zeros in place of one.
    if (counted === undefined || counted.input + counted.output === 0) return;
    usage = counted;
    toldAt = length;
    begin(value);
    out.push({ type: 'usage', usage });
  }

  function fail(error: VendorError): void {
    done = true;
    out.push({ type: 'error', ...error });
  }

  function finish(): void {
    if (reason === undefined && (!answered || calls.broken())) {
      fail(answered ? CUT_CALL : WITHOUT_ANSWER);
      return;
    }
    const failure = failureIn(reason);
    if (failure !== undefined) {
      fail(failure);
      return;
    }
    done = true;
    shut();
    if (audio !== undefined) out.push({ type: 'blockEnd', key: audio });
    calls.close();
    if (usage !== undefined && isPlaceholder(usage, toldAt, length)) {
      out.push({ type: 'usage', usage: withCountedOutput(usage, length) });
    }
    out.push({ type: 'finish', finish: readFinish(reason, stopped, { calls: calls.any(), refusal: refused }) });
  }

  /** What has come together since the last time. */
  function taken(): readonly Part[] {
    const parts = out;
    out = [];
    return parts;
  }

  return {
    read({ name, data }) {
      if (done) return [];
      if (isEndMark(data)) finish();
      else {
        const value = valueIn(data);
        const error = errorIn(value) ?? (name === 'error' ? readVendorError(value ?? data) : undefined);
        // Behind the end of the answer it takes nothing from it; it is named like any other member that no client is told.
        const isEnded = reason !== undefined && failureIn(reason) === undefined;
        if (error !== undefined && !(isEnded && isObject(value))) fail(error);
        else if (isObject(value)) readChunk(value);
        else if (value === undefined && isCutShort(data)) fail(CUT_SHORT);
      }
      return taken();
    },
    close() {
      if (!done && reason !== undefined) finish();
      return taken();
    },
    uses() {
      return cited ? SEARCHED : undefined;
    },
  };
}

const WITHOUT_ANSWER = { message: 'The vendor ended its stream without an answer.', code: '' };
const CUT_CALL = { message: 'The vendor ended its stream in the middle of a tool call.', code: '' };

/** Undefined where it is not JSON. Some vendors put their error into a list. */
function valueIn(data: string): Json | undefined {
  const value = parsed(data);
  return Array.isArray(value) ? value[0] : value;
}
