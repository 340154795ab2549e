/** Embeddings as official clients ask for them, before a vendor that has base64, one that has only numbers, and the demo vendor. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { LLMock } from '@copilotkit/aimock';
import { OpenAIEmbeddings } from '@langchain/openai';
import OpenAI, { type APIError } from 'openai';
import type { JsonObject } from '../../core/contracts/formats/json.ts';
import { defaultConfig, startGateway, type TestGateway, VENDOR_KEY } from '../kit/gateway/gateway.ts';
import { type UsageRow, usageRecords } from '../kit/gateway/usage-records.ts';
import { type FakeVendor, fakeVendor, type VendorRequest } from '../kit/vendors/fake-vendor.ts';
import { errorAnswer, jsonAnswer, type Script } from '../kit/vendors/script.ts';

const TEXTS = ['How are things in Zürich? 👋', 'It rains.'];
const SMALL = 'text-embedding-3-small';

/** Eight numbers for an input, the same for the same one; strokes and signs are among their base64. */
function vectorOf(input: unknown): readonly number[] {
  const text = JSON.stringify(input);
  return Array.from({ length: 8 }, (_, i) => Math.fround(Math.sin((text.charCodeAt(i % text.length) + i) * 12.9)));
}

function base64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [i, value] of vector.entries()) bytes.writeFloatLE(value, i * 4);
  return bytes.toString('base64');
}

const TOKENS = 21;

/** The answer of a vendor; `more` replaces members of it. */
function listFor({ json }: VendorRequest, form: 'base64' | 'float', more: JsonObject = {}): JsonObject {
  const { input } = json;
  const isOne = typeof input === 'string' || (Array.isArray(input) && typeof input[0] === 'number');
  const inputs = isOne ? [input] : (input as readonly unknown[]);
  const vectors = inputs.map(vectorOf);
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: form === 'base64' ? base64(vector) : vector,
    })),
    model: `${json.model}-v2`,
    usage: { prompt_tokens: TOKENS, total_tokens: TOKENS },
    ...more,
  };
}

/** What an OpenAI does. */
function answers(request: VendorRequest): Script {
  return jsonAnswer(200, listFor(request, request.json.encoding_format === 'base64' ? 'base64' : 'float'));
}

/** What a server does that knows neither base64 nor usage, nor most of the other members. */
function answersBarely(request: VendorRequest): Script {
  const { data } = listFor(request, 'float') as { readonly data: readonly JsonObject[] };
  return jsonAnswer(200, { data: data.map(({ embedding }) => ({ embedding: embedding! })) });
}

