/** Prices: exact money, which rate each token gets, where a price comes from. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { type ModelPrice, waitForUpdate } from '@pydantic/genai-prices';
import { Ajv } from 'ajv';
import type { Model } from '../../../core/contracts/catalog.ts';
import type { Usage } from '../../../core/contracts/formats/usage.ts';
import { decimal, decimalText } from '../../../core/sdk.ts';
import { NO_TOKENS } from '../../../core/translation/conversation/count-usage.ts';
import { MOST_TOKENS, saneUsage } from '../../../core/translation/conversation/sane-usage.ts';
import { createPriceBook } from '../../../plugins/prices/book.ts';
import type { Upstream } from '../../../plugins/prices/list-prices.ts';
import { type PriceEntry, type PricesSection, priceSchema, pricesSchema } from '../../../plugins/prices/section.ts';
import fc from '../../kit/fast-check.ts';

const PER_UNIT = 500_000n;
const NOW = Date.parse('2026-09-25T12:00:00Z');

function use(part: Partial<Usage>): Usage {
  return { ...NO_TOKENS, ...part };
}

function model(name: string, part: Partial<Model> = {}): Model {
  return {
    name,
    entry: name,
    free: false,
    only: undefined,
    from: [],
    fallback: [],
    price: undefined,
    created: 0,
    ...part,
  };
}

function bookOf(prices: PricesSection = {}) {
  const problems: string[] = [];
  const book = createPriceBook({
    prices,
    perUnit: () => PER_UNIT,
    problem: (path, message) => problems.push(`${path.join('.')}: ${message}`),
  });
  return { book, problems };
}

/** The cost of a use under one price. */
function cost(price: PriceEntry, usage: Partial<Usage>, atMs = NOW): bigint | undefined {
  const { book, problems } = bookOf({ m: price });
  assert.deepEqual(problems, []);
  return book.cost(model('m'), undefined, use(usage), atMs);
}

/** Micro-quota of a whole number of currency units per million tokens, for that many tokens. */
function micro(perMillion: number, tokens: number): bigint {
  return BigInt(perMillion) * PER_UNIT * BigInt(tokens);
}

describe('a decimal', () => {
  it('is the text of its number, digit by digit', () => {
    for (const [value, text] of [
      [0, '0'],
      [2.5, '2.5'],
      [0.1 + 0.2, '0.30000000000000004'],
      [2.5e-7, '0.00000025'],
      [1e-7, '0.0000001'],
      [10_000, '10000'],
      [1e21, '1000000000000000000000'],
      [1.5e22, '15000000000000000000000'],
    ] as const) {
      assert.equal(decimalText(decimal(value)), text);
    }
  });

  it('comes back as the number it was made of', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), (value) => {
        assert.equal(Number(decimalText(decimal(value))), Math.abs(value));
      }),
    );
  });

  it('is never negative, nor made of what is no number', () => {
    for (const value of [-1, -1e-9, Number.NaN, Number.POSITIVE_INFINITY])
      assert.throws(() => decimal(value), RangeError);
  });
});

