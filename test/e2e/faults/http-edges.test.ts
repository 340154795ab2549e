/** Forms of HTTP that clients and vendors use although few texts name them: types, codings, methods and ends of answers. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import zlib from 'node:zlib';
import type { JsonObject } from '../../../core/plugin.ts';
import { openStand, type Stand } from '../../clients/stand.ts';
import { rawConnection } from '../../kit/clients/raw-client.ts';
import { chatBody, chatEvents } from '../../kit/gateway/fixtures.ts';
import { eventStream, fin, jsonAnswer, rst, sized } from '../../kit/vendors/script.ts';
import { CLIENTS, type ClientName } from './style-clients.ts';

let stand: Stand;
before(async () => {
  stand = await openStand(20);
});
after(() => stand?.stop());

/** A stream with its usage, as the vendor sends it. */
const COUNTED = { stream: true, stream_options: { include_usage: true } };

async function ask(client: ClientName, model: string, more: JsonObject = {}) {
  const { path, headers, ask: question } = CLIENTS[client];
  const answer = await fetch(stand.root + path, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${stand.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...question(model), ...more }),
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

describe('a stream whose content type is not the usual one', () => {
  const events = chatEvents({ deltas: ['Hello'] });

  for (const type of [
    ...['text/plain', 'application/octet-stream', 'application/json', 'Text/Event-Stream; Charset=utf-8'],
    ...['TEXT/EVENT-STREAM', 'text/html', ''],
  ]) {
    it(`is a stream for chat and messages: ${type || 'none'}`, async () => {
      stand.vendor.next(eventStream(events, { 'content-type': type }));
      const { status, text } = await ask('chat', 'chat-0', COUNTED);
      assert.deepEqual([status, text], [200, events.join('')]);
      stand.vendor.next(eventStream([':\n\n', ...events], { 'content-type': type }));
      const translated = await ask('messages', 'chat-0', { stream: true });
      assert.match(translated.text, /"text":"Hello"[\s\S]*event: message_stop/);
    });
  }

  it('is a stream when its first bytes come one at a time, behind a byte order mark', async () => {
    const slowly = [...Buffer.from('\ufeff\n: ping\n\n')].map((byte) => ({
      kind: 'bytes' as const,
      bytes: Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]),
    }));
    stand.vendor.next(eventStream([...slowly, ...events], { 'content-type': 'text/plain' }));
    const { status, text } = await ask('chat', 'chat-0', COUNTED);
    assert.equal(status, 200);
    assert.ok(text.endsWith(events.join('')), text);
  });

  for (const type of ['text/plain', 'text/event-stream', 'Application/JSON', '']) {
    it(`is read as the whole answer that it is: ${type || 'none'}`, async () => {
      stand.vendor.next(sized(200, type, JSON.stringify(chatBody({ deltas: ['Hello'] }))));
      const { status, text } = await ask('chat', 'chat-0', { stream: true });
      assert.equal(status, 200, text);
      assert.match(text, /^data: [\s\S]*Hello[\s\S]*data: \[DONE\]\n\n$/);
      stand.vendor.next(
        sized(200, type, JSON.stringify({ error: { message: 'slow down', code: 'rate_limit_exceeded' } })),
      );
      assert.equal((await ask('chat', 'chat-0', { stream: true })).status, 429);
    });
  }

  it('is refused if it is neither a stream nor JSON', async () => {
    for (const body of ['<html>data: 1</html>', 'dat', 'database error', '']) {
      stand.vendor.next(sized(200, 'text/plain', body));
      const { status, text } = await ask('chat', 'chat-0', { stream: true });
      assert.deepEqual([status, /"code":"(\w+)"/.exec(text)?.[1]], [502, 'bad_upstream_response'], body);
    }
  });
});

