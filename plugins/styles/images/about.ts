/** Images, described. */
import type { Schema, StyleAbout } from '../../../core/plugin.ts';
import { EVENTS, integer, model, objectOf, optional, stream, text, wholeFrom } from '../described.ts';
import { MOST_IMAGES } from './request.ts';

const asked = {
  model,
  prompt: optional(text),
  n: wholeFrom(1, MOST_IMAGES),
  size: optional({ description: '1024x1024, 1024*1024 or auto.', ...text }),
  quality: optional(text),
  response_format: optional({ enum: ['url', 'b64_json'] }),
  stream,
  partial_images: wholeFrom(0, 3),
  input: optional({
    description: 'The structured form, instead of `prompt`: messages of texts and images.',
    type: 'object',
  }),
  parameters: optional({ description: 'What belongs to `input`: size, n.', type: 'object' }),
};

const result: Schema = objectOf(
  { created: integer, data: { type: 'array', items: objectOf({ url: text, b64_json: text }) } },
  ['data'],
);

export const generations: StyleAbout = {
  summary: 'Draws images.',
  request: objectOf(asked, ['model']),
  answer: result,
  mediaTypes: [EVENTS],
};

const binary = { type: 'string', format: 'binary' };

export const edits: StyleAbout = {
  summary: 'Changes images: files in a form, or addresses in JSON.',
  request: objectOf({ ...asked, image: {}, images: {}, mask: {} }, ['model']),
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
