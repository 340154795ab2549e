/**
 * What deployments of LiteLLM cost here: as much as there. The amounts in `litellm-costs.json` are those that LiteLLM 1.110.2 computed
 * (`litellm.completion_cost`) for these usages, with these costs of its cost map.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import type { Usage } from '../../../core/contracts/formats/usage.ts';
import { decimal, decimalText } from '../../../core/sdk.ts';
import { NO_TOKENS } from '../../../core/translation/index.ts';
import { sectionsOf } from '../../../plugins/import/gateway-file.ts';
import type { ForeignPrice, Inventory } from '../../../plugins/import/inventory.ts';
import { liteLlmFile } from '../../../plugins/import/litellm/config.ts';
import { costMapOf, readCostMap } from '../../../plugins/import/litellm/cost-map.ts';
import { marginsOf } from '../../../plugins/import/litellm/margins.ts';
import { type CostsOf, priceOf } from '../../../plugins/import/litellm/prices.ts';
import type { Published } from '../../../plugins/import/litellm/published.ts';
import type { Row } from '../../../plugins/import/values.ts';
import { exactPrice } from '../../../plugins/prices/price.ts';
import { readPrice } from '../../../plugins/prices/section.ts';
import { servedRow } from '../../../plugins/prices/uses.ts';

interface Charged {
  readonly provider: string;
  readonly model: string;
  readonly costs: Row;
  /** By usage. */
  readonly dollars: Readonly<Record<string, number>>;
}
type Tokens = Partial<Omit<Usage, 'service'>> & { readonly service?: string };

const { usages, models } = JSON.parse(
  readFileSync(new URL('../prices/litellm-costs.json', import.meta.url), 'utf8'),
) as {
  readonly usages: Readonly<Record<string, Tokens>>;
  readonly models: readonly Charged[];
};

/** Micro-quota at 500,000 quota units per dollar. */
const PER_UNIT = 500_000n;

/** What usage costs at a written price; undefined: calls of its service tier are refused. */
function costOf(written: unknown, { service, ...tokens }: Tokens): bigint | undefined {
  const row = readPrice(written, ['prices'], (path, message) => assert.fail(`${path.join('.')} ${message}`))![0]!.row;
  if (service !== undefined && row.service?.has(service) !== true) return undefined;
  return exactPrice(service === undefined ? row : servedRow(row, [service]), PER_UNIT).cost({
    ...NO_TOKENS,
    ...tokens,
  });
}

/** Dollars in micro-quota, rounded up as every charge here. */
function microOf(dollars: number): bigint {
  const { digits, scale } = decimal(dollars);
  const unit = 10n ** BigInt(scale);
  return (digits * PER_UNIT * 1_000_000n + unit - 1n) / unit;
}

/** As gateway.yaml has it. */
const written = (price: ForeignPrice): unknown =>
  sectionsOf(
    {
      channels: [],
      models: new Map([['m', { from: [], price }]]),
      aliases: new Map(),
      groups: [],
      sections: {},
    } as unknown as Inventory,
    () => '',
  ).prices.m;

const priceText = (costs: Row, of?: CostsOf): unknown => priceOf(costs, of).price;
const othersOf = (costs: Row, of?: CostsOf): readonly string[] => priceOf(costs, of).others.map(({ field }) => field);

