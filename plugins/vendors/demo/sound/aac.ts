/** Encodes AAC (ADTS): in every frame, one spectral line is active, or none. */
import { type BitWriter, createBitWriter } from './bits.ts';
import { type ToneLine, toneLines } from './tone-lines.ts';
import type { Tune } from './tune.ts';

const SAMPLES = 1_024;
const HEAD = 7;
/** The code of a sample rate of 24,000 Hz. */
const RATE_CODE = 6;
/** The ends of the scale factor bands, as far as a tune needs them. */
const BANDS = [4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 52, 60, 68, 76, 84, 92, 100, 108, 116, 124];
/** The Huffman codebook for four lines of -1, 0 and 1. The code for four zeros is a single 0. */
const BOOK = 1;
/** The five-bit codes for one of the four lines being 1, or -1. */
const ONE = [
  [0x10, 0x11],
  [0x13, 0x17],
  [0x16, 0x15],
  [0x14, 0x12],
] as const;
const WORD = 5;
const SINGLE_CHANNEL = 0;
const FILLING = 6;
const END = 7;
/** All frames are padded to this length, because players estimate the duration from the first ones: 32 kbit/s. */
const FRAME = 171;
/** A scale factor step is a quarter of a factor of two. */
const LOUDEST = 190;

/** Encodes the tune frame by frame. */
export function* aac(tune: Tune): Generator<Buffer> {
  for (const tone of toneLines(tune, SAMPLES)) yield frameOf(tone);
}

function frameOf({ line, loudness, sign }: ToneLine): Buffer {
  const bands = loudness < 0.01 ? 0 : BANDS.findIndex((end) => line < end) + 1;
  const frame = createBitWriter();
  frame.put(SINGLE_CHANNEL, 3);
  frame.put(0, 4);
  frame.put(bands === 0 ? 0 : LOUDEST + Math.round(4 * Math.log2(loudness)), 8);
  // One long window with a sine shape.
  frame.put(0, 4);
  frame.put(bands, 6);
  frame.put(0, 1);
  if (bands > 0) {
    frame.put(BOOK, 4);
    frame.put(bands, 5);
  }
  // All bands have the gain of the frame.
  frame.put(0, bands);
  // No pulse data, noise shaping or gain control.
  frame.put(0, 3);
  for (let first = 0; first < (BANDS[bands - 1] ?? 0); first += 4) {
    const place = line - first;
    if (place >= 0 && place < 4) frame.put(ONE[place]![sign], WORD);
    else frame.put(0, 1);
  }
  fill(frame);
  frame.put(END, 3);
  return Buffer.concat([HEADER, frame.bytes(FRAME - HEAD)]);
}

/** Padding up to the end element of the frame. */
function fill(frame: BitWriter): void {
  const head = 3 + 4 + 8;
  const bytes = Math.floor((8 * (FRAME - HEAD) - frame.length - head - 3) / 8);
  frame.put(FILLING, 3);
  frame.put(15, 4);
  frame.put(bytes - 14, 8);
  for (let i = 0; i < bytes; i++) frame.put(0, 8);
}

const HEADER = header();

function header(): Buffer {
  const head = createBitWriter();
  // MPEG-4, no checksum, profile Low Complexity.
  head.put(0xfff1, 16);
  head.put(1, 2);
  head.put(RATE_CODE, 4);
  head.put(0, 1);
  // One channel.
  head.put(1, 3);
  head.put(0, 4);
  head.put(FRAME, 13);
  // Variable bit rate, and one block.
  head.put(0x7ff, 11);
  head.put(0, 2);
  return head.bytes(HEAD);
}
