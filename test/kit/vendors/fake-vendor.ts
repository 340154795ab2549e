/** A vendor that does on the wire whatever a test tells it to, spoken by hand over a bare socket so that it can misbehave. */

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import type { Headers } from '../../../core/contracts/definitions.ts';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import { freePort } from '../../../scripts/free-port.ts';
import { errorAnswer, type Move, type Script, streamAnswer, wholeAnswer } from './script.ts';

/** A script, or how to make one for a request whose body has come. */
export type Answer = Script | ((request: VendorRequest) => Script);

/** A request as it stood on the wire, and what became of its answer. */
export interface VendorRequest {
  readonly method: string;
  /** The target as sent, query included. */
  readonly path: string;
  /** As sent: order, case and repetitions. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  /** By lower-case name; repeated ones joined with a comma. */
  readonly headers: Headers;
  /** What has come of the body so far; without its chunk framing. */
  readonly body: Buffer;
  /** The body as a JSON object; throws where it is none. */
  readonly json: JsonObject;
  /** The body has come to its end. */
  readonly complete: boolean;
  /** On which connection it came, from 1. */
  readonly connection: number;
  /** `played`: every move of the script was made. `aborted`: the gateway left before. */
  readonly state: 'reading' | 'answering' | 'played' | 'aborted';
  /** Bytes of the answer handed to the network, head included. */
  readonly sentBytes: number;
  /** The hold it waits at. */
  readonly holding: string | undefined;
}

/** The vendor's end of a websocket. */
export interface VendorWebSocket {
  on(event: 'message', heard: (data: Buffer, isBinary: boolean) => void): unknown;
  send(data: string | Buffer): void;
  send(data: string | Buffer, options: { readonly binary: boolean }): void;
  close(code?: number, reason?: string): void;
  terminate(): void;
}

