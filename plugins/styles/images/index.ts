/** The styles `images` and `edits`: images that are drawn, and images that are changed. Both are answered alike. */
import { type Clock, errorObject, type Style } from '../../../core/plugin.ts';
import { createFormReader } from '../multipart/index.ts';
import { edits, generations } from './about.ts';
import { readAnswer } from './answer.ts';
import { asText, editFor, measureEdit, patchEdit, readEdit } from './edits.ts';
import { finisher } from './finish.ts';
import { MOST_PICTURES } from './pictures.ts';
import { readRequest } from './request.ts';
import { createRelay, errorEvent, eventsOf } from './stream.ts';
import { withValues } from './typed-form.ts';
import { changesFor } from './wording.ts';

export { variationsRoute } from './variations.ts';

/** A picture's address may come in its place. */
const PICTURE_FILES = {
  image: { max: MOST_PICTURES, orText: true },
  mask: { max: 1, orText: true },
  markup: { max: 1, orText: true },
};

/** `POST /v1/images/generations` and `POST /v1/images/edits`. */
export function imageStyles(clock: Clock): readonly Style[] {
  const answered = {
    answer: readAnswer,
    finish: finisher(clock),
    relay: createRelay,
    error: (error) => errorObject(error),
    errorEvent,
    keepAlive: ': keep-alive\n\n',
    // A picture as large as screens are, in base64.
    maxEventBytes: 32 * 1_024 * 1_024,
    texts: ['prompt', 'negative_prompt', 'input', 'parameters', 'user'],
  } satisfies Partial<Style>;
  return [
    {
      ...answered,
      name: 'images',
      path: '/v1/images/generations',
      about: generations,
      form: withValues(createFormReader({ only: false, files: {} })),
      read: (body) => readRequest(body, { inputBytes: body.textBytes, media: body.media }),
      patch: (body, to) => asText(changesFor(body, to)),
      streamed: eventsOf('image_generation'),
    },
    {
      ...answered,
      name: 'edits',
      path: '/v1/images/edits',
      about: edits,
      form: withValues(createFormReader({ only: false, files: PICTURE_FILES, repeats: ['image'] })),
      read: (body, _headers, files) => readEdit(body, files),
      measure: measureEdit,
      patch: patchEdit,
      outgoing: editFor,
      streamed: eventsOf('image_edit'),
    },
  ];
}
