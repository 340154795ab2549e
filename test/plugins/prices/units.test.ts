/** What is not sold by the token: images by kind, seconds of sound, characters. Amounts are micro-quota. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Model } from '../../../core/contracts/catalog.ts';
import type { Bounds } from '../../../core/contracts/formats/call.ts';
import type { Images, Usage } from '../../../core/contracts/formats/usage.ts';
import { NO_TOKENS } from '../../../core/translation/index.ts';
import { createPriceBook, type PriceBook } from '../../../plugins/prices/book.ts';
import { tokenBounds } from '../../../plugins/prices/estimate.ts';
import type { Upstream } from '../../../plugins/prices/list-prices.ts';
import type { PriceEntry, PriceFields } from '../../../plugins/prices/section.ts';
import { ESTIMATE_DEFAULTS } from '../../../plugins/quota/section.ts';
import fc from '../../kit/fast-check.ts';

const PER_UNIT = 500_000n;
const NOW = Date.parse('2026-09-25T12:00:00Z');
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
const NO_BOUNDS: Bounds = { inputBytes: 0, media: 0, outputTokens: 0, choices: 1 };

function bookOf(price?: PriceEntry) {
  return createPriceBook({
    prices: price === undefined ? {} : { m: price },
    perUnit: () => PER_UNIT,
    problem: (path, message) => assert.fail(`${path.join('.')}: ${message}`),
  });
}

function cost(price: PriceEntry, used: Partial<Usage>): bigint {
  const amount = bookOf(price).cost(MODEL, undefined, { ...NO_TOKENS, ...used }, NOW);
  assert.ok(amount !== undefined, 'there is no price');
  return amount;
}

function mostIn(book: PriceBook, part: Partial<Bounds>): bigint | undefined {
  const bounds = { ...NO_BOUNDS, ...part };
  return book.most(MODEL, undefined, bounds, tokenBounds(bounds, ESTIMATE_DEFAULTS), NOW);
}

function most(price: PriceEntry, bounds: Partial<Bounds>): bigint {
  const amount = mostIn(bookOf(price), bounds);
  assert.ok(amount !== undefined, 'there is no price');
  return amount;
}

/** So many currency units, written out: `0.006`. */
function currency(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return (BigInt(whole + fraction) * PER_UNIT * 1_000_000n) / 10n ** BigInt(fraction.length);
}

const images = (count: number, quality = '', size = ''): Images => ({ count, size, quality });

