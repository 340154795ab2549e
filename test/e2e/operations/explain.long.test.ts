/** `turnpike explain`: what would become of a call, told beside a running gateway and without one, and nothing done about it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Decision } from '../../../core/contracts/explaining.ts';
import type { CommandResult } from '../../../core/operations/commands/command-line.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { allRows } from '../../kit/gateway/rows.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer } from '../../kit/vendors/script.ts';

const HELLO = { model: 'test-model', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };
const PRICE = { input: 1, output: 2 };

let vendor: FakeVendor;
let clock: FakeClock;
let gateway: TestGateway;
before(async () => {
  vendor = await fakeVendor();
  clock = fakeClock();
  const channel = { vendor: 'compatible', url: vendor.url, key: VENDOR_KEY };
  gateway = await startGateway({
    clock,
    config: {
      limits: { requestsPerMinute: 3, perAccount: { tokensPerMinute: 5_000, concurrent: 2 } },
      channels: [
        { ...channel, name: 'main', priority: 0 },
        { ...channel, name: 'spare', priority: 1 },
        { ...channel, name: 'other', speaks: ['messages'], quirks: { image: { url: 'fetch' } } },
        { ...channel, name: 'painter', speaks: ['images', 'edits'], quirks: { images: { form: 'structured' } } },
        { ...channel, name: 'studio', speaks: ['edits', 'transcription'] },
      ],
      models: {
        'test-model': { from: [{ main: 'vendor-model' }, 'spare'], price: PRICE },
        'another-name': { alias: 'test-model' },
        translated: { from: ['other'], free: true },
        strict: { from: ['other'], free: true, strict: true },
        unpriced: { from: ['main'] },
        pictures: { from: ['painter'], free: true },
        studio: { from: ['studio'], price: { perImage: 0.04, perSecond: 0.0001 } },
      },
    },
  });
});
after(async () => {
  await gateway.stop();
  await vendor.close();
});

interface Asked {
  readonly key?: string;
  readonly style?: string;
}

function explain(body: object | string, asked: Asked = {}, options = ''): Promise<CommandResult> {
  const { key = gateway.key, style = 'chat' } = asked;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return gateway.tryCommand(`explain --key ${key} --style ${style} --body -${options}`, text);
}

/** The lines, without the names they begin with. */
async function linesOf(body: object | string, asked?: Asked): Promise<readonly (readonly [string, string])[]> {
  const { stdout, stderr } = await explain(body, asked);
  assert.equal(stderr, '');
  const lines = stdout.split('\n').slice(0, -1);
  return lines.map((line) => [line.slice(0, 14).trim(), line.slice(14)] as const);
}

async function decisionOf(body: object | string, asked?: Asked): Promise<Decision & { readonly code: number }> {
  const { code, stdout, stderr } = await explain(body, asked, ' --json');
  assert.equal(stderr, '');
  return { ...(JSON.parse(stdout) as Decision), code };
}

/** So many seconds of nothing, as a WAVE file: one byte for each of 8000 samples. */
function stillness(seconds: number): Buffer {
  const size = seconds * 8_000;
  const head = Buffer.alloc(44);
  head.write('RIFF\0\0\0\0WAVEfmt ', 0, 'latin1');
  for (const [at, value] of [
    [4, 36 + size],
    [16, 16],
    [20, 0x10001],
    [24, 8_000],
    [28, 8_000],
    [32, 0x80001],
    [40, size],
  ] as const) {
    head.writeUInt32LE(value, at);
  }
  head.write('data', 36, 'latin1');
  return Buffer.concat([head, Buffer.alloc(size, 128)]);
}

