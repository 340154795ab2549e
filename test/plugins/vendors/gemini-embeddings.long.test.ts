/** Embeddings at the vendor `gemini`: requests and answers, there and back. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import type { Call, Channel, Dialect, Host, Json, JsonObject, Offer } from '../../../core/plugin.ts';
import { GatewayError } from '../../../core/plugin.ts';
import { layQuirks, quirksOfModel } from '../../../core/translation/index.ts';
import { collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { embeddings } from '../../../plugins/styles/embeddings/index.ts';
import plugin from '../../../plugins/vendors/gemini/index.ts';
import { MODEL_QUIRKS } from '../../../plugins/vendors/gemini/quirks.ts';
import { callOf, NO_ATTACHMENTS } from '../../kit/gateway/calls.ts';
import { defaultConfig, startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import { type FakeVendor, fakeVendor, type VendorRequest } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, jsonAnswer, type Script } from '../../kit/vendors/script.ts';

const MODEL = 'gemini-embedding-001';

async function dialectOf(): Promise<Dialect> {
  const { vendors } = await plugin.create({} as Host, {});
  return vendors![0]!.speaks.embeddings!;
}

function offerOf(model: string): Offer {
  const quirks = layQuirks(...quirksOfModel(MODEL_QUIRKS, model));
  const channel = { name: 'main', key: 'k', options: {} } as unknown as Channel;
  return { channel, model, style: 'embeddings', quirks, strict: false, priced: 'public-name' };
}

const ANY: Call = callOf(embeddings, { model: 'public-name', input: 'x' });

describe('an embedding request for gemini', () => {
  it('is a batch with one request for each text', async () => {
    const dialect = await dialectOf();
    const warnings = collectWarnings({});
    const write = (body: JsonObject) => dialect.request?.({ ...body }, offerOf(MODEL), NO_ATTACHMENTS, warnings);
    const of = (text: string, more: JsonObject = {}) => ({
      ...more,
      model: `models/${MODEL}`,
      content: { parts: [{ text }] },
    });
    assert.deepEqual(write({ model: MODEL, input: 'x' }), { requests: [of('x')] });
    const input = ['x', 'y "z"'];
    assert.deepEqual(write({ model: MODEL, input, dimensions: 768, encoding_format: 'float', user: 'u' }), {
      requests: input.map((text) => of(text, { outputDimensionality: 768 })),
    });
    assert.deepEqual([warnings.all, warnings.serious], [['user:dropped'], []]);
    assert.deepEqual(write({ model: MODEL, input, dimensions: null, taskType: 'RETRIEVAL_QUERY' }), {
      requests: input.map((text) => of(text, { taskType: 'RETRIEVAL_QUERY' })),
    });
  });

  it('cannot be tokens', async () => {
    const warnings = collectWarnings({});
    const dialect = await dialectOf();
    for (const input of [
      [1, 2],
      [[1], [2]],
    ]) {
      assert.throws(
        () => dialect.request?.({ model: MODEL, input }, offerOf(MODEL), NO_ATTACHMENTS, warnings),
        (error) => error instanceof GatewayError && error.status === 400 && error.param === 'input',
      );
    }
  });

  it('goes to the model, with the key in its header', async () => {
    const { path, headers, models } = await dialectOf();
    assert.ok(typeof path === 'function', 'it depends on the model');
    const caller = undefined as never;
    assert.equal(path(ANY, offerOf(MODEL), caller), `/models/${MODEL}:batchEmbedContents`);
    assert.equal(path(ANY, offerOf('a/b'), caller), '/models/a%2Fb:batchEmbedContents');
    assert.deepEqual(headers(offerOf(MODEL).channel, ANY, undefined), { 'x-goog-api-key': 'k' });
    assert.deepEqual(models, ['*embedding*']);
  });
});

describe('what gemini answers to one', () => {
  it('is a list of embeddings, with what was used where it says so', async () => {
    const { answer } = await dialectOf();
    const list = (body: JsonObject) => answer?.(body, offerOf(MODEL), ANY);
    const data = [
      { object: 'embedding', index: 0, embedding: [0.5, 1] },
      { object: 'embedding', index: 1, embedding: [1, 0] },
    ];
    const vectors = [{ values: [0.5, 1] }, { values: [1, 0] }];
    assert.deepEqual(list({ embeddings: vectors }), { object: 'list', data, model: MODEL });
    const usageMetadata = { promptTokenCount: 5, promptTokenDetails: [{ modality: 'TEXT', tokenCount: 5 }] };
    assert.deepEqual(list({ embeddings: vectors, usageMetadata }), {
      object: 'list',
      data,
      model: MODEL,
      usage: { prompt_tokens: 5, total_tokens: 5 },
    });
    for (const none of [{}, { embeddings: null }, { embedding: { values: [1] } }]) assert.equal(list(none), undefined);
  });
});

describe('what is known of its models', () => {
  const known = (model: string) => offerOf(model).quirks.embeddings;

  it('is how large vectors and batches are', () => {
    assert.deepEqual(known(MODEL), { dimensions: 3_072, base64: false, max_inputs: 100 });
    assert.deepEqual(known('gemini-embedding-2-preview'), known(MODEL));
    assert.deepEqual(known('text-embedding-004'), { dimensions: 768, base64: false, max_inputs: 100 });
  });
});

describe('embeddings of gemini, asked for by the official client of another vendor', () => {
  let vendor: FakeVendor;
  let spare: FakeVendor;
  let gateway: TestGateway;
  let client: OpenAI;
  const TOKENS = 77;

  const vectorOf = (request: Json): readonly number[] => {
    const text = JSON.stringify(request);
    return [0, 1, 2].map((i) => Math.fround(text.length / (i + 3)));
  };
  const answers = ({ json }: VendorRequest, more: JsonObject = {}): Script =>
    jsonAnswer(200, {
      embeddings: (json.requests as readonly Json[]).map((request) => ({ values: vectorOf(request) })),
      usageMetadata: { promptTokenCount: TOKENS },
      ...more,
    });
  const requestFor = (text: string) => ({ model: `models/${MODEL}`, content: { parts: [{ text }] } });

  before(async () => {
    vendor = await fakeVendor((request) => answers(request));
    spare = await fakeVendor(({ json }) =>
      jsonAnswer(200, {
        object: 'list',
        data: (json.input as readonly Json[]).map((_, index) => ({ object: 'embedding', index, embedding: [1] })),
        model: 'm',
        usage: { prompt_tokens: 3, total_tokens: 3 },
      }),
    );
    const { pipeline, ...rest } = defaultConfig([]) as { readonly pipeline: readonly string[] };
    const price = { input: 1, output: 100 };
    gateway = await startGateway({
      config: {
        ...rest,
        pipeline: [...pipeline, 'vendors/gemini'],
        channels: [
          { name: 'google', vendor: 'gemini', url: vendor.url, key: VENDOR_KEY },
          { name: 'spare', vendor: 'compatible', url: spare.url, key: VENDOR_KEY, priority: 1 },
        ],
        models: {
          [MODEL]: { from: ['google'], price },
          both: { from: [{ google: MODEL }, { spare: 'bge-m3' }], price },
          talks: { from: [{ google: 'gemini-2.5-flash' }], price },
        },
      },
    });
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
  });
  after(async () => {
    try {
      await gateway?.stop();
    } finally {
      await Promise.all([vendor.close(), spare.close()]);
    }
  });
  const lastRecord = () => usageRecords(gateway.storeFile).at(-1)!;

  it('come as base64 and as numbers, and are charged to the token', async () => {
    for (const format of [undefined, 'float', 'base64'] as const) {
      const answer = await client.embeddings.create({
        model: MODEL,
        input: ['a', 'bcd'],
        ...(format && { encoding_format: format }),
      });
      const { path, headers, json } = vendor.requests.at(-1)!;
      assert.equal(path, `/v1/models/${MODEL}:batchEmbedContents`);
      assert.equal(headers['x-goog-api-key'], VENDOR_KEY);
      assert.deepEqual(json, { requests: ['a', 'bcd'].map(requestFor) });
      const vectors = answer.data.map(({ embedding }) =>
        typeof embedding === 'string' ? floatsIn(embedding) : Array.from(embedding),
      );
      assert.deepEqual(vectors, ['a', 'bcd'].map(requestFor).map(vectorOf));
      assert.deepEqual(
        [answer.object, answer.model, answer.usage, answer.data.map(({ index }) => index)],
        ['list', MODEL, { prompt_tokens: TOKENS, total_tokens: TOKENS }, [0, 1]],
      );
      const { input, output, estimated, charged } = lastRecord();
      assert.deepEqual([input, output, estimated, charged], [TOKENS, 0, false, BigInt(TOKENS) * 500_000n]);
    }
  });

  it('are counted where the vendor does not count', async () => {
    vendor.next((request) => answers(request, { usageMetadata: {} }));
    const { usage } = await client.embeddings.create({ model: MODEL, input: 'How are things?' });
    const { input, estimated } = lastRecord();
    assert.deepEqual([usage, estimated], [{ prompt_tokens: input!, total_tokens: input! }, true]);
    assert.ok(input! > 0, 'something was used');
  });

  it('have the size that is asked for, up to the largest', async () => {
    await client.embeddings.create({ model: MODEL, input: 'x', dimensions: 3_072 });
    assert.deepEqual(vendor.requests.at(-1)!.json, { requests: [{ ...requestFor('x'), outputDimensionality: 3_072 }] });
    await assert.rejects(client.embeddings.create({ model: MODEL, input: 'x', dimensions: 3_073 }), {
      status: 400,
      param: 'dimensions',
    });
  });

  it('are a hundred at most, and more of them are asked of another channel', async () => {
    const texts = (count: number): string[] => new Array<string>(count).fill('x');
    for (const count of [99, 100]) {
      const { data } = await client.embeddings.create({ model: 'both', input: texts(count) });
      assert.deepEqual([data.length, lastRecord().channel], [count, 'google']);
    }
    const { data } = await client.embeddings.create({ model: 'both', input: texts(101) });
    assert.deepEqual([data.length, lastRecord().channel], [101, 'spare']);
    await assert.rejects(client.embeddings.create({ model: MODEL, input: texts(101) }), {
      status: 400,
      param: 'input',
      message: /at most 100 /,
    });
  });

  it('of tokens are asked of another channel, and refused where there is none', async () => {
    const asked = vendor.requests.length;
    const { data } = await client.embeddings.create({ model: 'both', input: [[1, 2], [3]] });
    assert.deepEqual([data.length, lastRecord().channel], [2, 'spare']);
    await assert.rejects(client.embeddings.create({ model: MODEL, input: [1, 2] }), { status: 400, param: 'input' });
    assert.equal(vendor.requests.length, asked);
  });

  it('are asked of another channel where the vendor fails or leaves something out', async () => {
    for (const answer of [
      () => errorAnswer(400, 'API_KEY_INVALID'),
      (request: VendorRequest) => answers(request, { embeddings: [{ values: [1] }] }),
      (request: VendorRequest) => answers(request, { embeddings: [{ values: [1] }, {}] }),
      () => jsonAnswer(200, {}),
    ]) {
      vendor.next(answer);
      const { data } = await client.embeddings.create({ model: 'both', input: ['a', 'b'] });
      assert.deepEqual([data.length, lastRecord().channel], [2, 'spare']);
    }
  });

  it('do not come from a model that talks', async () => {
    const error = await client.embeddings.create({ model: 'talks', input: 'x' }).catch((caught: unknown) => caught);
    assert.ok(error instanceof OpenAI.APIError && error.status! >= 400 && error.status! < 500, String(error));
  });
});

function floatsIn(text: string): readonly number[] {
  const bytes = Buffer.from(text, 'base64');
  return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(i * 4));
}
