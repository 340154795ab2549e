/** Concatenates audio that arrives in pieces of base64, each with its own padding. */

/** Three bytes are four characters; a remainder waits for the next piece. */
export function createSamples() {
  let waiting = Buffer.alloc(0);
  return {
    /** The base64 of the complete bytes, without padding. */
    add(base64: string): string {
      const bytes = Buffer.concat([waiting, Buffer.from(base64, 'base64')]);
      const complete = bytes.length - (bytes.length % 3);
      waiting = bytes.subarray(complete);
      return bytes.toString('base64', 0, complete);
    },
    /** The last piece. */
    rest: (): string => waiting.toString('base64'),
  };
}

/** One audio stream. */
export type Samples = ReturnType<typeof createSamples>;
