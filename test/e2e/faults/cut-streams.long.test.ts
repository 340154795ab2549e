/** Answers that are cut at every byte, however they are framed and however the connection ends: none of them ends well before its time. */

import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../core/plugin.ts';
import { KIND_NAMES, KINDS } from '../../clients/stand.ts';
import { some } from '../../kit/console/whole.ts';
import { defaultConfig, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import type { SpeechName } from '../../kit/speech.ts';
import { type Bench, callHeaders, openBench } from '../operations/bench.ts';
import { CLIENT_NAMES, isSameStyle, type Pair } from '../operations/style-bench.ts';
import { CLIENTS } from './style-clients.ts';

const TEXT = 'Hi';

/** What a vendor says, as short as it can be: there are as many cuts as bytes. */
interface Answer {
  readonly type: string;
  /** What the vendor writes at a time; a chunk each where there are chunks. */
  readonly pieces: readonly string[];
  /** Behind so many bytes it has said everything: why the answer ends. */
  readonly whole: number;
}

const data = (...events: readonly JsonObject[]): readonly string[] =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`);
/** Events whose type stands before them, too. */
const named = (...events: readonly JsonObject[]): readonly string[] =>
  events.map((event) => `event: ${String(event.type)}\n${data(event).join('')}`);
const ended = (text: string, part: string): number => {
  assert.ok(text.includes(part));
  return text.lastIndexOf(part) + part.length;
};
const streamed = (pieces: readonly string[], last: JsonObject): Answer => ({
  type: 'text/event-stream',
  pieces,
  whole: ended(pieces.join(''), JSON.stringify(last)),
});
const whole = (body: JsonObject): Answer => {
  const text = JSON.stringify(body);
  return { type: 'application/json', pieces: [text], whole: text.length };
};

const chatChoice = (index: number, more: JsonObject): JsonObject => ({ choices: [{ index, ...more }] });
const DONE = 'data: [DONE]\n\n';
const STOP: JsonObject = { delta: {}, finish_reason: 'stop' };
const MESSAGE_END: JsonObject = { type: 'message_delta', delta: { stop_reason: 'end_turn' } };
const OUTPUT: JsonObject = { type: 'message', content: [{ type: 'output_text', text: TEXT }] };
const COMPLETED: JsonObject = {
  type: 'response.completed',
  sequence_number: 2,
  response: { status: 'completed', output: [OUTPUT] },
};
const said = (more: JsonObject): JsonObject => ({ candidates: [{ content: { parts: [{ text: TEXT }] }, ...more }] });
const STOPPED: JsonObject = { candidates: [{ finishReason: 'STOP' }] };

const STREAMED: Readonly<Record<SpeechName, Answer>> = {
  chat: streamed(
    [...data(chatChoice(0, { delta: { content: TEXT } }), chatChoice(0, STOP)), DONE],
    chatChoice(0, STOP),
  ),
  responses: streamed(
    named(
      { type: 'response.created', sequence_number: 0, response: {} },
      { type: 'response.output_text.delta', sequence_number: 1, delta: TEXT },
      COMPLETED,
    ),
    COMPLETED,
  ),
  messages: streamed(
    named(
      { type: 'message_start', message: {} },
      { type: 'content_block_start', index: 0, content_block: { type: 'text' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: TEXT } },
      { type: 'content_block_stop', index: 0 },
      MESSAGE_END,
      { type: 'message_stop' },
    ),
    MESSAGE_END,
  ),
  gemini: streamed(data(said({}), STOPPED), STOPPED),
};

const WHOLE: Readonly<Record<SpeechName, Answer>> = {
  chat: whole(chatChoice(0, { message: { content: TEXT }, finish_reason: 'stop' })),
  responses: whole({ status: 'completed', output: [OUTPUT] }),
  messages: whole({ content: [{ type: 'text', text: TEXT }], stop_reason: 'end_turn' }),
  gemini: whole(said({ finishReason: 'STOP' })),
};

/** Two choices, one event after the other of each; the first ends before the second does. */
const TWO: readonly JsonObject[] = [
  chatChoice(0, { delta: { content: 'One' } }),
  chatChoice(0, STOP),
  chatChoice(1, { delta: { content: 'Two' } }),
  chatChoice(1, STOP),
];

/** Everything that is cut, by the name under which a question asks for it. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  ...Object.fromEntries(KIND_NAMES.map((wire) => [`stream-${wire}`, STREAMED[wire]])),
  ...Object.fromEntries(KIND_NAMES.map((wire) => [`whole-${wire}`, WHOLE[wire]])),
  two: streamed([...data(...TWO), DONE], TWO.at(-1)!),
};

/** How the vendor shows where its answer ends; nothing but the end of the connection, or more than that. */
const FRAMES = ['unframed', 'counted', 'chunked'] as const;
type Frame = (typeof FRAMES)[number];
const ENDS = ['fin', 'rst'] as const;

/** What is not framed has to be understood; where the framing shows that bytes are missing, one other style stands for all. */
function pairsFor(frame: Frame): readonly Pair[] {
  const all = CLIENT_NAMES.flatMap((client) => KIND_NAMES.map((wire) => ({ client, wire })));
  return frame === 'unframed' ? all : all.filter((pair) => isSameStyle(pair) || OTHER[pair.client] === pair.wire);
}

const OTHER: Readonly<Record<Pair['client'], SpeechName>> = { chat: 'messages', responses: 'gemini', messages: 'chat' };

/** An answer on the wire. */
interface Wire {
  readonly head: Buffer;
  readonly body: Buffer;
  /** How much of the answer is in the first bytes of the body. */
  said(bytes: number): number;
}

function wireOf({ type, pieces }: Answer, frame: Frame): Wire {
  const text = pieces.join('');
  const framing = {
    unframed: 'connection: close',
    counted: `content-length: ${Buffer.byteLength(text)}`,
    chunked: 'transfer-encoding: chunked',
  };
  const head = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${framing[frame]}\r\n\r\n`);
  if (frame !== 'chunked') return { head, body: Buffer.from(text), said: (bytes) => bytes };
  let body = '';
  const places: number[] = [];
  for (const piece of pieces) {
    body += `${piece.length.toString(16)}\r\n`;
    for (let i = 0; i < piece.length; i++) places.push(body.length + i);
    body += `${piece}\r\n`;
  }
  body += '0\r\n\r\n';
  return { head, body: Buffer.from(body), said: (bytes) => places.filter((place) => place < bytes).length };
}

