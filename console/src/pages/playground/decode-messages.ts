/** Decoder for Messages answers. Pure. */
import {
  type Answer,
  countIn,
  type Decoder,
  decoderOf,
  objectsIn,
  parsed,
  SILENCE,
  textIn,
  type Usage,
} from './answer.ts';
import { isObject, type Json, type JsonObject } from './typed-json.ts';

/** A content block, possibly incomplete. */
interface Block {
  readonly block: JsonObject;
  text: string;
  thinking: string;
  signature: string;
  /** For a tool: its input as JSON; empty if it came at once. */
  input: string;
}

/** Creates a decoder. */
export function messagesDecoder(): Decoder {
  const blocks = new Map<number, Block>();
  let counts: JsonObject | undefined;
  let stop = '';

  function open(index: number, start: JsonObject): void {
    const { text, thinking, signature } = start;
    blocks.set(index, {
      block: start,
      text: textIn(text),
      thinking: textIn(thinking),
      signature: textIn(signature),
      input: '',
    });
  }

  function add(index: number, delta: JsonObject): void {
    const block = blocks.get(index);
    if (block === undefined) return;
    block.text += textIn(delta.text);
    block.thinking += textIn(delta.thinking);
    block.signature += textIn(delta.signature);
    block.input += textIn(delta.partial_json);
  }

  function count(usage: unknown): void {
    if (isObject(usage)) counts = { ...counts, ...usage };
  }

  return decoderOf({
    event(event) {
      const index = countIn(event.index) ?? 0;
      switch (event.type) {
        case 'message_start':
          if (isObject(event.message)) count(event.message.usage);
          break;
        case 'content_block_start':
          if (isObject(event.content_block)) open(index, event.content_block);
          break;
        case 'content_block_delta':
          if (isObject(event.delta)) add(index, event.delta);
          break;
        case 'message_delta':
          if (isObject(event.delta)) stop = textIn(event.delta.stop_reason) || stop;
          count(event.usage);
          break;
        default:
      }
      return event.type === 'message_stop';
    },
    body(body) {
      if (!isObject(body)) return false;
      for (const [index, block] of objectsIn(body.content).entries()) open(index, block);
      stop = textIn(body.stop_reason);
      count(body.usage);
      return true;
    },
    answer(): Answer {
      const finished = [...blocks.values()];
      return {
        ...SILENCE,
        text: finished.map(({ text }) => text).join(''),
        thoughts: finished
          .map(({ thinking }) => thinking)
          .filter((each) => each !== '')
          .join('\n\n'),
        calls: finished.flatMap(({ block, input }) =>
          block.type === 'tool_use'
            ? [{ id: textIn(block.id), name: textIn(block.name), input: input === '' ? inputOf(block) : input }]
            : [],
        ),
        usage: counts && usageOf(counts),
        cut: stop === 'max_tokens',
        filtered: stop === 'refusal',
      };
    },
    turns(): readonly Json[] {
      return [
        {
          role: 'assistant',
          content: [...blocks.values()].map(blockForRequest).filter((block) => block !== undefined),
        },
      ];
    },
  });
}

/** The block for the next request; the API refuses empty text blocks. */
function blockForRequest({ block, text, thinking, signature, input }: Block): JsonObject | undefined {
  if (block.type === 'text') return text === '' ? undefined : { type: 'text', text };
  if (block.type === 'thinking') return { type: 'thinking', thinking, signature };
  return input === '' ? block : { ...block, input: parsed(input) ?? {} };
}

function inputOf({ input }: JsonObject): string {
  return isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : '';
}

function usageOf(usage: JsonObject): Usage {
  const cached = countIn(usage.cache_read_input_tokens);
  const written = countIn(usage.cache_creation_input_tokens) ?? 0;
  const input = countIn(usage.input_tokens);
  return {
    // The Messages API does not include cached tokens in the input; the other APIs do.
    input: input === undefined ? undefined : input + (cached ?? 0) + written,
    output: countIn(usage.output_tokens),
    cached,
  };
}
