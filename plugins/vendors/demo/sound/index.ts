/** Sound that the demo vendor makes itself, in every format that can be asked for; piece by piece, as it is asked for. */
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

/** By the names that `response_format` has for them. */
export const FORMATS: Readonly<Record<string, Format>> = {
  mp3: { type: 'audio/mpeg', write: mp3 },
  opus: { type: 'audio/opus', write: opus },
  aac: { type: 'audio/aac', write: aac },
  flac: { type: 'audio/flac', write: flac },
  wav: { type: 'audio/wav', write: wav },
  pcm: { type: 'audio/pcm', write: pcm },
};
