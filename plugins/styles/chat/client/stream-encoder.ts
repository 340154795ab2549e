/** Encodes the stream for a chat client. */
import type { Answering, Json, JsonObject, PartWriter, Usage } from '../../../../core/plugin.ts';
import type { Block, Citation, Opaque, Part } from '../../../../core/translation/index.ts';
import { errorEvent } from '../errors.ts';
import { headOf } from '../fields/completion.ts';
import { omitEnd, writeFinish } from '../fields/finish.ts';
import { audioId, writeAnnotation, writeImage } from '../fields/media.ts';
import { carriedDetail, extraContent, GAP } from '../fields/thinking.ts';
import { writeUsage } from '../fields/usage.ts';
import { knowsFunctionsOnly } from './decode-tools.ts';

/** An open block. */
interface Open {
  readonly block: Block;
  /** Its index among the tool calls. */
  readonly call: number;
  /** Its offset in the whole content, or in the whole reasoning. */
  start: number;
  /** True if a piece of it was sent. */
  begun: boolean;
  opaque: Opaque | undefined;
  /** Citations, sent at the end of the block: one that applies to all of the text needs its length. */
  readonly citations: Citation[];
}

/**
 * Every chunk has the same head. Members that occur once in a message, such as annotations, are sent once, complete,
 * before the last chunk, because client libraries overwrite members that they cannot merge.
 */
