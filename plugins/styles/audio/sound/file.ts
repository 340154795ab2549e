/** The duration of an audio file, measured from its frames. Headers are not trusted if frames can be counted. No file makes this throw. */
import type { Upload } from '../../../../core/plugin.ts';
import { createSoundMeter } from './meter.ts';

/** Measured durations by file; released with the file. */
const lengths = new WeakMap<Upload, number>();

/** In seconds; undefined if the file was not measured, or its duration is unknown. */
export function measuredSeconds(file: Upload): number | undefined {
  return lengths.get(file);
}

/** The minimum bytes per second of any audio, silence included: a longer duration is an error in the file and must not be charged. */
const LEAST_BYTES_PER_SECOND = 50;

/** The maximum duration of a file of this size, in seconds. */
export function longestSeconds({ size }: Upload): number {
  return size / LEAST_BYTES_PER_SECOND;
}

/** Reads the file once, as a stream, and stores its duration. */
export async function measureSound(file: Upload): Promise<number | undefined> {
  try {
    const seconds = await counted(file);
    if (seconds === undefined || !(seconds > 0 && seconds <= longestSeconds(file))) return undefined;
    lengths.set(file, seconds);
    return seconds;
  } catch {
    // The vendor decides whether the file is valid audio.
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
