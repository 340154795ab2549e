/** OpenAPI schemas of the audio styles. */
import type { StyleAbout } from '../../../core/plugin.ts';
import { EVENTS, model, objectOf, optional, text } from '../described.ts';
import { FORMATS } from './formats.ts';

export const speech: StyleAbout = {
  summary: 'Converts text to speech.',
  request: objectOf(
    {
      model,
      input: { type: 'string', minLength: 1, maxLength: 4_096 },
      voice: { description: 'A voice name, or an object with its id.', type: ['string', 'object'] },
      response_format: optional({ enum: Object.keys(FORMATS) }),
      speed: optional({ type: 'number', minimum: 0.25, maximum: 4 }),
      instructions: optional(text),
      stream_format: optional({ enum: ['audio', 'sse'] }),
    },
    ['model', 'input', 'voice'],
  ),
  answer: { type: 'object' },
  mediaTypes: ['audio/mpeg', EVENTS],
};

/** Schema of an endpoint that accepts a recording. */
export function transcriptionStyle(summary: string, formats: readonly string[], streams: boolean): StyleAbout {
  return {
    summary,
    form: objectOf(
      {
        file: { type: 'string', format: 'binary' },
        model,
        language: text,
        prompt: text,
        response_format: { enum: formats },
        temperature: { description: 'A number from 0 to 1.', ...text },
        ...(streams && { stream: text }),
      },
      ['file', 'model'],
    ),
    answer: objectOf({ text }, ['text']),
    mediaTypes: ['text/plain', ...(streams ? [EVENTS] : [])],
  };
}