/** A running fake vendor. */
export interface FakeVendor {
  readonly port: number;
  /** `http://127.0.0.1:PORT/v1` */
  readonly url: string;
  /** All requests whose head has come, in order. */
  readonly requests: readonly VendorRequest[];
  /** Connections accepted so far. */
  readonly connections: number;
  /** Connections open now. */
  readonly openConnections: number;
  /** Requests between their head and the end of their answer. */
  readonly inFlight: number;
  readonly maxInFlight: number;
  /** What happens to a websocket; echoes until a test says otherwise. */
  onUpgrade: (webSocket: VendorWebSocket, request: VendorRequest) => void;
  /** Queues answers for the next requests, one each. */
  next(...answers: readonly Answer[]): void;
  /** Drops the queued answers for which nobody has asked. */
  forget(): void;
  /** Answers every request that finds the queue empty. Without it: a sensible chat answer, streamed where asked. */
  always(answer: Answer): void;
  /** Lets everybody who waits at `hold(name)` go on, now and later. */
  release(name?: string): void;
  /** Closes the connections on which nothing is going on. */
  dropIdle(): void;
  /** Resolves when so many requests have come with their bodies, or when the condition holds; fails when patience ends. */
  waitFor(condition: number | (() => boolean), patienceMs?: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a vendor on a free port. `answer` is what `always` would be given. */
export async function fakeVendor(answer: Answer = chatAnswer): Promise<FakeVendor> {
  const requests: Kept[] = [];
  const queue: Answer[] = [];
  const holds = new Map<string, Latch>();
  const watchers = new Set<() => void>();
  const sockets = new Map<Socket, { busy: boolean }>();
  const webSockets = new WebSocketServer({ noServer: true });
  let standing = answer;
  let connections = 0;
  let inFlight = 0;
  let maxInFlight = 0;

  const changed = () => {
    for (const watcher of watchers) watcher();
  };
  const holdOf = (name: string) => {
    const known = holds.get(name) ?? latch();
    holds.set(name, known);
    return known;
  };

  async function serve(socket: Socket, connection: number): Promise<void> {
    const inbox = inboxOf(socket);
    const facts = { busy: false };
    const gone = latch();
    sockets.set(socket, facts);
    socket.on('close', () => {
      sockets.delete(socket);
      gone.open();
      changed();
    });
    for (;;) {
      const text = await inbox.until('\r\n\r\n');
      if (text === undefined) return;
      facts.busy = true;
      const request = recordOf(text, connection);
      requests.push(request);
      maxInFlight = Math.max(maxInFlight, ++inFlight);
      changed();
      const asked = queue.shift();
      try {
        if (asked === undefined && request.headers.upgrade === 'websocket') {
          request.complete = true;
          inbox.detach();
          const shell = { method: request.method, url: request.path, headers: request.headers } as IncomingMessage;
          webSockets.handleUpgrade(shell, socket, inbox.rest(), (webSocket) => vendor.onUpgrade(webSocket, request));
          request.state = 'played';
          return;
        }
        const plan = asked ?? standing;
        const early = typeof plan !== 'function' && plan[0]?.kind === 'atHead';
        const uploaded = receive(inbox, request).then(changed);
        if (!early) await uploaded;
        if (!early && !request.complete) {
          request.state = 'aborted';
          return;
        }
        request.state = 'answering';
        const keep = await play(typeof plan === 'function' ? plan(request) : plan, socket, request, gone);
        if (!keep) return;
        await uploaded;
      } finally {
        inFlight--;
        facts.busy = false;
        changed();
      }
    }
  }

  /** Makes the moves of a script; true where the connection may be used again. */
  async function play(script: Script, socket: Socket, request: Kept, gone: Latch): Promise<boolean> {
    for (const [index, move] of script.entries()) {
      // What was written before goes out as a packet of its own, and a reset does not overtake it.
      if (index > 0) await setImmediate();
      if (move.kind === 'hold') request.holding = move.name;
      changed();
      const verdict = await make(move, socket, gone, holdOf);
      request.holding = undefined;
      if (verdict === 'done') {
        if (move.kind === 'bytes') request.sentBytes += move.bytes.length;
        continue;
      }
      request.state = verdict === 'ended' ? 'played' : 'aborted';
      return false;
    }
    request.state = 'played';
    return true;
  }

  const server = createServer((socket) => {
    socket.setNoDelay(true);
    // A peer that tears the connection down is a fact of the record, not an error of the test.
    socket.on('error', () => {});
    void serve(socket, ++connections);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const vendor: FakeVendor = {
    port,
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    get connections() {
      return connections;
    },
    get openConnections() {
      return sockets.size;
    },
    get inFlight() {
      return inFlight;
    },
    get maxInFlight() {
      return maxInFlight;
    },
    onUpgrade(webSocket) {
      webSocket.on('message', (data, isBinary) => webSocket.send(data, { binary: isBinary }));
    },
    next(...answers) {
      queue.push(...answers);
    },
    forget() {
      queue.length = 0;
    },
    always(next) {
      standing = next;
    },
    release(name = 'hold') {
      holdOf(name).open();
    },
    dropIdle() {
      for (const [socket, { busy }] of sockets) if (!busy) socket.end();
    },
    async waitFor(condition, patienceMs = 30_000) {
      const isMet =
        typeof condition === 'function'
          ? condition
          : () => requests.filter(({ complete }) => complete).length >= condition;
      const met = latch();
      const watcher = () => isMet() && met.open();
      watchers.add(watcher);
      watcher();
      const patience = new AbortController();
      const late = setTimeout(patienceMs, 'late', { signal: patience.signal }).catch(() => 'met');
      const verdict = await Promise.race([met.opened, late]);
      watchers.delete(watcher);
      patience.abort();
      if (verdict === 'late') throw new Error(`The vendor waited in vain: ${condition}. ${describeRequests(requests)}`);
    },
    async close() {
      for (const webSocket of webSockets.clients) webSocket.terminate();
      for (const socket of sockets.keys()) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return vendor;
}

/** A port on which nobody listens: connections to it are refused. */
export const closedPort = freePort;

/** What a vendor without orders does: it answers chat calls, and nothing else. */
function chatAnswer(request: VendorRequest): Script {
  if (request.method !== 'POST' || !request.path.endsWith('/chat/completions')) {
    return errorAnswer(404, `There is no ${request.path} here.`);
  }
  const { model, stream, stream_options: options } = request.json;
  const name = typeof model === 'string' ? model : 'm';
  if (stream !== true) return wholeAnswer({ model: name });
  const asked = JSON.stringify(options) === '{"include_usage":true}';
  return streamAnswer(asked ? { model: name } : { model: name, usage: null });
}

interface Kept extends VendorRequest {
  body: Buffer;
  complete: boolean;
  state: VendorRequest['state'];
  sentBytes: number;
  holding: string | undefined;
}

function recordOf(head: string, connection: number): Kept {
  const [first = '', ...lines] = head.split('\r\n');
  const [method = '', path = ''] = first.split(' ');
  const rawHeaders = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  const headers: { [name: string]: string } = {};
  for (const [name, value] of rawHeaders) {
    const lower = name.toLowerCase();
    headers[lower] = headers[lower] === undefined ? value : `${headers[lower]}, ${value}`;
  }
  return {
    method,
    path,
    rawHeaders,
    headers,
    body: Buffer.alloc(0),
    get json() {
      const value: unknown = JSON.parse(this.body.toString());
      if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not a JSON object');
      return value as JsonObject;
    },
    complete: false,
    connection,
    state: 'reading',
    sentBytes: 0,
    holding: undefined,
  };
}

/** Reads the body as its headers frame it; leaves `complete` false where the peer stops before its end. */
async function receive(inbox: Inbox, request: Kept): Promise<void> {
  const parts: Buffer[] = [];
  const take = async (count: number): Promise<boolean> => {
    for (let left = count; left > 0; ) {
      const part = await inbox.upTo(left);
      if (part === undefined) return false;
      parts.push(part);
      left -= part.length;
    }
    return true;
  };
  const body = async (): Promise<boolean> => {
    if (request.headers['transfer-encoding'] !== 'chunked') return take(Number(request.headers['content-length'] ?? 0));
    for (;;) {
      const line = await inbox.until('\r\n');
      if (line === undefined) return false;
      const size = Number.parseInt(line, 16);
      if (size === 0) return (await inbox.until('\r\n')) !== undefined;
      if (!(await take(size)) || (await inbox.until('\r\n')) === undefined) return false;
    }
  };
  const complete = await body();
  request.body = Buffer.concat(parts);
  request.complete = complete;
}

/** Makes one move. `ended`: the script closed the connection. `gone`: the peer did. */
async function make(
  move: Move,
  socket: Socket,
  gone: Latch,
  holdOf: (name: string) => Latch,
): Promise<'done' | 'ended' | 'gone'> {
  switch (move.kind) {
    case 'bytes':
      return new Promise((resolve) => socket.write(move.bytes, (error) => resolve(error ? 'gone' : 'done')));
    case 'pause':
      await Promise.race([setTimeout(move.ms), gone.opened]);
      break;
    case 'hold':
      await Promise.race([holdOf(move.name).opened, gone.opened]);
      break;
    case 'silence':
      await gone.opened;
      break;
    case 'stopReading':
      socket.pause();
      break;
    case 'fin':
      socket.end();
      return 'ended';
    case 'rst':
      socket.resetAndDestroy();
      return 'ended';
    case 'atHead':
      break;
  }
  return socket.destroyed ? 'gone' : 'done';
}

/** The bytes of a connection, taken as they are wanted; undefined once it has ended. */
interface Inbox {
  /** What stands before the mark; the mark is taken, too. */
  until(mark: string): Promise<string | undefined>;
  /** Whatever is there, at most `count` bytes. */
  upTo(count: number): Promise<Buffer | undefined>;
  /** Leaves the socket to somebody else. */
  detach(): void;
  rest(): Buffer;
}

function inboxOf(socket: Socket): Inbox {
  let buffer = Buffer.alloc(0);
  let ended = false;
  let wake = latch();
  const arrived = (data: Buffer) => {
    buffer = Buffer.concat([buffer, data]);
    wake.open();
  };
  const over = () => {
    ended = true;
    wake.open();
  };
  socket.on('data', arrived).on('end', over).on('close', over);
  /** Waits for more; false where there will be none. */
  const more = async (): Promise<boolean> => {
    if (ended) return false;
    wake = latch();
    await wake.opened;
    return true;
  };
  const take = (count: number): Buffer => {
    const taken = buffer.subarray(0, count);
    buffer = buffer.subarray(count);
    return taken;
  };
  return {
    async until(mark) {
      for (;;) {
        const at = buffer.indexOf(mark);
        if (at >= 0) return take(at + mark.length).toString('latin1', 0, at);
        if (!(await more())) return undefined;
      }
    },
    async upTo(count) {
      while (buffer.length === 0) if (!(await more())) return undefined;
      return take(count);
    },
    detach() {
      socket.off('data', arrived).off('end', over).off('close', over);
    },
    rest: () => buffer,
  };
}

interface Latch {
  readonly opened: Promise<void>;
  readonly open: () => void;
}
function latch(): Latch {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** The last few, for somebody who waits in vain. */
function describeRequests(requests: readonly VendorRequest[]): string {
  const lines = requests
    .slice(-5)
    .map(({ method, path, state, sentBytes }) => `${method} ${path} ${state}, ${sentBytes} bytes sent`);
  return `${requests.length} requests came. ${lines.join('; ')}`;
}
