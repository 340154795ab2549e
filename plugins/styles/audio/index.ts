/** Audio: text to speech, and speech to text. */
export { transcription, translation } from './hearing.ts';
export { speech } from './speech.ts';
