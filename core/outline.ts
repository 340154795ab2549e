/** A body without most of the bytes of its large media: names stand for them while it is translated, and they take their places again. */
import { randomBytes } from 'node:crypto';
import type { Outline } from './contracts/json.ts';
import { type Parcel, piecesParcel } from './parcel.ts';

/** A body as text, in which names stand for stretches of letters; their number of characters leaves the same rest by four. */
export function abridge(
  bytes: Buffer,
  stretches: readonly { readonly start: number; readonly end: number }[],
): { readonly text: string; readonly bytesOf: ReadonlyMap<string, Buffer> } {
  const bytesOf = new Map<string, Buffer>();
  let text = '';
  let read = 0;
  for (const { start, end } of stretches) {
    // What a format begins with says which one it is.
    const from = start + BEGINNING;
    // Nobody can have foreseen it, so it stands nowhere else; it is letters, too, and needs no escapes.
    const name = `turnpikeData${randomBytes(18).toString('hex')}`;
    bytesOf.set(name, bytes.subarray(from, end));
    text += bytes.toString('utf8', read, from) + name;
    read = end;
  }
  return { text: text + bytes.toString('utf8', read), bytesOf };
}

const BEGINNING = 64;

/** JSON with the bytes where names stand for them. */
export function spliced(text: string, bytesOf: Outline['bytesOf']): Parcel | Buffer {
  if (bytesOf.size === 0) return Buffer.from(text);
  const pieces = text.split(/(turnpikeData[0-9a-f]{36})/).map((piece) => bytesOf.get(piece) ?? Buffer.from(piece));
  return piecesParcel(pieces);
}
