/** Audio of the demo vendor in every output format, generated piece by piece while it is sent. */
import { aac } from './aac.ts';
import { flac } from './flac.ts';
import { mp3 } from './mp3.ts';
import { opus } from './opus.ts';
import { pcm, wav } from './samples.ts';
import type { Tune } from './tune.ts';

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
