/** The three shapes of a model list, and their pages. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GatewayError, type JsonObject } from '../../../core/plugin.ts';
import {
  geminiList,
  type Listed,
  type ListStyle,
  messagesList,
  plainList,
} from '../../../plugins/models/list-styles.ts';

const CREATED = Date.UTC(2026, 10, 20, 12) / 1_000;
const model = (id: string, more: Partial<Listed> = {}): Listed => ({
  id,
  created: CREATED,
  owner: 'somebody',
  context: undefined,
  maxOutput: undefined,
  ...more,
});
const FIVE: readonly Listed[] = ['a', 'b', 'c', 'd', 'e'].map((id) => model(id));
const many = (count: number): readonly Listed[] => Array.from({ length: count }, (_, i) => model(`m${i}`));

const ask = (style: ListStyle, query = '', models = FIVE): JsonObject =>
  style.list(models, new URLSearchParams(query)) as JsonObject;
const refusal = (style: ListStyle, query: string, models = FIVE): string => {
  try {
    ask(style, query, models);
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    return `${error.status} ${error.param}: ${error.message}`;
  }
  assert.fail(`${query} was not refused`);
};

describe('the plain list', () => {
  it('is whole, whatever the query says', () => {
    const list = ask(plainList, 'limit=1&pageSize=1', many(100));
    assert.equal(list.object, 'list');
    assert.equal((list.data as readonly unknown[]).length, 100);
    assert.deepEqual(plainList.one(FIVE[0]!), { id: 'a', object: 'model', created: CREATED, owned_by: 'somebody' });
  });
});

describe('the list of the messages style', () => {
  const page = (query: string, models = FIVE): readonly unknown[] => {
    const { data, has_more, first_id, last_id } = ask(messagesList, query, models);
    const ids = (data as readonly JsonObject[]).map(({ id }) => id);
    assert.deepEqual([first_id, last_id], [ids[0] ?? null, ids.at(-1) ?? null]);
    return [ids.join(''), has_more];
  };

  it('shows a model with what is known of it', () => {
    assert.deepEqual(messagesList.one(model('m', { context: 200_000, maxOutput: 8_192 })), {
      type: 'model',
      id: 'm',
      display_name: 'm',
      created_at: '2026-11-20T12:00:00Z',
      max_input_tokens: 200_000,
      max_tokens: 8_192,
    });
    const { max_input_tokens, max_tokens } = messagesList.one(model('m'));
    assert.deepEqual([max_input_tokens, max_tokens], [null, null]);
  });

  it('goes forward behind a model', () => {
    assert.deepEqual(page(''), ['abcde', false]);
    assert.deepEqual(page('limit=2'), ['ab', true]);
    assert.deepEqual(page('limit=2&after_id=b'), ['cd', true]);
    assert.deepEqual(page('limit=2&after_id=d'), ['e', false]);
    assert.deepEqual(page('limit=3&after_id=b'), ['cde', false]);
    assert.deepEqual(page('after_id=e'), ['', false]);
  });

  it('goes back before a model', () => {
    assert.deepEqual(page('limit=2&before_id=e'), ['cd', true]);
    assert.deepEqual(page('limit=2&before_id=c'), ['ab', false]);
    assert.deepEqual(page('limit=1&before_id=c'), ['b', true]);
    assert.deepEqual(page('before_id=a'), ['', false]);
  });

  it('has twenty models on a page, and at most a thousand', () => {
    const size = (query: string): number => (ask(messagesList, query, many(1_500)).data as readonly unknown[]).length;
    assert.deepEqual([size(''), size('limit=1000')], [20, 1_000]);
  });

  it('refuses what asks for no page, naming the field', () => {
    const range = '`limit` must be a whole number from 1 to 1000.';
    for (const limit of ['0', '1001', '-1', '1.5', 'ten', '', '1e2', '0x10', '9999999999999999']) {
      assert.equal(refusal(messagesList, `limit=${limit}`), `400 limit: ${range}`);
    }
    assert.match(refusal(messagesList, 'after_id=z'), /^400 after_id: /);
    assert.match(refusal(messagesList, 'before_id='), /^400 before_id: /);
    assert.match(refusal(messagesList, 'before_id=c&after_id=a'), /^400 before_id: .*`after_id`/);
  });
});

describe('the list of the gemini style', () => {
  const page = (query: string, models = FIVE): readonly [string, string | undefined] => {
    const list = ask(geminiList, query, models);
    const names = (list.models as readonly JsonObject[]).map(({ name }) => String(name).replace('models/', ''));
    return [names.join(''), list.nextPageToken as string | undefined];
  };

  it('shows a model with what is known of it', () => {
    assert.deepEqual(geminiList.one(model('org/m', { context: 1_048_576, maxOutput: 65_536 })), {
      name: 'models/org/m',
      version: '001',
      displayName: 'org/m',
      description: '',
      inputTokenLimit: 1_048_576,
      outputTokenLimit: 65_536,
      supportedGenerationMethods: [],
    });
    const { inputTokenLimit, outputTokenLimit } = geminiList.one(model('m'));
    assert.deepEqual([inputTokenLimit, outputTokenLimit], [0, 0]);
  });

  it('goes on where the token says, until there is none', () => {
    const [first, token] = page('pageSize=2');
    assert.equal(first, 'ab');
    const [second, next] = page(`pageSize=2&pageToken=${token}`);
    assert.equal(second, 'cd');
    assert.deepEqual(page(`pageSize=2&pageToken=${next}`), ['e', undefined]);
    assert.deepEqual(page('pageSize=5'), ['abcde', undefined]);
    assert.deepEqual(page('pageToken='), ['abcde', undefined]);
  });

  it('does not lose its place when models come and go', () => {
    const [, token] = page('pageSize=2');
    const fewer = FIVE.filter(({ id }) => id !== 'a');
    assert.equal(page(`pageSize=2&pageToken=${token}`, fewer)[0], 'cd');
  });

  it('keeps its place at names in any script', () => {
    const models = ['größe/小型', '🦊', 'c'].map((id) => model(id));
    const [, token] = page('pageSize=1', models);
    assert.equal(page(`pageSize=1&pageToken=${token}`, models)[0], '🦊');
  });

  it('has fifty models on a page, and never more than a thousand', () => {
    const size = (query: string): number => (ask(geminiList, query, many(1_500)).models as readonly unknown[]).length;
    assert.deepEqual(
      [size(''), size('pageSize=0'), size('pageSize=1000'), size('pageSize=5000')],
      [50, 50, 1_000, 1_000],
    );
  });

  it('refuses what asks for no page, naming the field', () => {
    for (const size of ['-1', '1.5', 'ten', '']) {
      assert.equal(
        refusal(geminiList, `pageSize=${size}`),
        '400 pageSize: `pageSize` must be a whole number, 0 or more.',
      );
    }
    assert.match(refusal(geminiList, 'pageToken=nonsense'), /^400 pageToken: /);
  });

  it('is empty where the key may call nothing', () => {
    assert.deepEqual(ask(geminiList, '', []), { models: [] });
    assert.deepEqual(ask(messagesList, '', []), { data: [], has_more: false, first_id: null, last_id: null });
  });
});