describe('the cost of a call', () => {
  it('is exact where a price has up to five decimals', () => {
    assert.equal(cost({ input: 2.5, output: 10 }, { input: 3, output: 2 }), 3n * 1_250_000n + 2n * 5_000_000n);
    assert.equal(cost({ input: 0.00001 }, { input: 1 }), 5n);
    assert.equal(cost({ input: 0.12345 }, { input: 7 }), 7n * 61_725n);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), fc.nat(MOST_TOKENS), (digits, input) => {
        assert.equal(cost({ input: digits / 100_000 }, { input }), BigInt(digits) * 5n * BigInt(input));
      }),
    );
  });

  it('is rounded up once, at the end of the call', () => {
    // 0.000001 per million is half a micro-quota for a token.
    const price = { input: 0.000001, output: 0.000001 };
    assert.equal(cost(price, { input: 1 }), 1n);
    assert.equal(cost(price, { input: 1, output: 1 }), 1n);
    assert.equal(cost(price, { input: 3, output: 2 }), 3n);
    assert.equal(cost({ input: 0.003625 }, { input: 1 }), 1_813n);
    assert.equal(cost({ input: 0.003625 }, { input: 1_000_000 }), 1_812_500_000n);
    assert.equal(cost({ input: 1e-12 }, { input: 1 }), 1n);
    assert.equal(cost({ input: 1e-12 }, {}), 0n);
  });

  it('is the sum of fractions, whatever the decimals', () => {
    const amount = fc.record({ digits: fc.nat(999_999_999), scale: fc.integer({ min: 5, max: 15 }) });
    const prices = fc.record({
      input: amount,
      cacheRead: amount,
      cacheWrite: amount,
      cacheWriteLong: amount,
      inputAudio: amount,
      inputImage: amount,
      output: amount,
      reasoning: amount,
      outputAudio: amount,
      outputImage: amount,
      perRequest: amount,
    });
    const tokens = fc.nat(2_000_000);
    const parts = fc.record({
      text: tokens,
      cacheRead: tokens,
      cacheWrite: tokens,
      cacheWriteLong: tokens,
      inputAudio: tokens,
      inputImage: tokens,
      words: tokens,
      reasoning: tokens,
      outputAudio: tokens,
      outputImage: tokens,
    });
    fc.assert(
      fc.property(prices, parts, ({ perRequest, ...rates }, { text, words, ...named }) => {
        const { cacheRead, cacheWrite, cacheWriteLong, inputAudio, inputImage } = named;
        const { reasoning, outputAudio, outputImage } = named;
        const usage = {
          ...named,
          input: text + cacheRead + cacheWrite + cacheWriteLong + inputAudio + inputImage,
          output: words + reasoning + outputAudio + outputImage,
        };
        // Adds fractions pair by pair, as one does on paper.
        let [above, below] = [0n, 1n];
        const add = (units: bigint, { digits, scale }: { digits: number; scale: number }) => {
          above = above * 10n ** BigInt(scale) + units * BigInt(digits) * PER_UNIT * below;
          below *= 10n ** BigInt(scale);
        };
        for (const [rate, count] of Object.entries({ ...named, input: text, output: words })) {
          add(BigInt(count), rates[rate as keyof typeof rates]);
        }
        add(1_000_000n, perRequest);
        const written = Object.entries({ ...rates, perRequest }).map(([name, { digits, scale }]) => [
          name,
          Number(`${digits}e-${scale}`),
        ]);
        assert.equal(cost(Object.fromEntries(written), usage), above / below + (above % below ? 1n : 0n));
      }),
    );
  });

  it('charges cached, audio, image and reasoning tokens once, at their own rates', () => {
    const price = {
      input: 10,
      cacheRead: 1,
      cacheWrite: 12,
      cacheWriteLong: 20,
      inputAudio: 40,
      inputImage: 30,
      output: 50,
      reasoning: 60,
      outputAudio: 80,
      outputImage: 90,
    };
    assert.equal(
      cost(price, {
        input: 1000,
        cacheRead: 100,
        cacheWrite: 200,
        cacheWriteLong: 300,
        inputAudio: 50,
        inputImage: 20,
      }),
      micro(10, 330) + micro(1, 100) + micro(12, 200) + micro(20, 300) + micro(40, 50) + micro(30, 20),
    );
    assert.equal(
      cost(price, { output: 1000, reasoning: 600, outputAudio: 100, outputImage: 70 }),
      micro(50, 230) + micro(60, 600) + micro(80, 100) + micro(90, 70),
    );
    // Parts that claim more than there is get what is left.
    assert.equal(cost(price, { input: 100, inputAudio: 60, inputImage: 60 }), micro(40, 60) + micro(30, 40));
    assert.equal(cost(price, { output: 100, outputAudio: 60, outputImage: 60 }), micro(80, 60) + micro(90, 40));
  });

  it('is the same for a vendor that counts caches beside the input, once they are added up', () => {
    const price = { input: 3, cacheRead: 0.3, cacheWrite: 3.75, cacheWriteLong: 6, output: 15 };
    const messages = {
      input_tokens: 21,
      cache_read_input_tokens: 180_000,
      cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 300 },
      output_tokens: 500,
    };
    const { cache_creation: written, cache_read_input_tokens: cacheRead } = messages;
    const usage = {
      input: 21 + 180_000 + 400 + 300,
      cacheRead,
      cacheWrite: written.ephemeral_5m_input_tokens,
      cacheWriteLong: written.ephemeral_1h_input_tokens,
      output: messages.output_tokens,
    };
    // In that vendor's own terms, in hundredths of a currency unit per million tokens.
    const hundredths = 21 * 300 + 180_000 * 30 + 400 * 375 + 300 * 600 + 500 * 1500;
    assert.equal(cost(price, usage), (BigInt(hundredths) * PER_UNIT) / 100n);
  });

  it('falls back to the rate of the parent where a rate is missing', () => {
    const all = { input: 100, cacheRead: 20, cacheWrite: 30, cacheWriteLong: 40, inputAudio: 5 };
    assert.equal(cost({ input: 2 }, all), micro(2, 100));
    assert.equal(cost({ input: 2, cacheWrite: 3 }, all), micro(2, 30) + micro(3, 70));
    assert.equal(cost({ output: 4 }, { output: 100, reasoning: 60, outputAudio: 10, outputImage: 30 }), micro(4, 100));
    assert.equal(cost({ input: 2, inputAudio: 9 }, { input: 100, inputImage: 40 }), micro(2, 100));
    assert.equal(cost({ input: 2 }, { input: 5, output: 1_000 }), micro(2, 5));
  });

  it('takes a rate of zero at its word', () => {
    assert.equal(cost({ input: 2, cacheRead: 0 }, { input: 10, cacheRead: 9 }), micro(2, 1));
    assert.equal(cost({ input: 0, output: 0 }, { input: 10, output: 9 }), 0n);
  });

  it('has a part per call', () => {
    assert.equal(cost({ perRequest: 0.006 }, {}), 6n * PER_UNIT * 1_000n);
    assert.equal(cost({ perRequest: 0.006, input: 1 }, { input: 2 }), 6n * PER_UNIT * 1_000n + micro(1, 2));
  });

  it('is zero for a free model, priced or not', () => {
    const { book } = bookOf({ m: { input: 1 } });
    assert.equal(book.cost(model('m', { free: true }), undefined, use({ input: 5 }), NOW), 0n);
    assert.equal(book.cost(model('n', { free: true, price: 'nonsense' }), undefined, use({ input: 5 }), NOW), 0n);
  });
});

