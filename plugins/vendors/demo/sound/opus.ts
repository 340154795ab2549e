/** Encodes Opus in Ogg: silence as long as the tune, because this file has no Opus encoder. */
import { cyclicSum } from './bits.ts';
import type { Tune } from './tune.ts';

/** Opus always counts at 48,000 Hz. */
const HERTZ = 48_000;
const PACKET_SAMPLES = 960;
/** Twenty milliseconds of silence. */
const PACKET = Buffer.from([0xf8, 0xff, 0xfe]);
/** One second per page. */
const PACKETS_PER_PAGE = HERTZ / PACKET_SAMPLES;
/** Samples that a decoder skips at the start. */
const EARLY = 312;
const SERIAL = 1;
const FIRST = 2;
const LAST = 4;

const sum32 = cyclicSum(32, 0x04c11db7);

/** Encodes page by page. */
export function* opus({ seconds }: Tune): Generator<Buffer> {
  const samples = Math.ceil(seconds * HERTZ) + EARLY;
  const packets = Math.ceil(samples / PACKET_SAMPLES);
  let number = 0;
  yield pageOf([identity()], 0, FIRST, number++);
  yield pageOf([comment()], 0, 0, number++);
  for (let from = 0; from < packets; from += PACKETS_PER_PAGE) {
    const count = Math.min(PACKETS_PER_PAGE, packets - from);
    const isLast = from + count === packets;
    // The granule position of the last page ends the audio, even inside a packet.
    const upTo = isLast ? samples : (from + count) * PACKET_SAMPLES;
    yield pageOf(
      Array.from({ length: count }, () => PACKET),
      upTo,
      isLast ? LAST : 0,
      number++,
    );
  }
}

function identity(): Buffer {
  const head = Buffer.alloc(19);
  head.write('OpusHead', 0, 'latin1');
  head.writeUInt8(1, 8);
  head.writeUInt8(1, 9);
  head.writeUInt16LE(EARLY, 10);
  head.writeUInt32LE(HERTZ, 12);
  return head;
}

function comment(): Buffer {
  const maker = Buffer.from('demo');
  const length = Buffer.alloc(4);
  length.writeUInt32LE(maker.length);
  return Buffer.concat([Buffer.from('OpusTags'), length, maker, Buffer.alloc(4)]);
}

/** No packet here has more than 254 bytes. */
function pageOf(packets: readonly Buffer[], upTo: number, flags: number, number: number): Buffer {
  const head = Buffer.alloc(27);
  head.write('OggS', 0, 'latin1');
  head.writeUInt8(flags, 5);
  head.writeBigUInt64LE(BigInt(upTo), 6);
  head.writeUInt32LE(SERIAL, 14);
  head.writeUInt32LE(number, 18);
  head.writeUInt8(packets.length, 26);
  const page = Buffer.concat([head, Buffer.from(packets.map(({ length }) => length)), ...packets]);
  // The CRC is computed with zeros in its place.
  page.writeUInt32LE(sum32(page), 22);
  return page;
}