describe('a stream that its vendor cuts', () => {
  const begun = chatEvents({ deltas: ['Hel', 'lo'], finish: null, usage: null }).slice(0, 3);

  for (const [end, move] of [
    ['closed', fin()],
    ['reset', rst()],
  ] as const) {
    for (const client of ['chat', 'messages'] as const) {
      it(`is cut for a client of ${client} without an error event if the connection is ${end}`, async () => {
        stand.vendor.next(eventStream([...begun, move]));
        const text = await cutText(client, 'chat-0');
        assert.match(text, /lo/);
        assert.doesNotMatch(text, /error|message_stop|\[DONE\]|"finish_reason":"/);
      });
    }

    it(`ends as failed for a client of responses, without the item that is not complete, if it is ${end}`, async () => {
      const call = { index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a"' } };
      const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
      const called = { ...chunk, choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] };
      stand.vendor.next(eventStream([...begun, `data: ${JSON.stringify(called)}\n\n`, move]));
      const text = await cutText('responses', 'chat-0');
      const failed = JSON.parse(/data: (\{"type":"response\.failed".*)/.exec(text)?.[1] ?? '{}') as FailedEvent;
      assert.equal(failed.response.error.code, 'server_error');
      assert.deepEqual(
        failed.response.output.map(({ type, status }) => [type, status]),
        [['message', 'completed']],
      );
    });
  }

  for (const client of ['chat', 'messages'] as const) {
    it(`ends with an error event for a client of ${client} if it was not cut, but ended too early`, async () => {
      stand.vendor.next(eventStream(begun));
      const text = await cutText(client, 'chat-0');
      assert.match(text, /lo/);
      assert.match(text, /"code":"upstream_broke_off"/);
      assert.doesNotMatch(text, /message_stop|\[DONE\]|"finish_reason":"/);
    });
  }

  it('ends with an error event for a client of HTTP/1.0, which could not tell that it is cut', async () => {
    stand.vendor.next(eventStream([...begun, fin()]));
    const body = JSON.stringify({ ...CLIENTS.chat.ask('chat-0'), stream: true });
    const connection = await rawConnection(stand.gateway.port);
    const lines = ['POST /v1/chat/completions HTTP/1.0', `authorization: Bearer ${stand.key}`];
    await connection.write([...lines, `content-length: ${Buffer.byteLength(body)}`, '', body].join('\r\n'));
    await connection.until('upstream_broke_off');
    await connection.ended;
    assert.match(connection.received.toString(), /"code":"upstream_broke_off"/);
  });
});

interface FailedEvent {
  readonly response: {
    readonly error: { readonly code: string };
    readonly output: readonly { readonly type: string; readonly status: string }[];
  };
}

/** What arrives of an answer before its connection breaks; fails if it does not break. */
async function cutText(client: ClientName, model: string): Promise<string> {
  const { path, headers, ask: question } = CLIENTS[client];
  const answer = await fetch(stand.root + path, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${stand.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...question(model), stream: true }),
  });
  assert.equal(answer.status, 200);
  let text = '';
  const reading = (async () => {
    for await (const piece of answer.body!) text += Buffer.from(piece).toString();
  })();
  await assert.rejects(reading);
  return text;
}

describe('an error that only the operator can mend', () => {
  const unpaid = { error: { message: 'You exceeded your current quota.', code: 'insufficient_quota' } };
  for (const [what, status, body] of [
    ['its key is refused', 401, { error: { message: 'Incorrect API key.' } }],
    ['its account may not', 403, { error: { message: 'Not for you.' } }],
    ['its balance is used up', 402, { error: { message: 'Pay.' } }],
    ['its quota is used up', 429, unpaid],
    ['its quota is used up, in a success', 200, unpaid],
  ] as const) {
    it(`says so, and stops retries: ${what}`, async () => {
      for (const client of ['chat', 'messages', 'responses'] as const) {
        stand.vendor.next(jsonAnswer(status, body));
        const answer = await ask(client, stand.fresh('chat'));
        assert.equal(answer.status, 502);
        assert.equal(answer.headers.get('x-should-retry'), 'false');
        assert.match(answer.text, /account at the vendor cannot be used.*Tell the administrator/);
      }
    });
  }

  it('is not said if another failure may pass', async () => {
    stand.vendor.next(jsonAnswer(500, { error: { message: 'Oops.' } }));
    const answer = await ask('chat', 'chat-0');
    assert.deepEqual([answer.status, answer.headers.get('x-should-retry')], [502, null]);
  });
});

describe('the wait that a vendor asks for', () => {
  it('reaches the client from the details of an error', async () => {
    const error = { code: 429, message: 'Quota.', status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '34s' }] };
    stand.vendor.next(jsonAnswer(429, { error }));
    const answer = await ask('chat', 'gemini-0');
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [429, '34']);
  });

  it('reaches the client from the words of an error inside a success', async () => {
    const error = { message: 'Please try again in 7s.', code: 'rate_limit_exceeded' };
    stand.vendor.next(jsonAnswer(200, { error }));
    const answer = await ask('chat', stand.fresh('chat'));
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [429, '7']);
  });
});

