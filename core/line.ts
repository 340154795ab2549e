/** The requests of one connection: served in the order of their arrival, and a limited number at a time. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The state of one connection. */
export interface Line {
  /** Pending answers, in order. */
  readonly owed: ServerResponse[];
  /** Starts waiting requests when fewer are served. */
  readonly waiting: (() => void)[];
  /** The client's address, once determined. */
  address: string | undefined;
}

/** Maximum concurrent requests of one connection; further ones wait, and the connection is not read. */
const MAX_PIPELINED = 20;

/** A property of the connection: every request needs it, and a WeakMap lookup is much slower. */
const LINE = Symbol('line');
/** What the close of an answer is told to. */
const OBSERVER = Symbol('observer');
type Bearer = Duplex & { [LINE]?: Line };
type Owed = ServerResponse & { [OBSERVER]?: CloseObserver | undefined };

/** Is told that an answer, or its connection, has closed. */
export interface CloseObserver {
  closed(): void;
}

/** The line of a connection. */
export function lineOf(socket: Bearer): Line {
  const known = socket[LINE];
  if (known !== undefined) return known;
  const line: Line = { owed: [], waiting: [], address: undefined };
  socket[LINE] = line;
  // Node does not tell queued answers that their connection has closed.
  socket.on('close', () => {
    for (const response of [...line.owed]) {
      if (response.socket !== null) continue;
      response.destroy();
      response.emit('close');
    }
  });
  return line;
}

/** Waits in the line of a connection. A promise if too many are before it. */
export function lineUp({ socket }: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
  const { owed, waiting } = lineOf(socket);
  owed.push(response);
  // Its property exists before the answer is observed, so that all answers have one shape.
  (response as Owed)[OBSERVER] = undefined;
  response.on('close', leave);
  if (owed.length <= MAX_PIPELINED) return undefined;
  // Pipelined requests in the same packet are still emitted.
  socket.pause();
  return new Promise((begin) => waiting.push(begin));
}

/** Observes the close of an answer, in line or not. */
export function observeClose(response: Owed, observer: CloseObserver): void {
  if (OBSERVER in response) response[OBSERVER] = observer;
  else response.on('close', () => observer.closed());
}

function leave(this: Owed): void {
  const { socket } = this.req;
  const { owed, waiting } = lineOf(socket);
  owed.splice(owed.indexOf(this), 1);
  const begin = waiting.shift();
  begin?.();
  if (begin !== undefined && waiting.length === 0) socket.resume();
  this[OBSERVER]?.closed();
}