describe('tiers', () => {
  const price: PriceEntry = {
    input: 3,
    cacheRead: 1,
    output: 15,
    tiers: [
      { above: 500_000, output: 30 },
      { above: 200_000, input: 6, cacheRead: 2, output: 22 },
    ],
  };

  it('apply to the whole call once its input is above the border, not at it', () => {
    assert.equal(cost(price, { input: 199_999, output: 10 }), micro(3, 199_999) + micro(15, 10));
    assert.equal(cost(price, { input: 200_000, output: 10 }), micro(3, 200_000) + micro(15, 10));
    assert.equal(cost(price, { input: 200_001, output: 10 }), micro(6, 200_001) + micro(22, 10));
  });

  it('go by all of the input, cached or not, and never by the output', () => {
    assert.equal(cost(price, { input: 200_001, cacheRead: 200_000 }), micro(6, 1) + micro(2, 200_000));
    assert.equal(cost(price, { output: 900_000 }), micro(15, 900_000));
  });

  it('leave what they do not name as it is below them', () => {
    assert.equal(cost(price, { input: 500_001, output: 10 }), micro(6, 500_001) + micro(30, 10));
  });
});

describe('dates', () => {
  const price: PriceEntry = [
    { from: '2026-06-01', input: 2 },
    { from: '2026-01-01', input: 3 },
    { from: '2026-12-01', input: 1 },
  ];

  it('choose the newest price that has begun, at midnight UTC', () => {
    const at = (time: string) => cost(price, { input: 1 }, Date.parse(time));
    assert.equal(at('2026-05-31T23:59:59.999Z'), micro(3, 1));
    assert.equal(at('2026-06-01T00:00:00.000Z'), micro(2, 1));
    assert.equal(at('2027-01-01T00:00:00Z'), micro(1, 1));
  });

  it('leave a model without a price before the first of them', () => {
    assert.equal(cost(price, { input: 1 }, Date.parse('2025-12-31')), undefined);
    assert.equal(cost([{ input: 9 }, ...(price as [])], { input: 1 }, Date.parse('2025-12-31')), micro(9, 1));
  });
});