describe('a conversation that the vendor keeps (`thread`)', () => {
  const thread = { thread: { type: 'continue', previous_message_id: 'msg_1' } };
  const refused = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };

  it('is refused by a vendor of another API, with the details by which clients send everything', async () => {
    const before = stand.vendor.requests.length;
    for (const more of [thread, { thread: { type: 'create' } }]) {
      for (const model of ['chat-0', 'responses-0', 'gemini-0']) {
        const { status, text } = await ask('messages', model, more);
        const { error } = JSON.parse(text) as { readonly error: JsonObject };
        assert.deepEqual(
          [status, error.type, error.param, error.details],
          [400, 'invalid_request_error', 'thread', refused],
        );
      }
    }
    assert.equal(stand.vendor.requests.length, before);
    assert.equal((await ask('messages', 'chat-0', { thread: null })).status, 200);
  });

  it('is forwarded to a vendor that keeps it', async () => {
    stand.vendor.next(jsonAnswer(200, MESSAGE));
    assert.equal((await ask('messages', 'messages-0', thread)).status, 200);
    assert.deepEqual(stand.vendor.requests.at(-1)!.json.thread, thread.thread);
  });

  it('has its list of features forwarded, however long', async () => {
    const betas = Array.from({ length: 90 }, (_, i) => `some-feature-2026-01-${i}`).join(',');
    const own = { authorization: `Bearer ${stand.key}`, 'content-type': 'application/json' };
    stand.vendor.next(jsonAnswer(200, MESSAGE));
    await fetch(`${stand.v1}/messages`, {
      method: 'POST',
      headers: { ...CLIENTS.messages.headers, ...own, 'anthropic-beta': betas },
      body: JSON.stringify(CLIENTS.messages.ask('messages-0')),
    });
    assert.equal(stand.vendor.requests.at(-1)!.headers['anthropic-beta'], betas);
  });
});

const MESSAGE: JsonObject = {
  ...{ id: 'msg_2', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'Hi' }] },
  ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
};

