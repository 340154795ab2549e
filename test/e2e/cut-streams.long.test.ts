/** Streams that are cut at every byte, however they are framed and however the connection ends: none of them ends well before its time. */
import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../core/plugin.ts';
import { KIND_NAMES, KINDS } from '../clients/stand.ts';
import { defaultConfig, VENDOR_KEY } from '../kit/gateway.ts';
import { type RawResponse, rawRequest, requestText } from '../kit/raw-client.ts';
import { type Scenario, SPEECHES, type SpeechName } from '../kit/scenarios.ts';
import { type Bench, callHeaders, openBench } from './bench.ts';
import { CLIENT_NAMES, isSameStyle, type Pair } from './style-bench.ts';
import { CLIENTS } from './style-clients.ts';

const SAID: Scenario = {
  text: ['One', ' two'],
  end: 'stop',
  usage: { input: 11, cached: 0, output: 2, reasoning: 0 },
};

/** How the vendor shows where its answer ends; nothing but the end of the connection, or more than that. */
const FRAMES = {
  unframed: (body: Buffer) => framed('connection: close', body),
  counted: (body: Buffer) => framed(`content-length: ${body.length}`, body),
  chunked: (body: Buffer) =>
    framed(
      'transfer-encoding: chunked',
      Buffer.from(`${body.length.toString(16)}\r\n`),
      body,
      Buffer.from('\r\n0\r\n\r\n'),
    ),
} as const;
type Frame = keyof typeof FRAMES;

