/** Concatenates audio that arrives in pieces of base64, each with its own padding. */

/** One audio stream. */
export interface Samples {
  /** The base64 of the complete bytes, without padding. */
  add(base64: string): string;
  /** The last piece. */
  rest(): string;
}

/** Three bytes are four characters; a remainder waits for the next piece. */
export function createSamples(): Samples {
  let waiting = Buffer.alloc(0);
  return {
    add(base64) {
      const bytes = Buffer.concat([waiting, Buffer.from(base64, 'base64')]);
      const complete = bytes.length - (bytes.length % 3);
      waiting = bytes.subarray(complete);
      return bytes.toString('base64', 0, complete);
    },
    rest: () => waiting.toString('base64'),
  };
}
