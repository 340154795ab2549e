/** Estimates: what a call is reserved for. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Model } from '../../../core/contracts/catalog.ts';
import type { Bounds } from '../../../core/contracts/formats/call.ts';
import type { Usage } from '../../../core/contracts/formats/usage.ts';
import type { EstimateOptions } from '../../../core/contracts/prices.ts';
import { MOST_TOKENS } from '../../../core/translation/conversation/sane-usage.ts';
import { createPriceBook } from '../../../plugins/prices/book.ts';
import { tokenBounds } from '../../../plugins/prices/estimate.ts';
import type { PriceFields } from '../../../plugins/prices/section.ts';
import fc from '../../kit/fast-check.ts';

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
const STRICT: EstimateOptions = { reserve: 'strict', assumeOutput: 4096, mediaTokens: 3000 };
const ESTIMATE: EstimateOptions = { ...STRICT, reserve: 'estimate' };

function bounds(part: Partial<Bounds>): Bounds {
  return { inputBytes: 0, media: 0, outputTokens: 0, choices: 1, ...part };
}

function bookOf(price: PriceFields) {
  return createPriceBook({
    prices: { m: price },
    perUnit: () => 500_000n,
    problem: (path, message) => assert.fail(`${path.join('.')}: ${message}`),
  });
}

function most(price: PriceFields, part: Partial<Bounds>, options = STRICT): bigint | undefined {
  return bookOf(price).most(MODEL, undefined, bounds(part), tokenBounds(bounds(part), options), 0);
}

describe('the tokens of a call', () => {
  it('are bounded by its bytes where the reservation is strict', () => {
    assert.equal(tokenBounds(bounds({ inputBytes: 10_000 }), STRICT).input, 10_000 + 1024);
    assert.equal(tokenBounds(bounds({ inputBytes: 10_000, media: 2 }), STRICT).input, 10_000 + 6_000 + 1024);
  });

  it('are two for five bytes where it is an estimate', () => {
    assert.equal(tokenBounds(bounds({ inputBytes: 10_000 }), ESTIMATE).input, 4_000 + 64);
    assert.equal(tokenBounds(bounds({ inputBytes: 1 }), ESTIMATE).input, 1 + 64);
  });

  it('are what the client allows, all choices together, else what we assume for each', () => {
    assert.equal(tokenBounds(bounds({ outputTokens: 300, choices: 3 }), STRICT).output, 300);
    assert.equal(tokenBounds(bounds({ outputTokens: undefined, choices: 3 }), STRICT).output, 3 * 4096);
    assert.equal(tokenBounds(bounds({ outputTokens: undefined, choices: 0 }), STRICT).output, 4096);
    assert.equal(tokenBounds(bounds({ outputTokens: 0 }), STRICT).output, 0);
  });

  it('are thirty-two for each second of sound, and as many answers as there are images to be made', () => {
    assert.equal(tokenBounds(bounds({ seconds: 60 }), STRICT).input, 60 * 32 + 1024);
    assert.equal(tokenBounds(bounds({ seconds: 59.01 }), ESTIMATE).input, 60 * 32 + 64);
    const images = { count: 3, size: '', quality: '' };
    assert.equal(tokenBounds(bounds({ outputTokens: undefined, images }), STRICT).output, 3 * 4096);
    assert.equal(tokenBounds(bounds({ outputTokens: 500, images }), STRICT).output, 500);
  });

  it('are whole numbers, whatever the client says', () => {
    for (const odd of [Number.NaN, -5, 1.5, 1e30, Number.POSITIVE_INFINITY]) {
      const { input, output } = tokenBounds({ inputBytes: odd, media: odd, outputTokens: odd, choices: odd }, STRICT);
      for (const tokens of [input, output]) {
        assert.ok(Number.isSafeInteger(tokens) && tokens >= 0 && tokens <= MOST_TOKENS);
      }
    }
  });
});

describe('the most a call can cost', () => {
  const input = 1024n;

  it('takes the dearest rate that input and output could have', () => {
    assert.equal(most({ input: 2, cacheRead: 1 }, {}), input * 2n * 500_000n);
    assert.equal(most({ input: 2, cacheWrite: 3 }, {}), input * 3n * 500_000n);
    assert.equal(most({ input: 2, cacheWriteLong: 4 }, {}), input * 4n * 500_000n);
    assert.equal(most({ output: 2, reasoning: 3 }, { outputTokens: 10 }), 10n * 3n * 500_000n);
    assert.equal(most({ output: 2, outputAudio: 4 }, { outputTokens: 10 }), 10n * 4n * 500_000n);
    assert.equal(most({ output: 2, outputImage: 40 }, { outputTokens: 10 }), 10n * 40n * 500_000n);
  });

  it('counts with sound and images in the input only where the call has some', () => {
    assert.equal(most({ input: 2, inputImage: 40 }, { media: 0 }), input * 2n * 500_000n);
    assert.equal(most({ input: 2, inputImage: 40 }, { media: 1 }), (input + 3000n) * 40n * 500_000n);
    assert.equal(most({ input: 2, inputAudio: 6 }, { seconds: 10 }), (input + 320n) * 6n * 500_000n);

    assert.equal(most({ input: 2, inputAudio: 40 }, { media: 0 }), input * 2n * 500_000n);
    assert.equal(most({ input: 2, inputAudio: 40 }, { media: 1 }), (input + 3000n) * 40n * 500_000n);
  });

  it('takes a tier only where the call could reach it', () => {
    const price = { input: 1, output: 1, tiers: [{ above: 5_000, input: 2, output: 3 }] };
    const at = (inputBytes: number) => most(price, { inputBytes, outputTokens: 10 });
    assert.equal(at(5_000 - 1024), (5_000n + 10n) * 500_000n);
    assert.equal(at(5_001 - 1024), (5_001n * 2n + 10n * 3n) * 500_000n);
  });

  it('has the price of the call itself', () => {
    assert.equal(most({ perRequest: 0.5 }, { inputBytes: 1e6, outputTokens: 1e6 }), 250_000_000_000n);
  });

  it('is nothing for a free model, and unknown for one without a price', () => {
    const book = bookOf({ input: 1 });
    assert.equal(book.most({ ...MODEL, free: true }, undefined, bounds({}), tokenBounds(bounds({}), STRICT), 0), 0n);
    const none = tokenBounds(bounds({}), STRICT);
    assert.equal(book.most({ ...MODEL, name: 'other', entry: 'other' }, undefined, bounds({}), none, 0), undefined);
  });

  it('is not below the cost of any use within the bounds', () => {
    const rate = fc.option(
      fc.nat(10_000_000_000).map((digits) => digits / 1e6),
      { nil: undefined },
    );
    const rates = {
      input: rate,
      cacheRead: rate,
      cacheWrite: rate,
      cacheWriteLong: rate,
      inputAudio: rate,
      inputImage: rate,
      output: rate,
      reasoning: rate,
      outputAudio: rate,
      outputImage: rate,
    };
    const row = fc.record({
      ...rates,
      perRequest: fc.nat(1_000_000).map((digits) => digits / 1e6),
      tiers: fc.uniqueArray(fc.record({ ...rates, above: fc.integer({ min: 1, max: 40_000 }) }), {
        selector: (tier) => tier.above,
        maxLength: 3,
      }),
    });
    const limits = fc.record({
      inputBytes: fc.nat(30_000),
      media: fc.nat(2),
      outputTokens: fc.option(fc.nat(20_000), { nil: undefined }),
      choices: fc.integer({ min: 1, max: 3 }),
    });
    const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 10, maxLength: 10 });
    fc.assert(
      fc.property(row, limits, fc.constantFrom(STRICT, ESTIMATE), shares, (price, limit, options, parts) => {
        const { input, output } = tokenBounds(limit, options);
        const of = (whole: number, index: number): number => Math.floor(whole * (parts[index] ?? 0));
        const used = of(input, 0);
        const cacheRead = of(used, 1);
        const cacheWrite = of(used - cacheRead, 2);
        const made = of(output, 3);
        const reasoning = of(made, 4);
        const inputAudio = limit.media ? of(used, 6) : 0;
        const outputAudio = of(made - reasoning, 7);
        const usage: Usage = {
          input: used,
          cacheRead,
          cacheWrite,
          cacheWriteLong: of(used - cacheRead - cacheWrite, 5),
          inputAudio,
          inputImage: limit.media ? of(used - inputAudio, 8) : 0,
          output: made,
          reasoning,
          outputAudio,
          outputImage: of(made - reasoning - outputAudio, 9),
          estimated: false,
        };
        const book = bookOf(price as PriceFields);
        const cost = book.cost(MODEL, undefined, usage, 0);
        const bound = book.most(MODEL, undefined, limit, tokenBounds(limit, options), 0);
        assert.ok(cost !== undefined && bound !== undefined && cost <= bound, `${cost} > ${bound}`);
      }),
      { numRuns: 500 },
    );
  });
});