describe('costs of LiteLLM', () => {
  for (const { provider, model, costs, dollars } of models) {
    it(`charge ${provider}/${model} as there, whatever the usage`, () => {
      const { price, others } = priceOf(costs, { provider, model });
      for (const [usage, there] of Object.entries(dollars)) {
        const here = costOf(written(price!), usages[usage]!);
        const { service } = usages[usage]!;
        const isTold = others.some(({ field }) => field.endsWith(`_${service}`));
        if (isTold) assert.equal(here, undefined, usage);
        else assert.equal(here, microOf(there), usage);
      }
    });
  }

  it('apply above a number of tokens where LiteLLM reads such a cost, for xAI from that number on', () => {
    const costs = {
      input_cost_per_token: 1e-6,
      output_cost_per_token: 2e-6,
      input_cost_per_token_above_128k_tokens: '2E-06',
      output_cost_per_reasoning_token_above_128k_tokens: 9e-6,
    };
    assert.deepEqual(priceText(costs), { input: '1', output: '2', tiers: [{ above: '128000', input: '2' }] });
    assert.deepEqual(priceText({ ...costs, output_cost_per_reasoning_token: 5e-6 }, { provider: 'xai' }), {
      input: '1',
      output: '2',
      tiers: [{ above: '127999', input: '2' }],
    });
  });

  it('are a factor of a service tier, or its rates, unless these depend on the length of a prompt otherwise', () => {
    const base = { input_cost_per_token: 2e-6, output_cost_per_token: 8e-6 };
    const double = { input_cost_per_token_priority: 4e-6, output_cost_per_token_priority: 16e-6 };
    assert.deepEqual(priceText({ ...base, ...double }), { input: '2', output: '8', service: { priority: '2' } });
    assert.deepEqual(priceText({ ...base, input_cost_per_token_flex: 1e-6 }), {
      input: '2',
      output: '8',
      service: { flex: { input: '1', output: '8' } },
    });
    const tier = { input_cost_per_token_above_200k_tokens: 4e-6 };
    assert.deepEqual(othersOf({ ...base, ...double, ...tier }), ['input_cost_per_token_priority']);
    assert.deepEqual(
      priceText({ ...base, ...double }, { provider: 'fireworks_ai' }),
      { input: '2', cacheRead: '1', output: '8', service: { priority: '1' } },
      'its calculator charges every service tier alike',
    );
    assert.deepEqual(priceText({ ...base, provider_specific_entry: { fast: 6, us: 1.1 } }, { provider: 'anthropic' }), {
      input: '2',
      output: '8',
      service: { fast: '6', us: '1.1' },
    });
  });

  it('of a table of prompt lengths are complete in each tier', () => {
    const tiers = [
      { range: [32000, 128000], input_cost_per_token: 2e-6, output_cost_per_reasoning_token: 9e-6 },
      { range: [0, 32000], input_cost_per_token: 1e-6, cache_read_input_token_cost: 1e-7, output_cost_per_token: 4e-6 },
    ];
    assert.deepEqual(priceText({ tiered_pricing: tiers, output_cost_per_token: 3e-6, input_cost_per_token: 7e-6 }), {
      input: '1',
      cacheRead: '0.1',
      cacheWrite: '1',
      output: '4',
      reasoning: '4',
      tiers: [{ above: '32000', input: '2', cacheRead: '2', cacheWrite: '2', output: '3', reasoning: '9' }],
    });
    assert.deepEqual(othersOf({ tiered_pricing: [{ range: [5, 9], input_cost_per_token: 1e-6 }] }), ['tiered_pricing']);
  });

  it('of images are those of their tokens, or of each image, but not both', () => {
    const tokens = { input_cost_per_token: 1e-6, output_cost_per_image_token: 3e-5 };
    const both = { mode: 'image_generation', ...tokens, output_cost_per_image: 0.04 };
    assert.deepEqual(priceText(both, { provider: 'gemini' }), { input: '1', outputImage: '30', output: '30' });
    assert.deepEqual(priceText(both, { provider: 'tencent' }), { perImage: '0.04' });
    assert.deepEqual(priceText({ output_cost_per_image: 0.04 }, { provider: 'xai' }), { perImage: '0.04' });
    assert.deepEqual(priceText({ output_cost_per_image: 0.04, input_cost_per_image: 0.03 }), { perImage: '0.03' });
    assert.deepEqual(othersOf({ mode: 'chat', input_cost_per_token: 1e-6, input_cost_per_image: 0.03 }), [
      'input_cost_per_image',
    ]);
  });

  it('per second charge audio, and name that other calls are refused', () => {
    assert.deepEqual(priceOf({ mode: 'audio_transcription', input_cost_per_second: 1e-4, output_cost_per_second: 0 }), {
      price: { perSecond: '0.0001' },
      isFree: false,
      others: [],
    });
    assert.deepEqual(othersOf({ input_cost_per_second: 0.01 }), ['input_cost_per_second']);
    const both = { input_cost_per_second: 0.01, input_cost_per_token: 1e-6 };
    assert.deepEqual(priceText(both), { input: '1', output: '0' }, 'tokens are not charged by their time, too');
    assert.deepEqual(othersOf({ ...both, mode: 'audio_transcription' }), ['input_cost_per_second']);
  });

  it('of speech are those of characters, and tokens of a text cannot be said', () => {
    const costs = { mode: 'audio_speech', input_cost_per_token: 6e-7, output_cost_per_audio_token: 1.2e-5 };
    assert.equal(priceText(costs), undefined);
    assert.deepEqual(othersOf(costs), ['input_cost_per_token']);
    assert.deepEqual(priceText({ ...costs, input_cost_per_character: 1.5e-5 }), { characters: '15' });
  });

  it('before 1.103 are nothing for cached tokens and audio that state none, except where a provider charges all input', () => {
    const costs = { input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 };
    const nothing = { cacheRead: '0', cacheWrite: '0', cacheWriteLong: '0', inputAudio: '0' };
    assert.deepEqual(priceText(costs, { provider: 'openai', isEarly: true }), { input: '1', ...nothing, output: '2' });
    const cached = { ...costs, cache_creation_input_token_cost: 5e-6 };
    assert.deepEqual(priceText(cached, { isEarly: true }), { input: '1', ...nothing, cacheWrite: '5', output: '2' });
    assert.deepEqual(priceText(costs, { provider: 'fireworks_ai', isEarly: true }), { input: '1', output: '2' });
    const read = { ...costs, cache_read_input_token_cost: 1e-7 };
    assert.deepEqual(priceText(read, { provider: 'perplexity', isEarly: true }), { input: '1', output: '2' });
    assert.deepEqual(priceText(read, { provider: 'perplexity' }), { input: '1', cacheRead: '0.1', output: '2' });
  });

  it('of batches are none of calls, and searches have one price', () => {
    const costs = { input_cost_per_token: 1e-6, input_cost_per_token_batches: 5e-7 };
    const sizes = { search_context_size_low: 0.01, search_context_size_medium: 0.01 };
    assert.deepEqual(priceOf({ ...costs, search_context_cost_per_query: sizes }), {
      price: { input: '1', output: '0', perUse: { web_search: '0.01' } },
      isFree: false,
      others: [],
    });
    const differ = { ...sizes, search_context_size_high: 0.02 };
    assert.deepEqual(othersOf({ ...costs, search_context_cost_per_query: differ }), ['search_context_cost_per_query']);
    assert.deepEqual(othersOf({ ...costs, off_peak_pricing: { input_cost_per_token: 1e-7 } }), ['off_peak_pricing']);
  });
});