describe('the price of a model', () => {
  const upstream: Upstream = { vendor: 'openai', url: 'https://api.openai.com/v1', model: 'gpt-4o' };

  it('is the one of its entry, then the section by public name, then the list price', () => {
    const { book } = bookOf({ 'gpt-4o': { input: 7 } });
    const million = use({ input: 1 });
    assert.equal(book.cost(model('gpt-4o', { price: { input: 8 } }), upstream, million, NOW), micro(8, 1));
    assert.equal(book.cost(model('gpt-4o'), upstream, million, NOW), micro(7, 1));
    assert.equal(book.cost(model('other-name'), upstream, million, NOW), 1_250_000n);
    assert.equal(book.cost(model('other-name'), undefined, million, NOW), undefined);
  });

  it('is described with its source', () => {
    const { book } = bookOf({
      m: { input: 2.5, cacheRead: 1.25, output: 10 },
      long: { from: '2026-01-01', input: 1e-7, perRequest: 0.01, tiers: [{ above: 200_000, input: 5, output: 20 }] },
    });
    assert.equal(
      book.describe(model('m'), upstream, NOW),
      'm: input 2.5, cache read 1.25, output 10 per million tokens (gateway.yaml)',
    );
    assert.equal(
      book.describe(model('long'), upstream, NOW),
      'long: input 0.0000001 per million tokens; above 200000 tokens: input 5, output 20; 0.01 per call; since 2026-01-01 (gateway.yaml)',
    );
    assert.equal(
      book.describe(model('x'), upstream, NOW),
      'x: input 2.5, cache read 1.25, output 10 per million tokens; web_search 0.01, file_search 0.0025 per use (genai-prices data, openai gpt-4o)',
    );
    assert.equal(
      book.describe(model('y'), { ...upstream, model: 'o3' }, NOW),
      'y: input 2, cache read 0.5, output 8 per million tokens; web_search 0.01, file_search 0.0025 per use; since 2025-06-10 (genai-prices data, openai o3)',
    );
    assert.equal(book.describe(model('z', { free: true }), upstream, NOW), 'z: free');
    assert.equal(book.describe(model('z'), { ...upstream, model: 'unheard-of' }, NOW), undefined);
  });

  it('with mistakes is none, and the mistakes are reported once, with their places', () => {
    const bad: unknown[] = [
      [{ inputs: 1 }, 'inputs'],
      [{ input: -1 }, 'input'],
      [{ input: '1' }, 'input'],
      [{ input: Number.NaN }, 'input'],
      [{ output: 10_001 }, 'output'],
      [{ input: 1, from: '2026-02-30' }, 'from'],
      [{ input: 1, from: 2026 }, 'from'],
      [{ perImage: -1 }, 'perImage'],
      [{ perImage: [1] }, 'perImage'],
      [{ perImage: {} }, 'perImage'],
      [{ perImage: { default: '1' } }, 'perImage.default'],
      [{ perImage: { '1024x1792/hd': 1 } }, 'perImage.1024x1792/hd'],
      [{ perImage: { 'hd/1/2': 1 } }, 'perImage.hd/1/2'],
      [{ perImage: { '': 1 } }, 'perImage.'],
      [{ perImage: { '512x512': 1, '512*512': 2 } }, 'perImage.512*512'],
      [{ perSecond: 20_000 }, 'perSecond'],
      [{ perMinute: 0.006 }, 'perMinute'],
      [{ characters: null }, 'characters'],
      [{ input: 1, tiers: [{ above: 5, perImage: 1 }] }, 'tiers.0.perImage'],
      [{ input: 1, tiers: 5 }, 'tiers'],
      [{ input: 1, tiers: [{ input: 2 }] }, 'tiers.0.above'],
      [{ input: 1, tiers: [{ above: 1.5, input: 2 }] }, 'tiers.0.above'],
      [{ input: 1, tiers: [{ above: 5 }, { above: 5 }] }, 'tiers.1.above'],
      [{ input: 1, tiers: [{ above: 5, from: '2026-01-01' }] }, 'tiers.0.from'],
      [[{ input: 1 }, { input: 2 }], '1'],
      [
        [
          { input: 1, from: '2026-01-01' },
          { input: 2, from: '2026-01-01' },
        ],
        '1',
      ],
      [[{ input: 1 }, 5], '1'],
      [[], ''],
      [{}, ''],
      [{ from: '2026-01-01' }, ''],
      [5, ''],
      [null, ''],
    ];
    for (const [price, place] of bad as [unknown, string][]) {
      const { book, problems } = bookOf();
      const odd = model('odd', { price });
      assert.equal(book.cost(odd, upstream, use({ input: 1 }), NOW), undefined, JSON.stringify(price));
      assert.equal(book.cost(odd, upstream, use({ input: 1 }), NOW), undefined);
      const expected = ['models.odd.price', ...(place === '' ? [] : [place])].join('.');
      const hits = problems.filter((problem) => problem.startsWith(`${expected}: `));
      assert.deepEqual(
        [hits.length, problems.length],
        [1, 1],
        `${JSON.stringify(price)} gives ${JSON.stringify(problems)}`,
      );
    }
    const { book, problems } = bookOf({ odd: { inputs: 1 } as PriceEntry });
    assert.match(problems[0] ?? '', /^prices\.odd\.inputs: is not a field of a price; did you mean input\?/);
    assert.equal(book.cost(model('odd'), upstream, use({ input: 1 }), NOW), undefined);
  });

  it('has a schema that takes what is right and knows what is wrong', () => {
    const ajv = new Ajv({ strict: true });
    const section = ajv.compile(pricesSchema);
    assert.ok(
      section({
        a: { input: 1, from: '2026-01-01', tiers: [{ above: 5, output: 2 }] },
        b: [{ perRequest: 1 }, { input: 2, from: '2026-01-01' }],
        c: { perImage: 0.04, perSecond: 0.0001, characters: 15 },
        d: { perImage: { default: 0.04, 'hd/1024x1792': 0.12 }, outputImage: 40 },
      }),
    );
    const single = ajv.compile(priceSchema);
    const wrongs = [5, { inputs: 1 }, { input: -1 }, [{ input: 1 }, { perMinute: 1 }], [], { from: 'today' }];
    const wrongUnits = [{ perImage: {} }, { perImage: { hd: -1 } }, { perImage: '1' }, { perSecond: 1e6 }];
    for (const wrong of [...wrongs, ...wrongUnits]) assert.equal(single(wrong), false, JSON.stringify(wrong));
    assert.equal(single({ inputs: 1 }), false);
    assert.equal(single.errors?.[0]?.keyword, 'additionalProperties');
  });
});