describe('a call that is explained', () => {
  it('is told from its sender to the vendor', async () => {
    assert.deepEqual(await linesOf({ ...HELLO, model: 'another-name', stream: true }), [
      ['who', 'key "first" (1) of the account "root" (1)'],
      ['call', 'chat, model "another-name", a stream, 68 bytes of input, at most 100 output tokens'],
      ['keys', 'the key may use any model'],
      ['limits', 'requestsPerMinute of the key: 0 of 3 used, the call takes 1'],
      ['limits', 'perAccount.tokensPerMinute of the account: 0 of 5000 used, the call takes 117'],
      ['limits', 'perAccount.concurrent of the account: 0 of 2 running'],
      ['prices', 'price of test-model: input 1, output 2 per million tokens (gateway.yaml)'],
      ['quota', 'reserves 646 quota: at most 1092 input and 100 output tokens'],
      ['quota', 'the account is not limited'],
      ['quota', 'the key is not limited'],
      ['models', 'another-name is another name for test-model'],
      ['offer', 'main: test-model as "vendor-model", in the style chat, POST /chat/completions; available'],
      ['offer', "main: the client's bytes are forwarded unchanged except for model, stream_options"],
      ['offer', 'spare: test-model as "test-model", in the style chat, POST /chat/completions; available'],
      ['offer', "spare: the client's bytes are forwarded unchanged except for model, stream_options"],
      ['outcome', 'goes to main'],
    ]);
  });

  it('is told what a translation loses, and what would be fetched for it, which is not', async () => {
    const picture = `${vendor.url}/picture.png`;
    const content = [{ type: 'image_url', image_url: { url: picture } }];
    const { code, offers, refusal } = await decisionOf({
      ...HELLO,
      model: 'translated',
      seed: 7,
      messages: [{ role: 'user', content }],
    });
    assert.deepEqual([code, refusal], [0, undefined]);
    assert.deepEqual(offers, [
      {
        channel: 'other',
        model: 'translated',
        priced: 'translated',
        style: 'messages',
        path: '/messages',
        warnings: ['seed:dropped'],
        fetched: [picture],
        state: 'available',
        asked: true,
      },
    ]);
    assert.equal(vendor.requests.length, 0);
  });

  it('is not called translated where both sides speak one style, and is told what is lost even so', async () => {
    const body = { model: 'pictures', prompt: 'a gate', size: '64x64', background: 'opaque' };
    const offers = (await linesOf(body, { style: 'images' })).filter(([name]) => name === 'offer');
    assert.deepEqual(offers.slice(1), [
      [
        'offer',
        "painter: the client's bytes are forwarded unchanged except for prompt, size, background, input, parameters; background:dropped",
      ],
    ]);
    const address = { model: 'studio', prompt: 'redder', image: 'https://example.com/a.png' };
    assert.deepEqual((await linesOf(address, { style: 'edits' })).slice(-3), [
      ['offer', 'studio: encoded as multipart/form-data'],
      ['offer', 'studio: fetches https://example.com/a.png first'],
      ['outcome', 'goes to studio'],
    ]);
  });

  it('may be a form, whose files are named beside its fields', async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'turnpike-explain-'));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    const sound = join(dir, 'speech.wav');
    writeFileSync(sound, stillness(2));
    const fields = { model: 'studio', response_format: 'srt' };
    const told = await explain(fields, { style: 'transcription' }, ` --files file=${sound}`);
    assert.equal(told.code, 0, told.stderr);
    assert.match(told.stdout, /^call +transcription, .*, 2 seconds of audio,/m);
    assert.match(told.stdout, /^quota +reserves 100 quota/m);
    assert.match(told.stdout, /^offer +studio: encoded as multipart\/form-data$/m);
    const refused = await explain(fields, { style: 'transcription' });
    assert.match(refused.stdout, /refused: 400 .*`file` is missing/);
    const tooMany = await explain(fields, { style: 'transcription' }, ` --files file=${sound},audio=${sound}`);
    assert.match(tooMany.stdout, /refused: 400 .*`audio` must not be a file/);
    assert.equal(vendor.requests.length, 0);
  });

  it('is refused where no vendor can be told it', async () => {
    const { code, offers, refusal } = await decisionOf({ ...HELLO, model: 'strict', seed: 7 });
    assert.equal(code, 1);
    assert.deepEqual([refusal?.status, refusal?.code], [400, 'translation_refused']);
    assert.equal(offers[0]?.refusal?.code, 'translation_refused');
    assert.match((await explain({ ...HELLO, model: 'strict', seed: 7 })).stdout, /other: cannot be translated: .*seed/);
  });

  it('is refused in the words that its client would get, in its style', async () => {
    const { stdout, code } = await explain({ ...HELLO, model: 'test-modell' }, { style: 'messages' });
    assert.equal(code, 1);
    const [, status, body = ''] = /^outcome +refused: (\d+) (.*)$/m.exec(stdout) ?? [];
    assert.equal(status, '404');
    const { request_id, ...error } = JSON.parse(body) as Record<string, unknown>;
    assert.equal(typeof request_id, 'string');
    const real = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': gateway.key, 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ ...HELLO, model: 'test-modell' }),
    });
    const { request_id: _, ...told } = (await real.json()) as Record<string, unknown>;
    assert.deepEqual(error, told);
    clock.advance(60_000);
  });

  it('is refused by whoever would refuse it, and told all the rest that can be known', async () => {
    const narrow = await gateway.command('key create --name narrow --models translated --ips 10.0.0.0/8');
    const poor = await gateway.customer(1);
    const capped = await gateway.customer(1_000, 2);
    for (const [expected, body, asked] of [
      [[401, 'invalid_api_key', undefined], HELLO, { key: 'sk-nonsense' }],
      [[400, 'invalid_json', undefined], '{"model":', {}],
      [[400, 'invalid_request_error', undefined], { model: 'test-model' }, {}],
      [[403, 'model_not_allowed', 'keys'], HELLO, { key: narrow }],
      [[403, 'QUOTA_USER_INSUFFICIENT', 'quota'], HELLO, { key: poor }],
      [[403, 'QUOTA_TOKEN_INSUFFICIENT', 'quota'], HELLO, { key: capped }],
      [[402, 'model_not_priced', 'quota'], { ...HELLO, model: 'unpriced' }, {}],
      [[404, 'model_not_found', 'prices'], { ...HELLO, model: 'nowhere' }, {}],
    ] as const) {
      const { code, refusal, plugins } = await decisionOf(body, asked);
      const first = plugins.find((said) => said.refusal !== undefined);
      assert.deepEqual([refusal?.status, refusal?.code, first?.plugin], expected);
      assert.equal(code, 1);
    }
    const { offers, plugins } = await decisionOf(HELLO, { key: poor });
    assert.deepEqual(
      offers.map(({ channel }) => channel),
      ['main', 'spare'],
    );
    assert.ok(
      plugins.some(({ says }) => says.includes('the account has 1 quota left: too little')),
      'the balance is told',
    );
    assert.ok(
      (await linesOf({ ...HELLO, model: 'translated' }, { key: narrow })).some(([, line]) => /10\.0\.0\.0/.test(line)),
      'the addresses are told',
    );
  });

  it('leaves nothing behind, however often', async () => {
    const key = await gateway.customer(10_000);
    const before = allRows(gateway.storeFile);
    for (let i = 0; i < 10; i++) assert.equal((await decisionOf(HELLO, { key })).code, 0);
    assert.deepEqual(allRows(gateway.storeFile), before);
    assert.equal(vendor.requests.length, 0);
    const answer = await gateway.chat(HELLO, { key });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('x-ratelimit-remaining-requests'), '2');
    await answer.text();
  });

  it('is told how things stand this moment', async () => {
    const key = await gateway.customer(10_000);
    for (let i = 0; i < 3; i++) await (await gateway.chat(HELLO, { key })).text();
    const limited = await decisionOf(HELLO, { key });
    assert.deepEqual([limited.code, limited.refusal?.code], [1, 'rate_limit_exceeded']);
    assert.ok(
      limited.plugins[1]?.says.includes('requestsPerMinute of the key: 3 of 3 used, the call takes 1'),
      'what is used is told',
    );
    clock.advance(60_000);
    vendor.next(errorAnswer(429), errorAnswer(429));
    assert.equal((await gateway.chat(HELLO, { key })).status, 429);
    const { code, offers } = await decisionOf(HELLO, { key });
    assert.equal(code, 0);
    assert.deepEqual(
      offers.map(({ state, asked }) => [/^unavailable until 2026-/.test(state), asked]),
      [
        [true, true],
        [true, false],
      ],
      'where none is well, the one that recovers soonest is asked',
    );
    clock.advance(60_000);
  });

  it('is told without the key, and without those of vendors', async () => {
    for (const asked of [{}, { key: 'sk-nonsense' }, { style: 'messages' }]) {
      for (const options of ['', ' --json']) {
        const { stdout, stderr } = await explain(HELLO, asked, options);
        for (const secret of [gateway.key, 'sk-nonsense', VENDOR_KEY]) {
          assert.ok(!`${stdout}${stderr}`.includes(secret), `${secret} in ${stdout}${stderr}`);
        }
      }
    }
    assert.ok(!gateway.log.some((line) => line.includes(gateway.key)), 'nor does the log hold it');
  });

  it('is not asked for in words that make no sense', async () => {
    for (const [line, complaint] of [
      ['explain', '--key is missing'],
      ['explain --key sk-x --body -', '--style is missing'],
      ['explain --key sk-x --style chat', '--body is missing'],
      ['explain --key sk-x --style chatt --body -', 'did you mean "chat"?'],
      ['explain --key - --style chat --body -', 'only one of --key and --body'],
      ['explain --key sk-x --style chat --body nowhere.json', 'nowhere.json'],
      ['explain --key sk-x --style edits --body - --files image=nowhere.png', 'nowhere.png'],
      ['explain --key sk-x --style edits --body - --files a.png', '"a.png" must be FIELD=FILE'],
      ['explain --key sk-x --style chat --body - --files image=a.png', 'the style chat does not accept files'],
    ] as const) {
      const { code, stdout, stderr } = await gateway.tryCommand(line);
      assert.deepEqual([code, stdout], [2, ''], line);
      assert.ok(stderr.includes(complaint), stderr);
    }
  });
});
