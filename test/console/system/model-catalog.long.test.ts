/** The models as whoever chooses one sees them: what is known, nothing that is guessed, and how they do. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CONSOLE_PIPELINE, member, PATIENT, ROOT_ENV, type Visitor, visitor } from '../../kit/console/console.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, wholeAnswer } from '../../kit/vendors/script.ts';

/** Models whose vendor has trouble with them. */
const ILL = ['ailing', 'dying', 'leaning'];

interface Card {
  readonly name: string;
  readonly styles: readonly { readonly name: string; readonly path: string; readonly native: boolean }[];
  readonly abilities: Readonly<Record<string, boolean | null>>;
  readonly recent: Readonly<Record<string, number | null>>;
  readonly channels: readonly { readonly name: string; readonly state: string }[] | null;
  // biome-ignore lint/suspicious/noExplicitAny: looked at member by member
  readonly [member: string]: any;
}

let vendor: FakeVendor;
let gateway: TestGateway;
let ann: Visitor;
let adam: Visitor;

before(async () => {
  vendor = await fakeVendor();
  const channel = { vendor: 'compatible', url: vendor.url, key: VENDOR_KEY };
  gateway = await startGateway({
    vendor,
    config: {
      pipeline: [...CONSOLE_PIPELINE, 'vendors/anthropic'],
      console: PATIENT,
      channels: [
        { ...channel, name: 'any' },
        { ...channel, name: 'all', speaks: ['chat', 'images', 'speech', 'transcription', 'embeddings'] },
        { ...channel, name: 'sick' },
        { ...channel, name: 'spare', priority: 1 },
        { name: 'list', vendor: 'openai', key: VENDOR_KEY },
        { ...channel, name: 'thinkers', vendor: 'anthropic' },
      ],
      models: {
        talker: { from: ['any'], price: { input: 1, output: 2 } },
        alias: { alias: 'talker' },
        unpriced: { from: ['any'] },
        only: { from: ['all'], only: ['embeddings'], free: true },
        painter: { from: ['all'], price: { perImage: 0.04 } },
        reader: { from: ['all'], price: { characters: 15 } },
        hearer: { from: ['all'], price: { perSecond: 0.0001 } },
        odd: { from: ['all'], price: { input: 1, inputAudio: 2, output: 2 } },
        'gpt-4o': { from: ['list'] },
        'text-embedding-3-small': { from: ['list'] },
        'claude-opus-4-6': { from: ['thinkers'] },
        ailing: { from: ['sick', { spare: 'stand-in' }], free: true },
        dying: { from: ['sick'], free: true },
        leaning: { from: ['sick'], fallback: ['talker'], free: true },
      },
    },
    env: ROOT_ENV,
  });
  ann = await member(gateway, 'ann', { units: 1_000_000 });
  adam = await member(gateway, 'adam', { role: 'admin' });
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
});

async function cards(who: Visitor): Promise<Readonly<Record<string, Card>>> {
  const all: readonly Card[] = await who.data('GET', '/api/models/catalog');
  return Object.fromEntries(all.map((card) => [card.name, card]));
}

