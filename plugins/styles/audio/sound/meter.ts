/** Tells how long a sound is while it passes, whatever it is said to be: its first bytes say what it is. */
import { walkFlac } from './flac.ts';
import { walkMp4 } from './mp4.ts';
import { beginsMpeg, walkMpeg } from './mpeg.ts';
import { walkOgg } from './ogg.ts';
import { createWalker, type Walk, type Walker } from './walker.ts';
import { walkWave } from './wave.ts';
import { walkWebm } from './webm.ts';

/** Is shown a sound piece by piece, and keeps none of it. */
export interface SoundMeter {
  see(chunk: Buffer): void;
  /** How long it is so far; undefined where that cannot be told. */
  seconds(): number | undefined;
  /** True as soon as it is certain that it cannot be told. */
  isLost(): boolean;
}

/** By so many bytes every kind can be told. */
const BEGINNING = 12;
const EBML = 0x1a45dfa3;
const BOXES = ['ftyp', 'styp', 'moov', 'mdat', 'free', 'skip', 'wide'];

/** `bare`: bytes of a second where the sound has no head at all (pcm). */
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
  // Samples without a head can be any bytes.
  if (isBare) return undefined;
  if (name === 'OggS') return walkOgg();
  if (name === 'fLaC') return walkFlac();
  if (beginning.readUInt32BE(0) === EBML) return walkWebm();
  if (BOXES.includes(beginning.toString('latin1', 4, 8))) return walkMp4();
  return beginsMpeg(beginning) ? walkMpeg() : undefined;
}
