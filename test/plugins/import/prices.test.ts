/** Prices of one-api, new-api and one-hub, as their own code computes them; facts are in plugins/import/one-api/ratios. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ForeignPrice, ForeignUsage } from '../../../plugins/import/inventory.ts';
import { amountText } from '../../../plugins/import/one-api/amounts.ts';
import { priceOfExpression } from '../../../plugins/import/one-api/expressions.ts';
import {
  type Priced,
  priceList,
  recordedPriceList,
  withoutUnpriced,
  withPrices,
} from '../../../plugins/import/one-api/prices.ts';
import { oneHubPrices } from '../../../plugins/import/one-hub/prices.ts';
import { amountOf } from '../../../plugins/import/values.ts';

/** The tables and columns by which ranges of versions are told apart. */
const V04 = new Set<string>();
const V06 = new Set(['setups']);
const V07 = new Set(['logs.ip']);
const V09 = new Set(['passkey_credentials']);
const V1 = new Set(['subscription_plans']);

function newApi(
  name: string,
  options: Readonly<Record<string, unknown>>,
  schema: ReadonlySet<string> = V06,
  isUnsetAccepted = false,
): Priced {
  return priceList({ program: 'new-api', options: asTexts(options), schema, isUnsetAccepted }).priceOf(name, []);
}

const ONE_API_LAST = new Set(['logs.elapsed_time']);

function oneApi(
  name: string,
  options: Readonly<Record<string, unknown>>,
  served: readonly [number, string][],
  schema: ReadonlySet<string> = ONE_API_LAST,
): Priced {
  const facts = { program: 'one-api', options: asTexts(options), schema, isUnsetAccepted: false } as const;
  return priceList(facts).priceOf(
    name,
    served.map(([type, model]) => ({ type, model })),
  );
}

const asTexts = (options: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(options).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  );

