/** MP4, including M4A: boxes with the duration of each track or, for fragmented recordings, of each fragment. */
import type { Walk } from './walker.ts';

/** Container boxes whose content is parsed, too. */
const OPENED = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'mvex', 'moof', 'traf']);
const BOX_HEAD = 8;
const LARGE_BOX_HEAD = 16;
/** Bytes needed of the boxes that are read. */
const READ: Readonly<Record<string, number>> = { tkhd: 36, mdhd: 44, trex: 24, tfhd: 32, trun: 16, stts: 8 };
/** Boxes that are read as a whole: the samples of a fragment, and those of a track. */
const WHOLE = new Set(['trun', 'stts']);
/** Maximum samples of a fragment; recorders do not write more. */
const MAX_RUN = 256 * 1_024;
const MAX_TRACKS = 64;

/** Flags of a track fragment header (tfhd). */
const HAS_OFFSET = 0x01;
const HAS_DESCRIPTION = 0x02;
const HAS_DURATION = 0x08;
/** Flags of a track run (trun), for the run and for each sample. */
const HAS_DATA_OFFSET = 0x01;
const HAS_FIRST_FLAGS = 0x04;
const EACH_DURATION = 0x100;
const EACH_OTHERS = [0x200, 0x400, 0x800];

interface Track {
  /** Time units per second. */
  perSecond: number;
  /** In seconds, from the header or the table of samples, whichever is more. */
  declared: number;
  /** Default duration of a sample, in time units. */
  usual: number;
  /** The sum of all fragments so far, in time units. */
  run: number;
}

/** Reads the headers of tracks and fragments; the longest track counts. */
export function walkMp4(): Walk {
  const tracks = new Map<number, Track>();
  /** The current track, and the default sample duration of the current fragment. */
  let current: Track | undefined;
  let usual = 0;

  function trackOf(id: number): Track {
    const existing = tracks.get(id);
    const track = existing ?? { perSecond: 0, declared: 0, usual: 0, run: 0 };
    if (existing === undefined && tracks.size < MAX_TRACKS) tracks.set(id, track);
    return track;
  }

  /** Reads a box whose content starts with version and flags. */
  function read(name: string, box: Buffer): void {
    const isLong = box[0] === 1;
    const flags = box.readUIntBE(1, 3);
    switch (name) {
      case 'tkhd':
        current = trackOf(box.readUInt32BE(isLong ? 20 : 12));
        return;
      case 'mdhd':
        if (current === undefined) return;
        current.perSecond = box.readUInt32BE(isLong ? 20 : 12);
        current.declared = Math.max(current.declared, secondsOf(declaredDuration(box, isLong), current));
        return;
      case 'stts':
        if (current !== undefined) current.declared = Math.max(current.declared, secondsOf(samplesIn(box), current));
        return;
      case 'trex':
        trackOf(box.readUInt32BE(4)).usual = box.readUInt32BE(12);
        return;
      case 'tfhd': {
        current = trackOf(box.readUInt32BE(4));
        const at = 8 + (flags & HAS_OFFSET ? 8 : 0) + (flags & HAS_DESCRIPTION ? 4 : 0);
        usual = flags & HAS_DURATION ? box.readUInt32BE(at) : current.usual;
        return;
      }
      default:
        if (current !== undefined) current.run += runOf(box, flags, usual);
    }
  }

  return {
    least: BOX_HEAD,
    look(bytes, at) {
      const name = bytes.toString('latin1', at + 4, at + 8);
      let size = bytes.readUInt32BE(at);
      let head = BOX_HEAD;
      if (size === 1) {
        if (bytes.length - at < LARGE_BOX_HEAD) return -LARGE_BOX_HEAD;
        size = Number(bytes.readBigUInt64BE(at + 8));
        head = LARGE_BOX_HEAD;
      }
      if (size === 0) return Number.POSITIVE_INFINITY;
      if (size < head) return 0;
      if (OPENED.has(name)) return head;
      const least = READ[name];
      if (least === undefined || (WHOLE.has(name) && size > MAX_RUN)) return size;
      const needed = head + Math.max(least, WHOLE.has(name) ? size - head : 0);
      if (bytes.length - at < needed) return -needed;
      read(name, bytes.subarray(at + head, at + needed));
      return size;
    },
    seconds() {
      const lengths = [...tracks.values()].map((track) => Math.max(track.declared, secondsOf(track.run, track)));
      const longest = Math.max(0, ...lengths);
      return longest > 0 ? longest : undefined;
    },
  };
}

function secondsOf(units: number, { perSecond }: Track): number {
  return perSecond === 0 ? 0 : units / perSecond;
}

/** In time units; all bits are set if it is unknown. */
function declaredDuration(box: Buffer, isLong: boolean): number {
  const declared = isLong ? Number(box.readBigUInt64BE(24)) : box.readUInt32BE(16);
  return declared >= (isLong ? 2 ** 63 : 0xffff_ffff) ? 0 : declared;
}

/** The duration of the samples of a track, in time units: how many of them have each duration. */
function samplesIn(box: Buffer): number {
  const count = box.readUInt32BE(4);
  let units = 0;
  for (let i = 0, at = 8; i < count && at + 8 <= box.length; i++, at += 8) {
    units += box.readUInt32BE(at) * box.readUInt32BE(at + 4);
  }
  return units;
}

/** The duration of the samples of a run, in time units. */
function runOf(box: Buffer, flags: number, usual: number): number {
  const count = box.readUInt32BE(4);
  if (!(flags & EACH_DURATION)) return count * usual;
  const start = 8 + (flags & HAS_DATA_OFFSET ? 4 : 0) + (flags & HAS_FIRST_FLAGS ? 4 : 0);
  const each = 4 + EACH_OTHERS.filter((bit) => flags & bit).length * 4;
  let units = 0;
  for (let i = 0, at = start; i < count && at + each <= box.length; i++, at += each) units += box.readUInt32BE(at);
  return units;
}