describe('images', () => {
  const price = {
    perImage: { default: 0.04, '1024x1792': 0.08, hd: 0.09, 'hd/1024*1792': 0.12, low: 0.01, 'hd/512x512': 0.002 },
  };
  const each = (quality: string, size: string): bigint => cost(price, { images: images(1, quality, size) });

  it('cost what their number says, to the last digit', () => {
    assert.equal(cost({ perImage: 0.04 }, { images: images(1) }), currency('0.04'));
    assert.equal(cost({ perImage: 0.04 }, { images: images(10, 'hd', '1792x1024') }), currency('0.4'));
    assert.equal(cost({ perImage: 0.000001 }, { images: images(3) }), currency('0.000003'));
    assert.equal(cost({ perImage: 0.04 }, { images: images(0) }), 0n);
    assert.equal(cost({ perImage: 0.04 }, { input: 1_000 }), 0n);
  });

  it('have the price of their quality and size, else the dearer of the two, else the default', () => {
    assert.equal(each('hd', '1024x1792'), currency('0.12'));
    assert.equal(each('hd', '512x512'), currency('0.002'));
    assert.equal(each('low', '1024x1792'), currency('0.08'));
    assert.equal(each('hd', '1024x1024'), currency('0.09'));
    assert.equal(each('low', '1024x1024'), currency('0.01'));
    assert.equal(each('standard', '1024x1792'), currency('0.08'));
    assert.equal(each('standard', '1024x1024'), currency('0.04'));
    assert.equal(each('', ''), currency('0.04'));
    assert.equal(each('auto', 'auto'), currency('0.04'));
  });

  it('may be spelled with a star, or in capitals', () => {
    assert.equal(each('HD', '1024*1792'), currency('0.12'));
    assert.equal(each('', '1024*1792'), currency('0.08'));
  });

  it('are the dearest where nothing is known of their kind: never free', () => {
    const table = { perImage: { '256x256': 0.016, '1024x1024': 0.02 } };
    assert.equal(cost(table, { images: images(1, '', '4096x4096') }), currency('0.02'));
    assert.equal(cost(table, { images: images(1) }), currency('0.02'));
  });

  it('get no price by the name of another field', () => {
    for (const [quality, size] of [
      ['512x512', ''],
      ['hd/512x512', ''],
      ['', 'hd/512x512'],
      ['hd/', '512x512'],
      ['default', 'default'],
    ] as const) {
      assert.equal(each(quality, size), currency('0.04'), `${quality} and ${size}`);
    }
    assert.equal(
      cost({ perImage: { '256x256': 0.01, default: 0.04 } }, { images: images(1, '256x256', '') }),
      currency('0.04'),
    );
  });

  it('may have a name that is a quality here and a size there', () => {
    const table = { perImage: { default: 0.04, '2K': 0.1 } };
    assert.equal(cost(table, { images: images(1, '2k', '') }), currency('0.1'));
    assert.equal(cost(table, { images: images(1, '', '2K') }), currency('0.1'));
  });

  it('are held for as the kind that was asked for, and as the dearest it can become where that is left open', () => {
    const held = (quality: string, size: string) => most(price, { images: images(2, quality, size) });
    assert.equal(held('hd', '1024x1792'), currency('0.24'));
    assert.equal(held('standard', '1024x1024'), currency('0.08'));
    assert.equal(held('', '1024x1024'), currency('0.18'));
    assert.equal(held('', '512x512'), currency('0.08'));
    // For all that is known, `hd` may be a size, too.
    assert.equal(held('low', 'auto'), currency('0.18'));
    assert.equal(held('', ''), currency('0.24'));
    assert.equal(
      most({ perImage: { default: 0.04, '1024x1792': 0.08 } }, { images: images(1, '', '1024x1024') }),
      currency('0.04'),
    );
  });
});

describe('sound', () => {
  it('costs by the microsecond, rounded up once', () => {
    assert.equal(cost({ perSecond: 0.0001 }, { seconds: 60 }), currency('0.006'));
    assert.equal(cost({ perSecond: 0.0001 }, { seconds: 8.47 }), currency('0.000847'));
    assert.equal(cost({ perSecond: 0.0001 }, { seconds: 8.470000267028809 }), currency('0.000847'));
    assert.equal(cost({ perSecond: 0.0001 }, { seconds: 0.000001 }), 50n);
    assert.equal(cost({ perSecond: 0.000000001 }, { seconds: 0.000001 }), 1n);
    assert.equal(cost({ perSecond: 1 }, { seconds: 0 }), 0n);
    // 0.1 + 0.2 of a second are three tenths.
    assert.equal(cost({ perSecond: 1 }, { seconds: 0.1 + 0.2 }), currency('0.3'));
  });

  it('is held for in whole seconds, as vendors round it, beside its tokens', () => {
    assert.equal(most({ perSecond: 0.0001 }, { seconds: 8.01 }), currency('0.0009'));
    assert.equal(most({ perSecond: 0.0001 }, { seconds: 9 }), currency('0.0009'));
    assert.equal(most({ perSecond: 1, inputAudio: 6 }, { seconds: 2 }), currency('2') + (1_024n + 64n) * 6n * PER_UNIT);
  });
});

describe('characters', () => {
  it('cost by the million', () => {
    assert.equal(cost({ characters: 15 }, { characters: 1_000_000 }), currency('15'));
    assert.equal(cost({ characters: 15 }, { characters: 1 }), currency('0.000015'));
    assert.equal(cost({ characters: 0.000001 }, { characters: 1 }), 1n);
    assert.equal(most({ characters: 15 }, { characters: 4_096 }), currency('0.06144'));
  });
});

