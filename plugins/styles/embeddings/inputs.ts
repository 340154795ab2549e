/** The `input` of an embedding request: texts or tokens, one or many, counted and validated without parsing them. */
import type { JsonBody, Span } from '../../../core/plugin.ts';
import { wrong } from '../request-fields.ts';
import { itemsAt, kindAt } from './places.ts';

/** The inputs of one request. */
export interface Inputs {
  /** The number of vectors to return. */
  readonly count: number;
  /** The total number of token ids; undefined if the inputs are texts. */
  readonly tokens: number | undefined;
}

/** The maximum inputs per request of any vendor. */
const MAX_INPUTS = 2_048;

/** The quotes of a string. */
const EMPTY_TEXT = 2;

/** Cached, because every attempt reads it again. */
const cache = new WeakMap<JsonBody, Inputs>();

/** Counts the inputs. Refuses with 400 and the path what is not a list of one kind. */
export function readInputs(body: JsonBody): Inputs {
  const inputs = cache.get(body) ?? countInputs(body);
  cache.set(body, inputs);
  return inputs;
}

function countInputs({ bytes, members }: JsonBody): Inputs {
  const input = members.get('input');
  const kind = input && kindAt(bytes, input.start);
  if (input === undefined || (kind !== 'text' && kind !== 'array')) {
    wrong('input', 'must be a text, an array of texts, an array of token ids or an array of those');
  }
  if (kind === 'text') {
    checkText(input, 'input');
    return { count: 1, tokens: undefined };
  }
  const [first] = itemsAt(bytes, input.start);
  if (first === undefined) wrong('input', 'must not be empty');
  switch (kindAt(bytes, first.start)) {
    case 'text':
      return { count: countTexts(bytes, input.start), tokens: undefined };
    case 'array':
      return countTokenLists(bytes, input.start);
    default:
      return { count: 1, tokens: countTokens(bytes, input.start, 'input') };
  }
}

function countTexts(bytes: Buffer, start: number): number {
  let count = 0;
  for (const item of itemsAt(bytes, start)) {
    const at = `input[${count}]`;
    if (kindAt(bytes, item.start) !== 'text') wrong(at, 'must be a text, as the first one is');
    checkText(item, at);
    checkCount(++count, 'texts');
  }
  return count;
}

function checkText({ start, end }: Span, path: string): void {
  if (end - start === EMPTY_TEXT) wrong(path, 'must not be empty');
}

function countTokenLists(bytes: Buffer, start: number): Inputs {
  let count = 0;
  let tokens = 0;
  for (const item of itemsAt(bytes, start)) {
    const at = `input[${count}]`;
    if (kindAt(bytes, item.start) !== 'array') wrong(at, 'must be an array of token ids, as the first one is');
    tokens += countTokens(bytes, item.start, at);
    checkCount(++count, 'arrays of token ids');
  }
  return { count, tokens };
}

function checkCount(count: number, what: string): void {
  if (count > MAX_INPUTS) wrong('input', `must have at most ${MAX_INPUTS} ${what}. Send the others in another request`);
}

const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;
const CLOSE_ARRAY = 0x5d;

/** The number of token ids in the array at `start`, which may contain digits, commas and whitespace only. */
function countTokens(bytes: Buffer, start: number, path: string): number {
  let count = 0;
  let inside = false;
  for (let at = start + 1; bytes[at] !== CLOSE_ARRAY; at++) {
    const byte = bytes[at]!;
    if (byte >= ZERO && byte <= NINE) {
      if (!inside) count++;
      inside = true;
    } else if (byte === COMMA) {
      inside = false;
    } else if (byte > 0x20) {
      wrong(`${path}[${inside ? count - 1 : count}]`, 'must be a token id, a whole number of 0 or more');
    }
  }
  if (count === 0) wrong(path, 'must not be empty');
  return count;
}
