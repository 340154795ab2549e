/** MPEG audio (including MP3) and AAC in ADTS: each frame has its length in bytes and its duration. */
import type { Walk } from './walker.ts';

/** Bit rates in kbit/s by their four-bit code; the first and the last code are reserved. */
const BIT_RATES = {
  first: [
    [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  ],
  second: [
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  ],
} as const;
const MPEG_HERTZ = [44_100, 48_000, 32_000];
const AAC_HERTZ = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];

/** A frame: its length with its header, and its duration. */
interface Frame {
  readonly length: number;
  readonly seconds: number;
}

const SYNC = Buffer.from([0xff]);
const TAG_HEAD = 10;
/** The length of a tag at the end of a file (ID3v1), and of the head of an APE tag. More audio may follow either. */
const OLD_TAG = 128;
const APE_HEAD = 32;

/** Counts frames. A frame that is not followed by another one is ignored: any bytes can look like a frame header by chance. */
export function walkMpeg(): Walk {
  let seconds = 0;
  /** The last frame, not yet confirmed by the next one. */
  let last = 0;
  let isOther = false;
  return {
    least: 7,
    mark: SYNC,
    look(bytes, at) {
      const frame = frameAt(bytes, at);
      if (frame !== undefined) {
        seconds += last;
        last = frame.seconds;
        return frame.length;
      }
      const name = bytes[at] === SYNC[0] ? '' : bytes.toString('latin1', at, at + 4);
      if (name.startsWith('ID3')) {
        return bytes.length - at < TAG_HEAD ? -TAG_HEAD : tagLength(bytes, at);
      }
      // Audio of another format may follow the same kind of tag.
      isOther ||= name === 'fLaC' && seconds + last === 0;
      if (isOther) return Number.POSITIVE_INFINITY;
      if (name.startsWith('TAG')) return OLD_TAG;
      if (name === 'APET') return APE_HEAD;
      last = 0;
      return 0;
    },
    seconds: () => (isOther ? undefined : seconds + last),
  };
}

/** True if the bytes can be the start of this format. */
export function beginsMpeg(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 3) === 'ID3' || frameAt(bytes, 0) !== undefined;
}

function frameAt(bytes: Buffer, at: number): Frame | undefined {
  const second = bytes[at + 1]!;
  if (bytes[at] !== 0xff || second < 0xe0) return undefined;
  return (second & 0x06) === 0 ? aacFrame(bytes, at) : mpegFrame(bytes, at);
}

function mpegFrame(bytes: Buffer, at: number): Frame | undefined {
  const [second, third] = [bytes[at + 1]!, bytes[at + 2]!];
  /** 0: version 2.5; 1: none; 2: version 2; 3: version 1. */
  const version = (second >> 3) & 3;
  const layer = 4 - ((second >> 1) & 3);
  const rates = BIT_RATES[version === 3 ? 'first' : 'second'][layer - 1];
  const kilobits = rates?.[third >> 4] ?? 0;
  const usual = MPEG_HERTZ[(third >> 2) & 3];
  if (version === 1 || kilobits === 0 || usual === undefined) return undefined;
  const hertz = usual >> (version === 3 ? 0 : version === 2 ? 1 : 2);
  const padding = (third >> 1) & 1;
  if (layer === 1) {
    return { length: (Math.floor((12_000 * kilobits) / hertz) + padding) * 4, seconds: 384 / hertz };
  }
  const samples = layer === 3 && version !== 3 ? 576 : 1_152;
  return { length: Math.floor((samples * 125 * kilobits) / hertz) + padding, seconds: samples / hertz };
}

/** Parses an AAC frame header (ADTS). */
function aacFrame(bytes: Buffer, at: number): Frame | undefined {
  if ((bytes[at + 1]! & 0xf0) !== 0xf0) return undefined;
  const hertz = AAC_HERTZ[(bytes[at + 2]! >> 2) & 15];
  const length = ((bytes[at + 3]! & 3) << 11) | (bytes[at + 4]! << 3) | (bytes[at + 5]! >> 5);
  if (hertz === undefined || length < 7) return undefined;
  return { length, seconds: (1_024 * ((bytes[at + 6]! & 3) + 1)) / hertz };
}

/** The length of an ID3 tag (titles and pictures before the audio); its size has seven bits per byte. */
function tagLength(bytes: Buffer, at: number): number {
  let length = 0;
  for (let i = 6; i < TAG_HEAD; i++) length = length * 128 + (bytes[at + i]! & 0x7f);
  const hasFooter = (bytes[at + 5]! & 0x10) !== 0;
  return TAG_HEAD + length + (hasFooter ? TAG_HEAD : 0);
}
