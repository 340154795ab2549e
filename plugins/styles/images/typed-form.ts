/** Forms of images and edits: their texts become the values that JSON would have, so that nothing behind has to know the difference. */
import type { FormReader, Json, JsonObject } from '../../../core/plugin.ts';
import { isObject, parsed } from '../../../core/translation/index.ts';
import { wrong } from '../request-fields.ts';

/** What is no text among the fields that clients send. */
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

/** Fields that a form may also bring as files, by the name for several of them. */
const SEVERAL = 'image[]';

/** Reads forms with `reader`. Refuses with 400 and the field's name what cannot be read as the value it has to be. */
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
    // Whoever fills in a form leaves out what is empty.
    else if (text.trim() !== '') values[name] = READERS[kind](text.trim()) ?? wrong(name, `must be ${WORDS[kind]}`);
  }
  if (several !== undefined) values.image = [values.image ?? [], several].flat();
  return values;
}

const READERS: Readonly<Record<'number' | 'flag' | 'object', (text: string) => Json | undefined>> = {
  number: (text) => (/^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : undefined),
  flag(text) {
    // Python writes its own words with a capital.
    const lower = text.toLowerCase();
    return lower === 'true' ? true : lower === 'false' ? false : undefined;
  },
  object(text) {
    const value = parsed(text);
    return isObject(value) && depthOf(text) <= DEEPEST ? value : undefined;
  },
};

/** Deeper than any body may be; what becomes part of one is measured there once more, but has to be written first. */
const DEEPEST = 1_000;

/** How many objects and arrays stand inside each other in a JSON text. */
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
