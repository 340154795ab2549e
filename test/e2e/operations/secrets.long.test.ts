/** Secrets: a unique mark in each of them, everything that can go wrong, and then a search in all that has come out. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { describeAssembly } from '../../../core/cli/check.ts';
import { definePlugin } from '../../../core/plugin.ts';
import { type RawResponse, rawConnection, requestText } from '../../kit/clients/raw-client.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { chatBody, chatError, chatEvent, chatEvents, chatRequest } from '../../kit/gateway/fixtures.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { heldByCalls } from '../../kit/gateway/money.ts';
import { storedBytes } from '../../kit/gateway/rows.ts';
import { until } from '../../kit/until.ts';
import { type FakeVendor, fakeVendor, type VendorRequest } from '../../kit/vendors/fake-vendor.ts';
import { bytes, cutAt, eventStream, head, htmlAnswer, jsonAnswer, rst, type Script } from '../../kit/vendors/script.ts';

const PATH = '/v1/chat/completions';
const JSON_TYPE = { 'content-type': 'application/json' } as const;

/** A mark that stands nowhere else. The signs are those that encodings change. */
function canary(name: string): string {
  return `${name}/+=${randomBytes(12).toString('hex')}`;
}

/** A text in every form in which it could leak without being noticed. */
function formsOf(secret: string): ReadonlyMap<string, string> {
  const data = Buffer.from(secret);
  /** What base64 makes of it behind so many other bytes, without the characters that those and later ones decide. */
  const inside = (shift: number): string => {
    const text = Buffer.concat([Buffer.alloc(shift), data])
      .toString('base64')
      .replace(/=+$/, '');
    return text.slice(Math.ceil((shift * 4) / 3) + (shift > 0 ? 1 : 0), -2);
  };
  const forms = new Map([
    ['plain', secret],
    ['JSON', JSON.stringify(secret).slice(1, -1)],
    ['JSON with its slashes escaped', JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/')],
    ['URL', encodeURIComponent(secret)],
    ['form', new URLSearchParams({ a: secret }).toString().slice(2)],
    ['hexadecimal', data.toString('hex')],
    ['upper-case hexadecimal', data.toString('hex').toUpperCase()],
  ]);
  for (const shift of [0, 1, 2]) {
    forms.set(`base64 at ${shift}`, inside(shift));
    forms.set(`base64url at ${shift}`, inside(shift).replaceAll('+', '-').replaceAll('/', '_'));
  }
  return forms;
}

/** Fails where a text holds one of the secrets in any form; says which and where. */
function assertFree(where: string, text: string | Buffer, secrets: Readonly<Record<string, string>>): void {
  for (const [name, secret] of Object.entries(secrets)) {
    for (const [form, spelling] of formsOf(secret)) {
      const at = text.indexOf(spelling);
      assert.ok(
        at < 0,
        `${where} holds ${name} (${form}): …${text.toString().slice(Math.max(0, at - 150), at + 150)}…`,
      );
    }
  }
}

/** A request as a vendor got it, in one text. */
function textOf(request: VendorRequest): string {
  return [request.path, ...request.rawHeaders.map((pair) => pair.join(': ')), request.body.toString()].join('\n');
}

describe('T-SEC-01 secrets', () => {
  const VENDOR = { main: canary('vendor-main'), spare: canary('vendor-spare') };
  const SAID = {
    prompt: canary('prompt'),
    cookie: canary('cookie'),
    organization: canary('organization'),
    stainless: canary('stainless'),
    trace: canary('trace'),
    agent: canary('agent'),
    referer: canary('referer'),
    idempotency: canary('idempotency'),
    forwarded: canary('forwarded'),
    internal: canary('internal'),
  };
  const METRICS_TOKEN = canary('metrics-token');
  const PASSWORD = canary('password');
  const UNKNOWN_KEY = `sk-${randomBytes(24).toString('hex')}`;
  const ENV = { MAIN_KEY: VENDOR.main, SPARE_KEY: VENDOR.spare, METRICS_TOKEN };

  const clock = fakeClock();
  let gateway: TestGateway;
  let main: FakeVendor;
  let spare: FakeVendor;
  /** A key with an account of its own. */
  let memberKey: string;
  /** All that clients got, heads and bodies, by what they had asked for. */
  const answers = new Map<string, string>();

  /** What clients send along, and nobody but us should see. */
  const clientHeaders = {
    cookie: `session=${SAID.cookie}`,
    'openai-organization': SAID.organization,
    'openai-project': SAID.organization,
    'x-stainless-lang': SAID.stainless,
    'x-stainless-retry-count': '0',
    traceparent: SAID.trace,
    tracestate: SAID.trace,
    'user-agent': SAID.agent,
    referer: SAID.referer,
    origin: SAID.referer,
    'idempotency-key': SAID.idempotency,
    'x-forwarded-for': SAID.forwarded,
    'x-real-ip': SAID.forwarded,
    forwarded: SAID.forwarded,
    'x-user-id': SAID.internal,
    te: 'trailers',
    'accept-language': SAID.internal,
    'accept-encoding': 'gzip',
    'if-none-match': SAID.internal,
  };

  async function send(name: string, request: Buffer): Promise<RawResponse | undefined> {
    const client = await rawConnection(gateway.port);
    try {
      await client.write(request);
      const answer = await client.response().catch(() => undefined);
      answers.set(name, client.received.toString('latin1'));
      return answer;
    } finally {
      client.abort();
    }
  }
  function call(
    name: string,
    key: string,
    more: Parameters<typeof chatRequest>[0] = {},
  ): Promise<RawResponse | undefined> {
    const body = chatRequest({
      model: 'alone',
      messages: [{ role: 'user', content: SAID.prompt }],
      max_tokens: 9,
      ...more,
    });
    const headers = { authorization: `Bearer ${key}`, 'x-api-key': key, ...clientHeaders, ...JSON_TYPE };
    return send(name, requestText('POST', PATH, headers, JSON.stringify(body)));
  }

  /** Answers of a vendor that tells, wherever it can, which key it was asked with and where it is. */
  function indiscretions(request: VendorRequest, key: string): Readonly<Record<string, Script>> {
    const said = `Incorrect API key provided: ${key} at http://${request.headers.host}/v1`;
    const more = {
      'set-cookie': `a=${key}`,
      location: `http://${request.headers.host}/?key=${encodeURIComponent(key)}`,
      'www-authenticate': `Bearer realm="${key}"`,
      'proxy-authenticate': `Basic realm="${key}"`,
      'alt-svc': `h2="${request.headers.host}"`,
      'x-debug': key,
      'x-request-id': key,
      'openai-organization': key,
      server: key,
      via: request.headers.host ?? '',
      'retry-after': '1',
    };
    const refusals = [301, 302, 307, 400, 401, 402, 403, 404, 407, 408, 409, 413, 415, 422, 429, 500, 502, 503, 529];
    const scripts: Record<string, Script> = {
      'a success': jsonAnswer(200, chatBody(), more),
      'an error in a success': jsonAnswer(200, chatError(said, key), more),
      'a page': htmlAnswer(502),
      'a page with everything': [
        head(500, { 'content-type': 'text/html', 'content-length': String(said.length), ...more }),
        bytes(said),
      ],
      'no JSON': [head(400, { 'content-length': String(said.length), ...more }), bytes(said)],
      'a status line': [bytes(`HTTP/1.1 400 ${said}\r\ncontent-length: 2\r\n\r\n{}`)],
      'no HTTP': [bytes(said), rst()],
      'a stream': eventStream(chatEvents(), more),
      'an error before the stream': eventStream([chatEvent(chatError(said, key))], more),
      'an error in the stream': eventStream([...chatEvents().slice(0, 3), chatEvent(chatError(said, key))], more),
      'a named error in the stream': eventStream(
        [...chatEvents().slice(0, 3), `event: error\ndata: ${said}\n\n`],
        more,
      ),
      'a comment before an error': eventStream([': wait\n\n', chatEvent(chatError(said, key))], more),
      'half a stream': cutAt(eventStream(chatEvents(), more), -200),
    };
    for (const status of refusals) {
      scripts[`a ${status}`] = jsonAnswer(status, chatError(said, key), more);
      scripts[`a ${status} with other words`] = jsonAnswer(status, chatError('No.', 'no', key), more);
    }
    return scripts;
  }

  before(async () => {
    main = await fakeVendor();
    spare = await fakeVendor();
    const standard = defaultConfig([main, spare]);
    const from = (variable: string) => `\${${variable}}`;
    const [mainChannel, spareChannel] = standard.channels as Record<string, unknown>[];
    gateway = await startGateway({
      vendor: [main, spare],
      env: ENV,
      clock,
      plugins: [
        definePlugin({
          name: 'talker',
          api: 2,
          create: (host) => ({
            admit(x) {
              // What a careless plugin might log, and what an exception might carry.
              host.log.info('admitted', { headers: x.headers, key: x.headers['x-api-key'] });
              host.log.debug(`asked with ${x.headers.authorization} for ${VENDOR.main}`);
              if (x.headers['x-fail'] !== undefined)
                throw new Error(`cannot reach it with ${VENDOR.main} and ${x.headers.authorization}`);
            },
          }),
        }),
      ],
      config: {
        listen: { port: 0, attempts: { max: 2 } },
        pipeline: [...(standard.pipeline as string[]), 'passthrough', 'metrics'],
        channels: [
          { ...mainChannel, key: from('MAIN_KEY') },
          { ...spareChannel, key: from('SPARE_KEY') },
        ],
        metrics: { token: from('METRICS_TOKEN') },
        models: {
          alone: { from: ['main'], price: { input: 1, output: 2 } },
          both: { from: ['main', 'spare'], price: { input: 1, output: 2 } },
        },
        passthrough: [{ prefix: '/v1/files', channel: 'main', free: true }],
      },
    });
    await gateway.command('user create --name member --role member --password-stdin', PASSWORD);
    await gateway.command('user credit member 1000000');
    memberKey = await gateway.command('key create --name member --user member --unlimited');
  });
  after(async () => {
    await gateway.stop();
    await main.close();
    await spare.close();
  });

  /** Everything that must not come out anywhere but where it belongs. */
  const keys = () => ({
    'the first key': gateway.key,
    'the member’s key': memberKey,
    'the root password': gateway.gateway.firstSecrets.rootPassword ?? assert.fail(),
    'the member’s password': PASSWORD,
    'the metrics token': METRICS_TOKEN,
    'an unknown key': UNKNOWN_KEY,
    'the vendor key of main': VENDOR.main,
    'the vendor key of spare': VENDOR.spare,
  });

  it('are used in every way that goes well or wrong', async () => {
    assert.equal((await call('a good call', gateway.key))?.status, 200);
    assert.equal((await call('a good stream', memberKey, { stream: true }))?.status, 200);
    assert.equal((await call('an unknown key', UNKNOWN_KEY))?.status, 401);
    assert.equal((await call('an unknown model', memberKey, { model: 'none' }))?.status, 404);
    assert.equal((await call('a wrong field', memberKey, { temperature: 9 }))?.status, 400);
    const probe = (await send(
      'a plugin that fails',
      requestText(
        'POST',
        PATH,
        { authorization: `Bearer ${memberKey}`, 'x-fail': '1', ...JSON_TYPE },
        JSON.stringify(chatRequest({ model: 'alone' })),
      ),
    ))!;
    assert.equal(probe.status, 500);

    // A vendor that answers all of its sins in turn; the clock moves on, so that it is asked again and again.
    const example = { headers: { host: `127.0.0.1:${main.port}` } } as unknown as VendorRequest;
    for (const name of Object.keys(indiscretions(example, ''))) {
      for (const stream of [false, true]) {
        for (const model of ['alone', 'both']) {
          const asked = main.requests.length;
          main.next((request) => indiscretions(request, VENDOR.main)[name]!);
          await call(`${name}, ${stream ? 'streamed' : 'whole'}, ${model}`, memberKey, { model, stream });
          assert.notEqual(main.requests.length, asked, `main was not asked for ${name}`);
          await recover();
        }
      }
      // What a passthrough carries with success is nobody’s to read.
      if (/error/.test(name)) continue;
      main.next((request) => indiscretions(request, VENDOR.main)[name]!);
      await send(
        `${name}, carried`,
        requestText('GET', `/v1/files/a?key=${encodeURIComponent(memberKey)}&limit=2`, {
          authorization: `Bearer ${memberKey}`,
          ...clientHeaders,
        }),
      );
      await recover();
    }
  });

  /** Lets time pass until a channel that failed is asked again. */
  async function recover(): Promise<void> {
    for (let tries = 0; tries < 20; tries++) {
      clock.advance(60_000);
      const asked = main.requests.length;
      for (const model of ['alone', 'both']) await call('a call to see whether all is well', memberKey, { model });
      if (main.requests.length === asked + 2) return;
    }
    assert.fail('main is never asked again');
  }

  it('T-SEC-09 may stand in the address where models are listed, and in no log', async () => {
    const plain = requestText('GET', `/v1/models?key=${memberKey}`, clientHeaders);
    const answer = await send('a key in the address', plain);
    assert.equal(answer?.status, 200);
    assert.equal(answer.headers['referrer-policy'], 'no-referrer');
    assert.equal(
      (await send('an unknown key in the address', requestText('GET', `/v1/models?key=${UNKNOWN_KEY}`)))?.status,
      401,
    );
    const elsewhere = requestText(
      'POST',
      `${PATH}?key=${memberKey}`,
      JSON_TYPE,
      JSON.stringify(chatRequest({ model: 'alone' })),
    );
    assert.equal((await send('a key in the address of a call', elsewhere))?.status, 401);
  });

  it('T-SEC-03 are not repeated to who sends a wrong one', async () => {
    const wrong = [UNKNOWN_KEY, `${UNKNOWN_KEY}, ${UNKNOWN_KEY}`, `Basic ${UNKNOWN_KEY}`, `${memberKey}x`];
    for (const [i, key] of wrong.entries()) {
      for (const header of ['authorization', 'x-api-key', 'x-goog-api-key']) {
        const value = header === 'authorization' ? `Bearer ${key}` : key;
        const answer = await send(`wrong key ${i} in ${header}`, requestText('GET', '/v1/models', { [header]: value }));
        assert.equal(answer?.status, 401);
      }
    }
    const two = requestText('GET', '/v1/models', { authorization: `Bearer ${memberKey}`, 'x-api-key': UNKNOWN_KEY });
    assert.equal((await send('two keys', two))?.status, 401);
  });

  it('are not in the log, at its most talkative', () => {
    assert.ok(gateway.log.length > 100);
    assertFree('the log', gateway.log.join('\n'), { ...keys(), prompt: SAID.prompt, cookie: SAID.cookie });
  });

  it('T-SEC-02 T-SEC-08 are in no answer, nor is the vendor’s address', () => {
    assert.ok(answers.size > 200);
    const { prompt: _, ...headers } = SAID;
    for (const [name, text] of answers) {
      assertFree(`the answer to ${name}`, text, {
        ...keys(),
        ...headers,
        'the address of main': `127.0.0.1:${main.port}`,
        'the address of spare': `127.0.0.1:${spare.port}`,
      });
    }
  });

  it('are in the database only as what cannot be turned back', () => {
    const data = storedBytes(gateway.storeFile);
    for (const key of [gateway.key, memberKey]) {
      const hash = createHash('sha256').update(key).digest();
      assert.ok(data.includes(hash) || data.includes(hash.toString('hex')), 'the hash of a key is there');
    }
    assertFree('the database', data, { ...keys(), ...SAID });
  });

  it('are not told by commands, the report or the metrics', async () => {
    for (const command of ['key list', 'key list --json', 'user list', 'user list --json', 'reconcile']) {
      const text = await gateway.command(command);
      assert.notEqual(text, '');
      assertFree(command, text, { ...keys(), ...SAID });
    }
    const report = await describeAssembly(gateway.configFile, ENV);
    assert.match(report, /passthrough/);
    assertFree('check', report, { ...keys(), ...SAID });
    const metrics = await send('metrics', requestText('GET', '/metrics', { authorization: `Bearer ${METRICS_TOKEN}` }));
    assert.equal(metrics?.status, 200);
    assert.match(metrics.text, /turnpike_calls_total/);
    assertFree('metrics', metrics.text, { ...keys(), ...SAID });
    const refused = await send(
      'metrics refused',
      requestText('GET', '/metrics', { authorization: `Bearer ${UNKNOWN_KEY}` }),
    );
    assert.equal(refused?.status, 401);
    assertFree('metrics refused', refused.text, keys());
  });

  it('go to the vendor they belong to and to no other, and with them only what a vendor needs', () => {
    const { prompt: _, ...headers } = SAID;
    for (const [name, vendor] of Object.entries({ main, spare })) {
      const { [`the vendor key of ${name}`]: own, ...others } = keys() as Record<string, string>;
      const seen = new Map<string, Set<string>>();
      assert.ok(vendor.requests.length > 20);
      for (const request of vendor.requests) {
        assertFree(`a request to ${name}`, textOf(request), { ...others, ...headers });
        assert.equal(request.headers.authorization, `Bearer ${own}`);
        assert.equal(request.headers['user-agent'], 'turnpike');
        const kind = request.path.endsWith('/chat/completions') ? 'call' : 'passthrough';
        const names = seen.get(kind) ?? new Set();
        seen.set(kind, names);
        for (const header of Object.keys(request.headers)) names.add(header);
        if (kind === 'passthrough') assert.equal(request.path, '/v1/files/a?limit=2');
      }
      const sorted = (kind: string) => [...(seen.get(kind) ?? [])].sort().join(' ');
      assert.equal(sorted('call'), 'accept accept-encoding authorization content-length content-type host user-agent');
      assert.equal(
        sorted('passthrough'),
        name === 'main' ? 'accept-encoding authorization connection host user-agent' : '',
      );
    }
  });

  it('are shown once, by the command that makes a key', async () => {
    const key = await gateway.command('key create --name again');
    assert.match(key, /^sk-[0-9A-Za-z]{49}$/);
    assertFree('key list', await gateway.command('key list'), { key });
    assertFree('the log', gateway.log.join('\n'), { key });
  });

  it('would be found, so that these tests say something', () => {
    for (const [form, spelling] of formsOf(VENDOR.main)) {
      assert.throws(() => assertFree('here', `a${spelling}b`, { key: VENDOR.main }), /holds key/, form);
    }
    const packed = Buffer.from(`Basic ab${VENDOR.main}c`).toString('base64');
    assert.throws(() => assertFree('here', packed, { key: VENDOR.main }), /holds key/);
  });
});

describe('T-LOG-01 words of others in the log', () => {
  it('make one line each, which is JSON, and command no terminal', async () => {
    const EVENT = 'words of a client';
    const listener = definePlugin({
      name: 'listener',
      api: 2,
      create: (host) => ({
        settle(x) {
          const { body, model } = x.call;
          host.log.info(EVENT, {
            agent: x.headers['user-agent'],
            model,
            user: body.get('user'),
            [String(body.get('user'))]: 1,
          });
          host.log.info(String(body.get('user')));
          return undefined;
        },
      }),
    });
    const vendor = await fakeVendor();
    const gateway = await startGateway({ vendor, plugins: [listener] });
    const EVIL = [
      'a\n{"level":"fatal","msg":"forged"}',
      'a\r\n\r\n{"level":"fatal"}',
      '\u001b[2J\u001b]0;owned\u0007',
      'a\u2028{"level":"fatal"}\u2029b',
      '\u0085\u009b31m\u007f\u0000\b',
      '","level":"fatal","a":"',
      '\ud800',
      `x${'y\n'.repeat(500_000)}`,
    ];
    const before = gateway.log.length;
    for (const user of EVIL) {
      const answer = await gateway.chat({ user });
      assert.equal(answer.status, 200);
      await gateway.chat({ model: user.slice(0, 200), user });
    }
    const name = await gateway.tryCommand(`key create --name ${EVIL[0]!.replaceAll(' ', '')}`);
    assert.equal(name.code, 1);
    await gateway.stop();
    await vendor.close();
    const lines = gateway.log.slice(before);
    assert.equal(lines.filter((line) => (JSON.parse(line) as { msg: string }).msg === EVENT).length, 2 * EVIL.length);
    for (const line of lines) {
      assert.doesNotMatch(line, /[\p{Cc}\p{Zl}\p{Zp}]/u);
      assert.ok(line.length < 100_000);
      const { level } = JSON.parse(line) as { level: string };
      assert.ok(['debug', 'info', 'warn', 'error'].includes(level), level);
    }
  });
});

describe('T-ERR-01 a plugin that fails', () => {
  const SECRET = 'SELECT hash FROM api_key at /srv/turnpike/core/secret.ts:1:1';
  /** Fails in the phase that the client names; first of its phase, by what it is called, or last. */
  const source = (name: string, phases: readonly string[]) => `
    const fail = (place) => (x) => {
      if (x.headers['x-fail'] === place) throw new TypeError(${JSON.stringify(SECRET)});
    };
    export default { name: '${name}', api: 2, create: () => ({
      ${phases.map((phase) => `${phase}: fail('${name} ${phase}')`).join(', ')}
    }) };`;
  const PHASES = ['authenticate', 'enter', 'admit', 'route', 'attempted', 'settle'];
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-test-'));
  const clock = fakeClock();
  let gateway: TestGateway;
  let vendor: FakeVendor;
  /** With a balance, so that a hold that is kept can be seen. */
  let key: string;

  before(async () => {
    vendor = await fakeVendor();
    writeFileSync(join(dir, 'first.mjs'), source('first', PHASES));
    writeFileSync(join(dir, 'last.mjs'), source('last', ['admit', 'attempted', 'settle']));
    const standard = defaultConfig([vendor]);
    gateway = await startGateway({
      vendor,
      dir,
      clock,
      config: { pipeline: [{ use: './first.mjs' }, ...(standard.pipeline as string[]), { use: './last.mjs' }] },
    });
    key = await gateway.customer(100_000);
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
    rmSync(dir, { recursive: true, force: true });
  });

  async function ask(place: string, stream: boolean): Promise<Response> {
    return fetch(`${gateway.url}${PATH}`, {
      method: 'POST',
      headers: { ...JSON_TYPE, authorization: `Bearer ${key}`, 'x-fail': place },
      body: JSON.stringify(chatRequest({ model: 'test-model', stream, max_tokens: 16 })),
    });
  }
  /** What could not be settled stays held until the sweep closes it. */
  async function swept(): Promise<void> {
    await until('nothing is held any more', async () => {
      clock.advance(10_000);
      return Object.keys(await heldByCalls(gateway)).length === 0;
    });
  }

  for (const place of [...PHASES.map((phase) => `first ${phase}`), 'last admit', 'last attempted', 'last settle']) {
    for (const stream of [false, true]) {
      it(`in ${place.split(' ').reverse().join(' as the ')} of a ${stream ? 'stream' : 'whole answer'} tells nothing and keeps nothing`, async () => {
        const answer = await ask(place, stream);
        // Only the plugins whose records are the books are needed for a good end.
        const harmless = place.endsWith('attempted') || place.endsWith('settle');
        assert.equal(answer.status, harmless ? 200 : 500);
        assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-v]{26}$/);
        const text = await answer.text();
        assertFree('the answer', text, { sql: 'SELECT', path: '/srv', kind: 'TypeError' });
        if (!harmless) {
          const { error } = JSON.parse(text) as { error: Record<string, string> };
          assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'param', 'type']);
          assert.equal(error.code, 'internal_error');
          assert.equal(error.type, 'gateway_api_error');
        }
        const told = gateway.log.filter((line) => line.includes('a plugin failed')).at(-1) ?? '';
        const [plugin, phase] = place.split(' ');
        const { plugin: who, phase: when } = JSON.parse(told) as Record<string, string>;
        assert.deepEqual([who, when], [plugin, phase]);
        await swept();
        const next = await ask('nowhere', stream);
        assert.equal(next.status, 200);
        await next.text();
      });
    }
  }
});