describe('prices of new-api', () => {
  it('uses the completion ratio of the name if the option has none', () => {
    assert.deepEqual(newApi('o3-mini', { ModelRatio: { 'o3-mini': 2 } }).price, {
      input: '4',
      cacheRead: '2',
      output: '16',
    });
    assert.deepEqual(newApi('other', { ModelRatio: { other: 2.5 } }).price, { input: '5', output: '5' });
  });

  it('prefers a fixed completion ratio to a stored one, except for names with a slash', () => {
    const options = {
      ModelRatio: { 'gpt-4o': 1.25, 'openai/gpt-4o': 1.25, other: 1 },
      CompletionRatio: { 'gpt-4o': 2, 'openai/gpt-4o': 2, other: 3 },
    };
    assert.equal(newApi('gpt-4o', options).price?.output, '10');
    assert.equal(newApi('openai/gpt-4o', options).price?.output, '5');
    assert.equal(newApi('other', options).price?.output, '6');
    assert.equal(newApi('gpt-4o', options, V1).price?.output, '5', 'later versions let an administrator change it');
  });

  it('uses the tables of the program for options that were never saved, and none of them otherwise', () => {
    assert.deepEqual(newApi('gpt-4o-mini', {}).price, { input: '0.15', cacheRead: '0.075', output: '0.6' });
    assert.deepEqual(newApi('mj_imagine', {}).price, { perRequest: '0.1' });
    assert.equal(newApi('gpt-4o-mini', { ModelRatio: {} }).calls, 'refused');
    assert.equal(newApi('claude-2.1', {}).calls, 'charged');
    assert.equal(newApi('claude-2.1', {}, V1).calls, 'refused', 'later versions no longer have it');
  });

  it('charges audio by the ratios of the version', () => {
    const options = { ModelRatio: { 'gpt-4o-audio-preview': 1.25 } };
    const audio = { input: '2.5', inputAudio: '100', output: '10', outputAudio: '200' };
    assert.deepEqual(newApi('gpt-4o-audio-preview', options).price, audio);
    assert.equal(newApi('gpt-4o-audio-preview', options, V07).price?.inputAudio, '40');
    const stored = { ...options, AudioRatio: { 'gpt-4o-audio-preview': 8 }, AudioCompletionRatio: {} };
    const { inputAudio, outputAudio } = newApi('gpt-4o-audio-preview', stored, V09).price ?? {};
    assert.deepEqual([inputAudio, outputAudio], ['20', '20']);
    assert.equal(newApi('gemini-2.0-flash', {}, V1).price?.inputAudio, '0.7', 'in dollars, whatever the ratio');
  });

  it('charges writes to a cache 1.25 times, and those for an hour 1.6 times more in later versions', () => {
    const options = { ModelRatio: { 'claude-3-7-sonnet-20250219': 1.5 }, CreateCacheRatio: {} };
    const name = 'claude-3-7-sonnet-20250219';
    assert.deepEqual(newApi(name, options).price, {
      input: '3',
      cacheRead: '0.3',
      cacheWrite: '3.75',
      output: '15',
    });
    assert.equal(newApi(name, options, V09).price?.cacheWriteLong, '6');
  });

  it('charges image input by its ratio', () => {
    assert.equal(newApi('gpt-image-1', {}, V1).price?.inputImage, '10');
    assert.equal(newApi('gpt-image-1', { ImageRatio: { 'gpt-image-1': 3 } }, V1).price?.inputImage, '15');
  });

  it('charges per call or per image if the model has a price, even if it has a ratio', () => {
    const options = { ModelPrice: { 'per-call': 0.05, 'dall-e-3': 0.04 }, ModelRatio: { 'per-call': 3 } };
    assert.deepEqual(newApi('per-call', options).price, { perRequest: '0.05' });
    const { perImage } = newApi('dall-e-3', options).price as { readonly perImage: Record<string, string> };
    assert.deepEqual(
      [perImage.default, perImage['1024x1792'], perImage.hd, perImage['hd/1024x1792'], perImage['256x256']],
      ['0.04', '0.08', '0.08', '0.12', '0.016'],
    );
  });

  it('charges an image 0.0025 dollars times the ratio in the first versions', () => {
    const options = { ModelRatio: { 'cogview-3': 16 } };
    const { perImage } = newApi('cogview-3', options).price as { readonly perImage: Record<string, string> };
    assert.equal(perImage.default, '0.04');
    assert.equal(newApi('cogview-3', options, V1).price?.input, '32');
  });

  it('charges speech by the character and transcriptions by the second', () => {
    assert.deepEqual(newApi('tts-1', {}).price, { characters: '15' });
    assert.deepEqual(newApi('whisper-1', {}).price, { perSecond: '0.0005' });
  });

  it('looks names with wildcards up as one', () => {
    assert.equal(newApi('gpt-4-gizmo-g-abc', {}).price?.perRequest, '0.1');
    const options = { ModelRatio: { 'gemini-2.5-flash-thinking-*': 0.4, '*-openai-compact': 2 } };
    assert.equal(newApi('gemini-2.5-flash-thinking-1024', options, V1).price?.input, '0.8');
    assert.equal(newApi('x-openai-compact', options, V1).price?.input, '4');
    assert.equal(newApi('gemini-2.5-flash-thinking-1024', options, V06).calls, 'refused');
  });

  it('gives a model without a price 37.5 times the basic price where the program does, and refuses it otherwise', () => {
    assert.deepEqual(newApi('other', {}).price, undefined);
    assert.equal(newApi('other', {}).calls, 'refused');
    assert.deepEqual(newApi('other', { SelfUseModeEnabled: 'true' }).price, { input: '75', output: '75' });
    const accepted = newApi('other', {}, V06, true);
    assert.deepEqual([accepted.price?.input, accepted.calls, accepted.notes[0]?.kind], ['75', 'accepted', 'decide']);
  });

  it('charges by an expression of the program unless the model has a ratio, a price or a stored way of billing', () => {
    const { price } = newApi('gpt-6-astra', {}, V1);
    assert.deepEqual([price?.input, price?.output, price?.cacheRead, price?.cacheWrite], ['10', '50', '1', '12.5']);
    assert.deepEqual(newApi('gpt-6-astra', { ModelRatio: { 'gpt-6-astra': 8 } }, V1).price?.input, '16');
    assert.deepEqual(newApi('gpt-6-astra', { ModelPrice: { 'gpt-6-astra': 0.1 } }, V1).price, { perRequest: '0.1' });
    const ratioMode = { 'billing_setting.billing_mode': { 'gpt-6-astra': 'ratio' } };
    assert.equal(newApi('gpt-6-astra', ratioMode, V1).calls, 'refused');
    assert.equal(newApi('gpt-6-astra', {}, V09).calls, 'refused');
  });

  it('charges 30 for a model without a price before v0.5, nothing less for cached tokens, and ignores most stored completion ratios', () => {
    assert.deepEqual(newApi('other', {}, V04).price, { input: '60', output: '60' });
    assert.deepEqual(newApi('gpt-4o', {}, V04).price, { input: '2.5', output: '10' });
    assert.deepEqual(newApi('gemini-1.5-pro-latest', {}, V04).price, { input: '3.5', output: '14' });
    const options = {
      ModelRatio: { 'gpt-4': 15, 'deepseek-v3': 1, other: 1 },
      CompletionRatio: { 'gpt-4': 9, other: 3 },
    };
    const outputs = ['gpt-4', 'deepseek-v3', 'other'].map((name) => newApi(name, options, V04).price?.output);
    assert.deepEqual(outputs, ['60', '4', '6']);
  });

  it('leaves refused models out, and keys of users who do not accept unpriced models cannot reach those', () => {
    const model = { from: [{ channel: 'a', model: 'x' }] };
    const models = new Map([
      ['gpt-4o', model],
      ['other', model],
    ]);
    const facts = { program: 'new-api', options: {}, schema: V06 } as const;
    const refusing = withPrices(priceList({ ...facts, isUnsetAccepted: false }), models, new Map());
    assert.deepEqual([...refusing.models.keys()], ['gpt-4o']);
    const accepting = withPrices(priceList({ ...facts, isUnsetAccepted: true }), models, new Map());
    assert.deepEqual([...accepting.models.keys()], ['gpt-4o', 'other']);
    const key = { id: 'k', user: '1', name: 'k', secret: undefined, allowance: undefined, enabled: true };
    assert.deepEqual(withoutUnpriced(key, accepting).models, ['gpt-4o']);
    assert.equal(withoutUnpriced({ ...key, models: ['other'] }, accepting).enabled, false);
    assert.equal(withoutUnpriced(key, refusing), key);
  });

  it('charges one quota unit for each call if the ratio is below 0', () => {
    assert.deepEqual(newApi('other', { ModelRatio: { other: -5 } }).price, { perRequest: '0.000002' });
  });

  it('divides by the stored quota per unit', () => {
    assert.equal(newApi('other', { ModelRatio: { other: 1 }, QuotaPerUnit: '700000' }).price?.input, '1.42857142858');
  });

  it('charges uses of tools only in versions that do', () => {
    assert.deepEqual(newApi('gpt-4o', {}, V1).price?.perUse, {
      web_search: '0.025',
      file_search: '0.0025',
      image_generation: '0.15',
    });
    assert.deepEqual(newApi('o3-mini', {}, V09).price?.perUse, { web_search: '0.01', file_search: '0.0025' });
    assert.deepEqual(newApi('gpt-4o', {}, V07).price?.perUse, { web_search: '0.035', file_search: '0.0025' });
    assert.equal(newApi('claude-3-haiku-20240307', {}, V07).price?.perUse, undefined);
    const stored = { 'tool_price_setting.prices': { web_search: 30 } };
    assert.deepEqual(newApi('claude-3-haiku-20240307', stored, V1).price?.perUse, { web_search: '0.03' });
    assert.equal(newApi('gpt-4o', {}, V06).price?.perUse, undefined);
  });

  it('never uses the old ratio of a model that is billed by an expression', () => {
    const options = {
      ModelRatio: { other: 3 },
      'billing_setting.billing_mode': { other: 'tiered_expr' },
      'billing_setting.billing_expr': { other: 'tier("base", p * 2 + c * 8) * (hour("UTC") < 8 ? 0.5 : 1)' },
    };
    const priced = newApi('other', options, V1);
    assert.deepEqual([priced.price, priced.calls, priced.notes[0]?.kind], [undefined, 'unknown', 'decide']);
  });

  it('names the option that cannot be read', () => {
    assert.throws(
      () => newApi('other', { ModelRatio: '{"other": 1' }),
      /table options, key ModelRatio: .* not a JSON object/,
    );
    assert.throws(
      () => newApi('other', { CompletionRatio: { other: '2' } }),
      /key CompletionRatio: .* "other" is not a number/,
    );
    assert.throws(() => newApi('other', { QuotaPerUnit: 'abc' }), /key QuotaPerUnit/);
  });
});

