/** OpenAPI schemas of images. */
import type { Schema, StyleAbout } from '../../../core/plugin.ts';
import { EVENTS, integer, integerFrom, model, objectOf, optional, stream, text } from '../described.ts';
import { MAX_IMAGES } from './request.ts';

const members = {
  model,
  prompt: optional(text),
  n: integerFrom(1, MAX_IMAGES),
  size: optional({ description: '1024x1024, 1024*1024 or auto.', ...text }),
  quality: optional(text),
  response_format: optional({ enum: ['url', 'b64_json'] }),
  stream,
  partial_images: integerFrom(0, 3),
  input: optional({
    description: 'The structured form, instead of `prompt`: messages of texts and images.',
    type: 'object',
  }),
  parameters: optional({ description: 'Parameters of the structured form: size, n.', type: 'object' }),
};

const result: Schema = objectOf(
  { created: integer, data: { type: 'array', items: objectOf({ url: text, b64_json: text }) } },
  ['data'],
);

export const generations: StyleAbout = {
  summary: 'Generates images.',
  request: objectOf(members, ['model']),
  answer: result,
  mediaTypes: [EVENTS],
};

const binary = { type: 'string', format: 'binary' };

export const edits: StyleAbout = {
  summary: 'Edits images: files in a multipart body, or URLs in JSON.',
  request: objectOf({ ...members, image: {}, images: {}, mask: {} }, ['model']),
  form: objectOf(
    {
      model,
      prompt: text,
      image: binary,
      'image[]': { type: 'array', items: binary },
      mask: binary,
      n: text,
      size: text,
    },
    ['model'],
  ),
  answer: result,
  mediaTypes: [EVENTS],
};
