/** Answers of the responses style. Pure. */
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

/** An item of the output, as far as it has come. */
interface Item {
  /** As it was told last. */
  told: JsonObject;
  /** It was told whole. */
  isWhole: boolean;
  text: string;
  thoughts: string;
  input: string;
}

/** Listens to one. */
export function hearResponses(): Hearer {
  const items = new Map<number, Item>();
  let usage: Usage | undefined;
  let ended = false;
  let cut = false;
  let filtered = false;

  const at = (index: unknown): Item => {
    const place = countIn(index) ?? items.size;
    const item = items.get(place) ?? { told: {}, isWhole: false, text: '', thoughts: '', input: '' };
    items.set(place, item);
    return item;
  };

  function tell(index: number, told: JsonObject): void {
    Object.assign(at(index), { told, isWhole: true });
  }

  function end(response: JsonObject): void {
    for (const [index, item] of objectsIn(response.output).entries()) tell(index, item);
    if (isObject(response.usage)) usage = usageOf(response.usage);
    const why = isObject(response.incomplete_details) ? textIn(response.incomplete_details.reason) : '';
    cut = why === 'max_output_tokens';
    filtered = why === 'content_filter';
    ended = true;
  }

  return {
    get ended() {
      return ended;
    },
    event(data) {
      const event = parsed(data);
      if (!isObject(event)) return;
      const failure = failureIn(event) ?? failureIn(event.response);
      if (failure !== undefined) throw failure;
      switch (event.type) {
        case 'response.output_item.added':
          if (isObject(event.item)) at(event.output_index).told = event.item;
          break;
        case 'response.output_item.done':
          if (isObject(event.item)) Object.assign(at(event.output_index), { told: event.item, isWhole: true });
          break;
        case 'response.output_text.delta':
        case 'response.refusal.delta':
          at(event.output_index).text += textIn(event.delta);
          break;
        case 'response.reasoning_summary_part.added': {
          const item = at(event.output_index);
          if (item.thoughts !== '') item.thoughts += '\n\n';
          break;
        }
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          at(event.output_index).thoughts += textIn(event.delta);
          break;
        case 'response.function_call_arguments.delta':
          at(event.output_index).input += textIn(event.delta);
          break;
        case 'response.completed':
        case 'response.incomplete':
          if (isObject(event.response)) end(event.response);
          ended = true;
          break;
        default:
      }
    },
    whole(body) {
      if (isObject(body)) end(body);
    },
    answer(): Answer {
      const known = inOrder(items).map((item) => (item.isWhole ? readItem(item) : item));
      return {
        ...SILENCE,
        text: known.map(({ text }) => text).join(''),
        thoughts: known
          .map(({ thoughts }) => thoughts)
          .filter((each) => each !== '')
          .join('\n\n'),
        calls: known.flatMap(({ told, input }) =>
          told.type === 'function_call' ? [{ id: textIn(told.call_id), name: textIn(told.name), input }] : [],
        ),
        pictures: known.flatMap(({ told }) => {
          const result = told.type === 'image_generation_call' ? textIn(told.result) : '';
          return result === '' ? [] : [`data:image/${textIn(told.output_format) || 'png'};base64,${result}`];
        }),
        usage,
        cut,
        filtered,
      };
    },
    said(): readonly Json[] {
      return inOrder(items).flatMap(({ told }) => {
        // Nothing is stored, so nobody would find by its id what was said.
        const { id, status, ...item } = told;
        if (item.type === 'reasoning' && textIn(item.encrypted_content) === '') return [];
        return [item];
      });
    },
  };
}

function inOrder(items: ReadonlyMap<number, Item>): readonly Item[] {
  return [...items].sort(([a], [b]) => a - b).map(([, item]) => item);
}

function readItem(item: Item): Item {
  const { told } = item;
  const parts = objectsIn(told.content);
  if (told.type === 'message') {
    return { ...item, text: parts.map((part) => textIn(part.text) + textIn(part.refusal)).join('') };
  }
  if (told.type === 'reasoning') {
    const own = [...objectsIn(told.summary), ...parts].map((part) => textIn(part.text)).filter((each) => each !== '');
    return { ...item, thoughts: own.length > 0 ? own.join('\n\n') : item.thoughts };
  }
  return { ...item, input: told.type === 'function_call' ? textIn(told.arguments) : '' };
}

function usageOf(said: JsonObject): Usage {
  const input = isObject(said.input_tokens_details) ? said.input_tokens_details : {};
  const output = isObject(said.output_tokens_details) ? said.output_tokens_details : {};
  return {
    input: countIn(said.input_tokens),
    output: countIn(said.output_tokens),
    cached: countIn(input.cached_tokens),
    thoughts: countIn(output.reasoning_tokens),
  };
}
