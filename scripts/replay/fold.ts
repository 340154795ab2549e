/**
 * Folds a stream to the whole answer that the vendor would have sent instead. For streams of vendors and for those of
 * the gateway; independent of the gateway's own decoders, so that the two can be compared.
 */

import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import type { StreamEvent } from './event-stream.ts';
import { foldGemini } from './fold-gemini.ts';
import type { Folded } from './folded.ts';
import type { VendorStyle } from './folder.ts';
import { isObject, listOf, numberOf, objectOf, objectsOf, parsed, textOf } from './json.ts';

type Open = { [member: string]: Json };

/** The whole answer. */
export function fold(style: VendorStyle, events: readonly StreamEvent[]): Folded {
  switch (style) {
    case 'chat':
      return foldChat(events);
    case 'responses':
      return foldResponses(events);
    case 'messages':
      return foldMessages(events);
    case 'gemini':
      return foldGemini(events);
  }
}

/** The message of an error object, or of an event around one. */
export function errorIn(value: Json | undefined): string | undefined {
  const error = objectOf(value).error;
  if (typeof error === 'string') return error;
  if (!isObject(error)) return undefined;
  return textOf(error.message) || JSON.stringify(error);
}

function foldChat(events: readonly StreamEvent[]): Folded {
  const body: Open = { object: 'chat.completion' };
  const message: Open = { role: 'assistant', content: null };
  const choice: Open = { index: 0, message, finish_reason: null };
  const calls: Open[] = [];
  const byIndex = new Map<number, Open>();
  let error: string | undefined;
  let done = false;
  for (const { data, text } of events) {
    if (text.trim() === '[DONE]') done = true;
    if (!isObject(data)) continue;
    error ??= errorIn(data);
    const { choices, object: _, error: __, obfuscation: _____, usage, x_groq: extra, ...rest } = data;
    keep(body, rest);
    const reported = [objectOf(extra).usage, usage].find((one) => isObject(one));
    if (reported !== undefined) body.usage = reported;
    const [first] = objectsOf(choices);
    if (first === undefined || numberOf(first.index) !== 0) continue;
    const { delta, finish_reason: reason, index: ___, logprobs, ...others } = first;
    keep(choice, others);
    if (typeof reason === 'string') choice.finish_reason = reason;
    if (isObject(logprobs)) choice.logprobs = mergeLogprobs(choice.logprobs, logprobs);
    const { role: ____, tool_calls: toolCalls, content, ...members } = objectOf(delta);
    message.content = joined(message.content ?? null, content ?? null);
    for (const [name, value] of Object.entries(members)) {
      if (name === 'reasoning_details') message[name] = mergeDetails(message[name], value);
      else if (name === 'audio') message[name] = mergeText(objectOf(message[name]), objectOf(value), AUDIO);
      else if (name === 'function_call') message[name] = mergeText(objectOf(message[name]), objectOf(value), ARGUMENTS);
      else message[name] = joined(message[name] ?? null, value);
    }
    for (const call of objectsOf(toolCalls)) {
      const index = numberOf(call.index);
      let open = byIndex.get(index);
      // Some servers give every parallel call the index 0.
      if (open === undefined || (typeof call.id === 'string' && call.id !== '' && textOf(open.id) !== call.id)) {
        open = {};
        byIndex.set(index, open);
        calls.push(open);
      }
      mergeCall(open, call);
    }
  }
  if (calls.length > 0) message.tool_calls = calls;
  body.choices = [choice];
  return { body, error, ended: done || choice.finish_reason !== null, torn: false };
}

const AUDIO: readonly string[] = ['data', 'transcript'];
const ARGUMENTS: readonly string[] = ['arguments'];

/** Copies all members except null. */
function keep(into: Open, from: JsonObject): void {
  for (const [name, value] of Object.entries(from)) {
    const isEmpty = value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
    if (!isEmpty || into[name] === undefined) into[name] = value;
  }
}

/** Concatenates texts and lists; text and a list become a list. */
function joined(before: Json, piece: Json): Json {
  if (piece === null) return before;
  if (typeof piece === 'string' && (before === null || typeof before === 'string')) return (before ?? '') + piece;
  if (!Array.isArray(piece) && typeof piece !== 'string') return piece;
  const asList = (value: Json): readonly Json[] =>
    typeof value === 'string' ? (value === '' ? [] : [{ type: 'text', text: value }]) : listOf(value);
  return mergedParts([...asList(before), ...asList(piece)]);
}

/** Adjacent parts of one type, with only text in them, are pieces of one part. */
function mergedParts(parts: readonly Json[]): readonly Json[] {
  const merged: Json[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    const goesOn = isObject(last) && isObject(part) && typeof part.type === 'string' && last.type === part.type;
    if (goesOn && typeof part.text === 'string')
      merged[merged.length - 1] = { ...last, text: textOf(last.text) + part.text };
    else if (goesOn && part.type === 'thinking') {
      merged[merged.length - 1] = {
        ...last,
        thinking: mergedParts([...listOf(last.thinking), ...listOf(part.thinking)]),
      };
    } else merged.push(part);
  }
  return merged;
}

function mergeText(before: JsonObject, piece: JsonObject, appended: readonly string[]): JsonObject {
  const all: Open = { ...before };
  for (const [name, value] of Object.entries(piece)) {
    if (value === null) continue;
    all[name] = appended.includes(name) ? textOf(all[name]) + textOf(value) : value;
  }
  return all;
}