/** A vendor that says what it is told to in the question, up to a byte, and ends the connection. */
function openVendor(wires: ReadonlyMap<string, Wire>) {
  const server = createServer((socket) => {
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      text += bytes;
      const found = /cut (\S+) (\S+) (-?\d+)\./.exec(text);
      if (found !== null) answer(socket, found);
    });
  });
  const answer = (socket: Socket, [, name, end, bytes]: RegExpExecArray): void => {
    const { head, body } = wires.get(name!)!;
    // Below zero a part of the head is missing.
    const sent = Buffer.concat([head, body]).subarray(0, head.length + Number(bytes));
    const finish = (): unknown => (end === 'fin' ? socket.end() : socket.resetAndDestroy());
    if (sent.length === 0) finish();
    else socket.write(sent, finish);
  };
  return new Promise<{ port: number; close(): void }>((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve({ port: (server.address() as AddressInfo).port, close: () => void server.close() }),
    );
  });
}

/** What the client gets. */
interface Got {
  readonly status: number;
  readonly text: string;
  /** The body came to the end that its framing promised. */
  readonly complete: boolean;
}

const AT_ONCE = 24;

/** Does it for each of them, some at a time. */
async function forEach<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

describe('an answer that is cut at every byte', () => {
  let bench: Bench;
  let vendor: Awaited<ReturnType<typeof openVendor>>;
  const wires = new Map<string, Wire>();
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

  before(async () => {
    for (const [name, answer] of Object.entries(ANSWERS)) {
      for (const frame of FRAMES) wires.set(`${name}-${frame}`, wireOf(answer, frame));
    }
    vendor = await openVendor(wires);
    const { pipeline } = defaultConfig([]) as { readonly pipeline: readonly string[] };
    bench = await openBench({
      vendors: [],
      config: {
        pipeline: [...new Set([...pipeline, 'vendors/anthropic', 'vendors/gemini'])],
        channels: KIND_NAMES.map((wire) => {
          const { model: _, ...kind } = KINDS[wire];
          return { name: wire, ...kind, url: `http://127.0.0.1:${vendor.port}/v1`, key: VENDOR_KEY };
        }),
        models: Object.fromEntries(
          KIND_NAMES.map((wire) => [wire, { from: [{ [wire]: KINDS[wire].model }], free: true }]),
        ),
      },
    });
  });
  after(async () => {
    agent.destroy();
    vendor.close();
    await bench.stop();
  });

  /** Asks for so many bytes of an answer. */
  function call({ client, wire }: Pair, name: string, end: string, bytes: number, more: JsonObject) {
    const { path, headers, ask } = CLIENTS[client];
    const body = JSON.stringify({ ...ask(wire), ...more }).replace('Hello?', `cut ${name} ${end} ${bytes}.`);
    return new Promise<Got>((resolve, reject) => {
      const { port } = bench.gateway;
      const all = { ...callHeaders(bench.gateway), ...headers, 'content-length': Buffer.byteLength(body) };
      const asking = request({ host: '127.0.0.1', port, path, method: 'POST', headers: all, agent }, (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (piece: string) => {
          text += piece;
        });
        // What breaks off inside is no error of the test's.
        answer.on('error', () => {});
        answer.on('close', () => resolve({ status: answer.statusCode ?? 0, text, complete: answer.complete }));
      });
      asking.on('error', reject);
      asking.end(body);
    });
  }

  /** The same; whether it came to a good end, which it may not before its time, and has to where nothing is missing. */
  async function checkCut(pair: Pair, name: string, frame: Frame, end: string, bytes: number, more: JsonObject) {
    const { body, said } = wires.get(`${name}-${frame}`)!;
    const place = `${name} ${frame}, ${end} behind byte ${bytes} of ${body.length}`;
    const { status, text, complete } = await call(pair, `${name}-${frame}`, end, bytes, more);
    const style = CLIENTS[pair.client];
    const {
      ended,
      error,
      text: heard,
    } = status !== 200
      ? { ended: false, error: status, text: '' }
      : more.stream
        ? style.stream(text)
        : style.whole(JSON.parse(text) as JsonObject);
    if (status !== 200) assert.equal(status, 502, place);
    // Chat and messages clients repeat a request whose connection was lost, so theirs is cut, too, without an event.
    const isCut = !complete && error === undefined && pair.client !== 'responses';
    assert.equal(ended, error === undefined && !isCut, `${place}: one end, good or bad\n${text}`);
    assert.equal(complete, ended || status !== 200, `${place}: its framing says the same`);
    if (bytes < 0 || said(bytes) < ANSWERS[name]!.whole) assert.equal(ended, false, `${place} is not the end\n${text}`);
    if (bytes === body.length && end === 'fin') assert.equal(ended, true, `${place} is the end\n${text}`);
    return { ended, heard, place };
  }

  /** As many as the body has bytes, and one for nothing of it; or the share of a turn, and the last one. */
  const cutsOf = (name: string, frame: Frame, turn: number): readonly number[] => {
    const { length } = wires.get(`${name}-${frame}`)!.body;
    return [
      ...new Set([
        ...some(
          Array.from({ length }, (_, bytes) => bytes),
          turn,
        ),
        length,
      ]),
    ];
  };

  for (const frame of FRAMES) {
    for (const [turn, pair] of pairsFor(frame).entries()) {
      it(`${frame}: ${pair.client} with a vendor that speaks ${pair.wire}`, async () => {
        for (const [form, more] of [
          ['stream', CLIENTS[pair.client].streamed],
          ['whole', {}],
        ] as const) {
          const name = `${form}-${pair.wire}`;
          for (const [half, end] of ENDS.entries()) {
            await forEach(cutsOf(name, frame, turn + 2 * half), async (bytes) => {
              const { ended, heard, place } = await checkCut(pair, name, frame, end, bytes, more);
              assert.ok(heard === TEXT || (heard === '' && !ended), `${place}: ${heard}`);
            });
          }
        }
      });
    }
  }

  const SAME: Pair = { client: 'chat', wire: 'chat' };
  for (const frame of FRAMES) {
    it(`${frame}, with two choices: it ends well only once both have said why they end`, async () => {
      for (const [turn, end] of ENDS.entries()) {
        await forEach(cutsOf('two', frame, turn), async (bytes) => {
          await checkCut(SAME, 'two', frame, end, bytes, { ...CLIENTS.chat.streamed, n: 2 });
        });
      }
    });

    it(`${frame}, inside its head`, async () => {
      const { head } = wires.get(`stream-chat-${frame}`)!;
      for (const end of ENDS) {
        await forEach(head.keys(), async (there) => {
          await checkCut(SAME, 'stream-chat', frame, end, there - head.length, CLIENTS.chat.streamed);
        });
      }
    });
  }
});
