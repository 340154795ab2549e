/** The styles `images` (generations) and `edits`. Both have the same replies. */
import type { Clock, Relay, Style } from '../../../core/plugin.ts';
import { createFormReader } from '../multipart/index.ts';
import { edits, generations } from './about.ts';
import { readAnswer } from './answer.ts';
import { asText, editFor, measureEdit, patchEdit, readEdit } from './edits.ts';
import { finisher } from './finish.ts';
import { MAX_INPUT_IMAGES } from './pictures.ts';
import { readRequest } from './request.ts';
import { createRelay, errorEvent, eventsOf } from './stream.ts';
import { withValues } from './typed-form.ts';
import { changesFor } from './wording.ts';

export { variationsRoute } from './variations.ts';

/** A URL may be sent instead of a file. */
const PICTURE_FILES = {
  image: { max: MAX_INPUT_IMAGES, orText: true },
  mask: { max: 1, orText: true },
  markup: { max: 1, orText: true },
};

/** `POST /v1/images/generations` and `POST /v1/images/edits`. */
export function imageStyles(clock: Clock): readonly Style[] {
  const texts = ['prompt', 'negative_prompt', 'input', 'parameters', 'user'];
  const replies = {
    answer: readAnswer,
    finish: finisher(clock),
    stream: createRelay,
    // A large image in base64.
    maxEventBytes: 32 * 1_024 * 1_024,
  } satisfies Relay;
  return [
    {
      name: 'images',
      ingress: {
        path: '/v1/images/generations',
        read: (body) => readRequest(body, { inputBytes: body.textBytes, media: body.media }),
        form: withValues(createFormReader({ only: false, files: {} })),
        texts,
        about: generations,
      },
      relay: {
        ...replies,
        patch: (body, to) => asText(changesFor(body, to)),
        streamed: eventsOf('image_generation'),
      },
      errors: { event: errorEvent },
    },
    {
      name: 'edits',
      ingress: {
        path: '/v1/images/edits',
        read: (body, _request, files) => readEdit(body, files),
        form: withValues(createFormReader({ only: false, files: PICTURE_FILES, repeats: ['image'] })),
        measure: measureEdit,
        texts,
        about: edits,
      },
      relay: { ...replies, patch: patchEdit, outgoing: editFor, streamed: eventsOf('image_edit') },
      errors: { event: errorEvent },
    },
  ];
}
