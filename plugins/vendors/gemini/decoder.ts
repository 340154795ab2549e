/** Decodes the vendor's stream, event by event. A whole reply is decoded as a stream of one event. */
import { createHash, randomUUID } from 'node:crypto';
import type { Json, JsonObject, Origin, PartReader, Usage, Uses, Warnings } from '../../../core/plugin.ts';
import type { Block, Finish, Opaque, Part, VendorError } from '../../../core/translation/index.ts';
import {
  CUT_SHORT,
  isCutShort,
  isObject,
  member,
  objectsIn,
  parsedExactly,
  textIn,
} from '../../../core/translation/index.ts';
import { citationAt, citationOf, type Source, sourcesIn } from './citations.ts';
import { blockedIn, failureIn, finishIn, logprobsIn, withCalls } from './finish.ts';
import { isEmpty } from './looking.ts';
import { linkedBlock, mediaBlock } from './media.ts';
import { createSamples, type Samples } from './samples.ts';
import { type GrowingArguments, growArguments } from './streamed-arguments.ts';
import { errorIn, laterUsage, tierIn, usageIn, usesIn } from './usage.ts';

/** The open block. */
interface Open {
  readonly key: number;
  readonly type: 'text' | 'thinking' | 'audio';
  text: string;
  /** The reasoning block has its signature: further reasoning starts a new one. */
  sealed: boolean;
  /** The signature of a text; its block follows when the text is complete. */
  seal: string | undefined;
  readonly samples: Samples | undefined;
  readonly format: string | undefined;
}

/** The open call; its arguments may arrive in pieces. */
interface OpenCall {
  readonly name: string;
  readonly id: string;
  readonly growing: GrowingArguments;
  /** The vendor has announced that more pieces follow. */
  goesOn: boolean;
  signature: string | undefined;
}

/** Members of a reply and of a candidate that are read, or that mean nothing to a client. */
const KNOWN = ['candidates', 'promptFeedback', 'usageMetadata', 'modelVersion', 'responseId', 'createTime'];
const KNOWN_IN_FEEDBACK = ['blockReason', 'blockReasonMessage'];
const KNOWN_IN_CONTENT = ['role', 'parts'];
/** Members of a part that is a text, a call or a file; any other part is lost or kept as a whole. */
const KNOWN_IN_PART = ['text', 'thought', 'thoughtSignature', 'functionCall', 'inlineData', 'fileData'];
const KNOWN_IN_CALL = ['id', 'name', 'args', 'partialArgs', 'willContinue'];
const KNOWN_IN_LOGPROBS = ['chosenCandidates', 'topCandidates'];
const KNOWN_IN_FILE = ['mimeType', 'data', 'fileUri'];
const KNOWN_IN_CANDIDATE = [
  'content',
  'finishReason',
  'finishMessage',
  'index',
  'tokenCount',
  'groundingMetadata',
  'citationMetadata',
  'logprobsResult',
];

