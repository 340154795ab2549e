/** A file that is held in memory: what was fetched, or stood in a data URL. */
import type { Upload } from '../../../core/plugin.ts';

/** Makes one. */
export function heldFile(about: Pick<Upload, 'field' | 'fileName' | 'mediaType'>, bytes: Buffer): Upload {
  return {
    ...about,
    size: bytes.length,
    async *read() {
      yield bytes;
    },
  };
}
