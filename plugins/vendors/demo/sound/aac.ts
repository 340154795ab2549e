/** AAC (ADTS): silence as long as the tune, because this file has no AAC encoder. */
import { SAMPLES_PER_SECOND } from './samples.ts';
import type { Tune } from './tune.ts';

const SAMPLES = 1_024;
/** A silent frame, padded to 32 kbit/s: players estimate the duration from the first frames. */
const FRAME = Buffer.alloc(171);
Buffer.from('//FYQBV//AAAAAb5', 'base64').copy(FRAME);
FRAME[170] = 0x0e;

/** Encodes frame by frame. */
export function* aac({ seconds }: Tune): Generator<Buffer> {
  for (let left = Math.ceil((seconds * SAMPLES_PER_SECOND) / SAMPLES); left > 0; left--) yield FRAME;
}
