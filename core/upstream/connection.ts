/** One upstream connection, with one request at a time. */

import type { Socket } from 'node:net';
import type { BodyStream } from '../bytes/body-stream.ts';
import type { Headers } from '../contracts/definitions.ts';
import { writeWhole } from '../helpers/write-whole.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Write, writes } from '../runtime/stage.ts';
import { AnswerParser, type AnswerSink } from './answer-parser.ts';
import { dial, dialThrough, type Target } from './dial.ts';
import { BODY_FAILED, LISTENER_FAILED, RESET, reasonOf, STOPPED, timeoutReason, wasReset } from './reasons.ts';
import { openTunnel, type Tunnel } from './tunnel.ts';
import type { UpstreamCall, UpstreamListener } from './upstream.ts';

/** Receives idle and closed connections. */
export interface ConnectionOwner {
  readonly clock: Clock;
  /** Its answer is complete, and it may be reused within `keepMs`. False if it is not reused. */
  keep(connection: Connection, keepMs: number): boolean;
  /** It is being closed. */
  drop(connection: Connection): void;
}

/** One running request. */
export class Call implements UpstreamCall, Write {
  sent = false;
  /** Undefined once it has ended. */
  connection: Connection | undefined;
  readonly head: string;
  readonly body: Buffer | BodyStream | undefined;
  readonly listener: UpstreamListener;

  constructor(head: string, body: Buffer | BodyStream | undefined, listener: UpstreamListener) {
    this.head = head;
    this.body = body;
    this.listener = listener;
  }

  flush(): void {
    this.connection?.write(this);
  }

  pause(): void {
    this.connection?.pause();
  }

  resume(): void {
    this.connection?.resume();
  }

  abort(): void {
    this.connection?.abort();
  }
}

/**
 * The read buffer of all connections: its content is consumed before the next one reads. Cheaper than node's own
 * buffers, of which each read allocates one of this size and shrinks it.
 */
const INBOX = Buffer.allocUnsafeSlow(64 * 1_024);

/** A connection and its running request. */
export class Connection implements AnswerSink {
  /** While idle: when to close it, on the monotonic clock. */
  idleUntilMs = 0;
  readonly #owner: ConnectionOwner;
  /** Undefined while a tunnel to the vendor is being opened. */
  #socket: Socket | undefined;
  readonly #tunnel: Tunnel | undefined;
  readonly #parser = new AnswerParser(this);
  readonly #cancelTimeout: () => void;
  #call: Call | undefined;
  #connected = false;
  /** It has received an answer before. */
  #used = false;
  #paused = false;
  /** The body of the running call is streamed, and its last piece has not been written. */
  #pumping = false;
  /** Resolves a body writer that waits for the socket to drain. */
  #drained: (() => void) | undefined;

