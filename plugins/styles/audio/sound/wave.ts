/** WAV: the `fmt` chunk has the bytes per second, the `data` chunk the samples. */
import type { Walk } from './walker.ts';

const FILE_HEAD = 12;
const CHUNK_HEAD = 8;
const FORMAT = CHUNK_HEAD + 16;
/** Encoders that stream do not know the length yet and write 0 or the maximum. */
const UNKNOWN = 0x7fff_0000;

/** The maximum bytes per second by sample rate, channels and depth, as players compute it. Compressed audio has no sample depth. */
function bareRate(bytes: Buffer, at: number): number {
  const [channels, hertz, depth] = [
    bytes.readUInt16LE(at + 2),
    bytes.readUInt32LE(at + 4),
    bytes.readUInt16LE(at + 14),
  ];
  return depth === 0 ? Number.POSITIVE_INFINITY : channels * hertz * Math.ceil(depth / 8);
}

/** Counts the bytes of audio received, not the declared length. */
export function walkWave(): Walk {
  let bytesPerSecond = 0;
  let soundAt: number | undefined;
  let promised = 0;
  return {
    least: CHUNK_HEAD,
    look(bytes, at, place) {
      if (place === 0) return FILE_HEAD;
      const name = bytes.toString('latin1', at, at + 4);
      const size = bytes.readUInt32LE(at + 4);
      if (name === 'fmt ') {
        if (bytes.length - at < FORMAT) return -FORMAT;
        bytesPerSecond = Math.min(bytes.readUInt32LE(at + 16), bareRate(bytes, at + CHUNK_HEAD));
      } else if (name === 'data' && soundAt === undefined) {
        soundAt = place + CHUNK_HEAD;
        promised = size === 0 || size >= UNKNOWN ? Number.POSITIVE_INFINITY : size;
        return CHUNK_HEAD + promised;
      }
      return CHUNK_HEAD + size + (size % 2);
    },
    seconds(passed) {
      if (soundAt === undefined || bytesPerSecond === 0) return undefined;
      return Math.min(promised, Math.max(0, passed - soundAt)) / bytesPerSecond;
    },
  };
}
