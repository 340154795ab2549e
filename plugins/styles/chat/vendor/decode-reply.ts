/** Decodes a chat vendor's whole reply to the common form. */

import type { Json, JsonObject, Origin, Warnings } from '../../../../core/plugin.ts';
import {
  type Block,
  isObject,
  omitRest,
  type Reply,
  type TextBlock,
  textOf,
} from '../../../../core/translation/index.ts';
import { newCallId, readCallPiece } from '../fields/calls.ts';
import { failureIn, readFinish } from '../fields/finish.ts';
import { readAnnotation, readImage } from '../fields/media.ts';
import { BODY, CHOICE, MESSAGE, omitFromCall, omitFromLogprobs, PART } from '../fields/members.ts';
import { readThinking, thinkingText } from '../fields/thinking.ts';
import { usageIn } from '../fields/usage.ts';

/** Undefined if it has no message, or a truncated one. Malformed members are ignored, because the answer is paid for. */
export function decodeReply(body: JsonObject, from: Origin, warnings: Warnings): Reply | undefined {
  const choices = listIn(body.choices).filter(isObject);
  const [choice] = choices;
  const message = choice?.message;
  if (choice === undefined || !isObject(message) || failureIn(choice.finish_reason) !== undefined) return undefined;
  if (choices.length > 1) warnings.omit('choices');
  omitRest(body, BODY, warnings);
  omitRest(choice, CHOICE, warnings);
  omitRest(message, MESSAGE, warnings);
  omitFromLogprobs(choice.logprobs, warnings);
  const blocks = readMessage(message, choice, { body, from, warnings });
  const contained = {
    calls: blocks.some(({ type }) => type === 'toolCall'),
    refusal: blocks.some(({ type }) => type === 'refusal'),
  };
  const tier = textOf(body.service_tier);
  return {
    id: textOf(body.id),
    model: textOf(body.model) || from.model,
    blocks,
    finish: readFinish(choice.finish_reason, choice.stop_reason, contained),
    usage: usageIn(body),
    ...(tier !== '' && { serviceTier: tier }),
  };
}

/** The answer that contains a message. */
interface Answer {
  readonly body: JsonObject;
  readonly from: Origin;
  readonly warnings: Warnings;
}

function readMessage(message: JsonObject, choice: JsonObject, answer: Answer): readonly Block[] {
  const { from, warnings } = answer;
  const thoughts = readThinking(
    {
      text: textOf(message.reasoning_content) || textOf(message.reasoning),
      details: listIn(message.reasoning_details),
    },
    from.channel,
  );
  const refusal = textOf(message.refusal);
  return [
    ...thoughts,
    ...decodeContent(message, choice, warnings),
    ...(refusal === '' ? [] : [{ type: 'refusal', text: refusal } as const]),
    ...listIn(message.images).flatMap((entry) => {
      const image = readImage(entry, warnings);
      if (image === undefined) warnings.omit('images');
      return image ?? [];
    }),
    ...readAudio(message.audio),
    ...readCalls(message, answer),
  ];
}

function decodeContent(message: JsonObject, choice: JsonObject, warnings: Warnings): readonly Block[] {
  const { content, annotations } = message;
  const logprobs = isObject(choice.logprobs) ? listIn(choice.logprobs.content) : [];
  if (typeof content === 'string') {
    const isSilent = content === '' && logprobs.length === 0;
    const text: TextBlock = { type: 'text', text: content, ...(logprobs.length > 0 && { logprobs }) };
    return cited(isSilent ? [] : [text], listIn(annotations), warnings);
  }
  if (logprobs.length > 0) warnings.omit('logprobs');
  const blocks = inOne(listIn(content).flatMap((part) => readPart(part, warnings)));
  return cited(blocks, listIn(annotations), warnings);
}

/** Merges adjacent texts: pieces of a stream and parts of a list are then the same. */
function inOne(blocks: readonly Block[]): readonly Block[] {
  const merged: Block[] = [];
  for (const block of blocks) {
    const last = merged.at(-1);
    if (block.type === 'text' && last?.type === 'text') merged.splice(-1, 1, { ...last, text: last.text + block.text });
    else merged.push(block);
  }
  return merged;
}

/** The blocks of a content with its annotations. They belong to the last text, and their offsets count from the start of the first. */
function cited(blocks: readonly Block[], annotations: readonly Json[], warnings: Warnings): readonly Block[] {
  const place = blocks.findLastIndex(({ type }) => type === 'text');
  const text = blocks[place];
  const base = blocks
    .slice(0, Math.max(place, 0))
    .reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0);
  const citations = annotations.flatMap((entry) => readAnnotation(entry, base, warnings) ?? []);
  if (citations.length === 0) return blocks;
  if (text?.type !== 'text') {
    warnings.omit('citations');
    return blocks;
  }
  return blocks.with(place, { ...text, citations });
}

/** Servers that put reasoning into the content reply with a list of parts. */
function readPart(part: Json, warnings: Warnings): readonly Block[] {
  if (!isObject(part)) {
    warnings.omit('content');
    return [];
  }
  const text = textOf(part.text);
  if (part.type === 'text' || part.type === 'thinking') omitRest(part, PART, warnings);
  if (part.type === 'text') return text === '' ? [] : [{ type: 'text', text }];
  if (part.type === 'thinking') return [{ type: 'thinking', text: thinkingText(part.thinking ?? null) }];
  const image = readImage(part, warnings);
  if (image !== undefined) return [image];
  warnings.omit(textOf(part.type) || 'content');
  return [];
}

function readAudio(audio: Json | undefined): readonly Block[] {
  if (!isObject(audio)) return [];
  const { id, data, transcript, expires_at: expiresAt } = audio;
  if (textOf(id) === '' && textOf(data) === '' && textOf(transcript) === '') return [];
  return [
    {
      type: 'audio',
      data: textOf(data),
      // The requested format; the reply does not repeat it.
      format: '',
      ...(typeof id === 'string' && { id }),
      ...(typeof transcript === 'string' && { transcript }),
      ...(typeof expiresAt === 'number' && { expiresAt }),
    },
  ];
}

function readCalls(message: JsonObject, { body, from, warnings }: Answer): readonly Block[] {
  const entries = listIn(message.tool_calls);
  // A legacy call is the bare function object.
  const older = isObject(message.function_call) && entries.length === 0 ? [{ function: message.function_call }] : [];
  const given = new Set<string>(['']);
  return [...entries, ...older].filter(isObject).flatMap((entry, place): readonly Block[] => {
    const { id: own, name, kind, input: written, opaque } = readCallPiece(entry, from);
    // Leading whitespace is meaningless, and alone it is not JSON.
    const input = kind === 'function' ? written.trimStart() : written;
    omitFromCall(entry, warnings);
    if (name === '') {
      if (input !== '') warnings.omit('tool_calls');
      return [];
    }
    // Two calls with one id could not be answered.
    const id = given.has(own) ? newCallId(body, place) : own;
    given.add(id);
    return [{ type: 'toolCall', id, kind, name, input, ...(opaque !== undefined && { opaque }) }];
  });
}

function listIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
