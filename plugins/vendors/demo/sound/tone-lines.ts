/** A tune as codecs of the spectrum hear it: in every frame one line sounds, or none does. */
import { SAMPLES_PER_SECOND } from './samples.ts';
import { soundAt, type Tune } from './tune.ts';

/** What sounds in one frame. */
export interface ToneLine {
  /** Counted from the lowest. */
  readonly line: number;
  /** From 0 to 1. */
  readonly loudness: number;
  /** 1: upside down. */
  readonly sign: 0 | 1;
}

/** A tone goes on from frame to frame where its signs do: those of a wave seen at every quarter. */
const SIGNS = { even: [0, 1, 1, 0], odd: [0, 0, 1, 1] } as const;

/** Frame by frame, for a codec whose frames hold so many samples, and as many lines. */
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
