/** List prices that were taken over: each call costs what applied when it began, whatever was taken over later. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ModelInfo } from '@pydantic/genai-prices';
import type { Model } from '../../../core/contracts/catalog.ts';
import { NO_TOKENS } from '../../../core/translation/conversation/count-usage.ts';
import { createPriceBook } from '../../../plugins/prices/book.ts';
import type { Epoch, Epochs } from '../../../plugins/prices/list-prices.ts';
import fc from '../../kit/fast-check.ts';

const UPSTREAM = { vendor: 'openai', url: 'https://api.openai.com/v1', model: 'gpt-4o' };
const MODEL: Model = {
  name: 'm',
  entry: 'm',
  free: false,
  only: undefined,
  from: [],
  fallback: [],
  price: undefined,
  created: 0,
};
const MILLION = { ...NO_TOKENS, input: 1_000_000 };
/** Of the data that ships, in micro-quota at one unit per currency unit. */
const SHIPPED = 2_500_000n;

const epochOf = (fromMs: number, input: number): Epoch => {
  const info: ModelInfo = { id: 'gpt-4o', match: { equals: 'gpt-4o' }, prices: { input_mtok: input, output_mtok: 1 } };
  return { fromMs, models: new Map([['openai', new Map([['gpt-4o', info]])]]) };
};
/** `epochs`: the newest first. */
const timesOf = (epochs: readonly Epoch[]): Epochs => ({
  at: (atMs) => epochs.find(({ fromMs }) => fromMs <= atMs),
  after: (atMs) => epochs.filter(({ fromMs }) => fromMs > atMs),
});
const bookOf = (epochs: readonly Epoch[]) =>
  createPriceBook({ prices: {}, epochs: timesOf(epochs), perUnit: () => 1n, problem: assert.fail });

describe('list prices that were taken over', () => {
  it('apply from their time on, and never to what began before', () => {
    const entries = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 50 })), {
      selector: ([fromMs]) => fromMs,
      maxLength: 8,
    });
    fc.assert(
      fc.property(
        entries,
        fc.array(fc.integer({ min: 0, max: 1_100 }), { minLength: 1, maxLength: 20 }),
        (all, times) => {
          const newestFirst = all.toSorted(([a], [b]) => b - a);
          const book = bookOf(newestFirst.map(([fromMs, input]) => epochOf(fromMs, input)));
          for (const atMs of times) {
            const applies = newestFirst.find(([fromMs]) => fromMs <= atMs);
            const expected = applies === undefined ? SHIPPED : BigInt(applies[1]) * 1_000_000n;
            assert.equal(book.cost(MODEL, UPSTREAM, MILLION, atMs), expected);
          }
        },
      ),
    );
  });

  it('are listed among the later prices, with their source', () => {
    const book = bookOf([epochOf(Date.UTC(2026, 11, 1), 3)]);
    const [later] = book.later(MODEL, UPSTREAM, Date.UTC(2026, 10, 1));
    assert.match(later?.source ?? '', /^genai-prices data of 2026-12-01, openai gpt-4o$/);
    assert.equal(book.found(MODEL, UPSTREAM, Date.UTC(2026, 10, 1))?.source, 'genai-prices data, openai gpt-4o');
  });

  it('leave other models as they are', () => {
    const book = bookOf([epochOf(1, 3)]);
    const mini = { ...UPSTREAM, model: 'gpt-4o-mini' };
    assert.equal(book.cost(MODEL, mini, MILLION, 10), bookOf([]).cost(MODEL, mini, MILLION, 10));
  });
});
