/** AAC by hand, as a plain stream (ADTS): in every frame one line of the spectrum sounds, or none does. */
import { type BitWriter, createBitWriter } from './bits.ts';
import { type ToneLine, toneLines } from './tone-lines.ts';
import type { Tune } from './tune.ts';

const SAMPLES = 1_024;
const HEAD = 7;
/** What stands for 24,000 samples a second. */
const RATE_CODE = 6;
/** Where the bands of the spectrum end, as far up as a tune goes. */
const BANDS = [4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 52, 60, 68, 76, 84, 92, 100, 108, 116, 124];
/** The book for four lines at once, of -1, 0 and 1. The word for four zeros is a single 0. */
const BOOK = 1;
/** The words, of five bits, for one line of the four that is 1, or -1. */
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
/** All frames are filled up to this, for players tell the length by the first ones: 32 kilobits a second. */
const FRAME = 171;
/** A step is a quarter of a doubling. */
const LOUDEST = 190;

/** Frame by frame. */
export function* aac(tune: Tune): Generator<Buffer> {
  for (const tone of toneLines(tune, SAMPLES)) yield frameOf(tone);
}

function frameOf({ line, loudness, sign }: ToneLine): Buffer {
  const bands = loudness < 0.01 ? 0 : BANDS.findIndex((end) => line < end) + 1;
  const frame = createBitWriter();
  frame.put(SINGLE_CHANNEL, 3);
  frame.put(0, 4);
  frame.put(bands === 0 ? 0 : LOUDEST + Math.round(4 * Math.log2(loudness)), 8);
  // One long window, of the shape of a sine.
  frame.put(0, 4);
  frame.put(bands, 6);
  frame.put(0, 1);
  if (bands > 0) {
    frame.put(BOOK, 4);
    frame.put(bands, 5);
  }
  // All bands are as loud as the frame.
  frame.put(0, bands);
  // Neither pulses nor shaped noise nor gain control.
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

/** Up to the end of the frame, which is said behind it. */
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
  // MPEG 4, no checksum, the simplest profile.
  head.put(0xfff1, 16);
  head.put(1, 2);
  head.put(RATE_CODE, 4);
  head.put(0, 1);
  // One channel.
  head.put(1, 3);
  head.put(0, 4);
  head.put(FRAME, 13);
  // As full as the decoder likes, and one block.
  head.put(0x7ff, 11);
  head.put(0, 2);
  return head.bytes(HEAD);
}
