/** Selects the decoder of an API, decodes tasks, and appends tool results to a conversation. Pure. */
import {
  type Answer,
  countIn,
  type Decoder,
  decoderOf,
  objectsIn,
  SILENCE,
  type ToolCall,
  textIn,
  type Usage,
} from './answer.ts';
import { chatDecoder } from './decode-chat.ts';
import { messagesDecoder } from './decode-messages.ts';
import { responsesDecoder } from './decode-responses.ts';
import type { Endpoint, Style } from './prompt.ts';
import { isObject, type Json, type JsonObject } from './typed-json.ts';

/** The decoder for an API or task. */
export function decoderFor(endpoint: Endpoint): Decoder {
  if (endpoint === 'chat') return chatDecoder();
  if (endpoint === 'responses') return responsesDecoder();
  return endpoint === 'messages' ? messagesDecoder() : taskDecoder();
}

/** The tool results in the format of the API, in the order of the calls. */
export function resultsOf(style: Style, calls: readonly ToolCall[], outputs: readonly string[]): readonly Json[] {
  const results = calls.map(({ id }, at) => ({ id, text: outputs[at] ?? '' }));
  if (style === 'chat') return results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text }));
  if (style === 'responses') {
    return results.map(({ id, text }) => ({ type: 'function_call_output', call_id: id, output: text }));
  }
  return [
    {
      role: 'user',
      content: results.map(({ id, text }) => ({ type: 'tool_result', tool_use_id: id, content: text })),
    },
  ];
}

/** The number of dimensions that are shown. */
const MOST_VECTORS = 64;

function taskDecoder(): Decoder {
  let answer: Answer = SILENCE;

  function read(body: JsonObject): void {
    const data = objectsIn(body.data);
    answer = {
      ...answer,
      text: textIn(body.text),
      pictures: data.flatMap(({ b64_json: bytes, url }) =>
        typeof bytes === 'string'
          ? [`data:${pictureType(bytes)};base64,${bytes}`]
          : textIn(url) !== ''
            ? [textIn(url)]
            : [],
      ),
      vectors: data.slice(0, MOST_VECTORS).flatMap(({ embedding }) => (isVector(embedding) ? [embedding] : [])),
      usage: isObject(body.usage) ? usageOf(body.usage) : undefined,
    };
  }

  return decoderOf({
    event: () => false,
    body(body) {
      if (isObject(body)) read(body);
      else answer = { ...answer, text: textIn(body) };
      return true;
    },
    answer: () => answer,
    turns: (): readonly Json[] => [],
  });
}

function isVector(value: Json | undefined): value is readonly number[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'number');
}

/** The media type by the first bytes, recognized in base64. */
function pictureType(base64: string): string {
  if (base64.startsWith('/9j/')) return 'image/jpeg';
  return base64.startsWith('UklGR') ? 'image/webp' : 'image/png';
}

function usageOf(usage: JsonObject): Usage {
  return {
    input: countIn(usage.input_tokens) ?? countIn(usage.prompt_tokens),
    output: countIn(usage.output_tokens),
  };
}
