/** Messages on a stream of bytes, between the writing thread and other processes: each is its length, and then itself as V8 writes it. */
import { deserialize, serialize } from 'node:v8';

const LENGTH_BYTES = 4;

/** A message as it goes out. */
export function frame(message: unknown): Buffer {
  const body = serialize(message);
  const framed = Buffer.allocUnsafe(LENGTH_BYTES + body.length);
  framed.writeUInt32LE(body.length);
  framed.set(body, LENGTH_BYTES);
  return framed;
}

/** Takes the pieces of a stream, and gives the messages in it, each when it is complete. Throws for what is no message. */
export function readFrames(take: (message: unknown) => void): (piece: Buffer) => void {
  let pieces: Buffer[] = [];
  let size = 0;
  return (piece) => {
    pieces.push(piece);
    size += piece.length;
    // Joined only if a message is complete: a large one comes in many pieces.
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

/** How many bytes the first message takes; the length of one more than there are where its length is not complete. */
function wanted(pieces: Buffer[]): number {
  if (pieces.length > 1 && pieces[0]!.length < LENGTH_BYTES) pieces.unshift(Buffer.concat(pieces.splice(0)));
  const [first] = pieces;
  return first === undefined || first.length < LENGTH_BYTES ? Infinity : LENGTH_BYTES + first.readUInt32LE();
}