describe('prices of one-api', () => {
  it('prices the mapped name, and ratios of a channel type first', () => {
    const options = { ModelRatio: { house: 3, 'house(3)': 6 }, CompletionRatio: { house: 2.5 } };
    assert.deepEqual(oneApi('public', options, [[1, 'house']]).price, { input: '6', output: '15' });
    assert.deepEqual(oneApi('public', options, [[3, 'house']]).price, { input: '12', output: '30' });
  });

  it('goes on using the ratios of the program for models that a stored row does not have', () => {
    assert.deepEqual(oneApi('gpt-4o', { ModelRatio: {} }, [[1, 'gpt-4o']]).price, { input: '5', output: '20' });
    assert.deepEqual(oneApi('llama3-8b-8192', {}, [[33, 'llama3-8b-8192']]).price, { input: '0.3', output: '0.6' });
  });

  it('charges 30 for an unknown model, with the completion ratio of its name', () => {
    assert.deepEqual(oneApi('unknown', {}, [[1, 'unknown']]).price, { input: '60', output: '60' });
    assert.deepEqual(oneApi('mistral-x', {}, [[1, 'mistral-x']]).price, { input: '60', output: '180' });
    assert.deepEqual(oneApi('qwen-max', {}, [[17, 'qwen-max-internet']]).price, { input: '0.3408', output: '0.3408' });
  });

  it('takes the dearest of its channels, with a note', () => {
    const options = { ModelRatio: { a: 1, b: 2 }, CompletionRatio: { a: 5 } };
    const priced = oneApi('public', options, [
      [1, 'a'],
      [1, 'b'],
    ]);
    assert.deepEqual(priced.price, { input: '4', output: '10' });
    assert.equal(priced.notes[0]?.kind, 'changed');
  });

  it('charges images by size and quality', () => {
    const dearer = oneApi('dall-e-3', {}, [[1, 'dall-e-3']]).price as { readonly perImage: Record<string, string> };
    assert.deepEqual([dearer.perImage.default, dearer.perImage['hd/1792x1024']], ['0.04', '0.12']);
    const older = oneApi('dall-e-2', { ModelRatio: { 'dall-e-2': 8 } }, [[1, 'dall-e-2']]).price;
    assert.deepEqual((older as { readonly perImage: Record<string, string> }).perImage, {
      default: '0.02',
      '256x256': '0.016',
      '512x512': '0.018',
      '1024x1024': '0.02',
    });
  });
});

