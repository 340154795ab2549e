/** How long a file's sound is. Nobody's word is taken where it can be counted, and no file can make this fail. */
import type { Upload } from '../../../../core/plugin.ts';
import { createSoundMeter } from './meter.ts';

/** What was found out about files; forgotten with them. */
const lengths = new WeakMap<Upload, number>();

/** In seconds; undefined where nobody has measured the file, or it could not be told. */
export function measuredSeconds(file: Upload): number | undefined {
  return lengths.get(file);
}

/** No sound is thinner, not even silence: times that say so are broken, and nobody should be charged by them. */
const LEAST_BYTES_PER_SECOND = 50;

/** Longer than any sound that a file of this size can hold. */
export function longestSeconds({ size }: Upload): number {
  return size / LEAST_BYTES_PER_SECOND;
}

/** Reads the file once, piece by piece, and remembers how long its sound is. */
export async function measureSound(file: Upload): Promise<number | undefined> {
  try {
    const seconds = await counted(file);
    if (seconds === undefined || !(seconds > 0 && seconds <= longestSeconds(file))) return undefined;
    lengths.set(file, seconds);
    return seconds;
  } catch {
    // Whether it is a sound at all is for the vendor to say.
    return undefined;
  }
}

async function counted(file: Upload): Promise<number | undefined> {
  const meter = createSoundMeter();
  for await (const piece of file.read()) {
    meter.see(piece);
    if (meter.isLost()) break;
  }
  return meter.seconds();
}
