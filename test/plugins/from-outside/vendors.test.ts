/** Vendors from outside the checkout whose streams are no server-sent events and whose requests are signed. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import type { Json } from '../../../core/contracts/formats/json.ts';
import { definePlugin } from '../../../core/plugin.ts';
import { vendorContract } from '../../kit/contracts/vendor-contract.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import {
  chunk,
  cutAt,
  errorAnswer,
  fin,
  head,
  inPieces,
  jsonAnswer,
  lastChunk,
  type Move,
  type Script,
} from '../../kit/vendors/script.ts';
import signers from '../outside/signers.ts';
import { converseFrame, exceptionFrame, frameOf, outsideFolder, preludeOf, signatureFault } from './outside-kit.ts';

const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const MODEL = 'anthropic.claude-3-5-sonnet-20241022-v2:0';
const TOOLS = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];

/** A chunked stream of a type, one chunk for each piece. */
function stream(type: string, pieces: readonly (string | Buffer)[], end: Move = lastChunk()): Script {
  return [
    head(200, { 'content-type': type, 'transfer-encoding': 'chunked' }),
    ...pieces.map((piece) => chunk(piece)),
    end,
  ];
}

/** What a client of the chat style has read. */
interface Seen {
  readonly text: string;
  readonly calls: readonly (readonly [name: string, input: string])[];
  readonly reason: string | undefined;
  readonly isDone: boolean;
  readonly error: string | undefined;
}
async function read(response: Response): Promise<Seen> {
  let all = '';
  try {
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) all += piece;
  } catch {
    // A stream that breaks off has no last chunk.
  }
  const seen = {
    text: '',
    calls: [] as [string, string][],
    reason: undefined as string | undefined,
    error: undefined as string | undefined,
  };
  for (const [, data = ''] of all.matchAll(/^data: (\{.*)$/gm)) {
    const { choices = [], error } = JSON.parse(data) as {
      choices?: {
        delta: { content?: string; tool_calls?: { index: number; function: { name?: string; arguments?: string } }[] };
        finish_reason?: string;
      }[];
      error?: { code: string };
    };
    if (error !== undefined) seen.error = error.code;
    for (const { delta, finish_reason: reason } of choices) {
      seen.text += delta.content ?? '';
      seen.reason = reason ?? seen.reason;
      for (const { index, function: called } of delta.tool_calls ?? []) {
        seen.calls[index] ??= ['', ''];
        seen.calls[index][0] += called.name ?? '';
        seen.calls[index][1] += called.arguments ?? '';
      }
    }
  }
  return { ...seen, isDone: /^data: \[DONE\]$/m.test(all) };
}

// One that signs shows its credential in no header.
vendorContract(signers, { name: 'hashing' });