describe('prices of earlier versions of one-api', () => {
  const [v05, v061, v067] = [[], ['channels.config'], ['channels.config', 'users.lark_id']].map(
    (schema) => new Set(schema),
  );
  const rates = (name: string, schema: ReadonlySet<string> | undefined, options = {}): readonly unknown[] => {
    const { input, output } = oneApi(name, options, [[33, name]], schema).price ?? {};
    return [input, output];
  };

  it('have the completion ratios and the table of the version', () => {
    assert.deepEqual(rates('gpt-4o', v067), ['5', '15']);
    assert.deepEqual(rates('gpt-4o', v061), ['60', '120'], 'it is unknown, and its name begins with gpt-4');
    assert.deepEqual(rates('gpt-3.5-turbo', v05), ['1.5', '3']);
    assert.deepEqual(rates('claude-2.1', v05), ['11.02', '32.67999734']);
    assert.deepEqual(rates('claude-2.1', v061), ['8', '24']);
    assert.deepEqual(rates('qwen-max', v067), ['2.8572', '2.8572']);
  });

  it('have no ratios by channel type at first, and then those of the program beside stored ones', () => {
    const options = { ModelRatio: { house: 2, 'house(33)': 4 } };
    assert.deepEqual(
      [rates('house', v061, options), rates('house', v067, options)],
      [
        ['4', '4'],
        ['8', '8'],
      ],
    );
    assert.deepEqual(rates('gpt-4', v05, options), ['60', '120'], 'the stored row replaces the table');
    assert.deepEqual(rates('gpt-4', v061, options), ['30', '60']);
  });

  it('are those that the newest recorded calls say if the tables leave two versions', async () => {
    const recorded = (completion: number): (() => AsyncIterable<ForeignUsage>) =>
      async function* () {
        const output = String(5 * completion);
        const says = { factor: () => true, price: (price: ForeignPrice) => price.output === output };
        yield { id: '1', atMs: 0, model: 'gpt-4o', charged: 0n, tokens: {}, says } as unknown as ForeignUsage;
      };
    const facts = { program: 'one-api', options: {}, schema: ONE_API_LAST, isUnsetAccepted: false } as const;
    const served = [{ type: 1, model: 'gpt-4o' }];
    for (const completion of [3, 4]) {
      const list = await recordedPriceList(facts, new Map([['gpt-4o', served]]), recorded(completion));
      assert.equal(list.priceOf('gpt-4o', served).price?.output, String(5 * completion));
    }
  });
});

