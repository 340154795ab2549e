/**
 * The demo vendor's `/embeddings`: a text is a bag of words, and each word has a direction. The same text always has the
 * same vector, and texts that share words are closer than others.
 */
import type { Json, JsonObject } from '../../../core/plugin.ts';
import { type Answerer, failure } from './endpoint.ts';
import { countTokens, MOST_READ } from './tokens.ts';

const DIMENSIONS = { usual: 256, most: 3_072 };

/** Returns a vector for each input. */
export const answerEmbeddings: Answerer = ({ body }) => {
  const { usual, most } = DIMENSIONS;
  const dimensions = body.dimensions ?? usual;
  if (typeof dimensions !== 'number' || !Number.isInteger(dimensions) || dimensions < 1 || dimensions > most) {
    return failure('dimensions', `must be a whole number from 1 to ${most}`);
  }
  const inputs = inputsOf(body.input);
  if (inputs === undefined) return failure('input', 'must be text, token ids, or a list of those');
  return { status: 200, type: 'application/json', body: list(body, inputs, dimensions) };
};

/** Writes the reply vector by vector. */
function* list(body: JsonObject, inputs: readonly Input[], dimensions: number): Generator<string> {
  const isBase64 = body.encoding_format === 'base64';
  let tokens = 0;
  let before = '{"object":"list","data":[';
  for (const [index, input] of inputs.entries()) {
    tokens += tokensOf(input);
    const vector = vectorOf(wordsOf(input), dimensions);
    const embedding = isBase64 ? base64(vector) : Array.from(vector);
    yield before + JSON.stringify({ object: 'embedding', index, embedding });
    before = ',';
  }
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  yield `],"model":${JSON.stringify(String(body.model))},"usage":${JSON.stringify(usage)}}`;
}

/** A text, or token ids. */
type Input = string | readonly number[];

function inputsOf(input: Json | undefined): readonly Input[] | undefined {
  if (typeof input === 'string' || isTokens(input)) return [input];
  if (!Array.isArray(input) || input.length === 0) return undefined;
  const items = input as readonly Json[];
  return items.every((item) => typeof item === 'string' || isTokens(item)) ? (items as readonly Input[]) : undefined;
}

function isTokens(value: Json | undefined): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every(Number.isInteger);
}

function tokensOf(input: Input): number {
  return typeof input === 'string' ? countTokens(input) : input.length;
}

/** A text without words counts as one word. */
function wordsOf(input: Input): readonly string[] {
  const read = input.slice(0, MOST_READ);
  if (typeof read !== 'string') return read.map((token) => `#${token}`);
  return read.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [read];
}

/** The number of dimensions that a word affects. */
const PLACES = 16;

/** The sum of the words' vectors, normalized to length 1. */
function vectorOf(words: readonly string[], dimensions: number): Float32Array {
  const sum = new Float64Array(dimensions);
  for (const word of words) {
    let draw = hashOf(word);
    for (let i = 0; i < PLACES; i++) {
      draw = mixed(draw + 0x9e3779b9);
      const place = (draw >>> 1) % dimensions;
      sum[place] = sum[place]! + ((draw & 1) === 1 ? 1 : -1);
    }
  }
  const length = Math.sqrt(sum.reduce((total, value) => total + value * value, 0));
  // Words may cancel each other out, mostly if there are few dimensions.
  if (length === 0) return Float32Array.of(1, ...new Float32Array(dimensions - 1));
  return Float32Array.from(sum, (value) => value / length);
}

/** FNV-1a over the code units. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
  return hash;
}

/** Mixes the bits of a number, so that every bit depends on every other. */
function mixed(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad);
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
  return bits ^ (bits >>> 15);
}

/** Little-endian 32-bit floats. */
function base64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, i) => {
    bytes.writeFloatLE(value, i * 4);
  });
  return bytes.toString('base64');
}
