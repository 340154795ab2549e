/** WebM, as browsers record it: blocks of audio with timestamps. */
import type { Walk } from './walker.ts';

/** The ids of the elements that are read. */
const SEGMENT = 0x18538067;
const INFO = 0x1549a966;
const TIME_UNIT = 0x2ad7b1;
const CLUSTER = 0x1f43b675;
const CLUSTER_TIME = 0xe7;
const SIMPLE_BLOCK = 0xa3;
const BLOCK_GROUP = 0xa0;
const BLOCK = 0xa1;
/** Container elements whose content is parsed, too. */
const OPENED = new Set([SEGMENT, INFO, CLUSTER, BLOCK_GROUP]);

/** Default length of a time unit: milliseconds. */
const MILLISECOND = 1_000_000;
/** The maximum length of a block, in seconds; a larger gap between timestamps is silence. */
const LONGEST_BLOCK = 0.2;

/** Reads the timestamps of blocks. The duration in the header is ignored, because recorders write the header before they know it. */
export function walkWebm(): Walk {
  let unit = MILLISECOND;
  let clusterTime = 0;
  /** The timestamp of the latest block, in time units. */
  let latest: number | undefined;
  /** The difference between the last two timestamps. */
  let between = 0;
  /** The seconds of recordings that came before in the same file. */
  let before = 0;
  const soFar = (): number => {
    if (latest === undefined) return 0;
    const second = 1_000_000_000 / unit;
    return Math.max(0, latest / second) + Math.min(between / second, LONGEST_BLOCK);
  };
  return {
    least: 16,
    look(bytes, at) {
      const id = numberAt(bytes, at, 4, true);
      const size = id && numberAt(bytes, at + id.length, 8, false);
      if (id === undefined || size === undefined) return 0;
      const head = id.length + size.length;
      if (id.value === SEGMENT && latest !== undefined) {
        before += soFar();
        [clusterTime, latest, between] = [0, undefined, 0];
      }
      // Streaming encoders write elements of unknown size.
      if (OPENED.has(id.value) || size.isOpen) return head;
      if (size.value <= 8 && (id.value === TIME_UNIT || id.value === CLUSTER_TIME)) {
        if (bytes.length - at < head + size.value) return -(head + size.value);
        const value = size.value === 0 ? 0 : wholeAt(bytes, at + head, size.value);
        if (id.value === TIME_UNIT) unit = value;
        else clusterTime = value;
      } else if (id.value === SIMPLE_BLOCK || id.value === BLOCK) {
        const track = numberAt(bytes, at + head, 8, false)?.length ?? 1;
        if (bytes.length - at < head + track + 2) return -(head + track + 2);
        const time = clusterTime + bytes.readInt16BE(at + head + track);
        if (latest === undefined || time > latest) {
          between = latest === undefined ? 0 : time - latest;
          latest = time;
        }
      }
      return head + size.value;
    },
    seconds() {
      const seconds = before + soFar();
      return seconds > 0 || latest !== undefined ? seconds : undefined;
    },
  };
}

/** A variable-length integer; its leading bits give its length. Ids include these bits, sizes do not. */
interface Sized {
  readonly value: number;
  readonly length: number;
  /** All bits set: unknown size. */
  readonly isOpen: boolean;
}

function numberAt(bytes: Buffer, at: number, most: number, isId: boolean): Sized | undefined {
  const first = bytes[at] ?? 0;
  const length = Math.clz32(first) - 23;
  if (length > most || at + length > bytes.length) return undefined;
  const marker = 1 << (8 - length);
  let value = isId ? first : first - marker;
  let isOpen = first === 2 * marker - 1;
  for (let i = 1; i < length; i++) {
    const byte = bytes[at + i]!;
    value = value * 256 + byte;
    isOpen &&= byte === 0xff;
  }
  return { value, length, isOpen: isOpen && !isId };
}

function wholeAt(bytes: Buffer, at: number, length: number): number {
  let value = 0;
  for (let i = 0; i < length; i++) value = value * 256 + bytes[at + i]!;
  return value;
}
