/** Answers of the messages style. Pure. */
import {
  type Answer,
  countIn,
  failureIn,
  type Hearer,
  objectsIn,
  parsed,
  SILENCE,
  textIn,
  type Usage,
} from './answer.ts';
import { isObject, type Json, type JsonObject } from './typed-json.ts';

/** A block, as far as it has come. */
interface Block {
  readonly told: JsonObject;
  text: string;
  thinking: string;
  signature: string;
  /** Of a tool: its input as JSON; empty where it was told at once. */
  input: string;
}

/** Listens to one. */
export function hearMessages(): Hearer {
  const blocks = new Map<number, Block>();
  let counts: JsonObject | undefined;
  let stop = '';
  let ended = false;

  function open(index: number, told: JsonObject): void {
    const { text, thinking, signature } = told;
    blocks.set(index, {
      told,
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

  function count(said: unknown): void {
    if (isObject(said)) counts = { ...counts, ...said };
  }

  return {
    get ended() {
      return ended;
    },
    event(data) {
      const event = parsed(data);
      if (!isObject(event)) return;
      const failure = failureIn(event);
      if (failure !== undefined) throw failure;
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
        case 'message_stop':
          ended = true;
          break;
        default:
      }
    },
    whole(body) {
      if (!isObject(body)) return;
      for (const [index, block] of objectsIn(body.content).entries()) open(index, block);
      stop = textIn(body.stop_reason);
      count(body.usage);
      ended = true;
    },
    answer(): Answer {
      const known = [...blocks.values()];
      return {
        ...SILENCE,
        text: known.map(({ text }) => text).join(''),
        thoughts: known
          .map(({ thinking }) => thinking)
          .filter((each) => each !== '')
          .join('\n\n'),
        calls: known.flatMap(({ told, input }) =>
          told.type === 'tool_use'
            ? [{ id: textIn(told.id), name: textIn(told.name), input: input === '' ? inputOf(told) : input }]
            : [],
        ),
        usage: counts && usageOf(counts),
        cut: stop === 'max_tokens',
        filtered: stop === 'refusal',
      };
    },
    said(): readonly Json[] {
      return [{ role: 'assistant', content: [...blocks.values()].map(retold).filter((block) => block !== undefined) }];
    },
  };
}

/** As it goes back; an empty text is refused there. */
function retold({ told, text, thinking, signature, input }: Block): JsonObject | undefined {
  if (told.type === 'text') return text === '' ? undefined : { type: 'text', text };
  if (told.type === 'thinking') return { type: 'thinking', thinking, signature };
  return input === '' ? told : { ...told, input: parsed(input) ?? {} };
}

function inputOf({ input }: JsonObject): string {
  return isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : '';
}

function usageOf(said: JsonObject): Usage {
  const cached = countIn(said.cache_read_input_tokens);
  const written = countIn(said.cache_creation_input_tokens) ?? 0;
  const input = countIn(said.input_tokens);
  return {
    // Here what was read from caches is counted beside the rest; elsewhere it is part of it.
    input: input === undefined ? undefined : input + (cached ?? 0) + written,
    output: countIn(said.output_tokens),
    cached,
  };
}
