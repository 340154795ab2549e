/** WebM, as browsers record it: blocks of sound that each say when they begin. */
import type { Walk } from './walker.ts';

/** The elements that matter, by their ids. */
const SEGMENT = 0x18538067;
const INFO = 0x1549a966;
const TIME_UNIT = 0x2ad7b1;
const CLUSTER = 0x1f43b675;
const CLUSTER_TIME = 0xe7;
const SIMPLE_BLOCK = 0xa3;
const BLOCK_GROUP = 0xa0;
const BLOCK = 0xa1;
/** They are entered: what they hold is looked at, too. */
const OPENED = new Set([SEGMENT, INFO, CLUSTER, BLOCK_GROUP]);

/** Of a time unit; nearly everybody writes milliseconds. */
const MILLISECOND = 1_000_000;
/** No block is longer, in seconds; two beginnings that are further apart have silence between them. */
const LONGEST_BLOCK = 0.2;

/** Reads when blocks begin. What recorders write at the front is not known to them while they record, and not read. */
export function walkWebm(): Walk {
  let unit = MILLISECOND;
  let clusterTime = 0;
  /** Of the latest block, in units. */
  let latest: number | undefined;
  /** Between the beginnings of the latest and the one before it. */
  let between = 0;
  return {
    least: 16,
    look(bytes, at) {
      const id = numberAt(bytes, at, 4, true);
      const size = id && numberAt(bytes, at + id.length, 8, false);
      if (id === undefined || size === undefined) return 0;
      const head = id.length + size.length;
      // Who does not know how long an element will be leaves it open.
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
      if (latest === undefined) return undefined;
      const second = 1_000_000_000 / unit;
      return Math.max(0, latest / second) + Math.min(between / second, LONGEST_BLOCK);
    },
  };
}

/** A number that says by its first bits how many bytes it has; ids are written with those bits, sizes without. */
interface Sized {
  readonly value: number;
  readonly length: number;
  /** All bits are set: it is not known. */
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