describe('vendors from outside the checkout', () => {
  let place: ReturnType<typeof outsideFolder>;
  let vendor: FakeVendor;
  let spare: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    place = outsideFolder();
    vendor = await fakeVendor();
    spare = await fakeVendor();
    const base = `http://127.0.0.1:${vendor.port}`;
    const bedrock = { vendor: 'bedrock', url: base, key: SECRET, accessKeyId: 'AKIDEXAMPLE', region: 'eu-west-1' };
    const { pipeline, channels } = defaultConfig([spare]) as { pipeline: string[]; channels: object[] };
    gateway = await startGateway({
      vendor: spare,
      config: {
        pipeline: [
          ...pipeline,
          'passthrough',
          join(place.dir, 'vendors/ollama.ts'),
          join(place.dir, 'vendors/bedrock.ts'),
          join(place.dir, 'vendors/signers.ts'),
        ],
        channels: [
          ...channels.map((channel) => ({ ...channel, priority: 5 })),
          { name: 'local', vendor: 'ollama', url: base },
          { ...bedrock, name: 'bedrock' },
          { ...bedrock, name: 'weak' },
          { ...bedrock, name: 'measured', query: { trace: 'a b' }, headers: { 'X-Amzn-Trace': 'all' } },
          { name: 'failing', vendor: 'failing', url: base, key: 'failing-secret' },
          { name: 'token', vendor: 'token', url: base, key: 'k' },
          { name: 'hashing', vendor: 'hashing', url: base, key: 'k' },
        ],
        models: {
          llama: { from: ['local', 'main'], price: { input: 1, output: 2 } },
          claude: { from: [{ bedrock: MODEL }, 'main'], price: { input: 1, output: 2 } },
          // Without another channel, however often it fails.
          'llama-alone': { from: ['local'], free: true },
          'claude-alone': { from: ['bedrock'], free: true },
          large: { from: ['weak', 'main'], free: true },
          weak: { from: ['weak', 'main'], free: true },
          measured: { from: [{ measured: MODEL }], free: true },
          unsigned: { from: ['failing', 'main'], free: true },
          hashed: { from: ['hashing'], free: true },
        },
        passthrough: [
          { prefix: '/v1/foundation-models', channel: 'measured', free: true },
          { prefix: '/v1/token', channel: 'token', free: true },
          { prefix: '/v1/unsigned', channel: 'failing', free: true },
        ],
      },
    });
  });
  afterEach(() => {
    vendor.forget();
    spare.forget();
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([vendor.close(), spare.close()]);
    place.remove();
  });

  const chat = (model: string, more: Record<string, Json> = {}): Promise<Response> => gateway.chat({ model, ...more });
  const streamed = async (model: string, script: Script, more: Record<string, Json> = {}): Promise<Seen> => {
    vendor.next(script);
    return read(await chat(model, { stream: true, ...more }));
  };
  const lastRequest = () => vendor.requests.at(-1) ?? assert.fail('there was no request');
  const lastRecord = () => usageRecords(gateway.storeFile).at(-1) ?? assert.fail('there is no usage record');
  const key = () => ({ authorization: `Bearer ${gateway.key}` });

  describe('with lines of JSON (Ollama)', () => {
    const TYPE = 'application/x-ndjson';
    const line = (message: Record<string, Json>, more: Record<string, Json> = {}): string =>
      `${JSON.stringify({ model: 'llama3', created_at: '2026-01-01T00:00:00Z', message: { role: 'assistant', content: '', ...message }, done: false, ...more })}\n`;
    const DONE = line({}, { done: true, done_reason: 'stop', prompt_eval_count: 26, eval_count: 9 });
    const LINES = [line({ content: 'Grüß ' }), line({ content: 'dich 😀' }), DONE];
    const SEEN: Seen = { text: 'Grüß dich 😀', calls: [], reason: 'stop', isDone: true, error: undefined };

    it('stream to clients of other styles, and are charged for what they report', async () => {
      assert.deepEqual(await streamed('llama', stream(TYPE, LINES)), SEEN);
      const { path, headers, json } = lastRequest();
      assert.deepEqual([path, headers.accept, json.stream, json.model], ['/api/chat', TYPE, true, 'llama']);
      const { input, output, estimated, charged, outcome } = lastRecord();
      assert.deepEqual([input, output, estimated, outcome], [26, 9, false, 'served']);
      assert.ok(charged > 0n);

      vendor.next(stream(TYPE, LINES));
      const response = await fetch(`${gateway.url}/v1/messages`, {
        method: 'POST',
        headers: { ...key(), 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
        body: JSON.stringify({
          model: 'llama',
          max_tokens: 50,
          stream: true,
          messages: [{ role: 'user', content: 'Hi' }],
        }),
      });
      const text = await response.text();
      assert.match(text, /"text":"Grüß "/);
      assert.match(text, /^event: message_stop$/m);
    });

    it('are read the same wherever their bytes are cut', async () => {
      for (const size of [1, 2, 7])
        assert.deepEqual(await streamed('llama', inPieces(stream(TYPE, LINES), size)), SEEN);
    });

    it('call tools, whole and streamed', async () => {
      const call = line({ tool_calls: [{ function: { name: 'weather', arguments: { city: 'Köln' } } }] });
      const seen = await streamed('llama', stream(TYPE, [call, DONE]), { tools: TOOLS });
      assert.deepEqual([seen.calls, seen.reason], [[['weather', '{"city":"Köln"}']], 'tool_calls']);
      // Some vendors refuse an object that names no properties.
      const parameters = { type: 'object', properties: {} };
      assert.deepEqual(lastRequest().json.tools, [{ type: 'function', function: { name: 'weather', parameters } }]);

      const message = {
        role: 'assistant',
        content: '',
        tool_calls: [{ function: { name: 'weather', arguments: {} } }],
      };
      vendor.next(
        jsonAnswer(200, {
          model: 'llama3',
          message,
          done: true,
          done_reason: 'stop',
          prompt_eval_count: 3,
          eval_count: 4,
        }),
      );
      const answer = (await (await chat('llama', { tools: TOOLS })).json()) as { choices: [{ finish_reason: string }] };
      assert.equal(answer.choices[0].finish_reason, 'tool_calls');
      assert.deepEqual([lastRecord().input, lastRecord().output], [3, 4]);
    });

    it('are never complete for a client if they were cut off', async () => {
      const pieces = Buffer.from(LINES.join(''));
      const first = Buffer.byteLength(LINES[0]!);
      for (let at = first; at < pieces.length - 2; at += 11) {
        const seen = await streamed('llama-alone', stream(TYPE, [pieces.subarray(0, at)]));
        assert.deepEqual([seen.isDone, seen.error], [false, 'upstream_broke_off'], `cut at ${at}`);
      }
      const seen = await streamed('llama-alone', stream(TYPE, [pieces], fin()));
      // It had ended; that the connection closed behind it changes nothing.
      assert.equal(seen.isDone, true);
    });

    it('need no line end behind the last line', async () => {
      assert.deepEqual(await streamed('llama', stream(TYPE, [LINES.join('').trimEnd()])), SEEN);
    });

    it('leave the call to the next channel if they begin with an error', async () => {
      const seen = await streamed('llama', stream(TYPE, ['{"error":"model runner has unexpectedly stopped"}\n']));
      assert.equal(seen.text, 'Hello from the vendor.');
      assert.deepEqual(
        lastRecord().attempts.map(({ channel, failure }) => [channel, failure]),
        [
          ['local', 'broken'],
          ['main', undefined],
        ],
      );
    });

    it('leave the call to the next channel if they come under another type', async () => {
      const seen = await streamed('llama', stream('text/html', LINES));
      assert.equal(seen.text, 'Hello from the vendor.');
    });
  });

  describe('with signatures and binary frames (Bedrock Converse)', () => {
    const TYPE = 'application/vnd.amazon.eventstream';
    const USAGE = { inputTokens: 20, outputTokens: 8, totalTokens: 128, cacheReadInputTokens: 100 };
    const text = (piece: string): Buffer =>
      converseFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: piece } });
    const FRAMES = [
      converseFrame('messageStart', { role: 'assistant' }),
      text('Grüß '),
      text('dich 😀'),
      converseFrame('contentBlockStop', { contentBlockIndex: 0 }),
      converseFrame('messageStop', { stopReason: 'end_turn' }),
      converseFrame('metadata', { usage: USAGE, metrics: { latencyMs: 5 } }),
    ];
    const SEEN: Seen = { text: 'Grüß dich 😀', calls: [], reason: 'stop', isDone: true, error: undefined };
    const isSigned = (): void => assert.equal(signatureFault(lastRequest(), SECRET), undefined);

    it('are checked here by the published examples', () => {
      // "get-vanilla" of the test suite for Signature Version 4.
      const example = {
        method: 'GET',
        path: '/',
        headers: {
          host: 'example.amazonaws.com',
          'x-amz-date': '20150830T123600Z',
          authorization:
            'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
        },
        body: Buffer.alloc(0),
      };
      assert.equal(signatureFault(example, SECRET), undefined);
      assert.equal(signatureFault({ ...example, method: 'POST' }, SECRET), 'the signature does not match');
      // Frames of the test vectors for event streams.
      assert.equal(frameOf({}, '').toString('hex'), '000000100000000005c248eb7d98c8ff');
      const withHeader = frameOf({ 'content-type': 'application/json' }, '{"foo": "bar"}').toString('hex');
      assert.match(withHeader, /^0000003e00000020405df946.*6fa2bf3b$/);
    });

    it('answer whole', async () => {
      vendor.next(
        jsonAnswer(200, {
          output: { message: { role: 'assistant', content: [{ text: 'Hello.' }] } },
          stopReason: 'max_tokens',
          usage: USAGE,
        }),
      );
      const answer = (await (await chat('claude', { max_tokens: 9, temperature: 0.5 })).json()) as {
        choices: [{ message: { content: string }; finish_reason: string }];
      };
      assert.deepEqual([answer.choices[0].message.content, answer.choices[0].finish_reason], ['Hello.', 'length']);
      isSigned();
      const { path, json } = lastRequest();
      assert.equal(path, '/model/anthropic.claude-3-5-sonnet-20241022-v2%3A0/converse');
      assert.deepEqual(json, {
        messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
        inferenceConfig: { maxTokens: 9, temperature: 0.5 },
      });
    });

    it('stream, and are charged for what the last frame reports', async () => {
      assert.deepEqual(await streamed('claude', stream(TYPE, FRAMES)), SEEN);
      isSigned();
      assert.match(lastRequest().path, /\/converse-stream$/);
      assert.equal(lastRequest().headers.accept, TYPE);
      assert.deepEqual([lastRecord().input, lastRecord().output, lastRecord().estimated], [120, 8, false]);
    });

    it('are read the same wherever their bytes are cut', async () => {
      for (const size of [1, 13])
        assert.deepEqual(await streamed('claude', inPieces(stream(TYPE, FRAMES), size)), SEEN);
    });

    it('call several tools, in order', async () => {
      const tool = (index: number, ...inputs: string[]): Buffer[] => [
        converseFrame('contentBlockStart', {
          contentBlockIndex: index,
          start: { toolUse: { toolUseId: `t${index}`, name: 'weather' } },
        }),
        ...inputs.map((input) =>
          converseFrame('contentBlockDelta', { contentBlockIndex: index, delta: { toolUse: { input } } }),
        ),
        converseFrame('contentBlockStop', { contentBlockIndex: index }),
      ];
      const [start, ...others] = FRAMES;
      const end = [converseFrame('messageStop', { stopReason: 'tool_use' }), others.at(-1)!];
      const seen = await streamed(
        'claude',
        stream(TYPE, [start!, ...tool(0, '{"city":', '"Rom"}'), ...tool(1, '{}'), ...end]),
        {
          tools: TOOLS,
        },
      );
      assert.deepEqual(seen.calls, [
        ['weather', '{"city":"Rom"}'],
        ['weather', '{}'],
      ]);
      assert.equal(seen.reason, 'tool_calls');
    });

    it('are never complete for a client if they were cut off', async () => {
      const all = Buffer.concat(FRAMES);
      const begun = Buffer.concat(FRAMES.slice(0, 2)).length;
      const stopped = Buffer.concat(FRAMES.slice(0, 5)).length;
      for (let at = begun; at < stopped; at += 37) {
        const seen = await streamed('claude-alone', stream(TYPE, [all.subarray(0, at)]));
        assert.deepEqual([seen.isDone, seen.error], [false, 'upstream_broke_off'], `cut at ${at}`);
      }
      const seen = await streamed('claude-alone', cutAt(stream(TYPE, FRAMES), -Buffer.concat(FRAMES.slice(4)).length));
      assert.deepEqual([seen.isDone, seen.error], [false, undefined]);
    });

    it('are complete without their last frame, and charged by our own count', async () => {
      assert.deepEqual(await streamed('claude', stream(TYPE, FRAMES.slice(0, -1))), SEEN);
      assert.equal(lastRecord().estimated, true);
    });

    it('break off at a frame with a wrong checksum', async () => {
      const bad = Buffer.from(text('!'));
      bad[bad.length - 6]! ^= 1;
      const seen = await streamed('claude-alone', stream(TYPE, [...FRAMES.slice(0, 2), bad, ...FRAMES.slice(2)]));
      assert.deepEqual([seen.isDone, seen.error], [false, 'upstream_broke_off']);
      assert.equal(lastRecord().attempts[0]?.reason, 'a frame of the stream is invalid: wrong checksum');
    });

    it('leave the call to the next channel if the first frame is invalid, or an exception', async () => {
      const bad = Buffer.from(FRAMES[0]!);
      bad[5]! ^= 1;
      const exception = exceptionFrame('throttlingException', 'Too many requests, please wait.');
      for (const first of [bad, exception]) {
        const seen = await streamed('weak', stream(TYPE, [first]));
        assert.equal(seen.text, 'Hello from the vendor.');
        assert.deepEqual(
          lastRecord().attempts.map(({ channel }) => channel),
          ['weak', 'main'],
        );
      }
    });

    it('leave the call to the next channel if a frame is larger than an event may be', async () => {
      const seen = await streamed('large', stream(TYPE, [preludeOf(1 << 30)]));
      assert.equal(seen.text, 'Hello from the vendor.');
      assert.equal(lastRecord().attempts[0]?.reason, 'an event is larger than 8388608 bytes');
    });

    it('end with an error if an exception comes between the frames', async () => {
      const exception = exceptionFrame('modelStreamErrorException', 'The model failed.');
      const seen = await streamed('claude-alone', stream(TYPE, [...FRAMES.slice(0, 2), exception]));
      assert.equal(seen.isDone, false);
      assert.ok(seen.error !== undefined);
      assert.equal(lastRecord().outcome, 'failed');
    });

    it("sign the channel's own headers and query parameters as well", async () => {
      vendor.next(errorAnswer(400));
      await chat('measured');
      isSigned();
      const { path, headers } = lastRequest();
      assert.match(path, /\/converse\?trace=a%20b$/);
      assert.equal(headers['x-amzn-trace'], 'all');
    });

    it('sign bodies that are larger than what is held in one piece', async () => {
      vendor.next(errorAnswer(400));
      await chat('claude', { messages: [{ role: 'user', content: 'x'.repeat(3_000_000) }] });
      assert.ok(lastRequest().body.length > 3_000_000);
      isSigned();
    });

    it('sign questions beside calls', async () => {
      vendor.next(jsonAnswer(200, { inputTokens: 14 }));
      const response = await fetch(`${gateway.url}/v1/messages/count_tokens`, {
        method: 'POST',
        headers: { ...key(), 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
        body: JSON.stringify({ model: 'measured', messages: [{ role: 'user', content: 'Hi' }] }),
      });
      assert.deepEqual(await response.json(), { input_tokens: 14 });
      assert.match(lastRequest().path, /\/count-tokens\?trace=/);
      isSigned();
    });

    it('sign passthrough requests without a body, and refuse those with one', async () => {
      const url = `${gateway.url}/v1/foundation-models`;
      vendor.next(jsonAnswer(200, { models: [] }));
      assert.equal((await fetch(`${url}?byProvider=x`, { headers: key() })).status, 200);
      assert.match(lastRequest().path, /^\/foundation-models\?byProvider=x&trace=/);
      isSigned();
      const before = vendor.requests.length;
      const refused = await fetch(url, { method: 'POST', headers: key(), body: '{}' });
      assert.equal(refused.status, 400);
      assert.equal(((await refused.json()) as { error: { code: string } }).error.code, 'body_not_signable');
      assert.equal(vendor.requests.length, before);
    });

    it('sign websockets', async () => {
      const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/foundation-models`, { headers: key() });
      await once(socket, 'open');
      socket.send('ping');
      await once(socket, 'message');
      isSigned();
      socket.close();
      await once(socket, 'close');
    });
  });

  describe('that sign in other ways', () => {
    it('leave the call to the next channel if they cannot sign', async () => {
      const asked = vendor.requests.length;
      assert.equal((await chat('unsigned')).status, 200);
      assert.equal(vendor.requests.length, asked);
      const [first, second] = lastRecord().attempts;
      assert.deepEqual(
        [first?.failure, first?.reason],
        ['credential', 'the request could not be signed: the token service is down'],
      );
      assert.equal(second?.channel, 'main');
      // The secret in its message stays here.
      assert.ok(!gateway.log.join('\n').includes('failing-secret'));
    });

    it('fail a passthrough request that they cannot sign', async () => {
      for (const init of [{}, { method: 'POST', body: 'x' }]) {
        const response = await fetch(`${gateway.url}/v1/unsigned`, { headers: key(), ...init });
        assert.equal(response.status, 502);
        assert.equal(lastRecord().attempts[0]?.failure, 'credential');
      }
    });

    it('sign a passthrough request with a body if they do not look at it', async () => {
      vendor.next(jsonAnswer(200, {}));
      const response = await fetch(`${gateway.url}/v1/token`, { method: 'POST', headers: key(), body: 'hello' });
      assert.equal(response.status, 200);
      assert.deepEqual([lastRequest().headers.authorization, lastRequest().body.toString()], ['Bearer fresh', 'hello']);
      assert.deepEqual(lastRequest().rawHeaders.filter(([name]) => name.toLowerCase() === 'authorization').length, 1);
    });

    it('see the bytes of a multipart body', async () => {
      vendor.next(jsonAnswer(200, { text: 'Hello.' }));
      const form = new FormData();
      form.set('model', 'hashed');
      form.set('file', new Blob([Buffer.alloc(2_500_000, 'a')]), 'a.mp3');
      const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: key(),
        body: form,
      });
      assert.equal(response.status, 200, await response.text());
      const { headers, body } = lastRequest();
      assert.ok(body.length > 2_500_000);
      assert.equal(headers['x-hash'], createHash('sha256').update(body).digest('hex'));
      assert.equal(headers['x-length'], String(body.length));
    });
  });
});

describe('a vendor that does not sign', () => {
  /** A gateway whose first channel signs for ever; `signing` resolves when it has begun. */
  async function hanging() {
    const clock = fakeClock();
    const vendor = await fakeVendor();
    let begin = (): void => {};
    const signing = new Promise<void>((done) => {
      begin = done;
    });
    const plugin = definePlugin({
      name: 'hanging',
      api: 2,
      create: () => ({
        vendors: [
          {
            name: 'hanging',
            speaks: { chat: { path: '/chat', headers: () => ({}) } },
            sign() {
              begin();
              return new Promise(() => {});
            },
          },
        ],
      }),
    });
    const standard = defaultConfig([vendor]) as { channels: object[] };
    const gateway = await startGateway({
      vendor,
      clock,
      plugins: [plugin],
      config: {
        channels: [...standard.channels, { name: 'hanging', vendor: 'hanging', url: vendor.url, key: 'k' }],
        models: { m: { from: ['hanging', 'main'], free: true } },
      },
    });
    return {
      clock,
      vendor,
      gateway,
      signing,
      async stop() {
        await gateway.stop();
        await vendor.close();
      },
    };
  }

  it('is waited for no longer than 15 seconds', async () => {
    const { clock, vendor, gateway, signing, stop } = await hanging();
    try {
      const answering = gateway.chat({ model: 'm' });
      await signing;
      clock.advance(14_999);
      assert.equal(vendor.requests.length, 0);
      clock.advance(1);
      assert.equal((await answering).status, 200);
      const [first] = usageRecords(gateway.storeFile).at(-1)!.attempts;
      assert.deepEqual(
        [first?.channel, first?.failure, first?.reason],
        ['hanging', 'credential', 'the request could not be signed: it took too long'],
      );
    } finally {
      await stop();
    }
  });

  it('is not waited for if the client has left', async () => {
    const { vendor, gateway, signing, stop } = await hanging();
    const client = new AbortController();
    const answering = gateway.chat({ model: 'm' }, { signal: client.signal });
    await signing;
    client.abort();
    await assert.rejects(answering);
    // A stop waits for the calls that run, and no time passes here.
    await stop();
    assert.equal(vendor.requests.length, 0);
  });
});
