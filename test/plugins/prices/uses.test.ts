/** Prices of tools that vendors run, and of other ways of being served: how they are written, what they come to, which ship. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import type { Model } from '../../../core/contracts/catalog.ts';
import type { Bounds } from '../../../core/contracts/formats/call.ts';
import type { Usage } from '../../../core/contracts/formats/usage.ts';
import type { Uses } from '../../../core/contracts/formats/uses.ts';
import { NO_TOKENS } from '../../../core/translation/conversation/count-usage.ts';
import { createPriceBook } from '../../../plugins/prices/book.ts';
import { tokenBounds } from '../../../plugins/prices/estimate.ts';
import { type PriceEntry, priceSchema } from '../../../plugins/prices/section.ts';
import { ESTIMATE_DEFAULTS } from '../../../plugins/quota/section.ts';

const NOW = Date.UTC(2026, 8, 25);
const UPSTREAM = { vendor: 'acme', url: '', model: 'm' };
const model = (price: PriceEntry): Model => ({
  name: 'm',
  entry: 'm',
  free: false,
  only: undefined,
  from: [],
  fallback: [],
  price,
  created: 0,
});
const use = (part: Partial<Usage>): Usage => ({ ...NO_TOKENS, ...part });

function bookOf() {
  const problems: string[] = [];
  const book = createPriceBook({
    prices: {},
    perUnit: () => 500_000n,
    problem: (path, message) => problems.push(`${path.join('.')}: ${message}`),
  });
  return { book, problems };
}

const PRICE = {
  input: 1,
  output: 10,
  tiers: [{ above: 1_000, input: 2 }],
  perUse: { web_search: 0.01 },
  service: { priority: 1.75, fast: { output: 60 }, us: 1.1 },
};

describe('a price with uses and services', () => {
  it('charges each use beside the tokens, and nothing for one that it does not name', () => {
    const { book } = bookOf();
    const cost = (part: Partial<Usage>) => book.cost(model(PRICE), UPSTREAM, use(part), NOW);
    assert.equal(cost({ input: 10 }), 5_000_000n);
    assert.equal(cost({ input: 10, uses: { web_search: 3, other: 7 } }), 5_000_000n + 15_000_000_000n);
  });

  it('multiplies factors, lays rates of its own over the others, and leaves uses and unknown words alone', () => {
    const { book } = bookOf();
    const cost = (service: Record<string, string>, part: Partial<Usage> = { input: 10, output: 1 }) =>
      book.cost(model(PRICE), UPSTREAM, use({ ...part, service }), NOW);
    assert.equal(cost({ tier: 'default' }), 10_000_000n);
    assert.equal(cost({ tier: 'unheard-of' }), 10_000_000n);
    assert.equal(cost({ tier: 'priority' }), 17_500_000n);
    assert.equal(cost({ tier: 'priority', region: 'us' }), 19_250_000n);
    assert.equal(cost({ speed: 'fast' }), 35_000_000n);
    assert.equal(cost({ speed: 'fast', region: 'us' }), 38_500_000n);
    assert.equal(cost({ tier: 'priority' }, { input: 2_000 }), 3_500_000_000n);
    assert.equal(cost({ tier: 'priority' }, { uses: { web_search: 1 } }), 5_000_000_000n);
  });

  it('sets aside what may be run and the dearer of what may be had; what the call probably costs has one use', () => {
    const { book } = bookOf();
    const most = (bounds: Partial<Bounds>, care: 'strict' | 'count' = 'strict') => {
      const all = { inputBytes: 0, media: 0, outputTokens: 100, choices: 1, ...bounds };
      return book.most(model(PRICE), UPSTREAM, all, tokenBounds(all, ESTIMATE_DEFAULTS, care), NOW)!;
    };
    const search = 5_000_000_000n;
    const none = most({});
    assert.equal(most({ uses: () => ({ web_search: 8 }) }) - none, 8n * search);
    assert.equal(most({ uses: () => ({ web_search: undefined }) }) - none, 4n * search);
    assert.equal(most({ uses: () => ({ web_search: 8 }) }, 'count') - most({}, 'count'), search);
    assert.ok(most({ service: { speed: 'fast' } }) > most({ service: { tier: 'priority' } }));
    assert.ok(most({ service: { tier: 'priority' } }) > none);
    const cheap = { ...PRICE, service: { flex: 0.5 } };
    const all = { inputBytes: 0, media: 0, outputTokens: 100, choices: 1, service: { tier: 'flex' } };
    const tokens = tokenBounds(all, ESTIMATE_DEFAULTS);
    assert.equal(book.most(model(cheap), UPSTREAM, all, tokens, NOW), none, 'the usual may be had in its place');
  });

  it('says what is missing; vendors that charge for tokens only need no price for it', () => {
    const { book } = bookOf();
    const missing = (uses: readonly string[], service: Record<string, string> = {}) =>
      book.missing(model(PRICE), UPSTREAM, { uses, service }, NOW);
    assert.equal(missing(['web_search', 'web_fetch', 'mcp'], { tier: 'auto', speed: 'standard' }), undefined);
    assert.deepEqual(missing(['code_execution']), { kind: 'tool', name: 'code_execution' });
    assert.deepEqual(missing([], { tier: 'flex' }), { kind: 'service', name: 'flex' });
  });

  it('has the list prices of tools that it does not name, if the vendor has some', () => {
    const { book } = bookOf();
    const upstream = { vendor: 'openai', url: '', model: 'gpt-5' };
    const own = model({ input: 1, output: 10 });
    const cost = (price: Model, uses: Uses) => book.cost(price, upstream, use({ input: 10, uses }), NOW);
    assert.equal(book.missing(own, upstream, { uses: ['web_search'], service: undefined }, NOW), undefined);
    assert.equal(cost(own, { web_search: 3 }), 5_000_000n + 15_000_000_000n);
    assert.equal(
      cost(model({ ...PRICE, perUse: { web_search: 0.02 } }), { web_search: 3 }),
      5_000_000n + 30_000_000_000n,
    );
    const missing = book.missing(own, upstream, { uses: ['web_search', 'unheard_of'], service: undefined }, NOW);
    assert.deepEqual(missing, { kind: 'tool', name: 'unheard_of' });
    assert.deepEqual(book.missing(own, UPSTREAM, { uses: ['web_search'], service: undefined }, NOW), {
      kind: 'tool',
      name: 'web_search',
    });
  });

  it('is told on one line, and its mistakes with their place', () => {
    const { book, problems } = bookOf();
    assert.match(
      book.describe(model(PRICE), UPSTREAM, NOW)!,
      /web_search 0.01 per use; priority: 1.75 times the price of tokens; fast: output 60 per million tokens/,
    );
    const valid = new Ajv({ strict: true }).compile(priceSchema);
    assert.ok(valid(PRICE));
    const wrongs: readonly (readonly [PriceEntry, RegExp])[] = [
      [{ input: 1, perUse: { web_search: -1 } }, /price.perUse.web_search: must be a number/],
      [{ input: 1, perUse: {} }, /price.perUse: must be a table/],
      [{ input: 1, perUse: { 'Web Search': 1 } }, /must be a name in lower case/],
      [
        { input: 1, service: { fast: { outputs: 1 } } } as PriceEntry,
        /price.service.fast.outputs: .*did you mean output/,
      ],
      [{ input: 1, service: { fast: 20_000 } }, /price.service.fast: must be a number/],
    ];
    for (const [wrong, message] of wrongs) {
      problems.length = 0;
      assert.equal(valid(wrong), false, JSON.stringify(wrong));
      assert.equal(book.cost(model(wrong), UPSTREAM, use({ input: 1 }), NOW), undefined);
      assert.match(problems.join('\n'), message);
    }
  });
});

describe('the gateway.yaml that ships', () => {
  it('has a price for the searches that coding agents ask for, with every model that they may ask', () => {
    const { models } = parse(readFileSync('gateway.yaml', 'utf8')) as {
      models: Record<string, { from?: readonly string[]; alias?: string }>;
    };
    const urls: Readonly<Record<string, string>> = {
      openai: 'https://api.openai.com/v1',
      anthropic: 'https://api.anthropic.com/v1',
      gemini: 'https://generativelanguage.googleapis.com/v1beta',
    };
    const { book } = bookOf();
    const agents = Object.entries(models).filter(
      ([name, { from: [vendor = ''] = [] }]) =>
        urls[vendor] !== undefined && !name.includes('*') && !/embedding|image|^tts|^whisper/.test(name),
    );
    assert.ok(agents.length > 15);
    for (const [name, { from }] of agents) {
      const vendor = from![0]!;
      const upstream = { vendor, url: urls[vendor]!, model: name };
      const own = { ...model({}), price: undefined };
      assert.ok(book.row(own, upstream, NOW), name);
      assert.equal(
        book.missing(own, upstream, { uses: ['web_search', 'web_fetch'], service: {} }, NOW),
        undefined,
        name,
      );
    }
  });
});
