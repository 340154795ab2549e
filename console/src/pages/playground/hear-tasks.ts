/** Answers of calls that are no conversation: vectors, pictures, what was heard. Pure. */
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

/** So much of a vector is looked at. */
const MOST_VECTORS = 64;

/** Listens to one. */
export function hearTask(): Hearer {
  let answer: Answer = SILENCE;
  let ended = false;

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

  return {
    get ended() {
      return ended;
    },
    event(data) {
      const event = parsed(data);
      const failure = failureIn(event);
      if (failure !== undefined) throw failure;
    },
    whole(body) {
      if (isObject(body)) read(body);
      else answer = { ...answer, text: textIn(body) };
      ended = true;
    },
    answer: () => answer,
    said: (): readonly Json[] => [],
  };
}

function isVector(value: Json | undefined): value is readonly number[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'number');
}

/** By its first bytes, of which base64 leaves the letters the same. */
function pictureType(base64: string): string {
  if (base64.startsWith('/9j/')) return 'image/jpeg';
  return base64.startsWith('UklGR') ? 'image/webp' : 'image/png';
}

function usageOf(said: JsonObject): Usage {
  return {
    input: countIn(said.input_tokens) ?? countIn(said.prompt_tokens),
    output: countIn(said.output_tokens),
  };
}
