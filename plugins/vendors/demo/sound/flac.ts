/** Encodes FLAC with verbatim subframes: uncompressed samples, which the format allows. */
import { createBitWriter, cyclicSum } from './bits.ts';
import { countSamples, SAMPLES_PER_SECOND, samplesOf } from './samples.ts';
import type { Tune } from './tune.ts';

const BLOCK = 4_096;
const INFO = 34;
const LAST_BLOCK_OF_HEAD = 0x80;
/** The codes of 24,000 Hz and 16 bits. */
const RATE_CODE = 7;
const DEPTH_CODE = 4;
/** The code for a block size of 16 bits at the end of the frame header. */
const COUNT_FOLLOWS = 7;
const AS_IT_IS = 0x02;

const sum8 = cyclicSum(8, 0x07);
const sum16 = cyclicSum(16, 0x8005);

/** The file header, then block by block. */
export function* flac(tune: Tune): Generator<Buffer> {
  const info = createBitWriter();
  info.put(BLOCK, 16);
  info.put(BLOCK, 16);
  // The minimum and maximum frame sizes are unknown.
  info.put(0, 24);
  info.put(0, 24);
  info.put(SAMPLES_PER_SECOND, 20);
  info.put(0, 3);
  info.put(15, 5);
  info.put(0, 4);
  info.put(countSamples(tune), 32);
  yield Buffer.concat([Buffer.from('fLaC'), Buffer.from([LAST_BLOCK_OF_HEAD, 0, 0, INFO]), info.bytes(INFO)]);
  let number = 0;
  for (const samples of samplesOf(tune, BLOCK)) yield frameOf(samples, number++);
}

function frameOf(samples: Int16Array, number: number): Buffer {
  const head = createBitWriter();
  head.put(0xfff8, 16);
  head.put(COUNT_FOLLOWS, 4);
  head.put(RATE_CODE, 4);
  head.put(0, 4);
  head.put(DEPTH_CODE, 3);
  head.put(0, 1);
  // Encoded as UTF-8 encodes characters.
  for (const byte of Buffer.from(String.fromCodePoint(number))) head.put(byte, 8);
  head.put(samples.length - 1, 16);
  const start = head.bytes();
  const body = Buffer.alloc(samples.length * 2);
  for (const [i, sample] of samples.entries()) body.writeInt16BE(sample, i * 2);
  const frame = Buffer.concat([start, Buffer.from([sum8(start), AS_IT_IS]), body]);
  const sum = Buffer.alloc(2);
  sum.writeUInt16BE(sum16(frame));
  return Buffer.concat([frame, sum]);
}
