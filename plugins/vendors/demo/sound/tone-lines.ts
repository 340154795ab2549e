/** A tune as spectral lines: in every frame, one line is active, or none. */
import { SAMPLES_PER_SECOND } from './samples.ts';
import { soundAt, type Tune } from './tune.ts';

/** The content of one frame. */
export interface ToneLine {
  /** Counted from the lowest frequency. */
  readonly line: number;
  /** From 0 to 1. */
  readonly loudness: number;
  /** 1: negative. */
  readonly sign: 0 | 1;
}

/** The signs of a line in consecutive frames for a continuous tone: those of a wave sampled at every quarter. */
const SIGNS = { even: [0, 1, 1, 0], odd: [0, 0, 1, 1] } as const;

/** The frames for a codec with this many samples, and lines, per frame. */
export function* toneLines(tune: Tune, samples: number): Generator<ToneLine> {
  const sound = soundAt(tune);
  const hertzPerLine = SAMPLES_PER_SECOND / 2 / samples;
  const frames = Math.ceil((tune.seconds * SAMPLES_PER_SECOND) / samples);
  for (let i = 0; i < frames; i++) {
    const { hertz, loudness } = sound(((i + 0.5) * samples) / SAMPLES_PER_SECOND);
    const line = Math.max(0, Math.round(hertz / hertzPerLine - 0.5));
    yield { line, loudness, sign: SIGNS[line % 2 === 0 ? 'even' : 'odd'][i % 4]! };
  }
}
