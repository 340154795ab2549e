/** A file in memory: one that was fetched, or that came as a data URL. */
import type { Upload } from '../../../core/plugin.ts';

/** Creates one. */
export function heldFile(about: Pick<Upload, 'field' | 'fileName' | 'mediaType'>, bytes: Buffer): Upload {
  return {
    ...about,
    size: bytes.length,
    async *read() {
      yield bytes;
    },
  };
}
