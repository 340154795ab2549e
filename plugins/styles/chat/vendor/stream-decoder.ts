/** Decodes the stream of a chat vendor. */

import type { Json, JsonObject, Origin, PartReader, Warnings } from '../../../../core/plugin.ts';
import type { Block, Opaque, Part, VendorError } from '../../../../core/translation/index.ts';
import {
  CUT_SHORT,
  isCutShort,
  isEndMark,
  isObject,
  omitRest,
  parsedExactly,
  readVendorError,
  textOf,
} from '../../../../core/translation/index.ts';
import { failureIn, readFinish } from '../fields/finish.ts';
import { SEARCHED } from '../fields/hosted.ts';
import { readAnnotation, readImage } from '../fields/media.ts';
import { BODY, CHOICE, MESSAGE, omitFromLogprobs, PART } from '../fields/members.ts';
import { detailOpaque, detailText, thinkingText } from '../fields/thinking.ts';
import { errorIn, followUsage, isZero, usageIn } from '../fields/usage.ts';
import { createCallReader } from './decode-tool-calls.ts';

const EMPTY = {
  text: { type: 'text', text: '' },
  refusal: { type: 'refusal', text: '' },
  thinking: { type: 'thinking', text: '' },
} as const satisfies Record<string, Block>;

/** Block kinds that grow by text. At most one of them is open; calls can be open at the same time. */
type Growing = keyof typeof EMPTY;

