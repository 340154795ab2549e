/**
 * A body with placeholders for most of the bytes of its large media while it is translated; afterwards the bytes are
 * inserted again.
 */
import { randomBytes } from 'node:crypto';
import type { Outline } from './contracts/json.ts';
import { type Parcel, piecesParcel } from './parcel.ts';

/**
 * A body as text with placeholders for stretches of base64; the lengths of a stretch and its placeholder are equal
 * modulo four.
 */
export function abridge(
  bytes: Buffer,
  stretches: readonly { readonly start: number; readonly end: number }[],
): { readonly text: string; readonly bytesOf: ReadonlyMap<string, Buffer> } {
  const bytesOf = new Map<string, Buffer>();
  let text = '';
  let read = 0;
  for (const { start, end } of stretches) {
    // The first bytes tell a media format.
    const from = start + BEGINNING;
    // Random, so it occurs nowhere else; of base64 characters, so it needs no escapes.
    const name = `turnpikeData${randomBytes(18).toString('hex')}`;
    bytesOf.set(name, bytes.subarray(from, end));
    text += bytes.toString('utf8', read, from) + name;
    read = end;
  }
  return { text: text + bytes.toString('utf8', read), bytesOf };
}

const BEGINNING = 64;

/** JSON with the bytes in place of placeholders. */
export function spliced(text: string, bytesOf: Outline['bytesOf']): Parcel | Buffer {
  if (bytesOf.size === 0) return Buffer.from(text);
  const pieces = text.split(/(turnpikeData[0-9a-f]{36})/).map((piece) => bytesOf.get(piece) ?? Buffer.from(piece));
  return piecesParcel(pieces);
}