describe('an operation of the responses API', () => {
  const compact = (model: string, more: JsonObject = {}) =>
    fetch(`${stand.v1}/responses/compact`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stand.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, input: [{ role: 'user', content: 'Hello' }], ...more }),
    });

  it('is forwarded to a vendor of this API, and charged', async () => {
    const output = [{ id: 'cmp_1', type: 'compaction', encrypted_content: 'ENC' }];
    const usage = { input_tokens: 5, output_tokens: 2, total_tokens: 7 };
    stand.vendor.next(jsonAnswer(200, { id: 'resp_c', object: 'response.compaction', created_at: 1, output, usage }));
    const answer = await compact('responses-0');
    assert.equal(answer.status, 200);
    assert.deepEqual(((await answer.json()) as JsonObject).output, output);
    assert.equal(stand.vendor.requests.at(-1)!.path, '/v1/responses/compact');
    const kept = await fetch(`${stand.v1}/responses/resp_c`, { headers: { authorization: `Bearer ${stand.key}` } });
    assert.equal(kept.status, 404, 'it is not a response that can be continued');
  });

  it('is refused by name where the vendor has another API', async () => {
    const before = stand.vendor.requests.length;
    const answer = await compact('chat-0');
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [404, 'application/json']);
    assert.match(await answer.text(), /POST \/v1\/responses\/compact is not available for the model 'chat-0'/);
    assert.equal((await compact('responses-0', { stream: true })).status, 400);
    assert.equal(stand.vendor.requests.length, before);
  });

  it('counts the tokens of a request, by the vendor or by an estimate that says so', async () => {
    const count = (body: JsonObject) =>
      fetch(`${stand.v1}/responses/input_tokens`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stand.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const answer = await count({ model: 'chat-0', input: 'x'.repeat(400) });
    const { object, input_tokens: tokens } = (await answer.json()) as JsonObject;
    assert.deepEqual([answer.status, object], [200, 'response.input_tokens']);
    assert.ok(Number(tokens) > 50 && Number(tokens) < 400, String(tokens));
    assert.equal(answer.headers.get('x-turnpike-translation'), 'input_tokens:estimated');
    assert.equal((await count({ model: 'chat-0', input: 7 })).status, 400);
  });
});

describe('a compressed request', () => {
  /** Node 22 has it, too, and takes what is cut for whole. */
  const hasZstd = Number.parseInt(process.versions.node, 10) >= 24;
  const CODINGS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
    gzip: zlib.gzipSync,
    'X-Gzip': zlib.gzipSync,
    deflate: zlib.deflateSync,
    Deflate: zlib.deflateRawSync,
    br: zlib.brotliCompressSync,
    ...(hasZstd && { zstd: (zlib as unknown as { zstdCompressSync(bytes: Buffer): Buffer }).zstdCompressSync }),
  };
  const send = (path: string, coding: string, bytes: Buffer, type = 'application/json'): Promise<Response> =>
    fetch(stand.root + path, {
      method: 'POST',
      headers: {
        ...{ ...CLIENTS.messages.headers, authorization: `Bearer ${stand.key}` },
        ...{ 'content-type': type, 'content-encoding': coding },
      },
      body: new Uint8Array(bytes),
    });

  for (const [coding, compress] of Object.entries(CODINGS)) {
    it(`is read as what was compressed: ${coding}`, async () => {
      for (const client of ['chat', 'messages', 'responses'] as const) {
        const body = CLIENTS[client].ask('chat-0');
        const answer = await send(CLIENTS[client].path, coding, compress(Buffer.from(JSON.stringify(body))));
        assert.equal(answer.status, 200, await answer.text());
        assert.match(stand.vendor.requests.at(-1)!.body.toString(), /"messages":/);
        assert.equal(stand.vendor.requests.at(-1)!.headers['content-encoding'], undefined);
      }
    });

    it(`is refused before it fills the memory: ${coding}`, async () => {
      const body = { ...CLIENTS.chat.ask('chat-0'), user: 'a'.repeat(40 << 20) };
      const bomb = compress(Buffer.from(JSON.stringify(body)));
      assert.ok(bomb.length < 1 << 20);
      const answer = await send(CLIENTS.chat.path, coding, bomb);
      assert.equal(answer.status, 413, await answer.text());
    });

    it(`is refused if it is cut or is something else: ${coding}`, async () => {
      const whole = compress(Buffer.from(JSON.stringify(CLIENTS.chat.ask('chat-0'))));
      for (const bytes of [
        whole.subarray(0, whole.length >> 1),
        whole.subarray(0, -1),
        Buffer.from('{"model":"chat-0"}'),
        Buffer.alloc(0),
      ]) {
        const answer = await send(CLIENTS.chat.path, coding, bytes);
        const { error } = (await answer.json()) as { readonly error: JsonObject };
        assert.deepEqual([answer.status, error.param], [400, 'content-encoding'], `${bytes.length} bytes`);
      }
    });
  }

  it('may be a multipart body', async () => {
    const form = '--b\r\ncontent-disposition: form-data; name="x"\r\n\r\n1\r\n--b--\r\n';
    const type = 'multipart/form-data; boundary=b';
    const answer = await send('/v1/audio/transcriptions', 'gzip', zlib.gzipSync(form), type);
    // It was read: what is missing is named.
    assert.match(await answer.text(), /"param":"(model|file)"/);
  });

  for (const coding of ['compress', 'gzip, gzip', 'gzip, identity', ...(hasZstd ? [] : ['zstd'])]) {
    it(`is refused with what is supported: ${coding}`, async () => {
      const answer = await send(CLIENTS.chat.path, coding, Buffer.from('{}'));
      assert.equal(answer.status, 415);
      assert.match(answer.headers.get('accept-encoding') ?? '', /^gzip, deflate, br/);
    });
  }
});