/** Decodes one stream. The answer is complete at `[DONE]`, or if the vendor closes after a `finish_reason`; usage may arrive in between. */
export function createStreamDecoder(from: Origin, warnings: Warnings): PartReader {
  let out: Part[] = [];
  let started = false;
  /** The first chunk: it identifies the answer. */
  let first: JsonObject = {};
  /** The index of the choice that is decoded. */
  let chosen: number | undefined;
  /** True if a choice has arrived, even an empty one. */
  let answered = false;
  let done = false;
  let keys = 0;
  let open: { readonly key: number; readonly kind: Growing; readonly base: number } | undefined;
  let contentLength = 0;
  let refused = false;
  let cited = false;
  let audio: number | undefined;
  const usage = followUsage();
  /** Characters so far. */
  let length = 0;
  let reason: Json | undefined;
  let stopped: Json | undefined;
  /** Warnings already reported, because most events have the same members. */
  const omitted = new Set<string>();
  const newKey = (): number => keys++;
  const calls = createCallReader(from, warnings, {
    newKey,
    push(part) {
      if (part.type === 'blockStart') endBlock();
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

  /** Ends the open text, refusal or reasoning block. */
  function endBlock(): void {
    if (open !== undefined) out.push({ type: 'blockEnd', key: open.key });
    open = undefined;
  }

  /** The open block of this kind; a new one if another kind was open. */
  function into(kind: Growing): number {
    if (open?.kind !== kind) {
      endBlock();
      open = { key: newKey(), kind, base: contentLength };
      out.push({ type: 'blockStart', key: open.key, block: EMPTY[kind] });
    }
    return open.key;
  }

  /** An empty text without log probabilities is ignored: it neither starts a block nor ends another. */
  function addText(kind: Growing, text: string, logprobs: readonly Json[] = []): void {
    if (text === '' && logprobs.length === 0) return;
    const key = into(kind);
    out.push({ type: 'delta', key, text, ...(logprobs.length > 0 && { logprobs }) });
    length += text.length;
    if (kind === 'text') contentLength += text.length;
    else if (kind === 'refusal') refused = true;
  }

  /** Signatures arrive at the end of a reasoning block. */
  function seal(opaque: Opaque): void {
    out.push({ type: 'opaque', key: into('thinking'), opaque });
    endBlock();
  }

  function addReasoning(delta: JsonObject): void {
    const text = textOf(delta.reasoning_content) || textOf(delta.reasoning);
    addText('thinking', text);
    if (!Array.isArray(delta.reasoning_details)) return;
    for (const detail of delta.reasoning_details) {
      if (!isObject(detail)) continue;
      // If `reasoning` is present, it has the same text.
      if (text === '') addText('thinking', detailText(detail));
      const opaque = detailOpaque(detail, from.channel);
      if (opaque !== undefined) seal(opaque);
    }
  }

  function readPart(part: Json): void {
    if (!isObject(part)) {
      warnings.omit('content');
      return;
    }
    if (part.type === 'text' || part.type === 'thinking') omitRest(part, PART, warnings, omitted);
    if (part.type === 'text') addText('text', textOf(part.text));
    else if (part.type === 'thinking') addText('thinking', thinkingText(part.thinking ?? null));
    else if (!show(part)) warnings.omit(textOf(part.type) || 'content');
  }

  /** An image arrives as a whole. */
  function show(entry: Json): boolean {
    const block = readImage(entry, warnings);
    if (block === undefined) return false;
    endBlock();
    const key = newKey();
    out.push({ type: 'blockStart', key, block }, { type: 'blockEnd', key });
    return true;
  }

  function addCitation(entry: Json): void {
    const citation = readAnnotation(entry, open?.base ?? 0, warnings);
    if (citation === undefined) return;
    cited = true;
    if (open?.kind === 'text') out.push({ type: 'citation', key: open.key, citation });
    else warnings.omit('citations');
  }

  function addAudio({ id, data, transcript, expires_at: expiresAt }: JsonObject): void {
    if (audio === undefined) {
      if (textOf(id) === '' && textOf(data) === '' && textOf(transcript) === '') return;
      endBlock();
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
    omitRest(delta, MESSAGE, warnings, omitted);
    addReasoning(delta);
    const { content } = delta;
    const likelihoods = isObject(choice.logprobs) ? choice.logprobs.content : undefined;
    const logprobs: readonly Json[] = Array.isArray(likelihoods) ? likelihoods : [];
    if (typeof content === 'string') {
      addText('text', content, logprobs);
    } else {
      if (Array.isArray(content)) content.forEach(readPart);
      if (logprobs.length > 0) warnings.omit('logprobs');
    }
    addText('refusal', textOf(delta.refusal));
    if (Array.isArray(delta.annotations)) delta.annotations.forEach(addCitation);
    if (Array.isArray(delta.images)) {
      for (const entry of delta.images) if (!show(entry)) warnings.omit('images');
    }
    if (isObject(delta.audio)) addAudio(delta.audio);
    if (Array.isArray(delta.tool_calls)) delta.tool_calls.forEach(calls.read);
    if (isObject(delta.function_call)) calls.readFunction(delta.function_call);
  }

  /** Pieces of several choices can be interleaved. The first choice to arrive is decoded, whatever its index is. */
  function isMine(choice: Json): boolean {
    if (!isObject(choice) || typeof choice.index !== 'number') return true;
    chosen ??= choice.index;
    return choice.index === chosen;
  }

  function readChunk(value: JsonObject): void {
    const choices = Array.isArray(value.choices) ? value.choices : [];
    const choice = choices.find(isMine);
    // Only one choice was requested.
    if (choices.some((other) => !isMine(other))) warnings.omit('choices');
    omitRest(value, BODY, warnings, omitted);
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
      omitRest(choice, CHOICE, warnings, omitted);
      omitFromLogprobs(choice.logprobs, warnings);
      // A stream of one event, from a server that does not stream.
      const delta = choice.delta ?? (keys === 0 ? choice.message : undefined);
      if (isObject(delta)) readDelta(delta, choice);
      reason = choice.finish_reason || reason;
      stopped = choice.stop_reason ?? stopped;
    }
    if (!value.usage && !value.x_groq && !(isObject(choice) && choice.usage)) return;
    const counted = usageIn(value);
    if (counted === undefined || !usage.add(counted, length)) return;
    begin(value);
    // Whether zeros are counts is known at the end.
    if (!isZero(counted)) out.push({ type: 'usage', usage: counted });
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
    endBlock();
    if (audio !== undefined) out.push({ type: 'blockEnd', key: audio });
    calls.close();
    const used = usage.after(length);
    if (used !== undefined && (used.estimated || isZero(used))) out.push({ type: 'usage', usage: used });
    out.push({ type: 'finish', finish: readFinish(reason, stopped, { calls: calls.any(), refusal: refused }) });
  }

  /** Returns the parts since the last call. */
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
        // After the end of the answer, an error changes nothing; it is reported like any other unread member.
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
    uses: () => (cited ? SEARCHED : undefined),
  };
}

const WITHOUT_ANSWER = { message: 'The vendor ended its stream without an answer.', code: '' };
const CUT_CALL = { message: 'The vendor ended its stream in the middle of a tool call.', code: '' };

/** Undefined if it is not JSON. Some vendors wrap their error in a list. */
function valueIn(data: string): Json | undefined {
  const value = parsedExactly(data);
  return Array.isArray(value) ? value[0] : value;
}
