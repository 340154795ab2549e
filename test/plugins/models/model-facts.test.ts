/** The shipped models: prices, limits and levels as their vendors publish them (`model-facts.json`). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { decimalText } from '../../../core/helpers/decimal.ts';
import type { ModelQuirks } from '../../../core/plugin.ts';
import { layQuirks, type Quirks, quirksOfModel } from '../../../core/translation/index.ts';
import { type ListPrice, listPrices, type Upstream } from '../../../plugins/prices/list-prices.ts';
import { NEWEST } from '../../../plugins/prices/newest.ts';
import { anthropicQuirks } from '../../../plugins/vendors/anthropic/quirks.ts';
import { MODEL_QUIRKS } from '../../../plugins/vendors/gemini/quirks.ts';
import { openaiQuirks } from '../../../plugins/vendors/openai/quirks.ts';

interface Rates {
  readonly input: number;
  readonly output: number;
  /** 0 here and in `cacheWrite`: not listed. */
  readonly cacheRead: number;
  readonly cacheWrite: number;
}
interface Fact {
  readonly vendor: 'openai' | 'anthropic' | 'google';
  readonly id: string;
  readonly context: number;
  readonly maxOutput: number;
  readonly usd: Rates;
  readonly above?: Rates & { readonly tokens: number };
  readonly levels?: readonly string[];
  readonly alwaysReasons?: true;
}

const { asOf, models } = JSON.parse(readFileSync(new URL('model-facts.json', import.meta.url), 'utf8')) as {
  readonly asOf: string;
  readonly models: readonly Fact[];
};
const URLS = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};
const QUIRKS: Readonly<Record<Fact['vendor'], readonly ModelQuirks[]>> = {
  openai: openaiQuirks,
  anthropic: anthropicQuirks,
  google: MODEL_QUIRKS,
};
const VENDORS = { openai: 'openai', anthropic: 'anthropic', google: 'gemini' };
const NAMES = ['input', 'output', 'cacheRead', 'cacheWrite'] as const;
const prices = listPrices();
const atMs = Date.parse(asOf);

const upstreamOf = ({ vendor, id }: Pick<Fact, 'vendor' | 'id'>): Upstream => ({
  vendor: VENDORS[vendor],
  url: URLS[vendor],
  model: id,
});
const quirksOf = ({ vendor, id }: Fact): Quirks => layQuirks(...quirksOfModel(QUIRKS[vendor], id));
const ratesOf = (rates: ListPrice['row']['rates'], listed: Rates): Partial<Rates> =>
  Object.fromEntries(
    NAMES.filter((name) => listed[name] !== 0).map((name) => [name, Number(decimalText(rates[name]!))]),
  );
const listed = (rates: Rates): Partial<Rates> =>
  Object.fromEntries(NAMES.filter((name) => rates[name] !== 0).map((name) => [name, rates[name]]));

/** Vendors list prices of some that the data does not have as separate entries. */
describe('the models that ship', () => {
  for (const fact of models) {
    it(`have the list price of ${fact.id}`, () => {
      const found = prices.at(upstreamOf(fact), atMs);
      assert.ok(found !== undefined, 'no price');
      assert.deepEqual(ratesOf(found.row.rates, fact.usd), listed(fact.usd));
      if (fact.above === undefined) return;
      const [tier] = found.row.tiers;
      // One source counts from the threshold on, the others above it.
      assert.ok([fact.above.tokens, fact.above.tokens - 1].includes(tier!.above), String(tier!.above));
      assert.deepEqual(ratesOf(tier!.rates, fact.above), listed(fact.above));
    });
  }

  it('have the limits of their vendors', () => {
    const wrong = models.flatMap((fact) => {
      const { limits } = quirksOf(fact);
      const own = [limits.context, limits.max_output];
      return own[0] === fact.context && own[1] === fact.maxOutput
        ? []
        : [`${fact.id}: ${own.join('/')}, not ${fact.context}/${fact.maxOutput}`];
    });
    assert.deepEqual(wrong, []);
  });

  it('have the reasoning levels of their vendors', () => {
    const wrong = models.flatMap((fact) => {
      const { reasoning } = quirksOf(fact);
      if (fact.levels === undefined || reasoning.input === 'budget' || reasoning.input === 'none') return [];
      const own = reasoning.levels.filter((level) => level !== 'none');
      const hasNone = reasoning.levels.includes('none');
      return own.join() === fact.levels.join() && !(fact.alwaysReasons && hasNone)
        ? []
        : [`${fact.id}: ${reasoning.levels.join()}, not ${fact.levels.join()}${fact.alwaysReasons ? ' always' : ''}`];
    });
    assert.deepEqual(wrong, []);
  });

  it('have a price with a date in the name, and none under the name of another', () => {
    const sonnet = { vendor: 'anthropic', url: URLS.anthropic };
    const cachedAt = (model: string, time: string): string =>
      decimalText(prices.at({ ...sonnet, model }, Date.parse(time))!.row.rates.cacheRead!);
    assert.equal(cachedAt('claude-haiku-5-5-20261024', asOf), '0.01');
    assert.equal(cachedAt('claude-sonnet-5-5', '2026-10-06'), '0.2');
    assert.equal(cachedAt('claude-sonnet-5-5', '2026-10-08'), '0.1');
    assert.equal(prices.at({ vendor: 'openai', url: URLS.openai, model: 'gpt-image-2.5-flare' }, atMs), undefined);
    assert.equal(prices.at({ vendor: 'openai', url: URLS.openai, model: 'gpt-6.2-sol-mini' }, atMs), undefined);
  });

  it('know the price that a service tier will have', () => {
    const upstream = { vendor: 'openai', url: URLS.openai, model: 'gpt-6.2-sol' };
    const [next] = prices.after(upstream, atMs);
    assert.equal(next?.from, '2027-03-01');
    const factor = (row: ListPrice['row']): string =>
      JSON.stringify(row.service?.get('ultrafast'), (_, value) => (typeof value === 'bigint' ? String(value) : value));
    assert.notEqual(factor(prices.at(upstream, atMs)!.row), factor(next!.row));
  });

  it('name a source for each price of their own list, which only has models without one in the data', () => {
    for (const [provider, entries] of Object.entries(NEWEST)) {
      for (const [model, { source }] of Object.entries(entries)) {
        assert.match(source, /^[\w.]+\/\S+, \d{4}-\d{2}-\d{2}$/);
        const upstream = upstreamOf({ vendor: provider as Fact['vendor'], id: model });
        assert.notEqual(
          prices.nameOf(upstream, atMs),
          `${provider} ${model}`,
          `${model} is in the data: delete it here`,
        );
      }
    }
  });
});