function mergeCall(open: Open, { index: _, function: called, custom, ...rest }: JsonObject): void {
  for (const [name, value] of Object.entries(rest)) if (value !== null && value !== '') open[name] = value;
  const merge = (kind: 'function' | 'custom', piece: Json | undefined, text: string): void => {
    if (!isObject(piece)) return;
    const { name, [text]: more, ...others } = piece;
    const before = objectOf(open[kind]);
    open[kind] = {
      ...before,
      ...others,
      name: textOf(before.name) || textOf(name),
      [text]: textOf(before[text]) + textOf(more),
    };
  };
  merge('function', called, 'arguments');
  merge('custom', custom, 'input');
}

/** Pieces of one reasoning block share its index and type. */
function mergeDetails(before: Json | undefined, piece: Json): Json {
  const all: Open[] = objectsOf(before).map((detail) => ({ ...detail }));
  for (const detail of objectsOf(piece)) {
    const open = all.find(({ type, index }) => type === detail.type && index === detail.index);
    if (open === undefined) all.push({ ...detail });
    else Object.assign(open, mergeText(open, detail, ['text', 'summary', 'data']));
  }
  return all;
}

function mergeLogprobs(before: Json | undefined, piece: JsonObject): Json {
  const all: Open = { ...objectOf(before) };
  for (const [name, value] of Object.entries(piece)) {
    if (Array.isArray(value)) all[name] = [...listOf(all[name]), ...(value as readonly Json[])];
  }
  return all;
}

const TERMINAL: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

function foldResponses(events: readonly StreamEvent[]): Folded {
  const items = new Map<number, Json>();
  const pieces = new Map<string, string>();
  let last: JsonObject | undefined;
  let body: JsonObject = {};
  let error: string | undefined;
  let begun = 0;
  let torn = false;
  for (const { data } of events) {
    if (!isObject(data)) continue;
    const type = textOf(data.type);
    const place = `${numberOf(data.output_index)}/${numberOf(data.content_index)}`;
    if (type === 'response.created') begun++;
    if (isObject(data.response)) body = data.response;
    if (type === 'response.output_text.delta') pieces.set(place, (pieces.get(place) ?? '') + textOf(data.delta));
    if (type === 'response.output_text.done') torn ||= pieces.has(place) && pieces.get(place) !== data.text;
    if (type === 'response.output_item.done') items.set(numberOf(data.output_index), data.item ?? null);
    if (type === 'error') error ??= errorIn(data) ?? textOf(data.message);
    if (TERMINAL.has(type)) last = objectOf(data.response);
  }
  if (last?.status === 'failed') error ??= textOf(objectOf(last.error).message) || 'failed';
  const whole: Open = { ...(last ?? body) };
  // Some servers omit the output in their last event, and others encrypt reasoning again for it.
  if (items.size >= listOf(whole.output).length) {
    whole.output = [...items].sort(([one], [other]) => one - other).map(([, item]) => item);
  }
  return { body: whole, error, ended: last !== undefined, torn: torn || begun > 1 };
}

function foldMessages(events: readonly StreamEvent[]): Folded {
  let body: Open = {};
  const blocks: Open[] = [];
  const pieces = new Map<Open, string>();
  let error: string | undefined;
  let ended = false;
  let torn = false;
  for (const { data } of events) {
    if (!isObject(data)) continue;
    const block = blocks[numberOf(data.index)];
    switch (data.type) {
      case 'message_start':
        torn ||= blocks.length > 0;
        body = { ...objectOf(data.message) };
        // After a programmatic call, the message is already complete.
        blocks.push(...objectsOf(body.content).map((whole) => ({ ...whole })));
        break;
      case 'content_block_start':
        blocks[numberOf(data.index)] = { ...objectOf(data.content_block) };
        break;
      case 'content_block_delta':
        if (block !== undefined) applyDelta(block, objectOf(data.delta), pieces);
        break;
      case 'message_delta': {
        const { type: _, delta, usage, ...rest } = data;
        Object.assign(body, objectOf(delta), rest);
        const reported = Object.entries(objectOf(usage)).filter(([, value]) => value !== null);
        body.usage = { ...objectOf(body.usage), ...Object.fromEntries(reported) };
        break;
      }
      case 'message_stop':
        ended = true;
        break;
      case 'error':
        error ??= errorIn(data) ?? 'error';
        break;
    }
  }
  for (const [block, text] of pieces) if (text.trim() !== '') block.input = parsed(text) ?? text;
  body.content = blocks.filter((block) => block !== undefined);
  return { body, error, ended, torn };
}

function applyDelta(block: Open, delta: JsonObject, pieces: Map<Open, string>): void {
  switch (delta.type) {
    case 'text_delta':
      block.text = textOf(block.text) + textOf(delta.text);
      break;
    case 'thinking_delta':
      block.thinking = textOf(block.thinking) + textOf(delta.thinking);
      break;
    case 'signature_delta':
      block.signature = textOf(block.signature) + textOf(delta.signature);
      break;
    case 'input_json_delta':
      pieces.set(block, (pieces.get(block) ?? '') + textOf(delta.partial_json));
      break;
    case 'citations_delta':
      block.citations = [...listOf(block.citations), delta.citation ?? null];
      break;
    default:
      // Text of a later kind of block is appended.
      for (const [name, value] of Object.entries(delta)) {
        if (name !== 'type') block[name] = joined(block[name] ?? null, value);
      }
  }
}
