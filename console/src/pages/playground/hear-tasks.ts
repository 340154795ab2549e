/** Decoders for embeddings, images and transcriptions. Pure. */
import { type Answer, countIn, type Decoder, decoderOf, objectsIn, SILENCE, textIn, type Usage } from './answer.ts';
import { isObject, type Json, type JsonObject } from './typed-json.ts';

/** The number of dimensions that are shown. */
const MOST_VECTORS = 64;

/** Creates a decoder. */
export function taskDecoder(): Decoder {
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
