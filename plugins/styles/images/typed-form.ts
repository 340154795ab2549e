/**
 * Multipart bodies of images and edits: converts their text fields to the values that JSON would have, so that later
 * code handles one form only.
 */
import type { FormReader, Json, JsonObject } from '../../../core/plugin.ts';
import { isObject, parsed } from '../../../core/translation/index.ts';
import { wrong } from '../request-fields.ts';

/** The types of fields that are not text. */
const KINDS: Readonly<Record<string, 'number' | 'flag' | 'object'>> = {
  n: 'number',
  partial_images: 'number',
  output_compression: 'number',
  frame_count: 'number',
  frame_duration_ms: 'number',
  seed: 'number',
  guidance_scale: 'number',
  stream: 'flag',
  watermark: 'flag',
  prompt_extend: 'flag',
  input: 'object',
  parameters: 'object',
};

/** Fields that may also be files, by the name of their list. */
const SEVERAL = 'image[]';

/** Reads multipart bodies with `reader`. Refuses with 400 and the field's name values of the wrong type. */
export function withValues(reader: FormReader): FormReader {
  return {
    only: reader.only,
    async read(arrival) {
      const { fields, files } = await reader.read(arrival);
      return { fields: valuesOf(fields), files };
    },
  };
}

function valuesOf({ [SEVERAL]: several, ...texts }: JsonObject): JsonObject {
  const values: Record<string, Json> = {};
  for (const [name, text] of Object.entries(texts)) {
    const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
    if (kind === undefined || typeof text !== 'string') values[name] = text;
    // HTML forms send empty fields.
    else if (text.trim() !== '') values[name] = READERS[kind](text.trim()) ?? wrong(name, `must be ${WORDS[kind]}`);
  }
  if (several !== undefined) values.image = [values.image ?? [], several].flat();
  return values;
}

const READERS: Readonly<Record<'number' | 'flag' | 'object', (text: string) => Json | undefined>> = {
  number: (text) => (/^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : undefined),
  flag(text) {
    // Python clients write `True` and `False`.
    const lower = text.toLowerCase();
    return lower === 'true' ? true : lower === 'false' ? false : undefined;
  },
  object(text) {
    const value = parsed(text);
    return isObject(value) && depthOf(text) <= DEEPEST ? value : undefined;
  },
};

/** A nesting limit, because the value is parsed and written before the depth of the body is checked. */
const DEEPEST = 1_000;

/** The nesting depth of a JSON text. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const mark = text[i]!;
    if (mark === '"') inString = !inString;
    else if (inString && mark === '\\') i++;
    else if (!inString && (mark === '[' || mark === '{')) deepest = Math.max(deepest, ++depth);
    else if (!inString && (mark === ']' || mark === '}')) depth--;
  }
  return deepest;
}

const WORDS = { number: 'a number', flag: 'true or false', object: 'a JSON object, written as text' };
