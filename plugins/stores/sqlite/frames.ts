/** Frames messages in a byte stream between the writing thread and other processes: the length, then the message in V8's serialization. */
import { deserialize, serialize } from 'node:v8';

const LENGTH_BYTES = 4;

/** Encodes a message. */
export function frame(message: unknown): Buffer {
  const body = serialize(message);
  const framed = Buffer.allocUnsafe(LENGTH_BYTES + body.length);
  framed.writeUInt32LE(body.length);
  framed.set(body, LENGTH_BYTES);
  return framed;
}

/** Decodes the chunks of a stream to complete messages. Throws for invalid data. */
export function readFrames(take: (message: unknown) => void): (piece: Buffer) => void {
  let pieces: Buffer[] = [];
  let size = 0;
  return (piece) => {
    pieces.push(piece);
    size += piece.length;
    // Chunks are joined only when a message is complete: a large message has many.
    while (size >= wanted(pieces)) {
      const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
      const end = LENGTH_BYTES + bytes.readUInt32LE();
      const rest = bytes.subarray(end);
      pieces = rest.length === 0 ? [] : [rest];
      size = rest.length;
      take(deserialize(bytes.subarray(LENGTH_BYTES, end)));
    }
  };
}

/** The length of the first message; one more than the available bytes if its length field is incomplete. */
function wanted(pieces: Buffer[]): number {
  if (pieces.length > 1 && pieces[0]!.length < LENGTH_BYTES) pieces.unshift(Buffer.concat(pieces.splice(0)));
  const [first] = pieces;
  return first === undefined || first.length < LENGTH_BYTES ? Infinity : LENGTH_BYTES + first.readUInt32LE();
}