describe('a price of tokens and of units', () => {
  it('charges both, and each call once', () => {
    const price = { input: 2, output: 8, perImage: 0.04, perSecond: 0.0001, characters: 15, perRequest: 0.01 };
    const used = { input: 1_000_000, output: 500_000, images: images(2), seconds: 60, characters: 2_000 };
    assert.equal(cost(price, used), currency('6.126'));
  });

  it('is a price where it has units alone', () => {
    for (const price of [{ perImage: 0 }, { perSecond: 0 }, { characters: 0 }]) {
      assert.equal(cost(price, { input: 5, images: images(1), seconds: 1, characters: 1 }), 0n);
    }
  });

  it('is none for a call that has none of its units: somebody meant another endpoint', () => {
    const most = (price: PriceEntry, bounds: Partial<Bounds>) => mostIn(bookOf(price), bounds);
    assert.equal(most({ perImage: 0.04 }, { seconds: 60 }), undefined);
    assert.equal(most({ perSecond: 0.0001 }, { characters: 100 }), undefined);
    assert.equal(most({ characters: 15 }, { inputBytes: 100 }), undefined);
    assert.equal(most({ characters: 15, perImage: 0 }, { images: images(1) }), 0n);
    assert.ok(most({ characters: 15, input: 1 }, { inputBytes: 100 })! > 0n, 'tokens are charged');
    assert.equal(most({ input: 0, output: 0 }, { inputBytes: 100 }), 0n);
  });

  it('may follow another in time', () => {
    const price = [{ perImage: 0.04 }, { from: '2026-06-01', perImage: { default: 0.02, hd: 0.03 } }];
    assert.equal(cost(price, { images: images(1, 'hd') }), currency('0.03'));
  });

  it('says so on one line', () => {
    const line = (price: PriceFields) => bookOf(price).describe(MODEL, undefined, NOW);
    assert.equal(line({ perImage: 0.04 }), 'm: 0.04 per image (gateway.yaml)');
    assert.equal(
      line({ perImage: { default: 0.04, hd: 0.08, 'hd/1024*1792': 0.12 }, perRequest: 1 }),
      'm: 0.04, hd 0.08, hd/1024x1792 0.12 per image; 1 per call (gateway.yaml)',
    );
    assert.equal(line({ perSecond: 0.0001 }), 'm: 0.0001 per second of audio (gateway.yaml)');
    assert.equal(
      line({ input: 5, inputImage: 10, outputImage: 40, characters: 15 }),
      'm: input 5, image input 10, image output 40 per million tokens; 15 per million characters (gateway.yaml)',
    );
  });
});

/** Amounts that a person may write, with their digits. */
const written = fc.record({ digits: fc.nat(999_999), scale: fc.integer({ min: 2, max: 9 }) });
const number = ({ digits, scale }: { digits: number; scale: number }): number => Number(`${digits}e-${scale}`);
const QUALITIES = ['', 'auto', 'hd', 'low', '2k'];
const SIZES = ['', 'auto', '1024x1024', '1024x1792', '2k'];
const KINDS = ['default', 'hd', 'low', '2k', '1024x1024', '1024x1792', 'hd/1024x1792', 'low/1024x1024', 'low/2k'];

