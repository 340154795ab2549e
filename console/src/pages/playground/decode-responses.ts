/** Decoder for Responses answers. Pure. */
import { type Answer, countIn, type Decoder, decoderOf, objectsIn, SILENCE, textIn, type Usage } from './answer.ts';
import { isObject, type Json, type JsonObject } from './typed-json.ts';

/** An output item, possibly incomplete. */
interface Item {
  /** The item of the last event. */
  source: JsonObject;
  /** The item is complete. */
  isWhole: boolean;
  text: string;
  thoughts: string;
  input: string;
}

/** Creates a decoder. */
export function responsesDecoder(): Decoder {
  const items = new Map<number, Item>();
  let usage: Usage | undefined;
  let cut = false;
  let filtered = false;

  const at = (index: unknown): Item => {
    const place = countIn(index) ?? items.size;
    const item = items.get(place) ?? { source: {}, isWhole: false, text: '', thoughts: '', input: '' };
    items.set(place, item);
    return item;
  };

  function store(index: number, item: JsonObject): void {
    Object.assign(at(index), { source: item, isWhole: true });
  }

  function end(response: JsonObject): void {
    for (const [index, item] of objectsIn(response.output).entries()) store(index, item);
    if (isObject(response.usage)) usage = usageOf(response.usage);
    const why = isObject(response.incomplete_details) ? textIn(response.incomplete_details.reason) : '';
    cut = why === 'max_output_tokens';
    filtered = why === 'content_filter';
  }

  return decoderOf({
    event(event) {
      switch (event.type) {
        case 'response.output_item.added':
          if (isObject(event.item)) at(event.output_index).source = event.item;
          break;
        case 'response.output_item.done':
          if (isObject(event.item)) Object.assign(at(event.output_index), { source: event.item, isWhole: true });
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
          return true;
        default:
      }
      return false;
    },
    body(body) {
      if (isObject(body)) end(body);
      return isObject(body);
    },
    answer(): Answer {
      const decoded = inOrder(items).map((item) => (item.isWhole ? readItem(item) : item));
      return {
        ...SILENCE,
        text: decoded.map(({ text }) => text).join(''),
        thoughts: decoded
          .map(({ thoughts }) => thoughts)
          .filter((each) => each !== '')
          .join('\n\n'),
        calls: decoded.flatMap(({ source, input }) =>
          source.type === 'function_call' ? [{ id: textIn(source.call_id), name: textIn(source.name), input }] : [],
        ),
        pictures: decoded.flatMap(({ source }) => {
          const result = source.type === 'image_generation_call' ? textIn(source.result) : '';
          return result === '' ? [] : [`data:image/${textIn(source.output_format) || 'png'};base64,${result}`];
        }),
        usage,
        cut,
        filtered,
      };
    },
    turns(): readonly Json[] {
      return inOrder(items).flatMap(({ source }) => {
        // Requests are not stored by the vendor, so items are sent without their IDs.
        const { id, status, ...item } = source;
        if (item.type === 'reasoning' && textIn(item.encrypted_content) === '') return [];
        return [item];
      });
    },
  });
}

function inOrder(items: ReadonlyMap<number, Item>): readonly Item[] {
  return [...items].sort(([a], [b]) => a - b).map(([, item]) => item);
}

function readItem(item: Item): Item {
  const { source } = item;
  const parts = objectsIn(source.content);
  if (source.type === 'message') {
    return { ...item, text: parts.map((part) => textIn(part.text) + textIn(part.refusal)).join('') };
  }
  if (source.type === 'reasoning') {
    const own = [...objectsIn(source.summary), ...parts].map((part) => textIn(part.text)).filter((each) => each !== '');
    return { ...item, thoughts: own.length > 0 ? own.join('\n\n') : item.thoughts };
  }
  return { ...item, input: source.type === 'function_call' ? textIn(source.arguments) : '' };
}

function usageOf(usage: JsonObject): Usage {
  const input = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const output = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  return {
    input: countIn(usage.input_tokens),
    output: countIn(usage.output_tokens),
    cached: countIn(input.cached_tokens),
    thoughts: countIn(output.reasoning_tokens),
  };
}
