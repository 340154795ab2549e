/** Sound that comes in pieces of base64, each with padding of its own, as pieces that can be put behind each other. */

/** One sound. */
export interface Samples {
  /** Base64 without padding of what is complete by now. */
  add(base64: string): string;
  /** The end. */
  rest(): string;
}

/** Three bytes are four letters; what is fewer waits for the next piece. */
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
