/** Measures the duration of audio while it is forwarded. The first bytes decide the format; the declared format is ignored. */
import { walkFlac } from './flac.ts';
import { walkMp4 } from './mp4.ts';
import { beginsMpeg, walkMpeg } from './mpeg.ts';
import { walkOgg } from './ogg.ts';
import { createWalker, type Walk, type Walker } from './walker.ts';
import { walkWave } from './wave.ts';
import { walkWebm } from './webm.ts';

/** Gets the audio chunk by chunk and keeps none of it. */
export interface SoundMeter {
  see(chunk: Buffer): void;
  /** The duration so far; undefined if it is unknown. */
  seconds(): number | undefined;
  /** True once it is certain that the duration cannot be measured. */
  isLost(): boolean;
}

/** Bytes that are enough to recognize every format. */
const BEGINNING = 12;
const EBML = 0x1a45dfa3;
const BOXES = ['ftyp', 'styp', 'moov', 'mdat', 'free', 'skip', 'wide'];

/** `bare`: bytes per second of audio without a header (pcm). */
export function createSoundMeter(bare?: number): SoundMeter {
  let beginning: Buffer | undefined = Buffer.alloc(0);
  let walk: Walk | undefined;
  let walker: Walker | undefined;
  let passed = 0;
  return {
    see(chunk) {
      passed += chunk.length;
      if (beginning === undefined) {
        walker?.see(chunk);
        return;
      }
      beginning = Buffer.concat([beginning, chunk]);
      if (beginning.length < BEGINNING) return;
      walk = walkOf(beginning, bare !== undefined);
      walker = walk && createWalker(walk);
      walker?.see(beginning);
      beginning = undefined;
    },
    seconds() {
      if (walker?.isLost()) return undefined;
      return walk === undefined && bare !== undefined ? passed / bare : walk?.seconds(passed);
    },
    isLost() {
      return beginning === undefined && (walker === undefined ? bare === undefined : walker.isLost());
    },
  };
}

function walkOf(beginning: Buffer, isBare: boolean): Walk | undefined {
  const name = beginning.toString('latin1', 0, 4);
  if (name === 'RIFF' || name === 'RF64') return walkWave();
  // Samples without a header can be any bytes.
  if (isBare) return undefined;
  if (name === 'OggS') return walkOgg();
  if (name === 'fLaC') return walkFlac();
  if (beginning.readUInt32BE(0) === EBML) return walkWebm();
  if (BOXES.includes(beginning.toString('latin1', 4, 8))) return walkMp4();
  return beginsMpeg(beginning) ? walkMpeg() : undefined;
}
