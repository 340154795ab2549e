/** Measures the duration of audio while it is forwarded. The first bytes decide the format; the declared format is ignored. */
import { walkFlac } from './flac.ts';
import { walkMp4 } from './mp4.ts';
import { beginsMpeg, walkMpeg } from './mpeg.ts';
import { walkOgg } from './ogg.ts';
import { createWalker, type Walk, type Walker } from './walker.ts';
import { walkWebm } from './webm.ts';

const FILE_HEAD = 12;
const CHUNK_HEAD = 8;
const FORMAT = CHUNK_HEAD + 16;
/** Encoders that stream do not know the length yet and write 0 or the maximum. */
const UNKNOWN = 0x7fff_0000;

/** The maximum bytes per second by sample rate, channels and depth, as players compute it. Compressed audio has no sample depth. */
function bareRate(bytes: Buffer, at: number): number {
  const [channels, hertz, depth] = [
    bytes.readUInt16LE(at + 2),
    bytes.readUInt32LE(at + 4),
    bytes.readUInt16LE(at + 14),
  ];
  return depth === 0 ? Number.POSITIVE_INFINITY : channels * hertz * Math.ceil(depth / 8);
}

/** Chunks that have chunks inside, and the bytes before the first of them. A file of several recordings repeats the first. */
const OPENED: Readonly<Record<string, number>> = { RIFF: FILE_HEAD, RF64: FILE_HEAD, wavl: FILE_HEAD };

/** Counts the bytes of audio received in all `data` chunks, not the declared length. */
function walkWave(): Walk {
  let bytesPerSecond = 0;
  /** The seconds of recordings at other rates, and the bytes at this rate, in chunks before the current one. */
  let earlier = 0;
  let bytesBefore = 0;
  let soundAt: number | undefined;
  let promised = 0;
  const inChunk = (passed: number): number =>
    soundAt === undefined ? 0 : Math.min(promised, Math.max(0, passed - soundAt));
  const endChunk = (place: number): void => {
    bytesBefore += inChunk(place);
    soundAt = undefined;
  };
  let hasSound = false;
  return {
    least: CHUNK_HEAD,
    look(bytes, at, place) {
      if (place === 0) return FILE_HEAD;
      const name = bytes.toString('latin1', at, at + 4);
      const size = bytes.readUInt32LE(at + 4);
      if (name === 'fmt ') {
        if (bytes.length - at < FORMAT) return -FORMAT;
        endChunk(place);
        if (bytesPerSecond > 0) {
          earlier += bytesBefore / bytesPerSecond;
          bytesBefore = 0;
        }
        bytesPerSecond = Math.min(bytes.readUInt32LE(at + 16), bareRate(bytes, at + CHUNK_HEAD));
      } else if (name === 'data') {
        endChunk(place);
        hasSound = true;
        soundAt = place + CHUNK_HEAD;
        promised = size === 0 || size >= UNKNOWN ? Number.POSITIVE_INFINITY : size;
        return CHUNK_HEAD + promised + (promised % 2 === 1 ? 1 : 0);
      }
      const isList = name === 'LIST';
      if (isList && bytes.length - at < FILE_HEAD) return -FILE_HEAD;
      const opened = OPENED[isList ? bytes.toString('latin1', at + CHUNK_HEAD, at + FILE_HEAD) : name];
      return opened ?? CHUNK_HEAD + size + (size % 2);
    },
    seconds(passed) {
      if (!hasSound || bytesPerSecond === 0) return undefined;
      return earlier + (bytesBefore + inChunk(passed)) / bytesPerSecond;
    },
  };
}

/** Bytes that are enough to recognize every format. */
const BEGINNING = 12;
const EBML = 0x1a45dfa3;
const BOXES = ['ftyp', 'styp', 'moov', 'mdat', 'free', 'skip', 'wide'];

/** `bare`: bytes per second of audio without a header (pcm). */
export function createSoundMeter(bare?: number) {
  let beginning: Buffer | undefined = Buffer.alloc(0);
  let walk: Walk | undefined;
  let walker: Walker | undefined;
  let passed = 0;
  return {
    see(chunk: Buffer): void {
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
    /** The duration so far; undefined if it is unknown. */
    seconds(): number | undefined {
      if (walker?.isLost()) return undefined;
      return walk === undefined && bare !== undefined ? passed / bare : walk?.seconds(passed);
    },
    /** True once it is certain that the duration cannot be measured. */
    isLost: (): boolean => beginning === undefined && (walker === undefined ? bare === undefined : walker.isLost()),
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
