/** Encodes a stream for a client: one block after the other, in whatever order the pieces arrive. */
import type { Answering, JsonObject, PartWriter, Usage } from '../../../../core/plugin.ts';
import {
  type BlockStart,
  type Finish,
  isObject,
  NO_TOKENS,
  type Opaque,
  type Part,
  packOpaque,
  UNSEALED,
} from '../../../../core/translation/index.ts';
import { errorEvent, event } from '../errors.ts';
import { encodeCitation } from '../fields/citations.ts';
import { encodeFinish, omitEnd } from '../fields/finish.ts';
import { usageBody } from '../fields/usage.ts';
import { callId, messageHead, thought, tierFor } from './encode-reply.ts';

/** A block that is not complete yet. */
interface Writing {
  readonly kind: BlockStart['type'];
  /** A call with free text, which is the only text member of an object here. */
  readonly custom: boolean;
  readonly start: JsonObject;
  /** The id of the call. */
  readonly id: string;
  /** Deltas that were not sent yet, as JSON. */
  unsent: string[];
  /** True if it is queued; a block is queued once it has content. */
  queued: boolean;
  begun: boolean;
  ended: boolean;
  signature: string | undefined;
}

/** Encodes one stream. */
export function createStreamEncoder(as: Answering): PartWriter {
  const { warnings } = as;
  const blocks = new Map<number, Writing>();
  /** The queued blocks in order; only the first is open for the client. */
  const line: Writing[] = [];
  let index = 0;
  let usage: Usage | undefined;
  let serviceTier: string | undefined;
  let begun = false;
  /** True if another block than reasoning is queued, or was. */
  let hasContent = false;
  let calls = false;
  let refusal: string | undefined;

  /** The message starts with its first block, so that its start event has the usage, if the vendor reports it early. */
  function begin(): string {
    if (begun) return '';
    begun = true;
    const message = {
      ...messageHead(as),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: {
        ...usageBody(usage ?? { ...NO_USAGE, input: as.estimatedInput }, tierFor(serviceTier)),
        // The output count is reported at the end; some clients would add the two.
        output_tokens: 0,
      },
    };
    return event('message_start', { message }) + event('ping');
  }

  /** Sends everything that can be sent now. */
  function advance(): string {
    let text = line.length > 0 ? begin() : '';
    let done = 0;
    for (const block of line) {
      if (!block.begun) text += event('content_block_start', { index, content_block: block.start });
      block.begun = true;
      // Nearly all events of a stream are deltas, so their JSON is concatenated.
      for (const delta of block.unsent) {
        text += `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":${delta}}\n\n`;
      }
      block.unsent.length = 0;
      if (!block.ended) break;
      text += event('content_block_stop', { index });
      index++;
      done++;
    }
    // Removed together: removing the first element of a long array moves all others.
    line.splice(0, done);
    return text;
  }

  function queue(block: Writing): void {
    if (!block.queued) line.push(block);
    block.queued = true;
    hasContent ||= block.start.type !== 'thinking';
  }

  function open(key: number, block: BlockStart): void {
    switch (block.type) {
      case 'text':
      case 'refusal':
        if (block.type === 'refusal') refusal ??= '';
        blocks.set(key, writing(block.type, { type: 'text', text: '' }));
        grow(key, block.text);
        break;
      case 'thinking':
        blocks.set(key, writing('thinking', thought('', '')));
        grow(key, block.text);
        if (block.opaque !== undefined) seal(key, block.opaque);
        break;
      case 'toolCall':
        openCall(key, block);
        break;
      case 'foreign':
        if (block.style === 'messages' && isObject(block.raw)) sendWhole(block.raw);
        else warnings.omit(block.what);
        break;
      default:
        warnings.omit(block.type);
    }
  }

  function openCall(key: number, block: Extract<BlockStart, { readonly type: 'toolCall' }>): void {
    calls = true;
    if (block.namespace !== undefined) warnings.omit('namespace');
    const id = callId(block.id, key, as);
    if (block.opaque !== undefined) sealed({ ...block.opaque, id });
    const call = writing(
      'toolCall',
      { type: 'tool_use', id, name: block.name, input: {} },
      id,
      block.kind === 'custom',
    );
    blocks.set(key, call);
    queue(call);
    if (call.custom) call.unsent.push(inputDelta('{"input":"'));
    grow(key, block.input);
  }

  /** A block without deltas. */
  function sendWhole(start: JsonObject): void {
    queue({ ...writing('foreign', start), ended: true });
  }

  /** Reasoning that is a signature only. Some clients read signatures in deltas only. */
  function sealed(opaque: Opaque): void {
    const block = writing('thinking', thought('', ''));
    block.unsent.push(deltaOf('signature_delta', 'signature', packOpaque(opaque)));
    block.ended = true;
    queue(block);
  }

  function grow(key: number, text: string): void {
    const block = blocks.get(key);
    if (block === undefined || text === '') return;
    if (block.kind === 'refusal') refusal = (refusal ?? '') + text;
    if (block.kind === 'thinking') block.unsent.push(deltaOf('thinking_delta', 'thinking', text));
    else if (block.kind !== 'toolCall') block.unsent.push(deltaOf('text_delta', 'text', text));
    else block.unsent.push(inputDelta(block.custom ? JSON.stringify(text).slice(1, -1) : text));
    queue(block);
  }

  function seal(key: number, opaque: Opaque): void {
    const block = blocks.get(key);
    // The signature of a call arrives too late to be sent before it; clients find it after the call as well.
    if (block?.kind === 'toolCall') sealed({ ...opaque, id: block.id });
    else if (block?.kind === 'thinking') block.signature = packOpaque(opaque);
  }

  function end(key: number): void {
    const block = blocks.get(key);
    if (block === undefined) return;
    blocks.delete(key);
    if (block.custom) block.unsent.push(inputDelta('"}'));
    // For an empty text, which was not queued.
    if (block.kind === 'text' && !block.queued && block.unsent.length > 0) warnings.omit('citations');
    if (block.kind === 'thinking' && block.queued) block.signature ??= packOpaque(UNSEALED);
    if (block.signature !== undefined) {
      block.unsent.push(deltaOf('signature_delta', 'signature', block.signature));
      queue(block);
    }
    block.ended = true;
  }

  function finish(reason: Finish): string {
    for (const key of [...blocks.keys()]) end(key);
    // Some clients require a block; reasoning alone does not count.
    if (!hasContent) sendWhole({ type: 'text', text: '' });
    const delta = encodeFinish(reason, { calls, refusal });
    omitEnd(reason, warnings);
    return advance() + event('message_delta', { delta, usage: usageBody(usage) }) + event('message_stop');
  }

  return {
    write(part: Part) {
      switch (part.type) {
        case 'start':
          serviceTier = part.serviceTier;
          return '';
        case 'usage':
          usage = part.usage;
          return '';
        case 'blockStart':
          open(part.key, part.block);
          break;
        case 'delta':
          if (part.logprobs !== undefined) warnings.omit('logprobs');
          grow(part.key, part.text);
          break;
        case 'citation': {
          const citation = encodeCitation(part.citation, warnings);
          const block = blocks.get(part.key);
          if (citation !== undefined && block?.kind === 'text')
            block.unsent.push(JSON.stringify({ type: 'citations_delta', citation }));
          break;
        }
        case 'opaque':
          seal(part.key, part.opaque);
          break;
        case 'blockEnd':
          end(part.key);
          break;
        case 'finish':
          return finish(part.finish);
        default:
          return '';
      }
      return advance();
    },
    fail: errorEvent,
  };
}

const NO_USAGE: Usage = { ...NO_TOKENS, estimated: true };

function writing(kind: BlockStart['type'], start: JsonObject, id = '', custom = false): Writing {
  return { kind, custom, start, id, unsent: [], queued: false, begun: false, ended: false, signature: undefined };
}

function inputDelta(text: string): string {
  return deltaOf('input_json_delta', 'partial_json', text);
}

function deltaOf(type: string, member: string, text: string): string {
  return `{"type":"${type}","${member}":${JSON.stringify(text)}}`;
}
