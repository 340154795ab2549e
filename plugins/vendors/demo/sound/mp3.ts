/** MP3 by hand: in every frame one line of the spectrum sounds, or none does. */
import { createBitWriter } from './bits.ts';
import { type ToneLine, toneLines } from './tone-lines.ts';
import type { Tune } from './tune.ts';

/** MPEG 2, layer III, no checksum; 32 kilobits and 24,000 samples a second; one channel. */
const HEAD = Buffer.from([0xff, 0xf3, 0x44, 0xc0]);
const FRAME = 96;
const SAMPLES = 576;
const SIDE = 9;
/** The table for pairs of 0 and 1. The word for two zeros; those for a one in the first place and in the second, and their bits. */
const TABLE = 1;
const NEITHER = { value: 1, bits: 1 };
const ONE = [
  { value: 1, bits: 2 },
  { value: 1, bits: 3 },
];
/** A step is a quarter of a doubling. */
const LOUDEST = 200;

/** Frame by frame. */
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
  // Nothing of this frame stands in an earlier one.
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
