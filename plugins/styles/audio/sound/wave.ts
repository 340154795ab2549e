/** WAV: a chunk that says how much sound a second has, and one that holds the sound. */
import type { Walk } from './walker.ts';

const FILE_HEAD = 12;
const CHUNK_HEAD = 8;
const FORMAT = CHUNK_HEAD + 16;
/** Whoever writes while the sound is made does not know its length, and writes 0 or as much as fits. */
const UNKNOWN = 0x7fff_0000;

/** What a second has at most, by its samples: players go by these. Sound that is packed does not say how deep its samples are. */
function bareRate(bytes: Buffer, at: number): number {
  const [channels, hertz, depth] = [
    bytes.readUInt16LE(at + 2),
    bytes.readUInt32LE(at + 4),
    bytes.readUInt16LE(at + 14),
  ];
  return depth === 0 ? Number.POSITIVE_INFINITY : channels * hertz * Math.ceil(depth / 8);
}

/** Counts the bytes of sound that have come, not those that are promised. */
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
