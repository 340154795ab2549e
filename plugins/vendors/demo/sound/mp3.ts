/** Encodes MP3: in every frame, one spectral line is active, or none. */
import { createBitWriter } from './bits.ts';
import { type ToneLine, toneLines } from './tone-lines.ts';
import type { Tune } from './tune.ts';

/** MPEG-2 Layer III, no checksum; 32 kbit/s, 24,000 Hz, one channel. */
const HEAD = Buffer.from([0xff, 0xf3, 0x44, 0xc0]);
const FRAME = 96;
const SAMPLES = 576;
const SIDE = 9;
/**
 * The Huffman table for pairs of 0 and 1: the code for two zeros, and those for a one in the first and the second place
 * with their lengths.
 */
const TABLE = 1;
const NEITHER = { value: 1, bits: 1 };
const ONE = [
  { value: 1, bits: 2 },
  { value: 1, bits: 3 },
];
/** A gain step is a quarter of a factor of two. */
const LOUDEST = 200;

/** Encodes the tune frame by frame. */
export function* mp3(tune: Tune): Generator<Buffer> {
  for (const tone of toneLines(tune, SAMPLES)) yield frameOf(tone);
}

function frameOf({ line, loudness, sign }: ToneLine): Buffer {
  const isSilent = loudness < 0.01;
  const pairs = isSilent ? 0 : Math.floor(line / 2) + 1;
  const main = createBitWriter();
  for (let pair = 0; pair < pairs - 1; pair++) main.put(NEITHER.value, NEITHER.bits);
  if (!isSilent) {
    const { value, bits } = ONE[line % 2]!;
    main.put(value, bits);
    main.put(sign, 1);
  }
  const side = createBitWriter();
  // No frame uses the bit reservoir.
  side.put(0, 9);
  side.put(main.length, 12);
  side.put(pairs, 9);
  side.put(isSilent ? 0 : LOUDEST + Math.round(4 * Math.log2(loudness)), 8);
  side.put(0, 9);
  side.put(0, 1);
  for (let region = 0; region < 3; region++) side.put(TABLE, 5);
  side.put(0, 7);
  side.put(0, 2);
  return Buffer.concat([HEAD, side.bytes(SIDE), main.bytes(FRAME - HEAD.length - SIDE)]);
}
