/** Ogg: each page has the number of its last sample (granule position). */
import type { Walk } from './walker.ts';

const MARK = Buffer.from('OggS');
const PAGE_HEAD = 27;
/** The first packet of a stream; it names the codec and the sample rate. */
const IDENTITY = 48;
const IDENTITY_LEAST = 30;
const FIRST_PAGE = 2;
/** Granule position of a page in which no packet ends. */
const NO_SAMPLE = 0xffff_ffff_ffff_ffffn;

/**
 * An audio stream. If several streams follow each other, each counts from its own start; of streams that begin together, the longest counts.
 */
interface Stream {
  readonly hertz: number;
  /** Samples to skip at the start. */
  readonly early: number;
  /** The latest sample, in seconds. */
  last: number;
}

const MAX_STREAMS = 64;

/** Reads the granule positions of audio streams. */
export function walkOgg(): Walk {
  /** By serial number. */
  let together = new Map<number, Stream>();
  let before = 0;
  const longest = (): number => Math.max(0, ...[...together.values()].map(({ last }) => last));
  return {
    least: PAGE_HEAD,
    mark: MARK,
    look(bytes, at) {
      if (!bytes.subarray(at, at + MARK.length).equals(MARK)) return 0;
      const segments = bytes[at + 26]!;
      const isFirst = (bytes[at + 5]! & FIRST_PAGE) !== 0;
      if (bytes.length - at < PAGE_HEAD + segments) return -(PAGE_HEAD + segments);
      let length = 0;
      for (let i = 0; i < segments; i++) length += bytes[at + PAGE_HEAD + i]!;
      const serial = bytes.readUInt32LE(at + 14);
      if (isFirst) {
        const needed = PAGE_HEAD + segments + Math.min(length, IDENTITY);
        if (bytes.length - at < needed) return -needed;
        const stream = streamOf(bytes.subarray(at + PAGE_HEAD + segments, at + needed));
        if (stream !== undefined) {
          if (longest() > 0 || together.size === MAX_STREAMS) {
            before += longest();
            together = new Map();
          }
          together.set(serial, stream);
        }
      }
      const sample = bytes.readBigUInt64LE(at + 6);
      const stream = together.get(serial);
      if (stream !== undefined && sample !== NO_SAMPLE) {
        stream.last = Math.max(stream.last, (Number(sample) - stream.early) / stream.hertz);
      }
      return PAGE_HEAD + segments + length;
    },
    seconds: () => (together.size === 0 ? undefined : before + longest()),
  };
}

/** The audio stream that starts with this packet; undefined if it is not audio. */
function streamOf(packet: Buffer): Stream | undefined {
  const name = packet.toString('latin1', 0, 8);
  if (packet.length >= 12 && name === 'OpusHead') {
    return { hertz: 48_000, early: packet.readUInt16LE(10), last: 0 };
  }
  if (packet.length < IDENTITY_LEAST) return undefined;
  const hertz = hertzIn(packet, name);
  return hertz > 0 ? { hertz, early: 0, last: 0 } : undefined;
}

/** Samples per second; 0 if it is not audio. */
function hertzIn(packet: Buffer, name: string): number {
  if (name.startsWith('\x01vorbis')) return packet.readUInt32LE(12);
  if (name.startsWith('\x7fFLAC')) return packet.readUIntBE(27, 3) >> 4;
  return name === 'Speex   ' && packet.length >= 40 ? packet.readUInt32LE(36) : 0;
}
