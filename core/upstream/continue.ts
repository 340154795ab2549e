/** `100 Continue` that nobody asked for: every client must accept it (RFC 9110, 15.2), and undici takes it for the end of the connection. */
import type { Socket } from 'node:net';

/** Longer than this no interim answer is. */
const MAX_BYTES = 16 * 1_024;
const STATUS = Buffer.from('HTTP/1.1 100');
const HEAD_END = Buffer.from('\r\n\r\n');

/** Keeps such answers from whoever reads a socket. */
export interface ContinueFilter {
  /** A request is sent: what comes next is the head of its answer. */
  expectHead(): void;
}

/** Puts a filter in front of `socket.read`. */
export function skipContinue(socket: Socket): ContinueFilter {
  const read = socket.read.bind(socket);
  let atHead = true;
  /** The beginning of what may be such an answer. */
  let held: Buffer = NOTHING;

  /** What is left of `bytes` for the reader; undefined where it takes more of them to know. */
  function filtered(bytes: Buffer): Buffer | undefined {
    let rest = bytes;
    while (beginsLike(rest)) {
      const end = rest.indexOf(HEAD_END);
      if (end === -1 && rest.length <= MAX_BYTES) {
        held = rest;
        return undefined;
      }
      if (end === -1) break;
      rest = rest.subarray(end + HEAD_END.length);
    }
    atHead = rest.length === 0;
    held = NOTHING;
    return rest;
  }

  socket.read = (size?: number) => {
    for (;;) {
      const chunk = read(size) as Buffer | null;
      if (chunk === null || !atHead) return chunk;
      const rest = filtered(held.length === 0 ? chunk : Buffer.concat([held, chunk]));
      if (rest !== undefined && rest.length > 0) return rest;
    }
  };
  return {
    expectHead() {
      atHead = true;
    },
  };
}

const NOTHING = Buffer.alloc(0);

/** Whether it is the beginning of such an answer, as far as it goes. */
function beginsLike(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, STATUS.length);
  return length > 0 && bytes.compare(STATUS, 0, length, 0, length) === 0;
}
