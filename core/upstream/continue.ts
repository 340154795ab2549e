/** Removes unexpected `100 Continue` answers, which every client must accept (RFC 9110, 15.2); undici fails on them. */
import type { Socket } from 'node:net';

/** Maximum length of an interim answer. */
const MAX_BYTES = 16 * 1_024;
const STATUS = Buffer.from('HTTP/1.1 100');
const HEAD_END = Buffer.from('\r\n\r\n');

/** Filters such answers from the data of a socket. */
export interface ContinueFilter {
  /** A request is being sent: the head of its answer comes next. */
  expectHead(): void;
}

/** Installs a filter for `socket.read`. */
export function skipContinue(socket: Socket): ContinueFilter {
  const read = socket.read.bind(socket);
  let atHead = true;
  /** The start of what may be such an answer. */
  let held: Buffer = NOTHING;

  /** The rest of `bytes` for the reader; undefined if more bytes are needed to decide. */
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

/** Whether the bytes are a prefix of such an answer. */
function beginsLike(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, STATUS.length);
  return length > 0 && bytes.compare(STATUS, 0, length, 0, length) === 0;
}
