/** The paths that most vendors have in common. */
import type { Dialect, Vendor } from '../contracts/formats/vendor.ts';

/** By style, below the channel's url. */
const PATHS = {
  chat: '/chat/completions',
  responses: '/responses',
  completions: '/completions',
  embeddings: '/embeddings',
  images: '/images/generations',
  edits: '/images/edits',
  speech: '/audio/speech',
  transcription: '/audio/transcriptions',
  translation: '/audio/translations',
} as const;

/** Dialects of the common styles, each at its usual path. */
export function usualDialects(
  headers: Dialect['headers'],
  ...styles: readonly (keyof typeof PATHS)[]
): Vendor['speaks'] {
  return Object.fromEntries(styles.map((style) => [style, { path: PATHS[style], headers }]));
}