describe('discounts and margins of LiteLLM', () => {
  it('are part of a price, with a fixed amount for each call', () => {
    const margins = marginsOf({
      cost_discount_config: { openai: 0.1, 'openai/gpt-*': 0.2, 'openai/gpt-4o': 0.5, 'groq/x?': 0.1 },
      cost_margin_config: { global: { percentage: 0.5, fixed_amount: 0.001 }, openai: 0.1, azure: 'much' },
    });
    const factor = (provider: string, model: string) => {
      const margin = margins.of(provider, model);
      return margin && [decimalText(margin.factor), decimalText(margin.perCall)];
    };
    assert.deepEqual(factor('openai', 'gpt-4o'), ['0.55', '0']);
    assert.deepEqual(factor('openai', 'gpt-5'), ['0.88', '0']);
    assert.deepEqual(factor('openai', 'o3'), ['0.99', '0']);
    assert.deepEqual(factor('groq', 'x'), ['1.5', '0.001']);
    assert.deepEqual(margins.unread, ['cost_discount_config.groq/x?', 'cost_margin_config.azure']);
    assert.equal(marginsOf({}).of('openai', 'gpt-4o'), undefined);
  });
});

const MAP: Row = {
  'gpt-4o': {
    litellm_provider: 'openai',
    mode: 'chat',
    input_cost_per_token: 2.5e-6,
    output_cost_per_token: 1e-5,
    cache_read_input_token_cost: 1.25e-6,
    input_cost_per_token_priority: 5e-6,
  },
  'groq/Llama-X': { litellm_provider: 'groq', input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 },
  'together-ai-4.1b-8b': { litellm_provider: 'together_ai', input_cost_per_token: 2e-7, output_cost_per_token: 2e-7 },
  'openai/pixels': { litellm_provider: 'openai', mode: 'image_generation', input_cost_per_pixel: 1e-8 },
  'groq/speaker': { litellm_provider: 'groq', mode: 'audio_speech', input_cost_per_character: 5e-5 },
  'openai/nothing': { litellm_provider: 'openai', max_tokens: 5 },
};