describe('embeddings', () => {
  let vendor: FakeVendor;
  let spare: FakeVendor;
  let gateway: TestGateway;
  let client: OpenAI;
  before(async () => {
    vendor = await fakeVendor(answers);
    spare = await fakeVendor(answers);
    const channel = { vendor: 'openai', url: vendor.url, key: VENDOR_KEY };
    gateway = await startGateway({
      config: {
        ...defaultConfig([]),
        channels: [
          { ...channel, name: 'main' },
          { ...channel, name: 'fails' },
          { ...channel, name: 'breaks' },
          { ...channel, name: 'spare', url: spare.url, priority: 1 },
          { ...channel, name: 'bare', vendor: 'compatible', quirks: { embeddings: { base64: false, max_inputs: 3 } } },
          { name: 'demo', vendor: 'demo' },
        ],
        models: {
          [SMALL]: { from: ['main'], price: { input: 1, output: 100 } },
          'text-embedding-3-large': { from: ['main'], free: true },
          'text-embedding-ada-002': { from: ['main'], free: true },
          fails: { from: [{ fails: SMALL }, { spare: SMALL }], price: { input: 1, output: 100 } },
          breaks: { from: [{ breaks: SMALL }, { spare: SMALL }], price: { input: 1, output: 100 } },
          sized: { from: [{ main: 'text-embedding-ada-002' }, { spare: SMALL }], free: true },
          bare: { from: [{ bare: 'bge-m3' }], price: { input: 1, output: 100 } },
          demo: { from: ['demo'], price: { input: 1, output: 100 } },
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
  beforeEach(() => {
    for (const each of [vendor, spare]) {
      each.forget();
      each.always(answers);
    }
  });

  const lastRecord = (): UsageRow => usageRecords(gateway.storeFile).at(-1)!;
  const lastRequest = (from = vendor): VendorRequest => from.requests.at(-1)!;
  const post = (body: JsonObject): Promise<Response> =>
    fetch(`${gateway.url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const vectors = ({ data }: OpenAI.CreateEmbeddingResponse) => data.map(({ embedding }) => Array.from(embedding));
  /** What was used according to the record: input, output, estimated, and what a token of input costs. */
  const checkRecord = (input: number, estimated = false): void => {
    const { outcome, charged, ...record } = lastRecord();
    assert.deepEqual([outcome, record.input, record.output, record.estimated], ['served', input, 0, estimated]);
    // A unit of currency for a million tokens is half a unit of quota for one.
    assert.equal(charged, BigInt(input) * 500_000n);
  };
  const rejects = async (run: () => Promise<unknown>): Promise<APIError> => {
    try {
      await run();
    } catch (error) {
      assert.ok(error instanceof OpenAI.APIError, String(error));
      return error;
    }
    assert.fail('it is not refused');
  };

  describe('asked for by the official client', () => {
    it('go through untouched, as base64, unless it says otherwise', async () => {
      const answer = await client.embeddings.create({ model: SMALL, input: TEXTS });
      assert.deepEqual(vectors(answer), TEXTS.map(vectorOf));
      assert.deepEqual(answer.usage, { prompt_tokens: TOKENS, total_tokens: TOKENS });
      const { body, headers, path } = lastRequest();
      assert.equal(body.toString(), JSON.stringify({ model: SMALL, input: TEXTS, encoding_format: 'base64' }));
      assert.equal(path, '/v1/embeddings');
      assert.equal(headers.authorization, `Bearer ${VENDOR_KEY}`);
      checkRecord(TOKENS);
    });

    it('go through untouched as numbers', async () => {
      const answer = await client.embeddings.create({ model: SMALL, input: TEXTS, encoding_format: 'float' });
      assert.deepEqual(vectors(answer), TEXTS.map(vectorOf));
      assert.equal(lastRequest().json.encoding_format, 'float');
      checkRecord(TOKENS);
    });

    it('are those of tokens, too', async () => {
      for (const input of [
        [1, 2, 3],
        [[1], [2, 3]],
      ]) {
        const answer = await client.embeddings.create({ model: SMALL, input: input as number[] });
        const inputs = input.length === 3 ? [input] : input;
        assert.deepEqual(vectors(answer), inputs.map(vectorOf));
        assert.deepEqual(lastRequest().json.input, input);
      }
    });

    it('are made base64 of by the gateway where the vendor has only numbers, and everything else is filled in', async () => {
      vendor.always(answersBarely);
      const answer = await client.embeddings.create({ model: 'bare', input: TEXTS });
      assert.deepEqual(vectors(answer), TEXTS.map(vectorOf));
      assert.deepEqual(
        answer.data.map(({ object, index }) => [object, index]),
        [
          ['embedding', 0],
          ['embedding', 1],
        ],
      );
      const { input, estimated } = lastRecord();
      assert.deepEqual([answer.object, answer.model, estimated], ['list', 'bge-m3', true]);
      assert.deepEqual(answer.usage, { prompt_tokens: input, total_tokens: input });
      assert.ok(input! > 0, 'what is not told is counted');
      checkRecord(input!, true);
      assert.deepEqual(lastRequest().json, { model: 'bge-m3', input: TEXTS });
    });

    it('are made numbers of by the gateway where base64 came unasked', async () => {
      vendor.next((request) => jsonAnswer(200, listFor(request, 'base64')));
      const answer = await client.embeddings.create({ model: SMALL, input: TEXTS, encoding_format: 'float' });
      assert.deepEqual(vectors(answer), TEXTS.map(vectorOf));
      checkRecord(TOKENS);
    });

    it('tell a refusal with the field that is wrong', async () => {
      for (const [request, param] of [
        [{ input: '' }, 'input'],
        [{ input: ['x', ''] }, 'input[1]'],
        [{ input: 'x', dimensions: 1_537 }, 'dimensions'],
        [{ input: 'x', encoding_format: 'int8' as 'float' }, 'encoding_format'],
      ] as const) {
        const error = await rejects(() =>
          client.embeddings.create({ model: SMALL, ...request } as OpenAI.EmbeddingCreateParams),
        );
        assert.deepEqual([error.status, error.param, error.type], [400, param, 'invalid_request_error']);
      }
      const asked = vendor.requests.length;
      const ada = { model: 'text-embedding-ada-002', input: 'x' };
      const error = await rejects(() => client.embeddings.create({ ...ada, dimensions: 512 }));
      assert.deepEqual([error.status, error.param], [400, 'dimensions']);
      assert.match(error.message, /`dimensions`.*text-embedding-ada-002/);
      assert.equal(vendor.requests.length, asked);
      await client.embeddings.create(ada);
      await client.embeddings.create({ model: SMALL, input: 'x', dimensions: 1_536 });
      const large = { model: 'text-embedding-3-large', input: 'x' };
      await client.embeddings.create({ ...large, dimensions: 3_072 });
      assert.equal(
        (await rejects(() => client.embeddings.create({ ...large, dimensions: 3_073 }))).param,
        'dimensions',
      );
      assert.equal(vendor.requests.length, asked + 3);
    });
  });

  it('come byte by byte as the vendor sends them, with its name for the model', async () => {
    for (const format of [undefined, 'float', 'base64'] as const) {
      const body = { model: SMALL, input: TEXTS, ...(format && { encoding_format: format }), user: 'u', extra: [1.0] };
      const answer = await post(body);
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
      assert.equal(answer.headers.get('x-turnpike-translation'), null);
      const sent = JSON.stringify(listFor(lastRequest(), format === 'base64' ? 'base64' : 'float'));
      assert.equal(await answer.text(), sent);
      assert.equal(lastRequest().body.toString(), JSON.stringify(body));
    }
  });

  it('of another size than the one that was asked for are named', async () => {
    const answer = await post({ model: SMALL, input: 'x', dimensions: 4 });
    assert.equal(answer.headers.get('x-turnpike-translation'), 'dimensions:changed');
    assert.equal(await answer.text(), JSON.stringify(listFor(lastRequest(), 'float')));
  });

  describe('where a vendor fails', () => {
    it('are asked of the next one', async () => {
      vendor.next(errorAnswer(500));
      const answer = await client.embeddings.create({ model: 'fails', input: TEXTS });
      assert.deepEqual(vectors(answer), TEXTS.map(vectorOf));
      checkRecord(TOKENS);
      assert.deepEqual(
        lastRecord().attempts.map(({ channel, failure }) => [channel, failure]),
        [
          ['fails', 'status'],
          ['spare', undefined],
        ],
      );
    });

    it('are asked of the next one where a vector is broken or missing', async () => {
      const broken: readonly ((request: VendorRequest) => JsonObject)[] = [
        (request) => listFor(request, 'float', { data: [{ embedding: [1, null] }, { embedding: [1, 2] }] }),
        (request) => listFor(request, 'base64', { data: [{ embedding: base64([1]) }] }),
        (request) =>
          listFor(request, 'float', { data: [{ embedding: base64([1]) }, { embedding: base64([Number.NaN]) }] }),
        () => ({ object: 'list' }),
        () => ({ error: { message: 'It burns.', code: 'fire' } }),
      ];
      for (const make of broken) {
        vendor.next((request) => jsonAnswer(200, make(request)));
        const answer = await client.embeddings.create({ model: 'breaks', input: TEXTS });
        assert.deepEqual(vectors(answer), TEXTS.map(vectorOf));
        checkRecord(TOKENS);
        assert.equal(lastRecord().channel, 'spare');
      }
    });

    it('are asked of the one whose model has the size', async () => {
      const before = vendor.requests.length;
      const answer = await client.embeddings.create({ model: 'sized', input: 'x', dimensions: 8 });
      assert.deepEqual(vectors(answer), [vectorOf('x')]);
      assert.equal(lastRecord().channel, 'spare');
      assert.equal(vendor.requests.length, before);
    });
  });

  describe('in great number', () => {
    const repeated = <T>(count: number, value: T): T[] => new Array<T>(count).fill(value);

    it('are 2,048 at most', async () => {
      for (const count of [2_047, 2_048]) {
        const { data } = await client.embeddings.create({ model: 'demo', input: repeated(count, 'x'), dimensions: 2 });
        assert.deepEqual([data.length, data.at(-1)?.index], [count, count - 1]);
        checkRecord(count);
      }
      for (const input of [repeated(2_049, 'x'), repeated(2_049, [7])]) {
        const error = await rejects(() =>
          client.embeddings.create({ model: 'demo', input: input as string[], dimensions: 2 }),
        );
        assert.deepEqual([error.status, error.param], [400, 'input']);
        assert.match(error.message, /at most 2048/);
      }
    });

    it('may have many tokens each', async () => {
      const input = repeated(30, repeated(8_191, 7));
      const { data, usage } = await client.embeddings.create({ model: 'demo', input, dimensions: 2 });
      assert.deepEqual([data.length, usage.prompt_tokens], [30, 30 * 8_191]);
      const most = repeated(130, repeated(8_191, 7));
      const error = await rejects(() => client.embeddings.create({ model: 'demo', input: most, dimensions: 2 }));
      assert.deepEqual([error.status, error.code], [400, 'invalid_json']);
      assert.match(error.message, /1000000/);
    });

    it('are as many as the model takes', async () => {
      for (const count of [2, 3]) {
        const { data } = await client.embeddings.create({ model: 'bare', input: repeated(count, 'x') });
        assert.equal(data.length, count);
      }
      const error = await rejects(() => client.embeddings.create({ model: 'bare', input: repeated(4, 'x') }));
      assert.deepEqual([error.status, error.param], [400, 'input']);
      assert.match(error.message, /at most 3 /);
    });
  });

  describe('of the demo vendor', () => {
    const ask = (more: Partial<OpenAI.EmbeddingCreateParams>) =>
      client.embeddings.create({ model: 'demo', input: TEXTS, ...more });
    const dot = (a: readonly number[], b: readonly number[]): number =>
      a.reduce((sum, value, i) => sum + value * b[i]!, 0);

    it('are of length 1, the same every time, and the same as numbers and as base64', async () => {
      const first = await ask({});
      checkRecord(first.usage.prompt_tokens);
      const numbers = await ask({ encoding_format: 'float' });
      assert.deepEqual(vectors(numbers), vectors(first));
      assert.deepEqual(numbers.usage, first.usage);
      for (const vector of vectors(first)) {
        assert.equal(vector.length, 256);
        assert.ok(Math.abs(dot(vector, vector) - 1) < 1e-6, 'its length is 1');
      }
    });

    it('have the size that is asked for', async () => {
      for (const dimensions of [1, 2, 255, 3_072]) {
        const answer = await ask({ dimensions, input: ['a', 'b', '?!', 'a b c d e f g h'] });
        for (const vector of vectors(answer)) {
          assert.equal(vector.length, dimensions);
          assert.ok(Math.abs(dot(vector, vector) - 1) < 1e-6, 'its length is 1');
        }
      }
      const error = await rejects(() => ask({ dimensions: 3_073 }));
      assert.equal(error.status, 400);
    });

    it('are closer where texts share words', async () => {
      const [cat, cats, rain] = vectors(
        await ask({ input: ['The cat sleeps on the sofa', 'the CAT sleeps on a chair', 'Heavy rain over Bergen'] }),
      );
      assert.ok(dot(cat!, cats!) > 0.5, 'two about a cat');
      assert.ok(Math.abs(dot(cat!, rain!)) < 0.3, 'a cat and the rain');
    });

    it('are those of tokens, too, each of which counts', async () => {
      const { data, usage } = await ask({ input: [[1, 2, 3], [4]] });
      assert.deepEqual([data.length, usage.prompt_tokens], [2, 4]);
      checkRecord(4);
    });
  });

  describe('asked for by LangChain', () => {
    const langchain = (model: string, more: object = {}) =>
      new OpenAIEmbeddings({
        model,
        apiKey: gateway.key,
        maxRetries: 0,
        configuration: { baseURL: `${gateway.url}/v1` },
        ...more,
      });

    it('come as base64 or as numbers, one or many, in batches', async () => {
      for (const encodingFormat of [undefined, 'float'] as const) {
        const embedder = langchain(SMALL, { batchSize: 2, ...(encodingFormat && { encodingFormat }) });
        assert.deepEqual(Array.from(await embedder.embedQuery('x')), vectorOf('x'));
        const documents = await embedder.embedDocuments([...TEXTS, 'x']);
        assert.deepEqual(
          documents.map((vector) => Array.from(vector)),
          [...TEXTS, 'x'].map(vectorOf),
        );
        checkRecord(TOKENS);
      }
    });

    it('come from a vendor that has only numbers', async () => {
      vendor.always(answersBarely);
      const documents = await langchain('bare').embedDocuments(TEXTS);
      assert.deepEqual(
        documents.map((vector) => Array.from(vector)),
        TEXTS.map(vectorOf),
      );
    });

    it('come from the demo vendor in the size that is asked for', async () => {
      const documents = await langchain('demo', { dimensions: 64 }).embedDocuments(TEXTS);
      assert.deepEqual(
        documents.map(({ length }) => length),
        [64, 64],
      );
    });
  });
});

describe('embeddings of a simulator', () => {
  let vendor: LLMock;
  let gateway: TestGateway;
  before(async () => {
    vendor = new LLMock({ port: 0, logLevel: 'silent' });
    await vendor.start();
    gateway = await startGateway({
      config: {
        ...defaultConfig([]),
        channels: [{ name: 'main', vendor: 'compatible', url: `${vendor.url}/v1`, key: 'anything' }],
        models: { [SMALL]: { from: ['main'], price: { input: 1, output: 100 } } },
      },
    });
  });
  after(async () => {
    try {
      await gateway?.stop();
    } finally {
      await vendor.stop();
    }
  });

  it('that knows no base64 are the same for every client', async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
    const request = { model: SMALL, input: TEXTS, dimensions: 12 };
    const numbers = await client.embeddings.create({ ...request, encoding_format: 'float' });
    const floats = await client.embeddings.create(request);
    for (const [i, { embedding }] of floats.data.entries()) {
      assert.equal(embedding.length, 12);
      assert.deepEqual(Array.from(embedding), numbers.data[i]!.embedding.map(Math.fround));
    }
    // It counts nothing.
    const { input, estimated } = usageRecords(gateway.storeFile).at(-1)!;
    assert.deepEqual([floats.usage.prompt_tokens, estimated], [input, true]);
    const tokens = await client.embeddings.create({ model: SMALL, input: [[1, 2], [3]], dimensions: 12 });
    assert.equal(tokens.data.length, 2);
  });
});