describe('prices of one-hub', () => {
  const rows = [
    { model: 'house', type: 'tokens', input: 3, output: 7.5, extra_ratios: null },
    { model: 'per-call', type: 'times', input: 20, output: 20, extra_ratios: null },
    { model: 'wild*', type: 'tokens', input: 1, output: 2, extra_ratios: '{"cached_tokens":0.5,"reasoning_tokens":2}' },
    { model: 'claude-x', type: 'tokens', input: 1, output: 5, extra_ratios: '{"cached_read_tokens":0.2}' },
  ];
  const { priceOf } = oneHubPrices(rows, {});

  it('reads ratios per token and per thousandth of a call', () => {
    assert.deepEqual(priceOf('house', []).price, { input: '6', output: '15' });
    assert.deepEqual(priceOf('per-call', []).price, { perRequest: '0.04' });
  });

  it('reads parts of usage, wildcards, and 30 for an unknown model', () => {
    assert.deepEqual(priceOf('wild-1', []).price, { input: '2', output: '4', cacheRead: '1', reasoning: '8' });
    assert.deepEqual(priceOf('claude-x', []).price, { input: '2', output: '10', cacheRead: '0.4', cacheWrite: '2.5' });
    assert.deepEqual(priceOf('unknown', []).price, { input: '60', output: '60' });
  });

  it('charges half for cached tokens and 40 times for audio before the table had a column for them', () => {
    const early = [
      { model: 'house', type: 'tokens', input: 1, output: 2 },
      { model: 'gpt-4o-realtime-preview', type: 'tokens', input: 1, output: 2 },
      { model: 'tuned', type: 'tokens', input: 1, output: 2 },
    ];
    const options = { AudioTokenJson: '{"tuned":{"input_audio_tokens_ratio":3,"output_audio_tokens_ratio":4}}' };
    const before = oneHubPrices(early, options, ['model', 'type', 'input', 'output']);
    assert.deepEqual(before.priceOf('house', []).price, {
      ...{ input: '2', output: '4', cacheRead: '1' },
      ...{ inputAudio: '80', outputAudio: '160' },
    });
    const { inputAudio, outputAudio } = before.priceOf('gpt-4o-realtime-preview', []).price ?? {};
    assert.deepEqual([inputAudio, outputAudio], ['40', '40']);
    const tuned = before.priceOf('tuned', []).price ?? {};
    assert.deepEqual([tuned.inputAudio, tuned.outputAudio], ['6', '16']);
  });

  it('names the row that cannot be read', () => {
    const list = oneHubPrices([{ model: 'house', type: 'tokens', input: 'abc', output: 1 }], {});
    assert.throws(() => list.priceOf('house', []), /table prices, model "house", column input/);
  });
});

