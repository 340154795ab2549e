/** Answers of the chat completions style. Pure. */
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

interface Call {
  id: string;
  name: string;
  input: string;
  /** What else stands in it, seals of thoughts above all. */
  rest: JsonObject;
}

/** Listens to one. */
export function hearChat(): Hearer {
  let text = '';
  let thoughts = '';
  let finish = '';
  let ended = false;
  let usage: Usage | undefined;
  const calls = new Map<number, Call>();
  const pictures: string[] = [];
  const details: JsonObject[] = [];

  /** A message, or what a stream adds to it. */
  function add(said: JsonObject): void {
    text += textIn(said.content) + textIn(said.refusal);
    thoughts += textIn(said.reasoning_content) || textIn(said.reasoning);
    details.push(...objectsIn(said.reasoning_details));
    for (const image of objectsIn(said.images)) {
      const url = isObject(image.image_url) ? textIn(image.image_url.url) : textIn(image.image_url);
      if (url !== '') pictures.push(url);
    }
    for (const [place, each] of objectsIn(said.tool_calls).entries()) {
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

  return {
    get ended() {
      return ended;
    },
    event(data) {
      if (data === '[DONE]') {
        ended = true;
        return;
      }
      const event = parsed(data);
      const failure = failureIn(event);
      if (failure !== undefined) throw failure;
      if (isObject(event)) read(event, 'delta');
    },
    whole(body) {
      if (isObject(body)) read(body, 'message');
      ended = true;
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
    said(): readonly Json[] {
      const made = [...calls.values()].map(({ id, name, input, rest }) => ({
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
          tool_calls: made,
        },
      ];
    },
  };
}

function usageOf(said: JsonObject): Usage {
  const input = isObject(said.prompt_tokens_details) ? said.prompt_tokens_details : {};
  const output = isObject(said.completion_tokens_details) ? said.completion_tokens_details : {};
  return {
    input: countIn(said.prompt_tokens),
    output: countIn(said.completion_tokens),
    cached: countIn(input.cached_tokens),
    thoughts: countIn(output.reasoning_tokens),
  };
}