describe('the arithmetic of units', () => {
  it('is that of fractions, whatever the decimals', () => {
    const prices = fc.record({ perImage: written, perSecond: written, characters: written, output: written });
    const used = fc.record({
      made: fc.nat(100),
      microseconds: fc.nat(4_000_000_000),
      characters: fc.nat(5_000),
      output: fc.nat(10_000),
    });
    fc.assert(
      fc.property(prices, used, (rates, { made, microseconds, characters, output }) => {
        let [above, below] = [0n, 1n];
        const add = (units: number, { digits, scale }: { digits: number; scale: number }, per: bigint) => {
          const share = 10n ** BigInt(scale) * per;
          above = above * share + BigInt(units) * BigInt(digits) * PER_UNIT * 1_000_000n * below;
          below *= share;
        };
        add(made, rates.perImage, 1n);
        add(microseconds, rates.perSecond, 1_000_000n);
        add(characters, rates.characters, 1_000_000n);
        add(output, rates.output, 1_000_000n);
        const price = Object.fromEntries(Object.entries(rates).map(([name, amount]) => [name, number(amount)]));
        const exact = above / below + (above % below ? 1n : 0n);
        assert.equal(cost(price, { images: images(made), seconds: microseconds / 1e6, characters, output }), exact);
      }),
    );
  });

  const table = fc
    .uniqueArray(fc.tuple(fc.constantFrom(...KINDS), written), { selector: ([kind]) => kind, minLength: 1 })
    .map((rows) => Object.fromEntries(rows.map(([kind, amount]) => [kind, number(amount)])));
  const price = fc.record(
    {
      perImage: fc.oneof(table, written.map(number)),
      perSecond: written.map(number),
      characters: written.map(number),
      input: written.map(number),
      inputAudio: written.map(number),
      output: written.map(number),
      outputImage: written.map(number),
    },
    { requiredKeys: ['perImage'] },
  );
  const limits = fc.record({
    inputBytes: fc.nat(2_000),
    media: fc.nat(1),
    outputTokens: fc.option(fc.nat(3_000), { nil: undefined }),
    choices: fc.constant(1),
    characters: fc.nat(4_096),
    seconds: fc.double({ min: 0, max: 600, noNaN: true }),
    images: fc.record({
      count: fc.nat(10),
      quality: fc.constantFrom(...QUALITIES),
      size: fc.constantFrom(...SIZES),
    }),
  });
  const left = (part: string): boolean => part === '' || part === 'auto';

  it('never asks for more than was held, whatever becomes of a call', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const become = fc.record({
      shares: fc.tuple(share, share, share, share, share, share, share),
      quality: fc.constantFrom(...QUALITIES, 'standard'),
      size: fc.constantFrom(...SIZES, '3000x3000'),
    });
    fc.assert(
      fc.property(price, limits, become, (rates, bounds, { shares, quality, size }) => {
        const of = (whole: number, index: number): number => Math.floor(whole * shares[index]!);
        const input = of(bounds.inputBytes + Math.ceil(bounds.seconds) * 32, 0);
        const output = of(bounds.outputTokens ?? 4_096 * Math.max(1, bounds.images.count), 1);
        const used = {
          input,
          inputAudio: bounds.media || bounds.seconds > 0 ? of(input, 2) : 0,
          output,
          outputImage: of(output, 3),
          characters: of(bounds.characters, 4),
          // Vendors round to whole seconds.
          seconds: shares[5] > 0.5 ? Math.ceil(bounds.seconds) : bounds.seconds * shares[5],
          images: {
            count: of(bounds.images.count, 6),
            quality: left(bounds.images.quality) ? quality : bounds.images.quality,
            size: left(bounds.images.size) ? size : bounds.images.size,
          },
        };
        const [due, held] = [cost(rates, used), most(rates, bounds)];
        assert.ok(due <= held, `${due} is more than the ${held} held`);
      }),
      { numRuns: 1_000 },
    );
  });

  it('never makes more cheaper', () => {
    fc.assert(
      fc.property(
        price,
        limits,
        fc.nat(50),
        fc.constantFrom(0, 1, 2, 3),
        (rates, { characters, seconds, images }, more, what) => {
          const add = (index: number): number => (what === index ? more : 0);
          const usage = (extra: (index: number) => number): Partial<Usage> => ({
            input: 10 + extra(0),
            characters: characters + extra(1),
            seconds: seconds + extra(2),
            images: { ...images, count: images.count + extra(3) },
          });
          const [less, greater] = [
            cost(
              rates,
              usage(() => 0),
            ),
            cost(rates, usage(add)),
          ];
          assert.ok(less <= greater, `${greater} for more, ${less} for less`);
        },
      ),
    );
  });
});