describe('billing expressions', () => {
  it('become a price with tiers', () => {
    assert.deepEqual(priceOfExpression('tier("base", p * 2.5 + c * 15 + cr * 0.25)').price, {
      input: '2.5',
      output: '15',
      cacheRead: '0.25',
    });
    assert.deepEqual(
      priceOfExpression(
        'v1:len <= 32000 ? tier("a", p * 1 + c * 2) : len < 200000 ? tier("b", p * 2 + c * 4) : tier("c", p * 4 + c * 8)',
      ).price,
      {
        input: '1',
        output: '2',
        tiers: [
          { above: '32000', input: '2', output: '4' },
          { above: '199999', input: '4', output: '8' },
        ],
      },
    );
    assert.deepEqual(priceOfExpression('len > 1000 ? tier("long", p * 2 + c) : tier("short", p + c)').price?.tiers, [
      { above: '1000', input: '2', output: '1' },
    ]);
    assert.deepEqual(priceOfExpression('tier("request", fixed(0.01))').price, { perRequest: '0.01' });
  });

  it('that depend on anything else have a reason and no price', () => {
    for (const expression of [
      'tier("base", p * 5 + c * 25)|||when(header("anthropic-beta") has "fast-mode") * 6',
      '(tier("base", p * 5 + c * 25)) * (param("service_tier") == "fast" ? 6 : 1)',
      'tier("base", max(p, c) * 2)',
      'tier("base", p * 5 + 100)',
      'tier("base", p * c)',
      'tier("base", p * 5 - c)',
      'p <= 200000 ? tier("a", p * 1 + cr * 1) : tier("b", p * 2 + cr * 2)',
      'len <= 10 ? tier("a", fixed(0.1)) : tier("b", p * 2)',
      'hour("UTC") < 8 ? tier("a", p) : tier("b", p * 2)',
      'u("seconds") * 0.4',
      '',
    ]) {
      const said = priceOfExpression(expression);
      assert.equal(said.price, undefined, expression);
      assert.match(said.why ?? '', /\w/, expression);
    }
  });
});

describe('amounts', () => {
  it('that would take hours to read, or too many calls of a function, are refused at once', () => {
    for (const text of ['p * 1e-999999', 'p * 1e99999999', `${'('.repeat(200_000)}p`, 'len < 1 ? '.repeat(100_000)])
      assert.ok(priceOfExpression(text).why !== undefined, text.slice(0, 20));
    assert.equal(amountOf('1e-999999'), undefined);
    assert.equal(amountOf('1e+99999999'), undefined);
    assert.equal(amountOf('9'.repeat(1_000)), undefined);
  });

  it('have at most 12 significant digits, rounded up, without the noise of binary fractions', () => {
    const text = (digits: bigint, scale: number): string | undefined => amountText({ digits, scale });
    assert.equal(text(16438356164383564n, 15), '16.4383561644');
    assert.equal(text(25000000000000002n, 16), '2.5');
    assert.equal(text(39999999999999999n, 16), '4');
    assert.equal(text(100000000001n, 15), '0.000100000000001');
    assert.equal(text(10000n, 0), '10000');
    assert.equal(text(10001n, 0), undefined);
  });
});
