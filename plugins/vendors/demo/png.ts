/** Generates images: a mosaic whose colours and pattern are derived from a text, encoded as PNG. */
import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

/** Width and height in pixels. */
export interface Edges {
  readonly width: number;
  readonly height: number;
}

/** The number of colours, for four bits per pixel. */
const COLOURS = 16;

/** The same image for the same text. `cells`: tiles in each direction; with fewer, the image is a coarser version of the same one. */
export function mosaic(text: string, { width, height }: Edges, cells: number): Buffer {
  const hash = createHash('sha256').update(text).digest();
  const rows: Buffer[] = [];
  for (let cell = 0; cell < cells; cell++) {
    const row = rowOf(hash, width, cell, cells);
    const [from, to] = [Math.floor((cell * height) / cells), Math.floor(((cell + 1) * height) / cells)];
    for (let y = from; y < to; y++) rows.push(row);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Four bits per pixel: an index into the palette.
  header.writeUInt8(4, 8);
  header.writeUInt8(3, 9);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', paletteOf(hash)),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The size of a PNG; undefined if the bytes are not a PNG. */
export function sizeOfPng(bytes: Buffer): Edges | undefined {
  if (bytes.length < 24 || !bytes.subarray(0, 8).equals(SIGNATURE)) return undefined;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/** One row of pixels, two per byte, after the filter byte for "none". */
function rowOf(hash: Buffer, width: number, cellY: number, cells: number): Buffer {
  const row = Buffer.alloc(1 + Math.ceil(width / 2));
  for (let x = 0; x < width; x++) {
    const colour = colourAt(hash, Math.floor((x * cells) / width), cellY, cells);
    row[1 + (x >> 1)]! |= x % 2 === 0 ? colour << 4 : colour;
  }
  return row;
}

/** A gradient from corner to corner, with darker and lighter tiles, symmetric. */
function colourAt(hash: Buffer, x: number, y: number, cells: number): number {
  const side = Math.min(x, cells - 1 - x);
  const along = (x + y) / Math.max(1, 2 * (cells - 1));
  const stone = hash[(side * 7 + y * 13) % hash.length]! % 5;
  return Math.max(0, Math.min(COLOURS - 1, Math.round(along * (COLOURS - 5)) + stone));
}

/** A gradient between two colours that are derived from the text. */
function paletteOf(hash: Buffer): Buffer {
  const [from, to] = [hash.subarray(0, 3), hash.subarray(3, 6)];
  const palette = Buffer.alloc(COLOURS * 3);
  for (let i = 0; i < palette.length; i++) {
    const share = Math.floor(i / 3) / (COLOURS - 1);
    palette[i] = Math.round(from[i % 3]! * (1 - share) + to[i % 3]! * share);
  }
  return palette;
}
