/** Audio of the demo vendor in every output format, generated piece by piece while it is sent. */
import { aac } from './aac.ts';
import { createBitWriter } from './bits.ts';
import { flac } from './flac.ts';
import { opus } from './opus.ts';
import { pcm, wav } from './samples.ts';
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
function* mp3(tune: Tune): Generator<Buffer> {
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

export { tuneOf } from './tune.ts';

interface Format {
  readonly type: string;
  write(tune: Tune): Iterable<Buffer>;
}

/** Keyed by `response_format`. */
export const FORMATS: Readonly<Record<string, Format>> = {
  mp3: { type: 'audio/mpeg', write: mp3 },
  opus: { type: 'audio/opus', write: opus },
  aac: { type: 'audio/aac', write: aac },
  flac: { type: 'audio/flac', write: flac },
  wav: { type: 'audio/wav', write: wav },
  pcm: { type: 'audio/pcm', write: pcm },
};