/** Creates a decoder for one reply. */
export function createReader({ channel, model }: Origin, warnings: Warnings) {
  let parts: Part[] = [];
  let keys = 0;
  let open: Open | undefined;
  let call: OpenCall | undefined;
  let calls = 0;
  /** A call is complete. */
  let called = false;
  let started = false;
  let failed = false;
  let responseId: string | undefined;
  let finish: Finish | undefined;
  let usage: Usage | undefined;
  let uses: Uses | undefined;
  let sources: readonly Source[] = [];
  let logprobs: readonly Json[] | undefined;

  function take(value: Json): readonly Part[] {
    parts = [];
    const error = errorIn(value);
    if (failed) return parts;
    if (error !== undefined) {
      fail(error);
      return parts;
    }
    for (const answer of Array.isArray(value) ? (value as Json[]) : [value]) if (isObject(answer)) read(answer);
    return parts;
  }

  function fail(error: VendorError): void {
    failed = true;
    parts.push({ type: 'error', ...error });
  }

  function read(answer: JsonObject): void {
    responseId ??= textIn(answer, 'responseId');
    if (!started) {
      started = true;
      const serviceTier = tierIn(answer);
      parts.push({
        type: 'start',
        id: responseId ?? '',
        model: textIn(answer, 'modelVersion') ?? model,
        ...(serviceTier !== undefined && { serviceTier }),
      });
    }
    // Every event has all searches so far, or none.
    uses = usesIn(answer, model) ?? uses;
    const counted = usageIn(answer);
    if (counted !== undefined) {
      usage = laterUsage(usage, counted);
      parts.push({ type: 'usage', usage });
    }
    omitRest(answer, KNOWN);
    const feedback = member(answer, 'promptFeedback');
    if (isObject(feedback)) omitRest(feedback, KNOWN_IN_FEEDBACK);
    const candidates = objectsIn(answer, 'candidates');
    // Only one candidate was requested.
    if (candidates.length > 1) warnings.omit('candidates');
    if (candidates[0] !== undefined) readCandidate(candidates[0]);
    finish ??= blockedIn(answer);
    const failure = failureIn(candidates[0]);
    if (failure !== undefined) fail(failure);
  }

  function readCandidate(candidate: JsonObject): void {
    omitRest(candidate, KNOWN_IN_CANDIDATE);
    const grounding = sourcesIn(candidate, warnings);
    if (grounding.length > 0) sources = grounding;
    logprobs = logprobsIn(candidate);
    const likelihoods = member(candidate, 'logprobsResult');
    if (isObject(likelihoods)) omitRest(likelihoods, KNOWN_IN_LOGPROBS);
    const content = member(candidate, 'content');
    if (isObject(content)) omitRest(content, KNOWN_IN_CONTENT);
    for (const part of objectsIn(content, 'parts')) readPart(part);
    // Some models send citations after the text.
    if (logprobs !== undefined && open?.type === 'text') grow('');
    else if (logprobs !== undefined) warnings.omit('logprobs');
    logprobs = undefined;
    finish = finishIn(candidate) ?? finish;
  }

  function readPart(part: JsonObject): void {
    const signature = textIn(part, 'thoughtSignature') || undefined;
    const functionCall = member(part, 'functionCall');
    const text = textIn(part, 'text');
    const media = member(part, 'inlineData') ?? member(part, 'fileData');
    if (text !== undefined || isObject(functionCall) || isObject(media)) omitRest(part, KNOWN_IN_PART);
    if (isObject(media)) omitRest(media, KNOWN_IN_FILE);
    if (isObject(functionCall)) {
      omitRest(functionCall, KNOWN_IN_CALL);
      readCall(functionCall, signature);
      return;
    }
    // An empty part, as at the end of a truncated answer.
    if (text === '' && signature === undefined) return;
    endCall();
    if (text === undefined) readOther(part, signature);
    else if (part.thought === true) readThought(text, signature);
    else readText(text, signature);
  }

  function readOther(part: JsonObject, signature: string | undefined): void {
    const block = blockOf(part);
    if (block === undefined) {
      if (signature !== undefined) seal(signature);
    } else if (part.thought === true) {
      // Draft images that the model makes while reasoning.
      warnings.omit('thoughts');
    } else if (block.type === 'audio') {
      readSound(block.format, block.data);
      if (signature !== undefined) seal(signature);
    } else {
      close();
      pushWhole(block);
      // The signature is in the raw part of a foreign block.
      if (signature !== undefined && block.type !== 'foreign') seal(signature);
    }
  }

  function blockOf(part: JsonObject): Block | undefined {
    const inline = member(part, 'inlineData');
    const data = textIn(inline, 'data');
    if (data !== undefined) return mediaBlock(textIn(inline, 'mimeType') ?? 'application/octet-stream', data);
    const file = member(part, 'fileData');
    const url = textIn(file, 'fileUri');
    if (url !== undefined) return linkedBlock(textIn(file, 'mimeType'), url);
    const what = Object.keys(part).find((name) => !name.startsWith('thought') && !isEmpty(part[name]));
    return what === undefined ? undefined : { type: 'foreign', style: 'gemini', what, raw: part };
  }

  // ---- text, thoughts, sound: blocks that grow

  function readText(text: string, signature: string | undefined): void {
    if (text !== '') {
      if (open?.type !== 'text' || open.seal !== undefined) begin('text');
      grow(text);
    }
    if (signature !== undefined) seal(signature);
  }

  function readThought(text: string, signature: string | undefined): void {
    if (text === '' && signature === undefined) return;
    if (open?.type !== 'thinking' || open.sealed) begin('thinking');
    if (text !== '') grow(text);
    if (signature === undefined) return;
    open!.sealed = true;
    parts.push({ type: 'opaque', key: open!.key, opaque: opaqueOf('signature', signature) });
  }

  function readSound(format: string, data: string): void {
    if (open?.type !== 'audio' || open.format !== format) begin('audio', format);
    const text = open!.samples!.add(data);
    if (text !== '') grow(text);
  }

  /** The signature of a text is in a block after it; so is that of anything else. */
  function seal(signature: string): void {
    if (open?.type === 'text') {
      open.seal = signature;
      return;
    }
    close();
    pushWhole({ type: 'thinking', text: '', opaque: opaqueOf('thought', signature) });
  }

  function begin(type: Open['type'], format = ''): void {
    close();
    const key = keys++;
    const samples = type === 'audio' ? createSamples() : undefined;
    open = { key, type, text: '', sealed: false, seal: undefined, samples, format };
    parts.push({ type: 'blockStart', key, block: type === 'audio' ? { type, data: '', format } : { type, text: '' } });
  }

  function grow(text: string): void {
    const { key, type } = open!;
    if (type === 'text') {
      open!.text += text;
      parts.push({ type: 'delta', key, text, ...(logprobs !== undefined && { logprobs }) });
      logprobs = undefined;
    } else {
      parts.push({ type: 'delta', key, text });
    }
  }

  /** `last`: sources without supported text apply to this text. */
  function close(last = false): void {
    if (open === undefined) return;
    const { key, type, samples, seal: signature } = open;
    if (type === 'text') cite(last);
    const rest = samples?.rest() ?? '';
    if (rest !== '') grow(rest);
    parts.push({ type: 'blockEnd', key });
    open = undefined;
    if (signature !== undefined) pushWhole({ type: 'thinking', text: '', opaque: opaqueOf('thought', signature) });
  }

  function cite(last: boolean): void {
    const { key, text } = open!;
    sources = sources.filter((source) => {
      const citation = citationAt(source, text) ?? (last ? citationOf(source) : undefined);
      if (citation !== undefined) parts.push({ type: 'citation', key, citation });
      return citation === undefined;
    });
  }

  /** A block that arrives as a whole. */
  function pushWhole(block: Block): void {
    const key = keys++;
    parts.push({ type: 'blockStart', key, block }, { type: 'blockEnd', key });
  }

  // ---- tool calls

  function readCall(functionCall: JsonObject, signature: string | undefined): void {
    const name = textIn(functionCall, 'name') || undefined;
    if (name !== undefined) {
      endCall();
      call = {
        name,
        id: textIn(functionCall, 'id') || nextId(),
        growing: growArguments(member(functionCall, 'args')),
        signature,
        goesOn: true,
      };
      calls++;
    }
    if (call === undefined) {
      warnings.omit('functionCall');
      return;
    }
    call.growing.add(functionCall);
    call.signature ??= signature;
    call.goesOn = functionCall.willContinue === true;
    if (!call.goesOn) endCall();
  }

  /** `isCut`: the answer is truncated here, and partial arguments could look like complete ones. */
  function endCall(isCut = false): void {
    if (call === undefined) return;
    const { name, id, growing, signature, goesOn } = call;
    call = undefined;
    close();
    if (isCut && goesOn) {
      warnings.omit('function_call');
      return;
    }
    called = true;
    const key = keys++;
    const opaque = signature && { ...opaqueOf('signature', signature), id };
    parts.push(
      {
        type: 'blockStart',
        key,
        block: { type: 'toolCall', id, name, kind: 'function', input: '', ...(opaque && { opaque }) },
      },
      { type: 'delta', key, text: growing.text() },
      { type: 'blockEnd', key },
    );
  }

  /** Many models send no ids of calls. The same reply always gets the same ids. */
  function nextId(): string {
    responseId ??= randomUUID();
    return `call_${createHash('sha256').update(`${responseId}:${calls}`).digest('hex').slice(0, 24)}`;
  }

  function opaqueOf(kind: 'signature' | 'thought', value: string): Opaque {
    return { style: 'gemini', channel, kind, value };
  }

  function omitRest(value: JsonObject, members: readonly string[]): void {
    for (const name in value) if (!members.includes(name) && !isEmpty(value[name])) warnings.omit(name);
  }

  return {
    /** Decodes one event. */
    take,
    /**
     * Ends the reply. `finish` is pushed if the vendor has sent a finish reason, or if the reply was not streamed (`pushWhole`);
     * otherwise the stream is truncated.
     */
    end(isWhole: boolean): readonly Part[] {
      parts = [];
      const ending = finish ?? (isWhole ? ({ reason: 'stop' } as const) : undefined);
      if (failed || !started || ending === undefined) return parts;
      endCall(ending.reason !== 'stop');
      close(true);
      if (sources.length > 0) warnings.omit('citations');
      parts.push({ type: 'finish', finish: called ? withCalls(ending) : ending });
      return parts;
    },
    /** The searches so far. */
    uses: (): Uses | undefined => uses,
  };
}

/** Each event has a reply of its own; the last one is not marked. */
export function createStreamDecoder(...[from, warnings]: Parameters<typeof createReader>): PartReader {
  const reader = createReader(from, warnings);
  return {
    read({ data }) {
      const value = parsedExactly(data);
      if (value !== undefined) return reader.take(value);
      return isCutShort(data) ? [{ type: 'error', ...CUT_SHORT }] : [];
    },
    close: () => reader.end(false),
    uses: () => reader.uses(),
  };
}
