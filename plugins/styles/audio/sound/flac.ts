/** FLAC: each frame has its number of samples and its sample rate, but not its length in bytes. */
import type { Walk } from './walker.ts';

const FILE_MARK = 4;
const BLOCK_HEAD = 4;
const LAST_BLOCK = 0x80;
/** The STREAMINFO block, and the offset of the sample rate in it. */
const DESCRIPTION = 0;
const RATE_AT = BLOCK_HEAD + 10;
/** Bytes needed of STREAMINFO and of a frame: the longest frame header. */
const LOOK = 18;
/** In units of eight bits: the maximum. */
const LONGEST_NUMBER = 7;

/** Sample rates in Hz by their code. Codes not listed here: the rate follows the frame number, or is in STREAMINFO. */
const HERTZ = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000] as const;
const INVALID = 15;

interface Frame {
  readonly headLength: number;
  readonly samples: number;
  /** 0: the rate of STREAMINFO. */
  readonly hertz: number;
}

/** Finds frames one after the other and adds up their samples: the total in STREAMINFO may be missing or wrong. */
export function walkFlac(): Walk {
  /** All frames of a file start with the same bytes, which the first frame defines. */
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

/** Parses the frame at this offset. The header ends with a CRC, so false matches are very rare. */
function frameAt(bytes: Buffer, at: number): Frame | undefined {
  if (bytes[at] !== 0xff || (bytes[at + 1]! & 0xfe) !== 0xf8) return undefined;
  const sizeCode = bytes[at + 2]! >> 4;
  const rateCode = bytes[at + 2]! & 15;
  if (sizeCode === 0 || rateCode === INVALID || (bytes[at + 3]! & 1) !== 0) return undefined;
  // The frame number is encoded as UTF-8 encodes characters.
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

/** CRC-8 over the polynomial x^8 + x^2 + x + 1. */
function sumOf(bytes: Buffer, start: number, end: number): number {
  let sum = 0;
  for (let at = start; at < end; at++) {
    sum ^= bytes[at]!;
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x80 ? ((sum << 1) ^ 0x07) & 0xff : sum << 1;
  }
  return sum;
}