describe('the cost map of LiteLLM', () => {
  const map = costMapOf(MAP)!;
  const found = (provider: string, model: string) =>
    Object.entries(MAP).find(([, entry]) => entry === map.of(provider, model))?.[0];

  it('is found by the names that a model may have there, and only for its provider', () => {
    assert.equal(found('openai', 'openai/gpt-4o'), 'gpt-4o');
    assert.equal(found('openai', 'openai/openai/gpt-4o'), 'gpt-4o');
    assert.equal(found('openai', 'gpt-4o-2099-01-31'), 'gpt-4o');
    assert.equal(found('groq', 'groq/llama-x'), 'groq/Llama-X');
    assert.equal(found('groq', 'gpt-4o'), undefined);
    assert.equal(found('hosted_vllm', 'hosted_vllm/gpt-4o'), undefined);
    assert.equal(found('litellm_proxy', 'litellm_proxy/gpt-4o'), 'gpt-4o', 'a proxy has the models of any provider');
    assert.equal(found('together_ai', 'together_ai/any/Model-7B'), 'together-ai-4.1b-8b');
  });

  it('is refused if the file is another one', () => {
    const dir = mkdtempSync(join(tmpdir(), 'turnpike-costs-'));
    try {
      writeFileSync(join(dir, 'a.json'), '{"model_list": []}');
      writeFileSync(join(dir, 'b.json'), '{');
      assert.throws(() => readCostMap(join(dir, 'a.json')), /a\.json is not a cost map of LiteLLM/);
      assert.throws(() => readCostMap(join(dir, 'b.json')), /b\.json cannot be read/);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

describe('a deployment of LiteLLM', () => {
  let dir: string;
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'turnpike-costs-'));
    writeFileSync(join(dir, 'map.json'), JSON.stringify(MAP));
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  /** Imports a file with these deployments, by name. */
  async function imported(
    deployments: Readonly<Record<string, readonly [params: Row, info?: Row]>>,
    { hasMap = true, published, settings }: { hasMap?: boolean; published?: Published; settings?: Row } = {},
  ) {
    const file = join(dir, 'config.yaml');
    const list = Object.entries(deployments).map(([name, [params, info = {}]]) => ({
      model_name: name,
      litellm_params: { api_base: 'http://127.0.0.1:1/v1', api_key: 'k', ...params },
      model_info: info,
    }));
    writeFileSync(file, stringify({ model_list: list, litellm_settings: settings ?? {} }));
    const inventory = await liteLlmFile(file, published, hasMap ? join(dir, 'map.json') : undefined).inventory();
    return {
      price: (name: string) => inventory.models.get(name)!.free ?? inventory.models.get(name)!.price,
      notes: (name: string) =>
        inventory.notes
          .filter(({ what }) => what === `deployment of ${name}`)
          .map(({ kind, why }) => `${kind}: ${why}`),
    };
  }

  const GPT_4O = {
    input: '2.5',
    cacheRead: '1.25',
    output: '10',
    service: { priority: { input: '5', cacheRead: '1.25', output: '10' } },
  };

  it('without costs is charged by the map, by its own name or by `base_model`', async () => {
    const { price, notes } = await imported({
      named: [{ model: 'openai/gpt-4o' }],
      based: [{ model: 'azure/mine' }, { base_model: 'gpt-4o' }],
      own: [{ model: 'hosted_vllm/mine' }, { base_model: 'gpt-4o' }],
      proxied: [{ model: 'litellm_proxy/gpt-4o' }],
      local: [{ model: 'hosted_vllm/gpt-4o' }],
      unpriced: [{ model: 'openai/nothing' }],
      pixels: [{ model: 'openai/pixels' }],
      missing: [{ model: 'openai/unheard-of' }],
    });
    for (const name of ['named', 'based', 'own', 'proxied']) assert.deepEqual(price(name), GPT_4O, name);
    assert.deepEqual(notes('named'), []);
    assert.equal(price('local'), true);
    assert.equal(price('unpriced'), true);
    assert.match(notes('unpriced').join(), /^decide: the cost map has no price for it: its calls cost nothing/);
    assert.equal(price('pixels'), undefined, 'what cannot be said is not free');
    assert.match(notes('pixels').join(), /decide: a price here cannot say its costs/);
    assert.equal(price('missing'), undefined);
  });

  it('with a cost of input has those of cached tokens and service tiers from the map', async () => {
    const { price } = await imported({
      input: [{ model: 'openai/gpt-4o', input_cost_per_token: 1e-6 }],
      output: [{ model: 'openai/gpt-4o', output_cost_per_token: 1e-6 }],
      info: [{ model: 'openai/gpt-4o' }, { input_cost_per_token: 1e-6, cache_read_input_token_cost: 0 }],
      unknown: [{ model: 'openai/mine', input_cost_per_token: 1e-6 }],
      nulled: [{ model: 'openai/gpt-4o', input_cost_per_token: null, output_cost_per_token: null }],
    });
    const priority = { priority: { input: '5', cacheRead: '1.25', output: '0' } };
    assert.deepEqual(price('input'), { cacheRead: '1.25', input: '1', output: '0', service: priority });
    assert.deepEqual(price('output'), { input: '0', output: '1', service: { priority: { input: '5', output: '1' } } });
    assert.deepEqual((price('info') as ForeignPrice).cacheRead, '0');
    assert.deepEqual(price('unknown'), { input: '1', output: '0' });
    assert.deepEqual(price('nulled'), GPT_4O);
  });

  it('with costs of cached tokens alone is charged by the map, as there, and says so', async () => {
    const { price, notes } = await imported({ a: [{ model: 'openai/gpt-4o', cache_read_input_token_cost: 1e-9 }] });
    assert.deepEqual(price('a'), GPT_4O);
    assert.match(notes('a').join(), /^changed: LiteLLM ignores cache_read_input_token_cost/);
  });

  it('has the list price without a map, also for cached tokens, and says how to give the map', async () => {
    const published: Published = ({ vendor }) =>
      vendor === 'openai' ? { input: '2', cacheRead: '1', output: '8' } : undefined;
    const { price, notes } = await imported(
      {
        listed: [{ model: 'openai/gpt-4o' }],
        half: [{ model: 'openai/gpt-4o', input_cost_per_token: 1e-6, output_cost_per_token: 4e-6 }],
        free: [{ model: 'openai/gpt-4o', input_cost_per_token: 0, output_cost_per_token: 0 }],
        unknown: [{ model: 'groq/x' }],
        'groq/*': [{ model: 'groq/*' }],
      },
      { hasMap: false, published },
    );
    assert.deepEqual(price('listed'), { input: '2', cacheRead: '1', output: '8' });
    assert.deepEqual(price('half'), { input: '1', output: '4', cacheRead: '1' });
    assert.equal(price('free'), true);
    for (const name of ['listed', 'half', 'unknown']) assert.match(notes(name).join(), /`--litellm-costs FILE`/, name);
    assert.match(notes('groq/*').join(), /decide: LiteLLM charges the models of a pattern by its cost map/);
  });

  it('of a pattern names the models whose list prices differ from the map', async () => {
    const published: Published = ({ model }) =>
      model === 'gpt-4o' ? { input: '2.5', cacheRead: '1.25', output: '9' } : undefined;
    const { price, notes } = await imported({ 'openai/*': [{ model: 'openai/*' }] }, { published });
    assert.equal(price('openai/*'), undefined);
    assert.match(notes('openai/*').join(), /these cost something else, or have no list price: gpt-4o: write those/);
    const alike: Published = () => ({ input: '2.5', cacheRead: '1.25', output: '10' });
    const same = await imported({ 'openai/*': [{ model: 'openai/*' }] }, { published: alike });
    assert.doesNotMatch(same.notes('openai/*').join(), /something else/);
  });

  it('with a cost per character alone is charged by the map, or what it states if nothing has a price', async () => {
    const { price, notes } = await imported({
      mapped: [{ model: 'groq/speaker', input_cost_per_character: 1e-5 }],
      own: [{ model: 'openai/mine', input_cost_per_character: 1e-5 }],
    });
    assert.deepEqual(price('mapped'), { characters: '50' });
    assert.deepEqual(price('own'), { characters: '10' });
    assert.match(notes('own').join(), /decide: LiteLLM charges nothing for it/);
  });

  it('costs its price with the discount and the margin of its provider', async () => {
    const settings = { cost_discount_config: { openai: 0.2 }, cost_margin_config: { global: { fixed_amount: 0.01 } } };
    const { price } = await imported(
      {
        a: [{ model: 'openai/gpt-4o' }],
        free: [{ model: 'hosted_vllm/x' }],
      },
      { settings },
    );
    assert.deepEqual(price('a'), {
      input: '2',
      cacheRead: '1',
      output: '8',
      service: { priority: { input: '4', cacheRead: '1', output: '8' } },
      perRequest: '0.01',
    });
    assert.deepEqual(price('free'), { perRequest: '0.01' });
  });
});