function framed(header: string, ...body: readonly Buffer[]): Buffer {
  const head = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n${header}\r\n\r\n`);
  return Buffer.concat([head, ...body]);
}

/** What the vendor does, told by the question. */
interface Cut {
  readonly frame: Frame;
  readonly end: 'fin' | 'rst';
  /** So many bytes of the stream come. */
  readonly bytes: number;
  readonly answer: string;
}

/** A vendor that says what it is told to in the question, up to a byte, and ends the connection. */
function openVendor(streams: ReadonlyMap<string, Buffer>) {
  const server = createServer((socket) => {
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (data: Buffer) => {
      text += data;
      const found = /cut (\S+) (\S+) (\d+) (\S+?)\./.exec(text);
      if (found !== null) answer(socket, found);
    });
  });
  const answer = (socket: Socket, [, frame, end, bytes, name]: RegExpExecArray): void => {
    const stream = streams.get(name!)!;
    const whole = FRAMES[frame as Frame](stream);
    const head = whole.indexOf(stream);
    const rest = Number(bytes) === stream.length ? whole.length : head + Number(bytes);
    socket.write(whole.subarray(0, rest), () => (end === 'fin' ? socket.end() : socket.resetAndDestroy()));
  };
  return new Promise<{ port: number; close(): void }>((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve({ port: (server.address() as AddressInfo).port, close: () => void server.close() }),
    );
  });
}

/** Does it for each of them, some at a time. */
async function forEach<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

/** Two choices, one event after the other of each; the first ends before the second does. */
const TWO = [
  ...['{"index":0,"delta":{"role":"assistant","content":"One"},"finish_reason":null}'],
  ...['{"index":0,"delta":{},"finish_reason":"stop"}'],
  ...['{"index":1,"delta":{"role":"assistant","content":"Two"},"finish_reason":null}'],
  ...['{"index":1,"delta":{},"finish_reason":"stop"}'],
].map((choice) => `data: {"id":"a","object":"chat.completion.chunk","model":"m","choices":[${choice}]}\n\n`);
const TWO_STREAM = `${TWO.join('')}data: [DONE]\n\n`;

describe('a stream that is cut', () => {
  let bench: Bench;
  let vendor: Awaited<ReturnType<typeof openVendor>>;
  const streams = new Map<string, Buffer>();

  before(async () => {
    for (const wire of KIND_NAMES) {
      const events = SPEECHES[wire].events(SAID, { stream_options: { include_usage: true } });
      streams.set(wire, Buffer.from(events.join('')));
    }
    streams.set('two', Buffer.from(TWO_STREAM));
    vendor = await openVendor(streams);
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
    vendor.close();
    await bench.stop();
  });

  async function call({ client, wire }: Pair, { frame, end, bytes, answer }: Cut, more: JsonObject = {}) {
    const { path, headers, ask, streamed } = CLIENTS[client];
    const question = `cut ${frame} ${end} ${bytes} ${answer}.`;
    const body = JSON.stringify({ ...ask(wire), ...streamed, ...more }).replace('Hello?', question);
    return rawRequest(
      bench.gateway.port,
      requestText('POST', path, { ...callHeaders(bench.gateway), ...headers }, body),
    );
  }

  /** What a client of this style understands; an answer that did not begin is an error. */
  function understood({ client }: Pair, answer: RawResponse, place: string) {
    if (answer.status !== 200) {
      assert.equal(answer.status, 502, place);
      return { text: '', ended: false, error: true };
    }
    const { text, ended, error } = CLIENTS[client].stream(answer.text);
    assert.equal(ended, error === undefined, `${place}: one end, good or bad\n${answer.text}`);
    return { text, ended, error: error !== undefined };
  }

  const PAIRS = CLIENT_NAMES.flatMap((client) => KIND_NAMES.map((wire) => ({ client, wire })));
  for (const pair of PAIRS) {
    for (const end of ['fin', 'rst'] as const) {
      for (const frame of ['unframed', 'counted', 'chunked'] as const) {
        // Where the framing shows that bytes are missing, it does so at every byte alike; events are read alike whoever asks.
        const step = frame !== 'unframed' ? 131 : isSameStyle(pair) ? (end === 'fin' ? 1 : 13) : end === 'fin' ? 7 : 61;
        it(`${frame}, with ${end.toUpperCase()}: ${pair.client} with a vendor that speaks ${pair.wire}`, async () => {
          const stream = streams.get(pair.wire)!;
          const whole = wholeFrom(pair.wire, stream);
          const cuts = Array.from({ length: Math.ceil(stream.length / step) }, (_, i) => stream.length - i * step);
          await forEach(cuts, async (bytes) => {
            const place = `byte ${bytes} of ${stream.length}`;
            const { text, ended } = understood(pair, await call(pair, { frame, end, bytes, answer: pair.wire }), place);
            assert.ok('One two'.startsWith(text), place);
            if (bytes < whole) assert.equal(ended, false, `${place} is not the end`);
            if (ended) assert.equal(text, 'One two', place);
            if (bytes === stream.length && end === 'fin') assert.equal(ended, true, place);
          });
        });
      }
    }
  }

  for (const end of ['fin', 'rst'] as const) {
    it(`with two choices and ${end.toUpperCase()}, and ends well only once both have said why they end`, async () => {
      const stream = streams.get('two')!;
      const whole = TWO_STREAM.lastIndexOf('"stop"}]}') + '"stop"}]}'.length;
      await forEach(stream.keys(), async (bytes) => {
        const pair: Pair = { client: 'chat', wire: 'chat' };
        const answer = await call(pair, { frame: 'unframed', end, bytes, answer: 'two' }, { n: 2 });
        const { ended } = understood(pair, answer, `byte ${bytes}`);
        if (bytes < whole || end === 'fin') assert.equal(ended, bytes >= whole, `byte ${bytes} of ${whole}`);
      });
    });
  }
});

/** Behind so many bytes a vendor has said everything that matters: why the answer ends. */
function wholeFrom(wire: SpeechName, stream: Buffer): number {
  const last = {
    chat: '"finish_reason":"stop"',
    responses: '"response.completed"',
    messages: '"stop_reason":"end_turn"',
  };
  if (wire === 'gemini') return stream.indexOf('}', stream.indexOf('"finishReason":"STOP"'));
  const from = stream.lastIndexOf(last[wire]);
  // The event's data is complete.
  return stream.indexOf('}\n', from) + 1;
}