describe('the catalogue of models', () => {
  it('has every name that may be called, aliases with the model behind them', async () => {
    const all = await cards(ann);
    assert.deepEqual(Object.keys(all), await ann.data('GET', '/api/user/models'));
    assert.equal(all.alias?.model, 'talker');
    assert.equal(all.talker?.model, 'talker');
  });

  it('tells styles that are spoken there from those that are translated', async () => {
    const all = await cards(ann);
    const styles = (name: string) => Object.fromEntries(all[name]!.styles.map((style) => [style.name, style.native]));
    const { chat, messages, responses, embeddings } = styles('talker');
    assert.deepEqual(
      { chat, messages, responses, embeddings },
      { chat: true, messages: false, responses: false, embeddings: true },
    );
    assert.equal(styles('claude-opus-4-6').messages, true);
    assert.equal(styles('claude-opus-4-6').chat, false);
    assert.equal(all.talker?.styles.find(({ name }) => name === 'messages')?.path, '/v1/messages');
  });

  it('says what a model is for where that is certain, and nothing where it is not', async () => {
    const all = await cards(ann);
    assert.deepEqual(Object.fromEntries(Object.entries(all).map(([name, { purposes }]) => [name, purposes])), {
      talker: ['chat'],
      alias: ['chat'],
      unpriced: null,
      only: ['embeddings'],
      painter: ['images'],
      reader: ['speech'],
      hearer: ['transcription'],
      odd: null,
      'gpt-4o': ['chat'],
      'text-embedding-3-small': ['embeddings'],
      'claude-opus-4-6': ['chat'],
      ailing: null,
      dying: null,
      leaning: null,
    });
  });

  it('says what a model can do, and null for what nobody knows', async () => {
    const all = await cards(ann);
    const unknown = Object.fromEntries(Object.keys(all.talker!.abilities).map((ability) => [ability, null]));
    assert.deepEqual(
      [all.talker?.abilities, all.talker?.context_window, all.talker?.max_output],
      [unknown, null, null],
    );
    assert.deepEqual(all['text-embedding-3-small']?.abilities, unknown);
    const { context_window: context, max_output: longest, abilities } = all['gpt-4o']!;
    assert.deepEqual([context, longest], [128_000, 16_384]);
    assert.deepEqual([abilities.tools, abilities.structured_output, abilities.reasoning], [true, true, false]);
    assert.equal(all['claude-opus-4-6']?.abilities.reasoning, true);
    assert.deepEqual([abilities.vision, all['claude-opus-4-6']?.abilities.vision], [true, true]);
  });

  it('says what it costs', async () => {
    const all = await cards(ann);
    assert.deepEqual(all.talker?.price, {
      free: false,
      input: '1',
      output: '2',
      text: 'input 1, output 2 per million tokens',
    });
    assert.deepEqual([all.unpriced?.price, all.unpriced?.free], [null, false]);
    assert.deepEqual([all.only?.price, all.only?.free], [{ free: true, text: 'free' }, true]);
  });

  it('names channels to administrators and to nobody else', async () => {
    const { status, text } = await ann.get('/api/models/catalog');
    assert.equal(status, 200);
    for (const name of ['sick', 'thinkers', 'compatible', VENDOR_KEY, '127.0.0.1']) {
      assert.ok(!text.includes(name), name);
    }
    assert.deepEqual((await cards(adam)).ailing?.channels, [
      { name: 'sick', vendor: 'compatible', state: 'closed' },
      { name: 'spare', vendor: 'compatible', state: 'closed' },
    ]);
    assert.equal((await visitor(gateway).get('/api/models/catalog')).status, 401);
    const withKey = visitor(gateway, { authorization: `Bearer ${gateway.key}` });
    assert.equal((await withKey.get('/api/models/catalog')).status, 401);
  });

  it('counts what was answered and what failed, under the model’s own name', async () => {
    const before = (await cards(ann)).talker!.recent;
    for (const model of ['talker', 'alias']) assert.equal((await gateway.chat({ model })).status, 200);
    vendor.next(errorAnswer(400));
    await gateway.chat({ model: 'talker' });
    vendor.next(errorAnswer(500));
    await gateway.chat({ model: 'talker' });
    assert.equal((await gateway.chat({ model: 'nowhere' })).status, 404);
    const all = await cards(ann);
    const { attempts, failures, success_share: share, p50_first_byte_ms: p50 } = all.talker!.recent;
    assert.deepEqual([attempts! - before.attempts!, failures, share], [3, 1, 0.6667]);
    assert.deepEqual(all.alias!.recent, all.talker!.recent);
    assert.ok(p50! > 0, 'it took a while');
  });

  it('tells whether a model is well: some channels that fail degrade it, a stand-in keeps it up', async () => {
    const health = async () => {
      const all = await cards(ann);
      return Object.fromEntries(['talker', 'ailing', 'dying', 'leaning'].map((name) => [name, all[name]?.health]));
    };
    assert.deepEqual(await health(), { talker: 'well', ailing: 'well', dying: 'well', leaning: 'well' });
    vendor.always((request) => (ILL.includes(String(request.json.model)) ? errorAnswer(500) : wholeAnswer()));
    for (const model of ILL) for (let i = 0; i < 5; i++) await gateway.chat({ model });
    assert.deepEqual(await health(), { talker: 'well', ailing: 'degraded', dying: 'down', leaning: 'degraded' });
    assert.deepEqual(
      (await cards(adam)).ailing?.channels?.map(({ state }) => state),
      ['open', 'closed'],
    );
  });
});
