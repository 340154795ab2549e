/** Uncompressed audio: samples, with or without a WAV header. */
import { soundAt, type Tune } from './tune.ts';

/** One channel of 16 bits. */
export const SAMPLES_PER_SECOND = 24_000;
const BYTES_PER_SAMPLE = 2;
/** Samples per piece: a tenth of a second. */
const PIECE = SAMPLES_PER_SECOND / 10;
/** The volume, relative to the maximum. */
const VOLUME = 0.25 * 32_767;

/** The number of samples. */
export function countSamples(tune: Tune): number {
  return Math.ceil(tune.seconds * SAMPLES_PER_SECOND);
}

/** Generates the samples on demand, this many at a time. */
export function* samplesOf(tune: Tune, atATime: number): Generator<Int16Array> {
  const sound = soundAt(tune);
  const count = countSamples(tune);
  let phase = 0;
  for (let from = 0; from < count; from += atATime) {
    const piece = new Int16Array(Math.min(atATime, count - from));
    for (let i = 0; i < piece.length; i++) {
      const { hertz, loudness } = sound((from + i) / SAMPLES_PER_SECOND);
      phase += (2 * Math.PI * hertz) / SAMPLES_PER_SECOND;
      piece[i] = Math.round(VOLUME * loudness * (0.8 * Math.sin(phase) + 0.2 * Math.sin(2 * phase)));
    }
    yield piece;
  }
}

/** Without a header. */
export function* pcm(tune: Tune): Generator<Buffer> {
  for (const piece of samplesOf(tune, PIECE)) {
    const bytes = Buffer.alloc(piece.length * BYTES_PER_SAMPLE);
    for (const [i, sample] of piece.entries()) bytes.writeInt16LE(sample, i * BYTES_PER_SAMPLE);
    yield bytes;
  }
}

const HEAD = 44;

/** With a WAV header. */
export function* wav(tune: Tune): Generator<Buffer> {
  const length = countSamples(tune) * BYTES_PER_SAMPLE;
  const head = Buffer.alloc(HEAD);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(HEAD - 8 + length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(SAMPLES_PER_SECOND, 24);
  head.writeUInt32LE(SAMPLES_PER_SECOND * BYTES_PER_SAMPLE, 28);
  head.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  head.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(length, 40);
  yield head;
  yield* pcm(tune);
}
