/** A vendor's stream of message events in the common form. */

import type { Json, JsonObject, Losses, Origin, PartReader } from '../../../core/plugin.ts';
import {
  CUT_SHORT,
  isCutShort,
  isObject,
  type Part,
  parsed,
  readVendorError,
  type VendorError,
  vendorError,
} from '../../../core/translation/index.ts';
import { decodeCitations } from './citations.ts';
import { inputOf, sealOf, textOf, tierOf } from './decode-reply.ts';
import { errorIn } from './errors.ts';
import { decodeFinish, isWholeAtOnce } from './finish.ts';
import { followUses } from './hosted.ts';
import { omitFromBlock, omitFromMessage } from './members.ts';
import { followUsage } from './usage.ts';

/** A block that is being said. */
interface Open {
  readonly key: number;
  /** As it began. */
  readonly start: JsonObject;
  readonly kind: 'text' | 'thinking' | 'toolCall' | 'foreign';
  /** Characters so far. */
  length: number;
  readonly citations: Json[];
  signature: string;
  /** Arguments of one of the vendor's own tools. */
  input: string;
  /** Other members that came in deltas. */
  more: JsonObject;
}

/** Reads one stream. What is malformed or unknown is passed over; only an answer that begins anew in its middle is an error. */
export function createStreamDecoder({ channel }: Origin, losses: Losses): PartReader {
  /** The blocks that are open, by the vendor's index. */
  const open = new Map<number, Open>();
  let keys = 0;
  let begun = false;
  let calls = false;
  const usage = followUsage();
  const run = followUses();
  /** Characters so far. */
  let length = 0;
  /** Why it ends, once the vendor has said so. */
  let said: JsonObject | undefined;
  /** The message that came whole in the first event. */
  let atOnce: JsonObject | undefined;
  let ended = false;

  function read(type: string | undefined, value: JsonObject, parts: Part[]): void {
    switch (type) {
      case 'message_start':
        if (keys === 0) begin(isObject(value.message) ? value.message : {}, parts);
        // Half of an answer and a whole one behind it: nobody could tell which of them is meant.
        else fail({ message: 'The vendor began its answer anew.', code: 'restarted' }, parts);
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
        omitFromMessage(value, losses);
        if (isObject(value.delta)) {
          omitFromMessage(value.delta, losses);
          said = { ...said, ...value.delta };
        }
        usage.add(value.usage);
        if (isObject(value.usage)) tell(parts);
        break;
      case 'message_stop':
        takeWhole(parts);
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
    omitFromMessage(message, losses);
    const serviceTier = tierOf(message.usage);
    const tier = serviceTier === undefined ? {} : { serviceTier };
    parts.push({ type: 'start', id: textOf(message.id), model: textOf(message.model), ...tier });
    usage.begin(message.usage);
    tell(parts);
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
        if (block.kind === 'text') say(block, textOf(delta.text), parts);
        break;
      case 'thinking_delta':
        if (block.kind === 'thinking') say(block, textOf(delta.thinking), parts);
        break;
      case 'input_json_delta':
        if (block.kind === 'toolCall') say(block, textOf(delta.partial_json), parts);
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

  /** Some servers do not say that a block begins. */
  function implied(index: number, { type }: JsonObject, parts: Part[]): Open | undefined {
    if (type === 'text_delta') start(index, { type: 'text' }, parts);
    if (type === 'thinking_delta') start(index, { type: 'thinking' }, parts);
    return open.get(index);
  }

  function say(block: Open, text: string, parts: Part[]): void {
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
    omitFromBlock({ ...began, ...block.more }, losses);
    switch (kind) {
      case 'text':
        for (const citation of decodeCitations(block.citations, block.length, losses)) {
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
        // Some servers give all arguments at the start.
        if (block.length === 0) say(block, inputOf(began), parts);
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

  function tell(parts: Part[]): void {
    const told = usage.after(length);
    if (told !== undefined) parts.push({ type: 'usage', usage: told });
  }

  /** A message that came whole, where nothing has followed it. */
  function takeWhole(parts: Part[]): void {
    if (atOnce === undefined || keys > 0 || said !== undefined) return;
    said = atOnce;
    usage.add(atOnce.usage);
    const content: readonly Json[] = Array.isArray(atOnce.content) ? atOnce.content : [];
    for (const [index, block] of content.entries()) if (isObject(block)) start(index, block, parts);
  }

  function finish(parts: Part[]): void {
    for (const index of [...open.keys()]) end(index, parts);
    if (usage.after(length)?.estimated) tell(parts);
    parts.push({ type: 'finish', finish: decodeFinish(said ?? {}, calls) });
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
      const value = parsed(data);
      if (ended) return parts;
      if (isObject(value)) read(typeof value.type === 'string' ? value.type : name, value, parts);
      else if (name === 'error') fail(readVendorError(data), parts);
      else if (value === undefined && isCutShort(data)) fail(CUT_SHORT, parts);
      return parts;
    },
    close() {
      const parts: Part[] = [];
      if (!ended) takeWhole(parts);
      // Without its last event an answer is whole all the same, once it was said why it ends.
      if (!ended && typeof said?.stop_reason === 'string') finish(parts);
      return parts;
    },
    uses() {
      return run.uses();
    },
  };
}

function indexOf({ index }: JsonObject): number {
  return typeof index === 'number' ? index : 0;
}
