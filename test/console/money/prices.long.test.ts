/** What everything costs, for administrators: whence it is known, what follows, what is not as it is published. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import {
  advanced,
  CONSOLE_PIPELINE,
  member,
  PATIENT,
  ROOT_ENV,
  type Visitor,
  visitor,
} from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';

interface Priced {
  readonly name: string;
  readonly price: Readonly<Record<string, unknown>> | null;
  readonly source: { readonly kind: string; readonly text: string } | null;
  readonly upcoming: readonly { readonly effective_from: string; readonly text: string }[];
  readonly channels: readonly { readonly channel: string; readonly text: string | null }[];
  readonly drift: readonly object[];
  readonly [member: string]: unknown;
}

const NEW = { input: 3, output: 12, from: '2026-12-01' };

async function start(quota: object, clock: FakeClock): Promise<TestGateway> {
  return startGateway({
    clock,
    config: {
      pipeline: CONSOLE_PIPELINE,
      console: PATIENT,
      quota,
      channels: [
        { name: 'list', vendor: 'openai', key: VENDOR_KEY },
        { name: 'other', vendor: 'compatible', url: 'http://127.0.0.1:9/v1', key: VENDOR_KEY, priority: 1 },
        { name: 'demo', vendor: 'demo' },
      ],
      prices: { sectioned: [NEW, { input: 2, output: 8, from: '2026-01-01' }] },
      models: {
        // Twice what the vendor takes, with the cached input forgotten.
        'gpt-4o': { from: ['list'], price: { input: 5, output: 10 }, fallback: ['spare'] },
        omni: { alias: 'gpt-4o' },
        'gpt-4o-mini': { from: ['list'] },
        'tts-1': { from: ['list'] },
        sectioned: { from: ['other'] },
        spare: { from: ['other'], price: { input: 1, output: 1 } },
        later: { from: ['other'], price: { input: 1, from: '2999-01-01' } },
        leaning: { from: ['other'], price: { input: 1 }, fallback: ['later'] },
        gift: { from: ['demo'], free: true },
      },
    },
    env: ROOT_ENV,
  });
}

describe('the table of prices', () => {
  const clock = fakeClock(Date.parse('2026-11-20'));
  let gateway: TestGateway;
  let adam: Visitor;
  let models: Readonly<Record<string, Priced>>;
  before(async () => {
    gateway = await start({}, clock);
    adam = await member(gateway, 'adam', { role: 'admin' });
    models = await read(adam);
  });
  after(() => gateway.stop());

  async function read(who: Visitor): Promise<Readonly<Record<string, Priced>>> {
    const data = await who.data('GET', '/api/price/');
    return Object.fromEntries(data.models.map((model: Priced) => [model.name, model]));
  }

  it('has every model once, its other names beside it, those that only stand in for others among them', () => {
    assert.deepEqual(Object.keys(models), [
      ...['gpt-4o', 'gpt-4o-mini', 'tts-1', 'sectioned', 'spare', 'later', 'leaning', 'gift'],
    ]);
    assert.deepEqual(models['gpt-4o']?.aliases, ['omni']);
    assert.deepEqual(models.spare?.fallback_of, ['gpt-4o']);
  });

  it('says whence each price is', () => {
    const sources = Object.fromEntries(
      Object.entries(models).map(([name, { source }]) => [name, source?.kind ?? null]),
    );
    assert.deepEqual(sources, {
      'gpt-4o': 'model',
      'gpt-4o-mini': 'published',
      'tts-1': 'published',
      sectioned: 'prices',
      spare: 'model',
      later: null,
      leaning: 'model',
      gift: null,
    });
    assert.equal(models['gpt-4o-mini']?.source?.text, 'genai-prices data, openai gpt-4o-mini');
    assert.equal(models['tts-1']?.source?.text, 'list price, openai tts-1');
    assert.deepEqual([models.gift?.free, models.gift?.price], [true, { free: true, text: 'free' }]);
  });

  it('says which list prices came with the gateway', async () => {
    const { snapshot } = await adam.data('GET', '/api/price');
    const file = new URL('../../../node_modules/@pydantic/genai-prices/package.json', import.meta.url);
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string };
    assert.deepEqual(snapshot, { name: '@pydantic/genai-prices', version });
  });

  it('says from when on a price holds and what follows, and is up to date when the day has come', async () => {
    const text = 'input 3, output 12 per million tokens';
    assert.equal(models.sectioned?.effective_from, '2026-01-01');
    assert.equal(models.sectioned?.price?.input, '2');
    assert.deepEqual(
      models.sectioned?.upcoming.map((each) => [each.effective_from, each.text]),
      [['2026-12-01', text]],
    );
    await advanced(gateway, clock, Date.parse('2026-12-01') - clock.now());
    const { sectioned } = await read(await member(gateway, 'eve', { role: 'admin' }));
    assert.deepEqual(
      [sectioned?.effective_from, sectioned?.price?.input, sectioned?.upcoming],
      ['2026-12-01', '3', []],
    );
  });

  it('hints at amounts that are more than a tenth away from what is published, as they are charged', () => {
    assert.deepEqual(models['gpt-4o']?.drift, [
      { field: 'input', configured: '5', published: '2.5', percent: 100 },
      { field: 'cacheRead', configured: '5', published: '1.25', percent: 300 },
    ]);
    assert.ok(models['gpt-4o']?.published !== null, 'the list price is beside it');
    for (const name of ['gpt-4o-mini', 'sectioned', 'gift']) {
      assert.deepEqual([models[name]?.drift, models[name]?.published], [[], null], name);
    }
  });

  it('says what becomes of calls for which a price is missing, also where only a stand-in has none', async () => {
    const refused = 'Calls are refused (402 model_not_priced): later has no price.';
    for (const name of ['later', 'leaning']) {
      const { unpriced, calls, consequence } = models[name]!;
      assert.deepEqual([unpriced, calls, consequence], [true, 'refused', refused], name);
      const answer = await gateway.chat({ model: name });
      assert.deepEqual(
        [answer.status, ((await answer.json()) as { error: { code: string } }).error.code],
        [402, 'model_not_priced'],
      );
    }
    assert.deepEqual(models.later?.channels[0]?.text, null);
    const lenient = await start({ unpriced: 'free' }, fakeClock(Date.parse('2026-11-20')));
    try {
      const free = await read(await member(lenient, 'adam', { role: 'admin' }));
      assert.deepEqual(
        [free.later?.calls, free.later?.consequence],
        ['free', 'Calls cost nothing: later has no price.'],
      );
      assert.deepEqual(
        [free.leaning?.calls, free.leaning?.consequence],
        ['charged', 'Calls are charged, unless another serves: later has no price.'],
      );
    } finally {
      await lenient.stop();
    }
  });

  it('is for administrators, and shows neither keys nor addresses', async () => {
    assert.equal((await visitor(gateway).get('/api/price/')).status, 401);
    assert.equal((await (await member(gateway, 'ann')).get('/api/price/')).status, 403);
    const { text } = await (await member(gateway, 'ada', { role: 'admin' })).get('/api/price/');
    for (const secret of [VENDOR_KEY, '127.0.0.1', 'api.openai.com']) assert.ok(!text.includes(secret), secret);
  });
});
