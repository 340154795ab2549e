/** FLAC: frames that each say how many samples they have, and at which rate. How long they are in bytes they do not say. */
import type { Walk } from './walker.ts';

const FILE_MARK = 4;
const BLOCK_HEAD = 4;
const LAST_BLOCK = 0x80;
/** The block that describes the sound, and where in it the rate stands. */
const DESCRIPTION = 0;
const RATE_AT = BLOCK_HEAD + 10;
/** So much is needed of that block, and of a frame: the longest head. */
const LOOK = 18;
/** In units of eight bits; none has more. */
const LONGEST_NUMBER = 7;

/** Hertz by the bits that name them; what is not here stands behind the head's number, or in front of all frames. */
const HERTZ = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000] as const;
const INVALID = 15;

interface Frame {
  readonly headLength: number;
  readonly samples: number;
  /** 0 where it is that of the whole sound. */
  readonly hertz: number;
}

/** Searches for frames, one after the other, and counts their samples: what stands in front of them may be left open, or lie. */
export function walkFlac(): Walk {
  /** All frames of a sound begin alike; its first one says how. */
  const mark = Buffer.from([0xff, 0xf8]);
  let inFrames = false;
  let hertz = 0;
  let seconds = 0;
  return {
    least: LOOK,
    mark,
    look(bytes, at, place) {
      if (place === 0) return FILE_MARK;
      if (!inFrames) {
        const length = BLOCK_HEAD + bytes.readUIntBE(at + 1, 3);
        if ((bytes[at]! & 0x7f) === DESCRIPTION) hertz = bytes.readUIntBE(at + RATE_AT, 3) >> 4;
        inFrames = (bytes[at]! & LAST_BLOCK) !== 0;
        return length;
      }
      const frame = frameAt(bytes, at);
      if (frame === undefined) return 0;
      mark[1] = bytes[at + 1]!;
      const rate = frame.hertz || hertz;
      if (rate > 0) seconds += frame.samples / rate;
      return frame.headLength;
    },
    seconds: () => (seconds > 0 ? seconds : undefined),
  };
}

/** The frame that begins there; its head ends with a sum, so that hardly anything else is taken for one. */
function frameAt(bytes: Buffer, at: number): Frame | undefined {
  if (bytes[at] !== 0xff || (bytes[at + 1]! & 0xfe) !== 0xf8) return undefined;
  const sizeCode = bytes[at + 2]! >> 4;
  const rateCode = bytes[at + 2]! & 15;
  if (sizeCode === 0 || rateCode === INVALID || (bytes[at + 3]! & 1) !== 0) return undefined;
  // Its number is written as UTF-8 writes characters.
  const first = bytes[at + 4]!;
  const ones = Math.clz32(~(first << 24));
  if (ones > LONGEST_NUMBER) return undefined;
  const sizeAt = at + 4 + Math.max(1, ones);
  const sizeBytes = sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  const rateAt = sizeAt + sizeBytes;
  const rateBytes = rateCode < 12 ? 0 : rateCode === 12 ? 1 : 2;
  const end = rateAt + rateBytes;
  if (sumOf(bytes, at, end) !== bytes[end]) return undefined;
  const samples = sizeBytes > 0 ? bytes.readUIntBE(sizeAt, sizeBytes) + 1 : samplesOf(sizeCode);
  return { headLength: end + 1 - at, samples, hertz: HERTZ[rateCode] ?? hertzBehind(bytes, rateAt, rateCode) };
}

function samplesOf(code: number): number {
  if (code === 1) return 192;
  return code < 6 ? 576 << (code - 2) : 256 << (code - 8);
}

function hertzBehind(bytes: Buffer, at: number, code: number): number {
  if (code === 12) return bytes[at]! * 1_000;
  return bytes.readUInt16BE(at) * (code === 13 ? 1 : 10);
}

/** The cyclic sum of eight bits over the polynomial x^8 + x^2 + x + 1. */
function sumOf(bytes: Buffer, start: number, end: number): number {
  let sum = 0;
  for (let at = start; at < end; at++) {
    sum ^= bytes[at]!;
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x80 ? ((sum << 1) ^ 0x07) & 0xff : sum << 1;
  }
  return sum;
}
