/** Every door of a gateway with all that ships: nobody passes without a key, and nothing reaches a vendor that is not in the books. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { parse } from 'yaml';
import { type Assembly, assemble, planFrom } from '../../../core/assembly/assemble.ts';
import { LastingStates } from '../../../core/assembly/lasting-state.ts';
import { FirstStart } from '../../../core/contracts/first-start.ts';
import { aloneOf } from '../../../core/contracts/peers.ts';
import { noAsking } from '../../../core/outgoing/vendor-request.ts';
import { definePlugin, type JsonObject, type PassthroughRoute, type Route, schema } from '../../../core/plugin.ts';
import { silentLog } from '../../../core/runtime/logger.ts';
import { createVault } from '../../../core/store/vault.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { memoryStore } from '../../kit/gateway/drive.ts';
import { chatRequest } from '../../kit/gateway/fixtures.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { debited } from '../../kit/gateway/money.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, jsonAnswer, type Script, sized, streamAnswer, wholeAnswer } from '../../kit/vendors/script.ts';

/** Routes of plugins that anybody may call. */
const PUBLIC: readonly string[] = [
  'any /v1/images/variations',
  'GET /',
  'GET /login',
  'GET /console',
  'GET /console/',
  'GET /console/:path*',
];

const ROOT = join(import.meta.dirname, '../../..');

/** A request of a style for the priced model, and what a vendor says to it. A new style needs a line here. */
interface Sample {
  readonly request: JsonObject;
  /** It is sent as a form, with this in the field `file`. */
  readonly file?: string;
  readonly whole: () => Script;
  readonly stream?: () => Script;
}
const SAMPLES: Readonly<Record<string, Sample>> = {
  chat: { request: chatRequest({ model: 'test-model' }), whole: wholeAnswer, stream: streamAnswer },
  responses: { request: { model: 'test-model', input: 'Hello?' }, whole: wholeAnswer, stream: streamAnswer },
  messages: {
    request: { model: 'test-model', max_tokens: 100, messages: [{ role: 'user', content: 'Hello?' }] },
    whole: wholeAnswer,
    stream: streamAnswer,
  },
  completions: {
    request: { model: 'test-model', prompt: 'Hello?', max_tokens: 100 },
    whole: () =>
      jsonAnswer(200, {
        id: 'cmpl-1',
        object: 'text_completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, text: 'Hello.', logprobs: null, finish_reason: 'stop' }],
        usage: { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 },
      }),
  },
  embeddings: {
    request: { model: 'test-model', input: 'Hello?' },
    whole: () =>
      jsonAnswer(200, {
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: [0.6, 0.8] }],
        model: 'm',
        usage: { prompt_tokens: 2, total_tokens: 2 },
      }),
  },
  images: { request: { model: 'test-model', prompt: 'A gate.' }, whole: pictureAnswer },
  edits: {
    request: { model: 'test-model', prompt: 'Open it.', image: 'data:image/png;base64,iVBORw0KGgo=' },
    whole: pictureAnswer,
  },
  speech: {
    request: { model: 'test-model', input: 'Hello?', voice: 'alloy' },
    whole: () => sized(200, 'audio/mpeg', 'sound'),
  },
  transcription: { request: { model: 'test-model' }, file: 'sound', whole: heardAnswer },
  translation: { request: { model: 'test-model' }, file: 'sound', whole: heardAnswer },
};
function pictureAnswer(): Script {
  return jsonAnswer(200, {
    created: 1,
    data: [{ url: 'https://images.example/1.png' }],
    usage: { input_tokens: 2, output_tokens: 2, total_tokens: 4 },
  });
}
function heardAnswer(): Script {
  return jsonAnswer(200, { text: 'Hello.', usage: { type: 'tokens', input_tokens: 2, output_tokens: 2 } });
}
/** What the vendors speak; clients of the other styles are translated to the first. */
const SPOKEN = ['chat', 'completions', 'embeddings', 'images', 'edits', 'speech', 'transcription', 'translation'];
/** What is carried to the vendor without being understood. */
const PASSAGES = [
  { prefix: '/v1/files', channel: 'main', price: 3 },
  { prefix: '/v1/batches', channel: 'main', free: true },
];

