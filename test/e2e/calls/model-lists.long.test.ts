/** Model lists as the vendors' own clients read them: each in its style, page by page, with nothing but its own headers. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OlderAnthropic from 'anthropic-sdk-0';
import OpenAI from 'openai';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';

const NAMES = ['größe/小型', 'org/large', ...Array.from({ length: 23 }, (_, i) => `model-${i}`)];

let gateway: TestGateway;
/** A key for the first three models alone. */
let narrow: string;
before(async () => {
  const limits = { quirks: { limits: { context: 200_000, max_output: 8_192 } } };
  gateway = await startGateway({
    config: {
      channels: [{ name: 'demo', vendor: 'demo' }],
      models: Object.fromEntries(NAMES.map((name) => [name, { from: ['demo'], free: true, ...limits }])),
    },
  });
  narrow = await gateway.command(`key create --name narrow --models ${NAMES.slice(0, 3).join(',')}`);
});
after(() => gateway.stop());

/** Everything that a client lists. */
async function all<T>(pages: AsyncIterable<T>): Promise<readonly T[]> {
  const items: T[] = [];
  for await (const item of pages) items.push(item);
  return items;
}

describe('the openai client', () => {
  it('lists the models and reads one', async () => {
    const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const models = await all(client.models.list());
    assert.deepEqual(
      models.map(({ id }) => id),
      NAMES,
    );
    assert.deepEqual(await client.models.retrieve('org/large'), models[1]);
    assert.deepEqual(
      [models[1]?.object, models[1]?.owned_by, Number.isInteger(models[1]?.created)],
      ['model', 'demo', true],
    );
  });
});

for (const [name, Client, credential] of [
  ['the anthropic client', Anthropic, 'apiKey'],
  ['the older anthropic client', OlderAnthropic as unknown as typeof Anthropic, 'apiKey'],
  ['the older anthropic client with a token', OlderAnthropic as unknown as typeof Anthropic, 'authToken'],
] as const) {
  describe(name, () => {
    const connect = (key: string) =>
      new Client({ apiKey: null, [credential]: key, baseURL: gateway.url, maxRetries: 0 });

    it('lists the models page by page, forward and back', async () => {
      const client = connect(gateway.key);
      for (const limit of [1, 7, 25, 1_000]) {
        const models = await all(client.models.list({ limit }));
        assert.deepEqual(
          models.map(({ id }) => id),
          NAMES,
          `${limit} on a page`,
        );
      }
      const first = await client.models.list();
      assert.deepEqual([first.data.length, first.has_more, first.last_id], [20, true, NAMES[19]]);
      const back = await all(client.models.list({ limit: 2, before_id: NAMES[5]! }));
      assert.deepEqual(back.map(({ id }) => id).sort(), NAMES.slice(0, 5).sort());
    });

    it('reads one, with its limits', async () => {
      const model = await connect(gateway.key).models.retrieve('org/large');
      assert.deepEqual([model.type, model.id, model.display_name], ['model', 'org/large', 'org/large']);
      assert.deepEqual([model.max_input_tokens, model.max_tokens], [200_000, 8_192]);
      assert.match(model.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    });

    it('sees what its key may call, and nothing else', async () => {
      const client = connect(narrow);
      const models = await all(client.models.list({ limit: 2 }));
      assert.deepEqual(
        models.map(({ id }) => id),
        NAMES.slice(0, 3),
      );
      await assert.rejects(client.models.retrieve('model-22'), { status: 404 });
      // Not even as a place to go on from.
      await assert.rejects(async () => client.models.list({ after_id: 'model-22' }), { status: 400 });
    });
  });
}

for (const version of ['v1', 'v1beta']) {
  describe(`the google client at ${version}`, () => {
    const connect = (key: string) =>
      new GoogleGenAI({ apiKey: key, apiVersion: version, httpOptions: { baseUrl: gateway.url } });

    it('lists the models page by page', async () => {
      for (const pageSize of [undefined, 1, 10]) {
        const config = pageSize === undefined ? {} : { pageSize };
        const models = await all(await connect(gateway.key).models.list({ config }));
        assert.deepEqual(
          models.map((model) => model.name),
          NAMES.map((model) => `models/${model}`),
          `${pageSize} on a page`,
        );
      }
    });

    it('reads one, with its limits and what it can do', async () => {
      const model = await connect(gateway.key).models.get({ model: 'model-3' });
      assert.deepEqual([model.name, model.displayName], ['models/model-3', 'model-3']);
      assert.deepEqual([model.inputTokenLimit, model.outputTokenLimit], [200_000, 8_192]);
      assert.deepEqual(model.supportedActions, [], 'no method of this format is served');
    });

    it('sees what its key may call, and nothing else', async () => {
      const models = await all(await connect(narrow).models.list());
      assert.deepEqual(
        models.map((model) => model.displayName),
        NAMES.slice(0, 3),
      );
      await assert.rejects(connect(narrow).models.get({ model: 'model-22' }), { status: 404 });
    });
  });
}

it('models without a price are not listed: every call of them would be refused', async () => {
  const stage = await startGateway({
    config: {
      channels: [{ name: 'demo', vendor: 'demo' }],
      models: {
        priced: { from: ['demo'], price: { input: 1, output: 2 } },
        given: { from: ['demo'], free: true },
        unpriced: { from: ['demo'] },
        'falls-back': { from: ['demo'], free: true, fallback: ['unpriced'] },
      },
    },
  });
  try {
    const client = new OpenAI({ apiKey: stage.key, baseURL: `${stage.url}/v1`, maxRetries: 0 });
    assert.deepEqual(
      (await all(client.models.list())).map(({ id }) => id),
      ['priced', 'given'],
    );
    for (const [model, status] of [
      ['priced', 200],
      ['given', 200],
      ['unpriced', 402],
    ] as const)
      assert.equal((await stage.chat({ model, max_tokens: 5 })).status, status, model);
  } finally {
    await stage.stop();
  }
});

describe('a client without a library', () => {
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${gateway.url}${path}`, { headers });

  it('may have its key in the query where models are listed, and reads the third style there', async () => {
    for (const path of ['/v1/models', '/v1beta/models']) {
      const answer = await get(`${path}?key=${gateway.key}&pageSize=1`);
      assert.equal(answer.status, 200);
      const { models, nextPageToken } = (await answer.json()) as { models: readonly unknown[]; nextPageToken: string };
      assert.deepEqual([models.length, typeof nextPageToken], [1, 'string']);
    }
    for (const log of gateway.log) assert.equal(log.includes(gateway.key), false);
  });

  it('is told which member of the query is wrong', async () => {
    const key = { authorization: `Bearer ${gateway.key}` };
    const messages = { ...key, 'anthropic-version': '2023-06-01' };
    for (const [path, headers, param] of [
      ['/v1/models?limit=0', messages, 'limit'],
      ['/v1/models?after_id=nobody', messages, 'after_id'],
      ['/v1beta/models?pageSize=ten', key, 'pageSize'],
      ['/v1beta/models?pageToken=x', key, 'pageToken'],
    ] as const) {
      const answer = await get(path, headers);
      const { error } = (await answer.json()) as { error: Readonly<Record<string, string>> };
      assert.deepEqual([answer.status, error.code, error.param], [400, 'invalid_request_error', param], path);
    }
    assert.equal((await get('/v1/models?limit=0', key)).status, 200, 'the plain list has no pages');
  });
});