describe('list prices', () => {
  /** Currency units per million tokens, read in the data. */
  const known: [Upstream, { input: number; cacheRead?: number; cacheWrite?: number; output?: number }][] = [
    [
      { vendor: 'openai', url: 'https://api.openai.com/v1', model: 'gpt-4o' },
      { input: 2.5, cacheRead: 1.25, output: 10 },
    ],
    [
      { vendor: 'openai', url: '', model: 'gpt-4o-mini-2024-07-18' },
      { input: 0.15, cacheRead: 0.075, output: 0.6 },
    ],
    [
      { vendor: 'openai', url: 'https://spare.example.net/v1', model: 'gpt-4.1' },
      { input: 2, cacheRead: 0.5, output: 8 },
    ],
    [
      { vendor: 'openai', url: '', model: 'o3' },
      { input: 2, cacheRead: 0.5, output: 8 },
    ],
    [{ vendor: 'openai', url: '', model: 'text-embedding-3-small' }, { input: 0.02 }],
    [
      { vendor: 'anthropic', url: 'https://api.anthropic.com/v1', model: 'claude-sonnet-4-20250514' },
      { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15 },
    ],
    [
      { vendor: 'anthropic', url: '', model: 'claude-haiku-4-5' },
      { input: 1, cacheRead: 0.1, cacheWrite: 1.25, output: 5 },
    ],
    [
      { vendor: 'gemini', url: 'https://generativelanguage.googleapis.com/v1beta', model: 'gemini-2.5-pro' },
      { input: 1.25, cacheRead: 0.125, output: 10 },
    ],
    [
      { vendor: 'gemini', url: '', model: 'gemini-2.5-flash' },
      { input: 0.3, cacheRead: 0.03, output: 2.5 },
    ],
    [
      { vendor: 'compatible', url: 'https://api.groq.com/openai/v1', model: 'llama-3.3-70b-versatile' },
      { input: 0.59, output: 0.79 },
    ],
    [
      { vendor: 'compatible', url: 'https://api.x.ai/v1', model: 'grok-4-0709' },
      { input: 3, cacheRead: 0.75, output: 15 },
    ],
    [
      { vendor: 'compatible', url: 'https://api.cohere.com/v2', model: 'command-r-plus' },
      { input: 2.5, output: 10 },
    ],
    [
      { vendor: 'compatible', url: 'https://api.moonshot.ai/v1', model: 'kimi-k2' },
      { input: 0.57, output: 2.3 },
    ],
    // The url tells who is asked, whatever the vendor's code is called.
    [
      { vendor: 'openai', url: 'https://api.deepseek.com/v1', model: 'deepseek-v4-pro' },
      { input: 0.66, cacheRead: 0.022, output: 1.98 },
    ],
  ];

  it('are found for well-known models of many vendors, by url or by name', () => {
    const { book } = bookOf();
    for (const [upstream, price] of known) {
      for (const usage of [
        use({ input: 1_000, cacheRead: 300, cacheWrite: 200, output: 50 }),
        use({ input: 77, output: 3 }),
      ]) {
        assert.equal(book.cost(model('m'), upstream, usage, NOW), cost(price, usage), JSON.stringify(upstream));
      }
    }
  });

  it('are none where the vendor is unknown, however well known the model is', () => {
    const { book } = bookOf();
    for (const upstream of [
      { vendor: 'compatible', url: 'http://10.0.0.7:8000/v1', model: 'gpt-4o' },
      { vendor: 'compatible', url: '', model: 'claude-sonnet-4-20250514' },
      { vendor: 'my-openai-relay', url: 'https://relay.example/v1', model: 'gpt-4o' },
      { vendor: '', url: '', model: 'gpt-4o' },
      { vendor: 'openai', url: 'https://api.openai.com/v1', model: 'qwen3-32b' },
      { vendor: 'openai', url: 'https://api.openai.com/v1', model: '' },
    ]) {
      assert.equal(book.cost(model('m'), upstream, use({ input: 1 }), NOW), undefined, JSON.stringify(upstream));
    }
  });

  it('are none where what is counted does not tell the price, or nobody is sure of it', () => {
    const { book } = bookOf();
    for (const [vendor, name] of [
      ['openai', 'moderation'],
      ['openai', 'dall-e-4'],
      ['openai', 'tts-2'],
      ['google', 'imagen-9'],
      ['google', 'gemini-embedding-2'],
      ['mistral', 'mistral-ocr-2512'],
      ['x-ai', 'grok-voice-latest'],
      ['compatible', 'dall-e-3'],
      ['openai', 'toString'],
    ] as const) {
      const upstream = { vendor, url: '', model: name };
      assert.equal(book.cost(model('m'), upstream, use({ input: 1 }), NOW), undefined, name);
    }
  });

  it('have tiers, dates, hours and a price per call where the data has them', () => {
    const { book } = bookOf();
    const at = (vendor: string, name: string, usage: Partial<Usage>, time = '2026-09-25T12:00:00Z') =>
      book.cost(model('m'), { vendor, url: '', model: name }, use(usage), Date.parse(time));
    const sonnet: PriceEntry = {
      input: 3,
      cacheRead: 0.3,
      cacheWrite: 3.75,
      cacheWriteLong: 6,
      output: 15,
      tiers: [{ above: 200_000, input: 6, cacheRead: 0.6, cacheWrite: 7.5, cacheWriteLong: 12, output: 22.5 }],
    };
    for (const input of [199_999, 200_000, 200_001]) {
      const usage = { input, cacheRead: 1_000, cacheWrite: 500, cacheWriteLong: 400, output: 90 };
      assert.equal(at('anthropic', 'claude-sonnet-4-5', usage), cost(sonnet, usage));
    }
    assert.equal(at('openai', 'o3', { input: 1 }, '2025-06-09T23:59:59Z'), micro(10, 1));
    assert.equal(at('openai', 'o3', { input: 1 }, '2025-06-10T00:00:00Z'), micro(2, 1));
    assert.equal(at('deepseek', 'deepseek-v4-pro', { output: 100 }, '2026-09-25T05:00:00Z'), micro(198, 1));
    assert.equal(at('deepseek', 'deepseek-v4-pro', { output: 100 }, '2026-09-25T07:00:00Z'), micro(396, 1));
    // 14 per thousand requests.
    assert.equal(at('perplexity', 'sonar-pro', { input: 2 }), 14n * PER_UNIT * 1_000n + micro(3, 2));
  });

  it('of every model in the data are charged as the data says, or not at all', async () => {
    const { book } = bookOf();
    const usage = use({
      input: 1_000,
      cacheRead: 100,
      cacheWrite: 50,
      inputAudio: 70,
      inputImage: 60,
      output: 400,
      outputAudio: 30,
      outputImage: 20,
      seconds: 90,
    });
    let priced = 0;
    for (const provider of await waitForUpdate().then((providers) => providers ?? [])) {
      for (const { id, prices } of provider.models) {
        const upstream = { vendor: provider.id, url: '', model: id };
        const charged = book.cost(model('m'), upstream, usage, NOW);
        if (charged === undefined) continue;
        priced += 1;
        const rows: ModelPrice[] = Array.isArray(prices) ? prices.map((row) => row.prices) : [prices];
        const possible = rows.map((row) => inFloats(row, usage));
        // An id may be matched by an entry further up in the data; what it is charged must then be that entry's price.
        const line = book.describe(model('m'), upstream, NOW) ?? '';
        if (!line.endsWith(`(genai-prices data, ${provider.id} ${id})`)) continue;
        assert.ok(
          possible.some((amount) => Math.abs(Number(charged) - amount) <= 1 + amount * 1e-12),
          `${provider.id} ${id}: ${charged} is none of ${possible}`,
        );
      }
    }
    assert.ok(priced > 1_000, `${priced} models priced`);
  });

  /** What a row of the data comes to in micro-quota, computed its own way, in floating point. */
  function inFloats(row: ModelPrice, usage: Usage): number {
    const rate = (key: string): number | undefined => {
      const price = row[key];
      return typeof price === 'object'
        ? price.tiers.reduce((found, tier) => (usage.input > tier.start ? tier.price : found), price.base)
        : price;
    };
    const input = rate('input_mtok') ?? 0;
    const output = rate('output_mtok') ?? 0;
    const { inputImage = 0, outputImage = 0, seconds = 0 } = usage;
    const plain = usage.input - usage.cacheRead - usage.cacheWrite - usage.inputAudio - inputImage;
    const currency =
      (plain * input +
        usage.cacheRead * (rate('cache_read_mtok') ?? input) +
        usage.cacheWrite * (rate('cache_write_mtok') ?? input) +
        usage.inputAudio * (rate('input_audio_mtok') ?? input) +
        inputImage * (rate('input_image_mtok') ?? input) +
        (usage.output - usage.outputAudio - outputImage) * output +
        usage.outputAudio * (rate('output_audio_mtok') ?? output) +
        outputImage * (rate('output_image_mtok') ?? output)) /
        1e6 +
      ((rate('input_audio_hours') ?? 0) * seconds) / 3600 +
      (rate('requests_kcount') ?? 0) / 1e3;
    return currency * 500_000 * 1e6;
  }

  it('are not loaded as long as every price is in gateway.yaml', () => {
    const script = `
      import { createPriceBook } from './plugins/prices/book.ts';
      import { createRequire } from 'node:module';
      const book = createPriceBook({ prices: { m: { input: 1 } }, perUnit: () => 500000n, problem() {} });
      const m = { name: 'm', free: false, price: undefined };
      const up = { vendor: 'openai', url: '', model: 'gpt-4o' };
      const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('genai-prices'));
      book.cost(m, up, { input: 1 }, 0);
      const before = loaded();
      book.cost({ ...m, name: 'gpt-4o' }, up, { input: 1 }, 0);
      console.log(before, loaded());
    `;
    const output = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      cwd: new URL('../../..', import.meta.url),
      encoding: 'utf8',
    });
    assert.equal(output.trim(), 'false true');
  });
});