/** The pipeline of the gateway.yaml that everybody starts with. */
const { pipeline } = parse(readFileSync(join(ROOT, 'gateway.yaml'), 'utf8')) as {
  readonly pipeline: readonly string[];
};

describe('every door of the gateway', () => {
  let vendors: readonly FakeVendor[];
  let gateway: TestGateway;
  let assembly: Assembly;
  let key: string;
  before(async () => {
    vendors = [await fakeVendor(), await fakeVendor()];
    const standard = defaultConfig(vendors);
    gateway = await startGateway({
      vendor: vendors,
      config: {
        ...standard,
        channels: (standard.channels as readonly JsonObject[]).map((channel) =>
          channel.vendor === 'compatible' ? { ...channel, speaks: SPOKEN } : channel,
        ),
        pipeline,
        passthrough: PASSAGES,
        metrics: { token: 'a token for the scraper' },
      },
    });
    key = await gateway.customer(1_000_000);
    assembly = await assemble(await planFrom(gateway.configFile, {}), {
      store: memoryStore(),
      log: silentLog,
      clock: fakeClock(),
      lasting: new LastingStates(),
      peers: aloneOf('test'),
      vault: createVault(Buffer.alloc(32, 7)),
      ask: noAsking('nobody is asked here'),
      provided: new Map([[FirstStart.id, { begin() {}, note() {}, signIn() {} } satisfies FirstStart]]),
    });
  });
  after(async () => {
    await gateway.stop();
    await Promise.all(vendors.map((vendor) => vendor.close()));
  });
  beforeEach(async () => {
    for (const vendor of vendors) vendor.always(wholeAnswer());
    debits = await debited(gateway);
  });

  /** Those that can be asked for. */
  const styles = (): readonly { readonly name: string; readonly path: string }[] =>
    [...assembly.styles.values()].flatMap(({ name, ingress }) =>
      ingress === undefined ? [] : [{ name, path: ingress.path }],
    );
  const routes = (): readonly Route[] => assembly.players.flatMap(({ parts }) => parts.routes ?? []);
  const passthroughRoutes = (): readonly PassthroughRoute[] =>
    assembly.players.flatMap(({ parts }) => parts.passthroughRoutes ?? []);
  /** Requests that have come to either vendor. */
  const reached = (): number => vendors.reduce((sum, { requests }) => sum + requests.length, 0);

  const post = (path: string, { request, file }: Sample, more: JsonObject = {}) => {
    const body = { ...request, ...more };
    return fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: {
        ...bearer(key),
        'anthropic-version': '2023-06-01',
        ...(file === undefined && { 'content-type': 'application/json' }),
      },
      body: file === undefined ? JSON.stringify(body) : formOf(body, file),
    });
  };
  /** What the records of one request charge. */
  function charges(answer: Response): readonly bigint[] {
    const id = answer.headers.get('x-request-id')!;
    return usageRecords(gateway.storeFile)
      .filter((record) => record.id === id)
      .map(({ charged }) => charged);
  }
  /** What was debited in all, by the kind of layer, when it was last looked at. */
  let debits: Readonly<Record<string, bigint>>;
  /** One record of each request, and the sum of them taken once from the account and once from the key: their charges. */
  async function bookedOnce(what: string, ...answers: readonly Response[]): Promise<readonly bigint[]> {
    const each = answers.map(charges);
    for (const [charge = 0n, ...more] of each) {
      assert.ok(charge > 0n, `${what}: charge`);
      assert.deepEqual(more, [], `${what}: further records`);
    }
    await taken(
      what,
      each.flat().reduce((sum, charge) => sum + charge, 0n),
    );
    return each.flat();
  }
  /** So much was debited since it was last looked at. */
  async function taken(what: string, amount: bigint): Promise<void> {
    const now = await debited(gateway);
    for (const kind of ['account', 'key']) {
      assert.equal((now[kind] ?? 0n) - (debits[kind] ?? 0n), amount, `${what}: taken from the ${kind}`);
    }
    debits = now;
  }

  it('is looked at: all plugins that ship are there', () => {
    const folders = readdirSync(join(ROOT, 'plugins'), { recursive: true, encoding: 'utf8' })
      .filter((name) => basename(name) === 'index.ts')
      .map((name) => dirname(name));
    // What lies in the folder of a plugin is a part of it; a store is named elsewhere.
    const plugins = folders.filter((name) => !folders.includes(dirname(name)) && !name.startsWith('stores/'));
    assert.deepEqual([...pipeline].sort(), plugins.sort());
    assert.ok(styles().length > 0 && routes().length > 0);
    assert.equal(passthroughRoutes().length, PASSAGES.length);
  });

  it('is public only where this test says so', () => {
    const open = routes().filter(({ access }) => access === 'public' || access.length === 0);
    assert.deepEqual(
      open.map(({ method, path }) => `${method} ${path}`),
      PUBLIC,
    );
  });

  it('that is not public is shut for whoever has no key, or a wrong one', async () => {
    const doors = [
      ...routes()
        // What is for visitors of the console is told apart by the test of its table.
        .filter(({ access }) => access !== 'public' && !access.includes('console.visitor'))
        .map(({ method, path }) => ({ method, path: path.replace(/:\w+\*?/g, 'some-thing') })),
      ...styles().map(({ path }) => ({ method: 'POST', path })),
      ...passthroughRoutes().flatMap(({ prefix }) =>
        ['GET', 'POST', 'DELETE'].map((method) => ({ method, path: `${prefix}/some-thing` })),
      ),
    ];
    const before = reached();
    for (const { method, path } of doors) {
      for (const headers of [{}, bearer('sk-0123456789abcdef0123456789abcdef0123456789abcdef')]) {
        const sent = method === 'POST' ? { body: '{}' } : {};
        const answer = await fetch(`${gateway.url}${path}`, {
          method,
          headers: { 'content-type': 'application/json', ...headers },
          ...sent,
        });
        assert.ok([401, 403].includes(answer.status), `${method} ${path} answers ${answer.status}`);
        const body = (await answer.json()) as { error?: { message: unknown }; message?: unknown };
        const message = body.error?.message ?? body.message;
        assert.ok(typeof message === 'string' && message !== '', `${method} ${path} says why`);
      }
    }
    assert.equal(reached(), before, 'nothing may reach a vendor');
  });

  it('to a vendor leaves one record and one debit per call, whole or streamed', async () => {
    for (const { name, path } of styles()) {
      const sample = SAMPLES[name];
      assert.ok(sample !== undefined, `the style ${name} has no sample in this test`);
      for (const [answering, more] of [
        [sample.whole, {}],
        ...(sample.stream === undefined ? [] : ([[sample.stream, { stream: true }]] as const)),
      ] as const) {
        const before = reached();
        vendors[0]!.next(answering());
        const answer = await post(path, sample, more);
        assert.equal(answer.status, 200, await answer.clone().text());
        await answer.text();
        assert.equal(reached(), before + 1);
        await bookedOnce(`${name} ${JSON.stringify(more)}`, answer);
      }
    }
  });

  it('to a vendor leaves one record and one debit however many channels were tried', async () => {
    for (const { name, path } of styles()) {
      const sample = SAMPLES[name]!;
      const { whole } = sample;
      vendors[0]!.next(whole());
      const once = await post(path, sample);
      await once.text();
      const before = reached();
      vendors[0]!.next(errorAnswer(500));
      vendors[1]!.next(whole());
      const twice = await post(path, sample);
      assert.equal(twice.status, 200);
      await twice.text();
      assert.equal(reached(), before + 2);
      const [first, second] = await bookedOnce(name, once, twice);
      assert.equal(second, first);
    }
  });

  it('to a vendor that fails leaves a record, and takes nothing', async () => {
    for (const { name, path } of styles()) {
      for (const vendor of vendors) vendor.always(errorAnswer(500));
      const answer = await post(path, SAMPLES[name]!);
      await answer.text();
      assert.ok(answer.status >= 500);
      assert.deepEqual(charges(answer), [0n], name);
      await taken(name, 0n);
    }
  });

  it('that only carries leaves a record per request, and a debit where that has a price', async () => {
    for (const { prefix } of passthroughRoutes()) {
      const priced = PASSAGES.find((entry) => entry.prefix === prefix)?.price;
      for (const [method, path] of [
        ['GET', prefix],
        ['POST', prefix],
        ['DELETE', `${prefix}/some-thing`],
      ] as const) {
        const before = vendors[0]!.requests.length;
        const answer = await fetch(`${gateway.url}${path}`, {
          method,
          headers: bearer(key),
          ...(method === 'POST' ? { body: 'whatever it is' } : {}),
        });
        assert.equal(answer.status, 200);
        await answer.text();
        assert.equal(vendors[0]!.requests.length, before + 1);
        if (priced === undefined) {
          assert.deepEqual(charges(answer), [0n]);
          await taken(path, 0n);
        } else {
          assert.deepEqual(await bookedOnce(`${method} ${path}`, answer), [BigInt(priced) * 1_000_000n]);
        }
      }
    }
  });
});

