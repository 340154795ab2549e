/** Sound: texts that are read aloud, and recordings that are written down. */
export { transcription, translation } from './hearing.ts';
export { speech } from './speech.ts';