describe('T-STR-01 many streams at a time', () => {
  it('never carry what belongs to another, whatever breaks beside them', async () => {
    const STREAMS = 200;
    const PIECES = 6;
    /** What the vendor says: over and over the mark that it found in the question. */
    const script = (vendor: string) => (request: VendorRequest) => {
      const { user } = request.json;
      const mark = String(user);
      const number = Number(mark.slice(5));
      const events = chatEvents({ deltas: Array.from({ length: PIECES }, (_, i) => ` [${mark} from ${vendor} ${i}]`) });
      if (vendor === 'spare') return eventStream(events);
      if (number % 10 === 0) return [rst()];
      if (number % 10 === 1) return jsonAnswer(503, chatError(`[${mark}] is unwell`, 'unwell'));
      if (number % 10 === 2) return eventStream([chatEvent(chatError(`[${mark}] is unwell`, 'unwell'))]);
      if (number % 10 === 3) return cutAt(eventStream(events), -150);
      return eventStream(events);
    };
    const main = await fakeVendor(script('main'));
    const spare = await fakeVendor(script('spare'));
    const gateway = await startGateway({ vendor: [main, spare] });
    let whole = 0;
    let left = 0;

    async function stream(number: number): Promise<void> {
      const client = await rawConnection(gateway.port);
      // Some clients ask twice on their connection.
      for (const mark of [`mark-${number}`, `mark-${number + STREAMS}`].slice(0, 1 + (number % 2))) {
        const body = JSON.stringify(chatRequest({ model: 'test-model', stream: true, max_tokens: 99, user: mark }));
        const seen = client.received.length;
        await client.write(requestText('POST', PATH, { ...JSON_TYPE, authorization: `Bearer ${gateway.key}` }, body));
        if (number % 10 > 6) {
          await client.until('mark-').catch(() => {});
          client.abort();
        } else {
          await client.response().catch(() => {});
        }
        await Promise.resolve();
        const text = client.received.toString('latin1', seen);
        for (const [found] of text.matchAll(/mark-\d+/g)) assert.equal(found, mark);
        if (text.includes('[DONE]')) {
          whole++;
          assert.equal(text.split(`[${mark} from `).length, PIECES + 1);
          assert.equal(new Set(text.match(/from \w+ /g)).size, 1, 'one vendor only');
        }
        if (number % 10 > 6) {
          left++;
          break;
        }
        if (client.ending !== undefined) break;
      }
      client.abort();
    }
    await Promise.all(Array.from({ length: STREAMS }, (_, i) => stream(i)));
    await gateway.stop();
    for (const vendor of [main, spare]) {
      await vendor.close();
      for (const { json, body } of vendor.requests) {
        assert.deepEqual(new Set(body.toString().match(/mark-\d+/g)), new Set([json.user]));
      }
    }
    assert.equal(left, (STREAMS / 10) * 3);
    assert.ok(whole > STREAMS / 2, `${whole} came to a good end`);
    assert.ok(spare.requests.length > 0);
  });
});