export function createStreamEncoder(as: Answering): PartWriter {
  const isOlder = knowsFunctionsOnly(as.request);
  const open = new Map<number, Open>();
  const details: JsonObject[] = [];
  const annotations: JsonObject[] = [];
  let head = '';
  const tail = as.asksUsage ? '],"usage":null}\n\n' : ']}\n\n';
  let contentLength = 0;
  let reasoningLength = 0;
  let calls = 0;
  let images = 0;
  let refused = false;
  let usage: Usage | undefined;

  function begin(serviceTier: string | undefined): void {
    const common = {
      ...headOf('chat.completion.chunk', as),
      ...(serviceTier !== undefined && { service_tier: serviceTier }),
    };
    head = `data: ${JSON.stringify(common).slice(0, -1)},"choices":[`;
  }

  /** One chunk; `delta` is JSON. */
  function chunk(delta: string, logprobs = 'null', finish = 'null'): string {
    return `${head}{"index":0,"delta":${delta},"logprobs":${logprobs},"finish_reason":${finish}}${tail}`;
  }

  function callChunk(call: JsonObject): string {
    return chunk(JSON.stringify({ tool_calls: [call] }));
  }

  function startBlock(key: number, block: Block): string {
    const isCall = block.type === 'toolCall';
    const state: Open = {
      block,
      call: isCall ? calls++ : 0,
      start: contentLength,
      begun: false,
      opaque: undefined,
      citations: [],
    };
    open.set(key, state);
    switch (block.type) {
      case 'text': {
        state.citations.push(...(block.citations ?? []));
        return grow(state, block.text, block.logprobs);
      }
      case 'refusal':
        return grow(state, block.text);
      case 'thinking':
        state.opaque = block.opaque;
        state.start = reasoningLength;
        return grow(state, block.text);
      case 'toolCall':
        return startCall(state, block);
      case 'audio': {
        const { id, data, transcript = '' } = block;
        return chunk(JSON.stringify({ audio: { id: audioId(id, as), ...(data !== '' && { data }), transcript } }));
      }
      case 'image': {
        const image = writeImage(block, images);
        if (image !== undefined) {
          images++;
          return chunk(JSON.stringify({ images: [image] }));
        }
        as.warnings.omit('image');
        return '';
      }
      default:
        as.warnings.omit(block.type === 'foreign' ? block.what : block.type);
        return '';
    }
  }

  function startCall(state: Open, block: Extract<Block, { readonly type: 'toolCall' }>): string {
    const { id, name, namespace, kind, input, opaque } = block;
    if (namespace !== undefined) as.warnings.omit('namespace');
    state.begun = input !== '';
    if (isOlder) {
      if (state.call === 0) return chunk(JSON.stringify({ function_call: { name, arguments: input } }));
      as.warnings.omit('tool_calls');
      return '';
    }
    const index = state.call;
    return kind === 'custom'
      ? callChunk({ index, id, type: 'custom', custom: { name, input }, ...extraContent(opaque) })
      : callChunk({ index, id, type: 'function', function: { name, arguments: input }, ...extraContent(opaque) });
  }

  /** Encodes the next piece of a block. */
  function grow(state: Open, text: string, logprobs?: readonly Json[]): string {
    if (text === '' && (logprobs === undefined || logprobs.length === 0)) return '';
    const { block } = state;
    const first = !state.begun;
    state.begun = true;
    switch (block.type) {
      case 'text':
        contentLength += text.length;
        return chunk(
          `{"content":${JSON.stringify(text)}}`,
          logprobs === undefined ? 'null' : JSON.stringify({ content: logprobs, refusal: null }),
        );
      case 'refusal':
        refused = true;
        return chunk(`{"refusal":${JSON.stringify(text)}}`);
      case 'thinking': {
        const gap = first && reasoningLength > 0 ? GAP : '';
        if (first) state.start = reasoningLength + gap.length;
        reasoningLength += gap.length + text.length;
        return chunk(`{"reasoning_content":${JSON.stringify(gap + text)}}`);
      }
      case 'toolCall':
        return growCall(state, block.kind, text);
      case 'audio':
        return chunk(`{"audio":{"data":${JSON.stringify(text)}}}`);
      default:
        return '';
    }
  }

  function growCall({ call }: Open, kind: 'function' | 'custom', text: string): string {
    const words = JSON.stringify(text);
    if (isOlder) return call === 0 ? chunk(`{"function_call":{"arguments":${words}}}`) : '';
    return chunk(
      kind === 'custom'
        ? `{"tool_calls":[{"index":${call},"custom":{"input":${words}}}]}`
        : `{"tool_calls":[{"index":${call},"function":{"arguments":${words}}}]}`,
    );
  }

  function cite({ start, citations }: Open): void {
    for (const citation of citations) {
      const annotation = writeAnnotation(citation, start, contentLength - start, as.warnings);
      if (annotation !== undefined) annotations.push(annotation);
    }
  }

  function seal(state: Open, opaque: Opaque): string {
    state.opaque = opaque;
    const extra = extraContent(opaque);
    if (state.block.type !== 'toolCall' || isOlder || Object.keys(extra).length === 0) return '';
    const isCustom = state.block.kind === 'custom';
    const nothing = isCustom ? { custom: { input: '' } } : { function: { arguments: '' } };
    return callChunk({ index: state.call, ...nothing, ...extra });
  }

  function endBlock(key: number): string {
    const state = open.get(key);
    if (state === undefined) return '';
    open.delete(key);
    const { block, opaque } = state;
    cite(state);
    if (block.type === 'thinking' && opaque !== undefined) {
      const start = state.begun ? state.start : reasoningLength;
      details.push(carriedDetail(opaque, details.length, start, reasoningLength));
    }
    // Clients parse the arguments, and an empty text is not JSON.
    if (block.type === 'toolCall' && block.kind === 'function' && !state.begun) return grow(state, '{}');
    return block.type === 'audio' ? chunk(JSON.stringify({ audio: { expires_at: block.expiresAt ?? 0 } })) : '';
  }

  function finish({ finish: end }: Extract<Part, { readonly type: 'finish' }>): string {
    const out = [...open.keys()].map(endBlock);
    if (details.length > 0) out.push(chunk(JSON.stringify({ reasoning_details: details })));
    if (annotations.length > 0) out.push(chunk(JSON.stringify({ annotations })));
    const contained = { calls: calls > 0, refusal: refused };
    const word = writeFinish(end, contained);
    omitEnd(end, contained, as.warnings);
    if (end.reason === 'refusal' && !refused && end.explanation !== undefined) {
      out.push(chunk(`{"refusal":${JSON.stringify(end.explanation)}}`));
    }
    out.push(chunk('{}', 'null', isOlder && word === 'tool_calls' ? '"function_call"' : `"${word}"`));
    if (as.asksUsage) out.push(`${head}],"usage":${JSON.stringify(writeUsage(usage))}}\n\n`);
    out.push('data: [DONE]\n\n');
    return out.join('');
  }

  return {
    write(part) {
      switch (part.type) {
        case 'start':
          begin(part.serviceTier);
          return chunk('{"role":"assistant","content":"","refusal":null}');
        case 'blockStart':
          return startBlock(part.key, part.block);
        case 'delta': {
          const state = open.get(part.key);
          return state === undefined ? '' : grow(state, part.text, part.logprobs);
        }
        case 'transcript':
          return chunk(`{"audio":{"transcript":${JSON.stringify(part.text)}}}`);
        case 'citation': {
          const state = open.get(part.key);
          state?.citations.push(part.citation);
          return '';
        }
        case 'opaque': {
          const state = open.get(part.key);
          return state === undefined ? '' : seal(state, part.opaque);
        }
        case 'blockEnd':
          return endBlock(part.key);
        case 'usage':
          usage = part.usage;
          return '';
        case 'finish':
          return finish(part);
        default:
          return '';
      }
    },
    fail: errorEvent,
  };
}