describe('list prices of what is not sold by the token', () => {
  const openai = (model: string): Upstream => ({ vendor: 'openai', url: 'https://api.openai.com/v1', model });
  const gemini = (model: string): Upstream => ({ vendor: 'gemini', url: '', model });
  const groq = (model: string): Upstream => ({ vendor: 'compatible', url: 'https://api.groq.com/openai/v1', model });
  const million = 1_000_000;

  const PUBLISHED: readonly [what: string, Upstream, used: Partial<Usage>, amount: string][] = [
    ['a whisper minute costs 0.006', openai('whisper-1'), { seconds: 60 }, '0.006'],
    ['an hour of whisper costs 0.36', openai('whisper-1'), { seconds: 3_600 }, '0.36'],
    ['an hour of whisper-large-v3 costs 0.111', groq('whisper-large-v3'), { seconds: 3_600 }, '0.111'],
    ['an hour of whisper-large-v3-turbo costs 0.04', groq('whisper-large-v3-turbo'), { seconds: 3_600 }, '0.04'],
    ['a million characters of tts-1 cost 15', openai('tts-1'), { characters: million }, '15'],
    ['a full request of tts-1 costs 0.06144', openai('tts-1-1106'), { characters: 4_096 }, '0.06144'],
    ['a million characters of tts-1-hd cost 30', openai('tts-1-hd'), { characters: million }, '30'],
    ['a million characters of tts-1-hd-1106 cost 30', openai('tts-1-hd-1106'), { characters: million }, '30'],
    ['an image of dall-e-3 costs 0.04', openai('dall-e-3'), { images: images(1) }, '0.04'],
    [
      'a square one that is named does, too',
      openai('dall-e-3'),
      { images: images(1, 'standard', '1024x1024') },
      '0.04',
    ],
    ['a high one of dall-e-3 costs 0.08', openai('dall-e-3'), { images: images(1, 'standard', '1024x1792') }, '0.08'],
    ['a wide one of dall-e-3 costs 0.08', openai('dall-e-3'), { images: images(1, '', '1792x1024') }, '0.08'],
    ['an hd one of dall-e-3 costs 0.08', openai('dall-e-3'), { images: images(1, 'hd', '1024x1024') }, '0.08'],
    ['a high hd one of dall-e-3 costs 0.12', openai('dall-e-3'), { images: images(1, 'hd', '1024x1792') }, '0.12'],
    ['a wide hd one of dall-e-3 costs 0.12', openai('dall-e-3'), { images: images(1, 'hd', '1792x1024') }, '0.12'],
    ['a small image of dall-e-2 costs 0.016', openai('dall-e-2'), { images: images(1, '', '256x256') }, '0.016'],
    ['a middling one of dall-e-2 costs 0.018', openai('dall-e-2'), { images: images(1, '', '512x512') }, '0.018'],
    ['ten large ones of dall-e-2 cost 0.2', openai('dall-e-2'), { images: images(10, '', '1024x1024') }, '0.2'],
    ['a million tokens of text for gpt-image-1 cost 5', openai('gpt-image-1'), { input: million }, '5'],
    ['cached ones cost 1.25', openai('gpt-image-1'), { input: million, cacheRead: million }, '1.25'],
    ['those of images cost 10', openai('gpt-image-1'), { input: million, inputImage: million }, '10'],
    ['those of its own images cost 40', openai('gpt-image-1'), { output: million, outputImage: million }, '40'],
    ['those of gpt-image-1.5 cost 32', openai('gpt-image-1.5'), { output: million, outputImage: million }, '32'],
    ['its own words cost 10', openai('gpt-image-1.5'), { output: million }, '10'],
    [
      'tokens of images by gemini-2.5-flash-image cost 30',
      gemini('gemini-2.5-flash-image'),
      { output: million, outputImage: million },
      '30',
    ],
    [
      'heard tokens of gpt-4o-transcribe cost 6',
      openai('gpt-4o-transcribe'),
      { input: million, inputAudio: million },
      '6',
    ],
    ['tokens of text-embedding-3-small cost 0.02', openai('text-embedding-3-small'), { input: million }, '0.02'],
  ];
  const book = bookOf();
  const named = { ...MODEL, name: 'public-name' };
  for (const [what, upstream, used, amount] of PUBLISHED) {
    it(what, () => {
      assert.equal(book.cost(named, upstream, { ...NO_TOKENS, ...used }, NOW), currency(amount));
    });
  }

  it('are rounded up where an hour has no exact seconds', () => {
    const second = book.cost(named, groq('whisper-large-v3'), { ...NO_TOKENS, seconds: 1 }, NOW);
    // 55,500,000,000 / 3,600 = 15,416,666.66…
    assert.equal(second, 15_416_667n);
  });

  it('say where they come from', () => {
    assert.equal(
      book.describe(named, openai('whisper-1'), NOW),
      'public-name: 0.0001 per second of audio (genai-prices data, openai whisper-1)',
    );
    assert.equal(
      book.describe(named, groq('whisper-large-v3'), NOW),
      'public-name: 0.111 per hour of audio (genai-prices data, groq whisper-large-v3)',
    );
    assert.equal(
      book.describe(named, openai('tts-1-hd'), NOW),
      'public-name: 30 per million characters (list price, openai tts-1-hd)',
    );
    assert.equal(
      book.describe(named, openai('dall-e-2'), NOW),
      'public-name: 256x256 0.016, 512x512 0.018, 1024x1024 0.02 per image (list price, openai dall-e-2)',
    );
  });
});