  /** Starts to connect. */
  constructor(target: Target, connectMs: number, owner: ConnectionOwner) {
    this.#owner = owner;
    const callback = (count: number): boolean => {
      this.#read(count);
      return true;
    };
    const onread = { buffer: INBOX, callback };
    const { proxy, secure } = target;
    this.#cancelTimeout = owner.clock.after(connectMs, () => this.#fail(timeoutReason(proxy)));
    if (proxy === undefined) {
      this.#use(dial(target, onread)).once(secure ? 'secureConnect' : 'connect', () => this.#opened());
      return;
    }
    this.#tunnel = openTunnel(proxy, target, (error, tunnel) => {
      if (tunnel === undefined) {
        this.#fail(reasonOf(error!));
        return;
      }
      const socket = this.#use(dialThrough(tunnel, target, onread));
      if (secure) socket.once('secureConnect', () => this.#opened());
      else this.#opened();
    });
  }

  #use(socket: Socket): Socket {
    this.#socket = socket;
    return socket
      .on('drain', () => this.#drained?.())
      .on('end', () => this.#ended())
      .on('error', (error) => this.#fail(reasonOf(error)))
      .on('close', () => this.#fail(STOPPED));
  }

  /** Sends a request; immediately if connected. Only for an idle connection. */
  begin(call: Call): void {
    call.connection = this;
    this.#call = call;
    if (this.#connected) this.#send(call);
  }

  /** Closes it. Only for an idle connection. */
  discard(): void {
    this.#cancelTimeout();
    void this.#tunnel?.close();
    this.#socket?.destroy();
    this.#owner.drop(this);
  }

  /** Closes it; its running call fails. */
  close(): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined) return this.#tunnel!.close();
    return new Promise((resolve) => {
      if (socket.closed) resolve();
      else socket.once('close', () => resolve()).destroy();
    });
  }

  // ---- methods of the call

  pause(): void {
    this.#paused = true;
    if (this.#connected) this.#socket!.pause();
  }

  resume(): void {
    this.#paused = false;
    if (this.#connected) this.#socket!.resume();
  }

  abort(): void {
    this.#release();
    this.discard();
  }

  // ---- vendor events

  head(status: number, headers: Headers): void {
    this.#call!.listener.head(status, headers);
  }

  data(chunk: Buffer): void {
    this.#call!.listener.data(chunk);
  }

  end(keepMs: number): void {
    // If a vendor answers before it has read everything, the rest of the request is still in transit.
    const complete = !this.#pumping && this.#socket!.writableLength === 0;
    const call = this.#release();
    this.#used = true;
    if (this.#paused) this.resume();
    if (keepMs === 0 || !complete || !this.#owner.keep(this, keepMs)) this.discard();
    call.listener.end();
  }

  // ---- socket events

  #opened(): void {
    this.#cancelTimeout();
    this.#connected = true;
    if (this.#paused) this.#socket!.pause();
    if (this.#call !== undefined) this.#send(this.#call);
  }

  #read(count: number): void {
    // Unexpected data on an idle connection: both sides disagree about the end of the last answer.
    if (this.#call === undefined) {
      this.discard();
      return;
    }
    let fault: string | undefined;
    try {
      fault = this.#parser.push(INBOX, count);
    } catch {
      // A bug in a listener must not end the process.
      fault = LISTENER_FAILED;
    }
    if (fault !== undefined) this.#fail(fault, false);
  }

  #ended(): void {
    if (this.#call === undefined) {
      this.discard();
      return;
    }
    let fault: string | undefined;
    try {
      fault = wasReset(this.#socket!) ? RESET : this.#parser.finish();
    } catch {
      fault = LISTENER_FAILED;
    }
    if (fault !== undefined) this.#fail(fault);
  }

  // ---- the request

  #send(call: Call): void {
    writes.add(call);
  }

  /** Writes the request of a call, unless the call has ended since it was queued. */
  write(call: Call): void {
    if (this.#call !== call) return;
    // What arrives before is no answer to it.
    this.#parser.expect();
    const { head, body } = call;
    const socket = this.#socket!;
    if (body === undefined || Buffer.isBuffer(body)) writeWhole(socket, head, body);
    else {
      socket.write(head, 'latin1');
      this.#pumping = true;
      this.#pump(body, call).catch(() => {
        if (this.#call === call) this.#fail(BODY_FAILED, false);
      });
    }
    // A pooled connection may turn out to be closed while it is written to.
    call.sent = socket.errored === null;
  }

  /** Writes a body as fast as the vendor reads it, until the call ends. */
  async #pump(body: BodyStream, call: Call): Promise<void> {
    let remaining = body.length;
    for await (const piece of body.read()) {
      if (this.#call !== call) return;
      remaining -= piece.length;
      if (remaining < 0) break;
      if (!this.#socket!.write(piece)) {
        await new Promise<void>((resolve) => {
          this.#drained = resolve;
        });
      }
    }
    if (this.#call !== call) return;
    if (remaining !== 0) throw new Error('the body does not have its declared length');
    this.#pumping = false;
  }

  // ---- ends

  /** `retry`: the connection may have been closed before the request arrived. */
  #fail(reason: string, retry = true): void {
    if (this.#call === undefined) {
      this.discard();
      return;
    }
    const { sent } = this.#call;
    const stale = retry && this.#used && !(sent && this.#parser.received);
    const unsent = !sent || this.#pumping;
    const call = this.#release();
    this.discard();
    call.listener.fail(sent ? 'broken' : 'connect', reason, { stale, unsent });
  }

  /** Detaches the call: later events of the connection do not concern it. */
  #release(): Call {
    const call = this.#call!;
    this.#call = undefined;
    call.connection = undefined;
    this.#parser.stop();
    this.#drained?.();
    return call;
  }
}
