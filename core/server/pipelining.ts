/** The requests of one connection: served in the order of their arrival, and a limited number at a time; and the end of idle connections. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { KEEP_ALIVE_S } from '../http/whole-answer.ts';
import type { Clock } from '../runtime/clock.ts';
import { createRoll, type Member, type Roll } from '../runtime/registry.ts';

/** The state of one connection. */
export interface Line extends Member {
  readonly socket: Socket;
  /** Pending answers, in order. */
  readonly owed: ServerResponse[];
  /** Starts waiting requests when fewer are served. */
  readonly waiting: (() => void)[];
  /** The client's address, once determined. */
  address: string | undefined;
  /** When its last answer ended, on the monotonic clock. */
  idleSinceMs: number;
  /** The bytes that it had received when it was first found idle for too long; -1: it was not. A head may be arriving. */
  idleBytes: number;
}

/** Maximum concurrent requests of one connection; further ones wait, and the connection is not read. */
const MAX_PIPELINED = 20;
/** How often idle connections are looked at. */
const SWEEP_MS = 5_000;

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

/** The connections of a server that have had a request. */
export class Lines {
  readonly #clock: Clock;
  readonly #all: Roll<Line> = createRoll();
  readonly #stop: () => void;

  /** Closes idle ones until `stop`: node would set a timer with each answer, and clear it with the next request. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#stop = clock.every(SWEEP_MS, () => {
      const latest = clock.mono() - KEEP_ALIVE_S * 1_000;
      for (const line of this.#all) {
        if (line.owed.length > 0 || line.idleSinceMs > latest) continue;
        const { bytesRead } = line.socket;
        if (line.idleBytes === bytesRead) line.socket.destroy();
        line.idleBytes = bytesRead;
      }
    });
  }

  stop(): void {
    this.#stop();
  }

  /** The line of a connection. */
  of(socket: Bearer): Line {
    const known = socket[LINE];
    if (known !== undefined) return known;
    const line: Line = {
      place: -1,
      socket: socket as Socket,
      owed: [],
      waiting: [],
      address: undefined,
      idleSinceMs: this.#clock.mono(),
      idleBytes: -1,
    };
    socket[LINE] = line;
    this.#all.add(line);
    socket.on('close', () => {
      this.#all.delete(line);
      // Node does not tell queued answers that their connection has closed.
      for (const response of [...line.owed]) {
        if (response.socket !== null) continue;
        response.destroy();
        response.emit('close');
      }
    });
    return line;
  }

  /** Leaves a connection that becomes something else than HTTP to those who use it: it is never idle. */
  release(socket: Bearer): void {
    this.#all.delete(this.of(socket));
  }

  /** Waits in the line of a connection. A promise if too many are before it. */
  up({ socket }: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
    const { owed, waiting } = this.of(socket);
    owed.push(response);
    // Exists before the answer is observed, so that all answers have one shape.
    (response as Owed)[OBSERVER] = undefined;
    response.on('close', () => this.#leave(response));
    if (owed.length <= MAX_PIPELINED) return undefined;
    // Pipelined requests in the same packet are still emitted.
    socket.pause();
    return new Promise((begin) => waiting.push(begin));
  }

  #leave(response: Owed): void {
    const line = this.of(response.req.socket);
    const { owed, waiting, socket } = line;
    line.idleSinceMs = this.#clock.mono();
    line.idleBytes = -1;
    owed.splice(owed.indexOf(response), 1);
    const begin = waiting.shift();
    begin?.();
    if (begin !== undefined && waiting.length === 0) socket.resume();
    response[OBSERVER]?.closed();
  }
}

/** Observes the close of an answer, in a line or not. */
export function observeClose(response: Owed, observer: CloseObserver): void {
  if (OBSERVER in response) response[OBSERVER] = observer;
  else response.on('close', () => observer.closed());
}
