/** Decodes a vendor's stream of message events. */

import type { Json, JsonObject, Origin, PartReader, Warnings } from '../../../../core/plugin.ts';
import {
  CUT_SHORT,
  isCutShort,
  isObject,
  type Part,
  parsed,
  parsedExactly,
  readVendorError,
  textOf,
  type VendorError,
  vendorError,
} from '../../../../core/translation/index.ts';
import { errorIn } from '../errors.ts';
import { decodeCitations } from '../fields/citations.ts';
import { decodeFinish, isWholeAtOnce } from '../fields/finish.ts';
import { followUses } from '../fields/hosted.ts';
import { billed, followUsage } from '../fields/usage.ts';
import { inputOf, omitFromBlock, omitFromMessage, sealOf, tierOf } from './decode-reply.ts';

/** An open block. */
interface Open {
  readonly key: number;
  /** The block of its start event. */
  readonly start: JsonObject;
  readonly kind: 'text' | 'thinking' | 'toolCall' | 'foreign';
  /** Characters so far. */
  length: number;
  readonly citations: Json[];
  signature: string;
  /** Arguments of a vendor-side tool. */
  input: string;
  /** Other members that arrived in deltas. */
  more: JsonObject;
}

/** Decodes one stream. Malformed and unknown events are ignored; only a second start of the message is an error. */
export function createStreamDecoder({ channel }: Origin, warnings: Warnings): PartReader {
  /** The open blocks by the vendor's index. */
  const open = new Map<number, Open>();
  let keys = 0;
  let begun = false;
  let calls = false;
  const usage = followUsage();
  const run = followUses();
  /** Characters so far. */
  let length = 0;
  /** The stop reason, once the vendor has sent it. */
  let delta: JsonObject | undefined;
  /** The message, if the first event has all of it. */
  let atOnce: JsonObject | undefined;
  let ended = false;

  function read(type: string | undefined, value: JsonObject, parts: Part[]): void {
    switch (type) {
      case 'message_start':
        if (keys === 0) begin(isObject(value.message) ? value.message : {}, parts);
        // Part of an answer followed by another one: it is unknown which counts.
        else fail({ message: 'The vendor started its answer twice.', code: 'restarted' }, parts);
        break;
      case 'content_block_start':
        if (isObject(value.content_block)) start(indexOf(value), value.content_block, parts);
        break;
      case 'content_block_delta':
        if (isObject(value.delta)) grow(indexOf(value), value.delta, parts);
        break;
      case 'content_block_stop':
        end(indexOf(value), parts);
        break;
      case 'message_delta':
        begin({}, parts);
        omitFromMessage(value, warnings);
        if (isObject(value.delta)) {
          omitFromMessage(value.delta, warnings);
          delta = { ...delta, ...value.delta };
        }
        usage.add(value.usage);
        if (isObject(value.usage)) pushUsage(parts);
        break;
      case 'message_stop':
        decodeWholeMessage(parts);
        if (begun) finish(parts);
        break;
      case 'ping':
        if (begun) parts.push({ type: 'ping' });
        break;
      default: {
        const error = errorIn(value) ?? (type === 'error' ? vendorError(value.message, undefined) : undefined);
        if (error !== undefined) fail(error, parts);
      }
    }
  }

  function begin(message: JsonObject, parts: Part[]): void {
    if (begun) return;
    begun = true;
    if (isWholeAtOnce(message)) atOnce = message;
    omitFromMessage(message, warnings);
    const serviceTier = tierOf(message.usage);
    const tier = serviceTier === undefined ? {} : { serviceTier };
    parts.push({ type: 'start', id: textOf(message.id), model: textOf(message.model), ...tier });
    usage.begin(message.usage, typeof message.stop_reason === 'string');
    pushUsage(parts);
  }

  function start(index: number, block: JsonObject, parts: Part[]): void {
    begin({}, parts);
    end(index, parts);
    run.see(block);
    const key = keys++;
    const opened = { key, start: block, length: 0, citations: [], signature: '', input: '', more: {} };
    switch (block.type) {
      case 'text':
        open.set(index, {
          ...opened,
          kind: 'text',
          citations: Array.isArray(block.citations) ? [...block.citations] : [],
        });
        parts.push({ type: 'blockStart', key, block: { type: 'text', text: '' } });
        grow(index, { type: 'text_delta', text: textOf(block.text) }, parts);
        break;
      case 'thinking':
      case 'redacted_thinking':
        open.set(index, { ...opened, kind: 'thinking', signature: textOf(block.signature) });
        parts.push({ type: 'blockStart', key, block: { type: 'thinking', text: '' } });
        grow(index, { type: 'thinking_delta', thinking: textOf(block.thinking) }, parts);
        break;
      case 'tool_use': {
        calls = true;
        open.set(index, { ...opened, kind: 'toolCall' });
        const { id, name } = block;
        const call = { type: 'toolCall', id: textOf(id), name: textOf(name), kind: 'function', input: '' } as const;
        parts.push({ type: 'blockStart', key, block: call });
        break;
      }
      default:
        open.set(index, { ...opened, kind: 'foreign' });
    }
  }

  function grow(index: number, delta: JsonObject, parts: Part[]): void {
    const block = open.get(index) ?? implied(index, delta, parts);
    if (block === undefined) return;
    switch (delta.type) {
      case 'text_delta':
        if (block.kind === 'text') addText(block, textOf(delta.text), parts);
        break;
      case 'thinking_delta':
        if (block.kind === 'thinking') addText(block, textOf(delta.thinking), parts);
        break;
      case 'input_json_delta':
        if (block.kind === 'toolCall') addText(block, textOf(delta.partial_json), parts);
        else block.input += textOf(delta.partial_json);
        break;
      case 'signature_delta':
        block.signature += textOf(delta.signature);
        break;
      case 'citations_delta':
        block.citations.push(delta.citation ?? null);
        break;
      default: {
        const { type: _, ...members } = delta;
        block.more = { ...block.more, ...members };
      }
    }
  }

  /** Some servers omit the start event of a block. */
  function implied(index: number, { type }: JsonObject, parts: Part[]): Open | undefined {
    if (type === 'text_delta') start(index, { type: 'text' }, parts);
    if (type === 'thinking_delta') start(index, { type: 'thinking' }, parts);
    return open.get(index);
  }

  function addText(block: Open, text: string, parts: Part[]): void {
    if (text === '') return;
    block.length += text.length;
    length += text.length;
    parts.push({ type: 'delta', key: block.key, text });
  }

  function end(index: number, parts: Part[]): void {
    const block = open.get(index);
    if (block === undefined) return;
    const { key, kind, start: began } = block;
    open.delete(index);
    omitFromBlock({ ...began, ...block.more }, warnings);
    switch (kind) {
      case 'text':
        for (const citation of decodeCitations(block.citations, block.length, warnings)) {
          parts.push({ type: 'citation', key, citation });
        }
        break;
      case 'thinking': {
        const opaque =
          began.type === 'thinking'
            ? sealOf(block.signature, 'signature', channel)
            : sealOf(began.data, 'redacted', channel);
        if (opaque !== undefined) parts.push({ type: 'opaque', key, opaque });
        break;
      }
      case 'toolCall':
        // Some servers send all arguments in the start event.
        if (block.length === 0) addText(block, inputOf(began), parts);
        break;
      case 'foreign': {
        const raw = {
          ...began,
          ...block.more,
          ...(block.input !== '' && { input: parsed(block.input) ?? block.input }),
        };
        parts.push({
          type: 'blockStart',
          key,
          block: { type: 'foreign', style: 'messages', what: textOf(began.type) || 'block', raw },
        });
      }
    }
    parts.push({ type: 'blockEnd', key });
  }

  function pushUsage(parts: Part[]): void {
    const total = billed(usage.after(length), delta?.stop_reason, keys);
    if (total !== undefined) parts.push({ type: 'usage', usage: total });
  }

  /** Decodes a message that arrived in its first event, if no blocks followed. */
  function decodeWholeMessage(parts: Part[]): void {
    if (atOnce === undefined || keys > 0 || delta !== undefined) return;
    delta = atOnce;
    usage.add(atOnce.usage);
    const content: readonly Json[] = Array.isArray(atOnce.content) ? atOnce.content : [];
    for (const [index, block] of content.entries()) if (isObject(block)) start(index, block, parts);
  }

  function finish(parts: Part[]): void {
    for (const index of [...open.keys()]) end(index, parts);
    if (usage.after(length)?.estimated) pushUsage(parts);
    parts.push({ type: 'finish', finish: decodeFinish(delta ?? {}, calls) });
    ended = true;
  }

  function fail(error: VendorError, parts: Part[]): void {
    begin({}, parts);
    parts.push({ type: 'error', ...error });
    ended = true;
  }

  return {
    read({ name, data }) {
      const parts: Part[] = [];
      const value = parsedExactly(data);
      if (ended) return parts;
      if (isObject(value)) read(typeof value.type === 'string' ? value.type : name, value, parts);
      else if (name === 'error') fail(readVendorError(data), parts);
      else if (value === undefined && isCutShort(data)) fail(CUT_SHORT, parts);
      return parts;
    },
    close() {
      const parts: Part[] = [];
      if (!ended) decodeWholeMessage(parts);
      // Without its last event, the answer is complete if it has a stop reason.
      if (!ended && typeof delta?.stop_reason === 'string') finish(parts);
      return parts;
    },
    uses: () => run.uses(),
  };
}

function indexOf({ index }: JsonObject): number {
  return typeof index === 'number' ? index : 0;
}