describe('a connection', () => {
  const request = (body: string, length = Buffer.byteLength(body)): string =>
    [
      'POST /v1/chat/completions HTTP/1.1',
      'host: localhost',
      `authorization: Bearer ${stand.key}`,
      'content-type: application/json',
      `content-length: ${length}`,
      '',
      body,
    ].join('\r\n');

  it('answers a request with bytes behind its body, and is closed then', async () => {
    for (const pieces of [undefined, 64]) {
      const connection = await rawConnection(stand.gateway.port);
      await connection.write(`${request(JSON.stringify(CLIENTS.chat.ask('chat-0')))}xyz`, pieces);
      assert.equal((await connection.response()).status, 200);
      assert.equal(await connection.ended, 'fin');
    }
  });

  it('says what is wrong if a length counts characters instead of bytes', async () => {
    const body = JSON.stringify({ ...CLIENTS.chat.ask('chat-0'), user: 'héllo' });
    const connection = await rawConnection(stand.gateway.port);
    await connection.write(request(body, body.length));
    const answer = await connection.response();
    assert.deepEqual([answer.status, /"code":"(\w+)"/.exec(answer.text)?.[1]], [400, 'invalid_json']);
  });

  it('serves the absolute form of a target, and names HEAD beside GET', async () => {
    const connection = await rawConnection(stand.gateway.port);
    await connection.write('GET http://localhost:1/healthz HTTP/1.1\r\nhost: localhost\r\n\r\n');
    assert.equal((await connection.response()).status, 200);
    await connection.write('DELETE /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n');
    assert.equal((await connection.response()).headers.allow, 'GET, HEAD, OPTIONS');
    connection.abort();
  });

  it('is closed with its thousandth answer', async () => {
    const connection = await rawConnection(stand.gateway.port);
    for (let i = 1; i <= 1_000; i++) {
      await connection.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n');
      const { status, headers } = await connection.response();
      assert.equal(status, 200);
      if (i === 1_000) assert.equal(headers.connection, 'close');
    }
    assert.equal(await connection.ended, 'fin');
  });
});

describe('a request of the messages style', () => {
  it('has a day of the calendar as its version, and a limit above 0 unless its vendor has the same API', async () => {
    const answer = await fetch(`${stand.v1}/messages`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${stand.key}`,
        'anthropic-version': '2023-13-45',
        'content-type': 'application/json',
      },
      body: JSON.stringify(CLIENTS.messages.ask('messages-0')),
    });
    assert.equal(answer.status, 400);
    const { status, text } = await ask('messages', 'chat-0', { max_tokens: 0 });
    assert.deepEqual([status, /"param":"([^"]+)"/.exec(text)?.[1]], [400, 'max_tokens']);
    stand.vendor.next(jsonAnswer(200, MESSAGE));
    assert.equal((await ask('messages', 'messages-0', { max_tokens: 0 })).status, 200);
  });
});
