/** Decoder for Chat Completions answers. Pure. */
import { type Answer, countIn, type Decoder, decoderOf, objectsIn, SILENCE, textIn, type Usage } from './answer.ts';
import { isObject, type Json, type JsonObject } from './typed-json.ts';

interface Call {
  id: string;
  name: string;
  input: string;
  /** Other fields, such as reasoning signatures. */
  rest: JsonObject;
}

/** Creates a decoder. */
export function chatDecoder(): Decoder {
  let text = '';
  let thoughts = '';
  let finish = '';
  let usage: Usage | undefined;
  const calls = new Map<number, Call>();
  const pictures: string[] = [];
  const details: JsonObject[] = [];

  /** A message, or the delta of a stream. */
  function add(message: JsonObject): void {
    text += textIn(message.content) + textIn(message.refusal);
    thoughts += textIn(message.reasoning_content) || textIn(message.reasoning);
    details.push(...objectsIn(message.reasoning_details));
    for (const image of objectsIn(message.images)) {
      const url = isObject(image.image_url) ? textIn(image.image_url.url) : textIn(image.image_url);
      if (url !== '') pictures.push(url);
    }
    for (const [place, each] of objectsIn(message.tool_calls).entries()) {
      const { index, id, type, function: of, ...rest } = each;
      const at = countIn(index) ?? place;
      const call = calls.get(at) ?? { id: '', name: '', input: '', rest: {} };
      calls.set(at, call);
      call.id ||= textIn(id);
      if (isObject(of)) {
        call.name += textIn(of.name);
        call.input += textIn(of.arguments);
      }
      call.rest = { ...call.rest, ...rest };
    }
  }

  function read(body: JsonObject, from: 'delta' | 'message'): void {
    const [choice] = objectsIn(body.choices);
    if (choice !== undefined && isObject(choice[from])) add(choice[from]);
    finish = textIn(choice?.finish_reason) || finish;
    if (isObject(body.usage)) usage = usageOf(body.usage);
  }

  const decoding = {
    event(event: JsonObject) {
      read(event, 'delta');
      return false;
    },
    body(body: Json) {
      if (isObject(body)) read(body, 'message');
      return true;
    },
    answer(): Answer {
      return {
        ...SILENCE,
        text,
        thoughts,
        calls: [...calls.values()].map(({ id, name, input }) => ({ id, name, input })),
        pictures: [...pictures],
        usage,
        cut: finish === 'length',
        filtered: finish === 'content_filter',
      };
    },
    turns(): readonly Json[] {
      const toolCalls = [...calls.values()].map(({ id, name, input, rest }) => ({
        id,
        type: 'function',
        function: { name, arguments: input === '' ? '{}' : input },
        ...rest,
      }));
      return [
        {
          role: 'assistant',
          content: text === '' ? null : text,
          ...(details.length > 0 && { reasoning_details: details }),
          tool_calls: toolCalls,
        },
      ];
    },
  };
  return decoderOf(decoding, '[DONE]');
}

function usageOf(usage: JsonObject): Usage {
  const input = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const output = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  return {
    input: countIn(usage.prompt_tokens),
    output: countIn(usage.completion_tokens),
    cached: countIn(input.cached_tokens),
    thoughts: countIn(output.reasoning_tokens),
  };
}