describe('a hostile usage record', () => {
  const hostile = fc.oneof(
    fc.double(),
    fc.integer(),
    fc.constantFrom(Number.NaN, 1e30, -1e30, Number.POSITIVE_INFINITY, 0.1, -0, 5, Number.MAX_SAFE_INTEGER),
    fc.constantFrom('12', null, undefined, {}) as fc.Arbitrary<never>,
  ) as fc.Arbitrary<number>;
  const name = fc.constantFrom('', 'hd', '1024x1024', 'x'.repeat(10_000), null, 5, {}) as fc.Arbitrary<string>;
  const images = fc.oneof(
    fc.record({ count: hostile, size: name, quality: name }),
    fc.constantFrom(null, 3, 'two', [], {}) as fc.Arbitrary<never>,
  );
  const counts = {
    input: hostile,
    cacheRead: hostile,
    cacheWrite: hostile,
    cacheWriteLong: hostile,
    inputAudio: hostile,
    output: hostile,
    reasoning: hostile,
    outputAudio: hostile,
    estimated: fc.boolean(),
  };
  const others = { inputImage: hostile, outputImage: hostile, characters: hostile, seconds: hostile, images };
  const usages = fc.record(
    { ...counts, ...others },
    { requiredKeys: Object.keys(counts) as (keyof typeof counts)[] },
  ) as fc.Arbitrary<Usage>;
  const price: PriceEntry = {
    input: 10_000,
    cacheRead: 0.1,
    inputAudio: 10_000,
    inputImage: 5_000,
    output: 10_000,
    outputImage: 1,
    perImage: { hd: 100, default: 7 },
    perSecond: 1,
    characters: 10_000,
    perRequest: 1,
  };

  it('never throws, never costs less than nothing, and never leaves 64 bits', () => {
    fc.assert(
      fc.property(usages, (usage) => {
        const amount = cost(price, usage);
        assert.ok(amount !== undefined && amount >= 0n && amount < 2n ** 63n, `${amount}`);
      }),
    );
  });

  it('is made sane: whole numbers, parts inside their wholes, and the same cost', () => {
    fc.assert(
      fc.property(usages, (usage) => {
        const { usage: sane, anomalies } = saneUsage(usage);
        const {
          estimated,
          images,
          seconds = 0,
          inputImage = 0,
          outputImage = 0,
          uses,
          service: _,
          unbilled: __,
          ...tokens
        } = sane;
        const counts = { ...tokens, ...uses };
        assert.equal(estimated, usage.estimated);
        for (const count of [...Object.values(counts), inputImage, outputImage, images?.count ?? 0]) {
          assert.ok(Number.isSafeInteger(count) && count >= 0 && count <= MOST_TOKENS, `${count} is no count`);
        }
        assert.ok(Number.isFinite(seconds) && seconds >= 0, `${seconds} are no seconds`);
        for (const text of [images?.size ?? '', images?.quality ?? '']) {
          assert.ok(typeof text === 'string' && text.length <= 64, `${text} is no name`);
        }
        assert.ok(sane.cacheRead + sane.cacheWrite + sane.cacheWriteLong <= sane.input, 'more from caches than input');
        assert.ok(sane.inputAudio + inputImage <= sane.input, 'more media than input');
        assert.ok(sane.reasoning + sane.outputAudio + outputImage <= sane.output, 'more parts than output');
        assert.deepEqual(saneUsage(sane), { usage: sane, anomalies: [] });
        assert.equal(cost(price, sane), cost(price, usage));
        if (anomalies.length === 0) assert.deepEqual(sane, usage);
      }),
    );
  });

  it('says what was wrong with it', () => {
    const { usage, anomalies } = saneUsage(
      use({ input: 10, cacheRead: 12.5, cacheWrite: -1, output: 1e30, reasoning: Number.NaN }),
    );
    assert.deepEqual(usage, use({ input: 10, cacheRead: 10, output: MOST_TOKENS }));
    assert.deepEqual(anomalies, [
      'cacheRead is 12.5',
      'cacheRead is 13, more than the 10 left of input',
      'cacheWrite is -1',
      'output is 1e+30',
      'reasoning is NaN',
    ]);
    const units = use({
      input: 5,
      inputImage: 6,
      characters: 1.5,
      seconds: -2,
      images: { count: 2.5, size: '512x512', quality: '' },
    });
    assert.deepEqual(saneUsage(units).usage, {
      ...use({ input: 5, inputImage: 5, characters: 2, seconds: 0 }),
      images: { count: 3, size: '512x512', quality: '' },
    });
    assert.deepEqual(saneUsage(units).anomalies, [
      'inputImage is 6, more than the 5 left of input',
      'characters is 1.5',
      'seconds is -2',
      'images is {"count":3,"size":"512x512","quality":""}, which is not an image count',
    ]);
  });

  it('may have audio that came from the cache', () => {
    const { usage, anomalies } = saneUsage(use({ input: 100, cacheRead: 80, inputAudio: 90 }));
    assert.deepEqual(anomalies, []);
    assert.equal(cost({ input: 1, cacheRead: 2, inputAudio: 3 }, usage), micro(2, 80) + micro(3, 20));
  });
});