describe('a route that says what its body looks like', () => {
  const seen: unknown[] = [];
  const orders = definePlugin({
    name: 'orders',
    api: 2,
    create: () => ({
      routes: [
        {
          method: 'POST',
          path: '/v1/orders',
          access: 'public',
          body: schema<{ readonly name: string; readonly lines: readonly { readonly count: number }[] }>({
            type: 'object',
            additionalProperties: false,
            required: ['name'],
            properties: {
              name: { type: 'string', minLength: 1 },
              lines: {
                type: 'array',
                default: [],
                items: { type: 'object', properties: { count: { type: 'integer', default: 1 } } },
              },
            },
          }),
          handle: ({ body }) => {
            seen.push(body);
            return {};
          },
        },
      ],
    }),
  });
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({
      plugins: [orders],
      config: { listen: { port: 0, body: { depth: 4 } } },
    });
  });
  after(() => gateway.stop());
  beforeEach(() => seen.splice(0));

  const order = async (body?: unknown): Promise<{ status: number; error?: Readonly<Record<string, string>> }> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${gateway.url}/v1/orders`, {
      method: 'POST',
      ...(body === undefined ? {} : { headers, body: JSON.stringify(body) }),
    });
    return { status: answer.status, ...((await answer.json()) as object) };
  };

  it('gets it with its defaults', async () => {
    assert.equal((await order({ name: 'a' })).status, 200);
    assert.equal((await order({ name: 'b', lines: [{}] })).status, 200);
    assert.deepEqual(seen, [
      { name: 'a', lines: [] },
      { name: 'b', lines: [{ count: 1 }] },
    ]);
  });

  it('is spared a wrong one: its sender hears which member is wrong, and what would be right', async () => {
    for (const [body, param, words] of [
      [undefined, 'name', /^name: is missing/],
      [{}, 'name', /^name: is missing/],
      [{ name: 7 }, 'name', /^name: must be text, not a number/],
      [{ name: 'a', lines: [{ count: 1 }, { count: 'x' }] }, 'lines.1.count', /must be a whole number/],
      [{ name: 'a', line: [] }, 'line', /unknown key; .*lines/],
    ] as const) {
      const { status, error } = await order(body);
      assert.deepEqual([status, error?.code, error?.param], [400, 'invalid_request_error', param]);
      assert.equal(error?.type, 'invalid_request_error');
      assert.match(error?.message ?? '', words);
    }
    assert.deepEqual(seen, []);
  });

  it('is spared one that is nested deeper than `listen.body.depth`, like every call', async () => {
    const deep = [{ count: 1, more: [[]] }];
    const { status, error } = await order({ name: 'a', lines: deep });
    assert.deepEqual([status, error?.code], [400, 'invalid_json']);
    assert.match(error?.message ?? '', /more than 4 levels/);
    const call = await gateway.chat({ model: 'demo', metadata: { a: [[[]]] } });
    assert.equal(call.status, 400);
    assert.match(await call.text(), /more than 4 levels/);
    assert.equal((await gateway.chat({ model: 'demo', metadata: { a: [[]] } })).status, 200);
    assert.deepEqual(seen, []);
  });
});

function formOf(fields: JsonObject, file: string): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, String(value));
  form.set('file', new Blob([file]), 'sound.mp3');
  return form;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
